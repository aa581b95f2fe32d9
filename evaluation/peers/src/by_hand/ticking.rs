//! The election in a ring, with a clock that ticks for ever beside it, by hand.

use super::Shape;
use super::ring::{BYTES, LEADER, Ring};

/// A ring with a clock: the action after those of the ring is a tick.
#[derive(Clone, Copy)]
pub struct Ticking(pub Ring);

/// What the clock shows, 0 or 1.
const CLOCK: usize = 31;

impl Shape<BYTES> for Ticking {
    fn first(&self) -> [u8; BYTES] {
        self.0.first()
    }

    fn possible(&self, state: &[u8; BYTES]) -> u32 {
        self.0.possible(state) | 1 << self.tick()
    }

    fn act(&self, state: &mut [u8; BYTES], action: u32) -> Result<(), &'static str> {
        if action == self.tick() {
            state[CLOCK] ^= 1;
            return Ok(());
        }
        self.0.act(state, action)
    }

    /// Until somebody is elected.
    fn is_hot(&self, state: &[u8; BYTES]) -> bool {
        state[LEADER] == 0
    }

    fn describe(&self, action: u32) -> String {
        if action == self.tick() { "the clock ticks".into() } else { self.0.describe(action) }
    }
}

impl Ticking {
    fn tick(self) -> u32 {
        2 * self.0.0
    }
}

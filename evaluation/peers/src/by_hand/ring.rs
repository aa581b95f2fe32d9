//! The election of Le Lann, Chang and Roberts in a ring, by hand.

use super::Shape;

/// A ring of so many processes, at most seven. Action `i` is the start of process `i`, action
/// `n + i` the delivery of the first message on its way to it.
#[derive(Clone, Copy)]
pub struct Ring(pub u32);

/// Four bytes for each channel, of eight digits: the first message is the lowest, an identity or
/// 0 plus one. No channel ever has more: each identity and each 0 passes it once. Then three sets
/// of processes.
pub const BYTES: usize = 32;

const STARTED: usize = 28;
const DONE: usize = 29;
pub const LEADER: usize = 30;

fn channel(state: &[u8; BYTES], to: u32) -> u32 {
    let at = 4 * to as usize;
    u32::from_le_bytes([state[at], state[at + 1], state[at + 2], state[at + 3]])
}

fn set_channel(state: &mut [u8; BYTES], to: u32, messages: u32) {
    let at = 4 * to as usize;
    state[at..at + 4].copy_from_slice(&messages.to_le_bytes());
}

impl Ring {
    /// Sends from a process to its neighbour.
    fn send(self, state: &mut [u8; BYTES], from: u32, message: u32) {
        let to = if from + 1 == self.0 { 0 } else { from + 1 };
        let messages = channel(state, to);
        let length = (35 - messages.leading_zeros()) / 4;
        set_channel(state, to, messages | (message + 1) << (4 * length));
    }
}

impl Shape<BYTES> for Ring {
    fn first(&self) -> [u8; BYTES] {
        [0; BYTES]
    }

    fn possible(&self, state: &[u8; BYTES]) -> u32 {
        let all = (1 << self.0) - 1;
        let waiting = (0..7).fold(0, |set, to| set | u32::from(channel(state, to) != 0) << to);
        !u32::from(state[STARTED]) & all | waiting << self.0
    }

    fn act(&self, state: &mut [u8; BYTES], action: u32) -> Result<(), &'static str> {
        if action < self.0 {
            state[STARTED] |= 1 << action;
            self.send(state, action, self.0 - action);
            return Ok(());
        }
        let me = action - self.0;
        let (id, bit) = (self.0 - me, 1 << me);
        let messages = channel(state, me);
        set_channel(state, me, messages >> 4);
        let message = (messages & 15) - 1;
        if message > id {
            self.send(state, me, message);
        } else if message == id {
            state[LEADER] |= bit;
            state[DONE] |= bit;
            self.send(state, me, 0);
            if state[LEADER] != bit {
                return Err("two leaders");
            }
        } else if message == 0 && state[DONE] & bit == 0 {
            state[DONE] |= bit;
            self.send(state, me, 0);
        }
        Ok(())
    }

    fn describe(&self, action: u32) -> String {
        match action.checked_sub(self.0) {
            None => format!("process {action} starts"),
            Some(process) => format!("process {process} takes a message"),
        }
    }
}

//! Two-phase commit with messages and timeouts, by hand.

use super::Shape;

/// So many participants, at most seven. Action 0 is the coordinator's timeout; then follow, for
/// each participant, its timeout, the delivery of the first message to it, and that of its answer.
#[derive(Clone, Copy)]
pub struct Commit(pub u32);

/// Two bytes for each participant: its state, and its messages; then the coordinator's state and
/// how many have said yes. A timeout is pending in the first state of everybody, and only there.
pub const BYTES: usize = 16;

const COORDINATOR: usize = 14;
const YES: usize = 15;

/// States; the coordinator has no `READY`.
const INIT: u8 = 0;
const READY: u8 = 1;
const COMMITTED: u8 = 2;
const ABORTED: u8 = 3;

/// Messages of two bits. Two to a participant fit into the low half of its second byte, the first
/// in the lowest bits; its answer is in the high half.
const PREPARE: u8 = 1;
const ANSWER_YES: u8 = 1 << 4;
const ANSWER_NO: u8 = 2 << 4;

impl Commit {
    fn participants(self) -> usize {
        self.0 as usize
    }

    /// The coordinator decides, and tells everybody: the message is the state.
    fn decide(self, state: &mut [u8; BYTES], decision: u8) {
        state[COORDINATOR] = decision;
        for participant in 0..self.participants() {
            let messages = &mut state[2 * participant + 1];
            *messages |= if *messages & 3 == 0 { decision } else { decision << 2 };
        }
    }

    /// A participant is over; whether no other disagrees.
    fn end(self, state: &mut [u8; BYTES], participant: usize, how: u8) -> Result<(), &'static str> {
        state[2 * participant] = how;
        let other = COMMITTED + ABORTED - how;
        let disagrees = (0..self.participants()).any(|one| state[2 * one] == other);
        if disagrees { Err("one has committed and one aborted") } else { Ok(()) }
    }
}

impl Shape<BYTES> for Commit {
    fn first(&self) -> [u8; BYTES] {
        let mut state = [0; BYTES];
        (0..self.participants()).for_each(|participant| state[2 * participant + 1] = PREPARE);
        state
    }

    fn possible(&self, state: &[u8; BYTES]) -> u32 {
        let mut possible = u32::from(state[COORDINATOR] == INIT);
        for participant in 0..self.participants() {
            let (own, messages) = (state[2 * participant], state[2 * participant + 1]);
            let three = u32::from(own == INIT)
                | u32::from(messages & 15 != 0) << 1
                | u32::from(messages >> 4 != 0) << 2;
            possible |= three << (3 * participant + 1);
        }
        possible
    }

    fn act(&self, state: &mut [u8; BYTES], action: u32) -> Result<(), &'static str> {
        let Some(action) = action.checked_sub(1) else {
            self.decide(state, ABORTED);
            return Ok(());
        };
        let (participant, what) = (action as usize / 3, action % 3);
        let (own, messages) = (state[2 * participant], state[2 * participant + 1]);
        match what {
            0 => self.end(state, participant, ABORTED),
            1 => {
                let rest = messages >> 4 << 4 | (messages & 15) >> 2;
                state[2 * participant + 1] = rest;
                match (messages & 3, own) {
                    (PREPARE, INIT) => {
                        state[2 * participant] = READY;
                        state[2 * participant + 1] = rest | ANSWER_YES;
                        Ok(())
                    }
                    (PREPARE, ABORTED) => {
                        state[2 * participant + 1] = rest | ANSWER_NO;
                        Ok(())
                    }
                    (PREPARE, _) => Ok(()),
                    (decision, _) => self.end(state, participant, decision),
                }
            }
            _ => {
                state[2 * participant + 1] = messages & 15;
                match messages & !15 {
                    _ if state[COORDINATOR] != INIT => {}
                    ANSWER_YES => {
                        state[YES] += 1;
                        if u32::from(state[YES]) == self.0 {
                            self.decide(state, COMMITTED);
                        }
                    }
                    _ => self.decide(state, ABORTED),
                }
                Ok(())
            }
        }
    }

    fn describe(&self, action: u32) -> String {
        let Some(action) = action.checked_sub(1) else { return "coordinator times out".into() };
        let participant = action / 3;
        match action % 3 {
            0 => format!("participant {participant} times out"),
            1 => format!("participant {participant} takes a message"),
            _ => format!("coordinator takes the answer of participant {participant}"),
        }
    }
}

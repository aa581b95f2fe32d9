//! A loop of the log that is gone round again: its answers once more, and what is owed in it.

use dally_core::{Acceptance, Answer, Input, MessageId, Player, System, Tag, WorkerId};

use super::{LoopDetector, hash};

/// What a step of a round costs if the loop was none. The step was taken without the strategy, and
/// such steps must stay a small part of the execution.
const STRAYED: i64 = 16;

/// One step of a loop that is gone round again.
pub(super) struct Round {
    /// What the step was answered, to be given again.
    player: Player<Box<[Answer]>>,
    /// What it asked for that it had not asked for before.
    strayed: Option<String>,
}

impl LoopDetector {
    /// A step of the log is taken again: its answers are given again, each by its place among
    /// those that were possible.
    pub(crate) fn again(&mut self, step: usize) {
        let player = Player::new(self.answers[self.answers_of(step)].into());
        self.round = Some(Round { player, strayed: None });
    }

    /// The step that was taken again is over; what it did differently.
    pub(crate) fn strayed(&mut self) -> Option<String> {
        let round = self.round.as_mut()?;
        if round.strayed.is_none() && !round.player.rest().is_empty() {
            round.strayed = Some("asks for less than before".into());
        }
        round.strayed.take()
    }

    /// The answer of a step that is taken again; `None` where the strategy is to be asked.
    #[inline]
    pub(crate) fn value_again(&mut self, of: u32, tag: Tag) -> Option<u32> {
        self.play(|player| player.value(of, tag))
    }

    /// As [`LoopDetector::value_again`], for a message by its place among the candidates.
    #[inline]
    pub(crate) fn delivery_again(&mut self, candidates: &[MessageId]) -> Option<usize> {
        self.play(|player| player.delivery(candidates))
    }

    /// As [`LoopDetector::value_again`], for a number from outside.
    #[inline]
    pub(crate) fn input_again(&mut self, asked: Input<'_>) -> Option<i64> {
        self.play(|player| player.input(asked))
    }

    fn play<T>(
        &mut self,
        answer: impl FnOnce(&mut Player<Box<[Answer]>>) -> Result<T, Option<Answer>>,
    ) -> Option<T> {
        let round = self.round.as_mut()?;
        if round.strayed.is_some() {
            return None;
        }
        let answer = answer(&mut round.player).ok();
        if answer.is_none() {
            round.strayed = Some("asks for something else than before".into());
        }
        answer
    }

    /// Whether the present state looks like a state of the log.
    pub(crate) fn is_again<S: System>(
        &self,
        state: usize,
        system: &S,
        acceptance: Acceptance,
    ) -> bool {
        let known = &self.states[state];
        Some((known.hash, known.whole)) == hash(system, acceptance)
            && known.hot == acceptance.waiting()
            && known.visits == acceptance.visits
    }

    /// Whether it matters which messages are taken in the loop that is gone round.
    #[inline]
    pub(crate) fn is_owed(&self) -> bool {
        self.round.is_some() && !self.scratch.owed.is_empty()
    }

    /// A worker took a message of this sender.
    pub(crate) fn took(&mut self, worker: WorkerId, sender: WorkerId) {
        self.scratch.owed.retain(|&owed| owed != (worker, sender));
    }

    /// Whether all that was owed in the loop was taken, after it was gone round once.
    pub(crate) fn owes_nothing(&self) -> bool {
        self.scratch.owed.is_empty()
    }

    /// The loop was gone round, and this many steps of that were in vain. The log begins again.
    pub(crate) fn end_rounds(&mut self, in_vain: usize) {
        self.clear();
        let cost = i64::try_from(in_vain).unwrap_or(i64::MAX).saturating_mul(STRAYED);
        self.credit = self.credit.saturating_sub(cost);
    }
}

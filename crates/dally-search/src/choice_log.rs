//! The choices of the running schedule, readable from another thread at any time.
//!
//! When a step never comes back or the process aborts, they are all that is left of the schedule.
//! So each is written when it is made, into chunks of atomic words: without a lock, and without an
//! allocation except once in 1024 choices.

use std::array;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

use dally_core::{Call, Choice, MessageId, Tag, WorkerId, foreign};

use crate::prefix::Prefix;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// It is outside the program's code.
    Nothing,
    Starting,
    Stepping,
    Ending,
}

/// The choices of one thread, as its supervisor reads them.
#[derive(Default)]
pub(crate) struct ChoiceLog {
    /// The choices before the first one in the chunks.
    base: Mutex<Option<Arc<Prefix>>>,
    chunks: Mutex<Vec<Arc<Chunk>>>,
    length: AtomicUsize,
    /// Counts executions: `length` alone does not show that another one has begun.
    executions: AtomicU64,
    schedule: AtomicU64,
    doing: AtomicU8,
    /// Who writes it.
    thread: OnceLock<ThreadId>,
}

/// The only writer of a choice log.
pub(crate) struct ChoiceWriter {
    choice_log: Arc<ChoiceLog>,
    chunk: Arc<Chunk>,
    /// How many choices are in the chunks, and, in `before`, how many come before them.
    length: usize,
    before: usize,
}

const CHUNK: usize = 1024;

/// Two words for each choice.
struct Chunk([[AtomicU64; 2]; CHUNK]);

impl ChoiceWriter {
    pub(crate) fn new() -> ChoiceWriter {
        let chunk = Arc::new(Chunk::new());
        let chunks = Mutex::new(vec![chunk.clone()]);
        let choice_log = Arc::new(ChoiceLog { chunks, ..ChoiceLog::default() });
        ChoiceWriter { choice_log, chunk, length: 0, before: 0 }
    }

    pub(crate) fn choice_log(&self) -> &Arc<ChoiceLog> {
        &self.choice_log
    }

    /// Begins an execution of schedule number `schedule`.
    pub(crate) fn rewind(&mut self, schedule: u64) {
        if self.before > 0 {
            *lock(&self.choice_log.base) = None;
            self.before = 0;
        }
        self.choice_log.schedule.store(schedule, Ordering::Relaxed);
        self.truncate(0);
    }

    /// Begins an execution whose first choices are known and not written again; returns those of the
    /// execution before it.
    pub(crate) fn continue_from(&mut self, base: Option<Arc<Prefix>>) -> Option<Arc<Prefix>> {
        self.choice_log.schedule.store(0, Ordering::Relaxed);
        self.truncate(self.before);
        self.before = base.as_ref().map_or(0, |base| base.len());
        std::mem::replace(&mut *lock(&self.choice_log.base), base)
    }

    /// Goes back to this many choices, for another execution with the same beginning.
    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        let length = length - self.before;
        debug_assert!(length <= self.length);
        if length / CHUNK != self.length / CHUNK {
            self.chunk = lock(&self.choice_log.chunks)[length / CHUNK].clone();
        }
        self.length = length;
        self.choice_log.length.store(length, Ordering::Release);
        let executions = self.choice_log.executions.load(Ordering::Relaxed);
        self.choice_log.executions.store(executions.wrapping_add(1), Ordering::Release);
    }

    /// Says what the thread does from now on.
    pub(crate) fn now(&mut self, doing: Activity) {
        self.choice_log.doing.store(doing as u8, Ordering::Release);
    }

    #[inline]
    pub(crate) fn write(&mut self, choice: Choice) {
        let [head, body] = &self.chunk.0[self.length % CHUNK];
        let words = encode(choice);
        head.store(words[0], Ordering::Relaxed);
        body.store(words[1], Ordering::Relaxed);
        self.length += 1;
        // Release: a reader that sees this length sees the words below it.
        self.choice_log.length.store(self.length, Ordering::Release);
        if self.length.is_multiple_of(CHUNK) {
            self.next_chunk();
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.before + self.length
    }

    /// The choices since the last rewind.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        self.choice_log.choices()
    }

    /// The choices in this range of positions, none of which is before the chunks.
    pub(crate) fn choices_in(&self, range: Range<usize>) -> Vec<Choice> {
        let start = range.start - self.before;
        let chunks = lock(&self.choice_log.chunks);
        let words = words(&chunks[start / CHUNK..]).skip(start % CHUNK);
        words.take(range.len()).map(decode).collect()
    }

    #[cold]
    fn next_chunk(&mut self) {
        let mut chunks = lock(&self.choice_log.chunks);
        let next = self.length / CHUNK;
        if next == chunks.len() {
            chunks.push(Arc::new(Chunk::new()));
        }
        self.chunk = chunks[next].clone();
    }
}

impl ChoiceLog {
    /// Differs from one call to the next if the execution goes on.
    pub(crate) fn heartbeat(&self) -> (u64, usize, Activity) {
        let executions = self.executions.load(Ordering::Acquire);
        (executions, self.length.load(Ordering::Acquire), self.doing())
    }

    pub(crate) fn doing(&self) -> Activity {
        match self.doing.load(Ordering::Acquire) {
            0 => Activity::Nothing,
            1 => Activity::Starting,
            2 => Activity::Stepping,
            _ => Activity::Ending,
        }
    }

    /// Says which thread writes it.
    pub(crate) fn is_of(&self, thread: ThreadId) {
        let _ = self.thread.set(thread);
    }

    /// The call that its thread is in, if that may block it.
    pub(crate) fn blocked_in(&self) -> Option<Call> {
        self.thread.get().and_then(|thread| foreign::blocked_in(*thread))
    }

    pub(crate) fn schedule(&self) -> u64 {
        self.schedule.load(Ordering::Acquire)
    }

    /// The choices so far; exact if the writer does nothing meanwhile.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        let mut choices = lock(&self.base).as_ref().map_or_else(Vec::new, |base| base.choices());
        let length = self.length.load(Ordering::Acquire);
        choices.extend(words(&lock(&self.chunks)).take(length).map(decode));
        choices
    }
}

/// What a poisoned lock protects is intact: nothing panics while it is changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Chunk {
    fn new() -> Chunk {
        Chunk(array::from_fn(|_| [AtomicU64::new(0), AtomicU64::new(0)]))
    }
}

/// The low bits of the first word tell the kind of the choice.
#[inline]
fn encode(choice: Choice) -> [u64; 2] {
    match choice {
        Choice::Worker(worker) => [0, worker.to_bits()],
        Choice::Value { index, of, tag } => {
            let kind = match tag {
                Tag::Program => 1,
                Tag::Fault => 2,
            };
            [kind, u64::from(index) << 32 | u64::from(of)]
        }
        Choice::Input(value) => [4, value as u64],
        Choice::Delivery(message) => {
            [3 | u64::from(message.number) << 32, message.sender.to_bits()]
        }
    }
}

fn words(chunks: &[Arc<Chunk>]) -> impl Iterator<Item = &[AtomicU64; 2]> {
    chunks.iter().flat_map(|chunk| &chunk.0)
}

fn decode([head, body]: &[AtomicU64; 2]) -> Choice {
    let (head, body) = (head.load(Ordering::Relaxed), body.load(Ordering::Relaxed));
    let value = |tag| Choice::Value { index: (body >> 32) as u32, of: body as u32, tag };
    match head & 7 {
        0 => Choice::Worker(WorkerId::from_bits(body)),
        1 => value(Tag::Program),
        2 => value(Tag::Fault),
        4 => Choice::Input(body as i64),
        _ => Choice::Delivery(MessageId {
            sender: WorkerId::from_bits(body),
            number: (head >> 32) as u32,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn choices() -> impl Strategy<Value = Vec<Choice>> {
        let worker = (0..99u32, any::<bool>()).prop_map(|(n, timer)| {
            let root = WorkerId::root(n);
            if timer { root.timer(n) } else { root }
        });
        let choice = prop_oneof![
            worker.clone().prop_map(Choice::Worker),
            (any::<u32>(), any::<u32>(), any::<bool>()).prop_map(|(index, of, fault)| {
                Choice::Value { index, of, tag: if fault { Tag::Fault } else { Tag::Program } }
            }),
            (worker, any::<u32>())
                .prop_map(|(sender, number)| Choice::Delivery(MessageId { sender, number })),
            any::<i64>().prop_map(Choice::Input),
        ];
        prop::collection::vec(choice, 0..2_500)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_log_has_what_was_written_after_what_was_kept(
            known in 0..3u32,
            rounds in prop::collection::vec((any::<prop::sample::Index>(), choices()), 1..5),
        ) {
            let mut writer = ChoiceWriter::new();
            let (mut base, mut expected) = (None, Vec::new());
            for n in 0..known {
                let value = Choice::Value { index: n, of: 4, tag: Tag::Program };
                let step = [Choice::Worker(WorkerId::root(n)), value];
                base = Prefix::extend(base, &step, 0);
                expected.extend(step);
            }
            let before = expected.len();
            writer.continue_from(base);
            for (keep, more) in rounds {
                let keep = before + keep.index(expected.len() - before + 1);
                writer.truncate(keep);
                expected.truncate(keep);
                more.iter().for_each(|&choice| writer.write(choice));
                expected.extend(more);
                prop_assert_eq!(writer.len(), expected.len());
                prop_assert_eq!(&writer.choices(), &expected);
                let range = keep..expected.len();
                prop_assert_eq!(writer.choices_in(range.clone()), &expected[range]);
            }
            writer.rewind(7);
            prop_assert_eq!(writer.choices(), []);
            prop_assert_eq!(writer.choice_log().schedule(), 7);
        }
    }

    #[test]
    fn the_pulse_changes_with_every_choice_and_every_execution() {
        let mut writer = ChoiceWriter::new();
        let mut seen = vec![writer.choice_log().heartbeat()];
        for _ in 0..3 {
            writer.rewind(7);
            assert!(!seen.contains(&writer.choice_log().heartbeat()));
            seen.push(writer.choice_log().heartbeat());
            for _ in 0..2 {
                writer.write(Choice::Worker(WorkerId::root(0)));
                assert!(!seen.contains(&writer.choice_log().heartbeat()));
                seen.push(writer.choice_log().heartbeat());
            }
        }
    }
}

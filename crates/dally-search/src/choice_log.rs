//! The choices of the running schedule, readable from another thread at any time.
//!
//! When a step never comes back, or the process is about to abort, the choices that led there
//! are all that is left. So they are written as they are made, into chunks of atomic words: no
//! lock and no allocation on the way of a step, except once in 1024 choices.

use std::array;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dally_core::{Choice, MessageId, Tag, WorkerId};

use crate::prefix::Prefix;

/// What a thread that runs schedules is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// Nothing of the program's.
    Nothing,
    /// Starting the program.
    Starting,
    /// Taking a step.
    Stepping,
    /// Ending the execution.
    Ending,
}

/// The choices of one thread, as its supervisor reads them.
pub(crate) struct ChoiceLog {
    /// What comes before the first choice in the chunks.
    base: Mutex<Option<Arc<Prefix>>>,
    chunks: Mutex<Vec<Arc<Chunk>>>,
    length: AtomicUsize,
    /// Counts executions: together with the length it tells whether anything moves.
    executions: AtomicU64,
    schedule: AtomicU64,
    doing: AtomicU8,
}

/// Writes a choice log; there is one writer for each.
pub(crate) struct ChoiceWriter {
    choice_log: Arc<ChoiceLog>,
    chunks: Vec<Arc<Chunk>>,
    /// The chunk that is being written.
    chunk: Arc<Chunk>,
    /// How many choices are in the chunks.
    length: usize,
    /// What comes before them.
    base: Option<Arc<Prefix>>,
}

const CHUNK: usize = 1024;

/// Two words for each choice.
struct Chunk([[AtomicU64; 2]; CHUNK]);

impl ChoiceWriter {
    /// A writer with a choice log of its own.
    pub(crate) fn new() -> ChoiceWriter {
        let first = Arc::new(Chunk::new());
        let choice_log = ChoiceLog {
            base: Mutex::new(None),
            chunks: Mutex::new(vec![first.clone()]),
            length: AtomicUsize::new(0),
            executions: AtomicU64::new(0),
            schedule: AtomicU64::new(0),
            doing: AtomicU8::new(Activity::Nothing as u8),
        };
        let (choice_log, chunks) = (Arc::new(choice_log), vec![first.clone()]);
        ChoiceWriter { choice_log, chunks, chunk: first, length: 0, base: None }
    }

    /// The log that it writes.
    pub(crate) fn choice_log(&self) -> &Arc<ChoiceLog> {
        &self.choice_log
    }

    /// A new execution begins, of schedule number `schedule`.
    pub(crate) fn rewind(&mut self, schedule: u64) {
        if self.base.is_some() {
            self.set_base(None);
        }
        if self.length >= CHUNK {
            self.chunk = self.chunks[0].clone();
        }
        self.length = 0;
        self.choice_log.length.store(0, Ordering::Release);
        self.choice_log.schedule.store(schedule, Ordering::Relaxed);
        let executions = self.choice_log.executions.load(Ordering::Relaxed);
        self.choice_log.executions.store(executions.wrapping_add(1), Ordering::Release);
    }

    /// A new execution begins, whose first choices are already known: they are not written again.
    pub(crate) fn continue_from(&mut self, base: Option<Arc<Prefix>>) {
        self.rewind(0);
        if base.is_some() {
            self.set_base(base);
        }
    }

    fn set_base(&mut self, base: Option<Arc<Prefix>>) {
        *self.choice_log.base.lock().unwrap_or_else(PoisonError::into_inner) = base.clone();
        self.base = base;
    }

    #[inline]
    fn before(&self) -> usize {
        self.base.as_ref().map_or(0, |base| base.len())
    }

    /// Goes back to where this many choices were made: another execution with the same beginning.
    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        let length = length - self.before();
        debug_assert!(length <= self.length);
        if length / CHUNK != self.length / CHUNK {
            self.chunk = self.chunks[length / CHUNK].clone();
        }
        self.length = length;
        self.choice_log.length.store(length, Ordering::Release);
        let executions = self.choice_log.executions.load(Ordering::Relaxed);
        self.choice_log.executions.store(executions.wrapping_add(1), Ordering::Release);
    }

    /// Says what the thread is about to do.
    pub(crate) fn now(&mut self, doing: Activity) {
        self.choice_log.doing.store(doing as u8, Ordering::Release);
    }

    /// Writes a choice down.
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

    /// How many choices are on the choice log.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.before() + self.length
    }

    /// The choices since the last rewind.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        decode(self.base.as_deref(), &self.chunks, self.length)
    }

    /// The choices in this range of positions, which begins where the execution was gone on from,
    /// or later.
    pub(crate) fn choices_in(&self, range: Range<usize>) -> Vec<Choice> {
        let range = range.start - self.before()..range.end - self.before();
        let chunks = &self.chunks[range.start / CHUNK..];
        let skipped = range.start / CHUNK * CHUNK;
        words(chunks).skip(range.start - skipped).take(range.len()).map(decoded).collect()
    }

    #[cold]
    fn next_chunk(&mut self) {
        let next = self.length / CHUNK;
        if next == self.chunks.len() {
            let chunk = Arc::new(Chunk::new());
            self.chunks.push(chunk.clone());
            self.choice_log.chunks.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        }
        self.chunk = self.chunks[next].clone();
    }
}

impl ChoiceLog {
    /// Changes whenever the execution gets anywhere.
    pub(crate) fn heartbeat(&self) -> (u64, usize, Activity) {
        let executions = self.executions.load(Ordering::Acquire);
        (executions, self.length.load(Ordering::Acquire), self.doing())
    }

    /// What its thread is doing.
    pub(crate) fn doing(&self) -> Activity {
        match self.doing.load(Ordering::Acquire) {
            0 => Activity::Nothing,
            1 => Activity::Starting,
            2 => Activity::Stepping,
            _ => Activity::Ending,
        }
    }

    /// The number of the schedule that is being run.
    pub(crate) fn schedule(&self) -> u64 {
        self.schedule.load(Ordering::Acquire)
    }

    /// The choices so far. Exact if the writer stands still.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        let base = self.base.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        decode(base.as_deref(), &chunks, self.length.load(Ordering::Acquire))
    }
}

impl Chunk {
    fn new() -> Chunk {
        Chunk(array::from_fn(|_| [AtomicU64::new(0), AtomicU64::new(0)]))
    }
}

/// The low bits of the first word say which kind of choice it is.
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

fn decode(base: Option<&Prefix>, chunks: &[Arc<Chunk>], length: usize) -> Vec<Choice> {
    let mut choices = base.map_or_else(Vec::new, Prefix::choices);
    choices.extend(words(chunks).take(length).map(decoded));
    choices
}

fn words(chunks: &[Arc<Chunk>]) -> impl Iterator<Item = &[AtomicU64; 2]> {
    chunks.iter().flat_map(|chunk| &chunk.0)
}

fn decoded([head, body]: &[AtomicU64; 2]) -> Choice {
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
        prop::collection::vec(choice, 0..3_000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_is_written_is_read_on_both_sides(first in choices(), second in choices()) {
            let mut writer = ChoiceWriter::new();
            for (schedule, written) in [(0, first), (1, second)] {
                writer.rewind(schedule);
                written.iter().for_each(|&choice| writer.write(choice));
                prop_assert_eq!(&writer.choices(), &written);
                prop_assert_eq!(&writer.choice_log().choices(), &written);
                prop_assert_eq!(writer.choice_log().schedule(), schedule);
            }
        }
    }

    #[test]
    fn a_log_that_is_cut_goes_on_from_there() {
        let choice = |n: usize| Choice::Worker(WorkerId::root(n as u32));
        let mut writer = ChoiceWriter::new();
        let mut expected: Vec<Choice> = Vec::new();
        for (keep, more) in [(0, 3_000), (2_048, 1_500), (1_023, 2), (1_024, 5), (10, 4_000)] {
            writer.truncate(keep);
            expected.truncate(keep);
            for n in 0..more {
                writer.write(choice(n));
                expected.push(choice(n));
            }
            assert_eq!(writer.choices(), expected);
            assert_eq!(writer.choice_log().choices(), expected);
            let end = expected.len();
            assert_eq!(writer.choices_in(end / 2..end - 1), expected[end / 2..end - 1]);
        }
    }

    #[test]
    fn what_an_execution_goes_on_from_is_part_of_its_choices() {
        let choice = |n: u32| Choice::Worker(WorkerId::root(n));
        let value = Choice::Value { index: 1, of: 2, tag: Tag::Program };
        let base = Prefix::extend(None, &[choice(0), value], 0);
        let base = Prefix::extend(base, &[choice(1)], 0);
        let mut writer = ChoiceWriter::new();
        writer.continue_from(base);
        writer.write(choice(2));
        writer.write(choice(3));
        assert_eq!(writer.len(), 5);
        assert_eq!(writer.choices(), [choice(0), value, choice(1), choice(2), choice(3)]);
        assert_eq!(writer.choice_log().choices(), writer.choices());
        assert_eq!(writer.choices_in(4..5), [choice(3)]);
        writer.truncate(4);
        writer.write(choice(4));
        assert_eq!(writer.choices(), [choice(0), value, choice(1), choice(2), choice(4)]);
        writer.rewind(1);
        assert_eq!(writer.choices(), []);
        assert_eq!(writer.choice_log().choices(), []);
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

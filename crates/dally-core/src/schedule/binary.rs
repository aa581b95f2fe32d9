//! The compact form of a schedule: what a token carries and what checksums cover.
//!
//! Numbers are LEB128. A string is its length and its UTF-8 bytes. The whole is: program,
//! number of settings, name and value of each, bug, dictionary, number of choices, choices.
//!
//! A bug is the name of its kind, its cause in eight bytes (little-endian) and its text, or else an
//! empty name.
//!
//! The dictionary lists each worker once, the busiest first so that its place fits a byte, as
//! the number of significant bytes of its id and these bytes from the top. A choice is a head,
//! whose two low bits say what it is, and what follows from that:
//!
//! | bits | choice | rest of the head | then |
//! |---|---|---|---|
//! | 0 | a worker, enabled set as before | its place | |
//! | 1 | a worker, another enabled set | its place | each worker that came or went: place * 2 + 1 if more follow |
//! | 2 | a value | number of values * 2 + 1 for a fault | index |
//! | 2 | an input | 0, since no value is one of none | zigzag: 0, -1, 1, -2, ... are 0, 1, 2, 3, ... |
//! | 3 | a delivery | place of the sender | number of the message |

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Schedule;
use super::enabled::{Builder, MOST, Sets, TooLarge};
use crate::bug::{BugKind, BugRecord, Cause};
use crate::choice::{Choice, MessageId, Tag};
use crate::fingerprint;
use crate::worker::WorkerId;

const SAME: u64 = 0;
const CHANGED: u64 = 1;
const VALUE: u64 = 2;
const DELIVERY: u64 = 3;

pub(super) fn checksum(bytes: &[u8]) -> u32 {
    fingerprint::of_bytes(bytes) as u32
}

/// The bytes of a schedule: equal schedules have equal bytes.
pub(super) fn encode(schedule: &Schedule) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + 3 * schedule.choices.len());
    put_text(&mut out, &schedule.program);
    put(&mut out, schedule.settings.len() as u64);
    for (name, value) in &schedule.settings {
        put_text(&mut out, name);
        put_text(&mut out, value);
    }
    put_text(&mut out, schedule.bug.as_ref().map_or("", |bug| bug.kind.name()));
    if let Some(bug) = &schedule.bug {
        out.extend_from_slice(&bug.cause.0.to_le_bytes());
        put_text(&mut out, &bug.text);
    }

    let dictionary = dictionary(schedule);
    put(&mut out, dictionary.len() as u64);
    for worker in &dictionary {
        let bytes = worker.to_bits().to_be_bytes();
        let significant = 8 - (worker.to_bits().trailing_zeros() as usize / 8).min(8);
        out.push(significant as u8);
        out.extend_from_slice(&bytes[..significant]);
    }
    let places: BTreeMap<WorkerId, u64> = dictionary.into_iter().zip(0..).collect();

    put(&mut out, schedule.choices.len() as u64);
    let mut sets = Sets::new(schedule);
    for choice in &schedule.choices {
        match *choice {
            Choice::Worker(worker) => {
                let change = sets.advance().1;
                let kind = if change.is_empty() { SAME } else { CHANGED };
                put(&mut out, places[&worker] << 2 | kind);
                let mut toggled = change.added.iter().chain(&change.removed).peekable();
                while let Some(other) = toggled.next() {
                    put(&mut out, places[other] << 1 | u64::from(toggled.peek().is_some()));
                }
            }
            Choice::Value { index, of, tag } => {
                put(&mut out, (u64::from(of) << 1 | u64::from(tag == Tag::Fault)) << 2 | VALUE);
                put(&mut out, u64::from(index));
            }
            Choice::Input(value) => {
                put(&mut out, VALUE);
                put(&mut out, (value << 1 ^ value >> 63) as u64);
            }
            Choice::Delivery(message) => {
                put(&mut out, places[&message.sender] << 2 | DELIVERY);
                put(&mut out, u64::from(message.number));
            }
        }
    }
    out
}

/// The schedule with these bytes, or what is wrong with them.
pub(super) fn decode(bytes: &[u8]) -> Result<Schedule, String> {
    let mut reader = Reader(bytes);
    let program = reader.text()?;
    let mut settings = Vec::new();
    for _ in 0..reader.count()? {
        settings.push((reader.text()?, reader.text()?));
    }
    let bug = reader.bug()?;
    let mut dictionary = Vec::new();
    for _ in 0..reader.count()? {
        dictionary.push(reader.worker()?);
    }
    let place = |place: u64| -> Result<WorkerId, String> {
        let found = usize::try_from(place).ok().and_then(|place| dictionary.get(place));
        found.copied().ok_or_else(|| format!("worker {place} is not in its dictionary"))
    };

    let mut choices = Vec::new();
    let mut sets = Builder::default();
    for _ in 0..reader.count()? {
        let head = reader.number()?;
        let rest = head >> 2;
        choices.push(match head & 3 {
            VALUE if rest == 0 => {
                let zigzag = reader.number()?;
                Choice::Input((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
            }
            VALUE => {
                let of = u32::try_from(rest >> 1).map_err(|_| "a number is too large")?;
                let tag = if rest & 1 == 1 { Tag::Fault } else { Tag::Program };
                let index = reader.small()?;
                if index >= of {
                    return Err(format!("value {index} is not one of {of} values"));
                }
                Choice::Value { index, of, tag }
            }
            DELIVERY => {
                Choice::Delivery(MessageId { sender: place(rest)?, number: reader.small()? })
            }
            kind => {
                let mut more = kind == CHANGED;
                while more {
                    let toggle = reader.number()?;
                    let other = place(toggle >> 1)?;
                    if !sets.add(other) {
                        sets.remove(other);
                    }
                    more = toggle & 1 == 1;
                }
                sets.push().map_err(|TooLarge| {
                    format!("its enabled sets have more than {MOST} entries in total")
                })?;
                Choice::Worker(place(rest)?)
            }
        });
    }
    if !reader.0.is_empty() {
        return Err("more follows its last choice".to_owned());
    }
    Ok(Schedule { program, settings, bug, choices, enabled: sets.finish(), edited: false })
}

/// Every worker the schedule names, the busiest first.
fn dictionary(schedule: &Schedule) -> Vec<WorkerId> {
    let mut uses: BTreeMap<WorkerId, usize> = BTreeMap::new();
    let mut sets = Sets::new(schedule);
    for choice in &schedule.choices {
        match *choice {
            Choice::Worker(worker) => {
                *uses.entry(worker).or_default() += 1;
                let change = sets.advance().1;
                for other in change.added.into_iter().chain(change.removed) {
                    *uses.entry(other).or_default() += 1;
                }
            }
            Choice::Delivery(message) => *uses.entry(message.sender).or_default() += 1,
            Choice::Value { .. } | Choice::Input(_) => {}
        }
    }
    let mut workers: Vec<_> = uses.into_iter().collect();
    workers.sort_by_key(|&(worker, uses)| (Reverse(uses), worker));
    workers.into_iter().map(|(worker, _)| worker).collect()
}

pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or("it ends in the middle of something")?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn number(&mut self) -> Result<u64, String> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            let digits = u64::from(byte & 0x7f);
            if digits << shift >> shift != digits {
                break;
            }
            number |= digits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number is too large".to_owned())
    }

    fn small(&mut self) -> Result<u32, String> {
        u32::try_from(self.number()?).map_err(|_| "a number is too large".to_owned())
    }

    /// The number of things that follow, each of at least one byte: a number above that of the
    /// bytes left is an error, before anything is allocated for it.
    fn count(&mut self) -> Result<usize, String> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > self.0.len() {
            return Err(format!("it promises {count} entries and has {} bytes", self.0.len()));
        }
        Ok(count)
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.count()?;
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| "a text in it is not UTF-8")?;
        Ok(text.to_owned())
    }

    fn bug(&mut self) -> Result<Option<BugRecord>, String> {
        let name = self.text()?;
        if name.is_empty() {
            return Ok(None);
        }
        let kind = BugKind::from_name(&name).ok_or("it names a kind of bug that there is not")?;
        let cause = self.take(8)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        Ok(Some(BugRecord { kind, cause: Cause(cause), text: self.text()? }))
    }

    fn worker(&mut self) -> Result<WorkerId, String> {
        let significant = usize::from(self.take(1)?[0]);
        if significant > 8 {
            return Err("a worker's id is too long".to_owned());
        }
        let mut bytes = [0; 8];
        bytes[..significant].copy_from_slice(self.take(significant)?);
        let worker = WorkerId::from_bits(u64::from_be_bytes(bytes));
        // Not all bits are the id of a worker: only an id survives being written and read.
        match worker.to_string().parse::<WorkerId>() {
            Ok(same) if same == worker => Ok(worker),
            _ => Err("a worker's id is malformed".to_owned()),
        }
    }
}

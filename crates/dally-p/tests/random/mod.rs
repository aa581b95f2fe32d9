//! Random inputs for the front end: raw bytes, random tokens, programs by the grammar, and such
//! programs with a few tokens changed.

mod program;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dally_p::diagnostic::{self, Report};
use dally_p::source::{FileId, Sources, Span};
use dally_p::vm::{Foreign, PProgram};
use dally_p::{compile, syntax};
use fastrand::Rng;

pub use program::program;

/// The input with this number.
pub fn input(number: u64) -> String {
    let mut rng = Rng::with_seed(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    match rng.u8(0..16) {
        0 => bytes(&mut rng),
        1..=4 => tokens(&mut rng),
        5..=8 => program(&mut rng),
        _ => {
            let program = program(&mut rng);
            mutated(&program, &mut rng)
        }
    }
}

/// What an input has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// There are errors.
    Rejected,
    /// It is a program with so many tests, all of which were compiled.
    Accepted(usize),
}

/// Takes an input through the whole front end, down to the code of its tests. Answers what went
/// wrong, if something did. All places in the tree are looked at if it is `thorough`, which takes
/// several times as long.
pub fn check(text: &str, thorough: bool) -> Result<Outcome, String> {
    catch_unwind(AssertUnwindSafe(|| checked(text, thorough)))
        .unwrap_or_else(|_| Err("the front end panicked".into()))
}

fn checked(text: &str, thorough: bool) -> Result<Outcome, String> {
    let mut sources = Sources::default();
    let file = sources.add("random.p", text);
    let (tree, diagnostics) = syntax::parse(&sources, file);
    let written = if thorough { format!("{tree:?}") } else { String::new() };
    for place in written.split("Span { ").skip(1) {
        let number = |name: &str| {
            let digits = place.split_once(name)?.1;
            digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let (Some(start), Some(end)) = (number("start: "), number("end: ")) else {
            return Err(format!("this is no span: {place}"));
        };
        in_text(Span { file, start, end }, text)?;
    }
    if tree.lost && diagnostics.is_empty() {
        return Err("something was left out without a word".into());
    }
    let compiled = compile(sources);
    for diagnostic in &compiled.diagnostics {
        let related = diagnostic.related.iter().map(|(span, _)| *span);
        for span in diagnostic.span.into_iter().chain(related) {
            in_text(span, text)?;
        }
    }
    let shown = if thorough { compiled.diagnostics.len().min(3) } else { 0 };
    let shown = &compiled.diagnostics[..shown];
    diagnostic::render(shown, &compiled.sources, false);
    Report::all(shown, &compiled.sources);
    let Some(program) = compiled.program else {
        let errors = compiled.diagnostics.iter();
        if errors.filter(|d| d.severity == diagnostic::Severity::Error).count() == 0 {
            return Err("it was rejected without an error".into());
        }
        return Ok(Outcome::Rejected);
    };
    let program = Arc::new(program);
    for test in 0..program.tests.len().min(4) {
        // Foreign functions may be missing; that is an error like others.
        let _ = PProgram::new(&program, test, Foreign::default());
    }
    Ok(Outcome::Accepted(program.tests.len()))
}

fn in_text(span: Span, text: &str) -> Result<(), String> {
    let (start, end) = (span.start as usize, span.end as usize);
    let inside = span.file == FileId(0) && text.get(start..end).is_some();
    if inside { Ok(()) } else { Err(format!("{span:?} is not in the text")) }
}

fn bytes(rng: &mut Rng) -> String {
    let length = rng.usize(0..200);
    let bytes: Vec<u8> = match rng.bool() {
        true => (0..length).map(|_| rng.u8(..)).collect(),
        false => (0..length).map(|_| pick(rng, b"\"\\/*'{}();:=.,-+<>&|$!#\r\n\t ae0")).collect(),
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

fn tokens(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.usize(0..120) {
        token(rng, &mut text);
    }
    text
}

/// Appends a random token and some space.
fn token(rng: &mut Rng, text: &mut String) {
    match rng.u8(0..10) {
        0..=2 => *text += pick(rng, &["a", "b", "M", "S", "e", "T", "x1", "_", "größe"]),
        3 => *text += pick(rng, &["0", "1", "7", "2147483647", "2147483648", "1.5", ".5", "1x"]),
        4 => *text += pick(rng, &["\"\"", "\"a\\n\"", "\"\\q\"", "\"{0}\"", "\"", "'", "/*", "//"]),
        _ => *text += pick(rng, syntax::SPELLINGS),
    }
    *text += pick(rng, &[" ", " ", " ", "\n", "\r\n", "\t", ""]);
}

/// The text with some of its tokens left out, doubled, exchanged or replaced.
fn mutated(text: &str, rng: &mut Rng) -> String {
    let mut parts = split(text);
    for _ in 0..rng.usize(1..6) {
        if parts.is_empty() {
            break;
        }
        let at = rng.usize(0..parts.len());
        match rng.u8(0..7) {
            0 => {
                parts.remove(at);
            }
            1 => parts.insert(at, parts[at].clone()),
            2 => {
                let other = rng.usize(0..parts.len());
                parts.swap(at, other);
            }
            3 => parts.truncate(at),
            4 => {
                let mut new = String::new();
                token(rng, &mut new);
                parts[at] = new;
            }
            5 => {
                let mut new = String::new();
                token(rng, &mut new);
                parts.insert(at, new);
            }
            _ => {
                let end = (at + rng.usize(1..30)).min(parts.len());
                let piece = parts[at..end].to_vec();
                let to = rng.usize(0..parts.len());
                parts.splice(to..to, piece);
            }
        }
    }
    parts.concat()
}

/// Words, single signs and spaces.
fn split(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    for c in text.chars() {
        match parts.last_mut() {
            Some(last) if of_word(c) && last.chars().all(of_word) => last.push(c),
            _ => parts.push(c.into()),
        }
    }
    parts
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(0..of.len())]
}

//! Random texts that look like programs.

use fastrand::Rng;

const PARTS: [&str; 62] = [
    "process",
    "p",
    "q",
    "node",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "i",
    "in",
    "0",
    "1",
    "3",
    "..",
    "..=",
    "var",
    "x",
    "y",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "<-",
    "+",
    "-",
    "*",
    "/",
    "%",
    ",",
    ";",
    ":",
    ".",
    "input",
    "receive",
    "or",
    "end",
    "send",
    "if",
    "goto",
    "l",
    "l:",
    "1:",
    "assert",
    "assume",
    "error",
    "\"text\"",
    "halt",
    "setup",
    "finally",
    "param",
    "const",
    "mailboxes",
    "fifo",
    "\n",
    "9223372036854775807",
    "é",
    "// comment\n",
];

const PROGRAMS: [&str; 4] = [
    include_str!("../../../../protocols/mpil/figure3.mpil"),
    include_str!("../../../../protocols/mpil/sorting.mpil"),
    include_str!("../../../../protocols/mpil/leader_election.mpil"),
    include_str!("../../../../protocols/mpil/shortest_path.mpil"),
];

/// Words in random order, or a program with some of its words replaced, left out or doubled.
pub fn text(rng: &mut Rng) -> String {
    let part = |rng: &mut Rng| PARTS[rng.usize(..PARTS.len())];
    if rng.bool() {
        return (0..rng.usize(..60)).map(|_| part(rng).to_owned() + " ").collect();
    }
    let program = PROGRAMS[rng.usize(..PROGRAMS.len())];
    let changes = rng.usize(1..=6);
    let mut words: Vec<&str> = program.split_inclusive([' ', '\n']).collect();
    for _ in 0..changes {
        let at = rng.usize(..words.len());
        match rng.u8(..4) {
            0 => words[at] = part(rng),
            1 => drop(words.remove(at)),
            2 => words.insert(at, part(rng)),
            _ => {
                let other = rng.usize(..words.len());
                words.swap(at, other);
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

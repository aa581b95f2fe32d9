//! Random small programs in MPIL.

use std::fmt::Write;

use fastrand::Rng;

/// A random program of a few processes that exchange a few messages; some reach `error`, if that is wanted.
pub fn program(rng: &mut Rng, errors: bool) -> String {
    let mut text = String::new();
    let processes = rng.usize(2..=3);
    let inputs = rng.usize(0..=2);
    if rng.bool() {
        text += "mailboxes fifo\n";
    }
    text += "setup {\n    var a, b\n";
    for name in ["a", "b"].iter().take(inputs) {
        writeln!(text, "    input {name} in 0..={}", rng.i64(1..=3)).unwrap();
    }
    if inputs == 2 && rng.u8(..4) == 0 {
        text += "    assume a != b\n";
    }
    for _ in 0..rng.usize(1..=3) {
        writeln!(text, "    send p{}, {}", rng.usize(..processes), value(rng)).unwrap();
    }
    text += "}\n";
    for process in 0..processes {
        writeln!(text, "process p{process} {{\n    var x, y").unwrap();
        for round in 0..rng.usize(1..=2) {
            writeln!(text, "    receive x or end").unwrap();
            for part in 0..rng.usize(1..=2) {
                let label = format!("l{round}{part}");
                if rng.u8(..3) > 0 {
                    let relation = rng.choice(["==", "!=", "<", "<=", ">", ">="]).unwrap();
                    writeln!(text, "    if {} {relation} {} goto {label}", value(rng), value(rng))
                        .unwrap();
                }
                match rng.u8(..9) {
                    0..=5 => writeln!(text, "    send p{}, {}", rng.usize(..processes), value(rng)),
                    8 if errors => writeln!(text, "    error"),
                    _ => writeln!(text, "    y = {}", value(rng)),
                }
                .unwrap();
                writeln!(text, "  {label}:").unwrap();
            }
        }
        text += "}\n";
    }
    if rng.bool() {
        writeln!(text, "finally {{ assert p0.y + p1.y != {} }}", rng.i64(1..=4)).unwrap();
    }
    repaired(&text)
}

fn value(rng: &mut Rng) -> String {
    let of_process = ["a", "b", "x", "y", "0", "1", "2", "a + 1", "2 * b", "x - 1", "a - b"];
    rng.choice(of_process).unwrap().to_owned()
}

/// In the set-up there are no `x` and `y`.
fn repaired(text: &str) -> String {
    let (setup, rest) = text.split_once("}\n").unwrap();
    let setup = setup.replace(", x - 1", ", a").replace(", x", ", 1").replace(", y", ", 2");
    format!("{setup}}}\n{rest}")
}

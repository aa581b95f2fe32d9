//! What conditions evaluate, and in which order, against a reading of the rules by hand.

use fastrand::Rng;

use crate::driver::prints;

/// A condition whose leaves say that they are evaluated.
enum Condition {
    Leaf(usize, bool),
    Not(Box<Condition>),
    /// Operands with signs between them.
    Row(Vec<Condition>, Vec<&'static str>),
}

const SIGNS: [&str; 4] = ["||", "&&", "==", "!="];

fn random(rng: &mut Rng, depth: u32, leaves: &mut usize) -> Condition {
    match rng.u8(..if depth == 0 { 1 } else { 6 }) {
        0 => {
            *leaves += 1;
            Condition::Leaf(*leaves, rng.bool())
        }
        1 => Condition::Not(Box::new(random(rng, depth - 1, leaves))),
        _ => {
            let signs: Vec<_> = (0..rng.usize(1..6)).map(|_| SIGNS[rng.usize(..4)]).collect();
            let operands = (0..=signs.len()).map(|_| random(rng, depth - 1, leaves)).collect();
            Condition::Row(operands, signs)
        }
    }
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Condition::Leaf(name, true) => format!("yes({name})"),
            Condition::Leaf(name, false) => format!("no({name})"),
            Condition::Not(of) => format!("!({})", of.text()),
            Condition::Row(operands, signs) => {
                let operand = |of: &Condition| match of {
                    Condition::Row(..) => format!("({})", of.text()),
                    _ => of.text(),
                };
                let rest = signs.iter().zip(&operands[1..]);
                let rest = rest.map(|(sign, of)| format!(" {sign} {}", operand(of)));
                operand(&operands[0]) + &rest.collect::<String>()
            }
        }
    }

    /// Its value, with the names of the leaves that are evaluated appended to the trail.
    fn value(&self, trail: &mut String) -> bool {
        match self {
            Condition::Leaf(name, value) => {
                *trail += &format!("{name} ");
                *value
            }
            Condition::Not(of) => !of.value(trail),
            Condition::Row(operands, signs) => row(operands, signs, trail),
        }
    }
}

/// `||` binds loosest, then `&&`, then the others; all go from left to right.
fn row(operands: &[Condition], signs: &[&str], trail: &mut String) -> bool {
    for loosest in &SIGNS[..2] {
        if let Some(at) = signs.iter().rposition(|sign| sign == loosest) {
            let left = row(&operands[..=at], &signs[..at], trail);
            let decided = left == (*loosest == "||");
            return if decided { left } else { row(&operands[at + 1..], &signs[at + 1..], trail) };
        }
    }
    let mut value = operands[0].value(trail);
    for (sign, operand) in signs.iter().zip(&operands[1..]) {
        value = (value == operand.value(trail)) == (*sign == "==");
    }
    value
}

#[test]
fn conditions_evaluate_what_they_need_from_left_to_right() {
    let mut rng = Rng::with_seed(7);
    for _ in 0..40 {
        let mut body = String::new();
        let mut expected = String::new();
        for _ in 0..10 {
            let condition = random(&mut rng, 3, &mut 0);
            let text = condition.text();
            let mut trail = String::new();
            let value = condition.value(&mut trail);
            let (shown, word) = if value { ("True", "then") } else { ("False", "else") };
            body += &format!(
                "trail = \"\"; b = {text}; print format(\"{{0}} {{1}}\", b, trail);
                 trail = \"\"; if ({text}) print format(\"then {{0}}\", trail);
                 else print format(\"else {{0}}\", trail);
                 trail = \"\"; while (!({text}) && once()) {{ }} print trail;\n"
            );
            let again = if value { "" } else { &*format!("once {trail}once ") };
            expected += &format!("{shown} {trail}\n{word} {trail}\n{trail}{again}\n");
        }
        let found = prints(&format!(
            "machine Main {{
                 var trail: string; var b: bool; var again: bool;
                 fun yes(n: int): bool {{ trail = trail + format(\"{{0}} \", n); return true; }}
                 fun no(n: int): bool {{ return !yes(n); }}
                 fun once(): bool {{ trail = trail + \"once \"; again = !again; return again; }}
                 start state S {{ entry {{ {body} }} }}
             }}
             test t [main=Main]: {{Main}};"
        ));
        assert_eq!(found, expected + "done");
    }
}

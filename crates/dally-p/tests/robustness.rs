//! No input makes the front end panic, hang or point outside of the text. `examples/fuzz.rs`
//! takes many more inputs.

mod random;

use random::Outcome;

#[test]
fn random_inputs_are_rejected_or_accepted_and_nothing_else() {
    let mut accepted = 0;
    for number in 0..3_000 {
        let text = random::input(number);
        match random::check(&text, true) {
            Ok(Outcome::Accepted(_)) => accepted += 1,
            Ok(Outcome::Rejected) => {}
            Err(why) => panic!("input {number}: {why}\n{text}"),
        }
    }
    // Neither all nor none: the generator reaches what lies behind the parser.
    assert!((100..2_900).contains(&accepted), "{accepted}");
}

#[test]
fn every_prefix_of_a_program_is_survived() {
    let text = random::program(&mut fastrand::Rng::with_seed(1));
    for (end, _) in text.char_indices().step_by(3) {
        if let Err(why) = random::check(&text[..end], true) {
            panic!("{why}\n{}", &text[..end]);
        }
    }
}

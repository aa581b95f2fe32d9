//! Where others may step, by exact counts.

use dally_core::{Access, Captured, Footprint, MessageId, Program, Resource, System, WorkerId};

use crate::driver::{Script, all_of, program, story_of};

fn steps(source: &str) -> usize {
    story_of(&program(source)).steps
}

#[test]
fn a_machine_that_does_nothing_takes_one_step() {
    assert_eq!(steps("machine Main { start state S { } } test t [main=Main]: {Main};"), 1);
}

#[test]
fn every_send_and_create_ends_a_step_and_calls_raises_and_gotos_do_not() {
    let source = |body: &str| {
        format!(
            "event a; event b;
             machine Main {{
                 start state S {{ entry {{ {body} }} on b goto T; ignore a; }}
                 state T {{ entry {{ f(); }} }}
                 fun f() {{ }}
             }}
             machine Other {{ start state S {{ }} }}
             test t [main=Main]: {{Main, Other}};"
        )
    };
    assert_eq!(steps(&source("")), 1);
    assert_eq!(steps(&source("f(); raise b;")), 1);
    assert_eq!(steps(&source("goto T;")), 1);
    assert_eq!(steps(&source("announce a;")), 1);
    // The ignored event is deleted when the handler is over.
    assert_eq!(steps(&source("send this, a;")), 2);
    assert_eq!(steps(&source("send this, a; send this, a;")), 3);
    assert_eq!(steps(&source("send this, b;")), 3);
    // The other machine's first step is one of these.
    assert_eq!(steps(&source("new Other();")), 3);
}

#[test]
fn a_receive_ends_a_step_whether_it_is_satisfied_or_not() {
    let source = |body: &str| {
        format!(
            "event a;
             machine Main {{ start state S {{ entry {{ {body} }} }} }}
             test t [main=Main]: {{Main}};"
        )
    };
    assert_eq!(steps(&source("receive { case a: { } }")), 1);
    assert_eq!(steps(&source("send this, a; receive { case a: { } }")), 3);
}

#[test]
fn a_state_with_a_null_handler_looks_before_it_takes() {
    let source = |body: &str| {
        format!(
            "event a;
             machine Main {{
                 start state S {{ entry {{ {body} }} on null goto T; on a goto T; }}
                 state T {{ }}
             }}
             test t [main=Main]: {{Main}};"
        )
    };
    // Entry; looks; null.
    assert_eq!(steps(&source("")), 3);
    // Entry up to the send; the send; looks; takes.
    assert_eq!(steps(&source("send this, a;")), 4);
}

const TWO: &str = "event a: int;
    machine Main {
        var other: Other;
        start state S { entry { other = new Other(); send other, a, 1; } }
    }
    machine Other { start state S { on a do (n: int) { } } }
    test t [main=Main]: {Main, Other};";

#[test]
fn what_a_worker_does_next_is_known() {
    let program = program(TWO);
    let mut system = program.start().unwrap();
    let (main, other) = (WorkerId::root(0), WorkerId::root(0).child(0));
    let mut env = Script::default();
    let pending = |system: &dyn System, worker| {
        let mut pending = Footprint::default();
        system.pending(worker, &mut pending);
        pending.accesses().to_vec()
    };
    let mut touched = vec![pending(&system, main)];
    for _ in 0..3 {
        system.step(main, &mut env).unwrap();
        if system.enabled().contains(&main) {
            touched.push(pending(&system, main));
        }
    }
    let message = Resource::Message(MessageId { sender: main, number: 0 });
    let starts = |worker| vec![Access::read(Resource::Life(worker))];
    let creates = vec![Access::write(Resource::Life(other))];
    let sends = vec![
        Access::read(Resource::Life(other)),
        Access::update(Resource::Inbox(other)),
        Access::write(message),
    ];
    assert_eq!(touched, [starts(main), creates, sends]);
    assert_eq!(system.enabled(), [other]);
    assert_eq!(pending(&system, other), starts(other));
    system.step(other, &mut env).unwrap();
    assert_eq!(pending(&system, other), [Access::update(message)]);
    system.step(other, &mut env).unwrap();
    assert!(system.enabled().is_empty());
    assert_eq!(system.name(other), "Other");
}

#[test]
fn all_interleavings_are_there_and_no_more() {
    // Main: entry, create, send. Other: entry, take. The states are where both are.
    assert_eq!(all_of(&program(TWO)).states, 7);
}

#[test]
fn a_fork_and_its_original_go_their_own_ways() {
    let program = program(TWO);
    let mut system = program.start().unwrap();
    let mut env = Script::default();
    let main = WorkerId::root(0);
    system.step(main, &mut env).unwrap();
    let saved = system.fork();
    let before = saved.fingerprint();
    system.step(main, &mut env).unwrap();
    system.step(main, &mut env).unwrap();
    assert_eq!(saved.fingerprint_from_scratch(), before);
    assert_ne!(system.fingerprint(), before);
    system.restore_from(&saved);
    assert_eq!(system.fingerprint_from_scratch(), before);
    assert_eq!(system.enabled(), saved.enabled());
    system.step(main, &mut env).unwrap();
    assert_eq!(saved.fingerprint_from_scratch(), before);
}

#[test]
fn states_that_are_kept_share_what_is_the_same_and_still_go_their_own_ways() {
    let program = program(TWO);
    let mut env = Script::default();
    let main = WorkerId::root(0);
    let mut states = [program.start().unwrap(), program.start().unwrap()];
    for state in &mut states {
        state.step(main, &mut env).unwrap();
        state.step(main, &mut env).unwrap();
        state.condense();
    }
    let [one, mut other] = states;
    let before = one.fingerprint_from_scratch();
    assert_eq!(other.fingerprint_from_scratch(), before);
    assert_eq!(other.enabled(), one.enabled());
    while let Some(&worker) = other.enabled().first() {
        other.step(worker, &mut env).unwrap();
    }
    assert_eq!(one.fingerprint_from_scratch(), before);
    assert!(!one.enabled().is_empty());
}

#[test]
fn a_restart_is_a_start() {
    let program = program(TWO);
    let fresh = program.start().unwrap();
    let mut system = program.start().unwrap();
    let mut env = Script::default();
    while let Some(&worker) = system.enabled().first() {
        system.step(worker, &mut env).unwrap();
    }
    program.restart(&mut system).unwrap();
    assert_eq!(system.fingerprint_from_scratch(), fresh.fingerprint());
    assert_eq!(system.enabled(), fresh.enabled());
}

#[test]
fn atomic_handlers_have_fewer_steps_and_say_where_that_is_not_sound() {
    let all = |atomic| {
        let program = program(TWO).atomic_handlers(atomic);
        (program.granularity(), all_of(&program).states)
    };
    assert_eq!(all(false), ("per-send", 7));
    assert_eq!(all(true), ("atomic", 4));
    let caveat = program(TWO).caveat().map(str::to_owned);
    insta::assert_snapshot!(caveat.unwrap(), @"`Main` may send or create, and then go on or do so again, in one handler (the state `S`): what other machines send in between would be left out");
    let one = "event a;
        machine Main { start state S { entry { send this, a; } on a do { } } }
        test t [main=Main]: {Main};";
    assert_eq!(program(one).caveat(), None);
    let observed = "event a;
        machine Main { start state S { entry { send this, a; } on a do { } } }
        spec Watch observes a { start state S { ignore a; } }
        test t [main=Main]: assert Watch in {Main};";
    let caveat = program(observed).caveat().map(str::to_owned);
    insta::assert_snapshot!(caveat.unwrap(), @"`Main` may send `a`, which a spec observes: specs are told of it before other machines may step, and the event arrives after");
}

#[test]
fn functions_that_call_each_other_in_a_long_row_are_looked_through() {
    let many = 20_000;
    let chain: String =
        (1..many).map(|at| format!("fun f{at}(m: machine) {{ f{}(m); }}\n", at - 1)).collect();
    let with = |first: &str| {
        program(&format!(
            "event a;
             fun f0(m: machine) {{ {first} }}
             {chain}
             machine Main {{ start state S {{ entry {{ f{}(this); }} ignore a; }} }}
             test t [main=Main]: {{Main}};",
            many - 1
        ))
    };
    assert_eq!(with("send m, a;").caveat(), None);
    assert!(with("send m, a; send m, a;").caveat().is_some());
    let loops = format!("if (m == null) {{ f{}(m); }}", many - 1);
    assert!(with(&loops).caveat().is_some());
}

#[test]
fn what_nobody_reads_again_tells_no_states_apart() {
    let states = |body: &str| {
        let source = format!(
            "event e;
             machine Main {{
                 start state S {{
                     entry {{ var x: int; var i: int; x = choose(3); {body} }}
                     on e do {{ }}
                 }}
                 fun f() {{ send this, e; }}
             }}
             test t [main=Main]: {{Main}};"
        );
        all_of(&program(&source)).states
    };
    // New, about to send, about to take, idle: one each, or three while it matters what x is.
    assert_eq!(states("send this, e;"), 4);
    assert_eq!(states("send this, e; assert x < 3;"), 6);
    assert_eq!(states("send this, e; x = 0; assert x < 3;"), 4);
    assert_eq!(states("f();"), 4);
    assert_eq!(states("f(); assert x < 3;"), 6);
    assert_eq!(states("send this, e; receive { case e: { } }"), 4);
    assert_eq!(states("send this, e; receive { case e: { assert x < 3; } }"), 8);
    // A second round sends again: it matters up to the last send.
    assert_eq!(states("while (i < 2) { send this, e; i = i + 1; }"), 6);
    assert_eq!(states("while (i < 2) { send this, e; i = i + 1; assert x < 3; }"), 10);
}

//! Sessions on a small program that is visible here: two workers that each add one of two values to a sum,
//! and fail where it is 3. The first value of each is 0, so that there is something to answer.

use std::io::Cursor;
use std::sync::Arc;

use dally_core::{
    Bug, Captured, Choice, Env, Event, Fingerprint, Program, Schedule, StateVisitor, Status, Stop,
    System, Tag, Text, WorkerId, fingerprint,
};
use dally_explore::{Place, Reply, Request, Session, lines, terminal};
use dally_report::Style;
use insta::assert_snapshot;

/// Whether its states may be copied.
struct Adders(bool);

#[derive(Clone)]
struct Adding {
    left: [u32; 2],
    sum: u32,
    enabled: Vec<WorkerId>,
}

impl Program for Adders {
    type System = Adding;

    fn start(&self) -> Result<Adding, Bug> {
        Ok(Adding { left: [2; 2], sum: 0, enabled: vec![WorkerId::root(0), WorkerId::root(1)] })
    }

    fn name(&self) -> &str {
        "adders"
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        if self.0 { visitor.copied(self) } else { visitor.replayed(self, None) }
    }
}

impl System for Adding {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let who = usize::from(worker == WorkerId::root(1));
        let added = env.value(2, Tag::Program)?;
        self.left[who] -= 1;
        self.sum += added;
        let to = format!("S{}", self.left[who]);
        env.event(Event::Changed { how: dally_core::Transition::Goto, to: Text::Str(&to) })?;
        if self.left[who] == 0 {
            self.enabled.retain(|one| *one != worker);
        }
        if self.sum == 3 {
            return Err(Bug::panic("the sum is 3").into());
        }
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        Some(Fingerprint(fingerprint::of_bytes(&bytes)))
    }

    fn name(&self, _: WorkerId) -> String {
        "Adder".into()
    }
}

impl Captured for Adding {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend([self.left[0] as u8, self.left[1] as u8, self.sum as u8]);
    }

    fn fork(&self) -> Adding {
        self.clone()
    }
}

fn session(copied: bool) -> Session {
    let heading = Schedule { program: "adders".into(), ..Schedule::default() };
    Session::new(Arc::new(Adders(copied)), "steps", heading)
}

/// What a terminal shows of these commands, and how many of them were not done.
fn typed(commands: &str) -> (String, usize) {
    let mut session = session(true);
    let (mut input, mut out) = (Cursor::new(commands.to_owned()), Vec::new());
    let mut ask = |request| session.ask(request);
    let failed = terminal::run(&mut ask, &mut input, &mut out, "> ", Style::Plain).unwrap();
    (String::from_utf8(out).unwrap(), failed)
}

fn done(session: &mut Session, request: Request) -> Reply {
    let reply = session.ask(request);
    assert_eq!(reply.error, None);
    reply
}

fn search(by: &str, until: Option<&str>) -> Request {
    let until = until.map(str::to_owned);
    Request::Search { by: by.into(), seed: 0, schedules: 1_000, seconds: 30, until }
}

#[test]
fn a_session_in_the_terminal() {
    let (shown, failed) = typed(
        "step 1\nanswer 1\nmark one\nstep @0.7\nstep @0\nanswer 0\ncompare one\nback\nlook\nforward\n1\nanswer 2\n\
         go 9\nrun round-robin 9\ntrace\nnonsense\nquit\n",
    );
    assert_snapshot!("terminal", shown);
    assert_eq!(failed, 4, "{shown}");
}

#[test]
fn help_lists_the_commands_and_an_end_of_input_ends_the_session() {
    let (shown, failed) = typed("help");
    assert!(shown.contains(terminal::HELP));
    assert_eq!(failed, 0);
}

#[test]
fn a_search_from_here_keeps_what_was_chosen_and_finds_what_can_follow_whichever_searches() {
    for copied in [true, false] {
        for by in ["random", "pct:3", "portfolio", "dfs", "ses", "bfs", "dpor"] {
            if by == "dfs" && !copied {
                continue;
            }
            let mut session = session(copied);
            done(&mut session, Request::Step { worker: WorkerId::root(1) });
            done(&mut session, Request::Answer { value: 1 });
            let found = done(&mut session, search(by, None));
            let view = found.view.unwrap();
            assert!(matches!(view.here, Place::Failed { .. }), "{by}: {:?}", view.here);
            let schedule = session.schedule();
            let value = Choice::Value { index: 1, of: 2, tag: Tag::Program };
            assert_eq!(schedule.choices[..2], [Choice::Worker(WorkerId::root(1)), value], "{by}");
            assert_eq!(
                schedule.choices.iter().filter(|&&choice| choice == value).count(),
                3,
                "{by}"
            );
        }
    }
}

#[test]
fn a_search_that_goes_through_all_that_can_follow_finds_nothing_where_there_is_nothing() {
    let mut session = session(true);
    for _ in 0..2 {
        done(&mut session, Request::Step { worker: WorkerId::root(0) });
        done(&mut session, Request::Answer { value: 0 });
    }
    let reply = done(&mut session, search("ses", None));
    assert_eq!(reply.said[0], "nothing was found");
    assert!(reply.said[1].contains("exhausted"), "{:?}", reply.said);
    assert_eq!(reply.view.unwrap().at, 2, "the session has not moved");
}

#[test]
fn a_condition_is_looked_for_by_every_search_and_the_bugs_of_the_program_do_not_matter() {
    for by in ["random", "ses", "dpor"] {
        let mut session = session(true);
        let found = done(&mut session, search(by, Some("Adder in S0 >= 2")));
        let view = found.view.unwrap();
        assert_eq!((view.at, &view.here), (4, &Place::Done), "{by}");
        let again = done(&mut session, Request::To { step: 3 }).view.unwrap();
        assert_eq!(again.at, 3);
    }
    let mut session = session(true);
    let none = done(&mut session, search("ses", Some("Adder in S7")));
    assert_eq!(none.said[0], "nothing was found");
}

#[test]
fn a_step_back_and_another_step_leave_the_path_and_the_same_step_stays_on_it() {
    let mut session = session(true);
    done(&mut session, Request::Run { strategy: "round-robin".into(), seed: 0, steps: 6 });
    let of = done(&mut session, Request::Look).view.unwrap().of;
    assert_eq!(of, 3);
    done(&mut session, Request::To { step: 1 });
    let on = done(&mut session, Request::Step { worker: WorkerId::root(0) }).view.unwrap();
    assert_eq!((on.at, on.of), (2, 3), "round-robin has chosen the same");
    done(&mut session, Request::To { step: 1 });
    let off = done(&mut session, Request::Step { worker: WorkerId::root(1) }).view.unwrap();
    assert_eq!((off.at, off.of), (2, 2));
}

#[test]
fn a_saved_schedule_is_opened_again_and_one_of_another_program_is_not() {
    let mut one = session(true);
    done(&mut one, search("random", None));
    let saved = done(&mut one, Request::Save).schedule.unwrap();
    assert_eq!(Schedule::parse(&saved).unwrap().bug.unwrap().kind.name(), "panic");
    let mut other = session(false);
    let opened = done(&mut other, Request::Open { schedule: saved.clone() }).view.unwrap();
    assert_eq!(opened.here, one.ask(Request::Look).view.unwrap().here);
    let elsewhere = saved.replace("program: adders", "program: others");
    let refused = other.ask(Request::Open { schedule: elsewhere });
    assert!(refused.error.is_some());
    assert_eq!(other.ask(Request::Look).view.unwrap().at, opened.at, "nothing has changed");
}

/// The states within so many steps, by enumeration without any sharing.
fn reachable(state: &Adding, depth: u32, seen: &mut std::collections::BTreeSet<[u32; 3]>) {
    seen.insert([state.left[0], state.left[1], state.sum]);
    if depth == 0 {
        return;
    }
    for (who, worker) in [WorkerId::root(0), WorkerId::root(1)].into_iter().enumerate() {
        for added in 0..2 {
            if state.left[who] > 0 && state.sum < 3 {
                let mut next = state.clone();
                next.left[who] -= 1;
                next.sum += added;
                next.enabled.retain(|one| *one != worker || next.left[who] > 0);
                reachable(&next, depth - 1, seen);
            }
        }
    }
}

#[test]
fn a_map_has_every_state_around_once_and_its_choices_lead_there() {
    for depth in 1..=4 {
        let mut session = session(true);
        let map = done(&mut session, Request::Map { depth }).map.unwrap();
        let mut states = std::collections::BTreeSet::new();
        reachable(&Adders(true).start().unwrap(), depth, &mut states);
        // A state that fails is drawn once for each step into it.
        let whole = states.iter().filter(|state| state[2] < 3).count();
        assert_eq!(map.states.iter().filter(|state| state.bug.is_none()).count(), whole, "{depth}");
        assert_eq!(map.states.iter().any(|state| state.bug.is_some()), depth >= 3);
        assert!(!map.cut);
        for state in &map.states {
            let mut there = session.another();
            let view =
                done(&mut there, Request::Follow { choices: state.choices.clone() }).view.unwrap();
            assert_eq!(view.at, state.depth as usize);
            assert_eq!(matches!(view.here, Place::Failed { .. }), state.bug.is_some());
        }
    }
    let why = session(false).ask(Request::Map { depth: 1 }).error.unwrap();
    assert_eq!(why, "the states of this program cannot be copied, so it has no map");
}

#[test]
fn the_same_state_on_another_way_is_recognised() {
    let mut one = session(true);
    for (worker, value) in [(0, 1), (1, 0)] {
        done(&mut one, Request::Step { worker: WorkerId::root(worker) });
        done(&mut one, Request::Answer { value });
    }
    done(&mut one, Request::Mark { name: "a".into() });
    done(&mut one, Request::To { step: 0 });
    for (worker, value) in [(1, 1), (0, 0)] {
        done(&mut one, Request::Step { worker: WorkerId::root(worker) });
        done(&mut one, Request::Answer { value });
    }
    let compared = done(&mut one, Request::Compare { one: "a".into(), other: "here".into() });
    assert_eq!(compared.said, ["`a` and `here` are the same state"]);
}

#[test]
fn sessions_of_another_process_are_asked_line_by_line_whatever_else_it_prints() {
    let ask = |request: &str| {
        format!(
            "\u{1e}dally {{\"format\":\"dally-explore-asked\",\"version\":1,\"session\":0,\
             \"request\":{request}}}\n"
        )
    };
    let requests = ask("{\"do\":\"step\",\"worker\":\"0\"}") + "noise\n" + &ask("{\"do\":\"fly\"}");
    let mut out = b"printed by the program, without an end".to_vec();
    lines::serve(&session(true), &mut Cursor::new(requests), &mut out).unwrap();
    let mut remote = lines::Remote::new(Cursor::new(out), Vec::new());
    let mut printed = String::new();
    let mut print = |line: &str| printed += line;
    let first = remote.ask(0, Request::Look, &mut print).unwrap();
    assert!(matches!(first.view.unwrap().here, Place::Inside { .. }));
    let second = remote.ask(0, Request::Look, &mut print).unwrap();
    assert!(second.error.unwrap().starts_with("the request cannot be read"));
    let end = remote.ask(0, Request::Look, &mut print).unwrap_err();
    assert_eq!(end.to_string(), "the process of the program has ended");
    assert_eq!(printed, "printed by the program, without an end\n");
}

#[test]
fn conditions_that_cannot_be_read_say_where() {
    let wrong = [
        "",
        "Server",
        "Server in",
        "inbox(",
        "fly(*)",
        "hot(A, b)",
        "A in B >= x",
        "(A in B",
        "A in \"B",
        "A in B C",
    ];
    let messages = wrong.map(|text| {
        let why = text.parse::<dally_explore::Condition>().unwrap_err();
        format!("{text:?}: {why}\n")
    });
    assert_snapshot!("conditions", messages.concat());
    let deep = "(".repeat(100_000);
    assert!(deep.parse::<dally_explore::Condition>().is_err());
}

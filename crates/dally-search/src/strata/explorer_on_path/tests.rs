use dally_core::{Env, MessageId, Status, Stop};

use super::*;

struct Enabled(Vec<WorkerId>);

impl System for Enabled {
    fn enabled(&self) -> &[WorkerId] {
        &self.0
    }
    fn step(&mut self, _worker: WorkerId, _env: &mut dyn Env) -> Result<(), Stop> {
        Ok(())
    }
    fn status(&self) -> Status {
        Status::Running
    }
    fn name(&self, worker: WorkerId) -> String {
        format!("worker-{worker}")
    }
}

#[derive(Clone, Hash, Default)]
struct Diary(Vec<String>);

impl Explorer for Diary {
    fn name(&self) -> String {
        "diary".into()
    }
    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        enabled.first().copied()
    }
    fn delay(&mut self, _enabled: &[WorkerId]) {}
    fn started(&mut self, worker: WorkerId, name: &str) {
        self.0.push(format!("started {worker} {name}"));
    }
    fn finished(&mut self, worker: WorkerId) {
        self.0.push(format!("finished {worker}"));
    }
    fn stepped(&mut self, step: &Stepped<'_>) {
        let Stepped { worker, enabled, sent, woken, blocked, hints } = step;
        self.0.push(format!(
            "{worker} stepped: enabled {enabled:?} sent {sent:?} woken {woken:?} blocked \
             {blocked:?} hints {hints:?}"
        ));
    }
}

fn w(n: u32) -> WorkerId {
    WorkerId::root(n)
}

#[test]
fn an_explorer_is_told_what_the_contract_says() {
    let timer = w(0).timer(0);
    let mut state = Enabled(vec![WorkerId::FAULTS, w(0), timer, w(1)]);
    let mut on_path_explorer = ExplorerOnPath::new(Diary::default(), &state);
    let mut summary = StepSummary::default();
    let mut step = |worker: WorkerId, events: &[Event<Text<'_>>], enabled: Vec<WorkerId>| {
        let before = std::mem::replace(&mut state.0, enabled);
        summary.clear();
        events.iter().for_each(|event| summary.hear(event));
        on_path_explorer.after(worker, &before, &state, &mut summary);
    };
    let message = MessageId { sender: w(0), number: 0 };
    let payload = Text::Str("hello");
    let sent = |to| Event::Sent { message, to, payload };
    let set = Event::TimerSet { timer, payload };
    // A step that creates 0.0, sends twice, gives a hint, and resets the timer.
    let hinted = Event::Hinted { hint: Text::Str("ready") };
    let cancelled = Event::TimerCancelled { timer };
    let events = [sent(w(1)), sent(w(0).child(0)), hinted, cancelled, set];
    step(w(0), &events, vec![w(0), timer, w(0).child(0), w(1)]);
    // 1 halts, the timer is cancelled, and the faults are possible again.
    let halted = Event::Halted { worker: w(1) };
    step(w(1), &[halted, cancelled], vec![WorkerId::FAULTS, w(0), w(0).child(0)]);
    // The timer is set again: it starts anew.
    step(w(0), &[set], vec![timer]);
    insta::assert_snapshot!(on_path_explorer.explorer.0.join("\n"), @r#"
    started 0 worker-0
    started 1 worker-1
    started faults worker-faults
    started 0.t0 worker-0.t0
    started 0.0 worker-0.0
    0 stepped: enabled [0, 0.t0, 0.0, 1] sent [1, 0.0] woken [0.0] blocked [faults] hints ["ready"]
    finished 1
    finished 0.t0
    1 stepped: enabled [faults, 0, 0.0] sent [] woken [faults] blocked [0.t0, 1] hints []
    started 0.t0 worker-0.t0
    0 stepped: enabled [0.t0] sent [] woken [0.t0] blocked [faults, 0, 0.0] hints []
    "#);
}

#[test]
fn a_copy_in_place_is_the_same_and_hashes_the_same() {
    let state = Enabled(vec![w(0), w(1)]);
    let on_path_explorer = ExplorerOnPath::new(Diary::default(), &state);
    let mut other = ExplorerOnPath::new(Diary::default(), &Enabled(vec![w(2)]));
    let mut scratch = Vec::new();
    assert_ne!(other.hash(&mut scratch), on_path_explorer.hash(&mut scratch));
    other.clone_from(&on_path_explorer);
    assert_eq!(other.hash(&mut scratch), on_path_explorer.hash(&mut scratch));
    assert_eq!(other.known, on_path_explorer.known);
}

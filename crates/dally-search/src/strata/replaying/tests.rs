use std::sync::atomic::{AtomicU32, Ordering};

use dally_core::{Access, ObjectId, Resource, Status};

use super::*;

/// Two workers that each choose one of `values` values and write it into a cell of their own;
/// the first counts how many executions there were, and `odd` says what it does with that.
struct Toy {
    values: u32,
    executions: AtomicU32,
    odd: fn(u32, &mut ToySystem) -> Result<(), Bug>,
}

#[derive(Debug)]
struct ToySystem {
    execution: u32,
    values: u32,
    odd: fn(u32, &mut ToySystem) -> Result<(), Bug>,
    enabled: Vec<WorkerId>,
    cells: Vec<(WorkerId, u32)>,
}

impl Toy {
    fn new(odd: fn(u32, &mut ToySystem) -> Result<(), Bug>) -> Arc<Toy> {
        Arc::new(Toy { values: 3, executions: AtomicU32::new(0), odd })
    }
}

impl Program for Toy {
    type System = ToySystem;

    fn start(&self) -> Result<ToySystem, Bug> {
        Ok(ToySystem {
            execution: self.executions.fetch_add(1, Ordering::Relaxed),
            values: self.values,
            odd: self.odd,
            enabled: vec![WorkerId::root(0), WorkerId::root(1)],
            cells: Vec::new(),
        })
    }

    fn granularity(&self) -> &'static str {
        "toy steps"
    }
}

impl System for ToySystem {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        (self.odd)(self.execution, self)?;
        let value = env.value(self.values, Tag::Program)?;
        self.cells.push((worker, value));
        self.enabled.retain(|&other| other != worker);
        let object = ObjectId { creator: worker, number: 0 };
        let access = Access::write(Resource::Object(object));
        env.event(Event::Accessed { access, what: Text::Str("cell") })?;
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn name(&self, _: WorkerId) -> String {
        "toy".into()
    }
}

struct Answer(u32);

impl Env for Answer {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.0)
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Ok(0)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

/// Goes to the state after these steps, which are in the choice log then.
fn walk(space: &mut Replaying<Toy>, writer: &mut ChoiceWriter, steps: &[(u32, u32)]) -> u64 {
    writer.rewind(0);
    space.start(writer).unwrap();
    for &(n, value) in steps {
        let worker = WorkerId::root(n);
        writer.write(Choice::Worker(worker));
        writer.write(Choice::Value { index: value, of: 3, tag: Tag::Program });
        space.step(worker, &mut Answer(value)).unwrap();
    }
    space.identity()
}

fn even(_: u32, _: &mut ToySystem) -> Result<(), Bug> {
    Ok(())
}

#[test]
fn going_to_a_mark_leads_to_the_same_state() {
    let mut space = Replaying::new(Toy::new(even));
    let mut writer = ChoiceWriter::new();
    let identity = walk(&mut space, &mut writer, &[(1, 2)]);
    let (snapshot, look) = (space.snapshot(&writer), space.visible_hash());
    space.step(WorkerId::root(0), &mut Answer(0)).unwrap();
    assert_ne!(space.identity(), identity);
    space.go_to(&snapshot, &mut writer).unwrap();
    assert_eq!((space.identity(), space.visible_hash()), (identity, look));
    assert_eq!(space.system().cells, [(WorkerId::root(1), 2)]);
    assert_eq!(writer.len(), snapshot.length, "the choice_log is as it was");
}

#[test]
fn states_are_the_same_if_the_partial_order_is() {
    let mut space = Replaying::new(Toy::new(even));
    let mut writer = ChoiceWriter::new();
    let first = walk(&mut space, &mut writer, &[(0, 1), (1, 2)]);
    assert_eq!(first, walk(&mut space, &mut writer, &[(1, 2), (0, 1)]));
    assert_ne!(first, walk(&mut space, &mut writer, &[(0, 2), (1, 2)]));
}

/// The error of returning to a state that was reached before.
fn lost(odd: fn(u32, &mut ToySystem) -> Result<(), Bug>) -> String {
    let mut space = Replaying::new(Toy::new(odd));
    let mut writer = ChoiceWriter::new();
    walk(&mut space, &mut writer, &[(0, 1), (1, 2)]);
    let snapshot = space.snapshot(&writer);
    let lost = match space.go_to(&snapshot, &mut writer) {
        Ok(()) => panic!("it came back"),
        Err(ReturnError::Bug(bug)) => format!("bug: {}", dally_report::text::bug(&bug)),
        Err(ReturnError::Diverged(message)) => message,
    };
    space.start(&mut writer).unwrap();
    assert_eq!(space.identity(), 0);
    lost
}

#[test]
fn a_program_that_does_something_else_the_second_time_is_told_by_step() {
    let gone = lost(|execution, system| {
        if execution == 1 {
            system.enabled.retain(|&worker| worker == WorkerId::root(0));
        }
        Ok(())
    });
    assert_eq!(gone, "step 2: worker 1 stepped the first time, and nobody can now");
    let asks = lost(|execution, system| {
        system.values = if execution == 1 { 2 } else { 3 };
        Ok(())
    });
    assert_eq!(
        asks,
        "step 1, of toy (0): it asks for one of 2 values, the first time for one of 3 values",
    );
}

#[test]
fn a_bug_on_the_way_is_the_programs() {
    let fails = lost(|execution, _| match execution {
        1 => Err(Bug::panic("on the way")),
        _ => Ok(()),
    });
    assert_eq!(fails, "bug: on the way");
}

#[test]
fn a_panic_of_the_front_end_is_a_bug_and_the_system_is_not_used_again() {
    let panics = lost(|execution, _| {
        assert!(execution != 1, "the front end is broken");
        Ok(())
    });
    assert_eq!(panics, "bug: the front end is broken");
}

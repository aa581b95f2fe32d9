use dally::contract::WorkerId;
use dally::search::strata::{Explorer, Stepped};

#[derive(Clone, Hash, Default)]
struct FaultsLater {
    /// Whose turn it is, the next one first: (whether it makes trouble, who).
    order: Vec<(bool, WorkerId)>,
    stable: bool,
}

impl Explorer for FaultsLater {
    fn name(&self) -> String {
        "faults-later".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.order.iter().map(|entry| entry.1).find(|worker| enabled.contains(worker))
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        if let Some(late) = self.next(enabled) {
            let place = self.order.iter().position(|entry| entry.1 == late).unwrap();
            let entry = self.order.remove(place);
            self.order.push(entry);
        }
    }

    fn started(&mut self, worker: WorkerId, name: &str) {
        self.order.push((name == "Master" || name == "Fault", worker));
        self.sort();
    }

    fn finished(&mut self, worker: WorkerId) {
        self.order.retain(|entry| entry.1 != worker);
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        if step.hints.iter().any(|hint| hint == "stable") {
            self.stable = true;
            self.sort();
        }
    }
}

impl FaultsLater {
    /// Before the system is stable, those who make trouble come last; after that, first.
    fn sort(&mut self) {
        let stable = self.stable;
        self.order.sort_by_key(|(trouble, _)| *trouble != stable);
    }
}

#[test]
fn faults_wait_until_the_system_is_stable() {
    let (server, fault) = (WorkerId::root(1), WorkerId::root(0));
    let enabled = [fault, server];
    let mut explorer = FaultsLater::default();
    explorer.started(fault, "Fault");
    explorer.started(server, "Server");
    assert_eq!(explorer.next(&enabled), Some(server));
    let hints = ["stable".to_owned()];
    let nobody: &[WorkerId] = &[];
    explorer.stepped(&Stepped {
        worker: server,
        enabled: &enabled,
        sent: nobody,
        woken: nobody,
        blocked: nobody,
        hints: &hints,
    });
    assert_eq!(explorer.next(&enabled), Some(fault));
    explorer.delay(&enabled);
    assert_eq!(explorer.next(&enabled), Some(server));
    explorer.finished(fault);
    assert_eq!((explorer.name().as_str(), explorer.next(&[fault])), ("faults-later", None));
}

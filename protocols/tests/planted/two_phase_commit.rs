//! Two-phase commit: the correct version survives its faults, and every planted bug is caught.

use crate::hunt::Hunt;
use dally::core::{Bug as Caught, BugKind};
use dally::machines::{Faults, MachineProgram, MonitorCx};
use dally::monitor;
use dally_protocols::two_phase_commit::{
    Answered, Bug, Decision, FAULTS, PROTOCOL, deploy, program,
};

const RANDOM: Hunt = Hunt { strategy: "random", schedules: 10_000, max_steps: PROTOCOL.max_steps };
const PCT: Hunt = Hunt { strategy: "pct:3", ..RANDOM };

fn without_crashes(bug: Bug) -> MachineProgram {
    program(Some(bug)).faults(Faults { crash: 0, ..FAULTS })
}

#[test]
fn the_correct_version_survives_its_faults() {
    RANDOM.pass(program(None));
    PCT.pass(program(None));
}

#[test]
fn the_correct_version_survives_more_faults_than_it_comes_with() {
    let many = Faults { duplicate: 5, crash: 5, ..FAULTS };
    RANDOM.pass(program(None).faults(many));
}

#[test]
fn voting_before_the_vote_is_on_disk_is_caught_only_by_a_crash() {
    let caught = RANDOM.catch(program(Some(Bug::VoteBeforePersist)));
    assert_eq!(caught.kind, BugKind::Panic);
    assert_eq!(caught.culprit.as_deref(), Some("Participant"));
    assert!(caught.message.contains("which it has not prepared"), "{caught}");
    RANDOM.pass(without_crashes(Bug::VoteBeforePersist));
}

#[test]
fn telling_the_decision_before_it_is_on_disk_is_caught_only_by_a_crash() {
    assert_atomicity_is_broken(RANDOM.catch(program(Some(Bug::ForgetsDecision))));
    RANDOM.pass(without_crashes(Bug::ForgetsDecision));
}

#[test]
fn counting_a_doubled_vote_twice_breaks_atomicity() {
    assert_atomicity_is_broken(RANDOM.catch(program(Some(Bug::CountsDuplicateVotes))));
}

#[test]
fn counting_on_after_a_timeout_breaks_atomicity() {
    let calm = Faults::default();
    assert_atomicity_is_broken(PCT.catch(program(Some(Bug::CommitsAfterTimeout)).faults(calm)));
}

#[test]
fn a_timer_that_is_left_running_surprises_the_coordinator() {
    let calm = Faults::default();
    let caught = RANDOM.catch(program(Some(Bug::LeavesTimerRunning)).faults(calm));
    assert_eq!(caught.kind, BugKind::UnhandledEvent);
    assert_eq!(caught.culprit.as_deref(), Some("Coordinator"));
    assert!(caught.message.contains("Timeout") && caught.message.contains("Idle"), "{caught}");
}

#[test]
fn a_client_that_never_retries_waits_for_ever() {
    let caught = RANDOM.catch(program(Some(Bug::NeverRetries)));
    assert_eq!(caught.kind, BugKind::HotAtEnd);
    assert_eq!(caught.culprit.as_deref(), Some("Progress"));
    RANDOM.pass(program(Some(Bug::NeverRetries)).faults(Faults::default()));
}

fn assert_atomicity_is_broken(caught: Caught) {
    assert_eq!(caught.kind, BugKind::Monitor, "{caught}");
    assert_eq!(caught.culprit.as_deref(), Some("Atomicity"));
    assert!(caught.message.contains("is both committed and aborted"), "{caught}");
}

/// Claims that no transaction ends like this, to show that some do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Never(Decision);

#[monitor(states(Watching))]
impl Never {
    #[on(Watching, Answered)]
    fn answered(&mut self, _: &mut MonitorCx<Self>, Answered { decision, .. }: Answered) {
        assert_ne!(decision, self.0);
    }
}

#[test]
fn some_transactions_commit_and_some_abort() {
    for decision in [Decision::Commit, Decision::Abort] {
        let claim = MachineProgram::new("claim", move |setup| {
            deploy(setup, None);
            setup.monitor(Never(decision));
        });
        let caught = Hunt { schedules: 100, ..RANDOM }.catch(claim);
        assert_eq!(caught.culprit.as_deref(), Some("Never"));
    }
}

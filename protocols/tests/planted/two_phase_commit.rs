//! Two-phase commit: the correct version survives its faults, and every planted bug is caught.

use dally::contract::{Bug as Caught, BugKind};
use dally::machines::{Faults, MachineProgram, MonitorCx};
use dally::monitor;
use dally_protocols::two_phase_commit::{
    Answered, Bug, Decision, FAULTS, PROTOCOL, deploy, program,
};

use crate::hunt::Hunt;

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
    // Asked again after the crash, the participant may also vote no where it voted yes before.
    let caught = RANDOM.catch_all(program(Some(Bug::VoteBeforePersist)));
    assert!(caught.iter().any(commits_unprepared));
    assert!(caught.iter().all(|bug| commits_unprepared(bug) || breaks_atomicity(bug)));
    RANDOM.pass(without_crashes(Bug::VoteBeforePersist));
}

#[test]
fn telling_the_decision_before_it_is_on_disk_is_caught_only_by_a_crash() {
    let caught = RANDOM.catch(program(Some(Bug::ForgetsDecision)));
    assert!(breaks_atomicity(&caught), "{caught}");
    RANDOM.pass(without_crashes(Bug::ForgetsDecision));
}

#[test]
fn counting_a_doubled_vote_twice_breaks_atomicity_within_a_thousand_schedules() {
    // The participant whose vote was not waited for may also be one that was down.
    let hunt = Hunt { schedules: 1_000, ..RANDOM };
    let caught = hunt.catch_all(program(Some(Bug::CountsDuplicateVotes)));
    assert!(caught.iter().any(breaks_atomicity));
    assert!(caught.iter().all(|bug| commits_unprepared(bug) || breaks_atomicity(bug)));
}

#[test]
fn counting_on_after_a_timeout_breaks_atomicity_within_a_thousand_schedules() {
    for hunt in [RANDOM, PCT] {
        let calm = program(Some(Bug::CommitsAfterTimeout)).faults(Faults::default());
        let caught = Hunt { schedules: 1_000, ..hunt }.catch(calm);
        assert!(breaks_atomicity(&caught), "{caught}");
    }
}

#[test]
fn a_timer_that_is_left_running_surprises_the_coordinator_within_ten_schedules() {
    for hunt in [RANDOM, PCT] {
        let calm = program(Some(Bug::LeavesTimerRunning)).faults(Faults::default());
        let caught = Hunt { schedules: 10, ..hunt }.catch(calm);
        assert_eq!(caught.kind(), BugKind::UnhandledEvent);
        assert_eq!(caught.culprit.as_deref(), Some("Coordinator"));
        assert!(caught.to_string().contains("event Timeout"), "{caught}");
        assert_eq!(caught.state.as_deref(), Some("Idle"));
    }
}

#[test]
fn a_client_that_never_retries_waits_for_ever_after_a_crash() {
    for hunt in [RANDOM, PCT] {
        let caught = Hunt { schedules: 500, ..hunt }.catch(program(Some(Bug::NeverRetries)));
        assert_eq!(caught.kind(), BugKind::HotAtEnd);
        assert_eq!(caught.culprit.as_deref(), Some("Progress"));
        hunt.pass(without_crashes(Bug::NeverRetries));
    }
}

fn breaks_atomicity(bug: &Caught) -> bool {
    bug.kind() == BugKind::Monitor
        && bug.culprit.as_deref() == Some("Atomicity")
        && bug.message().contains("is both committed and aborted")
}

fn commits_unprepared(bug: &Caught) -> bool {
    bug.kind() == BugKind::Panic
        && bug.culprit.as_deref() == Some("Participant")
        && bug.message().contains("which it has not prepared")
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

//! The stand-ins for the services of Mukherjee et al., "Learning-Based Controlled Concurrency
//! Testing": the correct versions survive what happens to them, and every bug is caught where it
//! should be.

use dally::contract::BugKind;
use dally::machines::{Faults, MachineProgram};
use dally_protocols::{cache_provider, pool_manager, resource_provider};

use crate::hunt::Hunt;

const RANDOM: Hunt = Hunt { strategy: "random", schedules: 2_000, max_steps: 1_000 };
const PCT: Hunt = Hunt { strategy: "pct:3", ..RANDOM };

mod cache {
    use super::*;
    use cache_provider::{Bug, program};

    #[test]
    fn a_cache_that_lets_readers_wait_serves_what_is_stored() {
        RANDOM.pass(program(None));
        PCT.pass(program(None));
    }

    #[test]
    fn a_cache_that_does_not_serves_what_was_never_stored_if_it_gets_through_its_start() {
        // Once in 32,768 schedules it does by chance, and soon if one learns how.
        let caught = Hunt { strategy: "ql", ..RANDOM }.catch(program(Some(Bug::DirtyRead)));
        assert_eq!(caught.kind(), BugKind::Monitor);
        assert_eq!(caught.culprit.as_deref(), Some("OnlyStored"));
    }
}

mod pool {
    use super::*;
    use pool_manager::{Bug, Size, program};

    const SMALL: Size = Size { nodes: 2, phases: 1 };

    fn without_crashes(size: Size, bug: Bug) -> MachineProgram {
        program(size, Some(bug)).faults(Faults::NONE)
    }

    #[test]
    fn a_manager_that_writes_down_first_survives_a_crash() {
        for size in [SMALL, Size::V1, Size::V2] {
            RANDOM.pass(program(size, None));
            PCT.pass(program(size, None));
        }
    }

    #[test]
    fn a_manager_that_assigns_first_gives_a_node_to_two_tenants_after_a_crash() {
        let caught = RANDOM.catch(program(SMALL, Some(Bug::AssignsFirst)));
        assert!(caught.message().contains("a node is assigned to two tenants"), "{caught}");
        RANDOM.pass(without_crashes(SMALL, Bug::AssignsFirst));
    }

    #[test]
    fn a_manager_that_forgets_releases_assigns_a_node_to_a_tenant_that_has_left() {
        let caught = RANDOM.catch(program(SMALL, Some(Bug::ForgetsReleases)));
        assert_eq!(caught.culprit.as_deref(), Some("NobodyReturns"));
        RANDOM.pass(without_crashes(SMALL, Bug::ForgetsReleases));
    }

    #[test]
    fn random_crashes_a_large_pool_too_early() {
        RANDOM.pass(program(Size::V1, Some(Bug::AssignsFirst)));
        RANDOM.pass(program(Size::V2, Some(Bug::ForgetsReleases)));
    }
}

mod resources {
    use super::*;
    use resource_provider::{Bug, program};

    #[test]
    fn a_provider_that_writes_down_first_makes_every_resource_once() {
        for clients in [1, 3, 5] {
            RANDOM.pass(program(clients, None));
            PCT.pass(program(clients, None));
        }
    }

    #[test]
    fn a_provider_that_counts_attempts_makes_a_resource_twice_after_a_crash() {
        let caught = RANDOM.catch(program(3, Some(Bug::AllocatesAgain)));
        assert_eq!(caught.culprit.as_deref(), Some("Once"));
        RANDOM.pass(program(3, Some(Bug::AllocatesAgain)).faults(Faults::NONE));
    }

    #[test]
    fn a_provider_that_repairs_what_it_deleted_makes_it_twice_after_a_crash() {
        let caught = RANDOM.catch(program(5, Some(Bug::RepairsDeleted)));
        assert_eq!(caught.culprit.as_deref(), Some("Once"));
        RANDOM.pass(program(5, Some(Bug::RepairsDeleted)).faults(Faults::NONE));
    }
}

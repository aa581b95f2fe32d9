//! The explorer of section 6.3 of Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive
//! Systems", at the bundled size of chain replication: how many states it takes under SES and how many
//! schedules under SS until it finds a bug, beside round-robin and run-to-completion.
//!
//! `cargo run --release -p dally-protocols --example section_6_3` takes some minutes and 2 GiB. The
//! figures are in `evaluation/tables/README.md`.

use std::sync::Arc;

use dally::contract::WorkerId;
use dally::search::strata::{self, Explorer, ExplorerKind, Plan, SearchKind, Stepped};
use dally::search::{Options, Report};
use dally_protocols::chain_replication::{self, Bug, Config, PROTOCOL};

/// An ordering of all machines, through which it cycles. Master and fault are last until the program says
/// that it is stable, and first from then on. The paper has no clients; here they come before or after the
/// servers.
#[derive(Clone, Default, Hash)]
struct ChangeOrder {
    clients_first: bool,
    order: Vec<(Role, WorkerId)>,
    stable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    Client,
    Server,
    /// Master and fault.
    Watcher,
}

impl ChangeOrder {
    fn place(&self, enabled: &[WorkerId]) -> Option<usize> {
        self.order.iter().position(|(_, worker)| enabled.contains(worker))
    }

    fn sort(&mut self) {
        let (stable, clients_first) = (self.stable, self.clients_first);
        self.order.sort_by_key(|&(role, _)| match role {
            Role::Watcher => 2 * u8::from(!stable) + 1,
            Role::Client if clients_first => 1 + u8::from(stable),
            _ => 2 + u8::from(stable),
        });
    }
}

impl Explorer for ChangeOrder {
    fn name(&self) -> String {
        "change-order".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.place(enabled).map(|place| self.order[place].1)
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        if let Some(place) = self.place(enabled) {
            self.order[place..].rotate_left(1);
        }
    }

    fn started(&mut self, worker: WorkerId, name: &str) {
        let role = match name {
            "Client" => Role::Client,
            "Master" | "Fault" => Role::Watcher,
            _ => Role::Server,
        };
        self.order.push((role, worker));
        self.sort();
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        if step.hints.iter().any(|hint| hint == "stable") {
            self.stable = true;
            self.sort();
        }
    }
}

fn search(bug: Bug, search: SearchKind, explorer: impl Explorer) -> Report {
    let program = chain_replication::program(Config::BUNDLED, Some(bug)).run_twice(false);
    let plan = Plan { search, memory: 2 << 30, ..Plan::default() };
    let (max_steps, schedules) = (PROTOCOL.max_steps, 400_000);
    let options = Options { max_steps, schedules, shrink: false, ..Options::default() };
    strata::explore(Arc::new(program), explorer, plan, options, Arc::new(()))
}

fn main() {
    for bug in [Bug::TwoNeighbours, Bug::ForgetsToResend] {
        for kind in [SearchKind::Ses, SearchKind::Ss] {
            let tell = |explorer: &str, report: Report| {
                let states = report.states.as_ref().expect("a search of states");
                let (what, after, delays) = match &states.samples {
                    Some(samples) => ("schedules", states.executions, Some(samples.delays)),
                    None => ("states", states.states, states.strata.last().and_then(|s| s.bound)),
                };
                let found = if report.findings.is_empty() { "not found in" } else { "found after" };
                let delays = delays.unwrap_or(0);
                println!("{bug:?}, {kind}, {explorer}: {found} {after} {what}, {delays} delays");
            };
            for clients_first in [true, false] {
                let explorer = ChangeOrder { clients_first, ..ChangeOrder::default() };
                let name = if clients_first { "clients first" } else { "servers first" };
                tell(name, search(bug, kind, explorer));
            }
            for other in [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion] {
                tell(&other.to_string(), search(bug, kind, other.build(0)));
            }
        }
    }
}

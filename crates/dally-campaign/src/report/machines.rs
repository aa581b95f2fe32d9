//! What machines did: a diagram for each type, and what never happened.

use std::collections::BTreeMap;

use dally_core::report::{Census, MachineCensus, StateCensus};
use dally_core::words::{count, grouped};
use dally_report::diagram::{Diagram, State, Way};
use dally_report::page::escaped;

use crate::store::CellFigures;

/// A section about the machines of a program, by all its strategies; empty for a program without machines.
pub(super) fn section(cells: &[CellFigures], program: &str) -> String {
    let of = cells.iter().filter(|cell| cell.cell.program == program && !cell.is_old);
    let counts = of.filter_map(|cell| cell.report.as_ref()?.census.as_deref());
    let mut census = Census::default();
    counts.for_each(|more| census.add(more));
    if census.machines.is_empty() {
        return String::new();
    }
    let mut body = format!(
        "<h3>{}: its machines in {}</h3>\n",
        escaped(program),
        count(census.executions, "recorded schedule")
    );
    body += &never(&census);
    for (name, machine) in &census.machines {
        body += &format!("<figure>{}</figure>\n", diagram(name, machine).svg());
    }
    body
}

/// What was never entered, handled, taken or sent, as lists.
fn never(census: &Census) -> String {
    let mut lists: [(&str, Vec<String>); 4] =
        [("states", vec![]), ("handlers", vec![]), ("ways", vec![]), ("events", vec![])];
    for (name, machine) in &census.machines {
        for (state, of) in &machine.states {
            let place = format!("{name}.{state}");
            if of.entered == 0 {
                lists[0].1.push(place.clone());
            }
            let missed = of.handled.iter().filter(|(_, count)| **count == 0);
            lists[1].1.extend(missed.map(|(event, _)| format!("{place} on {event}")));
            for (to, on) in &of.ways {
                let missed = on.iter().filter(|(_, count)| **count == 0);
                lists[2].1.extend(missed.map(|(event, _)| format!("{place} to {to} on {event}")));
            }
        }
    }
    let unsent = census.events.iter().filter(|(_, count)| **count == 0);
    lists[3].1.extend(unsent.map(|(event, _)| event.clone()));
    let mut out = String::new();
    for (what, never) in lists.into_iter().filter(|(_, never)| !never.is_empty()) {
        let number = grouped(never.len() as u64);
        out += &format!(
            "<details class=\"never\" open><summary>{number} {what} that never came up</summary><p>{}</p></details>\n",
            escaped(&never.join(", "))
        );
    }
    if out.is_empty() { "<p>All that is declared has come up.</p>\n".into() } else { out }
}

fn diagram(name: &str, machine: &MachineCensus) -> Diagram {
    let kind = if machine.monitor { "monitor" } else { "machine" };
    let places: BTreeMap<&str, usize> =
        machine.states.keys().map(String::as_str).zip(0..).collect();
    let state = |(name, of): (&String, &StateCensus)| {
        let leaves = |event: &String| of.ways.values().any(|on| on.contains_key(event));
        let stays = of.handled.iter().filter(|(event, _)| !leaves(event));
        State {
            name: format!("{name} {}", times(of.entered)),
            reached: of.entered > 0,
            heat: of.heat,
            lines: stays
                .map(|(event, &count)| (format!("on {event} {}", times(count)), count > 0))
                .collect(),
        }
    };
    let ways = machine.states.iter().flat_map(|(from, of)| {
        let places = &places;
        of.ways.iter().flat_map(move |(to, on)| {
            // Arrows between the same states would lie on each other.
            [true, false].into_iter().filter_map(move |reached| {
                let on = on.iter().filter(|(_, count)| (**count > 0) == reached);
                let on: Vec<String> =
                    on.map(|(event, &count)| format!("{event} {}", times(count))).collect();
                Some(Way {
                    from: *places.get(from.as_str())?,
                    to: *places.get(to.as_str())?,
                    label: on.join(", "),
                    reached,
                })
                .filter(|way| !way.label.is_empty())
            })
        })
    });
    let begun = machine.states.values().position(|state| state.begun > 0);
    Diagram {
        title: format!("{kind} {name}"),
        start: begun.unwrap_or(0),
        ways: ways.collect(),
        states: machine.states.iter().map(state).collect(),
    }
}

/// How often something happened.
fn times(count: u64) -> String {
    if count == 0 { "never".into() } else { format!("×{}", grouped(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_happened_is_listed_and_grey_in_the_diagram() {
        let mut machine = MachineCensus::default();
        let mut idle = StateCensus::default();
        (idle.begun, idle.entered) = (3, 3);
        idle.handled = [("Ping".to_owned(), 5), ("Stop".to_owned(), 0)].into();
        idle.ways.insert("Busy".into(), [("Start".to_owned(), 1_200)].into());
        machine.states.insert("Idle".into(), idle);
        machine.states.insert("Busy".into(), StateCensus::default());
        let mut census = Census::default();
        census.machines.insert("Server".into(), machine);
        census.events = [("Ping".to_owned(), 5), ("Stop".to_owned(), 0)].into();
        let lists = never(&census);
        for told in ["<p>Server.Busy</p>", "<p>Server.Idle on Stop</p>", "<p>Stop</p>"] {
            assert!(lists.contains(told), "{lists}");
        }
        let drawn = diagram("Server", &census.machines["Server"]);
        let names: Vec<(&str, bool)> =
            drawn.states.iter().map(|state| (state.name.as_str(), state.reached)).collect();
        assert_eq!(names, [("Busy never", false), ("Idle ×3", true)]);
        let on = &drawn.states[1].lines;
        assert_eq!(*on, [("on Ping ×5".to_owned(), true), ("on Stop never".to_owned(), false)]);
        assert_eq!((drawn.start, drawn.ways[0].label.as_str()), (1, "Start ×1,200"));
    }
}

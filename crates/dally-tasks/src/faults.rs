//! Faults of what a program runs on: its network, its disks and its hosts.
//!
//! An execution has a budget of them, which is 0 unless the [program](crate::TaskProgram::fault_budget) or
//! the setting `fault_budget` says otherwise. Faults strike at operations of the network or of a disk. How many
//! operations there are before the next one at which something can happen is a choice; what happens there, of
//! that which is possible, is another, and marked as one of a fault, so that shrinking takes it out first. When
//! nothing has happened so many times, or the budget is spent, there are no more faults. What [comes] from outside,
//! such as a signal, is one of them too.

use std::time::Duration;

use dally_core::{Cut, Env, Event, Mode, Tag, Text};

use crate::current;
use crate::exec::{Exec, Hosts, Link, OWN_HOST, PendingEvent};
use crate::hosts;
use crate::text::TaskName;
use crate::time::sleep;

/// How many operations there can be before the next one at which something can happen. Where nothing does, the
/// distances add up, so that every operation can be the one.
const DISTANCES: [u32; 24] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 42, 50, 60, 80, 110, 150, 200];

/// After how many seconds a host starts again or is reached again.
const ENDS_AFTER: [u64; 4] = [0, 1, 30, 600];

/// How far the calendar of a host jumps.
const JUMP: i64 = 3_600;

/// One more operation at which a fault can strike: one of these, which are put into words for the reader of a
/// trace, or one of the hosts. Answers which of these it is.
///
/// Where the host of the running task crashes, the caller does nothing any more:
/// see [`Host::is_up`](hosts::Host::is_up).
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn strike(here: &[&str]) -> Option<usize> {
    while_any_is_left("an operation of the network or of a disk", |exec, env| {
        count(exec, env, here)
    })
    .flatten()
}

/// Whether something comes that a program waits for and that nobody in it sends, such as a signal: it is one of the
/// faults, and put into words for the reader of a trace.
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn comes(what: &str) -> bool {
    while_any_is_left("what comes from outside", |exec, env| {
        let comes = env.value(2, Tag::Fault)? == 1;
        exec.hosts.spend(comes);
        if comes {
            env.event(Event::Faulted { fault: Text::Str(what) })?;
        }
        exec.settle();
        Ok(comes)
    })
    .unwrap_or(false)
}

/// Asks whether there is a fault, unless there are no more of them.
#[track_caller]
fn while_any_is_left<R>(
    what: &str,
    ask: impl FnOnce(&mut Exec, &mut dyn Env) -> Result<R, Cut>,
) -> Option<R> {
    current::with(what, |exec| {
        if !exec.hosts.has_faults() {
            return None;
        }
        let faults = exec.faults();
        if exec.hosts.is_spent() {
            exec.touch_silently(&faults, Mode::Read);
            return None;
        }
        exec.touch_silently(&faults, Mode::ReadModifyWrite);
        current::ask(exec, |exec, env| {
            let answer = ask(exec, env);
            exec.cut |= answer.is_err();
            answer.ok()
        })?
    })
}

fn count(exec: &mut Exec, env: &mut dyn Env, here: &[&str]) -> Result<Option<usize>, Cut> {
    if exec.hosts.distance.is_none() {
        let choice = env.value(DISTANCES.len() as u32, Tag::Program)?;
        exec.hosts.distance = Some(DISTANCES[choice as usize]);
    }
    if let Some(distance @ 1..) = &mut exec.hosts.distance {
        *distance -= 1;
        return Ok(None);
    }
    exec.hosts.distance = None;
    let of_hosts = of_hosts(&exec.hosts);
    let options = (here.len() + of_hosts.len()) as u32;
    let chosen = env.value(options + 1, Tag::Fault)?.checked_sub(1).map(|chosen| chosen as usize);
    exec.hosts.spend(chosen.is_some());
    if let Some(chosen) = chosen {
        match here.get(chosen) {
            Some(words) => env.event(Event::Faulted { fault: Text::Str(words) })?,
            None => of_hosts[chosen - here.len()].happen(exec, env)?,
        }
    }
    exec.settle();
    Ok(chosen.filter(|&chosen| chosen < here.len()))
}

/// What can happen to hosts.
#[derive(Clone, Copy)]
enum OfHosts {
    Crash(u32),
    /// Nothing passes between it and any other.
    Isolate(u32),
    Cut(Link),
    Jump(u32, i64),
}

/// What can happen to the hosts that there are, in a fixed order.
fn of_hosts(hosts: &Hosts) -> Vec<OfHosts> {
    let mut can = Vec::new();
    let numbers = || hosts.numbers();
    can.extend(numbers().filter(|&host| hosts.is_up(host)).map(OfHosts::Crash));
    can.extend(numbers().map(OfHosts::Isolate));
    for (one, other) in numbers().flat_map(|one| numbers().map(move |other| (one, other))) {
        if one < other
            && let Some(link) = Link::between(one, other)
            && !hosts.is_cut(link)
        {
            can.push(OfHosts::Cut(link));
        }
    }
    let dated = numbers().filter(|&host| hosts.get(host).is_some_and(|host| host.dated));
    can.extend(dated.flat_map(|host| [JUMP, -JUMP].map(|jump| OfHosts::Jump(host, jump))));
    can
}

impl OfHosts {
    fn happen(self, exec: &mut Exec, env: &mut dyn Env) -> Result<(), Cut> {
        let told = match self {
            OfHosts::Crash(host) => {
                exec.crash(host);
                let name = exec.hosts.name(host).to_owned();
                later(exec, env, format!("restart of {name}"), move || hosts::boot(host))?;
                format!("{name} crashes")
            }
            OfHosts::Isolate(host) => {
                for other in (OWN_HOST..).take(exec.hosts.numbers().count() + 1) {
                    if let Some(link) = Link::between(host, other) {
                        exec.hosts.cut(link);
                    }
                }
                let name = exec.hosts.name(host).to_owned();
                later(exec, env, format!("healing of {name}"), move || {
                    hosts::heal(&format!("{name} is reached again"), |link| link.reaches(host));
                })?;
                format!("{} is cut off", exec.hosts.name(host))
            }
            OfHosts::Cut(link) => {
                exec.hosts.cut(link);
                let between =
                    link.hosts().map(|host| exec.hosts.name(host).to_owned()).join(" and ");
                let words = format!("the way between {between} is open again");
                later(exec, env, format!("healing between {between}"), move || {
                    hosts::heal(&words, |other| other == link);
                })?;
                format!("the way between {between} is cut")
            }
            OfHosts::Jump(host, jump) => {
                if let Some(host) = exec.hosts.get_mut(host) {
                    host.skew += jump;
                }
                let direction = if jump < 0 { "back" } else { "ahead" };
                format!("the calendar of {} jumps an hour {direction}", exec.hosts.name(host))
            }
        };
        env.event(Event::Faulted { fault: Text::Str(&told) })
    }
}

/// A task that ends a fault after a time that is chosen, while nobody may wait so long or everybody.
fn later(
    exec: &mut Exec,
    env: &mut dyn Env,
    name: String,
    then: impl FnOnce() + 'static,
) -> Result<(), Cut> {
    let after = ENDS_AFTER[env.value(ENDS_AFTER.len() as u32, Tag::Program)? as usize];
    let end = async move {
        sleep(Duration::from_secs(after)).await;
        then();
    };
    let task = exec.spawn(OWN_HOST, TaskName::Given(name), Box::pin(end));
    exec.tell(|| PendingEvent::Created(task));
    Ok(())
}

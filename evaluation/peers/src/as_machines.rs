//! The models of the comparison as machines: atomic handlers, one queue per pair.

mod commit;
mod ring;

use dally::machines::{Granularity, MachineProgram, Mailbox, Setup};

pub use commit::commit;
pub use ring::ring;

/// A program whose steps are the transitions of the models. They know nothing of machines that
/// enter their first states, so all have done so before.
fn model(name: &str, setup: impl Fn(&mut Setup) + Send + Sync + 'static) -> MachineProgram {
    let begun = move |all: &mut Setup| {
        setup(all);
        all.begin();
    };
    MachineProgram::new(name, begun).granularity(Granularity::Atomic).mailbox(Mailbox::PerSender)
}

use super::{Client, Server};
use dally::machines::{Faults, Granularity, Mailbox, Setup};

#[dally::test(
    mailbox = Mailbox::PerSender,
    granularity = Granularity::Atomic,
    faults = Faults { lose: 1, duplicate: 1, crash: 0 },
)]
fn on_a_bad_network(setup: &mut Setup) {
    let server = setup.create(Server);
    setup.create(Client { server, attempts: 0 });
}

//! Durable state is safe before anybody can see what follows from it.

use std::io;
use std::sync::{Arc, Mutex};

use dally_machines::host::Store;
use dally_machines::{Addr, Cx};
use dally_macros::machine;

use crate::log::{Log, quiet};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Deposit(u64);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Receipt(u64);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct OpenAccount;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Customer;

#[machine(states(Waiting))]
impl Customer {
    #[on(Waiting, Receipt)]
    fn receipt(&mut self, cx: &mut Cx<Self>, receipt: Receipt) {
        cx.announce(receipt);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Account {
    customer: Addr<Customer>,
    total: u64,
}

#[machine(states(Open), durable = u64)]
impl Account {
    fn recover(self, durable: Option<u64>) -> Self {
        Account { total: durable.unwrap_or(0), ..self }
    }

    #[on(Open, Deposit)]
    fn deposit(&mut self, cx: &mut Cx<Self>, Deposit(amount): Deposit) {
        cx.announce(format!("got {amount}"));
        self.total += amount;
        cx.persist(self.total);
        cx.send(self.customer, Receipt(self.total));
        cx.persist(self.total + 1000);
        cx.announce("done");
    }
}

/// Creates accounts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Bank {
    customer: Addr<Customer>,
}

#[machine(states(Open))]
impl Bank {
    #[on(Open, OpenAccount)]
    fn open(&mut self, cx: &mut Cx<Self>) {
        let account = cx.create(Account { customer: self.customer, total: 0 });
        cx.send(account, Deposit(1));
    }
}

/// Writes its calls into the log of announcements; fails from `limit` on.
#[derive(Clone)]
struct Book {
    log: Log,
    kept: Arc<Mutex<Option<u64>>>,
    limit: u64,
}

impl Book {
    fn new(log: &Log) -> Book {
        Book { log: log.clone(), kept: Arc::default(), limit: u64::MAX }
    }
}

impl Store<u64> for Book {
    fn load(&mut self) -> io::Result<Option<u64>> {
        let kept = *self.kept.lock().unwrap();
        self.log.add(tokio::time::Instant::now(), &format!("load {kept:?}"));
        match kept {
            Some(kept) if kept >= self.limit => Err(io::Error::other("the page is torn")),
            kept => Ok(kept),
        }
    }

    fn save(&mut self, durable: &u64) -> io::Result<()> {
        if *durable >= self.limit {
            return Err(io::Error::other("the book is full"));
        }
        // Long enough for an effect that does not wait for its save to come first.
        std::thread::sleep(std::time::Duration::from_millis(5));
        self.log.add(tokio::time::Instant::now(), &format!("saved {durable}"));
        *self.kept.lock().unwrap() = Some(*durable);
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_after_a_persist_is_released_when_it_is_saved() {
    let (builder, log) = quiet();
    let host = builder.build();
    let customer = host.create(Customer);
    let account = host.create_with(Account { customer, total: 0 }, Book::new(&log));
    host.send(account, Deposit(7)).unwrap();
    assert!(host.shutdown().await.is_clean());
    let mut lines = log.lines();
    // The customer may be told before or after the second save.
    let receipt = lines.iter().position(|line| line == "Receipt(7)").unwrap();
    assert!(receipt > lines.iter().position(|line| line == "saved 7").unwrap());
    lines.remove(receipt);
    assert_eq!(lines, ["load None", "got 7", "saved 7", "saved 1007", "done"]);
}

#[tokio::test]
async fn a_machine_recovers_from_what_was_saved() {
    let (builder, log) = quiet();
    let book = Book::new(&log);
    let host = builder.build();
    let customer = host.create(Customer);
    let account = host.create_with(Account { customer, total: 0 }, book.clone());
    host.send(account, Deposit(7)).unwrap();
    host.shutdown().await;

    let (builder, log) = quiet();
    let host = builder.build();
    let customer = host.create(Customer);
    let account =
        host.create_with(Account { customer, total: 0 }, Book { log: log.clone(), ..book });
    host.send(account, Deposit(1)).unwrap();
    host.shutdown().await;
    assert_eq!(log.lines()[..3], ["load Some(1007)", "got 1", "saved 1008"]);
}

#[tokio::test]
async fn a_save_that_fails_stops_the_machine_before_the_effects_after_it() {
    let (builder, log) = quiet();
    let host = builder.build();
    let customer = host.create(Customer);
    let book = Book { limit: 1000, ..Book::new(&log) };
    let account = host.create_with(Account { customer, total: 0 }, book);
    host.send(account, Deposit(7)).unwrap();
    host.wait_for(account).await;
    let report = host.shutdown().await;
    let mut lines = log.lines();
    lines.sort();
    assert_eq!(lines, ["Receipt(7)", "got 7", "load None", "saved 7"]);
    assert_eq!(
        report.failures[0].to_string(),
        "machine `Account(1)` stopped: its durable state could not be saved: the book is full"
    );
}

#[tokio::test]
async fn a_load_that_fails_does_not_start_the_machine_afresh() {
    let (builder, log) = quiet();
    let host = builder.build();
    let customer = host.create(Customer);
    let book = Book { limit: 5, kept: Arc::new(Mutex::new(Some(9))), ..Book::new(&log) };
    let account = host.create_with(Account { customer, total: 0 }, book);
    host.wait_for(account).await;
    let report = host.shutdown().await;
    assert_eq!(log.lines(), ["load Some(9)"]);
    assert!(dally_report::text::bug(&report.failures[0].bug).contains("the page is torn"));
}

#[tokio::test]
async fn machines_that_machines_create_get_stores_by_their_type() {
    let (builder, log) = quiet();
    let books = log.clone();
    let host = builder
        .store(move |account: Addr<Account>| {
            books.add(tokio::time::Instant::now(), &format!("a book for {account}"));
            Book::new(&books)
        })
        .build();
    let customer = host.create(Customer);
    let bank = host.create(Bank { customer });
    host.send(bank, OpenAccount).unwrap();
    host.shutdown().await;
    assert_eq!(log.lines()[..4], ["a book for Account(1.0)", "load None", "got 1", "saved 1"]);
}

#[tokio::test]
async fn a_durable_machine_without_a_store_keeps_its_state_to_itself() {
    let (builder, log) = quiet();
    let host = builder.build();
    let customer = host.create(Customer);
    let account = host.create(Account { customer, total: 0 });
    host.send(account, Deposit(2)).unwrap();
    assert!(host.shutdown().await.is_clean());
    assert_eq!(log.lines(), ["got 2", "done", "Receipt(2)"]);
}

//! A connection pool that deadlocks.
//!
//! The pool has two connections; a connection goes back to the pool when it is dropped. Each of
//! two requests runs a query and then writes to an audit log, over a connection each. With
//! [`Bug::Deadlock`] a request still holds the first connection when it asks for the second: if
//! both requests do so at once, the pool is empty and both wait for ever. In the correct version a
//! request gives its connection back before it asks for the next.

use std::sync::Arc;

use dally::tasks::sync::{Mutex, mpsc};
use dally::tasks::{self, TaskProgram};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the use of the pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A request asks for a second connection while it holds one.
    Deadlock,
}

impl Bug {
    fn named(name: &str) -> Option<Bug> {
        (name == "deadlock").then_some(Bug::Deadlock)
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "connection-pool",
    summary: "two requests share a pool of two connections and need two each",
    bugs: &[PlantedBug {
        name: "deadlock",
        summary: "a request asks for a second connection while it holds one",
    }],
    max_steps: 500,
    program: |bug| Arc::new(program(bug.and_then(Bug::named))),
};

/// Two requests at the same time, with this bug or without any.
pub fn program(bug: Option<Bug>) -> TaskProgram {
    TaskProgram::new(PROTOCOL.name, move || async move {
        let pool = Arc::new(Pool::new(CONNECTIONS));
        let requests = [(), ()].map(|()| {
            let pool = pool.clone();
            tasks::spawn(async move { handle(&pool, bug).await })
        });
        for request in requests {
            request.await.expect("requests do not fail");
        }
    })
}

const CONNECTIONS: u32 = 2;

async fn handle(pool: &Pool, bug: Option<Bug>) {
    let query = pool.get().await;
    query.run().await;
    if bug != Some(Bug::Deadlock) {
        drop(query);
        pool.get().await.run().await;
    } else {
        pool.get().await.run().await;
        drop(query);
    }
}

/// Connections that nobody uses wait in a channel.
struct Pool {
    idle: Mutex<mpsc::UnboundedReceiver<u32>>,
    back: mpsc::UnboundedSender<u32>,
}

impl Pool {
    fn new(connections: u32) -> Pool {
        let (back, idle) = mpsc::unbounded_channel();
        for number in 0..connections {
            back.send(number).expect("the pool holds both ends");
        }
        Pool { idle: Mutex::new(idle), back }
    }

    async fn get(&self) -> Connection {
        let number = self.idle.lock().await.recv().await.expect("the pool holds both ends");
        Connection { number, back: self.back.clone() }
    }
}

struct Connection {
    number: u32,
    back: mpsc::UnboundedSender<u32>,
}

impl Connection {
    /// Stands for a round trip to the server.
    async fn run(&self) {
        tasks::yield_now().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Nobody is left to take it when the pool itself is gone.
        let _ = self.back.send(self.number);
    }
}

//! Actors of kameo.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kameo::Actor;
use kameo::actor::Spawn;
use kameo::error::SendError;
use kameo::mailbox;
use kameo::message::{Context, Message};
use tokio::task::yield_now;

#[derive(Actor)]
struct Counter {
    count: usize,
    handled: Arc<AtomicUsize>,
}

struct Add(usize);

impl Message<Add> for Counter {
    type Reply = usize;

    async fn handle(&mut self, Add(amount): Add, _: &mut Context<Self, usize>) -> usize {
        assert!(amount < 10, "too much");
        let before = self.count;
        yield_now().await;
        self.count = before + amount;
        self.handled.fetch_add(1, Ordering::Relaxed);
        self.count
    }
}

fn counter(handled: &Arc<AtomicUsize>) -> Counter {
    Counter { count: 0, handled: Arc::clone(handled) }
}

/// Whoever asks is answered, or is told that the actor is there no more: also those who wait for a place in the mailbox.
#[tokio::test]
async fn all_who_ask_are_answered_while_the_actor_stops() {
    let handled = Arc::new(AtomicUsize::new(0));
    let actor = Counter::spawn_with_mailbox(counter(&handled), mailbox::bounded(1));
    let callers: Vec<_> = (0..2)
        .map(|_| {
            let actor = actor.clone();
            tokio::spawn(async move { actor.ask(Add(1)).await })
        })
        .collect();
    let _ = actor.stop_gracefully().await;
    let mut answered = 0;
    for caller in callers {
        match caller.await.unwrap() {
            Ok(_) => answered += 1,
            Err(SendError::ActorNotRunning(_) | SendError::ActorStopped) => {}
            Err(why) => panic!("{why:?}"),
        }
    }
    actor.wait_for_shutdown().await;
    assert_eq!(handled.load(Ordering::Relaxed), answered);
}

/// What was put into the mailbox before a graceful stop is handled.
#[tokio::test]
async fn a_graceful_stop_handles_what_came_before() {
    let handled = Arc::new(AtomicUsize::new(0));
    let actor = Counter::spawn(counter(&handled));
    let caller = actor.clone();
    let told = tokio::spawn(async move { caller.tell(Add(2)).await.is_ok() });
    actor.tell(Add(1)).await.unwrap();
    let told = told.await.unwrap();
    assert!(told);
    actor.stop_gracefully().await.unwrap();
    actor.wait_for_shutdown().await;
    assert_eq!(handled.load(Ordering::Relaxed), 2);
}

/// A panic of a handler stops the actor, and nobody who has asked waits for ever.
#[tokio::test]
async fn a_panic_of_a_handler_is_told_to_all_who_have_asked() {
    let handled = Arc::new(AtomicUsize::new(0));
    let actor = Counter::spawn(counter(&handled));
    let callers: Vec<_> = [1, 10, 1]
        .map(|amount| {
            let actor = actor.clone();
            tokio::spawn(async move { (amount, actor.ask(Add(amount)).await) })
        })
        .into();
    for caller in callers {
        let (amount, answer) = caller.await.unwrap();
        assert!(amount < 10 || answer.is_err(), "the one who has brought it down is answered");
    }
    actor.wait_for_shutdown().await;
    assert!(!actor.is_alive());
    assert!(actor.ask(Add(1)).await.is_err());
}

/// An actor that is killed drops what it handles, and tells who has asked.
#[tokio::test]
async fn who_asks_an_actor_that_is_killed_is_told() {
    let handled = Arc::new(AtomicUsize::new(0));
    let actor = Counter::spawn(counter(&handled));
    let caller = actor.clone();
    let asked = tokio::spawn(async move { caller.ask(Add(1)).await });
    yield_now().await;
    actor.kill();
    actor.wait_for_shutdown().await;
    match asked.await.unwrap() {
        Ok(count) => assert_eq!((count, handled.load(Ordering::Relaxed)), (1, 1)),
        Err(SendError::ActorNotRunning(_) | SendError::ActorStopped) => {}
        Err(why) => panic!("{why:?}"),
    }
}

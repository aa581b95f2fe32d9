//! The shapes of the comparison of classes, written for TraceForge: threads that send messages.

use traceforge::thread::{current_id, spawn};
use traceforge::{
    Config, ConsType, recv_msg_block, recv_tagged_msg_block, send_msg, send_tagged_msg,
};

/// So many senders of so many messages each to the main thread, with one queue for each sender.
pub fn senders(senders: usize, messages: usize) -> u64 {
    senders_with(ConsType::FIFO, senders, messages)
}

/// As [`senders`], where every message can be next.
pub fn senders_without_order(senders: usize, messages: usize) -> u64 {
    senders_with(ConsType::Bag, senders, messages)
}

fn senders_with(order: ConsType, senders: usize, messages: usize) -> u64 {
    classes(order, move || {
        let to = current_id();
        for sender in 0..senders {
            drop(spawn(move || {
                for message in 0..messages {
                    send_msg(to, (sender, message));
                }
            }));
        }
        for _ in 0..senders * messages {
            let _: (usize, usize) = recv_msg_block();
        }
    })
}

const ACQUIRE: u32 = 0;
const RELEASE: u32 = 1;

/// So many threads that take a lock so often each. There is no lock, so the main thread serves one:
/// it answers one request, and takes the next when it is told that the lock is free.
pub fn locks(threads: usize, times: usize) -> u64 {
    classes(ConsType::FIFO, move || {
        let server = current_id();
        for _ in 0..threads {
            drop(spawn(move || {
                for _ in 0..times {
                    send_tagged_msg(server, ACQUIRE, current_id());
                    let () = recv_msg_block();
                    send_tagged_msg(server, RELEASE, ());
                }
            }));
        }
        for _ in 0..threads * times {
            let to = recv_tagged_msg_block(|_, tag| tag == Some(ACQUIRE));
            send_msg(to, ());
            let () = recv_tagged_msg_block(|_, tag| tag == Some(RELEASE));
        }
    })
}

/// Explores every class, and counts them.
fn classes(order: ConsType, program: impl Fn() + Send + Sync + 'static) -> u64 {
    let stats = traceforge::verify(Config::builder().with_cons_type(order).build(), program);
    assert_eq!(stats.block, 0);
    stats.execs as u64
}

//! Three UDP sockets.

use std::collections::VecDeque;

use crate::{Log, both, compare};

#[test]
fn datagrams() {
    compare(theirs::sequence, ours::sequence);
}

both! {
    sequence(seed) in |tokio| {
        use tokio::net::UdpSocket;

        let mut rng = fastrand::Rng::with_seed(seed);
        let mut log = Log::default();
        let mut sockets = Vec::new();
        for _ in 0..3 {
            sockets.push(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        }
        let addresses: Vec<_> = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
        let taken = UdpSocket::bind(addresses[0]).await;
        log.add("bind again", taken.map(|_| ()));
        let who = |address| addresses.iter().position(|&known| known == address);
        // How many bytes the datagrams have that wait at each socket.
        let mut waiting: [VecDeque<usize>; 3] = Default::default();
        let mut peers: [Option<usize>; 3] = [None; 3];
        for step in 0..40_u8 {
            let [one, other] = [rng.usize(..3), rng.usize(..3)];
            let socket = &sockets[one];
            // Linux tells a connected socket that nobody has heard it, which nothing here does.
            let hears = |to: usize| peers[to].is_none_or(|peer| peer == one);
            if !hears(other) || peers[one].is_some_and(|peer| !hears(peer)) {
                continue;
            }
            match rng.u8(..8) {
                0..2 => {
                    let bytes = vec![step; rng.usize(..30)];
                    log.add("send to", socket.send_to(&bytes, addresses[other]).await);
                    if peers[other].is_none_or(|peer| peer == one) {
                        waiting[other].push_back(bytes.len());
                    }
                }
                2 => {
                    log.add("send", socket.send(&[step; 5]).await);
                    if let Some(peer) = peers[one] && peers[peer].is_none_or(|back| back == one) {
                        waiting[peer].push_back(5);
                    }
                }
                3..5 if !waiting[one].is_empty() => {
                    let mut buf = vec![0; rng.usize(1..30)];
                    if rng.bool() {
                        let peeked = socket.peek_from(&mut buf).await;
                        log.add("peek", peeked.map(|(amount, from)| (buf[..amount].to_vec(), who(from))));
                    }
                    let got = socket.recv_from(&mut buf).await;
                    log.add("receive", got.map(|(amount, from)| (buf[..amount].to_vec(), who(from))));
                    waiting[one].pop_front();
                }
                3..5 => log.add("try to receive", socket.try_recv_from(&mut [0; 4])),
                5 if rng.u8(..3) == 0 && peers[one].is_none() => {
                    log.add("connect", socket.connect(addresses[other]).await);
                    peers[one] = Some(other);
                }
                6 => log.add("peer", socket.peer_addr().map(who)),
                7 => log.add("too long", socket.send_to(&[0; 65_508], addresses[other]).await),
                _ => log.add("writable", socket.writable().await),
            }
        }
        log
    }
}

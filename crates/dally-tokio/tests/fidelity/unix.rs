//! Sockets of Unix.

use std::collections::VecDeque;

use crate::{Log, both, compare};

#[test]
fn local_sockets() {
    compare(theirs::sequence, ours::sequence);
}

both! {
    sequence(seed) in |tokio| {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        use tokio::net::{UnixDatagram, UnixListener, UnixStream};

        let mut rng = fastrand::Rng::with_seed(seed);
        let mut log = Log::default();
        let directory = std::env::temp_dir().join(format!("dally-fidelity-{}-{seed}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let [listens, datagrams] = ["listens", "datagrams"].map(|name| directory.join(name));

        log.add("connect to nobody", UnixStream::connect(&listens).await.map(|_| ()));
        let listener = UnixListener::bind(&listens).unwrap();
        log.add("bind again", UnixListener::bind(&listens).map(|_| ()));
        let mut near = UnixStream::connect(&listens).await.unwrap();
        let (mut far, from) = listener.accept().await.unwrap();
        log.add("unnamed", Ok((from.is_unnamed(), near.local_addr().unwrap().is_unnamed())));
        log.add("named", Ok(near.peer_addr().unwrap().as_pathname() == Some(&*listens)));
        let mut coming = 0;
        for step in 0..10_u8 {
            if coming == 0 || rng.bool() {
                let bytes = vec![step; rng.usize(1..20)];
                log.add("write", near.write_all(&bytes).await);
                coming += bytes.len();
            } else {
                let mut buf = vec![0; rng.usize(1..=coming)];
                log.add("read", far.read_exact(&mut buf).await.map(|_| ()));
                coming -= buf.len();
                log.add("bytes", Ok(buf));
            }
        }
        drop(near);
        let mut rest = Vec::new();
        log.add("the rest", far.read_to_end(&mut rest).await.map(|_| rest));
        log.add("write to nobody", far.write_all(&[1]).await);

        let bound = UnixDatagram::bind(&datagrams).unwrap();
        let (one, other) = UnixDatagram::pair().unwrap();
        log.add("peer", bound.peer_addr().map(|_| ()));
        log.add("send", bound.send(&[1]).await);
        let mut waiting: [VecDeque<()>; 2] = Default::default();
        for step in 0..20_u8 {
            match rng.u8(..5) {
                0 if waiting[0].len() < 5 => {
                    log.add("send to", other.send_to(&[step; 7], &datagrams).await.map(|_| ()));
                    waiting[0].push_back(());
                }
                1 if waiting[1].len() < 5 => {
                    log.add("send in a pair", one.send(&[step; 3]).await);
                    waiting[1].push_back(());
                }
                2 if waiting[0].pop_front().is_some() => {
                    let mut buf = [0; 4];
                    let got = bound.recv_from(&mut buf).await;
                    log.add("receive", got.map(|(amount, from)| (buf[..amount].to_vec(), from.is_unnamed())));
                }
                3 if waiting[1].pop_front().is_some() => {
                    let mut buf = [0; 4];
                    log.add("receive in a pair", other.recv(&mut buf).await.map(|amount| buf[..amount].to_vec()));
                }
                _ if waiting[0].is_empty() => log.add("try", bound.try_recv(&mut [0])),
                _ => {}
            }
        }
        drop(other);
        log.add("send to nobody", one.send(&[1]).await);
        std::fs::remove_dir_all(&directory).unwrap();
        log
    }
}

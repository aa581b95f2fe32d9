//! Two ends of a connection.

use crate::{Log, both, compare};

#[test]
fn connections() {
    compare(theirs::sequence, ours::sequence);
}

both! {
    sequence(seed) in |tokio| {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        use tokio::net::{TcpListener, TcpStream};

        let mut rng = fastrand::Rng::with_seed(seed);
        let mut log = Log::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let near = TcpStream::connect(at).await.unwrap();
        let (far, peer) = listener.accept().await.unwrap();
        log.add("addresses", Ok((
            near.peer_addr().unwrap() == at,
            far.local_addr().unwrap() == at,
            near.local_addr().unwrap() == peer,
            far.peer_addr().unwrap() == peer,
        )));
        let mut ends = [near, far];
        // The bytes on their way to each end, and whether each end has said that it sends no more.
        let mut coming = [0_usize; 2];
        let mut finished = [false; 2];
        let mut next = 0_u8;
        for _ in 0..30 {
            let end = rng.usize(..2);
            let other = 1 - end;
            match rng.u8(..12) {
                0..4 if !finished[end] && coming[other] < 10_000 => {
                    let amount = rng.usize(..40);
                    let bytes: Vec<u8> = (0..amount).map(|_| { next = next.wrapping_add(1); next }).collect();
                    log.add("write", ends[end].write_all(&bytes).await);
                    coming[other] += amount;
                }
                0..4 if finished[end] => {
                    log.add("write after the end", ends[end].write(&[1]).await);
                }
                4..6 if coming[end] > 0 => {
                    let mut buf = vec![0; rng.usize(1..=coming[end])];
                    let read = ends[end].read_exact(&mut buf).await;
                    coming[end] -= buf.len();
                    log.add("read", read.map(|_| buf));
                }
                4..6 if finished[other] => {
                    log.add("read the end", ends[end].read(&mut [0; 4]).await);
                    log.add("try the end", ends[end].try_read(&mut [0; 4]));
                    log.add("peek at the end", ends[end].peek(&mut [0; 4]).await);
                }
                4..6 => log.add("try to read", ends[end].try_read(&mut [0; 4])),
                6 if coming[end] > 0 => {
                    let mut buf = [0];
                    let peeked = ends[end].peek(&mut buf).await;
                    log.add("peek", peeked.map(|_| buf));
                    log.add("readable", ends[end].readable().await);
                }
                7 if !finished[end] => {
                    // What a socket of tokio is ready for is known when its reactor has run.
                    log.add("writable", ends[end].writable().await);
                    log.add("try to write", ends[end].try_write(&[9, 9]));
                    coming[other] += 2;
                }
                8 if !finished[end] && rng.u8(..4) == 0 => {
                    log.add("shut down", ends[end].shutdown().await);
                    finished[end] = true;
                }
                9 => {
                    let was = ends[end].nodelay();
                    log.add("nodelay", was.and_then(|_| {
                        ends[end].set_nodelay(true)?;
                        ends[end].nodelay()
                    }));
                    log.add("linger", ends[end].linger());
                }
                10 => {
                    log.add("writable", ends[end].writable().await);
                    log.add("ready", ends[end].ready(tokio::io::Interest::WRITABLE).await.map(|ready| {
                        (ready.is_writable(), ready.is_readable())
                    }));
                }
                11 if !finished[end] => {
                    let (mut read, mut write) = ends[end].split();
                    log.add("write by a half", write.write_all(&[7; 3]).await);
                    // A read of nothing waits like any other.
                    if coming[end] > 0 {
                        log.add("nothing to read", read.read(&mut []).await);
                    }
                    coming[other] += 3;
                }
                _ => {}
            }
        }
        let [near, far] = ends;
        let (mut read, write) = near.into_split();
        if rng.bool() {
            drop(write);
            let mut rest = Vec::new();
            let mut far = far;
            log.add("read to the end", far.read_to_end(&mut rest).await.map(|_| rest));
            drop(far);
            let mut rest = Vec::new();
            log.add("and back", read.read_to_end(&mut rest).await.map(|_| rest));
        } else {
            let (other_read, other_write) = far.into_split();
            let wrong = read.reunite(other_write).unwrap_err();
            log.add("reunite", Ok(wrong.0.reunite(write).is_ok()));
            drop(other_read);
        }
        drop(listener);
        log.add("connect", TcpStream::connect(at).await.map(|_| ()));
        log
    }
}

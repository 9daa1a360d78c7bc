//! Tests the tokio sockets on a runtime with one thread. Has the requirements of `linux.rs`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::laboratory::{
    End, Fixture, LIMIT, Namespace, PORT, Protocol, at, linux, ours, pattern, receive, send,
};
use mptcp_live::tokio::{MptcpListener, MptcpStream};
use mptcp_live::{Config, Driver};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Runs a test's tasks on this thread only.
fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { timeout(LIMIT, future).await.unwrap() })
}

/// A Linux peer that echoes the data of `count` connections.
fn echo(namespace: &Namespace, count: usize) {
    let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
    std::thread::spawn(move || {
        let streams: Vec<_> = (0..count).map(|_| listener.accept().unwrap().0).collect();
        for mut stream in streams {
            std::thread::spawn(move || {
                let mut back = stream.try_clone().unwrap();
                // Some tests reset the connection.
                let _ = std::io::copy(&mut stream, &mut back);
                let _ = back.half_close();
            });
        }
    });
}

async fn connect(driver: &Driver) -> MptcpStream {
    MptcpStream::connect(driver, at(linux(1)), Config::default()).await.unwrap()
}

/// A hundred simultaneous connections in both directions on one thread: each receives its own bytes.
#[test]
fn a_hundred_at_once() {
    Fixture::paths(2).run(|namespace, driver| {
        echo(&namespace, 100);
        let driver = Arc::new(driver);
        run(async {
            let mut tasks = JoinSet::new();
            for number in 0..100 {
                let stream = connect(&driver).await;
                let data = pattern(50_000 + number)[number..].to_vec();
                tasks.spawn(async move {
                    let (mut read, mut write) = tokio::io::split(stream);
                    let forth = async {
                        write.write_all(&data).await.unwrap();
                        write.shutdown().await.unwrap();
                    };
                    let mut back = Vec::new();
                    tokio::join!(forth, async { read.read_to_end(&mut back).await.unwrap() });
                    assert_eq!(back.len(), data.len());
                    assert!(back == data, "connection {number} got other bytes");
                });
            }
            while let Some(done) = tasks.join_next().await {
                done.unwrap();
            }
        });
        assert!(driver.drain(Duration::from_secs(5)), "connections without sockets still exist");
    });
}

/// A cancelled read loses no data: the next one gets every byte.
#[test]
fn reading_may_be_given_up() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        run(async {
            let mut stream = connect(&driver).await;
            let (them, _) = listener.accept().unwrap();
            let data = pattern(400_000);
            let sender = std::thread::spawn({
                let data = data.clone();
                move || {
                    them.be_patient();
                    for piece in data.chunks(10_000) {
                        them.send_all(piece).unwrap();
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    them.half_close().unwrap();
                }
            });
            let (mut received, mut given_up) = (Vec::new(), 0);
            let mut buffer = vec![0; 7_000];
            loop {
                tokio::select! {
                    biased;
                    read = stream.read(&mut buffer) => match read.unwrap() {
                        0 => break,
                        count => received.extend_from_slice(&buffer[..count]),
                    },
                    () = tokio::task::yield_now() => given_up += 1,
                }
            }
            sender.join().unwrap();
            assert!(given_up > 0, "no read was ever given up");
            assert!(received == data, "{} bytes of {}", received.len(), data.len());
        });
    });
}

/// Each half closes separately: after mptcplab's end of stream, Linux's bytes still arrive, and vice versa.
#[test]
fn half_close() {
    Fixture::paths(1).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        run(async {
            let mut stream = connect(&driver).await;
            let (them, _) = listener.accept().unwrap();
            them.be_patient();
            stream.write_all(b"question").await.unwrap();
            stream.shutdown().await.unwrap();
            assert_eq!(receive(&them), b"question");
            assert_eq!(stream.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
            send(&them, b"answer");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await.unwrap();
            assert_eq!(answer, b"answer");
        });
    });
}

/// tokio's timers end a wait, and the wait can be repeated.
#[test]
fn timeouts_end_waiting_and_it_can_begin_again() {
    const SHORT: Duration = Duration::from_millis(30);
    Fixture::paths(1).run(|namespace, driver| {
        let listener = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let ours_too = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        run(async {
            let nobody = SocketAddr::from(([10, 88, 1, 77], PORT));
            assert!(timeout(SHORT, MptcpStream::connect(&driver, nobody, Config::default())).await.is_err());
            assert!(timeout(SHORT, ours_too.accept()).await.is_err());
            let call = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
            let (accepted, from) = ours_too.accept().await.unwrap();
            assert_eq!((from, ours_too.local_addr().port()), (call.local_addr().unwrap(), PORT));
            assert_eq!(accepted.info().unwrap().subflows.len(), 1);

            let mut stream = connect(&driver).await;
            let (them, _) = listener.accept().unwrap();
            assert!(timeout(SHORT, stream.read_u8()).await.is_err());
            them.send_all(b"!").unwrap();
            assert_eq!(stream.read_u8().await.unwrap(), b'!');
            // No one reads, so the buffers fill.
            let full = async { while stream.write(&[0; 65_536]).await.is_ok() {} };
            assert!(timeout(Duration::from_millis(300), full).await.is_err());
            drop(them);
            let mut rest = [0; 65_536];
            let end = loop {
                if let Err(error) = stream.write(&rest).await {
                    break error;
                }
            };
            assert_eq!(end.kind(), ErrorKind::ConnectionReset);
            assert_eq!(stream.read(&mut rest).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        });
    });
}

/// Refused connections, a driver that stops under its tasks, and conversion to blocking sockets and back.
#[test]
fn errors_and_conversions() {
    Fixture::paths(1).run(|namespace, driver| {
        run(async {
            let refused = MptcpStream::connect(&driver, at(linux(1)), Config::default()).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        });
        echo(&namespace, 1);
        let listener = MptcpListener::bind(&driver, PORT, Config::default()).unwrap();
        run(async {
            let stream = loop {
                // The peer's thread may not listen yet.
                match MptcpStream::connect(&driver, at(linux(1)), Config::default()).await {
                    Ok(stream) => break stream,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionRefused),
                }
            };
            let blocking = stream.into_blocking();
            blocking.set_read_timeout(Some(LIMIT)).unwrap();
            blocking.send_all(b"there").unwrap();
            let mut five = [0; 5];
            std::io::Read::read_exact(&mut &blocking, &mut five).unwrap();
            let mut again = MptcpStream::from(blocking);
            again.write_all(&five).await.unwrap();
            again.read_exact(&mut five).await.unwrap();
            assert_eq!(&five, b"there");
            let listener = MptcpListener::from(listener.into_blocking());
            let stopping = async {
                tokio::task::yield_now().await;
                driver.stop().unwrap();
            };
            let (accepted, read, ()) = tokio::join!(listener.accept(), again.read_u8(), stopping);
            assert_eq!(accepted.unwrap_err().kind(), ErrorKind::NotConnected);
            let kind = read.unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::ConnectionAborted | ErrorKind::NotConnected), "{kind}");
        });
    });
}

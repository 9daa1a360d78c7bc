//! Tests changes of subflows with Linux: backups, removed addresses, resets, and silent paths.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};

use crate::laboratory::{
    self, End, Fixture, LIMIT, Namespace, PORT, Protocol, at, established, exchange, ferry, greet, joined,
    linux, linux_info, linux_subflows, ours, pattern, same, wait_until, within,
};
use mptcp_live::{Config, Driver, InterfaceId, MptcpListener, MptcpStream, SubflowState};

/// A Linux listener, which must live as long as joins may arrive.
fn theirs(namespace: &Namespace) -> TcpListener {
    namespace.listen(at(linux(1)), Protocol::Mptcp)
}

/// A connection from mptcplab to Linux over two paths.
fn two(driver: &Driver, listener: &TcpListener) -> (MptcpStream, TcpStream) {
    let us = MptcpStream::connect(driver, at(linux(1)), Config::default()).unwrap();
    let (them, _) = listener.accept().unwrap();
    greet(&us, &them);
    joined(&us, &them, 2);
    wait_until("Linux has joined", || linux_subflows(&them) == Some(1));
    (us, them)
}

/// Linux opens a connection and a second subflow from its endpoint 9.
fn two_of_linux(namespace: &Namespace, driver: &Driver) -> (MptcpStream, TcpStream) {
    namespace.ip(&format!("mptcp endpoint add {} id 9 subflow", linux(2))).unwrap();
    let config = Config { announce: Some(Vec::new()), ..Config::default() };
    let listener = MptcpListener::bind(driver, PORT, config).unwrap();
    let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
    let (us, _) = listener.accept().unwrap();
    greet(&them, &us);
    wait_until("Linux has joined", || established(&us) == 2 && linux_subflows(&them) == Some(1));
    (us, them)
}

/// Bytes sent and received, by subflow.
fn carried(us: &MptcpStream) -> Vec<(u64, u64)> {
    let info = us.info().unwrap();
    info.subflows.iter().map(|subflow| (subflow.stats.bytes_sent, subflow.stats.bytes_received)).collect()
}

/// Transfers data in both directions and keeps the connection open.
fn pass(us: &MptcpStream, them: &TcpStream) {
    let data = pattern(2_000_000);
    for (from, to, which) in [(us as &dyn End, them as &dyn End, "forth"), (them, us, "back")] {
        let mut received = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| from.send_all(&data).unwrap());
            let mut buffer = vec![0; 1 << 16];
            while received.len() < data.len() {
                let count = to.read_some(&mut buffer).unwrap_or_else(|error| {
                    panic!(
                        "{which}, after {} bytes: {error}; {:?} {:?}",
                        received.len(),
                        us.info(),
                        linux_info(them)
                    )
                });
                assert!(count > 0, "the stream ended after {} bytes", received.len());
                received.extend_from_slice(&buffer[..count]);
            }
        });
        same(&received, &data, which);
    }
}

fn second(us: &MptcpStream) -> InterfaceId {
    us.info().unwrap().subflows[1].interface
}

/// After mptcplab's MP_PRIO, neither end sends new data on the subflow, until another MP_PRIO reverts it.
#[test]
fn our_backups() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = theirs(&namespace);
        let (us, them) = two(&driver, &listener);
        driver.set_backup(second(&us), true).unwrap();
        // Data that returns on that subflow shows that the option has arrived.
        greet(&us, &them);
        pass(&us, &them);
        let before = carried(&us);
        pass(&us, &them);
        let after = carried(&us);
        assert_eq!(after[1], before[1], "a backup carries nothing while another path works");
        assert!(after[0].0 > before[0].0 + 1_900_000 && after[0].1 > before[0].1 + 1_900_000, "{after:?}");
        driver.set_backup(second(&us), false).unwrap();
        wait_until("both carry data again", || {
            pass(&us, &them);
            let now = carried(&us);
            now[1].0 > after[1].0 && now[1].1 > after[1].1
        });
        exchange(&us, &them, &pattern(10), &pattern(10));
    });
}

/// After Linux's MP_PRIO (`ip mptcp endpoint change ... backup`), neither end uses the subflow, until Linux reverts it.
#[test]
fn backups_of_linux() {
    Fixture::paths(2).run(|namespace, driver| {
        let (us, them) = two_of_linux(&namespace, &driver);
        namespace.ip("mptcp endpoint change id 9 backup").unwrap();
        wait_until("we have heard of it", || us.info().unwrap().subflows[1].backup);
        pass(&us, &them);
        let before = carried(&us);
        pass(&us, &them);
        let after = carried(&us);
        assert_eq!(after[1], before[1], "a backup carries nothing while another path works");
        assert!(after[0].0 > before[0].0 + 1_900_000 && after[0].1 > before[0].1 + 1_900_000, "{after:?}");
        namespace.ip("mptcp endpoint change id 9 nobackup").unwrap();
        wait_until("we have heard of it", || !us.info().unwrap().subflows[1].backup);
        wait_until("both carry data again", || {
            pass(&us, &them);
            let now = carried(&us);
            now[1].0 > after[1].0 && now[1].1 > after[1].1
        });
        exchange(&us, &them, &pattern(10), &pattern(10));
    });
}

/// A join with the backup flag, from Linux and from mptcplab, carries no data.
#[test]
fn backups_from_the_start() {
    Fixture::paths(2).run(|namespace, driver| {
        namespace.ip(&format!("mptcp endpoint add {} subflow backup", linux(2))).unwrap();
        let config = Config { announce: Some(Vec::new()), ..Config::default() };
        let listener = MptcpListener::bind(&driver, PORT, config).unwrap();
        let them = namespace.connect(at(ours(1)), Protocol::Mptcp).unwrap();
        let (us, _) = listener.accept().unwrap();
        greet(&them, &us);
        wait_until("Linux has joined", || established(&us) == 2);
        assert!(us.info().unwrap().subflows[1].backup);
        pass(&us, &them);
        assert_eq!(carried(&us)[1], (0, 0));
        drop((us, them));
        namespace.ip("mptcp endpoint flush").unwrap();

        let theirs = namespace.listen(at(linux(1)), Protocol::Mptcp);
        let backups = driver.addresses().iter().filter(|known| known.device == "path2");
        let config = Config { backups: backups.map(|known| known.interface).collect(), ..Config::default() };
        let us = MptcpStream::connect(&driver, at(linux(1)), config).unwrap();
        let (them, _) = theirs.accept().unwrap();
        greet(&us, &them);
        wait_until("we have joined", || established(&us) == 2 && linux_subflows(&them) == Some(1));
        pass(&us, &them);
        assert_eq!(carried(&us)[1], (0, 0));
    });
}

/// The only regular path is removed, and the backup carries everything.
#[test]
fn a_backup_is_used_when_nothing_else_works() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = theirs(&namespace);
        let (us, them) = two(&driver, &listener);
        let ids: Vec<InterfaceId> = us.info().unwrap().subflows.iter().map(|s| s.interface).collect();
        driver.set_backup(ids[1], true).unwrap();
        greet(&us, &them);
        driver.set_interface(ids[0], false).unwrap();
        pass(&us, &them);
        let carried = carried(&us);
        assert!(carried[1].0 >= 2_000_000 && carried[1].1 >= 2_000_000, "{carried:?}");
    });
}

/// mptcplab's REMOVE_ADDR closes the subflow at Linux, which continues on the other one.
#[test]
fn we_remove_an_address() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = theirs(&namespace);
        let (us, them) = two(&driver, &listener);
        let gone = second(&us);
        driver.set_interface(gone, false).unwrap();
        wait_until("Linux has closed it", || linux_subflows(&them) == Some(0));
        pass(&us, &them);
        driver.set_interface(gone, true).unwrap();
        wait_until("it has joined again", || established(&us) == 2 && linux_subflows(&them) == Some(1));
        ferry(&us, &them, 300_000, 300_000, "removed and joined again");
    });
}

/// Linux's REMOVE_ADDR (`ip mptcp endpoint delete`), for an address that it joined from and for one that it announced.
#[test]
fn linux_removes_an_address() {
    Fixture::paths(2).run(|namespace, driver| {
        let (us, them) = two_of_linux(&namespace, &driver);
        namespace.ip("mptcp endpoint delete id 9").unwrap();
        wait_until("the subflow is closed here", || established(&us) == 1);
        pass(&us, &them);
        exchange(&us, &them, &pattern(10), &pattern(10));

        namespace.ip(&format!("mptcp endpoint add {} id 7 signal", linux(2))).unwrap();
        let listener = namespace.listen(at("0.0.0.0".parse().unwrap()), Protocol::Mptcp);
        let interfaces = vec![driver.addresses()[0].interface];
        let config = Config { interfaces: Some(interfaces), announce: Some(Vec::new()), ..Config::default() };
        let us = MptcpStream::connect(&driver, at(linux(1)), config).unwrap();
        let (them, _) = listener.accept().unwrap();
        greet(&us, &them);
        wait_until("we have joined", || established(&us) == 2);
        namespace.ip("mptcp endpoint delete id 7").unwrap();
        wait_until("the subflow is closed here", || established(&us) == 1);
        pass(&us, &them);
        assert_eq!(us.info().unwrap().add_addr_accepted, 0);
    });
}

/// A RST closes only its own subflow at Linux, whichever of the two it is.
#[test]
fn we_reset_one_subflow() {
    within(LIMIT, || {
        for which in [0, 1] {
            let Some((namespace, driver)) = Fixture::paths(2).build() else { return };
            let listener = theirs(&namespace);
            let (us, them) = two(&driver, &listener);
            us.close_subflow(us.info().unwrap().subflows[which].id).unwrap();
            wait_until("Linux has closed it", || {
                linux_info(&them).is_some_and(|info| info.subflows == 0 || which == 0)
            });
            pass(&us, &them);
            ferry(&us, &them, 300_000, 300_000, &format!("without subflow {which}"));
        }
    });
}

/// Each of two paths goes silent during a transfer. The other one continues, and the path is used again after its
/// return.
#[test]
fn a_path_goes_silent_and_comes_back() {
    within(LIMIT, || {
        for silent in [1_u8, 2] {
            let Some((namespace, driver)) = Fixture::paths(2).build() else { return };
            let listener = theirs(&namespace);
            let (us, them) = two(&driver, &listener);
            pass(&us, &them);
            namespace.ip(&format!("link set path{silent} down")).unwrap();
            pass(&us, &them);
            let index = usize::from(silent) - 1;
            let before = carried(&us)[index];
            namespace.ip(&format!("link set path{silent} up")).unwrap();
            // A silent path is probed after its retransmission timeout.
            wait_until("it carries data again", || {
                pass(&us, &them);
                let now = carried(&us)[index];
                now.0 > before.0 && now.1 > before.1
            });
            assert_eq!(established(&us), 2);
            ferry(&us, &them, 300_000, 300_000, &format!("path {silent} was silent"));
        }
    });
}

/// Either end aborts with two subflows open: MP_FASTCLOSE closes both at the other end.
#[test]
fn fast_close_over_two_paths() {
    Fixture::paths(2).run(|namespace, driver| {
        let listener = theirs(&namespace);
        let (us, them) = two(&driver, &listener);
        us.abort().unwrap();
        assert_eq!((&them).read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);

        let (us, them) = two(&driver, &listener);
        laboratory::reset_on_close(&them);
        drop(them);
        assert_eq!((&us).read(&mut [0; 9]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        let states = us.info().unwrap().subflows.into_iter().map(|subflow| subflow.state);
        assert!(states.eq([SubflowState::Closed; 2]));
    });
}

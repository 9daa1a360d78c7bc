//! Captures the packets of all emulated devices, the ends of links at hosts, in one pcapng file for
//! Wireshark.
//!
//! Owns a thread that writes the file, so that the thread that forwards packets (`driver`) never waits for a
//! disk. Packets that arrive faster than the disk accepts them are skipped and counted.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mptcp_live::Capture;

/// Maximum number of queued packets.
const WAITING: usize = 16_384;

type Packet = (Duration, usize, Vec<u8>);

/// A running capture.
#[derive(Debug)]
pub struct Recording {
    packets: SyncSender<Packet>,
    left_out: Arc<AtomicU64>,
    writer: JoinHandle<io::Result<()>>,
}

impl Recording {
    /// Creates the file, with one interface per name in `devices`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn start(path: &Path, devices: &[String]) -> io::Result<Self> {
        let mut capture = Capture::create(path, devices.iter().map(String::as_str))?;
        let (packets, waiting) = mpsc::sync_channel::<Packet>(WAITING);
        let writer = std::thread::Builder::new().name("mptcplab-pcap".to_owned()).spawn(move || {
            for (at, device, packet) in waiting {
                capture.record_at(at, device, &packet);
            }
            capture.finish()
        })?;
        Ok(Self { packets, left_out: Arc::default(), writer })
    }

    /// Queues a packet that a device sent or received now.
    pub(crate) fn keep(&self, device: usize, packet: &[u8]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        if self.packets.try_send((now, device, packet.to_vec())).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Completes the file. Returns the number of skipped packets.
    ///
    /// # Errors
    /// A write error.
    pub(crate) fn finish(self) -> io::Result<u64> {
        drop(self.packets);
        let ended = self.writer.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("the thread of the capture panicked")))?;
        Ok(self.left_out.load(Ordering::Relaxed))
    }
}

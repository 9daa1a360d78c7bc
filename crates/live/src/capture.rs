//! Packet capture of a driver, the thread that runs an endpoint: a pcapng file for Wireshark, with one
//! interface block per device.
//!
//! Owns the file. Never stops the driver: after an error it writes nothing more, and `finish` returns the
//! error.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mptcp_wire::Packet;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};

/// if_tsresol: nanoseconds.
const NANOSECONDS: u8 = 9;

/// An open capture.
pub struct Capture {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    failed: Option<io::Error>,
}

impl Capture {
    /// Creates the file, with one interface block per device.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create<'a>(path: &Path, devices: impl Iterator<Item = &'a str>) -> io::Result<Self> {
        let file = File::create(path).map_err(|error| explain(path, &error))?;
        let mut writer =
            PcapNgWriter::new(BufWriter::with_capacity(1 << 20, file)).map_err(|error| told(path, error))?;
        for device in devices {
            let block = InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: 0,
                options: vec![
                    InterfaceDescriptionOption::IfName(device.into()),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            };
            writer.write_pcapng_block(block).map_err(|error| told(path, error))?;
        }
        Ok(Self { path: path.to_owned(), writer, failed: None })
    }

    /// Writes a packet that the device sent or received now.
    pub(crate) fn record(&mut self, device: usize, packet: &[u8]) {
        // Times before 1970 become 1970.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        self.record_at(now, device, packet);
    }

    /// As `record`, at a time since 1970.
    pub fn record_at(&mut self, at: Duration, device: usize, packet: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let block = EnhancedPacketBlock {
            interface_id: device as u32,
            timestamp: at,
            original_len: packet.len() as u32,
            data: packet.into(),
            options: Vec::new(),
        };
        self.failed = self.writer.write_pcapng_block(block).err().map(|error| told(&self.path, error));
    }

    /// Writes a packet with the checksum that the kernel computes or has verified.
    pub(crate) fn complete(&mut self, device: usize, packet: &Packet) {
        let mut bytes = Vec::with_capacity(packet.length());
        // A packet that cannot be encoded is not sent either.
        if packet.emit(&mut bytes).is_ok() {
            self.record(device, &bytes);
        }
    }

    /// Flushes the file, and returns the first error.
    ///
    /// # Errors
    /// The first write error.
    pub fn finish(self) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.writer.into_inner().flush().map_err(|error| explain(&self.path, &error))
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Capture({})", self.path.display())
    }
}

fn explain(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write the capture {}: {error}", path.display()))
}

fn told(path: &Path, error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => explain(path, &error),
        other => explain(path, &io::Error::other(other.to_string())),
    }
}

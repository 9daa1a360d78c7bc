//! Packets as a capture tool would see them: pcapng, one file for each host and interface.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration as StdDuration;

use mptcp::InterfaceId;
use mptcp_clock::Instant;
use mptcp_wire::{Packet, Segment};
use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};

use super::host::Host;

/// Why a capture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file system said no.
    #[error("cannot write the capture {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The capture library said no.
    #[error("cannot write the capture {path}: {source}")]
    Format {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: pcap_file::PcapError,
    },
}

#[derive(Debug)]
struct Interface {
    name: String,
    packets: Vec<(Instant, Vec<u8>)>,
}

#[derive(Debug)]
pub(super) struct Captures {
    /// By host and interface.
    interfaces: Vec<Vec<Interface>>,
}

impl Captures {
    pub(super) fn new(hosts: &[Host]) -> Self {
        let of_host = |host: &Host| {
            let names = host.interface_names.iter();
            names
                .map(|name| Interface { name: format!("{}-{name}", host.name), packets: Vec::new() })
                .collect()
        };
        Self { interfaces: hosts.iter().map(of_host).collect() }
    }

    pub(super) fn record(&mut self, now: Instant, host: usize, interface: InterfaceId, segment: &Segment) {
        let Some(interface) = self.interfaces.get_mut(host).and_then(|i| i.get_mut(interface.0 as usize))
        else {
            return;
        };
        let mut bytes = Vec::with_capacity(segment.packet_length());
        // A segment that cannot be encoded would be a bug of ours; the identity test finds it.
        if Packet::new(segment.clone()).emit(&mut bytes).is_ok() {
            interface.packets.push((now, bytes));
        }
    }

    pub(super) fn write(&self, directory: &Path) -> Result<Vec<PathBuf>, CaptureError> {
        let mut written = Vec::new();
        for interface in self.interfaces.iter().flatten() {
            let path = directory.join(format!("{}.pcapng", interface.name));
            let file =
                File::create(&path).map_err(|source| CaptureError::Io { path: path.clone(), source })?;
            let mut out = BufWriter::new(file);
            write_interface(&mut out, interface)
                .map_err(|source| CaptureError::Format { path: path.clone(), source })?;
            out.flush().map_err(|source| CaptureError::Io { path: path.clone(), source })?;
            written.push(path);
        }
        Ok(written)
    }
}

fn write_interface(out: &mut impl Write, interface: &Interface) -> Result<(), pcap_file::PcapError> {
    let mut writer = PcapNgWriter::new(out)?;
    writer.write_pcapng_block(InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: 0,
        options: vec![
            InterfaceDescriptionOption::IfName(interface.name.as_str().into()),
            // Nanoseconds.
            InterfaceDescriptionOption::IfTsResol(9),
        ],
    })?;
    for (at, bytes) in &interface.packets {
        writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: StdDuration::from_nanos(at.as_nanos()),
            original_len: bytes.len() as u32,
            data: bytes.as_slice().into(),
            options: Vec::new(),
        })?;
    }
    Ok(())
}

//! Packet captures of a run for Wireshark, written during the run: one pcapng file per host and interface, or one in
//! memory with all interfaces.
//!
//! Owns the files. Each has a temporary name until it is complete, so incomplete files are never visible under
//! the final name. A symbolic link in place of a file is replaced, never followed.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Error, Write};
use std::path::{Path, PathBuf};
use std::time::Duration as StdDuration;

use mptcp::InterfaceId;
use mptcp_clock::Instant;
use mptcp_wire::{Packet, Segment};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};

use super::host::Host;

/// An error of a capture.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the capture {path}: {source}")]
pub struct CaptureError {
    /// The file.
    pub path: PathBuf,
    /// The error of the system.
    pub source: Error,
}

/// One open file.
struct Interface {
    path: PathBuf,
    temporary: PathBuf,
    /// Taken when the file is complete.
    writer: Option<PcapNgWriter<BufWriter<File>>>,
}

impl std::fmt::Debug for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Interface({})", self.path.display())
    }
}

/// Bytes of a packet block without packet and comments, at most.
const BLOCK: usize = 40;
/// Bytes of a packet that a capture in memory keeps: all headers, and some of the payload.
const SNAP: usize = 256;
/// Bytes of a comment without its text, at most.
const COMMENT: usize = 8;

/// A capture in memory.
struct InMemory {
    writer: PcapNgWriter<Vec<u8>>,
    /// Numbers of interfaces in the file, indexed by host and interface.
    numbers: Vec<Vec<u32>>,
    /// Maximum size of the file, bytes; packets beyond it are omitted.
    most: usize,
    /// Whether packets were omitted.
    is_full: bool,
}

/// The place of captured packets.
enum Target {
    /// Files, indexed by host and interface.
    Files(Vec<Vec<Interface>>),
    Memory(InMemory),
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Files(interfaces) => f.debug_tuple("Files").field(interfaces).finish(),
            Self::Memory(memory) => write!(f, "Memory({} B)", memory.writer.get_ref().len()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Captures {
    target: Target,
    /// Packet buffer, reused.
    bytes: Vec<u8>,
    failed: Option<CaptureError>,
}

impl Captures {
    pub(super) fn new(directory: &Path, hosts: &[Host]) -> Result<Self, CaptureError> {
        let mut names = BTreeSet::new();
        let mut interfaces = Vec::new();
        for host in hosts {
            let of_host = host.interface_names.iter().map(|interface| {
                let name = format!("{}-{interface}", host.name);
                Interface::open(directory, &name, &mut names)
            });
            interfaces.push(of_host.collect::<Result<_, _>>()?);
        }
        Ok(Self { target: Target::Files(interfaces), bytes: Vec::new(), failed: None })
    }

    /// A capture in memory of at most `most` bytes.
    pub(super) fn in_memory(hosts: &[Host], most: usize) -> Result<Self, CaptureError> {
        let fail = |error| CaptureError { path: PathBuf::from("memory"), source: reason(error) };
        let mut writer = PcapNgWriter::new(Vec::new()).map_err(fail)?;
        let (mut numbers, mut next) = (Vec::new(), 0);
        for host in hosts {
            let mut own = Vec::new();
            for interface in &host.interface_names {
                let block = description(&format!("{}-{interface}", host.name), SNAP as u32);
                writer.write_pcapng_block(block).map_err(fail)?;
                own.push(next);
                next += 1;
            }
            numbers.push(own);
        }
        let target = Target::Memory(InMemory { writer, numbers, most, is_full: false });
        Ok(Self { target, bytes: Vec::new(), failed: None })
    }

    /// The bytes of a capture in memory, and whether it has all packets; `None` for files.
    pub(super) fn bytes(&self) -> Option<(&[u8], bool)> {
        match &self.target {
            Target::Files(_) => None,
            Target::Memory(memory) => Some((memory.writer.get_ref(), !memory.is_full)),
        }
    }

    /// Writes a packet with comments.
    pub(super) fn record(
        &mut self,
        now: Instant,
        host: usize,
        interface: InterfaceId,
        segment: &Segment,
        comments: Vec<String>,
    ) {
        self.bytes.clear();
        // Encoding never fails; a test checks this for all segments of a run.
        if Packet::new(segment.clone()).emit(&mut self.bytes).is_err() {
            return;
        }
        let at = interface.0 as usize;
        let written = match &mut self.target {
            Target::Files(interfaces) => {
                let file = interfaces.get_mut(host).and_then(|own| own.get_mut(at));
                file.map_or(Ok(()), |file| file.write(now, &self.bytes, comments))
            }
            Target::Memory(memory) => memory.write(now, (host, at), &self.bytes, comments),
        };
        if let (Err(error), None) = (written, &self.failed) {
            self.failed = Some(error);
        }
    }

    /// The first error, returned once.
    pub(super) fn failure(&mut self) -> Option<CaptureError> {
        self.failed.take()
    }

    /// Renames the files to their final names.
    pub(super) fn finish(&mut self) -> Result<Vec<PathBuf>, CaptureError> {
        match &mut self.target {
            Target::Files(interfaces) => interfaces.iter_mut().flatten().map(Interface::finish).collect(),
            Target::Memory(_) => Ok(Vec::new()),
        }
    }
}

impl InMemory {
    fn write(
        &mut self,
        now: Instant,
        (host, interface): (usize, usize),
        bytes: &[u8],
        comments: Vec<String>,
    ) -> Result<(), CaptureError> {
        let number = self.numbers.get(host).and_then(|own| own.get(interface));
        let kept = &bytes[..bytes.len().min(SNAP)];
        let size = BLOCK + kept.len() + comments.iter().map(|said| said.len() + COMMENT).sum::<usize>();
        let Some(&number) = number else { return Ok(()) };
        if self.writer.get_ref().len() + size > self.most {
            self.is_full = true;
            return Ok(());
        }
        let written = self.writer.write_pcapng_block(packet(number, now, (kept, bytes.len()), comments));
        written.map_err(|error| CaptureError { path: PathBuf::from("memory"), source: reason(error) })?;
        Ok(())
    }
}

fn description(name: &str, snaplen: u32) -> InterfaceDescriptionBlock<'static> {
    InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen,
        options: vec![
            InterfaceDescriptionOption::IfName(name.to_owned().into()),
            // Nanoseconds.
            InterfaceDescriptionOption::IfTsResol(9),
        ],
    }
}

fn packet(
    interface: u32,
    now: Instant,
    (bytes, length): (&[u8], usize),
    comments: Vec<String>,
) -> EnhancedPacketBlock<'_> {
    EnhancedPacketBlock {
        interface_id: interface,
        timestamp: StdDuration::from_nanos(now.as_nanos()),
        original_len: length as u32,
        data: bytes.into(),
        options: comments.into_iter().map(|said| EnhancedPacketOption::Comment(said.into())).collect(),
    }
}

impl Interface {
    fn open(directory: &Path, name: &str, names: &mut BTreeSet<String>) -> Result<Self, CaptureError> {
        let mut file_name = safe(name);
        while !names.insert(file_name.clone()) {
            file_name.push('_');
        }
        let path = directory.join(format!("{file_name}.pcapng"));
        let temporary = directory.join(format!(".{file_name}.pcapng.{}.part", std::process::id()));
        let fail = |source| CaptureError { path: path.clone(), source };
        // A killed run can leave this file. The new file is created exclusively, so no symbolic link is
        // followed.
        let _ = std::fs::remove_file(&temporary);
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary).map_err(fail)?;
        let begun = PcapNgWriter::new(BufWriter::with_capacity(1 << 16, file)).and_then(|mut writer| {
            writer.write_pcapng_block(description(name, 0))?;
            Ok(writer)
        });
        let writer = Some(begun.map_err(|error| fail(reason(error)))?);
        Ok(Self { path, temporary, writer })
    }

    fn write(&mut self, now: Instant, bytes: &[u8], comments: Vec<String>) -> Result<(), CaptureError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let written = writer.write_pcapng_block(packet(0, now, (bytes, bytes.len()), comments));
        written.map_err(|error| CaptureError { path: self.path.clone(), source: reason(error) })?;
        Ok(())
    }

    fn finish(&mut self) -> Result<PathBuf, CaptureError> {
        if let Some(writer) = self.writer.take() {
            let mut out = writer.into_inner();
            let whole = out
                .flush()
                .and_then(|()| out.get_ref().sync_all())
                .and_then(|()| std::fs::rename(&self.temporary, &self.path));
            if let Err(source) = whole {
                let _ = std::fs::remove_file(&self.temporary);
                return Err(CaptureError { path: self.path.clone(), source });
            }
        }
        Ok(self.path.clone())
    }
}

impl Drop for Interface {
    /// An incomplete run leaves no files.
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // The buffer is discarded.
            let _ = writer.into_inner().into_parts();
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// A file name for any host name.
fn safe(name: &str) -> String {
    let letter = |letter: char| if letter.is_control() || "/\\:".contains(letter) { '_' } else { letter };
    let name: String = name.chars().map(letter).collect();
    if name.starts_with('.') { format!("_{name}") } else { name }
}

/// The I/O error without the text of the capture library, which calls every error a read error.
fn reason(error: PcapError) -> Error {
    match error {
        PcapError::IoError(error) => error,
        other => Error::other(other),
    }
}

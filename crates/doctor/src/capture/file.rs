//! One capture file: pcap or pcapng, plain or compressed by gzip or zstd, read as a stream.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};
use ruzstd::decoding::StreamingDecoder;

use super::link::LinkType;
use super::segment::{PacketRef, SeenSegment, SourceId};
use super::skipped::{Skipped, Unusable};

/// Bytes of the read buffer at the start, and at most: the largest block that can be read.
const BUFFER: usize = 1 << 20;
const LARGEST_BLOCK: usize = 1 << 24;
/// Length of the shortest pcapng block, bytes: a type and two lengths.
const SHORTEST_BLOCK: u32 = 12;
/// Interfaces of a pcapng section, at most.
const MOST_INTERFACES: usize = 65_536;
const SECOND: u64 = 1_000_000_000;
/// Latest time of a packet, ns since 1970.
const LATEST: u64 = 1 << 62;

/// An error of a capture file.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is no capture.
    #[error(
        "{path}: neither pcap nor pcapng (the first bytes are {start}); capture with tcpdump -w, or Wireshark"
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its first bytes in hexadecimal.
        start: String,
    },
    /// A link type that cannot be read.
    #[error(
        "{path}: link type {number} cannot be read; use Ethernet (1), Linux cooked (113, 276), raw IP (101), loopback (0, 108), PPP (9, 50, 51), IEEE 802.11 (105) or radiotap (127)"
    )]
    Link {
        /// The file.
        path: PathBuf,
        /// The number of the link type.
        number: u32,
    },
    /// The file is damaged from a position on.
    #[error("{path}: damaged after packet {packet}: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The last packet that was read.
        packet: u64,
        /// The error.
        what: String,
    },
}

/// An interface of a pcapng section, or of a pcap file.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Option<LinkType>,
    number: u32,
    /// Ticks per second.
    resolution: u64,
    /// Seconds to add to times.
    offset: i64,
}

/// A capture file, read from start to end.
pub struct CaptureFile {
    path: PathBuf,
    file: u16,
    reader: Box<dyn PcapReaderIterator + Send>,
    interfaces: Vec<Interface>,
    /// Interfaces of earlier sections.
    earlier: usize,
    /// The byte order of the present pcapng section; None in a pcap file.
    section: Option<ByteOrder>,
    /// Bytes of the parsed block, which are consumed at the next call.
    parsed: usize,
    packets: u64,
    skipped: Skipped,
    /// Packets of unsupported link types, and one of these types.
    unsupported: Option<u32>,
    warning: Option<CaptureError>,
    is_finished: bool,
    /// Whether the source of bytes ended with an error.
    has_failed: Arc<AtomicBool>,
}

impl std::fmt::Debug for CaptureFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CaptureFile({})", self.path.display())
    }
}

/// One step through a file.
/// The byte order of the numbers in a pcapng section.
#[derive(Clone, Copy, Debug)]
enum ByteOrder {
    LittleEndian,
    BigEndian,
}

impl ByteOrder {
    /// The length field of the block at the start of `data`; the largest number if it is missing.
    fn length(self, data: &[u8]) -> u32 {
        let Some(field) = data.get(4..8).and_then(|field| <[u8; 4]>::try_from(field).ok()) else {
            return u32::MAX;
        };
        match self {
            Self::LittleEndian => u32::from_le_bytes(field),
            Self::BigEndian => u32::from_be_bytes(field),
        }
    }
}

enum Step {
    /// A segment.
    Segment(Box<SeenSegment>),
    /// A block without a usable segment.
    Other,
    /// More bytes are required.
    Incomplete,
    End,
    Failed(String),
}

impl CaptureFile {
    /// Opens a file; `file` is its number in [`PacketRef`].
    ///
    /// # Errors
    /// The file cannot be read, or is no capture.
    pub fn open(path: &Path, file: u16) -> Result<Self, CaptureError> {
        let fail = |source| CaptureError::Read { path: path.to_owned(), source };
        let plain = File::open(path).map_err(fail)?;
        Self::from_reader(plain, path, file)
    }

    /// Reads a capture from any source of bytes; `path` appears in errors.
    ///
    /// # Errors
    /// The source cannot be read, or is no capture.
    pub fn from_reader(
        source: impl Read + Send + 'static,
        path: &Path,
        file: u16,
    ) -> Result<Self, CaptureError> {
        let fail = |source| CaptureError::Read { path: path.to_owned(), source };
        let (start, stream) = peek(source).map_err(fail)?;
        let (start, stream): (Vec<u8>, Box<dyn Read + Send>) = if start.starts_with(&[0x1f, 0x8b]) {
            peek(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, stream))).map_err(fail)?
        } else if start == [0x28, 0xb5, 0x2f, 0xfd] {
            let decoder = StreamingDecoder::new(BufReader::with_capacity(BUFFER, stream))
                .map_err(|error| fail(io::Error::other(error.to_string())))?;
            peek(decoder).map_err(fail)?
        } else {
            (start, stream)
        };
        if start.is_empty() {
            let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
            return Err(fail(source));
        }
        let has_failed = Arc::new(AtomicBool::new(false));
        let stream = Ending { source: stream, has_failed: Arc::clone(&has_failed) };
        let reader = create_reader(BUFFER, stream).map_err(|error| match error {
            PcapError::ReadError => fail(io::Error::other("cannot be read")),
            _ => CaptureError::Format {
                path: path.to_owned(),
                start: start.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
            },
        })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            reader,
            interfaces: Vec::new(),
            earlier: 0,
            section: None,
            parsed: 0,
            packets: 0,
            skipped: Skipped::default(),
            unsupported: None,
            warning: None,
            is_finished: false,
            has_failed,
        })
    }

    /// Packets read so far, usable or not.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets without a usable segment so far.
    #[must_use]
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Its path or name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reason why the file ended early; or the link type of packets that could not be read.
    pub fn take_warning(&mut self) -> Option<CaptureError> {
        self.warning.take().or_else(|| {
            let number = self.unsupported.take()?;
            Some(CaptureError::Link { path: self.path.clone(), number })
        })
    }

    /// The next segment; None at the end, which may be early ([`Self::take_warning`]).
    pub fn next_segment(&mut self) -> Option<Box<SeenSegment>> {
        while !self.is_finished {
            match self.step() {
                Step::Segment(segment) => return Some(segment),
                Step::Other => {}
                Step::Incomplete => self.refill(),
                Step::End | Step::Failed(_) if self.has_failed.load(Ordering::Relaxed) => {
                    self.fail("the compressed data or the file cannot be read further".to_owned());
                }
                Step::End => self.is_finished = true,
                Step::Failed(what) => self.fail(what),
            }
        }
        None
    }

    fn fail(&mut self, what: String) {
        self.is_finished = true;
        self.warning = Some(CaptureError::Damaged { path: self.path.clone(), packet: self.packets, what });
    }

    /// Reads more bytes; a block that fits no buffer ends the file.
    fn refill(&mut self) {
        let held = self.reader.data().len();
        if self.reader.refill().is_err() {
            return self.fail("the compressed data or the file cannot be read further".to_owned());
        }
        // Without more bytes at the end of the file, the next step finds that.
        if self.reader.data().len() > held || self.reader.reader_exhausted() {
            return;
        }
        let size = held.max(BUFFER) * 2;
        if size > LARGEST_BLOCK || !self.reader.grow(size) {
            self.fail(format!("a block is larger than {LARGEST_BLOCK} bytes"));
        }
    }

    /// Parses the next block.
    fn step(&mut self) -> Step {
        if self.parsed > 0 {
            self.reader.consume(self.parsed);
            self.parsed = 0;
        }
        let is_empty = self.reader.data().is_empty();
        if self.section.is_some_and(|order| order.length(self.reader.data()) < SHORTEST_BLOCK) {
            // The parser would subtract the frame of the block from its length.
            return Step::Failed("a block has an invalid length or content".to_owned());
        }
        let block = match self.reader.next() {
            Ok((length, block)) => {
                self.parsed = length;
                block
            }
            Err(PcapError::Eof) => return Step::End,
            Err(PcapError::Incomplete(_) | PcapError::BufferTooSmall) => return Step::Incomplete,
            Err(PcapError::UnexpectedEof) if is_empty => return Step::End,
            Err(PcapError::UnexpectedEof) => {
                return Step::Failed("it ends within a packet".to_owned());
            }
            Err(PcapError::ReadError) => {
                return Step::Failed("the compressed data or the file cannot be read further".to_owned());
            }
            Err(PcapError::HeaderNotRecognized) => {
                return Step::Failed("the block is neither pcap nor pcapng".to_owned());
            }
            Err(_) => return Step::Failed("a block has an invalid length or content".to_owned()),
        };
        let mut context = Context {
            file: self.file,
            interfaces: &mut self.interfaces,
            earlier: &mut self.earlier,
            section: &mut self.section,
            packets: &mut self.packets,
            unsupported: &mut self.unsupported,
        };
        match context.read(&block) {
            None => Step::Other,
            Some(Ok(segment)) => Step::Segment(Box::new(segment)),
            Some(Err(why)) => {
                self.skipped.count(why);
                Step::Other
            }
        }
    }
}

/// The fields of a file that a block changes; the block itself borrows the reader.
struct Context<'a> {
    file: u16,
    interfaces: &'a mut Vec<Interface>,
    earlier: &'a mut usize,
    section: &'a mut Option<ByteOrder>,
    packets: &'a mut u64,
    unsupported: &'a mut Option<u32>,
}

impl Context<'_> {
    fn read(&mut self, block: &PcapBlockOwned<'_>) -> Option<Result<SeenSegment, Unusable>> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let resolution = if header.is_nanosecond_precision() { SECOND } else { 1_000_000 };
                // The upper bits are the length of the frame check sequence.
                let number = header.network.0.cast_unsigned() & 0xffff;
                self.interfaces.push(Interface {
                    link: LinkType::from_number(number),
                    number,
                    resolution,
                    offset: 0,
                });
                None
            }
            PcapBlockOwned::Legacy(packet) => {
                let resolution = self.interfaces.first()?.resolution;
                let fraction = u64::from(packet.ts_usec) * (SECOND / resolution);
                let time = u64::from(packet.ts_sec) * SECOND + fraction;
                let length = usize::try_from(packet.caplen).unwrap_or(usize::MAX).min(packet.data.len());
                Some(self.packet(0, time, &packet.data[..length], packet.origlen))
            }
            PcapBlockOwned::NG(block) => self.next_generation(block),
        }
    }

    fn next_generation(&mut self, block: &Block<'_>) -> Option<Result<SeenSegment, Unusable>> {
        match block {
            Block::SectionHeader(header) => {
                *self.section =
                    Some(if header.big_endian() { ByteOrder::BigEndian } else { ByteOrder::LittleEndian });
                *self.earlier += self.interfaces.len();
                self.interfaces.clear();
                None
            }
            Block::InterfaceDescription(interface) => {
                if self.interfaces.len() < MOST_INTERFACES {
                    let number = interface.linktype.0.cast_unsigned();
                    self.interfaces.push(Interface {
                        link: LinkType::from_number(number),
                        number,
                        resolution: ticks_per_second(interface.if_tsresol),
                        offset: interface.ts_offset(),
                    });
                }
                None
            }
            Block::EnhancedPacket(packet) => {
                let index = usize::try_from(packet.if_id).ok()?;
                let Some(interface) = self.interfaces.get(index) else {
                    *self.packets += 1;
                    return Some(Err(Unusable::Invalid));
                };
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let time = nanoseconds(ticks, interface);
                Some(self.packet(index, time, packet.packet_data(), packet.origlen))
            }
            // A simple packet has no time, and belongs to the first interface.
            Block::SimplePacket(packet) => Some(self.packet(0, 0, packet.packet_data(), packet.origlen)),
            _ => None,
        }
    }

    fn packet(
        &mut self,
        interface: usize,
        time: u64,
        frame: &[u8],
        original: u32,
    ) -> Result<SeenSegment, Unusable> {
        *self.packets += 1;
        let described = self.interfaces.get(interface).ok_or(Unusable::Invalid)?;
        let Some(link) = described.link else {
            *self.unsupported = Some(described.number);
            return Err(Unusable::NotIp);
        };
        let bytes = link.ip_packet(frame)?;
        let original = usize::try_from(original).unwrap_or(usize::MAX);
        let on_wire = original.saturating_sub(frame.len() - bytes.len());
        let packet = PacketRef { file: self.file, number: *self.packets };
        let number = u16::try_from(*self.earlier + interface).unwrap_or(u16::MAX);
        SeenSegment::parse(bytes, on_wire, time, packet, SourceId { file: self.file, interface: number })
    }
}

/// Ticks per second of the option if_tsresol: a power of 10, or of 2 if the highest bit is set. pcap-parser rejects all powers
/// of 2. Values that do not fit mean microseconds, which is the default.
fn ticks_per_second(code: u8) -> u64 {
    let exponent = u32::from(code & 0x7f);
    let ticks = if code & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) };
    ticks.unwrap_or(1_000_000)
}

/// Time since 1970 in ns, at most 2^62, so that sums of times do not overflow.
fn nanoseconds(ticks: u64, interface: &Interface) -> u64 {
    let exact = u128::from(ticks) * u128::from(SECOND) / u128::from(interface.resolution);
    let offset = i128::from(interface.offset) * i128::from(SECOND);
    let time = i128::try_from(exact).unwrap_or(i128::MAX).saturating_add(offset);
    u64::try_from(time.max(0)).unwrap_or(u64::MAX).min(LATEST)
}

/// A reader that ends where its source fails, so that the bytes before are parsed first.
struct Ending<R> {
    source: R,
    has_failed: Arc<AtomicBool>,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_failed.load(Ordering::Relaxed) {
            return Ok(0);
        }
        self.source.read(buffer).or_else(|_| {
            self.has_failed.store(true, Ordering::Relaxed);
            Ok(0)
        })
    }
}

/// A reader that fills each buffer as far as the source has bytes.
struct Filled<R> {
    source: R,
    /// An error after the bytes that the last call returned.
    error: Option<io::Error>,
}

impl<R: Read> Read for Filled<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        Ok(filled)
    }
}

/// The first four bytes, and a stream that still has them.
fn peek(mut source: impl Read + Send + 'static) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut start = Vec::new();
    source.by_ref().take(4).read_to_end(&mut start)?;
    let stream = io::Cursor::new(start.clone()).chain(source);
    Ok((start, Box::new(Filled { source: stream, error: None })))
}

//! Parses the option field of a TCP header (RFC 9293 section 3.2).
//!
//! Owns the loop over kinds and lengths. Keeps the received bytes if the fields cannot represent them. Uses the last of
//! several equal kinds, but all MPTCP options other than DSS.

use super::{Cookie, Options, Sack, Timestamps, kind};
use crate::Seq;
use crate::cursor::Reader;
use crate::error::OptionError;
use crate::mptcp::parse::{Parsed, parse as parse_mptcp};

impl Options {
    /// Parses the option field of a TCP header: 0 to 40 bytes, a multiple of 4.
    ///
    /// # Errors
    ///
    /// [`OptionError`] names the option and its impossible length. Unknown kinds and unknown MPTCP options are no
    /// errors; only their bytes are kept.
    pub fn parse(bytes: &[u8]) -> Result<Self, OptionError> {
        if bytes.len() > Self::SPACE || !bytes.len().is_multiple_of(4) {
            return Err(OptionError::Space { length: bytes.len() });
        }
        let mut options = Self::default();
        options.read(bytes)?;
        let canonical = options.emit().is_ok_and(|emitted| emitted.as_slice() == bytes);
        options.verbatim = (!canonical).then(|| bytes.into());
        Ok(options)
    }

    /// Parses an option field of which a capture may have kept only the start. Returns the options before the first
    /// one that is incomplete or invalid, and its error. Never keeps the received bytes.
    #[must_use]
    pub fn parse_partial(bytes: &[u8]) -> (Self, Option<OptionError>) {
        let mut options = Self::default();
        let error = options.read(&bytes[..bytes.len().min(Self::SPACE)]).err();
        (options, error)
    }

    /// Parses option by option up to the end or the first error.
    fn read(&mut self, bytes: &[u8]) -> Result<(), OptionError> {
        let mut reader = Reader::new(bytes);
        while let Some(kind) = reader.u8() {
            let offset = bytes.len() - reader.len() - 1;
            match kind {
                kind::END => break,
                kind::NOP => continue,
                _ => {}
            }
            let room = reader.len() + 1;
            let length = reader.u8().ok_or(OptionError::NoLength { kind, offset })?;
            let body = usize::from(length)
                .checked_sub(2)
                .and_then(|size| reader.take(size))
                .ok_or(OptionError::Length { kind, offset, length, room })?;
            self.understand(kind, body).map_err(|(name, expected)| OptionError::Size {
                kind,
                name,
                offset,
                length,
                expected,
            })?;
        }
        Ok(())
    }

    /// Parses one option. The error holds the option's name and its valid lengths.
    fn understand(&mut self, kind: u8, body: &[u8]) -> Result<(), (&'static str, &'static str)> {
        let mut reader = Reader::new(body);
        match kind {
            kind::MSS => {
                let mss = reader.u16().filter(|_| reader.is_empty());
                self.mss = Some(mss.ok_or(("maximum segment size", "4"))?);
            }
            kind::WINDOW_SCALE => {
                let shift = reader.u8().filter(|_| reader.is_empty());
                self.window_scale = Some(shift.ok_or(("window scale", "3"))?);
            }
            kind::SACK_PERMITTED => {
                self.sack_permitted = true;
                reader.is_empty().then_some(()).ok_or(("SACK permitted", "2"))?;
            }
            kind::SACK => self.sack = sack(reader).ok_or(("SACK", "10, 18, 26 or 34"))?,
            kind::TIMESTAMPS => {
                self.timestamps = Some(timestamps(reader).ok_or(("timestamps", "10"))?);
            }
            // Other sizes (RFC 7413) are treated as an unknown kind.
            kind::FAST_OPEN if matches!(body.len(), 0 | 4 | 6 | 8 | 10 | 12 | 14 | 16) => {
                self.fast_open = Cookie::try_from(body).ok();
                self.fast_open_experimental = false;
            }
            kind::EXPERIMENT
                if body.starts_with(&kind::FAST_OPEN_MAGIC)
                    && matches!(body.len(), 2 | 6 | 8 | 10 | 12 | 14 | 16 | 18) =>
            {
                self.fast_open = Cookie::try_from(&body[2..]).ok();
                self.fast_open_experimental = true;
            }
            kind::MPTCP => match parse_mptcp(body) {
                Some(Parsed::Dss(dss)) => self.dss = Some(dss),
                Some(Parsed::Other(option)) => self.mptcp.push(option),
                None => {}
            },
            _ => {}
        }
        Ok(())
    }
}

/// RFC 2018 section 3.
fn sack(mut reader: Reader<'_>) -> Option<Sack> {
    let mut sack = Sack::new();
    while !reader.is_empty() {
        sack.try_push((Seq::new(reader.u32()?), Seq::new(reader.u32()?))).ok()?;
    }
    (!sack.is_empty()).then_some(sack)
}

/// RFC 7323 section 3.2.
fn timestamps(mut reader: Reader<'_>) -> Option<Timestamps> {
    let timestamps = Timestamps { value: reader.u32()?, echo: reader.u32()? };
    reader.is_empty().then_some(timestamps)
}

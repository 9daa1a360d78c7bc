//! Encodes the option field of a TCP header.
//!
//! Owns order and padding, which follow Linux: NOPs pad every option to 32-bit words. `Options::length` returns the
//! exact length of the result. Never drops an option to make space.

use arrayvec::ArrayVec;

use super::{Options, Timestamps, kind};
use crate::error::EmitError;

/// An option field during or after encoding.
#[derive(Default)]
pub(crate) struct Field(ArrayVec<u8, { Options::SPACE }>);

impl Field {
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), EmitError> {
        let length = self.0.len() + bytes.len();
        self.0.try_extend_from_slice(bytes).map_err(|_| EmitError::OptionSpace { length })
    }

    /// Appends NOPs after an option, up to the next multiple of 4 bytes.
    fn pad(&mut self) -> Result<(), EmitError> {
        while !self.0.len().is_multiple_of(4) {
            self.put(&[kind::NOP])?;
        }
        Ok(())
    }
}

impl Options {
    /// Encodes the option field, with [`Self::length`] bytes.
    ///
    /// # Errors
    ///
    /// [`EmitError::OptionSpace`] beyond [`Self::SPACE`] bytes; [`EmitError::Form`] if no form of an MPTCP option can
    /// carry its fields.
    pub fn emit(&self) -> Result<ArrayVec<u8, { Self::SPACE }>, EmitError> {
        let length = self.length();
        if length > Self::SPACE {
            return Err(EmitError::OptionSpace { length });
        }
        let mut field = Field::default();
        match self.as_received() {
            Some(verbatim) => field.put(verbatim)?,
            None => self.emit_fields(&mut field)?,
        }
        Ok(field.0)
    }

    fn emit_fields(&self, field: &mut Field) -> Result<(), EmitError> {
        use kind::{FAST_OPEN, MSS, NOP, SACK, SACK_PERMITTED, TIMESTAMPS, WINDOW_SCALE};
        if let Some(mss) = self.mss {
            field.put(&[MSS, 4])?;
            field.put(&mss.to_be_bytes())?;
        }
        match (self.sack_permitted, self.timestamps.is_some()) {
            (true, true) => field.put(&[SACK_PERMITTED, 2])?,
            (true, false) => field.put(&[NOP, NOP, SACK_PERMITTED, 2])?,
            (false, true) => field.put(&[NOP, NOP])?,
            (false, false) => {}
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            field.put(&[TIMESTAMPS, 10])?;
            field.put(&value.to_be_bytes())?;
            field.put(&echo.to_be_bytes())?;
        }
        if let Some(shift) = self.window_scale {
            field.put(&[NOP, WINDOW_SCALE, 3, shift])?;
        }
        if let Some(cookie) = &self.fast_open {
            if self.fast_open_experimental {
                field.put(&[kind::EXPERIMENT, 4 + cookie.len() as u8])?;
                field.put(&kind::FAST_OPEN_MAGIC)?;
            } else {
                field.put(&[FAST_OPEN, 2 + cookie.len() as u8])?;
            }
            field.put(cookie)?;
            field.pad()?;
        }
        if !self.sack.is_empty() {
            field.put(&[NOP, NOP, SACK, 2 + 8 * self.sack.len() as u8])?;
            for (left, right) in &self.sack {
                field.put(&left.value().to_be_bytes())?;
                field.put(&right.value().to_be_bytes())?;
            }
        }
        if let Some(dss) = &self.dss {
            dss.emit(field)?;
            field.pad()?;
        }
        for option in &self.mptcp {
            option.emit(field)?;
            field.pad()?;
        }
        Ok(())
    }
}

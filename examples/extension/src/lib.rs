//! What another crate adds to the laboratory: one file for each thing, and one line here.
//!
//! Owns the list. Uses the public interface alone.
#![forbid(unsafe_code)]

mod blest;
mod clamp_window;
mod ecf;
mod every_nth;
mod head_drop;
mod think;

use mptcp_lab::{Registry, RegistryError};

/// All that comes with mptcplab, and all that comes from here.
///
/// # Errors
/// A name that mptcplab has by now.
pub fn registry() -> Result<Registry, RegistryError> {
    Registry::new()
        .middlebox("clamp-window", clamp_window::ABOUT, clamp_window::read)?
        .loss("every-nth", every_nth::ABOUT, every_nth::read)?
        .queue("head-drop", head_drop::ABOUT, head_drop::read)?
        .application("think", think::ABOUT, think::read)?
        .scheduler("ecf", ecf::ABOUT, ecf::make)?
        .scheduler("blest", blest::ABOUT, blest::make)
}

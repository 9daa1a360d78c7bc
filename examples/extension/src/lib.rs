//! An example of a crate that extends the laboratory: one file per extension, and one line here.
//!
//! Owns the registry. Uses only the public interface.
#![forbid(unsafe_code)]

mod clamp_window;
mod every_nth;
mod head_drop;
mod least_filled;
mod think;

use mptcp_lab::{Registry, RegistryError};

/// The registry with the built-in kinds and those of this crate.
///
/// # Errors
/// A name that mptcplab has in the meantime.
pub fn registry() -> Result<Registry, RegistryError> {
    Registry::new()
        .middlebox("clamp-window", clamp_window::ABOUT, clamp_window::read)?
        .loss("every-nth", every_nth::ABOUT, every_nth::read)?
        .queue("head-drop", head_drop::ABOUT, head_drop::read)?
        .application("think", think::ABOUT, think::read)?
        .scheduler("least-filled", least_filled::ABOUT, least_filled::make)
}

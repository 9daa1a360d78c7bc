//! Reads regular files up to a maximum size: scenario files and recordings.
//!
//! Owns the checks before reading, because a pipe or device could block the reader, or never end.

use std::io::Read as _;
use std::path::Path;

/// The bytes of a regular file of at most `most` bytes, or the reason of the failure.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    // Opening some devices has side effects, so the type is checked first.
    checked(&std::fs::metadata(path).map_err(|error| reason(&error))?)?;
    let file = open(path).map_err(|error| reason(&error))?;
    // Between the check and the opening, the name may have been given to another file.
    let kind = file.metadata().map_err(|error| reason(&error))?;
    checked(&kind)?;
    let mut bytes = Vec::new();
    // Kernel files report no length, and some never end.
    if kind.len() > 0 {
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    }
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than the limit of {} MiB", most >> 20));
    }
    Ok(bytes)
}

/// Opens a file without blocking. Opening a pipe would otherwise block until the pipe has a writer.
fn open(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        /// `O_NONBLOCK` of Linux (asm-generic/fcntl.h).
        const NONBLOCK: i32 = 0o4000;
        options.custom_flags(NONBLOCK);
    }
    options.open(path)
}

fn checked(kind: &std::fs::Metadata) -> Result<(), String> {
    if kind.is_dir() {
        return Err("this is a directory, not a file".to_owned());
    }
    if !kind.is_file() {
        return Err("this is a pipe or a device, not a regular file".to_owned());
    }
    Ok(())
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "this is a directory, not a file".to_owned(),
        _ => error.to_string(),
    }
}

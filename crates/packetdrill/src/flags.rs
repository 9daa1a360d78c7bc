//! Parses packetdrill's option `--so_flags`, which configures this library.
//!
//! Owns the format: `key=value` pairs between commas. Never opens the files that the flags name.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The library's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flags {
    /// Addresses of the host. Connections use the first one of each family.
    pub(crate) local: Vec<IpAddr>,
    /// Maximum IP packet size, in bytes.
    pub(crate) mtu: u16,
    /// File with the script's commands; see `settings`.
    pub(crate) settings: Option<PathBuf>,
    /// File to write the counters to.
    pub(crate) counters: Option<PathBuf>,
    /// Maximum time to wait for an outgoing packet.
    pub(crate) patience: Duration,
    /// Seed for keys and sequence numbers.
    pub(crate) seed: u64,
}

impl Flags {
    /// Parses the flags. The error message names the wrong value and the expected one.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut flags = Self {
            local: Vec::new(),
            mtu: 1500,
            settings: None,
            counters: None,
            patience: Duration::from_secs(5),
            seed: 1,
        };
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(format!("--so_flags: {pair:?}: must be key=value"));
            };
            let wrong = |right: &str| format!("--so_flags: {key}={value}: {right}");
            match key {
                "local" => flags.local.push(value.parse().map_err(|_| wrong("must be an IP address"))?),
                "mtu" => {
                    let mtu = value.parse().ok().filter(|&mtu| mtu >= 576);
                    flags.mtu = mtu.ok_or_else(|| wrong("must be 576 to 65535 bytes"))?;
                }
                "settings" => flags.settings = Some(value.into()),
                "counters" => flags.counters = Some(value.into()),
                "patience" => {
                    let seconds = value.parse().map_err(|_| wrong("must be a whole number of seconds"))?;
                    flags.patience = Duration::from_secs(seconds);
                }
                "seed" => flags.seed = value.parse().map_err(|_| wrong("must be a number"))?,
                _ => {
                    return Err(format!(
                        "--so_flags: {key}: unknown flag; use local, mtu, settings, counters, patience or seed"
                    ));
                }
            }
        }
        if flags.local.is_empty() {
            return Err("--so_flags: local=ADDRESS is missing; the stack needs an address".to_owned());
        }
        Ok(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::Flags;

    #[test]
    fn all_flags_are_read() -> Result<(), String> {
        let flags = Flags::parse("local=192.168.0.1,local=fd00::1,mtu=1520,settings=/tmp/s,seed=7")?;
        assert_eq!(flags.local.len(), 2);
        assert_eq!((flags.mtu, flags.seed), (1520, 7));
        assert_eq!(flags.settings.as_deref().and_then(|path| path.to_str()), Some("/tmp/s"));
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("", "local=ADDRESS is missing"),
            ("local=here", "must be an IP address"),
            ("local", "\"local\": must be key=value"),
            ("local=10.0.0.1,mtu=9", "576 to 65535"),
            ("local=10.0.0.1,speed=9", "speed: unknown flag"),
        ] {
            let message = Flags::parse(text).err().unwrap_or_default();
            assert!(message.contains(named), "{text}: {message}");
        }
    }
}

//! MPTCP endpoints in the words of `ip mptcp endpoint` (iproute2, ip-mptcp(8)): the parameter `endpoints` of the path
//! manager `kernel`, which follows Linux's rules.
//!
//! Owns the text form and its errors. Never decides about subflows; the file `kernel.rs` does.

use std::net::IpAddr;

use crate::path_manager::LocalAddress;

/// Maximum number of endpoints, as in Linux (`MPTCP_PM_ADDR_MAX`).
pub(crate) const MAX_ENDPOINTS: usize = 8;

/// The local addresses of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One address.
    Address(IpAddr),
    /// The addresses of one interface, by its number.
    Device(u32),
    /// Every address.
    Any,
}

/// An endpoint: local addresses, and their use. The flags are those of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    place: Place,
    /// Announced to the peer by ADD_ADDR.
    pub signal: bool,
    /// Source of one subflow to the peer's initial address.
    pub subflow: bool,
    /// Source of one subflow to an address that the peer announces.
    pub laminar: bool,
    /// Its subflows have backup priority.
    pub backup: bool,
    /// Source of a subflow to each address of the peer.
    pub fullmesh: bool,
}

impl Endpoint {
    /// Whether a local address belongs to the endpoint.
    #[must_use]
    pub fn has(&self, local: &LocalAddress) -> bool {
        match self.place {
            Place::Address(address) => local.address == address,
            Place::Device(number) => local.interface.0 == number,
            Place::Any => true,
        }
    }

    /// Parses endpoints that are separated by commas: `ADDRESS`, `dev NUMBER` or `any`, followed by flags.
    ///
    /// # Errors
    ///
    /// Describes the first problem.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let endpoints: Vec<Self> = parts.map(Self::parse).collect::<Result<_, _>>()?;
        if endpoints.len() > MAX_ENDPOINTS {
            return Err(format!("expected at most {MAX_ENDPOINTS} endpoints, not {}", endpoints.len()));
        }
        Ok(endpoints)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let expected =
            || format!("\"{text}\": expected an address, \"dev NUMBER\" or \"any\" before the flags");
        let place = match words.next() {
            Some("any") => Place::Any,
            Some("dev") => {
                Place::Device(words.next().and_then(|number| number.parse().ok()).ok_or_else(expected)?)
            }
            word => Place::Address(word.and_then(|address| address.parse().ok()).ok_or_else(expected)?),
        };
        let mut endpoint =
            Self { place, signal: false, subflow: false, laminar: false, backup: false, fullmesh: false };
        for word in words {
            let flag = match word {
                "signal" => &mut endpoint.signal,
                "subflow" => &mut endpoint.subflow,
                "laminar" => &mut endpoint.laminar,
                "backup" => &mut endpoint.backup,
                "fullmesh" => &mut endpoint.fullmesh,
                _ => {
                    return Err(format!(
                        "\"{word}\": expected one of signal, subflow, laminar, backup, fullmesh"
                    ));
                }
            };
            *flag = true;
        }
        // Linux: "flags mustn't have both signal and fullmesh".
        if endpoint.signal && endpoint.fullmesh {
            return Err(format!("\"{text}\": signal and fullmesh exclude each other"));
        }
        Ok(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::InterfaceId;

    fn local(id: u8, interface: u32, address: [u8; 4]) -> LocalAddress {
        LocalAddress { id, interface: InterfaceId(interface), address: address.into(), backup: false }
    }

    #[test]
    fn endpoints_have_an_address_or_a_device_and_flags() -> Result<(), String> {
        let parsed = Endpoint::parse_all("10.0.1.1 subflow backup, dev 2 laminar,any fullmesh subflow")?;
        assert_eq!(parsed.len(), 3);
        let (first, second) = (local(0, 1, [10, 0, 1, 1]), local(1, 2, [10, 0, 2, 1]));
        assert!(parsed[0].subflow && parsed[0].backup && !parsed[0].signal && !parsed[0].fullmesh);
        assert!(parsed[0].has(&first) && !parsed[0].has(&second));
        assert!(parsed[1].laminar && parsed[1].has(&second) && !parsed[1].has(&first));
        assert!(parsed[2].fullmesh && parsed[2].has(&first) && parsed[2].has(&second));
        assert_eq!(Endpoint::parse_all("")?, []);
        assert!(Endpoint::parse_all("fd00::1 signal")?[0].signal);
        Ok(())
    }

    #[test]
    fn errors_name_the_word() {
        for (text, problem) in [
            ("subflow", "\"subflow\": expected an address, \"dev NUMBER\" or \"any\" before the flags"),
            ("dev wifi subflow", "\"dev wifi subflow\": expected an address"),
            ("any subflows", "\"subflows\": expected one of signal, subflow, laminar, backup, fullmesh"),
            ("any signal fullmesh", "\"any signal fullmesh\": signal and fullmesh exclude each other"),
            ("any,any,any,any,any,any,any,any,any", "expected at most 8 endpoints, not 9"),
        ] {
            let error = Endpoint::parse_all(text).err().unwrap_or_default();
            assert!(error.starts_with(problem), "{text}: {error}");
        }
    }
}

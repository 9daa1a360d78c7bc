//! Facts about the host of the capture, which the capture itself does not show.

use serde::Deserialize;

/// Facts from the texts of `ip mptcp`, `nstat` and `ss`. Unknown values are absent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct HostFacts {
    /// Limit of additional subflows.
    pub subflow_limit: Option<u32>,
    /// Limit of addresses that are accepted from the peer.
    pub add_addr_accepted: Option<u32>,
    /// Number of endpoints.
    pub endpoints: Option<usize>,
    /// The kernel opens connections as TCP, because SYNs with MPTCP vanished.
    pub blackhole_active: bool,
    /// The connections should be MPTCP: an MPTCP socket was seen by `ss`.
    pub expects_mptcp: bool,
}

impl HostFacts {
    /// Facts from a JSON object with the names of the fields.
    ///
    /// # Errors
    /// The text is not such an object.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("facts about the host: {error}"))
    }
}

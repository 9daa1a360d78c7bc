//! Changes that a person makes on the page. The types equal `Action` in `web/src/engine/types.ts`.

use serde::Deserialize;

/// A change. Rates are bit/s, times seconds, losses 0 to 1, distances metres.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "camelCase", deny_unknown_fields)]
pub enum Action {
    /// New values of a link.
    Link {
        /// The path, link or station.
        link: String,
        /// The direction; both if missing.
        direction: Option<String>,
        /// The values.
        set: LinkValues,
        /// How the link goes down or comes up.
        how: Option<String>,
    },
    /// A further path between the hosts of the first flow.
    #[serde(rename_all = "camelCase")]
    AddPath {
        /// Its name, which must be new.
        name: String,
        /// Rate.
        rate: f64,
        /// Round-trip time.
        rtt: f64,
        /// Loss.
        loss: f64,
        /// Queue limit, frames.
        queue_frames: u64,
    },
    /// A further flow between the hosts of the first flow.
    AddFlow {
        /// Its name, which must be new.
        name: String,
        /// `mptcp`, `tcp` or `udp`.
        transport: String,
        /// The paths that it uses.
        paths: Vec<String>,
        /// Rate of a UDP flow.
        rate: Option<f64>,
    },
    /// A middlebox on a link.
    AddMiddlebox {
        /// Its name, which must be new.
        name: String,
        /// Its kind.
        #[serde(rename = "box")]
        kind: String,
        /// The link.
        link: String,
    },
    /// Switches a middlebox on or off.
    Switch {
        /// The middlebox.
        middlebox: String,
        /// Whether it is active.
        on: bool,
    },
    /// New settings of a flow.
    Policy {
        /// The flow.
        flow: String,
        /// Its scheduler.
        scheduler: Option<String>,
        /// Its congestion controller.
        congestion: Option<String>,
        /// Its receive buffer, bytes.
        rcvbuf: Option<u64>,
        /// Opportunistic retransmission.
        m1: Option<bool>,
        /// Penalisation.
        m2: Option<bool>,
    },
    /// The application of a flow stops writing.
    StopFlow {
        /// The flow.
        flow: String,
    },
}

/// New values of a link; missing ones stay.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LinkValues {
    /// Whether the link is up.
    pub up: Option<bool>,
    /// Rate.
    pub rate: Option<f64>,
    /// One-way delay.
    pub delay: Option<f64>,
    /// Loss.
    pub loss: Option<f64>,
    /// Queue limit, frames.
    pub queue_frames: Option<u64>,
    /// Distance of a station from its access point.
    pub distance: Option<f64>,
}

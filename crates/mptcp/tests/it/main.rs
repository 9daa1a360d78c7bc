//! The protocol in virtual time: two endpoints (`pair`), an endpoint and a peer made by hand (`hand`), and two
//! endpoints to which random operations are done (`arena`).

mod arena;
mod bounds;
mod ending;
mod examples;
mod fast_open;
mod found;
mod hand;
mod handoff;
mod hostile_blind;
mod hostile_handshake;
mod hostile_memory;
mod identity;
mod kernel_policies;
mod large;
mod linux;
mod local_queue;
mod middleboxes;
mod observed;
mod ontime;
mod opening;
mod operations;
mod pair;
mod path_mtu;
mod peer;
mod presets;
mod rates;
mod repairs;
mod sampled;
mod script;
mod scripts;
mod scripts_wrong;
mod strange;
mod theory;
mod transfer;
mod version0;

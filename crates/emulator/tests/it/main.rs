//! The emulator in virtual time: real packets, no device and no clock, so every instant is exact.

mod abilities;
mod controls;
mod links;
mod packets;
mod plans;
mod scenes;
mod wire;

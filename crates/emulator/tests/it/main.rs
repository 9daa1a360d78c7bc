//! Tests of the emulator in virtual time: real packets without devices and clock, so every instant is exact.

mod abilities;
mod controls;
mod links;
mod packets;
mod plans;
mod scenes;
mod wire;

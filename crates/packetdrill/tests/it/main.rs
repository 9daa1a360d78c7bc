//! The library, called as packetdrill calls it.

mod faults;
mod harness;
mod table;
mod tcp;

//! Calls the library as packetdrill does.

mod faults;
mod harness;
mod table;
mod tcp;

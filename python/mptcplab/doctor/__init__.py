"""`mptcplab doctor`: reads captures, and ranks the reasons why an MPTCP connection is slow.

The Rust crate reads the packets and finds the reasons. `planted_captures` generates captures with a known reason.
"""

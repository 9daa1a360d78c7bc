"""Backends, which run the flows of a scenario in real time: on the Linux kernel, and on mptcplab's stack."""

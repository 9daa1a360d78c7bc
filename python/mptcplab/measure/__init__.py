"""Measures the links of this machine with the help of a peer, and describes them as a scenario."""

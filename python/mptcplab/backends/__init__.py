"""Scenarios in real time: on the Linux kernel, and on this stack."""

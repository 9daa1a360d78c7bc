"""Congestion controllers for the Linux kernel, compiled from `bpf/` and loaded with libbpf."""

"""The simulator compared with the Linux kernel."""

"""This stack on real packets: TUN devices, transfers, event files."""

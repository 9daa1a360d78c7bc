"""Packet captures: read, and checked against RFC 8684 and RFC 6824."""

"""Schedulers and congestion controllers written in Python."""

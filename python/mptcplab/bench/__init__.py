"""Benchmarks of the simulator and of real packets."""

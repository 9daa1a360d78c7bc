"""Scenarios in Python, and the checks of their arguments."""

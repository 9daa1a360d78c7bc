"""Helpers without knowledge of Multipath TCP: files, JSON, user input, optional packages."""

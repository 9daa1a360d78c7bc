"""Helpers that know nothing of Multipath TCP: files, JSON, text of users, optional packages."""

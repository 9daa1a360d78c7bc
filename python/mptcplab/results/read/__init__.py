"""Saved results, read from their directories."""

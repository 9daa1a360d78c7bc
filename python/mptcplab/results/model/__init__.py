"""Columns, tables and events of a run."""

"""Statistics, formulas of the literature, and tables over time."""

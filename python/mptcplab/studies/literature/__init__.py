"""Results of the literature beside the five published studies: one package per paper, each with claims that can fail.

`mptcplab reproduce literature` runs all of them. The published values come from secondary sources where the paper itself
could not be read; each study names its source.
"""

from mptcplab.studies.base import Study

LITERATURE: dict[str, Study] = {}
"""The studies by name, in the order of their letters."""

__all__ = ["LITERATURE"]

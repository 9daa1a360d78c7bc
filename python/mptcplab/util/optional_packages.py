"""Optional packages: tables, figures and colours need them, but the simulator runs without them.

Owns the error for a missing package, with the command that installs it.
"""

from __future__ import annotations

import importlib

OPTIONAL = ("pyarrow", "matplotlib", "pandas", "polars", "rich", "distributed")
EXTRAS = {"distributed": "'mptcplab[cluster]'"}
"""By package: the extra of mptcplab to install instead, for a package that is used together with others."""


def missing(package: str) -> str:
    """The error for a missing package."""
    return f"the package {package} is required, but not installed; run: pip install {EXTRAS.get(package, package)}"


def need(package: str) -> None:
    """Raises `ModuleNotFoundError` with a hint if a package is missing."""
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(missing(package), name=package) from None

"""Packages that not everything needs.

Owns what is said where one is missing: a command that installs it.
"""

from __future__ import annotations

import importlib

OPTIONAL = ("pyarrow", "matplotlib", "pandas", "rich")


def missing(package: str) -> str:
    """What to say where a package is not installed."""
    return f"this needs {package}, which is not installed: pip install {package}"


def need(package: str) -> None:
    """Raises `ModuleNotFoundError` with what to do where a package is not installed."""
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(missing(package), name=package) from None

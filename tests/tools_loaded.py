"""Programs of `tools/` as modules: they have no ending, and are not installed."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType

from conftest import ROOT


def load(name: str) -> ModuleType:
    """A tool as a module."""
    own = name.replace("-", "_")
    loader = SourceFileLoader(own, str(ROOT / "tools" / name))
    spec = importlib.util.spec_from_loader(own, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = written
    return module

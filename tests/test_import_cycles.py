"""No module of mptcplab needs itself by way of others: imports in functions and for type checkers count too."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from conftest import ROOT


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by dotted name; stubs are those of compiled modules."""
    found = {}
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(file: Path, known: dict[str, Path]) -> set[str]:
    """The modules that a file imports, wherever the statement is; `from a import b` is `a.b` where that is a module."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports are not followed"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in known else str(node.module) for name in names}
    return found & known.keys()


def cycles(package: Path) -> list[tuple[str, ...]]:
    """Sets of modules that import each other, directly or not."""
    known = modules(package)
    graph = {name: imports(file, known) - {name} for name, file in known.items()}

    def reached(start: str) -> set[str]:
        found, waiting = set[str](), [start]
        while waiting:
            new = graph[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    below = {name: reached(name) for name in graph}
    return sorted({tuple(sorted(b for b in below[a] if a in below[b])) for a in graph if a in below[a]})


def test_no_module_imports_itself_through_others() -> None:
    package = ROOT / "python" / "mptcplab"
    assert len(modules(package)) > 150
    assert cycles(package) == []


@pytest.mark.parametrize(
    "text",
    ["from p import b", "import p.b", "def f():\n    from p.b import x", "if TYPE_CHECKING:\n    from p import b"],
)
def test_a_cycle_is_found(tmp_path: Path, text: str) -> None:
    package = tmp_path / "p"
    package.mkdir()
    for name, content in {
        "__init__": "",
        "a": text,
        "b": "from p.c import y",
        "c": "import p.a",
        "d": "import p.a",
    }.items():
        (package / f"{name}.py").write_text(content)
    assert cycles(package) == [("p.a", "p.b", "p.c")]

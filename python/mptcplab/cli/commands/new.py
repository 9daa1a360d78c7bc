"""`mptcplab new`: creates a directory with a scheduler, a congestion controller or a study of the user.

A policy is a Python class, which needs no build; with `--rust`, it is a crate. A study is a Python package.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from mptcplab import __version__
from mptcplab.cli.common import BadInput

NAME = "new"
HELP = "create a scheduler, a congestion controller or a study of your own"
EXAMPLE = "mptcplab new scheduler mine"

TEMPLATES = Path(__file__).parents[2] / "templates"
KINDS = {
    "scheduler": {
        "KIND": "scheduler",
        "KEYNAME": "scheduler",
        "DEFAULT": "minrtt",
        "METHOD": "scheduler",
        "APPLICATION": 'blocks = "16KB"\nrate = "6Mbit"',
        "METRIC": "latency",
        "TITLE": "A video call",
        "FLOW": "call",
    },
    "controller": {
        "KIND": "congestion controller",
        "KEYNAME": "congestion",
        "DEFAULT": "lia",
        "METHOD": "congestion",
        "APPLICATION": "bulk = true",
        "METRIC": "goodput",
        "TITLE": "A download",
        "FLOW": "download",
    },
    "study": {},
}
OLD_KINDS = {"congestion": "controller"}
RUST_FILES = {
    "Cargo.toml": "common/Cargo.toml.txt",
    "README.md": "common/README.md.txt",
    "scenario.toml": "common/scenario.toml.txt",
    "python/core.rs": "common/core.rs.txt",
    "src/lib.rs": "common/lib.rs.txt",
    "src/main.rs": "common/main.rs.txt",
    "src/policy.rs": "{kind}/policy.rs.txt",
}
PYTHON_FILES = {
    "{module}.py": "python/{kind}.py.txt",
    "README.md": "python/README.md.txt",
    "scenario.toml": "python/scenario.toml.txt",
}
STUDY_FILES = {
    "pyproject.toml": "study/pyproject.toml.txt",
    "README.md": "study/README.md.txt",
    "src/{module}/__init__.py": "study/init.py.txt",
    "src/{module}/study.py": "study/study.py.txt",
}
COPIED = ("Cargo.lock", "rust-toolchain.toml")
"""Files of the checkout with the tested versions, for a crate."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("kind", choices=[*KINDS, *OLD_KINDS], metavar="KIND", help="scheduler, controller or study")
    parser.add_argument("name", metavar="NAME", help="name of the new directory, and in scenarios")
    parser.add_argument("--rust", action="store_true", help="create a Rust crate instead of a Python file")
    parser.add_argument(
        "--checkout",
        type=Path,
        metavar="DIR",
        help="mptcplab sources, for --rust (default: those of this command)",
    )


def execute(given: argparse.Namespace) -> int:
    """Writes the directory."""
    name, kind = str(given.name), OLD_KINDS.get(given.kind, str(given.kind))
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", name):
        raise BadInput(
            f"mptcplab: {name!r} must be a crate name: a to z, 0 to 9, - and _, a letter first, at most 40 characters"
        )
    if given.rust and kind == "study":
        raise BadInput("mptcplab: --rust: a study is a Python package; omit --rust")
    checkout = _checkout(given.checkout) if given.rust else None
    target = Path(name)
    if target.exists():
        raise BadInput(f"mptcplab: {name} already exists; choose another name, or move it away")
    module = name.replace("-", "_")
    words = KINDS[kind] | {"NAME": name, "MODULE": module, "CHECKOUT": str(checkout), "VERSION": __version__}
    words["CLASS"] = "".join(part.capitalize() for part in module.split("_"))
    words["KEY"] = f"flows.*.{words.get('KEYNAME')}"
    files = RUST_FILES if given.rust else STUDY_FILES if kind == "study" else PYTHON_FILES
    for file, template in files.items():
        text = (TEMPLATES / template.format(kind=kind)).read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        place = target / file.format(module=module)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    if checkout is not None:
        for file in COPIED:
            (target / file).write_bytes((checkout / file).read_bytes())
        print(f"created {name}/. Run cargo test in it to build and test it; the policy is in src/policy.rs")
    elif kind == "study":
        print(f"created {name}/. Run pip install -e {name}, then mptcplab reproduce {name} --quick")
    else:
        print(f"created {name}/. Run cd {name} && mptcplab run scenario.toml; the {words['KIND']} is in {module}.py")
    return 0


def _checkout(given: Path | None) -> Path:
    checkout = (given or Path(__file__).parents[4]).resolve()
    if not (checkout / "crates" / "lab" / "Cargo.toml").is_file():
        raise BadInput(
            f"mptcplab: no mptcplab sources in {checkout}; name a checkout of the same version with --checkout DIR"
        )
    return checkout

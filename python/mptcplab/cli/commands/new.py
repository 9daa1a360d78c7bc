"""`mptcplab new`: creates a Rust crate for your own policy, a scheduler or congestion controller.

The crate tests the policy in a network and builds a simulator with it, without changes to mptcplab's own sources.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from mptcplab.cli.common import BadInput

NAME = "new"
HELP = "create a Rust crate with a scheduler or congestion controller of your own"
EXAMPLE = "mptcplab new scheduler mine"

TEMPLATES = Path(__file__).parents[2] / "templates"
KINDS = {
    "scheduler": {"KIND": "scheduler", "KEYNAME": "scheduler", "DEFAULT": "minrtt", "METHOD": "scheduler"},
    "congestion": {
        "KIND": "congestion controller",
        "KEYNAME": "congestion",
        "DEFAULT": "lia",
        "METHOD": "congestion",
    },
}
FILES = {
    "Cargo.toml": "common/Cargo.toml.txt",
    "README.md": "common/README.md.txt",
    "scenario.toml": "common/scenario.toml.txt",
    "python/core.rs": "common/core.rs.txt",
    "src/lib.rs": "common/lib.rs.txt",
    "src/main.rs": "common/main.rs.txt",
    "src/policy.rs": "{kind}/policy.rs.txt",
}
COPIED = ("Cargo.lock", "rust-toolchain.toml")
"""Files copied from the checkout, so that the crate uses the tested versions of Rust and of dependencies."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("kind", choices=list(KINDS), help="type of the policy")
    parser.add_argument("name", metavar="NAME", help="name in scenarios, and of the new directory")
    parser.add_argument(
        "--checkout", type=Path, metavar="DIR", help="mptcplab sources (default: those of this command)"
    )


def execute(given: argparse.Namespace) -> int:
    """Writes the crate."""
    name = str(given.name)
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", name):
        raise BadInput(
            f"mptcplab: {name!r} must be a crate name: a to z, 0 to 9, - and _, a letter first, at most 40 characters"
        )
    checkout = _checkout(given.checkout)
    target = Path(name)
    if target.exists():
        raise BadInput(f"mptcplab: {name} already exists; choose another name, or move it away")
    words = KINDS[given.kind] | {"NAME": name, "MODULE": name.replace("-", "_"), "CHECKOUT": str(checkout)}
    words["KEY"] = f"flows.*.{words['KEYNAME']}"
    for file, template in FILES.items():
        text = (TEMPLATES / template.format(kind=given.kind)).read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        (target / file).write_text(text, encoding="utf-8")
    for file in COPIED:
        (target / file).write_bytes((checkout / file).read_bytes())
    print(f"created {name}/. Run cargo test in it to build and test it; the policy is in src/policy.rs")
    return 0


def _checkout(given: Path | None) -> Path:
    checkout = (given or Path(__file__).parents[4]).resolve()
    if not (checkout / "crates" / "lab" / "Cargo.toml").is_file():
        raise BadInput(
            f"mptcplab: no mptcplab sources in {checkout}; name a checkout of the same version with --checkout DIR"
        )
    return checkout

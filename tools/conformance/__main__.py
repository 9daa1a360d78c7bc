"""Run packetdrill's scripts on the stack of this repository, and print the variants that pass.

The exit code is 1 if a variant fails without an entry in the suite's file of explanations, or passes with one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import explanations
import variants
from execution import HERE, Target, kernel_hashes, run
from summary import judge, table

ROOT = HERE.parent.parent


class MissingError(Exception):
    """A requirement is missing; the message says how to get it."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("checkout", nargs="?", default="", help="a packetdrill checkout with MPTCP, built")
    suites = ", ".join(variants.SUITES)
    parser.add_argument("--suite", choices=variants.SUITES, default="mptcp", help=f"suite of scripts: {suites} [mptcp]")
    parser.add_argument("--script", metavar="GLOB", default="*", help="run only matching scripts (dss/*, *server*)")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="variants at once [2]")
    parser.add_argument("--verbose", action="store_true", help="print the complete output of packetdrill")
    parser.add_argument("--kernel", action="store_true", help="run on the kernel of this machine, to compare")
    return parser.parse_args()


def check(checkout: str, suite: str) -> Path:
    """Return the checkout; raise MissingError if a requirement is missing."""
    build = "cd CHECKOUT/gtests/net/packetdrill && ./configure && make (needs a C compiler, flex and bison)"
    if not checkout:
        source = "git clone -b mptcp-net-next https://github.com/gdetal/packetdrill CHECKOUT"
        raise MissingError(f"no packetdrill: make conformance PACKETDRILL=CHECKOUT; to get one: {source}, then {build}")
    path = Path(checkout).resolve()
    scripts = variants.SUITES[suite]
    if not (path / scripts).is_dir():
        raise MissingError(f"{checkout} has no {scripts}: it must be a packetdrill checkout with MPTCP")
    if not os.access(path / variants.PROGRAM, os.X_OK):
        raise MissingError(f"{checkout} is not built: {build}")
    if os.geteuid() != 0:
        raise MissingError("network namespaces need root: sudo make conformance PACKETDRILL=CHECKOUT")
    for tool, package in (("jq", "jq"), ("unshare", "util-linux")):
        if shutil.which(tool) is None:
            raise MissingError(f"{tool} is missing, and the scripts need it: apt install {package}")
    return path


def build() -> None:
    """Build both libraries in release."""
    crates = ["-p", "mptcp-packetdrill", "-p", "mptcp-afalg"]
    command = ["cargo", "build", "--quiet", "--release", "--locked", *crates]
    subprocess.run(command, cwd=ROOT, check=True)


def target(checkout: Path, *, kernel: bool) -> Target:
    """Build the libraries, and return the programs to run."""
    build()
    places = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    library = None if kernel else places / "libmptcp_packetdrill.so"
    return Target(checkout, library, None if kernel_hashes() else places / "libmptcp_afalg.so")


def conformance() -> int:
    """Run the chosen scripts; return the exit code."""
    options = arguments()
    checkout = check(options.checkout, options.suite)
    chosen = variants.find(checkout, options.script, options.suite)
    if not chosen:
        raise MissingError(f"no script matches {options.script!r}: try dss/*, *server*, mp_join_client")
    known = [] if options.kernel else explanations.read(HERE / f"{options.suite}.toml")
    reasons = {variant: explanations.find(known, variant) for variant in chosen}
    not_run = [variant for variant, reason in reasons.items() if reason is not None and reason.kind == "not run"]
    running = target(checkout, kernel=options.kernel)
    with ThreadPoolExecutor(max_workers=max(options.jobs, 1)) as pool:
        outcomes = list(pool.map(lambda variant: run(running, variant), [v for v in chosen if v not in not_run]))
    surprises = judge(outcomes, known, verbose=options.verbose)
    for variant in not_run:
        reason = reasons[variant]
        print(f"{variant}: not run: {reason.reason if reason else ''}")
    print(table(outcomes, not_run))
    return int(surprises > 0 and not options.kernel)


def main() -> int:
    """Run, and print one line if a requirement is missing."""
    try:
        return conformance()
    except (MissingError, explanations.WrongFileError) as error:
        print(f"conformance: {error}", file=sys.stderr)
    except subprocess.CalledProcessError:
        print("conformance: the build of the libraries failed; see above", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

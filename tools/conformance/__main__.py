"""Run packetdrill's scripts on the stack of this repository, and say what passes.

A variant that fails must be explained in the suite's file of explanations, and one that is explained must fail:
anything else is exit code 1.
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
    """Something that is needed is not there; the message says how to get it."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("checkout", nargs="?", default="", help="a packetdrill checkout with MPTCP, built")
    suites = ", ".join(variants.SUITES)
    parser.add_argument("--suite", choices=variants.SUITES, default="mptcp", help=f"which scripts: {suites}")
    parser.add_argument("--script", metavar="GLOB", default="*", help="only scripts that match (dss/*, *server*)")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="variants at a time (2)")
    parser.add_argument("--verbose", action="store_true", help="all that packetdrill says of a failure")
    parser.add_argument("--kernel", action="store_true", help="on the kernel of this machine, to compare")
    return parser.parse_args()


def check(checkout: str, suite: str) -> Path:
    """Return the checkout, or say what is missing."""
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
            raise MissingError(f"{tool} is missing, which the scripts need: apt install {package}")
    return path


def build() -> None:
    """Build both libraries in release."""
    crates = ["-p", "mptcp-packetdrill", "-p", "mptcp-afalg"]
    command = ["cargo", "build", "--quiet", "--release", "--locked", *crates]
    subprocess.run(command, cwd=ROOT, check=True)


def target(checkout: Path, *, kernel: bool) -> Target:
    """Build what is needed, and say what to run."""
    build()
    places = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    library = None if kernel else places / "libmptcp_packetdrill.so"
    return Target(checkout, library, None if kernel_hashes() else places / "libmptcp_afalg.so")


def conformance() -> int:
    """Do what the command line says; return the exit code."""
    options = arguments()
    checkout = check(options.checkout, options.suite)
    chosen = variants.find(checkout, options.script, options.suite)
    if not chosen:
        raise MissingError(f"no script matches {options.script!r}: try dss/*, *server*, mp_join_client")
    known = [] if options.kernel else explanations.read(HERE / f"{options.suite}.toml")
    reasons = {variant: explanations.find(known, variant) for variant in chosen}
    left_out = [variant for variant, reason in reasons.items() if reason is not None and reason.kind == "left out"]
    running = target(checkout, kernel=options.kernel)
    with ThreadPoolExecutor(max_workers=max(options.jobs, 1)) as pool:
        outcomes = list(pool.map(lambda variant: run(running, variant), [v for v in chosen if v not in left_out]))
    surprises = judge(outcomes, known, verbose=options.verbose)
    for variant in left_out:
        reason = reasons[variant]
        print(f"{variant}: left out: {reason.reason if reason else ''}")
    print(table(outcomes, left_out))
    return int(surprises > 0 and not options.kernel)


def main() -> int:
    """Run, and turn what is missing into a sentence."""
    try:
        return conformance()
    except (MissingError, explanations.WrongFileError) as error:
        print(f"conformance: {error}", file=sys.stderr)
    except subprocess.CalledProcessError:
        print("conformance: the libraries could not be built: see above", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

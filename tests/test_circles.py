"""`tools/circles` finds the circles that there are, and none that there are not."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tools_loaded import load


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load("circles")


def edges(tool: ModuleType, folder: Path, files: dict[str, str]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The dependencies in a crate, by imports and by calls."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    crate = tool.Crate(folder)
    names = {(a.relative_to(folder).as_posix(), b.relative_to(folder).as_posix()) for a, b in crate.imports()}
    calls = {
        (a.relative_to(folder).as_posix(), b.relative_to(folder).as_posix())
        for of_type in crate.calls().values()
        for a, b in of_type
    }
    return names, calls


def test_an_import_leads_to_the_file_that_defines(tool: ModuleType, tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\npub use a::Hidden;\n",
        "a.rs": "mod deep;\npub use deep::Hidden;\npub struct Plain;\n",
        "a/deep.rs": "pub struct Hidden;\n",
        "b.rs": "use crate::a::{Hidden, Plain};\nuse crate::Hidden as Other;\n// use crate::a::Nothing;\n",
    }
    names, _ = edges(tool, tmp_path, files)
    assert names == {("b.rs", "a.rs"), ("b.rs", "a/deep.rs")}


def test_paths_in_code_count_and_tests_do_not(tool: ModuleType, tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\n",
        "a.rs": 'fn f() { super::b::g(); "crate::c::h" }\npub fn k() {}\n',
        "b.rs": "pub fn g() {}\n#[cfg(test)]\nmod tests { use crate::a::k; }\n",
        "c.rs": "pub fn h() {}\n",
    }
    names, _ = edges(tool, tmp_path, files)
    assert names == {("a.rs", "b.rs")}


def test_methods_of_one_type_in_two_files_make_calls(tool: ModuleType, tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod more;\npub struct T<A>(A);\nimpl<A> T<A> { fn one(&self) { self.two(); } fn three(&self) {} }\n",
        "more.rs": "use super::T;\nimpl<A: Copy> T<A> { pub fn two(&self) { Self::three(self) } }\n",
    }
    names, calls = edges(tool, tmp_path, files)
    assert names == {("more.rs", "lib.rs")}
    assert calls == {("lib.rs", "more.rs"), ("more.rs", "lib.rs")}


def test_circles_are_components(tool: ModuleType) -> None:
    paths = {name: Path(name) for name in "abcd"}
    chain = {(paths[a], paths[b]): {"x"} for a, b in ("ab", "bc", "ca", "cd")}
    assert tool.circles(chain) == [{paths["a"], paths["b"], paths["c"]}]
    assert tool.circles({(paths["a"], paths["b"]): {"x"}}) == []

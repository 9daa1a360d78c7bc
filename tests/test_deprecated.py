"""Old names of scenario keys: they work, and the command and the module warn of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Cli
from mptcplab import Scenario

TEXT = 'duration = "1s"\n[paths.wifi]\nrate = "8Mbit"\n[flows.bulk]\nundo = false\n'


def test_the_command_prints_one_warning(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text(TEXT)
    printed = cli("run", tmp_path / "old.toml").stderr
    warning = f"mptcplab: warning: {tmp_path}/old.toml:5: flows.bulk.undo: deprecated name; use undo_spurious_loss"
    assert printed.splitlines().count(warning) == 1


def test_the_module_warns() -> None:
    with pytest.warns(FutureWarning, match="flows.bulk.undo: deprecated name; use undo_spurious_loss"):
        old = Scenario.parse(TEXT)
    assert old.to_toml() == Scenario.parse(TEXT.replace("undo", "undo_spurious_loss")).to_toml()


def test_old_types_of_events_warn(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(TEXT.replace("undo", "undo_spurious_loss"))
    printed = cli("run", tmp_path / "plain.toml", "--trace", "limit", "--output", tmp_path / "out").stderr
    assert "mptcplab: warning: --trace limit: deprecated name; use subflow_blocked" in printed
    assert cli("events", tmp_path / "out", "--kind", "limit").stdout.count("subflow_blocked") > 0

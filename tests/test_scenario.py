"""Scenarios built in Python go through the same checks as files."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab import Event, Flow, Path, Scenario, ScenarioError, _core
from mptcplab.scenario.definition import Cell, Station, to_toml


def test_dataclasses_and_dictionaries_are_the_same() -> None:
    one = Scenario(
        duration="5s",
        paths={"wifi": Path(rate="8Mbit", delay="10ms", loss="1%")},
        flows={"bulk": Flow(transport="tcp", more={"min_rto": "300ms"})},
        events=[Event(at="2s", path="wifi", set={"rate": "4Mbit"})],
    )
    other = Scenario(
        duration="5s",
        paths={"wifi": {"rate": "8Mbit", "delay": "10ms", "loss": "1%"}},
        flows={"bulk": {"transport": "tcp", "min_rto": "300ms"}},
        events=[{"at": "2s", "path": "wifi", "set": {"rate": "4Mbit"}}],
    )
    assert one.to_toml() == other.to_toml()


def test_a_scenario_as_run_reads_back_the_same(two_paths: Scenario) -> None:
    text = two_paths.to_toml()
    assert Scenario.parse(text, "again").to_toml() == text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"paths": {"wifi": {"rate": "8"}}}, "rate"),
        ({"flows": {"bulk": {"congestion": "renoo"}}}, 'did you mean "reno"'),
        ({"duration": "-1s"}, "duration"),
        ({"warm_up": "1s"}, "warmup"),
    ],
)
def test_a_mistake_is_named(change: dict[str, Any], says: str) -> None:
    right: dict[str, Any] = {"duration": "5s", "paths": {"wifi": {"rate": "8Mbit"}}, "flows": {"bulk": {}}}
    with pytest.raises(ScenarioError, match=says):
        Scenario(**(right | change))


def test_every_policy_can_be_named_alone_or_in_a_table() -> None:
    paths = {"wifi": Path(rate="8Mbit")}
    for key, names in _core.policy_names().items():
        assert names
        for name in names:
            flows = ({"bulk": Flow(more={key: value})} for value in (name, {"kind": name}))
            alone, table = (Scenario(duration="5s", paths=paths, flows=flow) for flow in flows)
            assert alone.to_toml() == table.to_toml()
            assert f'{key} = "{name}"' in alone.to_toml()
    values = {"kind": "balia", "beta": 0.5}
    with pytest.raises(ScenarioError, match="unknown parameter; this policy has none"):
        Scenario(duration="5s", paths=paths, flows={"bulk": Flow(congestion=values)})


def test_a_variation_is_a_copy(two_paths: Scenario) -> None:
    varied = two_paths.vary({"paths.wifi.loss": "5%", "flows.bulk.penalisation": False, "flows.bulk.mss": 1000})
    assert 'loss = "5%"' in varied.to_toml()
    assert "penalisation = false" in varied.to_toml()
    assert 'loss = "0.5%"' in two_paths.to_toml()
    with pytest.raises(ScenarioError, match="wify"):
        two_paths.vary({"paths.wify.loss": "5%"})


def test_names_and_baselines(two_paths: Scenario) -> None:
    assert two_paths.flows == ["bulk"]
    assert two_paths.paths == ["wifi", "3g"]
    assert [(flow, path) for flow, path, _ in two_paths.baselines()] == [("bulk", "wifi"), ("bulk", "3g")]
    assert "two paths" in repr(two_paths)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-(2**40), 2**40),
    lambda inner: st.lists(TEXT, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_toml_says_what_python_said(table: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(table)) == table


def test_tables_in_arrays() -> None:
    table = {
        "events": [{"at": "1s", "set": {"up": False}}, {"at": "2s", "set": {"up": True}}],
        "paths": {"a b": {"x": 1}},
    }
    assert tomllib.loads(to_toml(table)) == table


@pytest.mark.parametrize(("table", "kind"), [("flows", Flow), ("paths", Path), ("cells", Cell), ("stations", Station)])
def test_every_key_of_a_file_is_a_field(table: str, kind: type[Any]) -> None:
    schema = json.loads(_core.json_schema())["properties"][table]
    keys = set((schema.get("additionalProperties") or schema)["properties"])
    fields = {name.rstrip("_") for name in kind.__dataclass_fields__}
    assert keys <= fields


def test_a_flow_says_its_ends_and_its_stack() -> None:
    flow = Flow(from_="server", to="client", stack="linux", blocks="8KB", rate="1Mbit", deadline="50ms")
    scenario = Scenario(duration="5s", paths={"wifi": Path(rate="8Mbit")}, flows={"f": flow})
    assert tomllib.loads(scenario.to_toml())["flows"]["f"]["from"] == "server"
    assert tomllib.loads(scenario.to_toml())["flows"]["f"]["reinjection"] == "data_level"

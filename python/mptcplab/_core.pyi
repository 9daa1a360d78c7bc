"""Types of the compiled core; checked against it by stubtest."""

from os import PathLike
from typing import Final, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

__version__: Final[str]
__all__ = [
    "Batch",
    "Results",
    "Scenario",
    "ScenarioError",
    "__version__",
    "json_schema",
    "metrics",
    "reference_page",
    "run",
]

@type_check_only
class PathRow(TypedDict):
    path: str
    subflows: int
    bytes_sent: int
    bytes_acked: int
    retransmits: int
    timeouts: int
    reinjected: int
    mean_srtt_s: float

@type_check_only
class FlowRow(TypedDict):
    flow: str
    multipath: bool
    fell_back: bool
    bytes_received: int
    bytes_received_total: int
    measured_s: float
    goodput: float
    throughput: float
    intact: bool
    completion_s: float | None
    handshake_s: float | None
    closed: str | None
    reinjected: int
    opportunistic: int
    penalties: int
    duplicates: int
    blocks: int
    limits: dict[str, float]
    paths: list[PathRow]

@type_check_only
class LinkRow(TypedDict):
    link: str
    direction: str
    offered_frames: int
    sent_frames: int
    sent_bytes: int
    queue_drops: int
    random_losses: int
    mac_retries: int
    mac_drops: int
    longest_queue: int

@type_check_only
class Columns(TypedDict):
    time_s: NDArray[np.float64]
    flow: NDArray[np.uint16]
    path: NDArray[np.uint16]
    metric: NDArray[np.uint8]
    value: NDArray[np.float64]

class ScenarioError(ValueError): ...

@final
class Scenario:
    @staticmethod
    def load(path: str | PathLike[str]) -> Scenario: ...
    @staticmethod
    def parse(text: str, name: str = "scenario") -> Scenario: ...
    def with_values(self, values: list[tuple[str, str]]) -> Scenario: ...
    def to_toml(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def duration(self) -> float: ...
    @property
    def warmup(self) -> float: ...
    @property
    def sample(self) -> float: ...
    @property
    def flows(self) -> list[str]: ...
    @property
    def paths(self) -> list[str]: ...
    def baselines(self) -> list[tuple[str, str, Scenario]]: ...

@final
class Results:
    @property
    def flow_names(self) -> list[str]: ...
    @property
    def path_names(self) -> list[str]: ...
    @property
    def data_packets(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    def take_samples(self) -> Columns: ...
    @property
    def flows(self) -> list[FlowRow]: ...
    @property
    def links(self) -> list[LinkRow]: ...
    def blocks(self, flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

@final
class Batch:
    def __new__(cls, jobs: list[tuple[Scenario, int]], workers: int) -> Batch: ...
    def next(self, timeout: float) -> tuple[int, Results] | None: ...
    def cancel(self) -> None: ...
    def join(self) -> None: ...

def json_schema() -> str: ...
def reference_page() -> str: ...
def metrics() -> list[tuple[str, str]]: ...
def run(scenario: Scenario, seed: int, captures: str | PathLike[str] | None = None) -> Results: ...

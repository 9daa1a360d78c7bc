"""Types of the compiled core; stubtest checks them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import ClassVar, Final, NotRequired, TypeAlias, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__version__: Final[str]
__all__ = [
    "Batch",
    "CapturedSegments",
    "CongestionPath",
    "CongestionView",
    "Results",
    "Scenario",
    "ScenarioError",
    "SendPath",
    "SendView",
    "Simulation",
    "__version__",
    "capture_report_schema",
    "describe",
    "event_fields",
    "event_kinds",
    "examine_captures",
    "finding_text",
    "findings",
    "is_healthy",
    "json_schema",
    "long_queues",
    "metrics",
    "nearest_word",
    "policy_names",
    "policy_seed",
    "queueing_delay",
    "reasons_in_words",
    "recommended_buffer",
    "reference_page",
    "renamed_event_kinds",
    "run",
]

if sys.platform == "linux":
    __all__ += ["Driver", "Emulator", "MptcpListener", "MptcpStream", "kernel_receive_for", "kernel_send_for"]

@type_check_only
class PathRow(TypedDict):
    path: str
    subflows: int
    bytes_sent: int
    bytes_arrived: int
    bytes_acked: int
    retransmits: int
    timeouts: int
    reinjected: int
    mean_srtt_s: float
    capacity: float | None
    best_capacity: float | None
    base_rtt_s: float | None
    ack_wait_s: float | None
    longest_wait_s: NotRequired[float]
    ack_queue: str | None
    queue_wait_s: NotRequired[float | None]
    """Mean queueing time of data; like the next two keys, only in results that were not read from a file."""
    queue_at: NotRequired[str | None]
    is_backup: NotRequired[bool]
    places: NotRequired[dict[str, str]]
    """By cause: the link or the middlebox with the cause."""
    dropped_random: int | None
    dropped_queue: int | None
    dropped_down: int | None
    dropped_filter: int | None
    limits: dict[str, float]
    """Empty in runs without observation, like `sender_limits`; `blamed` is then 0."""
    sender_limits: dict[str, float]
    """Shares of the time after the warm-up."""
    silence: NotRequired[dict[str, float]]
    """Activities of the path during the longest silence; only in results that were not read from a file."""
    blamed: float

@type_check_only
class FlowRow(TypedDict):
    flow: str
    multipath: bool
    fell_back: bool
    fell_back_at_s: float | None
    fell_back_path: str | None
    fell_back_because: str | None
    bytes_received: int
    bytes_received_total: int
    unique_bytes_arrived: int | None
    measured_s: float
    waited_s: float
    """Seconds of the handshake before the measured time."""
    goodput: float
    throughput: float
    intact: bool
    completion_s: float | None
    handshake_s: float | None
    longest_silence_s: float
    longest_silence_at_s: float
    closed: str | None
    reinjected: int
    opportunistic: int
    penalties: int
    duplicates: int | None
    blocks: int
    measured_blocks: NotRequired[int]
    """Blocks that were written after the warm-up and arrived; the quantiles refer to them."""
    latency_p50_s: float | None
    latency_p95_s: float | None
    latency_p99_s: float | None
    late: float | None
    datagram_loss: float | None
    jitter_s: float | None
    capacity: float | None
    best_capacity: float | None
    receive_buffer: int
    send_buffer: int
    full_buffers: NotRequired[dict[str, float]]
    """Shares of the time in which the send buffer, the receive window, or both limited the flow."""
    limits: dict[str, float]
    paths: list[PathRow]
    never_joined: dict[str, float | None]
    """Unused paths with their best capacity."""
    never_joined_down: dict[str, float]
    never_joined_boxes: NotRequired[dict[str, list[str]]]
    """The middleboxes on these paths, in observed runs."""
    """The share of the time in which these paths were down."""

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
    busy: float
    capacity: float | None
    queue_marks: NotRequired[int]

@type_check_only
class EmulatedDevice(TypedDict):
    """A device of a host of an emulated network."""

    name: str
    link: str
    address: str
    mtu: int
    joins: bool
    backup: bool

@type_check_only
class EmulatedHost(TypedDict):
    """A host of an emulated network."""

    name: str
    opens: bool
    devices: list[EmulatedDevice]
    routes: list[tuple[str, int]]

@type_check_only
class EmulatedLinkRow(TypedDict):
    link: str
    direction: str
    offered_frames: int
    sent_frames: int
    sent_bytes: int
    delivered_frames: int
    delivered_bytes: int
    queue_drops: int
    random_losses: int
    flushed: int
    queue_bytes: int
    queue_frames: int
    rate: float | None
    """Current rate, bit/s; None if unlimited."""
    delay_s: float
    loss: float | None
    """Current mean rate of random losses, 0 to 1; None for a model from another crate."""
    up: bool

@type_check_only
class SpreadRow(TypedDict):
    count: int
    p50_s: float
    p99_s: float
    p999_s: float
    max_s: float

@type_check_only
class EmulationRow(TypedDict):
    elapsed_s: float
    links: list[EmulatedLinkRow]
    lateness: SpreadRow
    turns: SpreadRow
    real_time: bool
    ignored: int
    refused: int
    down: int
    left_out: int
    doubts: str | None

@type_check_only
class ConfigTable(TypedDict):
    multipath: bool
    version: str
    checksum: bool
    congestion: str
    scheduler: str
    opportunistic_retransmission: bool
    penalisation: bool
    autotuning: bool
    cwnd_capping: bool
    receive_buffer: int
    send_buffer: int
    nodelay: bool
    max_subflows: int

@type_check_only
class CounterRow(TypedDict):
    received: int
    ignored: int
    sent: int
    dropped: int

@type_check_only
class SubflowInfo(TypedDict):
    """An open or closed path; times are seconds since the start of the driver, sizes bytes."""

    number: int
    id: int | None
    interface: int
    local: str
    remote: str
    state: str
    ca_state: str
    icmp: str | None
    backup: bool
    probation: bool
    opened_at_s: float
    closed_at_s: float | None
    closed_by: str | None
    snd_cwnd: int
    snd_ssthresh: int | None
    snd_mss: int
    rcv_mss: int
    advmss: int
    pmtu: int
    timestamps: bool
    ecn: bool
    delivered_ce: int
    received_ce: int
    sack: bool
    snd_wscale: int
    rcv_wscale: int
    rtt_s: float | None
    rttvar_s: float
    min_rtt_s: float | None
    rto_s: float
    backoff: int
    pacing_rate: float | None
    in_flight: int
    unacked: int
    sacked: int
    lost: int
    retrans: int
    total_retrans: int
    bytes_retrans: int
    bytes_reinjected: int
    timeouts: int
    recoveries: int
    reordering_seen: bool
    bytes_out_of_order: int
    bytes_sent: int
    bytes_acked: int
    bytes_received: int
    segs_out: int
    segs_in: int
    data_segs_out: int
    data_segs_in: int

@type_check_only
class ConnectionUse(TypedDict):
    """State of a connection that the peer can fill; docs/security.md lists the bounds."""

    receive_bytes: int
    pieces: int
    mappings: int
    segments_in_flight: int
    signals: int
    half_open_joins: int
    remote_addresses: int
    failed: int
    subflows: int

@type_check_only
class ConnectionInfo(TypedDict):
    """A connection; names follow struct mptcp_info."""

    at_s: float
    mode: str
    fallback: bool
    version: str
    checksum: bool
    client: bool
    token: int
    remote_token: int | None
    write_seq: int
    snd_una: int
    rcv_nxt: int
    congestion: str
    scheduler: str
    subflows_max: int
    subflows_total: int
    add_addr_signal: int
    add_addr_accepted: int
    bytes_written: int
    bytes_sent: int
    bytes_acked: int
    bytes_received: int
    bytes_retrans: int
    bytes_opportunistic: int
    bytes_duplicate: int
    bytes_out_of_order: int
    penalties: int
    send_queue: int
    receive_buffer: int
    peer_window: int
    closed: str | None
    limits_s: dict[str, float]
    usage: ConnectionUse
    paths: list[SubflowInfo]

@type_check_only
class Columns(TypedDict):
    time_s: NDArray[np.float64]
    flow: NDArray[np.uint16]
    path: NDArray[np.uint16]
    metric: NDArray[np.uint8]
    value: NDArray[np.float64]

@type_check_only
class EventColumns(TypedDict):
    at: NDArray[np.uint64]
    host: NDArray[np.uint16]
    flow: NDArray[np.uint16]
    path: NDArray[np.uint16]
    subflow: NDArray[np.uint16]
    kind: NDArray[np.uint8]
    what: NDArray[np.uint8]
    other: NDArray[np.uint16]
    numbers: list[NDArray[np.uint64]]
    words: list[str]
    hosts: NotRequired[list[str]]
    dropped: int

@type_check_only
class SubflowRow(TypedDict):
    path: str
    slot: int
    id: int
    cwnd: int
    mss: int
    in_flight: int
    srtt: float
    base_rtt: float
    bytes_sent: int
    bytes_acked: int
    retransmits: int
    backup: bool

@type_check_only
class ProgressRow(TypedDict):
    written: int
    received: int
    send_queue: int
    peer_window: int
    is_finished: bool
    blocks: int
    latencies: list[float]
    subflows: list[SubflowRow]

class ScenarioError(ValueError): ...

@final
class Scenario:
    def __new__(cls, text: str, recordings: Mapping[tuple[str, str], object]) -> Scenario: ...
    def __reduce__(self) -> tuple[type[Scenario], tuple[str, dict[tuple[str, str], object]]]: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Scenario: ...
    @staticmethod
    def parse(text: str, name: str = "scenario") -> Scenario: ...
    @staticmethod
    def built(text: str, name: str) -> Scenario: ...
    def with_values(self, values: list[tuple[str, str]], origin: str = "--set") -> Scenario: ...
    def to_toml(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def duration(self) -> float: ...
    @property
    def draws_its_network(self) -> bool: ...
    @property
    def replays_a_recording(self) -> bool: ...
    @property
    def warmup(self) -> float: ...
    @property
    def until_done(self) -> bool: ...
    @property
    def sample(self) -> float: ...
    @property
    def flows(self) -> list[str]: ...
    @property
    def paths(self) -> list[str]: ...
    @property
    def python_policies(self) -> list[str]: ...
    @property
    def registered(self) -> list[str]: ...
    def baselines(self) -> list[tuple[str, str, Scenario]]: ...
    def check_runs(self, runs: int, traced: bool = False) -> None: ...
    def check_run_count(self, runs: int) -> None: ...
    @property
    def transports(self) -> list[str]: ...
    @property
    def result_bytes(self) -> float: ...

@final
class Results:
    def __new__(cls, state: Mapping[str, object]) -> Results: ...
    def __reduce__(self) -> tuple[type[Results], tuple[dict[str, object]]]: ...
    @property
    def flow_names(self) -> list[str]: ...
    @property
    def path_names(self) -> list[str]: ...
    @property
    def measured_s(self) -> float: ...
    @property
    def data_packets(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    def take_samples(self) -> Columns: ...
    def take_events(self) -> EventColumns | None: ...
    @property
    def flows(self) -> list[FlowRow]: ...
    @property
    def links(self) -> list[LinkRow]: ...
    def blocks(self, flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

@final
class Batch:
    def __new__(
        cls, jobs: list[tuple[Scenario, int, tuple[list[str], float, float] | None]], workers: int
    ) -> Batch: ...
    def next(self, timeout: float) -> tuple[int, Results] | None: ...
    def under_way(self) -> list[tuple[int, float]]: ...
    def cancel(self) -> None: ...
    def join(self) -> None: ...

@final
class Simulation:
    def __new__(cls, scenario: Scenario, seed: int) -> Simulation: ...
    def advance(self, time: float) -> bool: ...
    @property
    def now(self) -> float: ...
    def flow(self, flow: int = 0, first_block: int = 0) -> ProgressRow: ...
    def finish(self) -> Results: ...

@final
class SendPath:
    @property
    def index(self) -> int: ...
    @property
    def id(self) -> int: ...
    @property
    def srtt(self) -> float: ...
    @property
    def rttvar(self) -> float: ...
    @property
    def base_rtt(self) -> float: ...
    @property
    def cwnd(self) -> float: ...
    @property
    def ssthresh(self) -> float: ...
    @property
    def in_flight(self) -> float: ...
    @property
    def held(self) -> float: ...
    @property
    def local_queue(self) -> float: ...
    @property
    def mss(self) -> float: ...
    @property
    def pacing(self) -> float: ...
    @property
    def rate(self) -> float: ...
    @property
    def max_rate(self) -> float: ...
    @property
    def own_queue(self) -> float: ...
    @property
    def cross_queue(self) -> float: ...
    @property
    def overdue(self) -> float: ...
    @property
    def lead(self) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def is_probing(self) -> bool: ...
    @property
    def is_available(self) -> bool: ...
    @property
    def locally_limited(self) -> bool: ...
    @property
    def backup(self) -> bool: ...
    @property
    def queued(self) -> float: ...
    def arrival(self, length: int, ahead: int = 0) -> float: ...

@final
class SendView:
    FIELDS: ClassVar[list[str]]
    @property
    def paths(self) -> tuple[SendPath, ...]: ...
    @property
    def available(self) -> list[SendPath]: ...
    def column(self, field: str) -> NDArray[np.float64]: ...
    @property
    def table(self) -> NDArray[np.float64]: ...
    @property
    def now(self) -> float: ...
    @property
    def unsent(self) -> int: ...
    @property
    def writer_blocked(self) -> bool: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def window_space(self) -> int: ...
    @property
    def send_buffer(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def has_subflow_queues(self) -> bool: ...

@final
class CongestionPath:
    @property
    def index(self) -> int: ...
    @property
    def cwnd(self) -> float: ...
    @cwnd.setter
    def cwnd(self, bytes: float) -> None: ...
    @property
    def ssthresh(self) -> float: ...
    @ssthresh.setter
    def ssthresh(self, bytes: float) -> None: ...
    @property
    def pacing(self) -> float: ...
    @pacing.setter
    def pacing(self, bytes_per_second: float) -> None: ...
    @property
    def mss(self) -> float: ...
    @property
    def srtt(self) -> float: ...
    @property
    def rttvar(self) -> float: ...
    @property
    def latest_rtt(self) -> float: ...
    @property
    def base_rtt(self) -> float: ...
    @property
    def in_flight(self) -> float: ...
    @property
    def rate(self) -> float: ...
    @property
    def active(self) -> bool: ...
    @property
    def in_slow_start(self) -> bool: ...
    def slow_start(self, acked: float) -> float: ...

@final
class CongestionView:
    FIELDS: ClassVar[list[str]]
    @property
    def paths(self) -> tuple[CongestionPath, ...]: ...
    @property
    def active(self) -> list[CongestionPath]: ...
    def column(self, field: str) -> NDArray[np.float64]: ...
    @property
    def table(self) -> NDArray[np.float64]: ...
    @property
    def now(self) -> float: ...

if sys.platform == "linux":
    @final
    class Emulator:
        def __new__(cls, scenario: Scenario, seed: int) -> Emulator: ...
        def hosts(self) -> list[EmulatedHost]: ...
        def notices(self) -> list[tuple[float, int, int, bool, str]]: ...
        def ends(self) -> list[tuple[str, str]]: ...
        def open(self, namespaces: list[str]) -> None: ...
        def start(self, pcap: str | PathLike[str] | None = None) -> None: ...
        def kernel(
            self, controllers: list[str], ours: str
        ) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]: ...
        def run_flows(
            self, controllers: list[str], ours: str
        ) -> tuple[Results, list[tuple[str, int, int, str | None]]]: ...
        def open_ours(self) -> None: ...
        def run_ours(self) -> tuple[Results, list[tuple[str, int, int, str | None]]]: ...
        def change(self, link: str, key: str, value: str) -> None: ...
        def connections(self) -> list[list[ConnectionInfo]]: ...
        def snapshot(self) -> EmulationRow | None: ...
        def is_running(self) -> bool: ...
        def stop(self) -> EmulationRow | None: ...

    @final
    class Driver:
        def __new__(
            cls,
            interfaces: list[tuple[str, list[str], bool, bool, str | None]],
            pcap: str | PathLike[str] | None = None,
        ) -> Driver: ...
        def addresses(self) -> list[tuple[int, str, str, int]]: ...
        def trace(self, wanted: tuple[list[str], float, float], limit: int) -> None: ...
        def take_events(self) -> EventColumns | None: ...
        def counters(self) -> CounterRow: ...
        def connect(self, host: str, port: int, config: ConfigTable, timeout: float | None = None) -> MptcpStream: ...
        def listen(self, host: str, port: int, config: ConfigTable, backlog: int) -> MptcpListener: ...
        def set_interface(self, interface: int, up: bool) -> None: ...
        def set_backup(self, interface: int, backup: bool) -> None: ...
        def drain(self, timeout: float) -> bool: ...
        def stop(self) -> None: ...
        def __enter__(self) -> Driver: ...
        def __exit__(
            self,
            _kind: type[BaseException] | None,
            _error: BaseException | None,
            _trace: TracebackType | None,
        ) -> None: ...

    @final
    class MptcpListener:
        def accept(self) -> tuple[MptcpStream, tuple[str, int]]: ...
        def settimeout(self, timeout: float | None) -> None: ...
        def gettimeout(self) -> float | None: ...
        def getsockname(self) -> tuple[str, int]: ...
        def close(self) -> None: ...
        def __enter__(self) -> MptcpListener: ...
        def __exit__(
            self,
            _kind: type[BaseException] | None,
            _error: BaseException | None,
            _trace: TracebackType | None,
        ) -> None: ...

    @final
    class MptcpStream:
        def recv(self, size: int) -> bytes: ...
        def recv_into(self, buffer: Buffer) -> int: ...
        def send(self, data: Buffer) -> int: ...
        def sendall(self, data: Buffer) -> None: ...
        def send_for(self, seconds: float, block: int) -> tuple[int, float, bool]: ...
        def receive_for(self, seconds: float, block: int) -> tuple[int, float, bool]: ...
        def shutdown(self, how: int) -> None: ...
        def close(self) -> None: ...
        def abort(self) -> None: ...
        def settimeout(self, timeout: float | None) -> None: ...
        def gettimeout(self) -> float | None: ...
        def set_nodelay(self, nodelay: bool) -> None: ...
        def set_congestion(self, congestion: str) -> None: ...
        def set_scheduler(self, scheduler: str) -> None: ...
        def info(self) -> ConnectionInfo: ...
        def getsockname(self) -> tuple[str, int]: ...
        def getpeername(self) -> tuple[str, int]: ...
        def __enter__(self) -> MptcpStream: ...
        def __exit__(
            self,
            _kind: type[BaseException] | None,
            _error: BaseException | None,
            _trace: TracebackType | None,
        ) -> None: ...

    def kernel_send_for(descriptor: int, seconds: float, block: int) -> tuple[int, float, bool]: ...
    def kernel_receive_for(descriptor: int, seconds: float, block: int) -> tuple[int, float, bool]: ...

def describe(scenario: Scenario) -> str: ...
def json_schema() -> str: ...
def nearest_word(word: str, choices: list[str]) -> str | None: ...
def reference_page() -> str: ...
def policy_names() -> dict[str, list[str]]: ...
def policy_seed() -> tuple[int, int]: ...

_Finding: TypeAlias = tuple[str, str | None, float, float, str, str | None, bool]

def findings(flow: FlowRow) -> list[_Finding]: ...
def finding_text(finding: _Finding) -> str: ...
def reasons_in_words(flow: FlowRow) -> list[str]: ...
def is_healthy(flow: FlowRow) -> bool: ...
def recommended_buffer(flow: FlowRow) -> float: ...
def queueing_delay(path: PathRow) -> float: ...
def long_queues(paths: Sequence[PathRow]) -> list[int]: ...
def metrics() -> list[tuple[str, str]]: ...
def event_kinds() -> list[tuple[str, str, list[str]]]: ...
def renamed_event_kinds() -> list[tuple[str, str]]: ...
def event_fields() -> list[tuple[str, str]]: ...
def run(
    scenario: Scenario,
    seed: int,
    captures: str | PathLike[str] | None = None,
    trace: tuple[list[str], float, float] | None = None,
) -> Results: ...
def examine_captures(
    files: Sequence[str | PathLike[str]],
    host: str | None = None,
    progress: Callable[[int], bool] | None = None,
) -> str: ...
def capture_report_schema() -> str: ...

@final
class CapturedSegments:
    def __new__(cls, files: Sequence[str | PathLike[str]]) -> CapturedSegments: ...
    def next_batch(self, rows: int = 65536) -> dict[str, NDArray[np.uint64]] | None: ...
    @property
    def flows(self) -> list[tuple[str, str]]: ...

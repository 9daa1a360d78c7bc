"""Writes the protocol events of a live endpoint (`Driver`) to a Parquet file while they occur, for `--trace`.

Owns a thread that takes the events twice a second and writes them, so that memory stays bounded. The file gets its name
when it is complete.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import pyarrow.parquet as pq

from mptcplab.results.model import event_table, events
from mptcplab.util.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from mptcplab.live.driver import Driver

PAUSE = 0.5
"""Seconds between two reads."""
MOST = 2_000_000
"""Maximum events between two reads; further ones are dropped and counted."""


@contextmanager
def tracing(driver: Driver, wanted: events.Trace, path: Path) -> Iterator[None]:
    """Writes the events of a driver's connections to `path` while the block runs."""
    driver.trace(wanted, limit=MOST)
    stop = threading.Event()
    with replacing(path) as file, ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_write, driver, file, stop)
        try:
            yield
        finally:
            stop.set()
        # The file is complete even after an error.
        writing.result()
    if driver.events_dropped:
        print(
            f"mptcplab: {driver.events_dropped} events were too many and were dropped; trace fewer kinds",
            file=sys.stderr,
        )


def _write(driver: Driver, file: IO[bytes], stop: threading.Event) -> None:
    with pq.ParquetWriter(file, event_table.plain_schema(), compression="zstd") as writer:
        over = False
        while not over:
            over = stop.wait(PAUSE)
            found = driver.take_events()
            if found.num_rows:
                writer.write_table(found.cast(event_table.plain_schema()))

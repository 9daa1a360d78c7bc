"""A scenario in Python: one connection over WiFi and 3G, with a temporary failure of WiFi.

Run it: `python examples/scenario.py`.
"""

from __future__ import annotations

from mptcplab import Event, Flow, Path, Scenario

scenario = Scenario(
    name="WiFi comes and goes",
    duration="20s",
    paths={
        "wifi": Path(rate="8Mbit", rtt="20ms", queue="53p"),
        "3g": Path(rate="2Mbit", rtt="150ms", queue="333p"),
    },
    flows={"bulk": Flow(congestion="lia")},
    events=[
        Event(at="5s", path="wifi", set={"up": False}),
        Event(at="10s", path="wifi", set={"up": True}),
    ],
)
run = scenario.run(seed=1)
print(run.summary())

times, goodput = run.series("goodput", path="3g")
print(f"3G carried up to {goodput.max() / 1e6:.2f} Mb/s, first at {times[goodput > 0][0]:.1f} s")

"""Settings that study F (hands-on lab of the SIGCOMM 2020 tutorial) does not specify, and the values used."""

from mptcplab.studies.base import Assumption

ASSUMPTIONS = (
    Assumption(
        "requests and responses",
        "two connections with the same network: one sends blocks as requests, one sends blocks as responses; the delay "
        "of an exchange is the sum of both delays",
        "the simulator has no application that answers; the lab answers each request with as many bytes",
    ),
    Assumption(
        "acknowledgements of requests and responses",
        "none is delayed",
        "in the lab, the response carries the acknowledgement of the request. Without a response, a delayed "
        "acknowledgement raises the measured RTT by up to 40 ms, and the scheduler changes the path",
        after=("F-4.1",),
    ),
    Assumption(
        "addresses of the server with two links",
        "the server also opens a connection of 1 kB to the client",
        "a simulated host has an address per link only if it opens connections",
        after=("F-3.2",),
    ),
    Assumption(
        "the time between two requests",
        "250 ms from request to request",
        "the lab's client waits for 250 ms after each response, so its requests are further apart",
    ),
    Assumption(
        "the meaning of *about*",
        "ranges count as printed; single values, such as about 90 ms, count within 20%",
        "the lab does not give a deviation",
    ),
    Assumption(
        "propagation delays and rates", "those of the topology files; both directions are equal", "not measured"
    ),
    Assumption(
        "queues of the path managers and of the router's link to the server",
        "1000 packets at 1 Gb/s",
        "these links limit nothing",
    ),
    Assumption(
        "randomness",
        "hosts delay starts by up to 10 ms and frames by up to 20 us",
        "runs of Mininet differ by themselves; without these delays, all seeds would give the same run",
    ),
)

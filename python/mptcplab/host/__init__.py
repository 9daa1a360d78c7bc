"""This machine as a host of Linux's Multipath TCP: what stands in its way, how it is set up, what it does.

`machine` reads what the kernel says; `findings`, `routing` and `firewall` judge it, `probing` asks a peer, `checking`
is all of these. `preparing` plans what is missing as `steps`, `journal` does them and takes them back. `events`,
`connections` and `metrics` watch. Nothing here knows of simulations.
"""

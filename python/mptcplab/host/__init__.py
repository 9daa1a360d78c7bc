"""Linux's Multipath TCP on this machine: checks, set-up and monitoring.

`machine` reads the kernel's state. `findings`, `routing` and `firewall` judge it, `peer_probe` tests a peer, and
`checks` runs all of these. `setup_plan` plans missing settings as `setup_steps`; `journal` applies and undoes them.
`events`, `connections` and `metrics` monitor. Nothing here uses the simulator.
"""

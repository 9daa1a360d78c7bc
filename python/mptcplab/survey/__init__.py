"""Surveys: MPTCP compared with plain TCP over the best path, on generated networks.

A survey shows on which networks MPTCP is slower than TCP. A policy is a set of flow keys, such as a controller and a
scheduler. `networks` generates networks, `measure` runs policies and plain TCP over each path, `upper_bound` computes
the best possible result. `report` writes tables and files, `survey_plots` draws. `worst_case` searches for the worst
network of a policy. `short_flows` measures files and blocks, `shared_bottleneck` competing flows.
"""

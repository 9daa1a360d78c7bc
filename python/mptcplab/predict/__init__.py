"""`mptcplab predict`: predicts TCP and MPTCP over links that are given by rate, RTT, loss and jitter.

`links` reads the links, `traffic` describes the loads, `prediction` runs them, `settings` tests changes of settings,
and `report` writes the results as text and JSON.
"""

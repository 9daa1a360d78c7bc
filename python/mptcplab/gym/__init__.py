"""Environments for reinforcement learning: a scheduler for Gymnasium, congestion controllers for PettingZoo.

    import gymnasium
    import mptcplab.gym

    env = gymnasium.make("mptcplab/Scheduler-v0", reward="latency")

The import registers the environments. Install the extra `learning` (`pip install "mptcplab[learning]"`).
docs/learning.md documents spaces and rewards.
"""

import gymnasium

if "mptcplab/Scheduler-v0" not in gymnasium.registry:
    gymnasium.register(id="mptcplab/Scheduler-v0", entry_point="mptcplab.gym.scheduler_env:SchedulerEnv")

"""The Gymnasium environment `mptcplab/Scheduler-v0`: an agent divides the data among the paths.

Owns the spaces and the episode. Each step lasts a fixed virtual time; during the step, the scheduler follows the
weights of the action.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from mptcplab.gym.networks import random_network
from mptcplab.gym.progress import FEATURES, Progress, Reward, Step, reward_of
from mptcplab.gym.steering import Board, SharesScheduler
from mptcplab.scenario.definition import Scenario

Network = Scenario | Callable[[np.random.Generator], Scenario]
SEEDS = 2**63


class SchedulerEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """The agent chooses the weight of each path for the next interval.

    - Action: a weight from 0 to 1 for each path. Equal weights give round robin. A path with a weight below 0.02
      carries no data while another path works.
    - Observation: for each path, the values of `FEATURES`, each from 0 to 1; a path without a subflow has zeros.
    - Reward: `goodput` in Mb/s, `latency` (minus the mean latency of blocks in seconds), or a function of a `Step`.
    - End: truncated at the end of the scenario, terminated when the flow has delivered everything.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        network: Network = random_network,
        *,
        flow: int = 0,
        paths: int = 2,
        interval: float = 0.1,
        reward: str | Reward = "goodput",
    ) -> None:
        """`network` is a scenario, or a function that generates one from a random generator.

        `flow` is the position of the steered flow, `paths` the number of its paths, `interval` the length of a step
        in seconds.
        """
        if not interval > 0:
            raise ValueError(f"interval = {interval}: must be a positive number of seconds")
        self._network, self._flow, self._paths, self._interval = network, flow, paths, interval
        self._reward = reward_of(reward)
        self._board = Board()
        self._progress: Progress | None = None
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (paths * len(FEATURES),), np.float32)
        self.action_space = gymnasium.spaces.Box(0.0, 1.0, (paths,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Starts a new run. The seed decides the network, if it is generated, and the run."""
        super().reset(seed=seed)
        scenario = self._network if isinstance(self._network, Scenario) else self._network(self.np_random)
        name = scenario.flows[self._flow]
        steered: dict[str, str | int | bool] = {
            f"flows.{name}.scheduler.kind": f"{SharesScheduler.__module__}:{SharesScheduler.__qualname__}",
            f"flows.{name}.scheduler.board": self._board.number,
        }
        self._board.values = {}
        run = int(self.np_random.integers(SEEDS))
        self._progress = Progress(scenario.vary(steered), run, self._interval, self._flow)
        return np.zeros(self.observation_space.shape or (), np.float32), {}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Runs for one interval with the weights of the action."""
        if self._progress is None:
            raise RuntimeError("step: call reset first")
        weights = np.clip(np.asarray(action, np.float64), 0.0, 1.0)
        self._board.values = {number: float(weight) for number, weight in enumerate(weights)}
        step = self._progress.advance()
        reward = float(self._reward(step))
        info = {"goodput": step.goodput, "latency": step.latency}
        return self._observation(step), reward, step.is_finished, not self._progress.is_running, info

    def _observation(self, step: Step) -> NDArray[np.float32]:
        found = np.zeros((self._paths, len(FEATURES)), np.float32)
        for subflow in step.subflows:
            if subflow.number < self._paths:
                found[subflow.number] = subflow.features()
        return found.ravel()

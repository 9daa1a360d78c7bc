"""The PettingZoo environment `mptcplab/Congestion-v0`: one agent for each subflow sets its congestion window.

Owns the spaces, the agents and the episode. It follows PettingZoo's parallel API: all agents act at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from mptcplab.gym.networks import random_network
from mptcplab.gym.progress import FEATURES, Progress, Step, Subflow
from mptcplab.gym.scheduler_env import SEEDS, Network
from mptcplab.gym.steering import Board, WindowController
from mptcplab.scenario.definition import Scenario

MOST_WINDOW = 1e8
"""Bytes."""

AgentReward = Any
"""A function of the step and the subflow of the agent, or None while the agent has no subflow."""


def power(_step: Step, subflow: Subflow | None) -> float:
    """The default reward: the logarithm of the rate in Mb/s, minus the logarithm of the RTT over its minimum."""
    if subflow is None or subflow.srtt <= 0:
        return 0.0
    rate = float(np.log(max(8 * subflow.rate / 1e6, 0.01)))
    return rate - float(np.log(subflow.srtt / max(subflow.base_rtt, 1e-6))) - 10 * subflow.retransmitted


class CongestionEnv(ParallelEnv[str, NDArray[np.float32], NDArray[np.float32]]):  # type: ignore[misc]
    """Each agent changes the congestion window of its subflow.

    - Agents: `subflow_0`, `subflow_1`, …, by the slots of the connection.
    - Action: from -1 to 1; the window is multiplied by two to the power of the action.
    - Observation: the values of `FEATURES`, each from 0 to 1; zeros before the subflow exists.
    - Reward: `power`, or a function of a `Step` and the subflow of the agent.
    - End: truncated at the end of the scenario, terminated when the flow has delivered everything.
    """

    metadata: dict[str, Any] = {"name": "mptcplab/Congestion-v0", "render_modes": []}  # noqa: RUF012 - as declared

    def __init__(
        self,
        network: Network = random_network,
        *,
        flow: int = 0,
        subflows: int = 2,
        interval: float = 0.1,
        reward: AgentReward = power,
    ) -> None:
        """The arguments are those of `SchedulerEnv`; `subflows` is the number of agents."""
        if not interval > 0:
            raise ValueError(f"interval = {interval}: must be a positive number of seconds")
        self._network, self._flow, self._interval, self._reward = network, flow, interval, reward
        self._board = Board()
        self._progress: Progress | None = None
        self._windows: dict[int, float] = {}
        self.np_random: np.random.Generator | None = None
        self.possible_agents = [f"subflow_{number}" for number in range(subflows)]
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: spaces.Box(0.0, 1.0, (len(FEATURES),), np.float32) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Box(-1.0, 1.0, (1,), np.float32) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space, the same object in each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The action space, the same object in each call."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Starts a new run. The seed decides the network, if it is generated, and the run."""
        if self.np_random is None or seed is not None:
            self.np_random, _ = seeding.np_random(seed)
        scenario = self._network if isinstance(self._network, Scenario) else self._network(self.np_random)
        name = scenario.flows[self._flow]
        steered: dict[str, str | int | bool] = {
            f"flows.{name}.congestion.kind": f"{WindowController.__module__}:{WindowController.__qualname__}",
            f"flows.{name}.congestion.board": self._board.number,
        }
        self._board.values, self._windows = {}, {}
        run = int(self.np_random.integers(SEEDS))
        self._progress = Progress(scenario.vary(steered), run, self._interval, self._flow)
        self.agents = list(self.possible_agents)
        zeros = np.zeros(len(FEATURES), np.float32)
        return {agent: zeros.copy() for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, NDArray[np.float32]]
    ) -> tuple[
        dict[str, NDArray[np.float32]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Runs for one interval with the windows that follow from the actions."""
        if self._progress is None:
            raise RuntimeError("step: call reset first")
        for agent, action in actions.items():
            slot = self.possible_agents.index(agent)
            if slot in self._windows:
                factor = 2.0 ** float(np.clip(np.asarray(action, np.float64).ravel()[0], -1.0, 1.0))
                self._board.values[slot] = min(MOST_WINDOW, self._windows[slot] * factor)
        step = self._progress.advance()
        found = {subflow.slot: subflow for subflow in step.subflows}
        self._windows = {slot: max(subflow.cwnd, subflow.mss) for slot, subflow in found.items()}
        agents, over = self.agents, not self._progress.is_running
        zeros = np.zeros(len(FEATURES), np.float32)
        own = {agent: found.get(self.possible_agents.index(agent)) for agent in agents}
        observations = {agent: zeros.copy() if one is None else one.features() for agent, one in own.items()}
        rewards = {agent: float(self._reward(step, one)) for agent, one in own.items()}
        terminated = dict.fromkeys(agents, step.is_finished)
        truncated = dict.fromkeys(agents, over)
        infos: dict[str, dict[str, Any]] = {agent: {"goodput": step.goodput} for agent in agents}
        if over or step.is_finished:
            self.agents = []
        return observations, rewards, terminated, truncated, infos

    def render(self) -> None:
        """Nothing: figures come from the results of a run."""

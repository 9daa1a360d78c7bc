"""The environments for reinforcement learning: checkers, determinism, effect of actions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import mptcplab.gym  # noqa: F401 - registers the environments
from mptcplab import Flow, Path, Scenario
from mptcplab.gym.congestion_env import CongestionEnv
from mptcplab.gym.networks import random_network
from mptcplab.gym.progress import FEATURES, Step
from mptcplab.gym.scheduler_env import SchedulerEnv


def short(rng: np.random.Generator) -> Scenario:
    return random_network(rng, duration=2.0)


def test_scheduler_passes_the_checker_of_gymnasium() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(SchedulerEnv(short), skip_render_check=True)


def test_congestion_passes_the_checkers_of_pettingzoo() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(CongestionEnv(short), num_cycles=100)
        parallel_seed_test(lambda: CongestionEnv(short), num_cycles=5)


def test_gymnasium_finds_the_environment_by_name() -> None:
    env = gymnasium.make("mptcplab/Scheduler-v0", network=short)
    first, _ = env.reset(seed=3)
    assert first.shape == (2 * len(FEATURES),)


def test_environments_run_in_parallel_processes() -> None:
    envs = gymnasium.make_vec("mptcplab/Scheduler-v0", num_envs=2, vectorization_mode="async", network=short)
    try:
        envs.reset(seed=[1, 2])  # type: ignore[arg-type]
        rewards = [envs.step(np.ones((2, 2), np.float32))[1] for _ in range(8)]
    finally:
        envs.close()
    assert np.min(np.sum(rewards, axis=0)) > 0
    assert rewards[-1][0] != rewards[-1][1]


def episode(env: SchedulerEnv, action: Sequence[float], seed: int = 5) -> tuple[list[float], list[np.ndarray]]:
    observation, _ = env.reset(seed=seed)
    rewards, observations, over = [], [observation], False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(np.array(action, np.float32))
        rewards.append(reward)
        observations.append(observation)
        over = terminated or truncated
    return rewards, observations


def test_same_seed_gives_the_same_episode() -> None:
    env = SchedulerEnv(short)
    rewards, observations = episode(env, [1, 0.5])
    again, observed_again = episode(env, [1, 0.5])
    assert rewards == again
    assert np.array_equal(observations, observed_again)
    assert len(rewards) == 20
    assert episode(env, [1, 0.5], seed=6)[0] != rewards


def two_paths() -> Scenario:
    return Scenario(
        duration="5s",
        paths={"near": Path(rate="8Mbit", rtt="20ms"), "far": Path(rate="8Mbit", rtt="160ms")},
        flows={"flow": Flow(blocks="8KB", rate="4Mbit")},
        defaults={"baselines": False, "opportunistic_retransmission": False},
    )


def test_weights_decide_the_path() -> None:
    env = SchedulerEnv(two_paths(), reward=lambda step: -step.latency)
    near, both, far = (np.mean(episode(env, action)[0][10:]) for action in ([1, 0], [1, 1], [0, 1]))
    assert near > -0.03
    assert near > both > far
    assert far < -0.07


def test_last_step_is_truncated_and_a_finished_file_terminates() -> None:
    scenario = two_paths().vary({"flows.flow.blocks": "8KB"})
    env = SchedulerEnv(scenario, interval=0.3)
    env.reset(seed=1)
    ends = [env.step(np.ones(2, np.float32))[2:4] for _ in range(17)]
    assert ends[-1] == (False, True)
    assert not any(terminated or truncated for terminated, truncated in ends[:-1])
    done = Scenario(duration="5s", paths={"one": Path(rate="8Mbit", rtt="20ms")}, flows={"file": Flow(bytes="100KB")})
    env = SchedulerEnv(done)
    env.reset(seed=1)
    assert any(env.step(np.ones(2, np.float32))[2] for _ in range(5))


def test_windows_follow_the_actions() -> None:
    scenario = Scenario(
        duration="4s",
        paths={"near": Path(rate="8Mbit", rtt="50ms"), "far": Path(rate="8Mbit", rtt="50ms")},
        flows={"flow": Flow()},
        defaults={"baselines": False},
    )

    def goodput(change: float) -> float:
        rates: list[float] = []

        def reward(step: Step, subflow: object) -> float:
            rates.append(step.goodput)
            return 0.0

        env = CongestionEnv(scenario, reward=reward)
        env.reset(seed=1)
        while env.agents:
            env.step({agent: np.array([change], np.float32) for agent in env.agents})
        return float(np.mean(rates[-10:]))

    assert goodput(0.5) > 14e6
    assert goodput(-1.0) < 1e6


@pytest.mark.parametrize("interval", [0, -1.0, float("nan")])
def test_interval_must_be_positive(interval: float) -> None:
    with pytest.raises(ValueError, match="interval"):
        SchedulerEnv(short, interval=interval)
    with pytest.raises(ValueError, match="interval"):
        CongestionEnv(short, interval=interval)


def test_unknown_reward_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="goodput, latency"):
        SchedulerEnv(short, reward="speed")

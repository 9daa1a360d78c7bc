"""Trains a scheduler in about two minutes on two cores, and compares it with round robin on 100 unseen networks.

Run it: `pip install "mptcplab[learning]"`, then `python examples/learn_scheduler.py [SECONDS [NETWORKS]]`.

The policy has one weight for each feature of a path and gives each path the exponential of the weighted sum. The
library `cma` improves the weights by an evolution strategy: in each generation it proposes several policies, which
episodes on random networks judge. Networks of training and evaluation have different seeds.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import cma
import numpy as np
from numpy.typing import NDArray

from mptcplab.gym.networks import random_network
from mptcplab.gym.progress import FEATURES
from mptcplab.gym.scheduler_env import SchedulerEnv

Weights = NDArray[np.float64]
SPENT = float(sys.argv[1]) if len(sys.argv) > 1 else 90.0
EVALUATION = int(sys.argv[2]) if len(sys.argv) > 2 else 100
POPULATION, NETWORKS = 8, 20
DURATION = 5.0
FIRST_EVALUATION = 1_000_000


def action(weights: Weights, observation: NDArray[np.float32]) -> NDArray[np.float32]:
    """The weight of each path: the exponential of its score, relative to the best path."""
    scores = observation.reshape(-1, len(FEATURES)) @ weights
    return np.asarray(np.exp(scores - scores.max()), np.float32)


def episode(weights: Weights, seed: int) -> float:
    """The mean latency of the blocks of an episode in milliseconds: minus the mean reward."""
    env = SchedulerEnv(partial(random_network, duration=DURATION), reward="latency")
    observation, _ = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(action(weights, observation))
        rewards.append(reward)
        over = terminated or truncated
    return -1e3 * float(np.mean(rewards))


def train(pool: ProcessPoolExecutor) -> Weights:
    """The best weights after the training time."""
    strategy = cma.CMAEvolutionStrategy(np.zeros(len(FEATURES)), 1.0, {"popsize": POPULATION, "seed": 1, "verbose": -9})
    start, generation, steps = time.monotonic(), 0, 0
    while time.monotonic() - start < SPENT:
        proposed = strategy.ask()
        seeds = [generation * NETWORKS + number for number in range(NETWORKS)]
        jobs = [pool.submit(episode, np.array(weights), seed) for weights in proposed for seed in seeds]
        latencies = np.array([job.result() for job in jobs]).reshape(POPULATION, NETWORKS)
        # The logarithm, so that networks with long RTTs do not dominate.
        strategy.tell(proposed, np.log(latencies).mean(axis=1))
        generation, steps = generation + 1, steps + round(10 * DURATION) * len(jobs)
        print(f"generation {generation}: geometric mean of the latencies {np.exp(np.log(latencies).mean()):.1f} ms")
    print(f"{steps} steps, {steps / (time.monotonic() - start):.0f} steps per second")
    return np.array(strategy.result.xfavorite)


def main() -> None:
    """Trains, evaluates, prints the table."""
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        trained = train(pool)
        print("weights: " + ", ".join(f"{name} {value:.2f}" for name, value in zip(FEATURES, trained, strict=True)))
        seeds = range(FIRST_EVALUATION, FIRST_EVALUATION + EVALUATION)
        learned, even = (
            np.array([job.result() for job in [pool.submit(episode, weights, seed) for seed in seeds]])
            for weights in (trained, np.zeros(len(FEATURES)))
        )
    ratio = np.log(learned / even)
    error = 1.96 * ratio.std(ddof=1) / np.sqrt(EVALUATION)
    print(f"mean latency of blocks on {EVALUATION} unseen networks")
    print(f"  round robin      {even.mean():8.1f} ms  median {np.median(even):.1f} ms")
    print(f"  learned policy   {learned.mean():8.1f} ms  median {np.median(learned):.1f} ms")
    low, high = np.exp(ratio.mean() - error), np.exp(ratio.mean() + error)
    print(f"  learned / round robin: {np.exp(ratio.mean()):.2f} (95% interval {low:.2f} to {high:.2f})")
    print(
        f"  better on {np.mean(learned < even):.0%} of the networks, by more than 1% worse on "
        f"{np.mean(learned > 1.01 * even):.0%}"
    )


if __name__ == "__main__":
    main()

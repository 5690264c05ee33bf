"""A datacenter by counts with DeDe (Xu et al., OSDI 2025), in a Python of its own: `python counts_dede.py FILE LIMIT`.

That Python has `dede` (0.1.6), `scipy<1.12` (its cvxpy needs an older one) and numpy; nothing of the project is
imported. DeDe's answer is fractional and has no bound: options are taken from the largest share down, where there is
still room. Prints `[seconds, null, value, null]` as JSON, a line for each number of iterations reached in time.
"""

import json
import sys
import time

import dede
import numpy as np
import ray

STEPS = (5, 5, 10, 20, 40, 80, 160)
"""iterations from one answer to the next"""


def rounded(share: np.ndarray, job: np.ndarray, devices: np.ndarray, value: np.ndarray, room: np.ndarray) -> float:
    """Value of a plan made from shares of shape (R, K)."""
    left, is_taken, total = room.copy(), np.zeros(job.max() + 1, dtype=bool), 0.0
    for flat in np.argsort(-share, axis=None, kind="stable"):
        rack, row = np.unravel_index(flat, share.shape)
        if not is_taken[job[row]] and devices[row] <= left[rack]:
            is_taken[job[row]] = True
            left[rack] -= devices[row]
            total += value[row]
    return total


def shares(problem: dede.Problem, variable: dede.Variable) -> np.ndarray:
    """What the jobs' side chose last; DeDe leaves its variables empty. Positions are counted column by column."""
    places = ray.get(problem._subprob_cache.probs[0].get_solution_idx_d.remote())
    found = np.zeros(variable.size)
    for (number, position), share in zip(places, problem.sol_d, strict=True):
        if number == variable.id:
            found[position] = share
    return found.reshape(variable.shape, order="F")


def main() -> None:
    path, limit_s = sys.argv[1], float(sys.argv[2])
    with np.load(path) as file:
        job, devices, value, room = (file[name] for name in ("job", "devices", "value", "room"))
    started = time.perf_counter()
    share = dede.Variable((len(room), len(job)), nonneg=True)
    largest = devices.max()
    of_racks = [share[rack, :] @ (devices / largest) <= room[rack] / largest for rack in range(len(room))]
    of_jobs = [dede.sum(share[:, np.flatnonzero(job == each)]) <= 1 for each in range(job.max() + 1)]
    worth = dede.sum(dede.multiply(share, np.tile(value, (len(room), 1))))
    problem = dede.Problem(dede.Maximize(worth), of_racks, of_jobs)
    for steps in STEPS:
        if time.perf_counter() - started > limit_s:
            break
        problem.solve(num_cpus=1, rho=1, num_iter=steps, solver=dede.ECOS)
        found = rounded(shares(problem, share), job, devices, value, room)
        print(json.dumps([time.perf_counter() - started, None, found, None]), flush=True)


if __name__ == "__main__":
    main()

"""Slices, splits and pages together: two servers of two devices that share two memory nodes, jobs of six tensors.

Written from the rules: every listed row takes the least time of all placements of its pages, one after the other, and
every combination of rows is tried on every set of slots. Only the cost model is shared with what is tested: rows, and
the time that streams of a step take for one placement.
"""

from random import Random
from typing import Any

import numpy as np

from costmodel.dataflow.networks.rank_step import RankStep, rank_step
from costmodel.dataflow.streams.placement import Placement
from costmodel.dataflow.streams.simulate import Rules, simulate
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.score import Scores, score
from planner.model.instance import Instance
from planner.model.job import Job
from tests.oracles.pages import Choice, Stretch, fastest
from tests.oracles.tiny_nodes import Mode, best_of

Fields = dict[str, Any]
LAYERS = 4
"""of which all but the last leave an input and an inside until they are needed again: six tensors"""


def placed_networks(seed: int) -> Instance:
    """Jobs of convolutional and recurrent networks whose tensors are as many and as large."""
    data = placed_nodes(seed).model_dump(mode="json")
    rng = Random(f"networks {seed}")
    data["name"] = f"placed-networks-{seed}"
    data["cluster"]["device"] |= {"flops": {"fp32": 1e11}, "flop_energy": {"fp32": 3e-12}}
    model, batch, least_bytes = rng.choice(((RECURRENT, 1024, 171.3e6), (CONVOLUTIONS, 16, 170.7e6)))
    data["cluster"]["device"]["capacity"] = least_bytes + rng.choice((0, 0, 1, 2, 4)) * 2**20
    for job in data["jobs"]:
        job["workload"] = {
            "kind": "network_training", "global_batch": batch * job["accelerators"][0], "model": model,
            "offload": job["workload"]["offload"],
        }  # fmt: skip
    return Instance.parse(data, data["name"])


def placed_evaluation(seed: int) -> Instance:
    """Jobs that evaluate between their steps of training."""
    data, rng = placed_nodes(seed).model_dump(mode="json"), Random(f"evaluation {seed}")
    data["name"] = f"placed-evaluation-{seed}"
    for job in data["jobs"]:
        job["workload"]["evaluation"] = {"every": 10, "batches": rng.choice((2, 5, 20))}
    return Instance.parse(data, data["name"])


RECURRENT = {"cell": "vanilla", "hidden": 256, "steps": 7}
_LAYER = {"op": "convolution", "outputs": 16, "kernel": 3, "padding": 1, "then": ["relu"]}
CONVOLUTIONS = {
    "name": "row", "source": "test", "channels": 4, "side": 32,
    "layers": [{"name": f"c{i}", **_LAYER} for i in range(7)],
}  # fmt: skip


def placed_nodes(seed: int) -> Instance:
    """The instance of a seed: devices whose own memory holds some of the tensors, links and DIMMs that are short."""
    rng = Random(seed)
    dimm = {"capacity": f"{rng.choice((2, 3, 4))} MiB", "bandwidth": rng.choice((2e6, 1e7, 4e7)), "power": "10 W"}
    fabric = {
        "kind": "memory_ring", "servers": 2, "shared_nodes": True,
        "node": {
            "devices": 2, "links": 2, "link_bandwidth": "10 GB/s", "alpha": "1 us", "arrangement": "ring",
            "node": {"dimm": dimm, "dimms": rng.choice((1, 2, 2))},
        },
        "link_energy": "10 pJ/b", "memory_latency": "1 us", "memory_energy": "20 pJ/b",
        "network_bandwidth": "2 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    }  # fmt: skip
    capacity = rng.choice((165.8e6, 166.8e6, 168e6, 170e6))
    device = {"name": "small", "capacity": capacity, "memory_bandwidth": "100 GB/s", "flops": {"bf16": 1e11}}
    data = {
        "schema_version": 2,
        "name": f"placed-nodes-{seed}",
        "placed_steps": True,
        "cluster": {"device": device, "fabric": fabric},
        "jobs": [_job(rng, f"j{number}") for number in range(rng.choice((2, 3)))],
        "objectives": ["value"],
    }
    return Instance.parse(data, data["name"])


def _job(rng: Random, name: str) -> Fields:
    model = {
        "layers": LAYERS, "hidden": 64, "heads": 1, "kv_heads": 1, "head_dim": 64, "ffn": 256, "vocabulary": 64,
    }  # fmt: skip
    size = rng.choice((1, 1, 1, 2))
    offload = ["none"] if size > 1 else rng.choice((["activations"], ["none", "activations"]))
    workload = {
        "kind": "transformer_training", "model": model, "global_batch": size, "sequence": rng.choice((256, 384)),
        "micro_batch": 1, "recompute": "none", "offload": offload,
    }  # fmt: skip
    return {
        "name": name,
        "workload": workload,
        "accelerators": [size],
        "weight": rng.choice((1, 2)),
        "utility": rng.choice(("sqrt", "linear")),
    }


def best_value(instance: Instance) -> float | None:
    """Largest total value by placed steps."""
    return best_of(instance, [_choices(instance, job) for job in instance.jobs])


def _choices(instance: Instance, job: Job) -> list[tuple[float, Mode | None]]:
    cluster = instance.cluster
    rows, trained = (
        enumerate_candidates(workload, list(job.sizes), cluster.device, cluster.fabric)
        for workload in (job.workload, job.workload.model_copy(update={"evaluation": None}))
    )
    assert len(rows) == len(trained)
    best: dict[Mode | None, float] = {None: 0.0}
    if len(rows):
        scores, alone = (score(each, cluster.device, cluster.fabric) for each in (rows, trained))
        for row in range(len(rows)):
            evaluation_s = float(scores.step_s[row] - alone.step_s[row])
            step_s = _step_s(trained, alone, row) + evaluation_s
            share = float(scores.work[row]) / step_s / float(scores.speed.max())
            split = rows.splits[rows.split[row]]
            mode = int(rows.num_devices[row]), int(rows.block[row]), (split.memory_units or 0) // 2
            gain = share**0.5 if job.utility == "sqrt" else share
            best[mode] = max(best.get(mode, 0.0), job.weight * gain)
    return [(value, mode) for mode, value in best.items()]


def _step_s(rows: Candidates, scores: Scores, row: int) -> float:
    """The least time of all placements; the scored one of a row that offloads nothing."""
    step = rank_step(rows, scores, row)
    if step is None:
        return float(scores.step_s[row])
    found = fastest_step_s(step)
    assert found is not None
    return found


def fastest_step_s(step: RankStep) -> float | None:
    """The least time of all placements in pages of a step; None where none fits."""
    page = step.page_bytes
    local, each = (int(most / page + 1e-9) for most in (step.local_bytes, step.tier.capacity_bytes / len(step.links)))
    homes = _homes(step)

    def time(chosen: tuple[Choice, ...]) -> float:
        is_home = all(m <= h for a, home in homes for m, h in zip(chosen[a][0], chosen[home][0], strict=True))
        return _simulated(step, chosen) if is_home else float("inf")

    return fastest(_stretches(step, page), len(step.links), local, [each] * len(step.links), time)


def _homes(step: RankStep) -> list[tuple[int, int]]:
    """Absences of tensors that are away when the step begins, each with the last one of its tensor: pages are
    elsewhere only if they are there."""
    absences = step.program.absences
    last = {each.tensor: a for a, each in enumerate(absences)}
    away = {each.tensor for each in absences if each.after < 0}
    return [(a, last[each.tensor]) for a, each in enumerate(absences) if each.tensor in away]


def _stretches(step: RankStep, page: float) -> list[Stretch]:
    program = step.program
    remade = np.isfinite(program.remake_s) & program.returns
    sizes = np.maximum(np.ceil(program.size_bytes / page - 1e-9), 1).astype(int).tolist()
    return [
        Stretch(sizes[a], each.after + 1, each.before, bool(remade[a]), program.remade_from[a])
        for a, each in enumerate(program.absences)
    ]


def _simulated(step: RankStep, chosen: tuple[Choice, ...]) -> float:
    moved, kept, again = ([each[part] for each in chosen] for part in range(3))
    placement = Placement.from_pages(step.program.size_bytes, moved, kept, again)
    return simulate(step.program, step.links, placement, Rules(lookahead=2, most_leaving=2)).end_s

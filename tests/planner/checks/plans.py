"""Good plans written by hand on tiny clusters, and ways to break them.

Two servers of 2 x 3 tiles with four wavelengths; slots lie as 0 1 2 over 3 4 5.
"""

from math import sqrt
from typing import Any

from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.pricing.candidates import candidates_of, enumerate_candidates
from costmodel.pricing.score import Scores, score
from planner.checks import check, objective_values
from planner.model.instance import Instance
from planner.model.job import Job, Resident
from planner.model.plan import Assignment, Circuit, HeldCircuits, Plan

LIGHTPATH: dict[str, Any] = {
    "kind": "lightpath", "servers": 2, "tiles_per_server": 6, "tile_rows": 2, "wavelengths_per_tile": 4,
    "wavelength_bandwidth": "1 GB/s", "max_peers": 3, "fibers": 2, "wavelengths_per_fiber": 4,
    "alpha": "1 us", "reconfiguration": "4 us", "energy": "10 pJ/B",
}  # fmt: skip
FAT_TREE: dict[str, Any] = {
    "kind": "fat_tree", "servers": 2, "gpus_per_server": 4,
    "nvlink_bandwidth": "400 GB/s", "nvlink_alpha": "1 us", "nvlink_energy": "10 pJ/B",
    "network_bandwidth": "50 GB/s", "network_alpha": "2 us", "network_energy": "20 pJ/B",
}  # fmt: skip
SHAPE = {"layers": 4, "hidden": 64, "heads": 4, "kv_heads": 4, "head_dim": 16, "ffn": 128, "vocabulary": 256}
TRAINING: dict[str, Any] = {
    "kind": "transformer_training", "model": SHAPE, "global_batch": 24, "sequence": 32, "micro_batch": 1,
}  # fmt: skip
SERVING: dict[str, Any] = {
    "kind": "transformer_inference", "model": SHAPE, "concurrency": 8,
    "input_tokens": 16, "output_tokens": 16,
}  # fmt: skip
SIZES = {1: 1.0, 2: 1.0, 4: 2.0}


def instance_of(
    *jobs: dict[str, Any],
    fabric: dict[str, Any] | None = None,
    health: dict[str, Any] | None = None,
    residents: tuple[dict[str, Any], ...] = (),
    **fields: Any,
) -> Instance:
    """An instance of the given jobs, with changes to the fabric."""
    whole = {**LIGHTPATH, **(fabric or {})}
    if (fabric or {}).get("kind") == "fat_tree":
        whole = fabric or {}
    cluster = {"device": "h100-sxm", "fabric": whole, "health": health or {}}
    data = {"schema_version": 2, "name": "tiny", "cluster": cluster, "size_distribution": SIZES}
    return Instance.parse({**data, "jobs": list(jobs), "residents": list(residents), **fields})


def job(name: str, accelerators: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "workload": TRAINING, "accelerators": accelerators, **fields}


def collective(kind: str, *wavelengths: int, radices: tuple[int, ...] = (), held: tuple[int, ...] = ()) -> Collective:
    return Collective.model_validate({"kind": kind, "wavelengths": wavelengths, "radices": radices, "held": held})


def held(dimension: Any, *lines: str) -> HeldCircuits:
    """Circuits written "s0.t1 s1.t0 0,1 s0>s1#0": ends, wavelengths and the fibers between servers."""
    circuits = []
    for line in lines:
        source, destination, wavelengths, *fibers = line.split()
        numbers = tuple(int(w) for w in wavelengths.split(","))
        circuits.append(Circuit(source=source, destination=destination, wavelengths=numbers, fibers=tuple(fibers)))
    return HeldCircuits(dimension=dimension, circuits=tuple(circuits))


def assign(name: str, configuration: Configuration, devices: str, *circuits: HeldCircuits) -> Assignment:
    return Assignment(job=name, configuration=configuration, devices=tuple(devices.split()), circuits=circuits)


def plan_of(instance: Instance, *assignments: Assignment) -> Plan:
    """A plan with the claims that the cost model supports."""
    return claimed(instance, Plan(instance=instance.name, assignments=assignments))


def claimed(instance: Instance, plan: Plan) -> Plan:
    """The plan with its claims set right, as far as its jobs and configurations exist."""
    jobs = {each.name: each for each in instance.all_jobs}
    right = [_claimed(instance, jobs[a.job], a) if a.job in jobs else a for a in plan.assignments]
    plan = plan.model_copy(update={"assignments": tuple(right)})
    return plan.model_copy(update={"objectives": objective_values(instance, plan)})


def _claimed(instance: Instance, job: Job, assignment: Assignment) -> Assignment:
    listed, own = scores_of(instance, job, assignment.configuration)
    is_moved = isinstance(job, Resident) and any(
        getattr(assignment, name) != getattr(job, name) for name in ("devices", "configuration", "circuits")
    )
    if own is None:
        return assignment.model_copy(update={"is_moved": is_moved})
    share = float(own.speed[0]) / max([float(s.speed.max()) for s in listed])
    step = float(share >= job.step_at)
    claims = {
        "is_moved": is_moved,
        "value": job.weight * {"sqrt": sqrt(share), "linear": share, "step": step}[job.utility],
        "speed": float(own.speed[0]),
        "step_s": float(own.step_s[0]),
        "energy_per_work": float(own.energy_per_work_j[0]),
        "power_w": float(own.power_w[0]),
    }
    return assignment.model_copy(update=claims)


def scores_of(instance: Instance, job: Job, configuration: Configuration) -> tuple[list[Scores], Scores | None]:
    """Scores of what is listed for a job, and of one configuration if it can be priced."""
    cluster, limits = instance.cluster, job.constraints
    arguments = job.workload, cluster.device, cluster.fabric

    def priced(each: Configuration) -> Scores:
        return score(candidates_of([each], *arguments), cluster.device, cluster.fabric)

    room = cluster.fabric.devices_per_server * cluster.fabric.num_servers
    rows = enumerate_candidates(
        job.workload, [size for size in job.sizes if size <= room],
        cluster.device, cluster.fabric, one_server=limits.one_server,
        collective=limits.collective,
    )  # fmt: skip
    listed = [score(rows, cluster.device, cluster.fabric)]
    if isinstance(job, Resident):
        listed.append(priced(job.configuration))
    try:
        return listed, priced(configuration)
    except (ValueError, OverflowError):
        return listed, None


def broken(instance: Instance, plan: Plan) -> set[str]:
    """Rules that a plan breaks once its claims are set right."""
    return {violation.rule for violation in check(instance, claimed(instance, plan))}


def edited(plan: Plan, name: str, **fields: Any) -> Plan:
    """The plan with one job's assignment changed."""
    assignments = tuple(a.model_copy(update=fields) if a.job == name else a for a in plan.assignments)
    return plan.model_copy(update={"assignments": assignments})


def rewired(plan: Plan, name: str, *lines: str, at: int = 0, drop: str = "") -> Plan:
    """The plan with circuits of a job's configuration `at` written anew, or dropped, by their ends."""
    configurations = list(plan[name].circuits)
    dimension = configurations[at].dimension
    by_ends = {(c.source, c.destination): c for c in configurations[at].circuits}
    for circuit in held(dimension, *lines).circuits:
        by_ends[circuit.source, circuit.destination] = circuit
    if drop:
        source, destination = drop.split()
        del by_ends[source, destination]
    configurations[at] = HeldCircuits(dimension=dimension, circuits=tuple(by_ends.values()))
    return edited(plan, name, circuits=tuple(configurations))


def relocated(plan: Plan, name: str, **new_names: str) -> Plan:
    """The plan with devices of a job renamed in its ranks and circuits alike; `s0_t1="s0.t2"`."""
    text = plan[name].model_dump_json()
    for old, new in new_names.items():
        text = text.replace(f'"{old.replace("_", ".")}"', f'"{new}"')
    moved = Assignment.model_validate_json(text)
    return edited(plan, name, devices=moved.devices, circuits=moved.circuits)

"""Small instances as in files: racks of tiles or servers, jobs that need light and jobs that do not."""

from typing import Any

from planner.explain import Explanation, explain
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Result, SolveOptions, Status
from planner.pipeline import solve

Fields = dict[str, Any]
OPTIONS = SolveOptions(workers=1, deterministic_limit=5.0)
ONE_SERVER = {"one_server": True}


def rack(*jobs: Fields, servers: int = 2, tiles: int = 4, fibers: int = 0, **changes: Any) -> Fields:
    """An instance as in a file; `changes` are fields of the fabric, or health, residents and objectives."""
    top: Fields = {key: changes.pop(key) for key in ("residents", "objectives") if key in changes}
    health = changes.pop("health", {})
    fabric = {
        "kind": "lightpath", "servers": servers, "tiles_per_server": tiles, "fibers": fibers,
        "wavelengths_per_tile": 4, "wavelengths_per_fiber": 4, "wavelength_bandwidth": "75 GB/s",
        "max_peers": 3, "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b", **changes,
    }  # fmt: skip
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health}
    return {"schema_version": 2, "name": "small", "cluster": cluster, "jobs": list(jobs), **top}


def serving(name: str, accelerators: Any, model: str = "llama-3.1-8b", **fields: Any) -> Fields:
    """Replicas of it need no circuits, so it may lie anywhere."""
    workload = {
        "kind": "transformer_inference", "model": model, "concurrency": 8, "input_tokens": 512,
        "output_tokens": 128,
    }  # fmt: skip
    return {"name": name, "accelerators": accelerators, "workload": workload, **fields}


def training(name: str, accelerators: Any, batch: int = 64, **fields: Any) -> Fields:
    """Its ranks exchange gradients or activations, so it needs light wherever it lies."""
    workload: dict[str, Any] = {
        "kind": "transformer_training", "model": "bert-large", "global_batch": batch, "sequence": 512,
    }  # fmt: skip
    workload["uneven_stages"] = False
    return {"name": name, "accelerators": accelerators, "workload": workload, **fields}


def single(name: str, device: str, **fields: Any) -> Fields:
    """A resident on one device."""
    return serving(name, 1, devices=[device], configuration={"micro_batch": 8}, **fields)


def ask(data: Fields, name: str, plan: Plan | None = None) -> Explanation:
    return explain(Instance.parse(data), name, plan=plan, options=OPTIONS)


def texts(explanation: Explanation) -> list[str]:
    assert all(statement.is_verified for statement in explanation.statements)
    return [statement.text for statement in explanation.statements]


def outcome(data: Fields) -> Result:
    return solve(Instance.parse(data), options=OPTIONS)


def is_possible(data: Fields, name: str, **changes: Any) -> bool:
    """Whether the job, changed and required, runs beside what else must run."""
    jobs = [job | changes | {"required": True} if job["name"] == name else job for job in data["jobs"]]
    status = outcome(data | {"jobs": jobs}).status
    assert status in (Status.OPTIMAL, Status.INFEASIBLE)
    return status is Status.OPTIMAL

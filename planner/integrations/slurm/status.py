"""Status of a site: jobs with their nodes or reasons to wait, and where Slurm, journal and switches disagree."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.integrations.private_files import write_private
from planner.integrations.slurm.allocations import Allocation, AllocationStore
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.commands import SlurmDownError
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.desired_state import desired_state_of
from planner.integrations.slurm.hooks import driver_in, job_name
from planner.integrations.slurm.lock import is_alone
from planner.integrations.slurm.observed_state import DesiredState, ObservedState, number_of
from planner.integrations.slurm.rows import JobRow
from planner.integrations.slurm.starts import troubles
from planner.model.errors import InputError


@dataclass(frozen=True)
class StatusReport:
    """The document of `planner slurm status`."""

    is_alive: bool
    """whether the daemon runs"""
    age_s: float
    """since it wrote down its desired state; of a dead one: 0, its journal was read"""
    slurm: str
    """empty, or why Slurm could not be asked"""
    running: list[dict[str, Any]]
    waiting: list[dict[str, Any]]
    failed: list[str]
    drained: list[str]
    differences: list[str]
    troubles: list[str]
    """what could not be connected or released, and why"""

    def body(self) -> dict[str, Any]:
        return {
            "daemon": {"alive": self.is_alive, "age_s": self.age_s},
            "slurm": self.slurm or "ok",
            "running": self.running,
            "waiting": self.waiting,
            "failed": self.failed,
            "drained": self.drained,
            "differences": self.differences,
            "troubles": self.troubles,
        }


def desired_state_file(state: Path) -> Path:
    """Desired state of the daemon after its last tick."""
    return state / "wants.json"


def write_desired_state(state: Path, desired: DesiredState, seq: int) -> None:
    body = {
        "at": time.time(),
        "seq": seq,
        "places": {
            job: {"nodes": dict(allocation.nodes), "circuits": allocation.circuits}
            for job, allocation in desired.places.items()
        },
        "why": dict(desired.why),
        "failed": sorted(desired.failed),
        "drained": sorted(desired.drained),
    }
    write_private(desired_state_file(state), json.dumps(body, separators=(",", ":")) + "\n")


def read_status(site: SlurmSite, client: SlurmClient | None = None) -> StatusReport:
    """Look at everything now; InputError where nothing has ever run here."""
    state = site.config.state
    if not _journal(state).exists():
        raise InputError(str(_journal(state)), "state", "is not there; start the daemon first: planner slurm run")
    with is_alone(state) as alone:
        age_s, desired = (0.0, _from_journal(site)) if alone else _from_daemon(state)
    store = AllocationStore(state, site.config.bindings)
    applied, slurm = driver_in(state).applied(), ""
    client = client or SlurmClient()
    try:
        observed = ObservedState(applied, store.reports(), client.jobs(), client.nodes(), store.all())
    except SlurmDownError as error:
        observed, slurm = ObservedState(applied, store.reports(), {}, {}, store.all()), str(error)
    return StatusReport(
        is_alive=not alone,
        age_s=age_s,
        slurm=slurm,
        running=[_runs(observed, job, allocation) for job, allocation in sorted(desired.places.items())],
        waiting=list(_waiting(observed, desired)),
        failed=sorted(desired.failed),
        drained=sorted({*desired.drained, *(row.name for row in observed.nodes.values() if row.is_drained)}),
        differences=[] if slurm else list(differences(observed, desired)),
        troubles=list(troubles(observed, site.config.connect_tries)),
    )


def _journal(state: Path) -> Path:
    return state / "journal.db"


def _from_daemon(state: Path) -> tuple[float, DesiredState]:
    path = desired_state_file(state)
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        places = {int(job): _allocation(allocation) for job, allocation in body["places"].items()}
        why = {int(job): text for job, text in body["why"].items()}
        desired = DesiredState({}, places, why, frozenset(body["failed"]), frozenset(body["drained"]))
        return max(0.0, time.time() - body["at"]), desired
    except FileNotFoundError:
        raise InputError(str(path), "status", "is not there yet; the daemon has just started, ask again") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(str(path), "status", f"is damaged ({error}); the daemon writes it again") from None


def _allocation(body: dict[str, Any]) -> Allocation:
    return Allocation({node: tuple(indices) for node, indices in body["nodes"].items()}, body["circuits"])


def _from_journal(site: SlurmSite) -> DesiredState:
    from planner.controller.controller import Controller

    with Controller(journal=_journal(site.config.state)) as controller:
        return desired_state_of(controller.view(), site)


def _runs(observed: ObservedState, job: int, allocation: Allocation) -> dict[str, Any]:
    row = observed.jobs.get(job)
    return {
        "job": job,
        "shown": str(job) if row is None else row.address,
        "user": "" if row is None else row.user,
        "state": "" if row is None else row.state,
        "nodes": {node: list(indices) for node, indices in allocation.nodes.items()},
        "circuits": allocation.circuits,
        "on": job_name(job) in observed.applied,
    }


def _waiting(observed: ObservedState, desired: DesiredState) -> Iterator[dict[str, Any]]:
    for job, descriptor in sorted(observed.ours.items()):
        row = observed.jobs[job]
        if row.waits and job not in desired.places:
            why = desired.why.get(job) or descriptor.why or _unplaced(row)
            shown = {"job": job, "shown": row.address, "user": row.user}
            yield shown | {"nodes": list(descriptor.nodes), "gpus": descriptor.gpus, "why": why}


def _unplaced(row: JobRow) -> str:
    if row.waits_for_jobs:
        return f"waits for other jobs: {row.dependency}"
    return "an administrator holds it" if row.reason == "JobHeldAdmin" else "the planner has not seen it yet"


def differences(observed: ObservedState, desired: DesiredState) -> Iterator[str]:
    """Disagreements of Slurm, journal and switches now, in words. Those of jobs under way go by themselves."""
    for job, place in desired.places.items():
        row, allocation = observed.jobs.get(job), observed.allocations.get(job)
        if observed.has_ended(job) or row is None:
            yield f"job {job} has ended in Slurm, and has a place in the journal"
        elif row.holds and allocation != place:
            yield f"job {job} runs elsewhere than the journal says; it is being stopped"
        elif row.state == "RUNNING" and place.circuits and job_name(job) not in observed.applied:
            yield f"job {job} runs, and its circuits are off"
    for job, row in observed.jobs.items():
        if row.holds and job not in desired.places and (job in observed.allocations or row.takes_gpus):
            yield f"job {job} holds GPUs without a place in the journal; its nodes take no other jobs until it ends"
    for name in observed.applied:
        number = number_of(name)
        if number is None or observed.has_ended(number):
            yield f"circuits of {name} are on, and it has ended"

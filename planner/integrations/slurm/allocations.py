"""Allocation of each job: its accelerators on its nodes and its circuits. On disk these are the locks of the plugin."""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from planner.integrations.private_files import make_private, write_private
from planner.integrations.slurm.hooks import circuits_file, report_file
from planner.integrations.switch_drivers import Circuits
from planner.integrations.switch_drivers.parts import taken
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.placement.placement import Place

USERS_ONLY, ALL_READ = 0o400, 0o444


@dataclass(frozen=True)
class Allocation:
    """One job's nodes, with the indices of its accelerators in rank order, and its circuits."""

    nodes: Mapping[str, tuple[int, ...]]
    circuits: Circuits
    restarts: int = field(default=0, compare=False)
    """of the job when it got this"""
    leaves: bool = False
    """whether it has been, or is being, stopped there by the planner"""
    tries: int = field(default=0, compare=False)
    """starts that failed there one after the other, and no part was named"""
    again_s: float = field(default=0.0, compare=False)
    """time before which it is not started again"""
    said: str = field(default="", compare=False)
    """what the last of them said"""

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with the place: Slurm keeps them beside the nodes of the job."""
        text = json.dumps([list(self.nodes.items()), self.circuits], separators=(",", ":"))
        return sha256(text.encode()).hexdigest()[:12]

    @cached_property
    def locks(self) -> frozenset[str]:
        """All that no other job may have meanwhile."""
        indices = {f"{node}/{index}" for node, each in self.nodes.items() for index in each}
        return frozenset(indices | taken(self.circuits))


def allocation_of(place: "Place", node_of_server: Mapping[str, str], restarts: int) -> Allocation:
    """A place of the controller in the words of Slurm."""
    fabric, nodes = place.row.options.fabric, dict[str, list[int]]()
    for server, slot in place.devices:
        nodes.setdefault(node_of_server[fabric.server_name(server)], []).append(slot)
    return Allocation({node: tuple(indices) for node, indices in nodes.items()}, place.circuits_json, restarts)


@dataclass(frozen=True)
class Report:
    """Report of a hook that failed for a job."""

    action: str
    part: str | None
    said: str


Call = Literal["fail", "repair"]


@dataclass(frozen=True)
class Order:
    """Order of an operator on a part that Slurm does not know, such as a fiber."""

    call: Call
    part: str


class AllocationStore:
    """The files of one site: `jobs`, `circuits` and `reports` in its state, and the bindings that nodes read.

    Bindings and circuits are written before the lock and removed after it: where there is a lock, all is there.
    """

    def __init__(self, state: Path, bindings: Path) -> None:
        self._state, self._bindings = state, bindings
        self._known: dict[int, Allocation] | None = None
        for name in ("jobs", "circuits", "reports", "orders"):
            make_private(state / name)

    def all(self) -> dict[int, Allocation]:
        """Locked allocations by job; InputError for a file that cannot be read. Read once: nobody else writes it."""
        if self._known is None:
            self._known = {int(path.stem): _read(path) for path in self._files("jobs")}
        return dict(self._known)

    def reports(self) -> dict[int, Report]:
        """Reports of hooks that have not been read yet, by job."""
        found = {}
        for path in self._files("reports"):
            try:
                body = json.loads(path.read_text(encoding="utf-8"))
                found[int(path.stem)] = Report(body["action"], body["part"], body["said"])
            except (ValueError, KeyError, TypeError) as error:
                found[int(path.stem)] = Report("connect", None, f"{path} holds no report: {error}")
        return found

    def tell(self, job: int, allocation: Allocation, user_id: int) -> None:
        """Lock a place for a job, which holds nothing; ValueError where another job has some of it."""
        for other, theirs in self.all().items():
            if other != job and (both := allocation.locks & theirs.locks):
                raise ValueError(f"{min(both)} is locked for job {other}")
        self._unbind(job)
        for node, indices in allocation.nodes.items():
            self._bind(self._bindings / f"{job}.{node}", ",".join(map(str, indices)), user_id)
        write_private(circuits_file(self._state, job), json.dumps(allocation.circuits) + "\n")
        self.keep(job, allocation)
        self.heard(job)

    def keep(self, job: int, allocation: Allocation) -> None:
        """Write one lock."""
        known = self.all()
        write_private(self._path(job), _written(allocation))
        self._known = known | {job: allocation}

    def forget(self, job: int) -> None:
        """Unlock what a job had."""
        known = self.all()
        self._path(job).unlink(missing_ok=True)
        known.pop(job, None)
        self._known = known
        circuits_file(self._state, job).unlink(missing_ok=True)
        self._unbind(job)
        self.heard(job)

    def heard(self, job: int) -> None:
        """A report has been acted upon."""
        report_file(self._state, job).unlink(missing_ok=True)

    def orders(self) -> Iterator[tuple[Path, Order | None]]:
        """Orders of operators, the oldest first, each with its file, to be removed once it is done.

        None for a damaged one.
        """
        for path in sorted((self._state / "orders").glob("*.json")):
            try:
                body = json.loads(path.read_text(encoding="utf-8"))
                order = Order(body["call"], str(body["part"]))
            except (ValueError, KeyError, TypeError):
                yield path, None
            else:
                yield path, order if order.call in get_args(Call) else None

    def order(self, order: Order) -> None:
        """Leave an order for the daemon."""
        path = self._state / "orders" / f"{time.time_ns():020d}.json"
        write_private(path, json.dumps(asdict(order)) + "\n")

    def sweep(self) -> list[Path]:
        """Remove what a death between two files has left: files of jobs without a lock. Before that, locks that are
        damaged are written anew from bindings and circuits; what they were like is returned."""
        damaged = [path for path in self._files("jobs") if not _is_whole(path)]
        kept = [self._mend(path) for path in damaged]
        jobs = set(self.all())
        for path in (*self._files("circuits"), *self._bindings.glob("[0-9]*.*")):
            number = path.name.partition(".")[0]
            if number.isdigit() and int(number) not in jobs:
                path.unlink(missing_ok=True)
        return kept

    def _mend(self, path: Path) -> Path:
        """Lock what a job has, as one that the planner stops where it can: nobody knows whether that was all."""
        job, nodes = int(path.stem), dict[str, tuple[int, ...]]()
        circuits: Circuits = []
        for binding in self._bindings.glob(f"{job}.*"):
            with suppress(OSError, ValueError):
                nodes[binding.name.partition(".")[2]] = tuple(map(int, binding.read_text(encoding="ascii").split(",")))
        with suppress(OSError, ValueError, KeyError, TypeError):
            circuits = json.loads(circuits_file(self._state, job).read_text(encoding="utf-8"))
            taken(circuits)
        kept = path.with_suffix(".damaged")
        write_private(kept, path.read_text(encoding="utf-8", errors="replace"))
        write_private(path, _written(Allocation(nodes, circuits, leaves=True)))
        return kept

    def _path(self, job: int) -> Path:
        return self._state / "jobs" / f"{job}.json"

    def _files(self, folder: str) -> Iterable[Path]:
        return (path for path in sorted((self._state / folder).glob("*.json")) if path.stem.isdigit())

    def _bind(self, path: Path, indices: str, user_id: int) -> None:
        """For the user of the job alone, which root can do; else for all to read."""
        draft = path.with_name(f".{path.name}.new")
        draft.unlink(missing_ok=True)
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, USERS_ONLY)
        with open(file, "w", encoding="ascii") as stream:
            stream.write(indices + "\n")
            if os.geteuid() == 0:
                os.fchown(file, user_id, -1)
            else:
                os.fchmod(file, ALL_READ)
        os.replace(draft, path)

    def _unbind(self, job: int) -> None:
        for path in self._bindings.glob(f"{job}.*"):
            path.unlink(missing_ok=True)


def _written(allocation: Allocation) -> str:
    return json.dumps(asdict(allocation), separators=(",", ":")) + "\n"


def _is_whole(path: Path) -> bool:
    try:
        _read(path)
    except InputError:
        return False
    return True


def _read(path: Path) -> Allocation:
    try:
        body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        nodes = {node: tuple(indices) for node, indices in body["nodes"].items()}
        tries = {name: body[name] for name in ("tries", "again_s", "said") if name in body}
        return Allocation(nodes, body["circuits"], body["restarts"], body["leaves"], **tries)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"is damaged ({error}); remove it once that job has ended"
        raise InputError(str(path), "jobs", problem) from None


def set_aside(path: Path) -> Path:
    """Move a damaged file aside, where only people read it; returns its new path."""
    return path.replace(path.with_suffix(".damaged"))

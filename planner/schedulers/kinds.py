"""Candidates of what jobs ask for, expanded and scored once: slow, and done before anything is placed."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from costmodel.configuration import Configuration
from costmodel.fabrics import DividedPorts, FabricBase, Lightpath, Sipam
from planner.cluster import Cluster, Health
from planner.errors import InputError
from planner.expand import expand
from planner.instance import Instance, Job
from planner.problem import JobOptions
from planner.replay.kinds import Kind, Row, row_of
from planner.scenarios.derive import edited

ASKED = {"workload", "accelerators", "constraints", "weight", "utility", "step_at", "reference"}
"""fields of a job that its candidates and their order depend on"""


class Kinds:
    """Ways to run, by what a job asks for; health is left aside, so that they hold while parts fail and work again."""

    def __init__(self, cluster: Cluster) -> None:
        _require_served(cluster.fabric)
        self.cluster = edited(cluster, health=Health())
        self.texts: dict[str, str] = {}
        """what jobs of a kind ask for, as JSON"""
        self._kinds: dict[str, Kind] = {}
        self._most: dict[str, tuple[int, int]] = {}
        """accelerators, and optical ports, of the rows that take the most"""
        self._names: dict[str, str] = {}
        self._asked: dict[str, dict[str, Any]] = {}
        self._limited: dict[tuple[str, int, int], Kind] = {}

    def expand(self, job: Job) -> str:
        """The kind of a job by name, expanded where it is new; InputError where this cluster cannot run the job."""
        text = job.model_dump_json(include=ASKED)
        name = self._name(text)
        if name not in self._kinds:
            self._add(name, text, job)
        return name

    def name(self, job: Job) -> str:
        """What a job asks for, by a name; the same for all that ask for the same."""
        return self._name(job.model_dump_json(include=ASKED))

    def _name(self, text: str) -> str:
        if text not in self._names:
            self._names[text] = sha256(text.encode()).hexdigest()[:24]
        return self._names[text]

    def restore(self, name: str, text: str) -> None:
        """A kind that a journal names; it is expanded when it is asked for."""
        self.texts.setdefault(name, text)

    def _add(self, name: str, text: str, job: Job) -> None:
        rows = self._rows(job)
        ports = (row.shape.num_ranks for row in rows if row.sets_circuits)
        self._most[name] = max(row.shape.num_ranks for row in rows), max(ports, default=0)
        self.texts[name] = text
        self._kinds[name] = _kind_of(name, rows)  # the last: other threads take what is here for whole

    def asked(self, name: str) -> dict[str, Any]:
        """Fields of a job that its kind has."""
        if name not in self._asked:
            self._asked[name] = json.loads(self.texts[name])
        return self._asked[name]

    def require(self, names: Iterable[str]) -> None:
        """Expand these now, so that no event has to."""
        for name in names:
            self[name]

    def __getitem__(self, name: str) -> Kind:
        if name not in self._kinds:
            job = Job.model_validate({"name": "kind", **self.asked(name)})
            self._add(name, self.texts[name], job)
        return self._kinds[name]

    def limited(self, name: str, accelerators: int, ports: int) -> Kind:
        """A kind without the rows that take more than so many accelerators or, of those, optical ports."""
        kind = self[name]
        most, most_ports = self._most[name]
        if most <= accelerators and most_ports <= ports:
            return kind
        key = name, min(accelerators, most), min(ports, most_ports)
        if key not in self._limited:
            rows = tuple(row for row in kind.rows if _fits(row, accelerators, ports))
            self._limited[key] = _kind_of(name, rows)
        return self._limited[key]

    def row(self, name: str, number: int, configuration: Configuration) -> Row:
        """A row of a kind that ran in this configuration, found again where rows are counted otherwise today."""
        kind = self[name]
        for row in kind.rows:
            if row.number == number and row.options.candidates.configuration(number) == configuration:
                return row
        for row in kind.rows:
            if row.options.candidates.configuration(row.number) == configuration:
                return row
        raise InputError("journal", kind.name, f"no candidate is {configuration.degrees}; open it with its own version")

    def _rows(self, job: Job) -> tuple[Row, ...]:
        limit = self.cluster.fabric.most_devices_of_a_job
        if min(job.sizes, default=0) > limit or not job.sizes:
            raise InputError("submit", job.name, f"needs {min(job.sizes, default=0)} accelerators, at most {limit} can")
        instance = Instance(schema_version=1, name="kind", cluster=self.cluster, jobs=(job,))
        options = expand(instance).options[0]
        if not len(options):
            sizes = ", ".join(map(str, job.sizes))
            each = job.constraints.per_server
            problem = f"no way to divide it over {sizes} accelerators fits in memory here; ask for other numbers"
            if each is not None:
                problem = (
                    f"no way to run on {sizes} accelerators, {each} on each server, fits here; ask for other numbers"
                )
            raise InputError("submit", job.name, problem)
        rows = _rows(options, self.cluster)
        for row in rows:
            _warm(row)
        return rows


def _require_served(fabric: FabricBase) -> None:
    """InputError for a fabric whose memory a controller cannot hand out."""
    if isinstance(fabric, DividedPorts) and fabric.shared is not None:
        problem = "a controller hands out no shared appliances; take optical modules, or plan it with `planner solve`"
        raise InputError("cluster", "fabric.memory", problem)
    if isinstance(fabric, Sipam) and fabric.local_memory:
        problem = "a controller moves no pages into a pool; remove it, or plan the cluster with `planner solve`"
        raise InputError("cluster", "fabric.local_memory", problem)


def _kind_of(name: str, rows: tuple[Row, ...]) -> Kind:
    fewest = min((row.shape.num_ranks for row in rows), default=0)
    return Kind(name, fewest, fewest, rows, 1.0)


def _warm(row: Row) -> None:
    """Work out now what the first placement of a row would have to."""
    for shape in row.shape.by_phase if row.shape.held_units else ():
        assert len(shape.configurations) == len(shape.offsets)
    if row.shape.has_light:
        assert row.shape.offsets is not None
        assert row.layouts is not None


def _fits(row: Row, accelerators: int, ports: int) -> bool:
    return row.shape.num_ranks <= accelerators and (not row.sets_circuits or row.shape.num_ranks <= ports)


def _rows(options: JobOptions, cluster: Cluster) -> tuple[Row, ...]:
    """Rows by value; where no light tells them apart, the best of those that find a place together."""
    rows, seen = [], set()
    for number in options.rows_by_value():
        row = row_of(options, number, cluster, 1.0)
        if isinstance(cluster.fabric, Lightpath) or row.key not in seen:
            rows.append(row)
            seen.add(row.key)
    return _within_share(rows, cluster.fabric) if isinstance(cluster.fabric, Sipam) else tuple(rows)


def _within_share(rows: Sequence[Row], fabric: Sipam) -> tuple[Row, ...]:
    """Rows that take no more pooled memory than falls to their accelerators, and where as many accelerators cannot do
    with that, those that take the least, behind the others: a job that takes all that makes it faster leaves the next
    ones accelerators without memory."""
    share = fabric.units_per_server / fabric.devices_per_server
    least: dict[int, int] = {}
    for row in rows:
        size, units = row.shape.num_ranks, row.pool.units
        least[size] = min(units, least.get(size, units))
    kept = [row for row in rows if row.pool.units <= max(share, least[row.shape.num_ranks])]
    return tuple(sorted(kept, key=lambda row: row.pool.units > share))

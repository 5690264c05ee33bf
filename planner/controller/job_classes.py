"""Candidates of what jobs ask for, expanded and scored once: slow, and done before anything is placed.

They are kept by what they depend on, as far as a number of bytes allows. Kinds of jobs that wait or run always are;
of the others those go first that nobody asked for lately. For a question rows are listed alone: what their circuits ask
for is worked out of those that are looked at.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from typing import Any

from costmodel.parallelism.configuration import Configuration
from planner.candidates.expand import expand
from planner.candidates.unlisted import why_unlisted
from planner.controller.sizes import num_bytes
from planner.fabrics import plugin_of
from planner.fabrics.job_class import JobClass, Option
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.errors import FullError, InputError
from planner.model.health import Health
from planner.model.instance import Instance
from planner.model.job import Job

MOST_LIMITED = 1000
"""kinds without some of their rows"""
NO_NAMES: frozenset[str] = frozenset()


class JobClasses:
    """Ways to run, by what a job asks for; health is left aside, so that they hold while parts fail and work again."""

    def __init__(
        self, cluster: Cluster, most_bytes: float, in_use: Callable[[], set[str]], written: Callable[[str], str]
    ) -> None:
        """`in_use`: names of kinds whose jobs wait or run; `written`: the text of a kind that a journal names."""
        self._rules = plugin_of(cluster.fabric).job_classes
        self._rules.require_served(cluster.fabric)
        self.cluster = edited(cluster, health=Health())
        self._texts: dict[str, str] = {}
        self._at_hand = NO_NAMES
        self._most_bytes, self._in_use, self._written = most_bytes, in_use, written
        self._kinds: dict[str, JobClass] = {}
        self._listed: dict[str, tuple[Option, ...]] = {}
        """rows of kinds that are listed alone"""
        self._uncounted: dict[str, tuple[Option, ...]] = {}
        """those whose bytes nobody has counted yet: that takes as long as a question may"""
        self._most_ranks: dict[str, int] = {}
        self._most_ports: dict[str, int] = {}
        """accelerators, and optical ports, of the rows that take the most, as far as was asked"""
        self._bytes: dict[str, int] = {}
        self._left_bytes = 0
        """what all kinds took after the last `trim`"""
        self._used: dict[str, int] = {}
        """when each was asked for last, counted"""
        self._now = count()
        self._asked: dict[str, dict[str, Any]] = {}
        self._limited: dict[tuple[str, int, int], JobClass] = {}

    def expand(self, job: Job) -> str:
        """The kind of a job by name, expanded where it is new; InputError where this cluster cannot run the job,
        FullError where kinds of jobs that wait or run leave no memory for another."""
        name = self.list(job)
        self._work_out(name, is_bounded=True)
        return name

    def list(self, job: Job) -> str:
        """The same for a question: of a new kind rows are listed, and worked out when they are looked at."""
        text = job.job_class_json
        name = _name(text)
        self._used[name] = next(self._now)
        if name not in self._kinds:
            self._add(name, text, is_bounded=True, asked_by=job.name)
        self._texts[name] = text
        return name

    def name(self, job: Job) -> str:
        """The name of a job's class: the same for all jobs that ask for the same."""
        return _name(job.job_class_json)

    def __contains__(self, job: Job) -> bool:
        """True if the kind of a job is expanded."""
        name = self.name(job)
        return name in self._kinds and name not in self._listed

    def is_listed(self, job: Job) -> bool:
        """True if the rows of a job's kind are known, worked out or not."""
        return self.name(job) in self._kinds

    def is_listed_alone(self, name: str) -> bool:
        """True if rows of a kind are worked out when they are looked at."""
        return name in self._listed

    @property
    def num_bytes(self) -> int:
        """Bytes of all kinds together, as far as they are counted."""
        return sum(list(self._bytes.values()))

    def count(self) -> None:
        """Count the bytes of kinds that were listed since."""
        for name, rows in list(self._uncounted.items()):
            size = num_bytes(rows)
            if self._uncounted.pop(name, None) is rows:
                self._bytes.setdefault(name, size)

    @property
    def is_over(self) -> bool:
        """True if there are more than should be, and than the last `trim` had to leave."""
        self.count()
        return self.num_bytes > max(self._most_bytes, self._left_bytes) or len(self._limited) > MOST_LIMITED

    def trim(self) -> None:
        """Forget kinds that are not in use, those first that were asked for longest ago, until half of the memory is
        free; and all that is known of rows that some tenants may not take."""
        kept = self._in_use() | self._at_hand
        gone = sorted(set(self._kinds) - kept, key=lambda name: self._used.get(name, 0))
        left = self.num_bytes
        for name in gone:
            if left <= self._most_bytes / 2:
                break
            left -= self._bytes.get(name, 0)
            self._forget(name)
        self._left_bytes = left
        kept.update(self._kinds)
        self._limited.clear()
        for each in (self._texts, self._asked, self._used):
            for name in set(each) - kept:
                each.pop(name, None)

    def _forget(self, name: str) -> None:
        """Let go of one kind."""
        held = self._kinds, self._listed, self._uncounted, self._bytes, self._most_ranks, self._most_ports, self._used
        for known in held:
            known.pop(name, None)

    @contextmanager
    def holding(self, names: Iterable[str]) -> Iterator[None]:
        """Kinds of a submission that is looked at: they are in use meanwhile."""
        self._at_hand = frozenset(names)
        try:
            yield
        finally:
            self._at_hand = NO_NAMES

    def text(self, name: str) -> str:
        """The request of a kind of jobs, as JSON."""
        return self._texts.get(name) or self._written(name)

    def _require_room(self, name: str, size: int) -> None:
        used = (self._in_use() | self._at_hand) - {name}
        taken = sum(self._bytes.get(each, 0) for each in used)
        if taken and taken + size > self._most_bytes:
            problem = (
                f"{len(used)} kinds of jobs wait or run, and leave no memory for another one ({taken / 1e6:.0f} MB "
                f"of {self._most_bytes / 1e6:.0f} MB); ask again later, ask for what others ask for, or raise "
                "`kinds_memory` of the settings"
            )
            raise FullError("submit", "workload", problem)

    def _add(self, name: str, text: str, *, is_bounded: bool, asked_by: str = "kind") -> None:
        rows = self._rows(Job.model_validate({"name": asked_by, **json.loads(text), "weight": 1.0}))
        if is_bounded:
            self._require_room(name, 0)
        if name not in self._kinds:
            self._listed[name] = self._uncounted[name] = rows
            self._kinds[name] = self._kind_of(name, rows)  # the last: other threads take what is here for listed

    def _work_out(self, name: str, *, is_bounded: bool) -> None:
        """Work out all rows of a kind that are listed alone; it is forgotten where it finds no room."""
        rows = self._listed.get(name)
        if rows is None:
            return
        for row in rows:
            row.warm()
        size = num_bytes(rows)
        if is_bounded:
            try:
                self._require_room(name, size)
            except FullError:
                self._forget(name)
                raise
        if name in self._kinds:  # no `trim` of another thread has forgotten it meanwhile
            self._bytes[name] = size
        self._uncounted.pop(name, None)
        self._listed.pop(name, None)

    def asked(self, name: str) -> dict[str, Any]:
        """Fields of a job that its kind has."""
        if name not in self._asked:
            self._asked[name] = json.loads(self.text(name))
        return self._asked[name]

    def require(self, names: Iterable[str]) -> None:
        """Expand these now, so that no event has to."""
        for name in names:
            self[name]
            self._work_out(name, is_bounded=False)

    def __getitem__(self, name: str) -> JobClass:
        if name not in self._kinds:
            self._add(name, self.text(name), is_bounded=False)
            self._work_out(name, is_bounded=False)
        return self._kinds[name]

    def limited(self, name: str, accelerators: int, ports: int) -> JobClass:
        """A kind without the rows that take more than so many accelerators or, of those, optical ports."""
        kind = self[name]
        if name not in self._most_ranks:
            self._most_ranks[name] = max(row.size for row in kind.rows)
        most = self._most_ranks[name]
        if most <= min(accelerators, ports):
            return kind
        most_ports = self._ports(name, kind)
        if most <= accelerators and most_ports <= ports:
            return kind
        key = name, min(accelerators, most), min(ports, most_ports)
        if key not in self._limited:
            rows = tuple(row for row in kind.rows if _fits(row, accelerators, ports))
            self._limited[key] = self._kind_of(name, rows)
        return self._limited[key]

    def _ports(self, name: str, kind: JobClass) -> int:
        """Optical ports of the rows that take the most."""
        if name not in self._most_ports:
            ports = (row.size for row in kind.rows if row.sets_circuits)
            self._most_ports[name] = max(ports, default=0)
        return self._most_ports[name]

    def row(self, name: str, number: int, configuration: Configuration) -> Option:
        """A row of a kind that ran in this configuration, found again where rows are counted otherwise today."""
        kind = self[name]
        for row in kind.rows:
            if row.number == number and row.options.candidates.configuration(number) == configuration:
                return row
        for row in kind.rows:
            if row.options.candidates.configuration(row.number) == configuration:
                return row
        raise InputError("journal", kind.name, f"no candidate is {configuration.degrees}; open it with its own version")

    def _rows(self, job: Job) -> tuple[Option, ...]:
        """What a job may run as."""
        options = None
        if job.sizes and min(job.sizes) <= self.cluster.fabric.most_devices_of_a_job:
            instance = Instance(schema_version=2, name="kind", cluster=self.cluster, jobs=(job,))
            options = expand(instance).options[0]
        if options is None or not len(options):
            raise InputError("submit", job.name, f"{why_unlisted(self.cluster, job)}; ask for other numbers")
        order = options.rows_by_value()
        return self._rules.offered(self._rules.distinct(options, order, 1.0), self.cluster.fabric)

    def _kind_of(self, name: str, rows: tuple[Option, ...]) -> JobClass:
        fewest = min((row.size for row in rows), default=0)
        return self._rules.job_class(name, fewest, fewest, rows)


def _name(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:24]


def _fits(row: Option, accelerators: int, ports: int) -> bool:
    return row.size <= accelerators and (not row.sets_circuits or row.size <= ports)

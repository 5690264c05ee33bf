"""What is wrong with a place by itself, on fabrics whose jobs share nothing but accelerators."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, TypeAlias

from costmodel.fabrics import OcsRail, Torus
from planner.checks import CHECKS
from planner.fabrics.job_class import Option
from planner.model.cluster import Cluster, Health
from planner.model.edit import edited
from planner.model.instance import Instance, Job
from planner.model.plan import Plan
from planner.placement.placement import Place

ASKED = {"workload", "accelerators", "constraints", "utility", "step_at", "reference"}
"""fields of a job that rules depend on where it runs alone; its weight multiplies its value, whatever that is"""
OF_LAYOUT = ("placement", "block", "per_server", "rack", "circuits", "rails", "cut", "switches")
"""rules that depend on where a job lies; where these hold, the others depend on job and configuration alone"""
MOST_REMEMBERED = 100_000
"""places by what they have alike"""
Key: TypeAlias = tuple[str, int, str, tuple[int, ...], tuple[int, ...]]


class IsolatedValidator:
    """What is wrong with a place where nothing else runs and nothing has failed: by `planner.checks`, and remembered.

    On optical rails, tori and SiPAC every port of a switch belongs to one accelerator (on rails one of each switch of
    its rail, on a torus the one of its face and place), and circuits join accelerators of the job itself. So jobs whose
    circuits are each right by themselves share nothing as long as they share no accelerator, which `Guard` looks at,
    as at failed parts.

    Servers of a rack are all alike there, and so are the rails of a server: no rule changes where servers, or rails,
    change their places. So one verdict holds for all places with the same configuration and circuits by rank whose
    ranks lie alike: equal servers where the other has equal ones, in the same slots, on rails in slots that are equal
    where the other's are. Racks are all alike, too: on a torus names of switches begin with their rack, and one verdict
    holds for circuits that differ in that beginning alone.

    Of a job and configuration whose first place was right, other layouts are held to the rules of layout alone: the
    others follow job and configuration, and times over circuits and links, which these rules have shown to be the same.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = edited(cluster, health=Health())
        self._asked: dict[str, Instance] = {}
        self._rows: dict[int, Option] = {}
        """by identity, which lasts as long as the row is kept"""
        self._right: set[tuple[str, int]] = set()
        self._known: dict[Key, str | None] = {}
        self._moved: dict[tuple[str, int], str] = {}
        """circuits of a rack as those of any, by their name and the rack"""

    def objection(self, job: Job, place: Place) -> str | None:
        """The first rule that the place breaks, in words; None where it breaks none."""
        key = self._key(job, place)
        if key not in self._known:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
                self._moved.clear()
            self._known[key] = self._checked(key[0], job, place)
        return self._known[key]

    def _key(self, job: Job, place: Place) -> Key:
        fabric = self._cluster.fabric
        servers, slots = zip(*place.devices, strict=True)
        places = _numbered(slots) if isinstance(fabric, OcsRail) else slots
        row = self._rows.setdefault(id(place.row), place.row)
        return job.model_dump_json(include=ASKED), id(row), self._circuits(place), _numbered(servers), places

    def _circuits(self, place: Place) -> str:
        """What tells the circuits of a place from others, but for the rack on whose switches they are."""
        fabric, name = self._cluster.fabric, place.wiring.name
        if not isinstance(fabric, Torus) or fabric.racks == 1:
            return name
        rack = fabric.rack_of(place.devices[0][0])
        if (name, rack) not in self._moved:
            text = place.wiring.text.replace(f'"r{rack}.', '"r.')
            self._moved[name, rack] = sha256(text.encode()).hexdigest()
        return self._moved[name, rack]

    def _checked(self, asked: str, job: Job, place: Place) -> str | None:
        if asked not in self._asked:
            fields: dict[str, Any] = {name: getattr(job, name) for name in ASKED}
            alone = Job(name="the job", **fields)
            self._asked[asked] = Instance(schema_version=1, name="controller", cluster=self._cluster, jobs=(alone,))
        instance, of_row = self._asked[asked], (asked, id(place.row))
        plan = Plan(instance="controller", assignments=(place.assignment(instance.jobs[0]),))
        rules = OF_LAYOUT if of_row in self._right else tuple(CHECKS)
        wrong = next((each.message for rule in rules for each in CHECKS[rule](instance, plan)), None)
        if wrong is None:
            self._right.add(of_row)
        return wrong


def _numbered(values: Sequence[int]) -> tuple[int, ...]:
    """Numbers of values in the order in which they first come."""
    number: dict[int, int] = {}
    return tuple([number.setdefault(value, len(number)) for value in values])

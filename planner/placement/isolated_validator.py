"""Checks a place by itself with `planner.checks`, and remembers the verdict for all places alike."""

from collections.abc import Hashable, Mapping
from typing import Any

from planner.checks import CHECKS
from planner.checks.required import Links
from planner.fabrics import plugin_of
from planner.fabrics.job_class import Option
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import JOB_CLASS_FIELDS, Job
from planner.model.plan import Plan
from planner.placement.placement import Place

OF_JOB = {"admission", "listed", "residents", "second_tier", "rounds", "claims"}
"""rules that follow from job and configuration, and from times over circuits that the other rules have found right"""
OF_SWITCHES = "pool_light"
"""the rule of what switches connect, which follows from circuits that the other rules have found right"""
MOST_REMEMBERED = 20_000
"""verdicts; each takes up to 10 kB"""
Verdict = tuple[str | None, Mapping[tuple[int, str], int]]
"""rule that a place breaks, and amounts that must be left when it starts: by number of its server, and part there"""


class IsolatedValidator:
    """Checks places where nothing else runs: jobs whose circuits are each right by themselves and that
    own nothing in common can stand together, which the validator of all looks at.

    One verdict holds for all places of a job and configuration that lie alike, as the fabric says (`Isolation`). Of a
    job and configuration whose first place was right, other layouts are held to the rules of layout alone.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._plugin = plugin_of(cluster.fabric)
        self._required: dict[Option, list[tuple[str, Links]] | None] = {}
        self._right: set[tuple[str, Option]] = set()
        self.healed(cluster)

    def healed(self, cluster: Cluster) -> None:
        """Parts have failed, or work again."""
        self._cluster = cluster
        self._known: dict[Hashable, Verdict] = {}
        self._ground: Cluster | None = None
        self._asked: dict[str, Instance] = {}

    def objection(self, job: Job, place: Place) -> str | None:
        """The first rule that the place breaks, in words; None where it breaks none."""
        return self.verdict(job, place)[0]

    def verdict(self, job: Job, place: Place) -> Verdict:
        """The first rule that the place breaks, None for none, and amounts that it reserves."""
        isolation, fabric = self._plugin.isolation, self._cluster.fabric
        asked = job.job_class_json if isolation.is_checked(fabric) else ""
        key = asked, place.row, isolation.lie(self._cluster, place)
        if key not in self._known:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            wrong = isolation.wrong(fabric, place, lambda: self._links(place))
            self._known[key] = (wrong, {}) if wrong or not asked else self._checked(asked, job, place)
        wrong, reserved = self._known[key]
        return wrong or isolation.wrong_here(fabric, place), reserved

    def _links(self, place: Place) -> list[tuple[str, Links]] | None:
        """Circuits by rank that the configuration of a place must have."""
        if place.row not in self._required:
            self._required[place.row] = self._plugin.rules.required(place.configuration)
        return self._required[place.row]

    def _checked(self, asked: str, job: Job, place: Place) -> Verdict:
        if asked not in self._asked:
            if self._ground is None:
                self._ground = self._plugin.isolation.ground(self._cluster)
            fields: dict[str, Any] = {name: getattr(job, name) for name in JOB_CLASS_FIELDS}
            alone = Job(name="the job", **fields)
            self._asked[asked] = Instance(schema_version=2, name="controller", cluster=self._ground, jobs=(alone,))
        instance, of_row = self._asked[asked], (asked, place.row)
        assignment = place.assignment(instance.jobs[0])
        plan = Plan(instance="controller", assignments=(assignment,))
        rules = [rule for rule in CHECKS if rule != OF_SWITCHES and not (of_row in self._right and rule in OF_JOB)]
        wrong = next((each.message for rule in rules for each in CHECKS[rule](instance, plan)), None)
        if wrong is None:
            plan = plan.model_copy(update={"switches": self._plugin.switch_setting(instance, (assignment,))})
            wrong = next((each.message for each in CHECKS[OF_SWITCHES](instance, plan)), None)
        if wrong is not None:
            return wrong, {}
        self._right.add(of_row)
        reserved = self._plugin.isolation.reserved(self._cluster, instance.jobs[0], assignment)
        return None, {(place.servers.index(server), part): count for (server, part), count in reserved.items()}

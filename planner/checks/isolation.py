"""A placement where nothing else runs: what the rules depend on there, so that verdicts can be remembered.

A placement is right beside others if nobody else owns what it claims (`planner.fabrics.claims`), if nothing that it
claims has failed, and if the rules have no objection to it alone. The last does not change where servers, say, change
their numbers: `lie` says which placements are alike.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence

from costmodel.fabrics import FabricBase
from planner.checks.required import Links
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import Health
from planner.model.job import Job
from planner.model.lying import Lying
from planner.model.plan import Assignment

Required = Callable[[], list[tuple[str, Links]] | None]
"""circuits by rank that a configuration must have, by dimension; None where it cannot have any"""


class Isolation:
    """The defaults hold where jobs have no circuits and share nothing: no rule needs to look at one alone."""

    def is_checked(self, fabric: FabricBase) -> bool:
        """True if all rules look at a placement alone, once for all that lie alike."""
        return False

    def ground(self, cluster: Cluster) -> Cluster:
        """The cluster on which they look: with nothing failed, since claims say what is lost."""
        return edited(cluster, health=Health())

    def lie(self, cluster: Cluster, place: Lying) -> Hashable:
        """All that rules depend on, for one job and configuration."""
        return None

    def wrong(self, fabric: FabricBase, place: Lying, required: Required) -> str | None:
        """The first fault of the circuits by rank, of those that are required; the same for all that lie alike."""
        return None

    def wrong_here(self, fabric: FabricBase, place: Lying) -> str | None:
        """Parts that are not there."""
        return None

    def reserved(self, cluster: Cluster, job: Job, assignment: Assignment) -> Mapping[tuple[int, str], int]:
        """Amounts that must be left when a job starts, by server and the rest of the name of a part."""
        return {}


def numbered(values: Sequence[int]) -> tuple[int, ...]:
    """Numbers of values in the order in which they first come."""
    number: dict[int, int] = {}
    return tuple([number.setdefault(value, len(number)) for value in values])

"""What a user asks of a job's candidates beyond their price, and those that meet it."""

from typing import NamedTuple, Self

import numpy as np

from costmodel.pricing.candidates import Candidates
from costmodel.pricing.score import Scores
from costmodel.pricing.servers_by_rack import ServersByRack


class Limits(NamedTuple):
    """What a user asks of places and settings, as in `listed_and_priced`."""

    one_server: bool = False
    """the whole job in one server"""
    per_server: int | None = None
    """accelerators that each server of the job gives"""
    collective: str | None = None
    """the only kind of plan along the dimensions that all-reduce"""
    one_setting: bool = False
    """the same circuits and memory in all phases"""
    servers_by_rack: ServersByRack | None = None
    """servers that the job takes of each rack, where it says how many accelerators each of them gives"""

    @classmethod
    def of(cls, asked: object) -> Self:
        """Those of an object that has an attribute for each of them, such as the constraints of a job."""
        return cls(**{name: getattr(asked, name) for name in cls._fields})

    def without_one(self) -> dict[str, "Limits"]:
        """These limits less one of them, by its name; numbers of servers mean nothing without those of a server."""
        found = {name: self._replace(**{name: none}) for name, none in NOTHING.items() if getattr(self, name) != none}
        if self.servers_by_rack is not None and "per_server" in found:
            found["per_server"] = found["per_server"]._replace(servers_by_rack=None)
            found = {"servers_by_rack": found.pop("servers_by_rack"), **found}
        return found

    @property
    def of_places(self) -> "Limits":
        """Those on which the collectives of a job depend."""
        return self._replace(one_setting=False)


ANYWHERE = Limits()
NOTHING = ANYWHERE._asdict()


def within_limits(candidates: Candidates, scores: Scores) -> tuple[Candidates, Scores]:
    """The rows whose users wait no longer than the limits of the workload, where it has any."""
    limits = candidates.workload.limits
    if limits is None:
        return candidates, scores
    rows = np.flatnonzero(limits.are_met(scores.ttft_s, scores.tpot_s))
    return candidates.take(rows), scores.take(rows)

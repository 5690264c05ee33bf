"""Slices as the API has them: whose they are, and what their conditions say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from planner.integrations.kubernetes.config import DOMAIN, Object
from planner.integrations.slices.resource import MOST_LETTERS

OWNER = f"{DOMAIN}/job"
"""annotation of a Slice that the planner made: its job"""
FAILED = ("FAILED", "SliceCreationFailed")
"""reasons and types of conditions of a Slice that does not recover by itself"""
_HASH = 12
"""characters of a name that keep jobs apart"""
_NUMBER = 4
"""characters left for the number of a Slice of several"""


def base_name(job: str) -> str:
    """Name of the only Slice of a job; of several each has a number behind it. No two jobs have the same."""
    plain = re.sub(r"[^a-z0-9]+", "-", job.lower()).strip("-")
    plain = plain if plain[:1].isalpha() else f"job-{plain}"
    kept = plain[: MOST_LETTERS - _HASH - _NUMBER - 1].strip("-")
    return f"{kept}-{sha256(job.encode()).hexdigest()[:_HASH]}"


def names_of(job: str, count: int) -> list[str]:
    """Names of so many Slices of a job."""
    base = base_name(job)
    return [base] if count == 1 else [f"{base}-{number}" for number in range(count)]


@dataclass(frozen=True)
class SliceObject:
    """One object of the API."""

    item: Object

    @property
    def name(self) -> str:
        return str(self.item["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.item["metadata"].get("uid") or "")

    @property
    def spec(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.item.get("spec") or {}
        return found

    @property
    def partitions(self) -> frozenset[str]:
        return frozenset(map(str, self.spec.get("partitionIds") or ()))

    @property
    def is_leaving(self) -> bool:
        return bool(self.item["metadata"].get("deletionTimestamp"))

    @cached_property
    def owner(self) -> str:
        """The job that it was made for by a planner; nothing for another's."""
        job = str((self.item["metadata"].get("annotations") or {}).get(OWNER) or "")
        return job if job and self.is_of(job) else ""

    def is_of(self, job: str) -> bool:
        """True if its name is one that only this job's Slices have, whatever was written on it since."""
        return re.fullmatch(rf"{re.escape(base_name(job))}(-\d+)?", self.name) is not None

    def has_spec(self, spec: Mapping[str, Any]) -> bool:
        """True if it asks for the same, in whatever order; fields that a later version of the API adds do not count."""
        same = all(self.spec.get(key) == value for key, value in spec.items() if key != "partitionIds")
        listed = self.spec.get("partitionIds") or ()
        return same and len(listed) == len(spec["partitionIds"]) and self.partitions == {*spec["partitionIds"]}

    @property
    def is_ready(self) -> bool:
        ready = self._condition("Ready")
        return not self.is_leaving and ready is not None and ready.get("status") == "True"

    @property
    def has_failed(self) -> bool:
        """True if it does not become ready by itself any more; one that is being deleted is over."""
        if self.is_leaving:
            return False
        ready, failed = self._condition("Ready"), self._condition(FAILED[1])
        is_failed = ready is not None and ready.get("status") != "True" and ready.get("reason") in FAILED
        return is_failed or (failed is not None and failed.get("status") == "True")

    @property
    def said(self) -> str:
        """Its state in the words of its conditions."""
        shown = [one for one in (self._condition(FAILED[1]), self._condition("Ready")) if one is not None]
        words = [f"{one.get('reason', '')} {one.get('message', '')}".strip() for one in shown]
        state = "being deleted" if self.is_leaving else "without conditions yet"
        return f"Slice {self.name} is {'; '.join(words) if words and not self.is_leaving else state}"

    def _condition(self, kind: str) -> Object | None:
        """A condition of the object as it is now: one of an earlier generation says nothing."""
        generation = int(self.item["metadata"].get("generation") or 0)
        for one in (self.item.get("status") or {}).get("conditions") or ():
            if one.get("type") == kind and int(one.get("observedGeneration") or generation) >= generation:
                found: Object = one
                return found
        return None

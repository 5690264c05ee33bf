"""A session: the text that is edited, what was made of it, and one search at a time, all by the public API."""

import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.api import InputError, Instance, Problem, RefusedPlanError, check, expand, repair, solve
from planner.cpsat.repair import RepairLimits
from planner.explain.best_fit import by_best_fit
from planner.model import files
from planner.model.clock import Clock
from planner.model.errors import ConflictError, UnitWarning
from planner.pipeline import listing
from planner.policies import POLICIES, find_policy
from planner.studio.form import failed_names, form_of, without_part
from planner.studio.instance_file import KnownFiles
from planner.studio.search import RunningSearch, SearchSlot
from planner.studio.text_edits import block_of, read_value, with_block, with_item, with_value, without
from planner.studio.variants import Origin, SolvedVariant, VariantList, digest_of, result_of_repair, row_of_result
from planner.whatif.failures import damaged, parse_failures

REPAIR_S = 10.0
"""at most for a repair"""


class Session:
    """What one reader does with one file."""

    def __init__(
        self, path: Path, versions: Mapping[str, str], *, time_limit_s: float = 60.0, workers: int | None = None
    ) -> None:
        """InputError where the file cannot be read; what is wrong in it is shown and may be mended."""
        self.path, self._workers = path, workers
        self._time_limit_s, self._origin = time_limit_s, Origin(f"planner studio {path}", versions)
        self._files, self.variants, self.slot = KnownFiles(), VariantList(), SearchSlot()
        self._lock = threading.Lock()
        self._text = self._saved = self._files.read(path)
        self.draft(self._text)

    @property
    def state(self) -> dict[str, Any]:
        """All that the page begins with."""
        return {
            **self.draft(self._text),
            "saved": self._saved,
            "path": str(self.path),
            "policies": [*POLICIES],
            "time_limit_s": self._time_limit_s,
            "variants": self.variants.data,
            "search": None if self.slot.last is None else self.slot.last.data,
        }

    # The text

    def draft(self, text: str) -> dict[str, Any]:
        """A text as it is edited: its form, and what is wrong in it, if anything."""
        self._text = text
        form, notes, error = None, list[str](), None
        try:
            form = form_of(self._data(text))
            notes = self._instance(text)[1]
        except InputError as found:
            error = {"where": found.where, "field": found.field, "problem": found.problem}
        return {"text": text, "digest": digest_of(text), "form": form, "notes": notes, "error": error}

    def set_field(self, text: str, path: Sequence[str | int], value: str) -> str:
        """The text with one field as the reader writes it; an empty one is left out."""
        self._data(text)
        if not value.strip():
            return without(text, path)
        return with_value(text, path, read_value(value, ".".join(map(str, path))))

    def job(self, text: str, number: int) -> str:
        """One job as lines of YAML."""
        self._data(text)
        return block_of(text, ("jobs", number))

    def set_job(self, text: str, number: int | None, block: str) -> str:
        """The text with one job written anew, or with one more."""
        self._data(text)
        if not isinstance(read_value(block, "job"), dict):
            raise InputError("job", "", "is no mapping of fields; write name, workload and accelerators")
        return with_item(text, ("jobs",), block) if number is None else with_block(text, ("jobs", number), block)

    def remove_job(self, text: str, number: int) -> str:
        self._data(text)
        return without(text, ("jobs", number))

    def fail(self, text: str, names: Sequence[str]) -> str:
        """The text with more parts down, by the names that `--failed` takes."""
        instance, _ = self._instance(text)
        return _with_health(text, damaged(instance, parse_failures(instance.cluster, names)))

    def mend(self, text: str, name: str) -> str:
        """The text with a failed part working again."""
        cluster = self._data(text).get("cluster")
        health = cluster.get("health") if isinstance(cluster, dict) else None
        if not isinstance(health, dict) or name not in failed_names(health):
            return text
        kept = without_part(health, name)
        return with_value(text, ("cluster", "health"), kept) if kept else without(text, ("cluster", "health"))

    def open(self) -> str:
        """The text of the file as it is on disk now."""
        self._saved = self._files.read(self.path)
        return self._saved

    def save(self, path: Path, text: str, replaces: str | None, began_with: str | None = None) -> None:
        """Write a valid text to a file, which the session then goes on with. `began_with`: what the page that saves
        knows as saved; ConflictError where another page of the session has saved since, unless that is replaced."""
        Instance.of_file(files.parse_text(text, str(path)), path)
        is_overtaken = began_with not in (None, self._saved) and path == self.path
        if is_overtaken and replaces is None:
            raise ConflictError(str(path), "", "was saved in another tab since; save under another name, or replace it")
        self._files.write(path, text, replaces=replaces)
        self.path, self._text, self._saved = path, text, text

    # Searches

    def start_solve(self, text: str, policy: str, time_limit_s: float, gap: float) -> RunningSearch:
        """Begin to solve a text; InputError where it cannot be, ConflictError while another search goes on."""
        find_policy(policy)
        instance = self._instance(text)[0]
        return self.slot.start(
            f"solving {instance.name}", time_limit_s,
            lambda search: self._solve(search, text, instance, policy, gap),
        )  # fmt: skip

    def _solve(self, search: RunningSearch, text: str, instance: Instance, policy: str, gap: float) -> int:
        clock = Clock.of(search.time_limit_s, search.is_stopped)
        whole, last = listing(clock, instance)
        problem = expand(instance, clock=whole, last=last)
        result = solve(
            problem, policy=policy, time_limit_s=clock.left_s, gap=gap, workers=self._workers,
            on_incumbent=search.note, should_stop=search.is_stopped, pages_time_limit_s=5.0,
        )  # fmt: skip
        number = self.variants.next_number()
        self.variants.add(
            SolvedVariant(
                number, f"plan {number}", text, instance, result, row_of_result(problem, result),
                best_fit=by_best_fit(problem, result), origin=self._origin,
            )
        )  # fmt: skip
        return number

    def start_repair(self, number: int, names: Sequence[str]) -> RunningSearch:
        """Begin to repair the plan of a variant after failures; errors as `start_solve`."""
        variant = self.variants[number]
        if variant.result.plan is None:
            raise InputError("variant", variant.name, "has no plan to repair; solve anew")
        parse_failures(variant.instance.cluster, names)
        return self.slot.start(
            f"repairing {variant.name}", REPAIR_S, lambda search: self._repair(variant, names),
        )  # fmt: skip

    def _repair(self, variant: SolvedVariant, names: Sequence[str]) -> int:
        plan = variant.result.plan
        assert plan is not None
        found = repair(variant.instance, plan, names, limits=RepairLimits(REPAIR_S, workers=self._workers))
        if found.plan is not None and (violations := check(found.instance, found.plan)):
            raise RefusedPlanError([violation.message for violation in violations], found.plan)
        result = result_of_repair(variant.result, found)
        number = self.variants.next_number()
        self.variants.add(
            SolvedVariant(
                number, f"{variant.name}, {', '.join(names)} failed", _with_health(variant.text, found.instance),
                found.instance, result, row_of_result(Problem(found.instance, ()), result), repair=found,
                origin=self._origin,
            ),
            beside=variant.number,
        )  # fmt: skip
        return number

    # How a text is read

    def _data(self, text: str) -> dict[str, Any]:
        return files.parse_text(text, str(self.path))

    def _instance(self, text: str) -> tuple[Instance, list[str]]:
        """The instance, and how numbers without a unit were read."""
        with self._lock, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnitWarning)
            instance = Instance.of_file(self._data(text), self.path)
            data = self._data(text)
            files.warn_of_missing_units(instance, data, str(self.path))
        return instance, [str(each.message) for each in caught if issubclass(each.category, UnitWarning)]


def _with_health(text: str, instance: Instance) -> str:
    """The text with the failed parts of an instance made of it."""
    health = instance.cluster.health.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return with_value(text, ("cluster", "health"), health)

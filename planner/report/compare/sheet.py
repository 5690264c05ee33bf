"""Rows of a comparison looked up: a run is a policy on an instance, a condition the values of the grid."""

from collections.abc import Mapping, Sequence

from planner.report.study.figures import FigureSheet, Run
from planner.simulate.measures import Measure
from planner.studies.compare.comparable import with_most_jobs
from planner.studies.compare.rows import PolicyRow

Condition = str
"""values of the grid in words; "" for instances as they are written"""
MEASURES: Mapping[str, Measure] = {
    "value": Measure("value", "", "weight times utility of all jobs that run", "more"),
    "bound": Measure("bound", "", "no plan is better in the first objective, as a run on the same variant proved"),
    "gap": Measure("gap", "", "distance of the first objective from the bound", "less", is_share=True),
    "admitted": Measure("jobs that run", "", "residents included", "more"),
    "devices_used": Measure("accelerators used", "", "by jobs that run"),
    "tokens_per_s": Measure("tokens per second", "tokens/s", "all jobs whose work is tokens, together", "more"),
    "joules_per_token": Measure("energy per token", "J", "of these jobs", "less"),
    "samples_per_s": Measure("samples per second", "samples/s", "all jobs whose work is samples, together", "more"),
    "joules_per_sample": Measure("energy per sample", "J", "of these jobs", "less"),
    "power_w": Measure("power", "W", "accelerators and links of all jobs that run", "less"),
    "energy": Measure("energy objective", "", "weighted energy per unit of work over that of each reference", "less"),
    "fragmentation": Measure("fragmentation", "", "what free accelerators lack to take jobs of usual sizes", "less"),
    "wall_time_s": Measure("time to plan", "s", "of the machine that ran the comparison", "less"),
}  # fmt: skip
COSTS = {
    "cost_per_h": "cost per hour",
    "cost_per_million_tokens": "cost per million tokens",
    "cost_per_million_samples": "cost per million samples",
}


class ComparisonSheet(FigureSheet):
    """Figures of rows; a row without a plan has none but its time."""

    def __init__(self, rows: Sequence[PolicyRow]) -> None:
        self.rows = list(rows)
        self.conditions: list[Condition] = list(dict.fromkeys(map(condition_of, rows)))
        self.runs: list[Run] = list(dict.fromkeys((row.instance, row.policy) for row in rows))
        self.instances: list[str] = list(dict.fromkeys(row.instance for row in rows))
        self.seeds = sorted({row.seed for row in rows})
        self._rows: dict[tuple[Condition, Run], list[PolicyRow]] = {}
        for row in rows:
            self._rows.setdefault((condition_of(row), (row.instance, row.policy)), []).append(row)

    def rows_of(self, condition: Condition, run: Run) -> Sequence[PolicyRow]:
        """One for each seed that was run."""
        return self._rows.get((condition, run), ())

    def values(self, condition: Condition, run: Run, measure: str) -> dict[int, float]:
        """By seed, of rows that have the measure; without a plan there is nothing but the time."""
        known = [row for row in self.rows_of(condition, run) if row.value is not None or measure == "wall_time_s"]
        return {row.seed: value for row in known if (value := getattr(row, measure)) is not None}

    def is_sound(self, condition: Condition, run: Run) -> bool:
        """Whether every seed has a plan that the check accepts."""
        rows = self.rows_of(condition, run)
        return bool(rows) and all(row.value is not None and not row.violations for row in rows)

    def leaders(self, condition: Condition, instance: str) -> list[Run]:
        """Sound runs on an instance by value, the most first."""
        runs = [run for run in self.runs if run[0] == instance and self.is_sound(condition, run)]
        return sorted(runs, key=lambda run: -(self.mean(condition, run, "value")[0] or 0.0))

    def groups(self, condition: Condition, *, are_same_jobs: bool) -> list[list[Run]]:
        """Sound runs that compare: of each instance, or of all where their jobs are the same."""
        sound = [run for run in self.runs if self.is_sound(condition, run)]
        return [sound] if are_same_jobs else [[run for run in sound if run[0] == each] for each in self.instances]

    def admitted(self, condition: Condition, run: Run) -> float:
        return self.mean(condition, run, "admitted")[0] or 0.0

    def with_most_jobs(self, condition: Condition, among: Sequence[Run]) -> list[Run]:
        """Of some sound runs those that compare in what they do and take."""
        return with_most_jobs({run: self.admitted(condition, run) for run in among})


def condition_of(row: PolicyRow) -> Condition:
    """Values of the grid, each with the last key of its path."""
    return ", ".join(f"{path.rsplit('.', 1)[-1]}={value}" for path, value in row.parameters.items())


def measures_of(sheet: ComparisonSheet, currency: str | None, *, with_timings: bool) -> dict[str, Measure]:
    """Measures that any row has."""
    costs = {name: Measure(title, currency or "", "of the whole cluster: capital over its lifetime, and energy", "less")
             for name, title in COSTS.items()}  # fmt: skip
    return {
        name: measure
        for name, measure in {**MEASURES, **costs}.items()
        if any(getattr(row, name) is not None for row in sheet.rows) and (with_timings or name != "wall_time_s")
    }

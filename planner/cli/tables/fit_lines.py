"""Lines that say what prices rest on: jobs and kernels outside what a fit saw, and fits of other devices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from costmodel.wording import counted
from planner.cli.output import plain
from planner.model.phrases import few

if TYPE_CHECKING:
    from costmodel.hardware.device import Device
    from costmodel.pricing.candidates import Candidates
    from costmodel.pricing.curves_used import CurveUse
    from costmodel.pricing.fit_ranges import Far
    from planner.model.instance import Instance
    from planner.model.plan import Assignment, Plan

MOST_OUTSIDE = 4
"""lines of jobs, and of kernels, outside what a fit saw"""
JOBS_OUTSIDE = "less sure, beyond the sizes that were measured"
KERNELS_OUTSIDE = "less sure, kernels beyond the sizes that were measured"


def fit_lines(instance: "Instance", plan: "Plan") -> list[str]:
    """Of a plan: jobs and kernels outside what fits saw, what was carried over from other devices, and whether power is
    an estimate."""
    from costmodel.pricing.curves_used import carried_over, unfitted_framework
    from costmodel.pricing.power import power_in_words

    device = instance.cluster.device
    uses = [(each.job, used) for alike in _alike(instance, plan) for used in _used(instance, alike) for each in alike]
    carried = carried_over(use for _, use in uses)
    frameworks = dict.fromkeys(unfitted_framework(instance.job(job).workload, device) for job in plan.admitted)
    whole = filter(None, [*frameworks, power_in_words(device)])
    return list(map(plain, [*_jobs_outside(instance, plan), *_kernels_outside(uses), *carried, *whole]))


@dataclass(frozen=True)
class JobFits:
    """What the prices of one job rest on."""

    outside: list[str]
    """what the job asks beyond what fits of whole steps saw, in words"""
    kernels: list[str]
    """the same of its kernels"""
    carried_over: list[str]
    """lines of what was fitted elsewhere"""
    framework: str
    """that nothing was fitted under its framework, where that is so"""
    power: str
    """that it is an estimate, where it is"""

    @classmethod
    def of(cls, rows: "Candidates", device: "Device") -> "JobFits":
        """Of candidates of a job; what it asks as a whole is that of the first one."""
        from costmodel.pricing.curves_used import carried_over, curves_used, unfitted_framework
        from costmodel.pricing.fit_ranges import outside_fit
        from costmodel.pricing.power import power_in_words

        uses = curves_used(rows, device)
        asked = rows.workload.fitted_on(device, int(rows.num_devices[0]))
        kernels = [far.told for use in uses for far in use.far]
        framework = unfitted_framework(rows.workload, device)
        return cls(outside_fit(*asked), kernels, carried_over(uses), framework, power_in_words(device))

    @property
    def lines(self) -> list[str]:
        found = [f"{JOBS_OUTSIDE}: {', '.join(self.outside)}"] if self.outside else []
        found += [f"{KERNELS_OUTSIDE}: {', '.join(self.kernels)}"] if self.kernels else []
        return [plain(line) for line in (*found, *self.carried_over, *filter(None, [self.framework, self.power]))]


def _jobs_outside(instance: "Instance", plan: "Plan") -> list[str]:
    """Jobs that ask for more, or less, than what the efficiencies that price them were fitted on: those that are
    outside alike on one line, the most first."""
    from costmodel.pricing.fit_ranges import outside_fit

    outside: dict[str, list[str]] = {}
    for assignment in plan.assignments:
        asked = instance.job(assignment.job).workload
        if found := outside_fit(*asked.fitted_on(instance.cluster.device, len(assignment.devices))):
            outside.setdefault(", ".join(found), []).append(assignment.job)
    alike = sorted(outside.items(), key=lambda item: -len(item[1]))
    lines = [f"{few(names)}: {JOBS_OUTSIDE}: {found}" for found, names in alike[:MOST_OUTSIDE]]
    if rest := sum(len(names) for _, names in alike[MOST_OUTSIDE:]):
        lines.append(f"{counted(rest, 'more job')} {'is' if rest == 1 else 'are'} beyond them in other ways")
    return lines


def _alike(instance: "Instance", plan: "Plan") -> "list[list[Assignment]]":
    """Assignments of one workload each."""
    found: dict[str, list[Assignment]] = {}
    for assignment in plan.assignments:
        found.setdefault(instance.job(assignment.job).workload_json, []).append(assignment)
    return list(found.values())


def _used(instance: "Instance", alike: "Sequence[Assignment]") -> "list[CurveUse]":
    from costmodel.pricing.candidates import candidates_of
    from costmodel.pricing.curves_used import curves_used

    cluster, workload = instance.cluster, instance.job(alike[0].job).workload
    configurations = list(dict.fromkeys(each.configuration for each in alike))
    return curves_used(candidates_of(configurations, workload, cluster.device, cluster.fabric), cluster.device)


def _kernels_outside(uses: "Sequence[tuple[str, CurveUse]]") -> list[str]:
    """A line for each kind of excess, that of the most jobs first, with the farthest of them."""
    found: dict[tuple[str, float, float], tuple[Far, dict[str, None]]] = {}
    for job, use in uses:
        for far in use.far:
            known, names = found.setdefault((far.name, far.low, far.high), (far, {}))
            names.setdefault(job)
            farther = max(known, far, key=lambda each: each.excess)
            found[far.name, far.low, far.high] = farther, names
    alike = sorted(found.values(), key=lambda item: -len(item[1]))
    lines = [f"{few(list(names))}: {KERNELS_OUTSIDE}: {far.told}" for far, names in alike[:MOST_OUTSIDE]]
    if rest := len(alike) - MOST_OUTSIDE:
        lines += [f"kernels are outside in {counted(rest, 'more way')}"] if rest > 0 else []
    return lines

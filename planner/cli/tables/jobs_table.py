"""The table of admitted jobs: where each runs, how, over which circuits, and what limits it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planner.cli.output import percent, plain, quantity, table

if TYPE_CHECKING:
    from rich.table import Table

    from costmodel.fabrics import FabricBase
    from costmodel.parallelism.configuration import Configuration
    from costmodel.pricing.candidates import Candidates
    from costmodel.pricing.score import Scores
    from planner.candidates.priced_rows import PricedRows
    from planner.model.instance import Instance
    from planner.model.job import Job
    from planner.model.plan import Assignment, Plan

SHORT = {"tensor": "tp", "pipeline": "pp", "data": "dp", "context": "cp", "expert": "ep"}
MOST_ROWS = 100
"""of a table; what more jobs do is in files"""
COLUMNS = ("job", "accelerators", "where", "mapping", "circuits", "step", "energy", "bottleneck")


def most_valuable(plan: "Plan") -> "list[Assignment]":
    """Assignments that a table of MOST_ROWS has room for, in the order of the plan: those of the most value."""
    order = sorted(range(len(plan.assignments)), key=lambda row: -plan.assignments[row].value)
    return [plan.assignments[row] for row in sorted(order[:MOST_ROWS])]


def jobs_table(instance: "Instance", plan: "Plan") -> "Table":
    """One row for each admitted job, of many the most valuable ones; with residents also whether they stay."""
    from planner.candidates.priced_rows import PricedRows

    jobs = instance.jobs_by_name
    residents = {resident.name for resident in instance.residents}
    columns, rows, priced = [*COLUMNS], [], PricedRows(instance.cluster)
    columns[6] = energy_header(jobs.values())
    for assignment in most_valuable(plan):
        row = job_row(instance, jobs[assignment.job], assignment, priced)
        if residents:
            moved = "moved" if assignment.is_moved else "stays"
            row.insert(1, moved if assignment.job in residents else "new")
        rows.append(row)
    if residents:
        columns.insert(1, "state")
    return table(columns, rows, right=("accelerators", "step", columns[-2]), wrap=("where", "circuits"))


def energy_header(jobs: "Iterable[Job]") -> str:
    """energy/token, for jobs whose speed is in tokens/s."""
    units = {job.workload.speed_unit.removesuffix("/s").removesuffix("s") for job in jobs}
    return f"energy/{units.pop()}" if len(units) == 1 else "energy/work"


def job_row(instance: "Instance", job: "Job", assignment: "Assignment", priced: "PricedRows") -> list[str]:
    found = priced.of(job, assignment.configuration)
    candidates, scores = found.rows, found.scores
    if instance.placed_steps and assignment.second_tier is not None:
        from costmodel.pricing.other_steps import with_steps

        scores = with_steps(scores, assignment.step_s)
    return [
        job.name,
        str(len(assignment.devices)),
        where(instance.cluster.fabric, assignment.devices),
        " ".join((mapping(assignment.configuration), *chosen(assignment.configuration))),
        "by phase, see below" if assignment.configuration.first_phase else _circuits(instance, candidates, assignment),
        quantity(float(scores.step_s[0]), "s"),
        quantity(float(scores.energy_per_work_j[0]), "J"),
        bottleneck(scores, 0),
    ]


def mapping(configuration: "Configuration") -> str:
    """Degrees of parallelism above one: tp8 dp3; and units of remote memory and behind it, where there are some: tp8
    dp3, 6 units and 2 behind."""
    degrees = [(short, getattr(configuration, name)) for name, short in SHORT.items()]
    text = " ".join(f"{short}{degree}" for short, degree in degrees if degree > 1) or "one accelerator"
    if configuration.prefill:
        own = configuration.prefill_tensor or configuration.tensor
        text += f", {configuration.prefill} of them prompts{f' with tp{own}' if own != configuration.tensor else ''}"
    units = max((each.memory_units for each in configuration.by_phase if each.memory_units), default=None)
    behind = f" and {configuration.tier_units} behind" if configuration.tier_units else ""
    return text if units is None else f"{text}, {units} unit{'s' * (units > 1)}{behind}"


def chosen(configuration: "Configuration") -> list[str]:
    """v2, recompute full, zero2: what was chosen where a workload leaves a choice, but for what is usual."""
    from costmodel.parallelism.degrees import RANK_ORDERS

    c = configuration
    words = [f"v{c.interleave}"] if c.interleave not in (None, 1) else []
    words += [c.schedule] if c.schedule is not None else []
    words += [f"recompute {c.recompute}"] if c.recompute not in (None, "none") else []
    words += [f"zero{c.zero}"] if c.zero not in (None, 1) else []
    words += [f"order {c.rank_order}"] if c.rank_order != RANK_ORDERS[0] else []
    words += [f"turns {' | '.join(c.turns)}"] if c.turns else []
    words += ["sp"] if c.sequence_parallel and c.tensor > 1 else []
    return words + ([f"offload {c.offload}"] if c.offload not in (None, "none") else [])


def collectives(candidates: "Candidates", row: int) -> str:
    """Plans by dimension: tp radix 8, dp ring w4."""
    from costmodel.fabrics import racks_of

    names = []
    for axis, short in enumerate(SHORT.values()):
        plan = candidates.plans[candidates.plan[axis, row]]
        if plan.kind != "none" or racks_of(plan) > 1:
            names.append(f"{short} {plan.name}")
    return "; ".join(names) or "-"


def phase_lines(instance: "Instance", plan: "Plan") -> list[str]:
    """A line for each job that changes between phases: its settings, and what that gains over keeping one; and for each
    that serves from two pools: these, and what goes between them; or that keeps shares in a second tier: these; or
    whose circuits take turns: these; or that evaluates: what that takes."""
    from planner.candidates.evaluation_share import evaluation_in_words
    from planner.candidates.kept_away import kept_away_in_words
    from planner.candidates.phase_settings import gain_of_phases, settings_by_phase
    from planner.candidates.serving_pools import pools_in_words
    from planner.candidates.turns import turns_in_words

    lines = []
    for assignment in plan.assignments:
        job, configuration = instance.job(assignment.job), assignment.configuration
        if pools := pools_in_words(instance.cluster, job, assignment):
            lines.append(plain(f"{job.name}: {'; '.join(pools)}"))
        if kept := kept_away_in_words(instance.cluster, job, assignment):
            lines.append(plain(f"{job.name}: keeps {kept}"))
        if shares := evaluation_in_words(instance.cluster, job, assignment):
            lines.append(plain(f"{job.name}: {shares}"))
        if turns := turns_in_words(instance.cluster, job, assignment):
            lines.append(plain(f"{job.name}: turns of circuits {turns}"))
        if settings := settings_by_phase(instance.cluster, job, configuration):
            gain = percent(gain_of_phases(instance.cluster, job, configuration))
            lines.append(plain(f"{job.name}: {'; '.join(settings)}; {gain} faster than with one setting"))
    return lines


def _circuits(instance: "Instance", candidates: "Candidates", assignment: "Assignment") -> str:
    fibers = {f for held in assignment.circuits for c in held.circuits for f in c.fibers}
    names = collectives(candidates, 0)
    through = {"torus": ("switch", "switches"), "sipam": ("uplink", "uplinks")}
    one, many = through.get(instance.cluster.fabric.kind, ("fiber", "fibers"))
    return f"{names}; {len(fibers)} {one if len(fibers) == 1 else many}" if fibers else names


def where(fabric: "FabricBase", devices: tuple[str, ...]) -> str:
    """Servers with the number of devices in each, neighbours with the same number joined: s0-s2:8 s5:4."""
    counts: dict[int, int] = {}
    for name in devices:
        server = fabric.parse_device(name)[0]
        counts[server] = counts.get(server, 0) + 1
    runs: list[tuple[int, int]] = []
    for server in sorted(counts):
        if runs and runs[-1][1] == server - 1 and counts[server] == counts[server - 1]:
            runs[-1] = runs[-1][0], server
        else:
            runs.append((server, server))
    names = fabric.server_name
    return " ".join(f"{names(a) if a == b else f'{names(a)}-{names(b)}'}:{counts[a]}" for a, b in runs)


def bottleneck(scores: "Scores", row: int) -> str:
    """Bottleneck: the largest share of the time of a step."""
    parts = {
        "compute": scores.compute_s[row],
        "memory": scores.memory_s[row],
        "communication": scores.communication_s[:, row].sum() + scores.reconfiguration_s[row],
        "second tier": scores.offload_s[row],
    }
    return max(parts, key=lambda name: float(parts[name]))

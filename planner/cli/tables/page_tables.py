"""Tables and lines of `planner pages`: jobs, memories, tensors, waits, and what a little more would save."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from planner.cli.output import number, percent, quantity, table

if TYPE_CHECKING:
    from rich.table import Table

    from planner.explain.page_gains import PageGain
    from planner.pages.result import PageResult

MOST_GAINS = 6
"""that are shown, the largest first"""


def jobs(result: "PageResult") -> "Table":
    """A line for each job: its step, what keeps it busy, and where its pages are."""
    from planner.pages.why import why

    rows = []
    for j, (task, pages) in enumerate(zip(result.problem.tasks, result.placed or (), strict=True)):
        timeline = result.problem.timeline(j, pages)
        found = why(timeline)
        names = [result.problem.memories[memory] for memory in task.memories]
        where = [f"{name} {count:,}" for name, count in zip(names, pages.moved.sum(axis=0).tolist(), strict=True)]
        rows.append(
            (
                task.name,
                quantity(timeline.end_s, "s"),
                f"{found.binding} {percent(found.busy_s[found.binding] / timeline.end_s)}",
                quantity(found.waits_for_copies_s, "s"),
                quantity(found.waits_for_exchanges_s, "s"),
                " · ".join(where),
                f"{int(pages.kept.sum()):,}",
                f"{int(pages.remade.sum())} of {len(task.count)}",
            )
        )
    columns = ("job", "step", "busiest stream", "waits for copies", "for collectives", "offloaded", "kept")
    return table((*columns, "recomputed"), rows, right=("step", "waits for copies", "for collectives", "kept"))


def memories(result: "PageResult") -> "Table":
    """A line for each memory: pages at its fullest, and how many fit."""
    problem = result.problem
    used = problem.used_pages(result.placed or ())
    rows = [
        (name, number(count), number(most), "-" if not most else percent(count / most))
        for name, count, most in zip(problem.memories, used, problem.capacity_pages, strict=True)
    ]
    return table(("memory", "pages", "of", "full"), rows, right=("pages", "of", "full"))


def tensors(result: "PageResult", job: int, most: int | None) -> "Table":
    """A line for each tensor of a job, or for the largest ones: where it is between which times, and what copying and
    making it again takes."""
    from planner.pages.why import unused_s

    problem, pages = result.problem, (result.placed or ())[job]
    task, timeline = problem.tasks[job], problem.timeline(job, pages)
    back_s: dict[int, float] = {}
    for copy in timeline.copies:
        if copy.is_return:
            back_s[copy.absence] = max(back_s.get(copy.absence, 0.0), copy.end_s)
    names = [problem.memories[memory] for memory in task.memories]
    rates = sum(link.bandwidth_bytes_per_s for link in task.links)
    ways = task.program.leaves.astype(int) + task.program.returns
    rows = []
    shown = set(np.argsort(-task.program.size_bytes, kind="stable")[:most].tolist())
    for a, (free_s, needed_s) in enumerate(unused_s(timeline).tolist()):
        if a not in shown:
            continue
        size_bytes = float(task.program.size_bytes[a])
        again_s = float(task.program.remake_s[a]) if task.can_be_remade[a] else None
        rows.append(
            (
                task.program.graph.tensors[task.program.absences[a].tensor].name,
                quantity(size_bytes, "B"),
                *(str(count) if count else "-" for count in pages.moved[a].tolist()),
                str(pages.kept[a]) if pages.kept[a] else "-",
                "yes" if pages.remade[a] else "-",
                quantity(free_s, "s"),
                quantity(back_s.get(a), "s"),
                quantity(needed_s, "s") if task.program.returns[a] else "-",
                quantity(ways[a] * size_bytes / rates if rates else None, "s"),
                quantity(again_s, "s"),
            )
        )
    columns = ("tensor", "size", *names, "kept", "recomputed", "free", "back", "needed", "to copy", "to recompute")
    return table(columns, rows, right=columns[1:])


TENSOR_NOTE = (
    "pages by memory; free: last used; back: last page returned; needed: used next; "
    "to copy: all of it, both ways over all links at once; to recompute: its kernels"
)


def policies(result: "PageResult", values_s: "dict[str, float | None]") -> "Table":
    """A line for each rule: its time, and by how much this placement is faster."""
    rows = [(result.policy, quantity(result.value_s, "s"), "-")]
    for name, value_s in sorted(values_s.items(), key=lambda item: (item[1] is None, item[1] or 0.0)):
        if name != result.policy:
            gain = None if value_s is None or not result.value_s else value_s / result.value_s - 1
            shown = "places nothing that fits" if value_s is None else quantity(value_s, "s")
            rows.append((name, shown, "-" if gain is None else f"{100 * gain:.1f} %"))
    return table(("policy", "time of all steps, weighted", "slower by"), rows, right=("slower by",))


def waits(result: "PageResult") -> Iterator[str]:
    """A line for each job that waits for copies."""
    from planner.pages.why import why

    for j, pages in enumerate(result.placed or ()):
        longest = why(result.problem.timeline(j, pages)).longest_waits
        if longest:
            listed = ", ".join(f"{name} {quantity(wait_s, 's')}" for name, wait_s in longest)
            yield f"{result.problem.tasks[j].name} waits for copies before {listed}"


def gains(found: "list[PageGain]") -> "Table":
    """A line for each change: what was found with it, and what it can save at most."""
    rows = [
        (
            each.change,
            quantity(each.saved_s, "s") if each.saved_s else "nothing found",
            quantity(each.saved_at_most_s, "s"),
        )
        for each in found[:MOST_GAINS]
    ]
    columns = ("what a little more would save", "found", "at most")
    return table(columns, rows, right=columns[1:])

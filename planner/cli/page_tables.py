"""Tables and lines of `planner pages`: jobs, memories, tensors, waits, and what a little more would save."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    columns = ("job", "step", "busiest stream", "waits for copies", "for collectives", "pages", "kept", "remade")
    return table(columns, rows, right=("step", "waits for copies", "for collectives", "kept"))


def memories(result: "PageResult") -> "Table":
    """A line for each memory: pages at its fullest, and how many fit."""
    problem = result.problem
    used = problem.used_pages(result.placed or ())
    rows = [
        (name, number(count), number(most), "-" if not most else percent(count / most))
        for name, count, most in zip(problem.memories, used, problem.capacity_pages, strict=True)
    ]
    return table(("memory", "pages", "of", "full"), rows, right=("pages", "of", "full"))


def tensors(result: "PageResult", job: int) -> "Table":
    """A line for each tensor of a job: where it is between which times, and how long it is copied."""
    problem, pages = result.problem, (result.placed or ())[job]
    task, timeline = problem.tasks[job], problem.timeline(job, (result.placed or ())[job])
    operators = task.program.operators
    back_s = {copy.absence: copy.end_s for copy in timeline.copies if copy.is_return}
    names = [problem.memories[memory] for memory in task.memories]
    rows = []
    for a, each in enumerate(task.program.absences):
        left_s = float(timeline.ends_s[each.after]) if each.after >= 0 else 0.0
        needed = quantity(float(timeline.starts_s[each.before]), "s") if each.before < len(operators) else "-"
        counts = [str(count) if count else "-" for count in pages.moved[a].tolist()]
        rows.append(
            (
                task.program.graph.tensors[each.tensor].name,
                quantity(float(task.program.size_bytes[a]), "B"),
                *counts,
                str(pages.kept[a]) if pages.kept[a] else "-",
                "again" if pages.remade[a] else "-",
                quantity(left_s, "s"),
                quantity(back_s.get(a), "s"),
                needed,
            )
        )
    columns = ("tensor", "size", *names, "kept", "remade", "free", "back", "needed")
    return table(columns, rows, right=columns[1:])


def waits(result: "PageResult") -> Iterator[str]:
    """A line for each job that waits for copies."""
    from planner.pages.why import why

    for j, pages in enumerate(result.placed or ()):
        longest = why(result.problem.timeline(j, pages)).longest_waits
        if longest:
            listed = ", ".join(f"{name} {quantity(wait_s, 's')}" for name, wait_s in longest)
            yield f"{result.problem.tasks[j].name} waits for copies before {listed}"


def gain_lines(gains: "list[PageGain]") -> Iterator[str]:
    """10 % more bandwidth to node 0 would save 0.4 ms, at most 0.6 ms."""
    for each in gains[:MOST_GAINS]:
        most = f"; at most {quantity(each.saved_at_most_s, 's')}" if each.saved_at_most_s > each.saved_s else ""
        saved = quantity(each.saved_s, "s") if each.saved_s else "nothing that was found"
        yield f"{each.change} would save {saved}{most}"

"""Instances of pages, and small problems of whole seconds and one byte a page."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from costmodel.dataflow.streams.placement import Link
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.simulate import Rules
from planner.pages.problem import PageProblem, Task
from tests.costmodel.dataflow.streams.cases import chain
from tests.paths import ROOT

FOLDER = ROOT / "instances" / "mcdla"
NODES = [{"memory": "node 0", "links": 3}, {"memory": "node 1", "links": 3}]


def fields(network: str = "AlexNet", **job: Any) -> dict[str, Any]:
    """One device between two nodes."""
    step = {"kind": "network", "network": network, "system": "MC-DLA(B)"}
    return {
        "kind": "pages",
        "schema_version": 1,
        "name": "tiny",
        "study": "mc-dla",
        "page": "4 MiB",
        "memories": {"node 0": {}, "node 1": {}, "host": {}},
        "jobs": [{"name": "a", "step": step, "ways": [dict(way) for way in NODES]} | job],
    }


def task_of(program: Program, rates: list[float], local: int, *, may_remake: bool, name: str = "a") -> Task:
    """Tensors in pages of one byte; each link leads to a memory of its own."""
    links = tuple(Link(name=f"link {i}", bandwidth_bytes_per_s=rate) for i, rate in enumerate(rates))
    count = np.maximum(np.ceil(program.size_bytes), 1).astype(np.int64)
    return Task(name, program, links, tuple(range(len(rates))), count, local, may_remake, 1.0)


def problem_of(*tasks: Task, capacity: list[int | None], rules: Rules | None = None) -> PageProblem:
    names = tuple(f"memory {i}" for i in range(len(capacity)))
    return PageProblem("small", tasks, names, tuple(capacity), rules or Rules(lookahead=2, most_leaving=1))


@st.composite
def problems(draw: st.DrawFn, most_layers: int = 4, most_pages: int = 2) -> PageProblem:
    """A chain of a few layers, one or two links, little local memory, and capacities that may bind."""
    count = draw(st.integers(1, most_layers))
    ticks, pages = st.integers(0, 5), st.integers(1, most_pages)
    sizes = draw(st.lists(pages, min_size=count, max_size=count))
    exchanges = draw(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=2 * count, max_size=2 * count))
    times = [draw(st.lists(ticks, min_size=count, max_size=count)) for _ in range(2)]
    program = chain(times[0], times[1], sizes, exchanges)
    rates = draw(st.lists(st.sampled_from([1.0, 0.5]), min_size=1, max_size=2))
    local, may_remake = draw(st.integers(0, 2)), draw(st.booleans())
    task = task_of(program, rates, local, may_remake=may_remake)
    capacity = [draw(st.none() | st.integers(0, sum(sizes))) for _ in rates]
    rules = Rules(lookahead=draw(st.integers(1, 3)), most_leaving=draw(st.none() | st.integers(1, 2)))
    return problem_of(task, capacity=capacity, rules=rules)


def roomier(problem: PageProblem) -> PageProblem:
    """The same with faster links, and one page more of everything."""
    tasks = tuple(
        replace(
            task,
            links=tuple(
                link.model_copy(update={"bandwidth_bytes_per_s": 1.5 * link.bandwidth_bytes_per_s})
                for link in task.links
            ),
            local_pages=task.local_pages + 1,
        )
        for task in problem.tasks
    )
    capacity = tuple(None if most is None else most + 1 for most in problem.capacity_pages)
    return replace(problem, tasks=tasks, capacity_pages=capacity)

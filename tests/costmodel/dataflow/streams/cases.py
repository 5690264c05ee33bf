"""Random steps of a few layers with whole numbers of seconds and bytes."""

import numpy as np
from hypothesis import strategies as st

from costmodel.dataflow.networks.tensor_graph import Exchange, Operator, Tensor, TensorGraph
from costmodel.dataflow.streams.placement import Link, Placement
from costmodel.dataflow.streams.program import Program


def chain(
    forward: list[int], backward: list[int], sizes: list[int], exchanges: list[tuple[int, bool]] | None = None
) -> Program:
    """Layers one after the other: layer i makes tensor i from tensor i - 1, and backward needs both."""
    tensors = tuple(Tensor(f"t{i}", "activation", float(size)) for i, size in enumerate(sizes))
    count = len(forward)
    operators = [
        Operator(f"f{i}", i, "forward", tuple(t for t in (i - 1,) if t >= 0), (i,), (), 1.0) for i in range(count)
    ]
    operators += [
        Operator(f"b{i}", i, "backward", tuple(t for t in (i, i - 1) if t >= 0), (), (), 1.0)
        for i in reversed(range(count))
    ]
    times = [*forward, *reversed(backward)]
    sent = exchanges or [(0, False)] * len(times)
    named = tuple(
        Operator(o.name, o.layer, o.phase, o.needs, o.makes, (), 1.0, Exchange("all_reduce", 1.0, awaited))
        for o, (_, awaited) in zip(operators, sent, strict=True)
    )
    graph = TensorGraph(tensors, named, tuple(f"layer {i}" for i in range(count)))
    exchange_s = np.array([float(ticks) for ticks, _ in sent])
    return Program(graph, np.array(times, float), exchange_s, graph.absences())


@st.composite
def cases(draw: st.DrawFn) -> tuple[Program, tuple[Link, ...], Placement]:
    """A program, links of one byte a second, and a placement of whole bytes."""
    count, num_links = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    ticks = st.integers(0, 6)

    def several(length: int) -> list[int]:
        return draw(st.lists(ticks, min_size=length, max_size=length))

    moved = np.array([several(num_links) for _ in range(count)], float).reshape(count, num_links)
    kept = np.array(several(count), float)
    remade = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    remade &= ~np.concatenate([[False], _alternating(remade)[:-1]])
    sizes = (moved.sum(axis=1) + kept).astype(int).tolist()
    exchanges = draw(st.lists(st.tuples(ticks, st.booleans()), min_size=2 * count, max_size=2 * count))
    program = chain(several(count), several(count), sizes, exchanges)
    order = [each.tensor for each in program.absences]
    remade = remade[order]
    placement = Placement(np.where(remade[:, None], 0.0, moved[order]), np.where(remade, 0.0, kept[order]), remade)
    links = tuple(
        Link(name=f"link {i}", bandwidth_bytes_per_s=1.0, shares_collectives=draw(st.booleans()))
        for i in range(num_links)
    )
    return program, links, placement


def _alternating(wanted: np.ndarray) -> np.ndarray:
    """Of neighbours that are wanted, every second."""
    chosen = np.zeros(len(wanted), bool)
    for i, is_wanted in enumerate(wanted):
        chosen[i] = is_wanted and not (i and chosen[i - 1])
    return chosen

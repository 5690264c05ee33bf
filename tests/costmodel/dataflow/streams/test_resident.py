"""What is in local memory of tensors that leave, against simulated steps."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.dataflow.networks.convolutional import load_convolutional_network
from costmodel.dataflow.networks.tensor_graph import TensorGraph
from costmodel.dataflow.networks.training_step import Division, training_step
from costmodel.dataflow.streams.placement import Link, local
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.resident import MEBIBYTE, RULES, leaving, page_bytes_of, resident_bytes
from costmodel.dataflow.streams.simulate import simulate

NETWORKS = ("alexnet", "googlenet", "resnet-34")
LINK = (Link(name="node", bandwidth_bytes_per_s=1e9),)


@cache
def _step(network: str) -> TensorGraph:
    return training_step(load_convolutional_network(network).nodes, Division("data", 1, 4))


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(network=st.sampled_from(NETWORKS), seed=st.integers(0, 2**31), pace=st.sampled_from([1e-4, 1e-2, 1.0]))
def test_no_step_needs_more(network: str, seed: int, pace: float) -> None:
    """Any of what may leave does, whatever operators take: between the ends of copies away and the starts of those back
    no tensor is here, and at all other times of the step what is here fits."""
    graph, rng = _step(network), np.random.default_rng(seed)
    some = rng.random(len(leaving(graph))) < rng.choice([0.3, 0.7, 1.0])
    absences = tuple(each for each, leaves in zip(leaving(graph), some, strict=True) if leaves)
    operators = len(graph.operators)
    program = Program(graph, rng.uniform(0, pace, operators), np.zeros(operators), absences)
    line = simulate(program, LINK, local(program.size_bytes, LINK), RULES)
    ends = {copy.absence: copy.end_s for copy in line.copies if not copy.is_return}
    starts = {copy.absence: copy.start_s for copy in line.copies if copy.is_return}
    uses = [graph.uses[each.tensor] for each in absences]
    changes = [
        (at_s, sign * size)
        for a, size in enumerate(program.size_bytes.tolist())
        for at_s, sign in (
            (line.starts_s[uses[a][0]], 1), (ends[a], -1), (starts[a], 1), (line.ends_s[uses[a][-1]], -1)
        )
    ]  # fmt: skip
    here = np.cumsum([change for _, change in sorted(changes)])
    assert here.max(initial=0.0) <= resident_bytes(graph) * (1 + 1e-12)


@pytest.mark.parametrize("network", NETWORKS)
def test_it_is_less_than_all_that_leaves(network: str) -> None:
    graph = _step(network)
    whole = sum(graph.tensors[each.tensor].size_bytes for each in leaving(graph))
    largest = max(graph.tensors[each.tensor].size_bytes for each in leaving(graph))
    assert largest <= resident_bytes(graph) <= whole


def test_nothing_leaves_a_step_of_one_layer() -> None:
    network = load_convolutional_network("alexnet")
    one = network.model_copy(update={"layers": network.layers[:1]})
    graph = training_step(one.nodes, Division("data", 1, 4))
    assert resident_bytes(graph) <= sum(each.size_bytes for each in graph.tensors)


def test_pages_are_powers_of_two_and_cut_a_tensor_into_64_at_most() -> None:
    assert [page_bytes_of(size) / MEBIBYTE for size in (1.0, 64 * 2**20, 65 * 2**20, 2**30)] == [1, 1, 2, 16]

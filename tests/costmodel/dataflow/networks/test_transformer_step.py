"""A transformer as operators and tensors, against the planner's own count of its memory and work."""

import numpy as np
import pytest

from costmodel.dataflow.networks.tensor_graph import TensorGraph, TensorKind
from costmodel.dataflow.networks.transformer_step import transformer_step
from costmodel.dataflow.streams.placement import Link, Placement, evenly
from costmodel.dataflow.streams.program import Program, operator_times_s
from costmodel.dataflow.streams.simulate import simulate
from costmodel.kernels.pe_array import load_pe_array
from costmodel.workloads.transformer.shapes import layer_parameters, load_model

EVERY: tuple[TensorKind, ...] = ("activation", "weight", "gradient", "optimizer")
GPT = load_model("gpt3-22b")
LINKS = [Link(name=name, bandwidth_bytes_per_s=75e9) for name in ("left", "right")]


def total(graph: TensorGraph, kind: TensorKind) -> float:
    return sum(each.size_bytes for each in graph.tensors if each.kind == kind)


def step_of(graph: TensorGraph, kinds: tuple[TensorKind, ...]) -> Program:
    operator_s = operator_times_s(graph, load_pe_array("mc-dla-device"))
    return Program(graph, operator_s, np.zeros(len(operator_s)), graph.absences(kinds))


def test_activations_are_32_of_the_34_that_the_source_counts() -> None:
    """Multi-head attention and a plain feed-forward network of four times the width: 32 bytes s b h a layer."""
    graph = transformer_step(GPT, 2, 2048, layers=3)
    assert total(graph, "activation") == 3 * 32 * 2048 * 2 * GPT.hidden


@pytest.mark.parametrize("model", ["gpt3-22b", "llama-3.1-8b"])
def test_parameters_and_their_state(model: str) -> None:
    shape = load_model(model)
    graph = transformer_step(shape, 1, 128, layers=2)
    parameters = 2 * float(layer_parameters(shape, np.ones(1))[0])
    assert [total(graph, kind) for kind in EVERY[1:]] == [2 * parameters, 4 * parameters, 12 * parameters]


def test_products_are_those_of_a_forward_pass_and_twice_as_many_backward() -> None:
    graph = transformer_step(GPT, 1, 512)
    by_phase = {"forward": 0.0, "backward": 0.0, "update": 0.0}
    for operator in graph.operators:
        by_phase[operator.phase] += sum(2 * p.m * p.n * p.k * p.count for p in operator.products)
    vocabulary = 2 * GPT.vocabulary * GPT.hidden
    assert by_phase["forward"] == pytest.approx(512 * (GPT.forward_flops(512) - vocabulary))
    assert by_phase["backward"] == 2 * by_phase["forward"]
    assert by_phase["update"] == 0


def test_everything_may_move() -> None:
    graph = transformer_step(GPT, 1, 1024, layers=2)
    found = step_of(graph, EVERY)
    ran = simulate(found, LINKS, evenly(found.size_bytes, LINKS))
    there, back = ran.bytes_by_link().sum(axis=1)
    parameters = 2 * float(layer_parameters(GPT, np.ones(1))[0])
    moved = total(graph, "activation") + total(graph, "gradient")
    assert there == pytest.approx(moved + (2 + 12) * parameters)
    assert back == pytest.approx(moved + (3 * 2 + 12) * parameters)


def test_a_half_is_made_again_from_its_input() -> None:
    graph = transformer_step(GPT, 1, 1024, layers=2)
    found = step_of(graph, ("activation",))
    named = [graph.tensors[each.tensor].name for each in found.absences]
    remade = np.array([name in ("layer 1 attention", "layer 2 ffn") for name in named])
    size = found.size_bytes
    placement = Placement(np.where(remade, 0.0, size)[:, None], np.zeros(len(size)), remade)
    ran = simulate(found, LINKS[:1], placement)
    again = sorted(each.name for each in ran.intervals() if each.kind == "again")
    assert again == ["layer 1 attention again", "layer 2 ffn again"]
    assert ran.compute_s == pytest.approx(found.operator_s.sum() + found.remake_s[remade].sum())


def test_experts_are_refused() -> None:
    sparse = GPT.model_copy(update={"experts": 8, "experts_per_token": 2})
    with pytest.raises(ValueError, match="models of experts are not expressible"):
        transformer_step(sparse, 1, 1024)

"""Convolutional networks: shapes and multiplications follow from the layers."""

from typing import Any

import pytest
from pydantic import ValidationError

from costmodel.dataflow.networks.convolutional import ConvolutionalNetwork, load_convolutional_network
from costmodel.dataflow.networks.node import total_macs
from costmodel.hardware.parts import part_names
from tests.oracles.mcdla import ALEXNET, VGG_E, macs

GIGA_MACS = {"alexnet": 0.72, "googlenet": 1.58, "vgg-e": 19.63, "resnet-34": 3.66}
MATRICES = {"alexnet": 8, "googlenet": 58, "vgg-e": 19, "resnet-34": 37}


@pytest.mark.parametrize("name", GIGA_MACS)
def test_published_multiplications(name: str) -> None:
    nodes = load_convolutional_network(name).nodes
    assert total_macs(nodes) / 1e9 == pytest.approx(GIGA_MACS[name], rel=0.02)
    assert sum(node.is_matrix for node in nodes) == MATRICES[name]


@pytest.mark.parametrize(("name", "layers"), [("alexnet", ALEXNET), ("vgg-e", VGG_E)])
def test_against_a_count_by_hand(name: str, layers: list[tuple[int, int, int, int]]) -> None:
    assert total_macs(load_convolutional_network(name).nodes) == macs(layers)


def test_all_networks_are_covered() -> None:
    assert set(part_names("convolutional_network")) == set(GIGA_MACS)


def test_branches_join() -> None:
    """Inception 4a: 512 channels of 14 x 14, of four branches; the last linear layer sees 1024 features."""
    nodes = load_convolutional_network("googlenet").nodes
    by_name = {node.name: node for node in nodes}
    joined = by_name["4a"]
    assert [nodes[i].name for i in joined.inputs] == [
        "4a_1x1 relu", "4a_3x3 relu", "4a_5x5 relu", "4a_pool_project relu",
    ]  # fmt: skip
    assert joined.output_elements == joined.input_elements == 512 * 14 * 14
    assert by_name["5b"].output_elements == 1024 * 7 * 7
    assert by_name["fc"].depth == 1024


def test_residual_blocks_add_their_shortcut() -> None:
    nodes = load_convolutional_network("resnet-34").nodes
    by_name = {node.name: node for node in nodes}
    assert [nodes[i].name for i in by_name["conv3_1"].inputs] == ["conv3_1b norm", "conv3_1_shortcut norm"]
    assert [nodes[i].name for i in by_name["conv3_2"].inputs] == ["conv3_2b norm", "conv3_1 relu"]
    assert by_name["conv5_3"].output_elements == 512 * 7 * 7


def network(*layers: dict[str, Any]) -> ConvolutionalNetwork:
    content = {"name": "small", "channels": 4, "side": 8, "source": "a test", "layers": layers}
    return ConvolutionalNetwork.model_validate(content)


CONV = {"name": "a", "op": "convolution", "outputs": 6, "kernel": 3, "padding": 1}


@pytest.mark.parametrize(("rounds_up", "side"), [(False, 3), (True, 4)])
def test_windows_over_the_edge(rounds_up: bool, side: int) -> None:
    pool = {"name": "p", "op": "max_pool", "kernel": 3, "stride": 2, "rounds_up": rounds_up}
    assert network(pool).nodes[0].output_elements == 4 * side * side


def test_groups_divide_inner_size_and_outputs() -> None:
    whole, grouped = network(CONV).nodes[0], network(CONV | {"groups": 2}).nodes[0]
    assert (grouped.columns, grouped.depth, grouped.groups) == (3, 18, 2)
    assert grouped.macs * 2 == whole.macs


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([CONV, CONV], "two have the name 'a'; rename one"),
        ([CONV | {"inputs": ["b"]}], "'a' takes 'b', which no layer before it is named"),
        ([CONV | {"groups": 4}], r"groups \(4\) of 'a' must divide its channels"),
        ([CONV | {"kernel": 11}], r"the kernel of 'a' \(11\) exceeds its input \(8\)"),
        ([{"name": "p", "op": "max_pool", "outputs": 3}], "outputs: convolution and linear have them"),
        ([CONV, CONV | {"name": "b", "stride": 2}, {"name": "s", "op": "add", "inputs": ["a", "b"]}], "'s' adds"),
        ([CONV, CONV | {"name": "b", "inputs": ["a", "a"]}], "'b' takes 2 inputs; only add and concatenate join"),
    ],
)
def test_layers_that_do_not_fit(layers: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        network(*layers)

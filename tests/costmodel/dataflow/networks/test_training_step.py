"""A training step as operators and tensors: what is kept, what is made again, what is exchanged."""

import pytest

from costmodel.dataflow.networks.convolutional import ConvolutionalNetwork, load_convolutional_network
from costmodel.dataflow.networks.recurrent import RecurrentLayer
from costmodel.dataflow.networks.tensor_graph import Operator, TensorGraph
from costmodel.dataflow.networks.training_step import MATRICES, Division, training_step

NETWORKS = ("alexnet", "googlenet", "vgg-e", "resnet-34")
DATA, MODEL = Division("data", 8, 512), Division("model", 8, 512)
LSTM = RecurrentLayer(cell="lstm", hidden=1024, steps=25)


def step(name: str, division: Division = DATA) -> TensorGraph:
    return training_step(load_convolutional_network(name).nodes, division)


def names(graph: TensorGraph) -> list[str]:
    return [operator.name for operator in graph.operators]


def small(*layers: dict[str, object]) -> ConvolutionalNetwork:
    content = {"name": "small", "channels": 4, "side": 8, "source": "a test", "layers": layers}
    return ConvolutionalNetwork.model_validate(content)


def conv(name: str, **fields: object) -> dict[str, object]:
    return {"name": name, "op": "convolution", "outputs": 8, "kernel": 3, "padding": 1, **fields}


def test_a_chain_operator_by_operator() -> None:
    nodes = small(conv("a", then=["norm", "relu"]), conv("b", then=["relu"])).nodes
    graph = training_step(nodes, DATA)
    weights_a, out_a, weights_b, out_b = range(4)
    assert [each.name for each in graph.tensors] == ["a weights", "a output", "b weights", "b output"]
    assert [(each.name, each.needs, each.makes) for each in graph.operators] == [
        ("a", (weights_a,), (out_a,)),
        ("a norm", (out_a,), ()),
        ("a relu", (), ()),
        ("b", (weights_b,), (out_b,)),
        ("b relu", (out_b,), ()),
        ("b relu gradient", (out_b,), ()),
        ("b input gradient", (weights_b,), ()),
        ("a norm again", (out_a,), ()),
        ("a relu again", (), ()),
        ("b weight gradient", (), ()),
        ("a relu gradient", (), ()),
        ("a norm gradient", (out_a,), ()),
        ("a weight gradient", (), ()),
    ]
    assert [(a.tensor, a.after, a.before, a.remade_by, a.remade_from) for a in graph.absences()] == [
        (out_a, 1, 7, 0, (weights_a,)),
        (out_b, 4, 5, 3, (weights_b, out_a)),
    ]


@pytest.mark.parametrize("name", NETWORKS)
def test_every_matrix_output_leaves_once_and_comes_back(name: str) -> None:
    graph = step(name)
    nodes = load_convolutional_network(name).nodes
    absences = graph.absences()
    assert len(absences) == sum(node.is_matrix for node in nodes)
    assert all(each.is_written and each.before < len(graph.operators) for each in absences)
    kept = sum(graph.tensors[each.tensor].size_bytes for each in absences)
    assert kept == 64 * 4 * sum(node.output_elements for node in nodes if node.is_matrix)


@pytest.mark.parametrize("name", NETWORKS)
def test_backward_does_twice_the_products_but_for_the_first_layer(name: str) -> None:
    def macs(operator: Operator) -> float:
        return sum(p.m * p.n * p.k * p.count for p in operator.products)

    graph = step(name)
    forward = sum(macs(each) for each in graph.operators if each.phase == "forward")
    backward = sum(macs(each) for each in graph.operators if each.phase == "backward")
    assert backward == 2 * forward - macs(graph.operators[0])


@pytest.mark.parametrize("name", NETWORKS)
def test_nothing_is_made_twice(name: str) -> None:
    found = names(step(name))
    assert len(found) == len(set(found))


def test_a_needed_tensor_was_made_before() -> None:
    for name in NETWORKS:
        graph, made = step(name), set()
        for operator in graph.operators:
            assert all(t in made or graph.tensors[t].kind == "weight" for t in operator.needs)
            made |= set(operator.makes)


def test_data_parallel_devices_sum_the_gradients_of_weights() -> None:
    for network in ("alexnet", "googlenet"):
        exchanges = [each.exchange for each in step(network).operators if each.exchange]
        nodes = load_convolutional_network(network).nodes
        assert sum(each.message_bytes for each in exchanges) == 4 * sum(node.weight_elements for node in nodes)
        assert {(each.operation, each.is_awaited) for each in exchanges} == {("all_reduce", False)}


def test_steps_of_a_recurrent_layer_share_one_sum() -> None:
    graph = training_step(LSTM.nodes, DATA)
    exchanges = [(each.name, each.exchange.message_bytes) for each in graph.operators if each.exchange]
    assert exchanges == [("step 1 weight gradient", 4 * 4 * 1024 * 1024)]
    assert sum(each.kind == "weight" for each in graph.tensors) == 1


def test_model_parallel_devices_gather_outputs_and_sum_gradients_of_inputs() -> None:
    graph = step("alexnet", MODEL)
    nodes = [node for node in load_convolutional_network("alexnet").nodes if node.is_matrix]
    gathers = [e.exchange.message_bytes for e in graph.operators if e.exchange and e.exchange.operation == "all_gather"]
    sums = [e.exchange.message_bytes for e in graph.operators if e.exchange and e.exchange.operation == "all_reduce"]
    assert gathers == [512 * 4 * node.output_elements for node in nodes]
    assert sums == [512 * 4 * node.input_elements for node in reversed(nodes[1:])]
    assert all(each.exchange.is_awaited for each in graph.operators if each.exchange)


def test_both_ways_keep_as_many_bytes() -> None:
    """An eighth of the batch, or an eighth of each output."""
    kept = [
        [graph.tensors[a.tensor].size_bytes for a in graph.absences()]
        for graph in (step("vgg-e"), step("vgg-e", MODEL))
    ]
    assert kept[0] == kept[1]


def test_gates_are_divided_and_the_old_output_is_gathered() -> None:
    graph = training_step(LSTM.nodes, MODEL)
    first = graph.operators[0]
    assert first.products[0].n == 4 * 1024 / 8
    assert first.exchange is not None
    assert first.exchange.message_bytes == 512 * 4 * 1024


def test_shortcuts_of_sums_are_at_hand() -> None:
    """What is made again right before a gradient needs kept tensors of its own block alone."""
    graph = step("resnet-34")
    by_name = {each.name: each for each in graph.operators}
    assert by_name["conv3_2 again"].needs == ()
    again = [each for each in names(graph) if each.startswith("conv3_") and each.endswith(" again")]
    assert again.index("conv3_4b norm again") < again.index("conv3_3b norm again")


def test_sums_may_be_kept() -> None:
    nodes = load_convolutional_network("resnet-34").nodes
    graph = training_step(nodes, DATA, MATRICES | {"add"})
    assert len(graph.absences()) == 37 + 16
    assert not any(name in names(graph) for name in ("conv3_2 again", "conv3_3 again"))


def test_readers_of_one_output_add_their_gradients() -> None:
    nodes = small(
        conv("a"), conv("b", inputs=["a"]), conv("c", inputs=["a"]), {"name": "s", "op": "add", "inputs": ["b", "c"]}
    ).nodes
    graph = training_step(nodes, DATA)
    gradient = next(each for each in graph.operators if each.name == "a weight gradient")
    assert gradient.elementwise_bytes == 3 * 8 * 8 * 8 * 64 * 4


def test_matrices_are_always_kept() -> None:
    with pytest.raises(ValueError, match="saved: outputs of linear, recurrent are too long to make again"):
        training_step(load_convolutional_network("alexnet").nodes, DATA, ("convolution", "add"))


def test_a_batch_that_does_not_divide() -> None:
    with pytest.raises(ValueError, match=r"batch \(100\) must be a multiple of devices \(8\)"):
        Division("data", 8, 100)


def test_outputs_are_made_again_from_kept_ones_behind_their_inputs() -> None:
    def sources(name: str, output: str) -> list[str]:
        graph = step(name)
        absence = next(a for a in graph.absences() if graph.tensors[a.tensor].name == f"{output} output")
        return [graph.tensors[t].name.removesuffix(" output") for t in absence.remade_from][1:]

    assert sources("vgg-e", "conv2_1") == ["conv1_2"]
    assert sources("googlenet", "4a_1x1") == ["3b_1x1", "3b_3x3", "3b_5x5", "3b_pool_project"]
    assert sources("resnet-34", "conv3_1a") == ["conv2_3b"]
    assert sources("resnet-34", "conv3_2a") == ["conv3_1b", "conv3_1_shortcut"]

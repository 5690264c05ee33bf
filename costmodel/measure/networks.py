"""Training steps of convolutional networks of the catalog and of recurrent layers, on one accelerator.

Stochastic gradient descent with momentum, master weights in fp32, products in bf16: what the cost model prices.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from costmodel.dataflow.networks.convolutional import ConvolutionalNetwork, Layer, load_convolutional_network
from costmodel.measure.table import Case, Cell, Plan

QUICK_BATCHES, FULL_BATCHES = (256,), (32, 128, 512)
CONVOLUTIONAL = ("alexnet", "googlenet", "resnet-34", "vgg-e")
RECURRENT = (("vanilla", 2048, 25), ("lstm", 1024, 25), ("lstm", 2048, 50), ("gru", 2048, 50))
"""cell, features of the state, steps of the sequence; each step has a new input as wide as the state"""
LEARNING_RATE, MOMENTUM = 1e-4, 0.9
LOCAL_CHANNELS = 5
"""that a local norm looks at, as in AlexNet"""
STATE_BYTES, KEPT_BYTES = 16.0, 8.0
"""of a weight with its gradient and momentum, of an output with its gradient: room that is asked for before a case"""


def plan(*, is_quick: bool) -> Plan:
    """Columns of inputs: network, hidden and steps of a recurrent layer (blank for others), batch, precision."""
    batches = QUICK_BATCHES if is_quick else FULL_BATCHES
    cases = [_convolutional(name, batch) for name in CONVOLUTIONAL for batch in batches]
    cases += [_recurrent(cell, hidden, steps, batch) for cell, hidden, steps in RECURRENT for batch in batches]
    return Plan("network_training", cases)


def _row(network: str, hidden: Cell, steps: Cell, batch: int) -> dict[str, Cell]:
    return {"network": network, "hidden": hidden, "steps": steps, "batch": batch, "precision": "bf16"}


def _convolutional(name: str, batch: int) -> Case:
    network = load_convolutional_network(name)
    kept = batch * sum(node.output_elements for node in network.nodes)
    weights = sum(node.weight_elements for node in network.nodes)
    needed_bytes = STATE_BYTES * weights + KEPT_BYTES * kept
    return Case(_row(name, "", "", batch), needed_bytes, partial(_prepare_convolutional, network, batch))


def _recurrent(cell: str, hidden: int, steps: int, batch: int) -> Case:
    needed_bytes = STATE_BYTES * 8 * hidden * hidden + KEPT_BYTES * 10 * batch * steps * hidden
    prepare = partial(_prepare_recurrent, cell, hidden, steps, batch)
    return Case(_row(cell, hidden, steps, batch), needed_bytes, prepare)


def _prepare_convolutional(network: ConvolutionalNetwork, batch: int) -> Callable[[], Any]:
    import torch

    torch.backends.cudnn.benchmark = True
    images = torch.randn(batch, network.channels, network.side, network.side, device="cuda")
    images = images.to(memory_format=torch.channels_last)
    weights = _weights(network)
    return _step(list(weights.values()), partial(_forward, network, weights, images))


def _weights(network: ConvolutionalNetwork) -> dict[str, Any]:
    """By layer, in the shape that its operation takes; outputs keep about the size of inputs."""
    import torch

    found = {}
    matrices = [layer for layer in network.layers if layer.outputs is not None]
    for layer, node in zip(matrices, (node for node in network.nodes if node.is_matrix), strict=True):
        shape: tuple[int, ...] = (node.columns * node.groups, node.depth)
        if layer.op == "convolution":
            shape = (shape[0], node.depth // layer.kernel**2, layer.kernel, layer.kernel)
        values = torch.randn(shape, device="cuda") / node.depth**0.5
        layout = torch.channels_last if layer.op == "convolution" else torch.contiguous_format
        found[layer.name] = values.to(memory_format=layout).requires_grad_()
    return found


def _forward(network: ConvolutionalNetwork, weights: dict[str, Any], images: Any) -> Any:
    outputs, last = dict[str, Any](), images
    for layer in network.layers:
        last = _output(layer, [outputs[name] for name in layer.inputs] or [last], weights.get(layer.name))
        for op in layer.then:
            last = _then(op, last)
        outputs[layer.name] = last
    return last


def _output(layer: Layer, inputs: list[Any], weight: Any) -> Any:
    import torch
    from torch.nn import functional

    window = layer.kernel, layer.stride, layer.padding
    if layer.op == "convolution":
        return functional.conv2d(inputs[0], weight, None, layer.stride, layer.padding, groups=layer.groups)
    if layer.op == "linear":
        return functional.linear(inputs[0].flatten(1), weight)
    if layer.op == "max_pool":
        return functional.max_pool2d(inputs[0], *window, ceil_mode=layer.rounds_up)
    if layer.op == "average_pool":
        return functional.avg_pool2d(inputs[0], *window, ceil_mode=layer.rounds_up)
    return torch.cat(inputs, 1) if layer.op == "concatenate" else sum(inputs[1:], inputs[0])


def _then(op: str, values: Any) -> Any:
    from torch.nn import functional

    if op == "relu":
        return functional.relu(values)
    if op == "norm":
        return functional.batch_norm(values, None, None, training=True)
    return functional.local_response_norm(values, LOCAL_CHANNELS)


def _prepare_recurrent(cell: str, hidden: int, steps: int, batch: int) -> Callable[[], Any]:
    import torch

    kind = {"vanilla": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
    layer = kind(hidden, hidden, bias=False).cuda()
    sequence = torch.randn(steps, batch, hidden, device="cuda")
    return _step(list(layer.parameters()), lambda: layer(sequence)[0])


def _step(weights: list[Any], forward: Callable[[], Any]) -> Callable[[], Any]:
    import torch

    optimizer = torch.optim.SGD(weights, lr=LEARNING_RATE, momentum=MOMENTUM, fused=True)

    def run() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            loss = forward().float().mean()
        loss.backward()
        optimizer.step()

    return run

"""One rank's step of a convolutional or recurrent network as a program of streams."""

import numpy as np

from costmodel.dataflow.networks.tensor_graph import Operator, TensorGraph
from costmodel.dataflow.streams.program import Floats, Program
from costmodel.dataflow.streams.resident import leaving
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.efficiency import Efficiency, efficiency_of
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.roofline import matrix_times, operator_s
from costmodel.pricing.score import Scores
from costmodel.workloads.networks.divided_network import kernels_of, operator_of, step_of_rank
from costmodel.workloads.networks.network_training import NetworkTraining

TENSOR, DATA = DIMENSIONS.index("tensor"), DIMENSIONS.index("data")


def network_program(job: NetworkTraining, part: Candidates, scores: Scores, graph: OpGraph, device: Device) -> Program:
    """The step of the only row: its layers in order, then the update with what replicas exchange.

    Layers take the rest of the scored time, but for what the second tier adds: what ranks of a replica exchange by its
    bytes, all else as their kernels alone.
    """
    tensor, samples = int(part.mappings.tensor[0]), int(part.mappings.micro_batch[0])
    step = step_of_rank(job, tensor, samples).graph
    efficiency, _ = efficiency_of(device, graph.regime, graph.precision)
    kernel_s, sent = _kernels_s(step, graph, device, efficiency), _sent_bytes(step)
    update_s = float(scores.communication_s[DATA, 0]) + _update_s(graph, device, efficiency)
    exchange_s = float(scores.communication_s[TENSOR, 0])
    rest_s = float(scores.step_s[0] - scores.offload_s[0]) - update_s - exchange_s
    layer_s = kernel_s * rest_s / kernel_s.sum() + sent * exchange_s / max(sent.sum(), 1.0)
    last = Operator("update", len(step.layers) - 1, "update")
    whole = TensorGraph(step.tensors, (*step.operators, last), step.layers)
    return Program(whole, np.append(layer_s, update_s), np.zeros(len(whole.operators)), leaving(step))


def _kernels_s(step: TensorGraph, graph: OpGraph, device: Device, efficiency: Efficiency) -> Floats:
    """Of each layer alone, (O,)."""
    matrix_s = matrix_times(graph, device, efficiency, None)
    found = np.zeros(len(step.operators))
    for o, layer in enumerate(step.operators):
        for kernel in kernels_of(layer):
            operator = operator_of(layer.name, [kernel])
            found[o] += operator_s(operator, device, efficiency, graph.precision, matrix_s=matrix_s)[2].item()
    return found


def _update_s(graph: OpGraph, device: Device, efficiency: Efficiency) -> float:
    (update,) = graph.blocks[-1].operators
    started = efficiency.model_copy(update={"launch_s": 0.0})
    return float(np.ravel(operator_s(update, device, started, graph.precision)[2])[0])


def _sent_bytes(step: TensorGraph) -> Floats:
    """By the collective after each layer, (O,)."""
    return np.array([each.exchange.message_bytes if each.exchange else 0.0 for each in step.operators])

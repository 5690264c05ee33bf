"""The step of a data-parallel replica in time, against the score of the same mapping and plain arithmetic."""

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.roofline import matrix_times, operator_s
from costmodel.published.backward_pass import backward_pass
from costmodel.workloads import TransformerTraining

DEVICE = load_device("a100-sxm")
BERT = TransformerTraining(model="bert-large", global_batch=512, sequence=512)


def test_compute_is_the_sum_of_the_operators() -> None:
    step = backward_pass(BERT, 64, DEVICE)
    efficiency, _ = efficiency_of(DEVICE, "training", "bf16")
    graph = BERT.op_graph(Mappings.of(data=64, micro_batch=8, zero=0), DEVICE)
    started = efficiency.model_copy(update={"launch_s": 0.0})  # the host starts them ahead
    products = matrix_times(graph, DEVICE, started, None)
    total_s, backward_s = efficiency.step_s, 0.0
    for block in graph.blocks:
        times = [
            operator_s(each, DEVICE, started, "bf16", matrix_s=products)[2] * each.count for each in block.operators
        ]
        busy_s = sum(float(np.asarray(time_s).ravel()[0]) for time_s in times)
        host_s = efficiency.launch_s * sum(float(np.asarray(each.count).ravel()[0]) for each in block.operators)
        time_s = max(busy_s, host_s) * float(block.times[0])
        total_s += time_s
        backward_s += time_s if block.name == "backward" else 0.0
    assert step.compute_s == pytest.approx(total_s)
    assert 0 < step.backward_s - backward_s < 0.1 * step.backward_s


def test_gradients_are_four_bytes_a_parameter() -> None:
    hidden, layer = 1024, 4 * 1024**2 + 2 * 4 * 1024**2 + 2 * 1024
    step = backward_pass(BERT, 64, DEVICE)
    assert step.gradient_bytes == 4 * (24 * layer + hidden + 30522 * hidden)
    assert step.ready_bytes.tolist() == [0, 0, 4 * (24 * layer + hidden), step.gradient_bytes]
    assert np.all(np.diff(step.time_s) > 0)


def test_the_tied_embedding_comes_last_and_an_own_projection_first() -> None:
    own = BERT.shape.model_copy(update={"tied_embeddings": False})
    step = backward_pass(BERT.model_copy(update={"model": own}), 64, DEVICE)
    embedding = 4 * 30522 * 1024
    assert np.diff(step.ready_bytes)[[0, 2]].tolist() == [embedding, embedding]
    assert step.ready_s(np.array([embedding / 2])) == pytest.approx([step.time_s[1] / 2])


def test_when_gradients_are_ready() -> None:
    step = backward_pass(BERT, 64, DEVICE)
    halfway = (step.ready_bytes[1] + step.ready_bytes[2]) / 2
    assert step.ready_s(np.array([halfway, step.gradient_bytes])) == pytest.approx(
        [(step.time_s[1] + step.time_s[2]) / 2, step.backward_s]
    )


def test_a_step_is_the_same_on_any_number_of_ranks() -> None:
    steps = [backward_pass(BERT.model_copy(update={"global_batch": 8 * n}), n, DEVICE) for n in (2, 32, 256)]
    assert len({step.compute_s for step in steps}) == 1


def test_a_batch_that_does_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="global_batch: 512 is no multiple of 48 ranks"):
        backward_pass(BERT, 48, DEVICE)

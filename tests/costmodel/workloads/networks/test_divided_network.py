"""Work of one rank, counted once for each way to divide a network."""

import numpy as np

from costmodel.parallelism.mappings import Mappings
from costmodel.workloads import NetworkTraining
from costmodel.workloads.networks.divided_network import DividedNetwork, step_of_rank

LSTM = NetworkTraining(model={"cell": "lstm", "hidden": 512, "steps": 6}, global_batch=64, precision="bf16")


def _mappings() -> Mappings:
    return Mappings.of(
        tensor=np.array([1, 2, 1, 2]), data=np.array([1, 1, 2, 1]), micro_batch=np.array([64, 64, 32, 64])
    )


def test_mappings_of_one_division_share_its_work() -> None:
    share = DividedNetwork.of(LSTM, _mappings())
    assert len(share.steps) == 3
    assert share.steps[share.shapes.of[1]] is share.steps[share.shapes.of[3]] is step_of_rank(LSTM, 2, 64)


def test_steps_of_one_size_are_one_operator() -> None:
    """Six products and six cells forward; backward products of weights and inputs, cells, and cells made again."""
    share = DividedNetwork.of(LSTM, _mappings())
    assert [each.count for each in share.operators("forward")] == [6, 6]
    assert sorted(each.count for each in share.operators("backward")) == [5, 5, 6, 6]
    product = share.operators("forward")[0]
    assert product.sizes is not None
    tensor, samples = share.shapes.columns["tensor"], share.shapes.columns["samples"]
    assert [each.tolist() for each in product.sizes] == [samples.tolist(), (2048 / tensor).tolist(), [512.0] * 3]


def test_ranks_that_share_layers_gather_outputs_and_sum_gradients() -> None:
    share = DividedNetwork.of(LSTM, _mappings())
    several = share.shapes.columns["tensor"] > 1
    (forward,), (backward,) = share.exchanges("forward"), share.exchanges("backward")
    assert np.array_equal(forward.count, 0.5 * 6 * several)
    assert np.array_equal(backward.count, 5.0 * several)
    assert np.array_equal(forward.message_bytes, 2 * 512 * share.shapes.columns["samples"])


def test_state_of_sixteen_bits_has_a_copy_in_thirty_two() -> None:
    """Weights and gradients of 2 bytes, momentum and copy of 4; an update reads the gradients, reads and writes
    momentum and copy, and writes the weights."""
    (state,), (update,) = (
        getattr(DividedNetwork.of(LSTM, Mappings.of(micro_batch=np.array([64]))), name)
        for name in ("state_bytes", "update_bytes")
    )
    assert (state, update) == (12 * 4 * 512**2, 20 * 4 * 512**2)


def test_what_leaves_is_held_in_whole_pages() -> None:
    """Five outputs of a quarter of a mebibyte leave, each in a page of its own, beside two that stay empty."""
    share = DividedNetwork.of(LSTM, Mappings.of(micro_batch=np.array([64])))
    assert share.leaving_bytes.tolist() == [5 * 64 * 2048 * 2]
    assert share.away_bytes.tolist() == [7 * 2**20]

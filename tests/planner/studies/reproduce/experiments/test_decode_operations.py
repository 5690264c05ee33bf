"""One decoding step by kind of operation, against bounds of the memory's peak and single collectives."""

import numpy as np
import pytest
from pydantic import ValidationError

from costmodel.hardware.device import load_device
from costmodel.kernels.collective import node_collective_s
from planner.studies.reproduce.experiments.decode_operations import GrowingGroup, Inputs, both, overheads_s
from tests.planner.studies.reproduce.experiments.photonic_fabric import outcome


def _inputs() -> Inputs:
    inputs = outcome("operations").inputs
    assert isinstance(inputs, Inputs)
    return inputs


def test_the_server_reads_its_share_of_the_weights_and_sends_two_sums_a_layer() -> None:
    given = _inputs().comparison
    device = load_device("h100-sxm")
    server, appliance = both(given, (128, 128))
    weight_bytes = 405.85e9 - 2 * 128256 * 16384
    assert weight_bytes / 8 / 3350e9 < server["products"] < 1.5 * weight_bytes / 8 / 3350e9
    assert appliance["products"] > weight_bytes / 26800e9
    one = node_collective_s("all_reduce", np.array([8.0]), np.array([2 * 16384.0]), device)[0]
    assert server["communication"] == pytest.approx(126 * 2 * one)
    assert appliance["communication"] == 0


def test_attention_reads_the_cache_of_half_the_answer() -> None:
    server, _ = both(_inputs().comparison, (4096, 4096))
    tokens = 4096 + 4096 / 2
    assert server["attention"] == pytest.approx(126 * tokens * 2 * 2 * 8 * 128 / 8 / (0.9 * 3350e9), rel=0.05)


def test_overheads_are_what_a_group_takes_beyond_its_share() -> None:
    given = _inputs().profile
    found = overheads_s(given)
    assert [tensor for tensor in given.tensor if tensor > 1] == [2, 4, 8]
    shares = outcome("operations").quantities
    for tensor, each in zip((2, 4, 8), found, strict=True):
        assert each["communication"] > 0
        assert each["attention"] == pytest.approx(0, abs=1e-12)
        name = f"communication of the overhead, {tensor} GPUs, by the product's model"
        assert shares[name] == pytest.approx(each["communication"] / sum(each.values()))
    norms = [each["norms and residuals"] for each in found]
    assert norms == pytest.approx([norms[0], 1.5 * norms[0], 1.75 * norms[0]])


def test_figures_that_cannot_be_derived_show_ours_beside() -> None:
    rows = {row.quantity: row for row in outcome("operations").rows}
    for tensor in (2, 4, 8):
        row = rows[f"all-reduce of the overhead, {tensor} GPUs"]
        assert (row.verdict, row.ours) == ("not derivable", None)
        assert 0 < row.beside["by the product's model"] < 100


@pytest.mark.parametrize("tensor", [(2, 4), (1, 4, 2), (1, 1)])
def test_degrees_grow_from_one(tensor: tuple[int, ...]) -> None:
    good = _inputs().profile.model_dump(mode="json")
    with pytest.raises(ValidationError, match="must grow from 1"):
        GrowingGroup.model_validate(good | {"tensor": tensor})

"""Counting of a transformer's step against closed forms of plain numbers."""

import numpy as np
import pytest
from pydantic import ValidationError

from costmodel.parallelism.mappings import Mappings
from planner.studies.reproduce.experiments.counted_step import CountedStep, layer
from tests.oracles.sipam import MODELS, Split, asked, splits
from tests.planner.studies.reproduce.experiments.counted_step_cases import PHASES, shape, step

TABLE = {
    "126M": (59, 42),
    "5B": (448, 351),
    "13B": (543, 432),
    "22B": (531, 414),
    "175B": (1107, 960),
    "530B": (1771, 1745),
    "1T": (2043, 2119),
}
"""FLOP/B of training and inference, computed by Calculon: micro-batch 8, global batch 8"""


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("phase", PHASES)
def test_intensity_table(model: str, phase: str) -> None:
    counted = step(model, phase)
    found = counted.demands(counted.mappings(1)).flops_per_byte
    assert found == pytest.approx([TABLE[model][PHASES.index(phase)]], rel=0.015)


@pytest.mark.parametrize("model", ["126M", "22B", "530B"])
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("number", [1, 2, 8, 12, 64])
def test_every_mapping_against_closed_forms(model: str, phase: str, number: int) -> None:
    counted = step(model, phase, batch=64, micro=2)
    table = counted.demands(counted.mappings(number))
    m = table.mappings
    ways = [Split(*map(int, row)) for row in zip(m.tensor, m.pipeline, m.data, strict=True)]
    assert sorted(ways) == sorted(splits(model, number, batch=64, micro=2))
    expected = [asked(model, phase, way, batch=64, micro=2) for way in ways]
    np.testing.assert_allclose(table.flops, [each.flops for each in expected], rtol=1e-12)
    np.testing.assert_allclose(table.memory_bytes, [each.moved for each in expected], rtol=1e-12)
    np.testing.assert_allclose(table.footprint_bytes, [each.footprint for each in expected], rtol=1e-12)
    np.testing.assert_allclose(table.idle, [each.idle for each in expected])
    np.testing.assert_allclose(table.time_s(1e15, 3e12), [each.step(1e15, 3e12) for each in expected], rtol=1e-12)


def test_kept_activations_are_the_published_ones() -> None:
    """34 s b h and 5 a s s b bytes: Korthikanti et al. 2022 (arXiv:2205.05198), section 4.1."""
    one = layer(shape("175B"), np.array([2.0]), 2048, np.ones(1))
    assert one.kept_bytes[0] == 34 * 2048 * 2 * 12288 + 5 * 96 * 2048**2 * 2


def test_kernels_of_a_step() -> None:
    """A layer: 6 weight products, 2 others, softmax, activation, 2 norms, 3 dropouts and 2 residuals; backward each
    once, weight products and norms twice, and 3 sums of gradients; the optimizer of each layer."""
    inference, training = (step("126M", phase) for phase in ("inference", "training"))
    none = Mappings.of(micro_batch=8)
    assert inference.demands(none).operators[0] == 12 * 17
    assert training.demands(none).operators[0] == 12 * (17 + 17 + 8 + 3 + 1)


def test_what_is_not_counted_is_refused() -> None:
    with pytest.raises(ValidationError, match="without experts, gates and shared key heads"):
        CountedStep(model="llama-2-7b", phase="training", sequence=2048, global_batch=8, micro_batch=8)
    with pytest.raises(ValidationError, match="micro_batch: 3 does not divide the batch of 8"):
        step("126M", "training", micro=3)

"""Steps of MLPerf Training as candidates are priced: errors by device and model, and how rows are read."""

from typing import Any

import numpy as np
import pytest

from costmodel.calibrate import training
from costmodel.calibrate.family import Series
from costmodel.calibrate.training_rows import rows_of
from planner.tables import read_table
from tests.costmodel.calibrate.training_cases import MEASURED, needs_tables, row_of, table


@pytest.fixture(scope="module")
def mlperf() -> tuple[dict[str, Any], Series]:
    columns = read_table(MEASURED / "mlperf_training.csv", "training").columns
    return dict(columns), training.predict(columns)[0]


@needs_tables
def test_steps_at_scale_are_within_their_marks(mlperf: tuple[dict[str, Any], Series]) -> None:
    """Median by model and device at most 5 %: 8 to 1,536 accelerators in bf16, fp8, int8 and fp4."""
    columns, step = mlperf
    error = np.abs(step.predicted / step.measured - 1)
    assert np.isfinite(error).all()
    assert error.mean() <= 0.025
    groups = np.char.add(np.asarray(columns["device"], str), np.asarray(columns["model"], str))
    for group in np.unique(groups):
        assert np.median(error[groups == group]) <= 0.05, group


@needs_tables
def test_few_numbers_are_fitted() -> None:
    columns = read_table(MEASURED / "mlperf_training.csv", "training").columns
    by_device: dict[str, int] = {}
    for (device, variant), curve in training._by_curve(columns).items():
        is_old = len(variant.split()) > 1
        if variant.startswith("fp8"):
            by_device[device] = by_device.get(device, 0) + (1 if is_old else len(training._free(curve[0])))
    assert max(by_device.values()) <= 3


def test_the_recipe_of_a_row_is_read() -> None:
    row = row_of(precision="fp8", attention_precision="fp8", fp8_param_gather="True", tp_overlap="True",
                 cuda_graphs="full_iteration", zero_stage=1.0, source="mlperf-v3.0")  # fmt: skip
    job = row.workload
    assert (job.precision, job.attention_precision, job.gather_precision) == ("fp8", "fp8", "fp8")
    assert job.overlap["tensor"] > 0
    assert job.cuda_graphs
    assert row.variant == "fp8 nemo-23.04"
    plain = row_of().workload
    assert (plain.precision, plain.cuda_graphs, plain.framework) == ("bf16", False, "")
    assert plain.overlap["tensor"] == 0


def test_what_a_source_does_not_publish_is_chosen() -> None:
    row = row_of(micro_batch=np.nan, micro_batches=np.nan, recompute="", interleave=np.nan, global_batch=16.0)
    assert set(row.mappings.micro_batch.tolist()) == {1, 2, 4}
    assert row.predict(None)[0] <= row_of(micro_batch=1, micro_batches=4).predict(None)[0]


def test_a_model_of_which_only_sizes_are_known() -> None:
    row = row_of(model="my-own", hidden=2048.0, heads=16.0, vocab=32000.0)
    assert (row.workload.shape.hidden, row.workload.shape.ffn) == (2048, 8192)
    assert rows_of(table(model="my-own", hidden=2048.0, heads=0.0, vocab=32000.0)) == [None]

"""Recommendation models as in files."""

import pytest
from pydantic import TypeAdapter, ValidationError

from costmodel.workloads import Dlrm, Workload
from costmodel.workloads.dlrm.recommenders import load_recommender, recommender_names
from tests.costmodel.workloads.dlrm.dlrm_cases import TRAIN

TINY = {
    "dense_features": 4, "bottom": [8], "tables": [{"rows": 1000, "pooling": 5, "count": 2}], "dimension": 8,
    "top": [16, 1], "gather_efficiency": 0.5,
}  # fmt: skip


def test_published_shapes() -> None:
    """104.5 GB of rows for Criteo, 10 TB for the published tables; 479 inputs of the top network, 27 x 128 crossed."""
    criteo, crossed, large = (load_recommender(name) for name in ("dlrm", "mlperf-dlrm", "DLRM-10TB"))
    assert criteo.num_rows == crossed.num_rows == 204_184_588
    assert (criteo.num_tables, criteo.lookups, criteo.top_inputs) == (26, 26, 479)
    assert (crossed.num_tables, crossed.lookups, crossed.top_inputs) == (26, 214, 3456)
    assert large.num_rows * large.dimension * 4 == 10e12
    assert crossed.dense_parameters == 13 * 512 + 512 * 256 + 256 * 128 + 6 * 3456 * 512 + (
        3456 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256
    )
    assert set(recommender_names()) == {"dlrm-dcnv2", "dlrm-criteo", "dlrm-10tb"}


def test_workload_is_selected_by_kind() -> None:
    assert TypeAdapter(Workload).validate_python(TRAIN.model_dump()) == TRAIN
    assert Dlrm.model_validate_json(TRAIN.model_dump_json()) == TRAIN
    assert TRAIN.speed_unit == "samples/s"
    assert Dlrm(mode="training", model=TINY, batch=8).shape.label == "2 tables, 2,000 rows of 8"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "dlrm-dcn"}, "unknown recommender 'dlrm-dcn'; did you mean dlrm-dcnv2"),
        ({"model": TINY | {"bottom": [9]}}, "bottom: its last layer has 9 outputs; give dimension, 8"),
        ({"model": TINY | {"cross_layers": 2}}, "2 and 0 where interaction is dot; give both with cross"),
        ({"model": TINY | {"interaction": "cross"}}, "0 and 0 where interaction is cross"),
        ({"model": TINY | {"tables": []}}, "tables"),
        ({"model": TINY | {"gather_efficiency": 1.2}}, "gather_efficiency"),
        ({"mode": "serving"}, "'training' or 'inference'"),
        ({"batch": 0}, "greater than or equal to 1"),
    ],
)
def test_bad_fields_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Dlrm.model_validate(TRAIN.model_dump() | changes)

"""RowDemands of many rows are those of each row, and one object where they are equal."""

import pytest

from planner.candidates.expand import list_options
from planner.fabrics.demand import shape_of
from planner.fabrics.demands import RowDemands
from planner.model.instance import Instance
from tests.fabrics import EVERY
from tests.planner.checks.plans import SERVING


@pytest.mark.parametrize("name", EVERY)
def test_each_row_has_its_own_demand(name: str) -> None:
    data = {
        "schema_version": 2,
        "name": "demands",
        "cluster": {"device": "h100-sxm", "fabric": EVERY[name]},
        "jobs": [{"name": "a", "workload": SERVING, "accelerators": {"min": 1, "max": 4}}],
    }
    instance = Instance.parse(data)
    fabric = instance.cluster.fabric
    rows = list_options(instance, instance.jobs[0]).candidates
    demands = RowDemands.of(rows, fabric)
    assert len(demands) == len(rows) > 0
    for row in range(0, len(rows), max(1, len(rows) // 60)):
        assert demands[row] == shape_of(rows, row, fabric)
    once, of = demands.distinct
    assert [once[kind] for kind in of.tolist()] == list(demands)
    assert len(set(once)) == len({id(each) for each in demands})

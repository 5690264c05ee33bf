"""Parts of one fabric, told beside a name that none of them has."""

import pytest

from planner.whatif.failures import kind_of
from planner.whatif.part_names import nearest, told_parts
from tests.fabrics import FABRICS
from tests.planner.fabrics.all_fabrics_cases import instance


@pytest.mark.parametrize("kind", FABRICS)
def test_every_part_that_is_told_is_one_of_the_fabric(kind: str) -> None:
    cluster = instance(FABRICS[kind], 4).cluster
    told = told_parts(cluster, "foo").removeprefix("parts are ")
    names = [part.partition(" (")[0] for part in told.split("), ")]
    assert names
    assert all(kind_of(cluster.fabric.inventory(), name) is not None for name in names)


def test_the_nearest_name_comes_first() -> None:
    cluster = instance(FABRICS["fat_tree"], 4).cluster
    assert told_parts(cluster, "s0.q1").startswith("nearest is s0.g1; parts are s0.g0 (an accelerator)")
    assert "fiber" not in told_parts(cluster, "s0>s1#0")
    assert nearest("foo", ["s0.g0"]) is None

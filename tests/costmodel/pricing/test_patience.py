"""Each change that is offered lists something by itself, and the next more modest one does not."""

from typing import Any

import pytest
import yaml

from costmodel.pricing.limits import ANYWHERE
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.patience import shorter_waits
from costmodel.pricing.remedies import remedies
from tests.costmodel.pricing.unlisted_cases import H100, WORKLOADS, count, fabric, workload

SERVED, SIZE = WORKLOADS["served"] | {"concurrency": 24}, 4


def changed(remedy: str) -> tuple[dict[str, Any], int | None]:
    """Fields, or a number of accelerators."""
    if remedy.endswith(" accelerators"):
        return {}, int(remedy.removesuffix(" accelerators").replace(",", ""))
    return yaml.safe_load(remedy), None


@pytest.mark.parametrize("name", ["fat_tree", "lightpath"])
def test_each_offer_lists_something(name: str) -> None:
    on = fabric(name)
    least_s = float(listed_and_priced(workload(SERVED), [SIZE], H100, on)[1].tpot_s.min())
    hurried = SERVED | {"limits": {"ttft": 10.0, "tpot": 0.85 * least_s}}
    found = [*shorter_waits(workload(hurried), SIZE, H100, on, ANYWHERE)]
    assert tuple(found) == remedies(workload(hurried), SIZE, H100, on)
    assert len(found) >= 2
    for fields, devices in map(changed, found):
        assert count(workload(hurried | fields), devices or SIZE, on), fields
        if "concurrency" in fields:
            assert not count(workload(hurried | {"concurrency": fields["concurrency"] + 1}), SIZE, on)


def test_limits_that_one_user_misses_offer_no_fewer_users() -> None:
    never = WORKLOADS["served"] | {"limits": {"ttft": "10 us"}}
    (only,) = shorter_waits(workload(never), 8, H100, fabric("fat_tree"), ANYWHERE)
    assert only.startswith("limits: {ttft: ")

"""Names of the jobs of a mix differ."""

import pytest

from planner.placement.job_mix import Mix
from tests.planner.simulate.grounds import BERT, cluster


def test_names_of_a_mix_differ() -> None:
    twice = [{"name": "a", "workload": BERT}, {"name": "a", "workload": BERT}]
    with pytest.raises(ValueError, match="'a' is used 2 times"):
        Mix.model_validate({"name": "m", "reference": cluster("fat_tree").model_dump(), "workloads": twice})

"""Random instances are what the seed says, can be read, and ask for what was promised."""

import pytest

from costmodel.pricing.candidates import enumerate_candidates
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.studies.random_instances import LOAD, datacenter, random_jobs
from tests.fabrics import FABRICS


@pytest.mark.parametrize("seed", range(3))
def test_one_seed_is_one_instance(seed: int) -> None:
    assert random_jobs(40, 256, seed) == random_jobs(40, 256, seed) != random_jobs(40, 256, seed + 1)


@pytest.mark.parametrize(("count", "accelerators", "most"), [(40, 256, 32), (400, 4096, 128), (120, 65536, 4096)])
def test_jobs_prefer_more_than_there_is(count: int, accelerators: int, most: int) -> None:
    asked = [job["accelerators"] for job in random_jobs(count, accelerators, 7, most=most)]
    preferred = [2 * each["min"] if isinstance(each, dict) else each for each in asked]
    assert len(asked) == count
    assert max(each["max"] if isinstance(each, dict) else each for each in asked) <= most
    assert LOAD[0] <= sum(preferred) / accelerators <= LOAD[1]


def test_a_number_of_jobs_that_was_refused_is_not_advised() -> None:
    """One job of 16 would prefer as many as there are; the least that is advised works."""
    with pytest.raises(InputError, match="give 2 to 10 jobs"):
        random_jobs(1, 16, 0, most=64)
    assert len(random_jobs(2, 16, 0, most=64)) == 2


def test_models_fit_where_they_are_asked_for() -> None:
    instance = Instance.parse(datacenter(FABRICS["fat_tree"], random_jobs(40, 64, 3, most=32), "random"))
    device, fabric = instance.cluster.device, instance.cluster.fabric
    for job in instance.jobs:
        assert len(enumerate_candidates(job.workload, job.sizes, device, fabric)), job.name

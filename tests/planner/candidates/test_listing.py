"""Jobs listed together have the candidates that each of them has alone."""

from typing import Any

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.candidates.listing import Listings
from planner.checked_solve import solve
from planner.model.edit import as_residents, edited
from planner.model.instance import Instance
from tests.planner.small_racks import rack, serving, training


def jobs() -> list[dict[str, Any]]:
    return [
        serving("small", {"min": 1, "max": 3}),
        serving("large", 6, weight=3),
        serving("again", {"min": 1, "max": 3}, weight=2),
        training("other", {"min": 2, "max": 4}),
    ]


@pytest.mark.parametrize("name", ["small", "large", "again", "other"])
def test_listed_together_as_alone(name: str) -> None:
    instance = Instance.parse(rack(*jobs(), tiles=8))
    job = instance.job(name)
    together = Listings(instance.cluster, instance.jobs).of(job)
    alone = Listings(instance.cluster, (job,)).of(job)
    assert len(together) == len(alone) > 0
    rows = range(len(alone))
    assert [together.candidates.configuration(r) for r in rows] == [alone.candidates.configuration(r) for r in rows]
    np.testing.assert_allclose(together.scores.speed, alone.scores.speed, rtol=1e-12)
    assert together.reference.speed == pytest.approx(alone.reference.speed)
    assert list(together.shapes) == list(alone.shapes)


def test_jobs_of_one_workload_are_listed_once() -> None:
    instance = Instance.parse(rack(*jobs(), tiles=8))
    listings = Listings(instance.cluster, instance.jobs)
    small, large, again, other = instance.jobs
    assert listings.of_all_sizes(small) is listings.of_all_sizes(large)
    assert listings.of(small) is listings.of(again)
    assert small.listing_json != other.listing_json
    assert set(listings.of(large).candidates.num_devices.tolist()) == {6}


def test_residents_that_run_alike_have_the_candidates_that_each_has_alone() -> None:
    waiting = Instance.parse(rack(*[serving(f"r{i}", 2, weight=1 + i) for i in range(3)], tiles=8))
    running = solve(waiting, policy="best_fit").plan
    assert running is not None
    assert len(running.assignments) == 3
    instance = as_residents(waiting, running)
    together = expand(instance).options
    for resident, options in zip(instance.residents, together, strict=True):
        (alone,) = expand(edited(instance, residents=(resident,))).options
        rows = range(len(alone))
        mine, other = ([each.candidates.configuration(r) for r in rows] for each in (options, alone))
        assert mine == other
        assert (options.job, options.current, options.can_stay) == (resident, alone.current, True)
        np.testing.assert_array_equal(options.value, alone.value)
        np.testing.assert_array_equal(options.energy, alone.energy)
        assert (options.num_listed, options.row_of(resident.configuration)) == (alone.num_listed, options.current)
    assert len({id(options.candidates) for options in together}) == 1

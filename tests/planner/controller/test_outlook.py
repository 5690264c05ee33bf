"""What is told before a job is submitted is what happens when it is; asking changes nothing."""

import random

import pytest

from planner.controller import Start, Wait
from tests.planner.controller.sites import controller, request


@pytest.mark.parametrize("fabric", ["lightpath", "fat_tree", "ocs_rail", "torus"])
def test_what_is_told_is_what_happens(fabric: str) -> None:
    draw, told = random.Random(0), []
    c = controller(fabric, {"moves": False, "preempts": False})
    for number in range(40):
        if c.running and draw.random() < 0.3:
            c.finish(draw.choice(list(c.running)))
        asked = request(f"j{number}", draw.choice([1, 2, 4, 8, 16]), duration_s=draw.choice([None, 60.0, 600.0]))
        before = c.state(), c.num_free, c.seq
        found = c.ask(asked)
        assert (c.state(), c.num_free, c.seq) == before
        assert c.ask(asked) == found
        decisions = c.submit(asked)
        started = [each for each in decisions if isinstance(each, Start) and each.job == asked.name]
        assert found.starts == bool(started)
        told.append(found.starts)
        if started:
            assert found.place is not None
            assert found.place.device_names == started[0].devices
        else:
            waits = [each for each in decisions if isinstance(each, Wait) and each.job == asked.name]
            assert (found.tag, found.because) == (waits[0].tag, waits[0].because)
    assert len(set(told)) == 2


def test_when_it_could_start_follows_from_limits() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False})
    c.submit(request("long", 16, duration_s=500.0), at_s=1000.0)
    c.submit(request("short", 16, duration_s=100.0), at_s=1000.0)
    found = c.ask(request("next", 16))
    assert (found.starts, found.earliest_s, found.ahead) == (False, 100.0, 0)
    c.submit(request("first", 32, priority=3), at_s=1001.0)
    assert c.ask(request("next", 16)).ahead == 1
    assert c.ask(request("urgent", 16, priority=5)).ahead == 0
    c.submit(request("endless", 8), at_s=1002.0)
    assert c.ask(request("all", 32)).earliest_s == pytest.approx(498.0)

"""What was held and who waited after each event, told backwards from the journal, equals what was seen forwards."""

import random

import pytest

from planner.controller import Controller
from planner.controller.history import MOST_MOMENTS, Moment, columns, history
from planner.controller.journal import Record
from tests.planner.controller.sites import chat, controller


def _seen(c: Controller) -> tuple[int, int]:
    return sum(len(place.devices) for place in c.running.values()), len(c.waiting)


@pytest.mark.slow
def test_it_is_what_was_seen_after_each_event() -> None:
    """Jobs that start, wait, move, leave, are cancelled and lose a part; the same submission again counts once."""
    rng, seen = random.Random(4), list[tuple[int, int]]()
    with controller("fat_tree", servers=2) as c:
        for number in range(40):
            if rng.random() < 0.6 or not c.running:
                request = chat(f"j{number}", rng.choice((1, 2, 4, 8, 16)))
                c.submit(request)
                seen.append(_seen(c))
                c.submit(request, key=f"again {number}")
            elif rng.random() < 0.7:
                c.finish(rng.choice(list(c.running)))
            elif c.waiting and rng.random() < 0.5:
                c.cancel(c.waiting[0])
            else:
                part = c.cluster.fabric.device_name(rng.randrange(2), rng.randrange(8))
                c.fail(part)
                seen.append(_seen(c))
                c.repair(part)
            seen.append(_seen(c))
        found = [(each.held, each.waiting) for each in c.history()]
        assert found == seen
        assert max(held for held, _ in found) > 0 < max(waiting for _, waiting in found)
        assert [(each.held, each.waiting) for each in c.history(most_events=5)] == seen[-5:]


def test_times_before_the_clock_was_set_are_moved_with_it() -> None:
    bodies = [{"e": "drain", "at_s": 5.0}, {"e": "clock", "at_s": 105.0}, {"e": "undrain", "at_s": 110.0}]
    records = [Record(number, body, []) for number, body in enumerate(bodies)]
    assert [each.at_s for each in history(records, 3, 1)] == [105.0, 105.0, 110.0]


def test_of_many_moments_some_are_left_out_but_not_the_last() -> None:
    records = [Record(number, {"e": "drain", "at_s": float(number)}, []) for number in range(3 * MOST_MOMENTS)]
    found = history(records, 8, 2)
    assert len(found) == MOST_MOMENTS
    assert found[-1] == Moment(3 * MOST_MOMENTS - 1.0, 8, 2)
    assert columns(found[-2:]) == {"at_s": [2156.0, 2159.0], "held": [8, 8], "waiting": [2, 2]}

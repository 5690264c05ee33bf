"""The fewest jobs give way, by CP-SAT."""

from itertools import combinations
from random import Random

import pytest

from planner.cpsat.preemption import PreemptionServers, fewest_victims
from tests.planner.controller.preemption_cases import by_every_subset


def fewest_by_every_subset(site: PreemptionServers, part: int, parts: int) -> int | None:
    for number in range(len(site.guests) + 1):
        for chosen in combinations(site.guests, number):
            free = list(site.free)
            for server, ranks in (place for guest in chosen for place in guest):
                free[server] += ranks
            if sum(count >= part for count in free) >= parts:
                return number
    return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_no_fewer_victims_leave_a_part_on_each_server(seed: int) -> None:
    random = Random(seed)
    servers = random.randint(2, 4)
    guests = tuple(
        tuple((server, random.randint(1, 4)) for server in random.sample(range(servers), random.randint(1, 2)))
        for _ in range(random.randint(2, 7))
    )
    site = PreemptionServers(tuple(random.randint(0, 5) for _ in range(servers)), guests, (0,) * len(guests))
    part, parts = random.choice([2, 3, 4]), random.randint(1, servers)
    found = fewest_victims(site, part, parts, most=len(guests), time_limit_s=20, is_even=True)
    best = fewest_by_every_subset(site, part, parts)
    assert (None if found is None else len(found)) == best


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_no_smaller_set_of_victims_makes_room(seed: int) -> None:
    random = Random(seed)
    servers = random.randint(1, 4)
    free = [random.randint(0, 4) for _ in range(servers)]
    guests = []
    for _ in range(random.randint(0, 8)):
        places = random.sample(range(servers), random.randint(1, min(2, servers)))
        guests.append(tuple((server, random.randint(1, 4)) for server in places))
    site = PreemptionServers(tuple(free), tuple(guests), tuple(random.randint(0, 20) for _ in guests))
    part, parts, most = random.choice([1, 2, 4]), random.randint(1, 6), random.randint(0, 8)
    found = fewest_victims(site, part, parts, most=most, time_limit_s=20)
    best = by_every_subset(site, part, parts, most)
    assert (found is None) == (best is None)
    if found is not None:
        assert (len(found), sum(site.costs[i] for i in found)) == best


def test_refused_sets_do_not_come_again() -> None:
    site = PreemptionServers((0, 0), (((0, 4),), ((1, 4),), ((1, 2),)), (0, 1, 0))
    first = fewest_victims(site, 4, 1, most=3, time_limit_s=20)
    assert first == (0,)
    assert fewest_victims(site, 4, 1, most=3, time_limit_s=20, refused=[frozenset(first)]) == (1,)

"""Shared by the tests of `preemption` and `preemption`."""

from itertools import combinations

from planner.cpsat.preemption import PreemptionServers


def by_every_subset(site: PreemptionServers, part: int, parts: int, most: int) -> tuple[int, int] | None:
    """(number of victims, their cost) of the best set."""
    for number in range(most + 1):
        costs = []
        for chosen in combinations(range(len(site.guests)), number):
            free = list(site.free)
            for i in chosen:
                for server, ranks in site.guests[i]:
                    free[server] += ranks
            if sum(count // part for count in free) >= parts:
                costs.append(sum(site.costs[i] for i in chosen))
        if costs:
            return number, min(costs)
    return None

"""Fragmentation of what a plan leaves free on a few servers, written from planner/RULES.md alone."""

from collections.abc import Mapping
from functools import cache

Links = tuple[tuple[int, int, int], ...]
"""(server, other server, most jobs that may span both)"""


@cache
def most_jobs(size: int, free: tuple[int, ...], links: Links) -> int:
    """Most jobs of a size on servers with free devices."""
    most = sum(count // size for count in free)
    if most == sum(free) // size:
        return most
    for i, (a, b, count) in enumerate(links):
        for part in range(1, size) if count else ():
            if part <= free[a] and size - part <= free[b]:
                left = list(free)
                left[a] -= part
                left[b] -= size - part
                most = max(most, 1 + most_jobs(size, tuple(left), (*links[:i], (a, b, count - 1), *links[i + 1 :])))
    return most


def fragmentation(sizes: Mapping[int, float], free: int, lit: tuple[int, ...], links: Links) -> float:
    """One minus the shares of sizes times what fits of them; `lit` free devices by server have a port."""
    total = 0.0
    for size, share in sizes.items():
        room = (free if size == 1 else sum(lit)) // size
        fits = free if size == 1 else most_jobs(size, lit, links)
        total += share * (fits / room if room else 1.0)
    return 1.0 - total

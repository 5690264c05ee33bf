"""Fragmentation of what a plan leaves free, for one or two servers, written from planner/RULES.md alone."""

from collections.abc import Mapping
from functools import cache


@cache
def most_jobs(size: int, first: int, second: int, links: int) -> int:
    """Most jobs of a size on two servers with free devices, when `links` of them may span both."""
    if size > first + second:
        return 0
    most = first // size + second // size
    if links > 0:
        for part in range(1, size):
            if part <= first and size - part <= second:
                rest = most_jobs(size, first - part, second - (size - part), links - 1)
                most = max(most, 1 + rest)
    return most


def fragmentation(sizes: Mapping[int, float], free: int, lit: tuple[int, ...], links: int) -> float:
    """One minus the shares of sizes times what fits of them; `lit` free devices by server have a port."""
    first, second = (*lit, 0)[:2]
    total = 0.0
    for size, share in sizes.items():
        room = (free if size == 1 else first + second) // size
        fits = free if size == 1 else most_jobs(size, first, second, links)
        total += share * (fits / room if room else 1.0)
    return 1.0 - total

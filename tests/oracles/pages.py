"""Every placement of a few pages, one after the other: which fit, and the fastest. Written apart from the model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Stretch:
    """A tensor while it is not used, between places of a step."""

    pages: int
    first: int
    last: int
    can_be_remade: bool
    sources: tuple[int, ...]
    """stretches that must not be made again with it"""


Choice = tuple[tuple[int, ...], int, bool]
"""pages by link, pages that stay, whether it is made again"""


def divisions(pages: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (pages,)
        return
    for here in range(pages + 1):
        for rest in divisions(pages - here, parts - 1):
            yield here, *rest


def choices(stretch: Stretch, links: int) -> list[Choice]:
    found: list[Choice] = [(each[:links], each[links], False) for each in divisions(stretch.pages, links + 1)]
    if stretch.can_be_remade:
        found.append(((0,) * links, 0, True))
    return found


def fits(stretches: list[Stretch], chosen: tuple[Choice, ...], local: int, capacity: list[int | None]) -> bool:
    for stretch, (_, _, again) in zip(stretches, chosen, strict=True):
        if again and any(chosen[source][2] for source in stretch.sources):
            return False
    for place in range(max(stretch.last for stretch in stretches) + 1):
        here = [c for s, c in zip(stretches, chosen, strict=True) if s.first <= place <= s.last]
        if sum(kept for _, kept, _ in here) > local:
            return False
        for link, most in enumerate(capacity):
            if most is not None and sum(moved[link] for moved, _, _ in here) > most:
                return False
    return True


def fastest(
    stretches: list[Stretch],
    links: int,
    local: int,
    capacity: list[int | None],
    time: Callable[[tuple[Choice, ...]], float],
) -> float | None:
    """Least time over all placements that fit; None where none does."""
    best: float | None = None
    for chosen in product(*(choices(stretch, links) for stretch in stretches)):
        if fits(stretches, chosen, local, capacity):
            taken = time(chosen)
            best = taken if best is None else min(best, taken)
    return best

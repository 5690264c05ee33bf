"""Every placement of a few pages, one after the other: which fit, and the fastest. Written apart from the model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


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


def fitting(
    stretches: list[Stretch], links: int, local: int, capacity: list[int | None]
) -> Iterator[tuple[Choice, ...]]:
    """All placements that fit: one stretch after the other is placed, beside those before it in any way that fits."""
    places = max(stretch.last for stretch in stretches) + 1
    most = [local, *capacity]

    def beside(chosen: tuple[Choice, ...], used: list[list[int]]) -> Iterator[tuple[Choice, ...]]:
        if len(chosen) == len(stretches):
            yield chosen
            return
        stretch = stretches[len(chosen)]
        for moved, kept, again in choices(stretch, links):
            more = [list(each) for each in used]
            for place in range(stretch.first, stretch.last + 1):
                more[place] = [a + b for a, b in zip(used[place], (kept, *moved), strict=True)]
            if all(limit is None or each[n] <= limit for each in more for n, limit in enumerate(most)):
                yield from beside((*chosen, (moved, kept, again)), more)

    for chosen in beside((), [[0] * (links + 1) for _ in range(places)]):
        remade = [each for each, (_, _, again) in enumerate(chosen) if again]
        if not any(chosen[source][2] for each in remade for source in stretches[each].sources):
            yield chosen


def fastest(
    stretches: list[Stretch],
    links: int,
    local: int,
    capacity: list[int | None],
    time: Callable[[tuple[Choice, ...]], float],
) -> float | None:
    """Least time over all placements that fit; None where none does."""
    return min(map(time, fitting(stretches, links, local, capacity)), default=None)

"""The best of several racks against a search row by row."""

from random import Random

from planner.fabrics.lightpath.rack_rows import NO_ROW, RackRows, best_of
from planner.fabrics.placement import Placement
from tests.planner.simulate.grounds import cluster, ground, mix


class _Scripted(RackRows):
    """A rack in which some rows fail so often, and one is found."""

    def __init__(self, fails: dict[int, int], wins: int, placement: Placement) -> None:
        self._rows = sorted({*fails, wins} - {NO_ROW})
        self._fails, self._wins, self._placement = fails, wins, placement
        self.next, self.found, self.failed = self._rows[0] if self._rows else NO_ROW, None, []

    def look(self) -> None:
        number = self._rows.pop(0)
        self.failed += [number] * self._fails.get(number, 0)
        if number == self._wins:
            self.found = self._placement
        else:
            self.next = self._rows[0] if self._rows else NO_ROW


def _plain_best(racks: list[tuple[dict[int, int], int]], most_failed: int) -> tuple[int | None, bool]:
    """Row by row, in each rack in turn."""
    num_failed = 0
    for number in range(12):
        for rack, (fails, wins) in enumerate(racks):
            num_failed += fails.get(number, 0)
            if num_failed >= most_failed:
                return None, True
            if number == wins:
                return rack, False
    return None, False


def test_the_best_row_of_racks_is_that_of_a_search_row_by_row() -> None:
    """Whatever was tried before in some of the racks."""
    random, found = Random(1), set[tuple[bool, bool]]()
    site = ground("g", cluster("lightpath"), [1], mix(chat=False))
    row = site.kinds[0, 1].rows[0]
    places = [Placement(row, ((rack, 0),), ((rack, 0),)) for rack in range(3)]
    for _ in range(500):
        scripts = [
            (
                {number: random.randint(1, 2) for number in random.sample(range(12), random.randint(0, 5))},
                random.choice([NO_ROW, random.randrange(12)]),
            )
            for _ in range(3)
        ]
        racks = [_Scripted(*script, place) for script, place in zip(scripts, places, strict=True)]
        for most in (7, 7, 20, 4):
            placement, is_over = best_of(racks, most)
            expected = _plain_best(scripts, most)
            assert (None if placement is None else placement.devices[0][0], is_over) == expected
            found.add((placement is None, is_over))
    assert found == {(False, False), (True, False), (True, True)}

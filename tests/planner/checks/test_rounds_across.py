"""All-reduces over several racks, round by round."""

import pytest

from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks.rounds_across import reduces_once_across, time_between_racks
from tests.costmodel.fabrics.joined_cases import joined


@pytest.mark.parametrize(
    ("collective", "ranks"),
    [
        (Collective(kind="none", racks=3), 1),
        (Collective(kind="ring", wavelengths=(2,), racks=2), 4),
        (Collective(kind="radix", radices=(2, 2), held=(1, 1), wavelengths=(1, 1), racks=3), 4),
        (Collective(kind="radix", radices=(2, 3), held=(2,), wavelengths=(1, 1), racks=2), 5),
    ],
)
def test_what_each_rank_has_is_added_up_across_racks(collective: Collective, ranks: int) -> None:
    assert reduces_once_across(collective, ranks)


def test_whole_messages_in_each_rack_leave_nothing_to_divide() -> None:
    exchange = Collective(kind="exchange", radices=(2, 2), held=(2,), wavelengths=(1, 1), racks=2)
    assert not reduces_once_across(exchange, 4)


def test_time_is_that_of_a_ring_of_racks() -> None:
    """Two tensor groups, a ring of two racks over two uplinks of 50 GB/s."""
    over = Collective(kind="none", racks=2, links=2)
    found = time_between_racks(joined(), Configuration(tensor=2, data=2, data_collective=over))
    assert found == pytest.approx((2 * 2e-6, 2 * 2 * 0.5 / 100e9))
    assert time_between_racks(joined(), Configuration(data=2)) == (0.0, 0.0)

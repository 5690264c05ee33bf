"""Servers of a job divided over racks: whenever some way is right, and only such ways."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from costmodel.pricing.servers_by_rack import ServersByRack, ServersOfRack, in_words, is_met, shared_out

NUMBERS = st.integers(1, 4)
ASKED: st.SearchStrategy[ServersByRack] = st.one_of(
    st.lists(NUMBERS, min_size=1, max_size=4).map(tuple),
    st.tuples(NUMBERS, NUMBERS).map(lambda ends: ServersOfRack(min=min(ends), max=max(ends))),
)


def is_right(asked: ServersByRack, counts: list[int]) -> bool:
    if isinstance(asked, ServersOfRack):
        return min(counts) >= asked.min and max(counts) <= asked.max
    left = list(asked)
    for count in counts:
        if count not in left:
            return False
        left.remove(count)
    return not left


@given(ASKED, st.integers(1, 9), st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_a_way_is_found_where_there_is_one(asked: ServersByRack, number: int, room: list[int]) -> None:
    ways = [way for way in product(*(range(most + 1) for most in room)) if sum(way) == number]
    right = [way for way in ways if is_right(asked, [count for count in way if count])]
    found = shared_out(asked, number, room)
    assert (found is None) == (not right)
    if found is not None:
        assert tuple(found) in right
        racks = [sum(count > 0 for count in way) for way in right]
        assert sum(count > 0 for count in found) == min(racks)


@given(ASKED, st.lists(NUMBERS, min_size=1, max_size=4))
def test_the_order_of_racks_does_not_matter(asked: ServersByRack, counts: list[int]) -> None:
    assert is_met(asked, counts) == is_right(asked, counts) == is_met(asked, reversed(counts))


def test_certain_numbers_go_where_the_least_is_left() -> None:
    assert shared_out((1, 3), 4, [4, 3, 1, 2]) == [0, 3, 1, 0]


def test_what_is_asked_in_words() -> None:
    assert in_words((4,)) == "4 in one rack"
    assert in_words((1, 3, 4)) == "1, 3 and 4 in one rack each"
    assert in_words(ServersOfRack(min=3, max=3)) == "3 of each rack that it uses"
    assert in_words(ServersOfRack(min=2, max=3)) == "2 to 3 of each rack that it uses"

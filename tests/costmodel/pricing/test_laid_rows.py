"""Layouts of many keys as one table: each key has the rows of its layouts, and menus that its groups choose from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.fabrics import FabricBase
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.pricing.laid_rows import LaidRows, MenuAcross, MenuKey, MenuOfGroup, MenuOfPools, laid_rows, runs
from costmodel.pricing.layouts import Key, ListedBlocks, laid_degrees, layouts
from tests.costmodel.fabrics.joined_cases import joined
from tests.costmodel.fabrics.sipam_cases import fabric

ANYWHERE = ListedBlocks(one_server=False, per_server=None)
POOLS = (2, 1, 3, 1, 1, 1, 4, 1), 8
"""a replica that runs prompts on four accelerators, two others on two each"""


def key_of(tensor: int, pipeline: int, data: int) -> Key:
    return (tensor, pipeline, data, 1, 1, 0, 0, 0), tensor * pipeline * data


KEYS = st.builds(key_of, st.sampled_from((1, 2, 4, 8)), st.integers(1, 4), st.integers(1, 8))


def table(on: FabricBase, *, one_rack: bool = False) -> LaidRows:
    return LaidRows(on, layouts(on, ANYWHERE, RANK_ORDERS[:1], None), one_rack)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6))))
def test_runs_are_whole_numbers_in_a_row(asked: list[tuple[int, int]]) -> None:
    first, number = np.array(asked, np.int64).reshape(-1, 2).T
    assert runs(first, number).tolist() == [one + more for one, many in asked for more in range(many)]


@given(st.lists(KEYS, min_size=1, max_size=8), st.lists(KEYS, max_size=8))
def test_rows_of_each_key_are_its_layouts_whatever_was_asked_before(keys: list[Key], before: list[Key]) -> None:
    on = fabric()
    found = table(on)
    found.of(before)
    rows, number = found.of(keys)
    assert number.sum() == len(rows)
    parts = np.split(rows, np.cumsum(number)[:-1])
    for key, part in zip(keys, parts, strict=True):
        each = layouts(on, ANYWHERE, RANK_ORDERS[:1], None)(key).layouts
        assert [(row[0], row[1], found.insides[row[2]]) for row in part.tolist()] == [
            (layout.block, layout.order, layout.inside) for layout in each
        ]
        degrees = laid_degrees(key[0])
        for row, layout in zip(part.tolist(), each, strict=True):
            menus = [found.menus[number] for number in row[3:]]
            assert menus[:3] == [
                MenuOfGroup(0, degrees.tensor, layout.together[0], 0),
                MenuOfGroup(1, degrees.pipeline, layout.together[1], 0),
                MenuOfGroup(2, degrees.data, layout.together[2], 0),
            ]


def test_two_pools_have_menus_of_their_own() -> None:
    found = table(fabric())
    rows, _ = found.of([POOLS])
    assert len(rows)
    assert {type(found.menus[number]) for number in rows[:, 3:].ravel().tolist()} == {MenuOfPools}


@pytest.mark.parametrize("one_rack", [False, True])
def test_a_job_lies_in_equal_parts_over_racks_unless_it_may_not(one_rack: bool) -> None:
    on = joined()
    key = key_of(2, 1, 4)
    found = table(on, one_rack=one_rack)
    rows, _ = found.of([key])
    menus: list[MenuKey] = [found.menus[number] for number in rows[:, 5].tolist()]
    across = [menu for menu in menus if isinstance(menu, MenuAcross)]
    assert bool(across) != one_rack
    assert all(menu.racks * menu.devices == key[1] and menu.racks * menu.ranks == 4 for menu in across)


def test_shares_of_a_fabric_have_one_table() -> None:
    on = fabric()
    of = layouts(on, ANYWHERE, RANK_ORDERS[:1], None)
    assert laid_rows(on, of, False) is laid_rows(fabric(), of, False)
    assert laid_rows(on, of, False) is not laid_rows(fabric(servers=3), of, False)

"""The table of plans that go together, against one layout after the other."""

from itertools import product

import pytest

from costmodel.fabrics import FabricBase, GroupPlan, Lightpath
from costmodel.hardware.device import load_device
from costmodel.parallelism.degrees import RANK_ORDERS
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.collective_choices import PlanChoices
from costmodel.pricing.layouts import Key, ListedBlocks, layouts
from costmodel.workloads import TransformerTraining
from tests.costmodel.fabrics.sipam_cases import fabric

ANYWHERE = ListedBlocks(one_server=False, per_server=None)
KEYS: list[Key] = [
    ((tensor, pipeline, data, 1, 1, 0, 0, 0), tensor * pipeline * data)
    for tensor, pipeline, data in product((1, 4, 8), (1, 2), (1, 2, 6))
]
JOB = TransformerTraining.model_validate(
    {"kind": "transformer_training", "model": "gpt3-22b", "global_batch": 48, "sequence": 2048}
)
Row = tuple[int, int, tuple[GroupPlan, ...]]


def one_by_one(on: FabricBase, key: Key) -> list[Row]:
    """Block, order and plans of all rows of a key."""
    laid, found = layouts(on, ANYWHERE, RANK_ORDERS[:1], None)(key), list[Row]()
    for layout in laid.layouts:
        menus = [
            tuple(on.plans(dimension, ranks, one_server=near == ranks, per_server=near))
            for dimension, ranks, near in zip(DIMENSIONS, laid.ranks, layout.together, strict=True)
        ]
        chosen = on.combinations(menus, layout.inside)
        plans = (tuple(menu[place] for menu, place in zip(menus, row, strict=True)) for row in chosen)
        found += [(layout.block, layout.order, each) for each in plans]
    return found


@pytest.mark.parametrize("units", [1, 4, 6])
def test_rows_of_each_key_are_those_of_its_layouts_one_after_the_other(units: int) -> None:
    split = next(each for each in fabric().splits(load_device("h100-sxm")) if each.memory_units == units)
    choices = PlanChoices(JOB, split.fabric, ANYWHERE, None)
    choices.table(KEYS[::3])
    table, number = choices.table(KEYS)
    plans = list(choices.plans)
    rows = [(block, order, tuple(plans[plan] for plan in of)) for block, order, *of in table.T.tolist()]
    expected = [one_by_one(split.fabric, key) for key in KEYS]
    assert number.tolist() == list(map(len, expected))
    assert rows == [row for each in expected for row in each]
    assert len({block for block, _, _ in rows}) > 1


def test_no_keys_have_no_rows() -> None:
    table, number = PlanChoices(JOB, fabric(), ANYWHERE, None).table([])
    assert table.shape == (7, 0)
    assert number.tolist() == []


def test_where_any_plans_go_together_rows_are_those_of_each_layout() -> None:
    """Menus with as many plans are combined alike, whichever plans these are."""
    template = {"kind": "lightpath", "servers": 4, "tiles_per_server": 16, "max_peers": 3, "fibers": 2}
    times = {"wavelength_bandwidth": "25 GB/s", "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b"}
    light = Lightpath.model_validate(template | times)
    choices = PlanChoices(JOB, light, ANYWHERE, None)
    table, number = choices.table(KEYS)
    plans = list(choices.plans)
    rows = [(block, order, tuple(plans[plan] for plan in of)) for block, order, *of in table.T.tolist()]
    expected = [one_by_one(light, key) for key in KEYS]
    assert number.tolist() == list(map(len, expected))
    assert rows == [row for each in expected for row in each]

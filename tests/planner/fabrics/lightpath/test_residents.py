"""Jobs that run already on light must obey its rules."""

import pytest

from planner.model.errors import InputError
from tests.planner.fabrics.lightpath.constraints_cases import ring_resident
from tests.planner.model.instance_cases import edited_ring, parse
from tests.planner.small_racks import Fields, rack, single


@pytest.mark.parametrize(
    ("residents", "message"),
    [
        ([single("r", "s0.t0"), single("q", "s0.t0")], "s0.t0 already belongs to r"),
        ([single("r", "s0.t9")], r"residents\[r\].devices: no accelerator 's0.t9'"),
        ([single("r", "s0.t0") | {"devices": ["s0.t0", "s0.t1"]}], "2 accelerators for the 1 ranks"),
        ([edited_ring(**{"from": "s0.t1"})], "s0.t1 is none of its accelerators"),
        ([edited_ring(wavelengths=[3, 4])], "wavelengths are 0 to 3"),
        ([edited_ring(wavelengths=[-1, 0])], "wavelengths are 0 to 3"),
        ([edited_ring(wavelengths=[])], "must have 1 or more entries"),
        ([edited_ring(fibers=[])], "takes (1|one) fiber such as s0>s1#0"),
        ([edited_ring(fibers=["s1>s0#0"])], "takes (1|one) fiber"),
        ([edited_ring(fibers=["s0>s1#1"])], "takes (1|one) fiber"),
        (
            [edited_ring(), edited_ring() | {"name": "q", "devices": ["s0.t1", "s1.t1"]}],
            "is none of its accelerators|already uses wavelength",
        ),
    ],
)  # fmt: skip
def test_residents_that_cannot_be_running(residents: list[Fields], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(rack(residents=residents, fibers=1))


@pytest.mark.parametrize("changes", [{"circuits": []}, {"wavelengths_per_fiber": 1}])
def test_resident_that_breaks_a_rule_while_it_runs(changes: Fields) -> None:
    resident = ring_resident(movable=False) | {k: v for k, v in changes.items() if k == "circuits"}
    fabric = {k: v for k, v in changes.items() if k != "circuits"}
    with pytest.raises(InputError):
        parse(rack(residents=[resident], fibers=1, **fabric))

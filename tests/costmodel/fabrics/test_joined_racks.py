"""Racks that a layer joins, in files."""

import pytest

from costmodel.fabrics import Lightpath
from tests.costmodel.fabrics.joined_cases import joined
from tests.costmodel.fabrics.lightpath_cases import lightpath

SWITCHES = {
    "kind": "switches", "ports": 4, "radix": 4, "bandwidth": "50 GB/s", "reconfiguration": "10 ms", "alpha": "2 us",
    "energy": "10 pJ/b",
}  # fmt: skip


def test_what_joins_racks_is_counted_and_priced() -> None:
    inventory = joined(upper=SWITCHES).inventory()
    assert [*inventory["rack link"].names()] == ["u0", "u1", "u2", "u3"]
    assert inventory["rack link"].parse("u2") == (2,)
    assert inventory["rack link"].prices == {"optical_port": 12, "optical_switch": 4}
    assert joined().inventory()["rack link"].prices == {"electrical_port": 24}
    assert "rack link" not in lightpath(racks=3).inventory()
    assert joined(upper=SWITCHES).stage_s == 0.01
    with pytest.raises(ValueError, match="no switch or fiber 'u4' between racks"):
        inventory["rack link"].parse("u4")


def test_one_rack_has_nothing_to_join() -> None:
    with pytest.raises(ValueError, match="upper: there is one rack, and nothing to join; give racks, or leave it out"):
        joined(racks=1)
    with pytest.raises(ValueError, match=r"upper\.radix: 2 ports join no 3 racks; give at least 3"):
        joined(upper=SWITCHES | {"radix": 2})


def test_nothing_is_written_where_nothing_joins_racks() -> None:
    assert "upper" not in lightpath(racks=3).model_dump_json()
    again = Lightpath.model_validate_json(joined(upper=SWITCHES).model_dump_json())
    assert again == joined(upper=SWITCHES)

"""Headers and lists of SCPI."""

import pytest

from planner.integrations.switch_emulator.scpi_messages import ScpiError, lists_of, resolved, spelled, units_of


def test_a_header_goes_on_where_the_one_before_stood() -> None:
    path: tuple[str, ...] = ()
    found = []
    for unit in units_of(":OXC:SWIT:CONN:ADD (@1),(@5); STAT? ;*OPC?;SUB (@1),(@5);:SYST:ERR?"):
        header, path, _ = resolved(unit, path)
        found.append(header)
    assert found == ["OXC:SWIT:CONN:ADD", "OXC:SWIT:CONN:STAT?", "*OPC?", "OXC:SWIT:CONN:SUB", "SYST:ERR?"]


@pytest.mark.parametrize(
    ("header", "is_it"),
    [
        ("oxc:swit:conn:stat?", True),
        ("OXC:SWITCH:CONNECT:STATE?", True),
        ("OXC:SWITC:CONN:STAT?", False),
        ("OXC", False),
    ],
)
def test_short_and_long_forms(header: str, is_it: bool) -> None:
    assert spelled(header, "OXC:SWITch:CONNect:STATe?") is is_it


def test_lists_with_ranges() -> None:
    assert lists_of("(@1,3:5), (@)", 2) == [[1, 3, 4, 5], []]
    with pytest.raises(ScpiError):
        lists_of("(@1) and (@2)", 2)

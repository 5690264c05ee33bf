"""Blocks of TL1."""

from planner.integrations.switch_emulator.tl1_messages import command_of, commands_of


def test_a_semicolon_in_quotes_ends_nothing() -> None:
    found, rest = commands_of(b'ACT-USER::me:1::"a;b";RTRV-CRS:::2;RTRV')
    assert (found, rest) == (['ACT-USER::me:1::"a;b"', "RTRV-CRS:::2"], b"RTRV")


def test_blocks_that_are_missing_are_empty() -> None:
    command = command_of('act-user::me:1::"a:b,c"')
    assert (command.verb, command.aid, command.ctag, command.payload) == ("ACT-USER", ("me",), "1", ("a:b,c",))
    command = command_of("RTRV-NE")
    assert (command.ctag, command.field(2)) == ("0", "")

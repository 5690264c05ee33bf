"""Tables for the tuner of NCCL."""

import pytest

from costmodel.collectives.best import best
from planner.integrations.exports.nccl_tuner import tuner_lines
from tests.costmodel.collectives.cases import limits


def _tuned(lines: list[str], message_bytes: int) -> tuple[str, str, int] | None:
    """What the plugin makes of a call: algorithm, protocol and channels; None where NCCL's model decides."""
    for line in lines:
        if not line.startswith("#"):
            _, low, high, algorithm, protocol, channels, *_ = line.split(",")
            if int(low) <= message_bytes <= int(high):
                return algorithm, protocol, 1 if channels == "-1" else int(channels)
    return None


@pytest.mark.parametrize("ranks", [8, 12])
def test_tables_are_right_from_the_first_size_that_they_name(ranks: int) -> None:
    lines = tuner_lines("all_reduce", ranks, limits(3), servers=2)
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    comments = [line for line in lines if line.startswith("#")]
    assert len(rows) > 1
    assert comments[0] == f"# allreduce below {rows[0][1]} bytes: left to NCCL"
    assert {(row[0], row[6], row[7], *row[8:]) for row in rows} == {("allreduce", "2", str(ranks), "-1", "-1")}
    assert [int(row[1]) for row in rows[1:]] == [int(row[2]) + 1 for row in rows[:-1]]
    assert int(rows[-1][2]) == 2**40
    for comment, (_, low, high, algorithm, *_) in zip(comments[1:], rows, strict=True):
        plan = best("all_reduce", ranks, (int(low) * int(high)) ** 0.5, limits(3)).plan
        assert comment.split()[1] == plan.name.split()[0], "of equal plans any may be named"
        assert algorithm == ("ring" if plan.kind == "ring" else "tree")


def test_small_messages_are_left_to_nccl_and_large_ones_have_channels() -> None:
    """16 wavelengths of 18.75 GB/s need as many channels; a call of a few kilobytes has any protocol."""
    lines = tuner_lines("all_reduce", 8, limits(3))
    assert _tuned(lines, 8) is _tuned(lines, 64 * 1024) is None
    for size in (2**24, 2**30):
        found = _tuned(lines, size)
        assert found is not None
        assert found[1:] == ("simple", 16)

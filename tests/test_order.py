"""Long files of tests begin first, and are there."""

import pytest

from tests.order import LONGEST, longest_first
from tests.paths import ROOT


def test_long_files_are_there() -> None:
    assert [name for name in LONGEST if not (ROOT / "tests" / name).is_file()] == []
    assert len(set(LONGEST)) == len(LONGEST)


def test_their_tests_come_first_in_their_order() -> None:
    class Item:
        def __init__(self, name: str, number: int) -> None:
            self.path, self.number = ROOT / "tests" / name, number

    names = ["test_order.py", LONGEST[1], LONGEST[0], "test_need.py"]
    items = [Item(name, number) for name in names for number in range(2)]
    longest_first(items)  # type: ignore[arg-type]
    found = [(str(item.path.relative_to(ROOT / "tests")), item.number) for item in items]
    assert found == [(name, number) for name in (LONGEST[0], LONGEST[1], *names[::3]) for number in range(2)]


def test_processes_take_files_in_this_order(request: pytest.FixtureRequest) -> None:
    assert not getattr(request.config.option, "loadscopereorder", False)

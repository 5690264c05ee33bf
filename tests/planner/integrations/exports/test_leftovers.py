"""What an earlier export left in a folder is told apart from what belongs to the plan."""

from pathlib import Path

import pytest

from planner.integrations.exports import FORMATS, Source, export_files
from planner.integrations.exports.leftovers import ENDINGS, leftovers
from tests.planner.checks import good


def exported(folder: Path, format_name: str, case: good.Case) -> list[str]:
    """Write a plan into a folder; what is left there of others."""
    source = Source(*case, "plan.json")
    files = dict(export_files(format_name, source))
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return leftovers(folder, format_name, source, files)


@pytest.mark.parametrize("format_name", sorted(ENDINGS))
def test_every_file_of_a_format_is_known(format_name: str, tmp_path: Path) -> None:
    assert exported(tmp_path, format_name, good.ring()) == []
    before = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "notes.json").touch()
    (tmp_path / "mine.xml").touch()
    assert exported(tmp_path, format_name, good.switched()) == before, "of a job that the plan does not have"


def test_formats_of_one_plan_lie_side_by_side(tmp_path: Path) -> None:
    for format_name in sorted(ENDINGS):
        assert exported(tmp_path, format_name, good.ring()) == []
    (tmp_path / "ring.data.9.et").touch()
    assert exported(tmp_path, "chakra", good.ring()) == ["ring.data.9.et"], "a rank that the job has no more"
    assert exported(tmp_path, "msccl", good.ring()) == []


def test_one_file_for_all_is_replaced(tmp_path: Path) -> None:
    source = Source(*good.ring(), "plan.json")
    (tmp_path / "other.data.xml").touch()
    for format_name in FORMATS.keys() - ENDINGS:
        assert leftovers(tmp_path, format_name, source, []) == []

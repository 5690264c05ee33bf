"""A file that changed on disk is never lost unasked."""

import json
import stat
from pathlib import Path

import pytest

from planner.model.errors import ConflictError, InputError
from planner.studio.instance_file import KnownFiles, digest


def test_what_was_read_may_be_written_again_and_again(tmp_path: Path) -> None:
    path, known = tmp_path / "a.yaml", KnownFiles()
    path.write_text("a: 1\n")
    path.chmod(0o640)
    assert known.read(path) == "a: 1\n"
    known.write(path, "a: 2")
    known.write(path, "a: 3\n")
    assert path.read_text() == "a: 3\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["a.yaml"]


def test_what_changed_meanwhile_is_refused_and_replaced_only_by_its_digest(tmp_path: Path) -> None:
    path, known = tmp_path / "a.yaml", KnownFiles()
    path.write_text("a: 1\n")
    known.read(path)
    path.write_text("b: 1\n")
    with pytest.raises(ConflictError, match="has changed on disk"):
        known.write(path, "a: 2\n")
    seen = digest(path)
    path.write_text("c: 1\n")
    with pytest.raises(ConflictError, match="has changed on disk"):
        known.write(path, "a: 2\n", replaces=seen)
    known.write(path, "a: 2\n", replaces=digest(path))
    assert path.read_text() == "a: 2\n"


def test_other_files_are_kept_and_a_link_stays_one(tmp_path: Path) -> None:
    known, other, link = KnownFiles(), tmp_path / "other.yaml", tmp_path / "link.yaml"
    other.write_text("kept: 1\n")
    with pytest.raises(ConflictError, match="exists already"):
        known.write(other, "a: 1\n")
    link.symlink_to(other)
    known.read(link)
    known.write(link, "a: 1\n")
    assert link.is_symlink()
    assert other.read_text() == "a: 1\n"
    known.write(tmp_path / "new.yaml", "a: 1\n")
    assert (tmp_path / "new.yaml").read_text() == "a: 1\n"


def test_the_suffix_chooses_the_format(tmp_path: Path) -> None:
    known = KnownFiles()
    known.write(tmp_path / "a.json", "a: {b: 1}  # gone\n")
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": {"b": 1}}
    known.write(tmp_path / "b.yml", '{"a": {"b": 1}}')
    assert (tmp_path / "b.yml").read_text() == "a:\n  b: 1\n"
    known.write(tmp_path / "c.json", '{"a": 1}')
    assert (tmp_path / "c.json").read_text() == '{"a": 1}'


def test_places_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    known = KnownFiles()
    (tmp_path / "d.yaml").mkdir()
    for name, said in (("a.txt", "suffix"), ("d.yaml", "is a directory"), ("no/a.yaml", "create it first")):
        with pytest.raises(InputError, match=said):
            known.write(tmp_path / name, "a: 1\n")

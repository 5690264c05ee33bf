"""A file of the planner is there whole, as it was or as it is, and what was written is on disk."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from planner.integrations import private_files
from planner.integrations.private_files import write_private


def test_what_was_written_outlives_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is synced before it gets its name, and the folder after that: without it the name may stand for what it
    stood for before."""
    done = list[str]()

    def fsync(file: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else f"file of {os.fstat(file).st_size}")
        os.fsync(file)

    def replace(source: Path, target: Path) -> None:
        done.append(f"named {target.name}")
        os.replace(source, target)

    names = {name: getattr(os, name) for name in dir(os)} | {"fsync": fsync, "replace": replace}
    monkeypatch.setattr(private_files, "os", SimpleNamespace(**names))
    for text in ("abc", "defgh"):
        done.clear()
        write_private(tmp_path / "record.json", text)
        assert done == [f"file of {len(text)}", "named record.json", "folder"]
        assert (tmp_path / "record.json").read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]
    assert (tmp_path / "record.json").stat().st_mode & 0o777 == 0o600

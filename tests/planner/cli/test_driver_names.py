"""Drivers and commands by the names that options give them."""

from pathlib import Path

import pytest

from planner.cli.driver_names import command_named, driver_named
from planner.integrations.switch_drivers.file_driver import FileDriver
from planner.integrations.switch_drivers.hook_driver import HookDriver
from planner.model.errors import InputError


def test_a_driver_has_its_record_beside_the_journal_and_asks_its_fence(tmp_path: Path) -> None:
    journal = tmp_path / "planner.db"
    assert driver_named(None, journal) is None
    file = driver_named(f"file:{tmp_path / 'switches'}", journal, lambda: 7)
    assert isinstance(file, FileDriver)
    assert (file.folder, file.fence()) == (tmp_path / "switches", 7)
    hook = driver_named("hook:sh -c 'exit 0'", journal)
    assert isinstance(hook, HookDriver)
    assert (hook.folder, hook.fence()) == (tmp_path / "planner.db.circuits", 0)


@pytest.mark.parametrize("name", ["file:", "other:x", "hook:/nowhere/at/all", "hook:'", "hook:"])
def test_what_is_no_driver_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--driver"):
        driver_named(name, tmp_path / "planner.db")


@pytest.mark.parametrize(("name", "said"), [("file:taken", "no folder; name"), ("file:no/such", "make it first")])
def test_a_record_that_cannot_be_kept_is_refused(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").touch()
    with pytest.raises(InputError, match=said):
        driver_named(name, Path("planner.db"))
    Path("planner.db.circuits").touch()
    with pytest.raises(InputError, match=r"planner\.db\.circuits, which is no folder"):
        driver_named("hook:sh -c 'exit 0'", Path("planner.db"))


def test_a_command_is_read_as_a_shell_would() -> None:
    assert command_named("--fence", "sh -c 'exit 1'") == ["sh", "-c", "exit 1"]
    for text in ("", "/nowhere/at/all now", "sh '"):
        with pytest.raises(InputError, match="--fence"):
            command_named("--fence", text)


def test_the_old_name_of_a_driver_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=r"none\.yaml"):
        driver_named(f"sonic:{tmp_path / 'none.yaml'}", tmp_path / "planner.db")
    assert "--driver sonic:" in capsys.readouterr().err

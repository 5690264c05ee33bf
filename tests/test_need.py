"""need_program finds, skips or fails."""

import sys
from pathlib import Path

import pytest

from tests.need import need_program, need_python_with


def test_the_first_installed_program_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    python = Path(sys.executable)
    monkeypatch.setenv("PATH", str(python.parent))
    assert need_program("no-such-program", python.name) == str(python)


def test_without_the_program_a_test_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PHOTONPLAN_CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no-such-program"):
        need_program("no-such-program")


def test_in_continuous_integration_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOTONPLAN_CI", "1")
    with pytest.raises(pytest.fail.Exception, match="PHOTONPLAN_CI"):
        need_program("no-such-program")


@pytest.mark.slow
def test_a_python_with_the_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert need_python_with("pytest") == sys.executable
    monkeypatch.delenv("PHOTONPLAN_CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no_such_package"):
        need_python_with("no_such_package")

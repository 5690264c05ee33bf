"""planner fields: keys, kinds, words, and what to ask next."""

import pytest

from planner.cli import main


def test_a_path_shows_fields_and_what_is_below(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", "cluster.fabric.lightpath"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("lightpath: Tiles on a photonic wafer")
    assert "wavelength_bandwidth" in printed
    assert "quantity in B/s" in printed
    assert "`planner fields cluster.fabric.lightpath.upper` lists its fields" in printed


def test_other_files_have_fields_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", "--of", "settings"]) == 0
    assert "quotas" in capsys.readouterr().out


def test_a_word_is_sought(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", "--search", "oversubscription"]) == 0
    assert "packets.oversubscription" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["jobs.nothing"], ["--search", "no such word"]])
def test_what_is_not_there_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fields", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: planner fields: ")
    assert told.count("\n") == 1

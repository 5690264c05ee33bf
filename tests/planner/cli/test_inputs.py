"""Files that are read: size, kind, and what is said where there is none."""

import os
from pathlib import Path

import pytest

from tests.planner.cli.bad_input_cases import assert_refused
from tests.planner.cli.conftest import Planner


@pytest.mark.slow
def test_a_large_file_is_not_read(planner: Planner, tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.touch()
    os.truncate(path, 100 * 10**6)
    assert_refused(planner("solve", path), f"error: {path}: ", "64 MiB")


def test_an_endless_file_is_not_read(planner: Planner) -> None:
    assert_refused(planner("solve", "/dev/zero"), "error: /dev/zero: ", "64 MiB")


def test_a_directory_is_no_file(planner: Planner, tmp_path: Path) -> None:
    assert_refused(planner("solve", tmp_path), f"error: {tmp_path}: ", "is a directory")


def test_a_missing_file_is_named(planner: Planner, tmp_path: Path) -> None:
    assert_refused(planner("check", tmp_path / "none.yaml", "x"), f"error: {tmp_path / 'none.yaml'}: ", "exist")


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("trace", "--model", "{none}", "-o", "{none}"), "by the numbers of a public one"),
        (("replay", "{none}", "--cluster", "{}"), "`planner trace -o FILE` draws a trace"),
        (("slurm", "status", "--config", "{none}"), "`planner schema slurm` lists the fields"),
        (("kubernetes", "scheduler", "--config", "{none}"), "`planner schema kubernetes` lists the fields"),
        (("pages", "{none}"), "`planner schema --pages` lists the fields"),
        (("solve", "{none}"), "`planner new` writes one to start from"),
        (("check", "{}", "{none}"), "`planner solve INSTANCE --plan-out FILE` writes a plan"),
    ],
)  # fmt: skip
def test_the_remedy_for_a_missing_file_fits_the_file(
    planner: Planner, instance: Path, arguments: tuple[str, ...], remedy: str
) -> None:
    none = instance.with_name("none.yaml")
    outcome = planner(*(argument.format(instance, none=none) for argument in arguments))
    assert outcome.code == 2
    assert outcome.err == f"error: {none}: does not exist; {outcome.err.partition('exist; ')[2]}"
    assert remedy in outcome.err


def test_a_byte_order_mark_is_no_error(planner: Planner, instance: Path) -> None:
    instance.write_bytes(b"\xef\xbb\xbf" + instance.read_bytes())
    assert planner("score", instance).code == 0

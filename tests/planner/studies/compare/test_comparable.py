"""Plans compare in what they do and take where they run as many jobs as any; the help says so, too."""

from planner.cli.commands.compare import compare
from planner.studies.compare.comparable import RULE, runs_fewer, with_most_jobs
from planner.studies.compare.summary import FIGURES, NEITHER


def test_those_with_the_most_jobs_compare() -> None:
    assert with_most_jobs({"a": 4.0, "b": 3.5, "c": 4.0}) == ["a", "c"]
    assert with_most_jobs({"a": 0.0, "b": 0.0}) == ["a", "b"]
    assert with_most_jobs({}) == []


def test_who_runs_fewer_is_told_with_how_many() -> None:
    assert runs_fewer("pod", 3.5, 1200) == "pod runs 3.5 of 1,200 jobs"


def test_the_help_has_the_rule() -> None:
    assert RULE in " ".join((compare.__doc__ or "").split())
    assert set(NEITHER) < set(FIGURES)

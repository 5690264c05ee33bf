"""planner reproduce."""

from pathlib import Path

import pytest
import yaml

from planner.cli.commands.reproduce import figure
from planner.studies.reproduce.rows import VERDICTS
from tests.planner.cli.conftest import Planner
from tests.planner.studies.reproduce.written import GOOD


def _folder(root: Path, *figures: dict[str, object]) -> Path:
    folder = root / "some"
    folder.mkdir()
    (folder / "pooling.yaml").write_text(yaml.safe_dump(GOOD | {"published": list(figures)}), encoding="utf-8")
    return root


def _figure(value: float, **fields: object) -> dict[str, object]:
    return {"quantity": "devices", "value": value, "source": "section 7", **fields}


@pytest.mark.slow
def test_rows_are_grouped_and_summed_up(planner: Planner) -> None:
    outcome = planner("reproduce", "photonic_fabric")
    assert outcome.code == 0
    assert "photonic_fabric/dlrm_pooling" in outcome.out
    assert any(line.split()[:5] == ["TP", "1T", "NVIDIA", "1,026.05", "1,026.05"] for line in outcome.out.splitlines())
    last = outcome.out.splitlines()[-1]
    assert "figures that papers print" in last
    assert "1 outside (0 required)" in last


@pytest.mark.parametrize(("required", "code"), [(True, 1), (False, 0)])
def test_a_required_figure_outside_fails(planner: Planner, tmp_path: Path, required: bool, code: int) -> None:
    folder = _folder(tmp_path, _figure(100, required=required))
    outcome = planner("reproduce", "--from", folder)
    assert outcome.code == code
    assert f"1 outside ({int(required)} required)" in outcome.out.splitlines()[-1]
    assert ("outside (not required)" in outcome.out) != required
    document = planner("reproduce", "--from", folder, "--json").document
    assert document["required_outside"] == int(required)
    assert document["summary"] == dict.fromkeys(VERDICTS, 0) | {"outside": 1}
    assert document["rows"][0]["ours"] == 128


def test_reasons_and_other_readings_are_shown(planner: Planner, tmp_path: Path) -> None:
    beside = {"over NVLink": "mean speedup over NVLink"}
    contradicted = _figure(100, expect="contradicted", reason="the sum is wrong", beside=beside)
    out = planner("reproduce", "--from", _folder(tmp_path, contradicted)).out.splitlines()
    assert any(line.split()[:3] == ["over", "NVLink", "22.93"] for line in out)
    assert "1  the sum is wrong" in out


def test_the_last_line_says_each_verdict_and_what_is_not_counted(planner: Planner, tmp_path: Path) -> None:
    figures = [
        _figure(128, expect="fitted", reason="chosen so"),
        _figure(128, source="a", expect="by construction"),
        _figure(128, source="b"),
        _figure(100, source="c", required=False, counts=False),
    ]
    folder = _folder(tmp_path, *figures)
    outcome = planner("reproduce", "--from", folder)
    assert outcome.out.splitlines()[-1] == (
        "3 figures that papers print: 1 reproduced, 1 fitted, 1 by construction, "
        "and 1 other readings of them, not counted"
    )
    assert "outside (not required), not counted" in outcome.out
    document = planner("reproduce", "--from", folder, "--json").document
    assert {verdict: count for verdict, count in document["summary"].items() if count} == {
        "reproduced": 1, "fitted": 1, "by construction": 1
    }  # fmt: skip
    assert [row["verdict"] for row in document["rows"]] == ["fitted", "by construction", "reproduced", "outside"]
    assert [row["counts"] for row in document["rows"]] == [True, True, True, False]
    assert document["other_readings"] == 1


def test_intervals_are_shown(planner: Planner, tmp_path: Path) -> None:
    ends = {"100.0 .. 128.5": [100, 128.5], ">= 100.0": [100, None], "<= 128.5": [None, 128.5]}
    figures = [{"quantity": "devices", "range": e, "source": f"table {k}"} for k, e in enumerate(ends.values())]
    out = planner("reproduce", "--from", _folder(tmp_path, *figures)).out
    assert [shown in out for shown in ends] == [True] * 3
    rows = planner("reproduce", "--from", tmp_path, "--json").document["rows"]
    assert [row["published"] for row in rows] == list(ends.values())


def test_the_list_computes_nothing(planner: Planner, tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"quantity": "unheard of", "value": 1, "source": "s"})
    assert planner("reproduce", "--from", folder, "--list").code == 0
    listed = planner("reproduce", "--from", folder, "--list", "--json").document
    assert listed == [
        {"paper": "some", "experiment": "pooling", "kind": "dlrm_pooling", "figures": 1, "about": "E"},
    ]
    assert planner("reproduce", "--from", folder).code == 2


def test_an_unknown_paper_is_bad_input(planner: Planner) -> None:
    outcome = planner("reproduce", "unheard")
    assert outcome.code == 2
    assert "is not published here; choose of" in outcome.err


@pytest.mark.slow
def test_figures_are_written(planner: Planner, tmp_path: Path) -> None:
    folder = _folder(tmp_path, _figure(128))
    outcome = planner("reproduce", "--from", folder, "--plot", tmp_path / "figures")
    assert outcome.code == 0
    assert (tmp_path / "figures" / "some.pooling.png").read_bytes().startswith(b"\x89PNG")


def test_numbers_keep_four_digits_and_the_decimals_asked_for() -> None:
    assert [figure(value, 2) for value in (1008.0, 26.0, 0.0, 1.29405)] == ["1,008.00", "26.00", "0.00", "1.294"]
    assert [figure(value) for value in (None, 128.0, 128.26, 0.012346)] == ["-", "128", "128.3", "0.01235"]

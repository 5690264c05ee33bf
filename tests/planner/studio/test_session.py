"""What a session makes of a text, by the public API."""

from pathlib import Path

import pytest

from planner.api import Instance, check
from planner.model.errors import ConflictError, InputError, RefusedPlanError
from planner.model.violation import Violation
from planner.studio import session as module
from planner.studio.session import Session
from tests.paths import ROOT
from tests.planner.studio.served import GOLDEN, ended, session_of


@pytest.mark.slow
def test_a_wrong_text_has_the_words_of_the_file(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    wrong = session.set_field(GOLDEN, ["jobs", 0, "weight"], "-3")
    draft = session.draft(wrong)
    with pytest.raises(InputError) as caught:
        Instance.load(_written(tmp_path / "wrong.yaml", wrong))
    assert draft["error"]["field"] == caught.value.field == "jobs.[four].weight".replace(".[", "[")
    assert draft["error"]["problem"] == caught.value.problem
    assert draft["error"]["where"] == str(tmp_path / "rack.yaml")
    assert draft["form"]["jobs"][0]["weight"] == "-3"
    assert session.state["text"] == wrong
    assert session.state["saved"] == GOLDEN
    torn = session.draft("a: [")
    assert torn["form"] is None
    assert "no valid YAML" in torn["error"]["problem"]
    with pytest.raises(InputError, match="-3"):
        session.start_solve(wrong, "cpsat", 5.0, 0.0)


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
def test_edits_make_the_text_of_another_instance(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    text = session.set_field(GOLDEN, ["cluster", "fabric", "fibers"], "2")
    text = session.set_field(text, ["jobs", 0, "required"], "true")
    text = session.set_field(text, ["jobs", 1, "weight"], "")
    text = session.set_job(text, None, session.job(text, 1).replace("three", "more"))
    text = session.fail(text, ["s0.t1", "s0>s1#1"])
    made = session.draft(text)
    assert made["error"] is None
    assert made["form"]["failed"] == ["s0.t1", "s0>s1#1"]
    instance = Instance.load(_written(tmp_path / "made.yaml", text))
    assert instance.cluster.health.failed_tiles == ("s0.t1",)
    assert [(job.name, job.weight, job.required) for job in instance.jobs] == [
        ("four", 4, True), ("three", 1, False), ("more", 1, False),
    ]  # fmt: skip
    assert "# for each ordered pair of servers" in text
    text = session.remove_job(session.mend(session.mend(text, "s0.t1"), "s0>s1#1"), 2)
    assert "health" not in text
    assert session.mend(text, "s0.t1") == text
    assert [job["name"] for job in session.draft(text)["form"]["jobs"]] == ["four", "three"]
    with pytest.raises(InputError, match="no accelerator 's9"):
        session.fail(GOLDEN, ["s9.t9"])
    with pytest.raises(InputError, match="is no mapping"):
        session.set_job(GOLDEN, 0, "- 1")


@pytest.mark.slow
def test_numbers_without_a_unit_are_told(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    draft = session.draft(session.set_field(GOLDEN, ["cluster", "fabric", "alpha"], "0.0000007"))
    assert any("without a unit" in note for note in draft["notes"])
    assert session.draft(GOLDEN)["notes"] == []


@pytest.mark.slow
def test_solve_and_repair_keep_what_passed_the_check(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    session.start_solve(GOLDEN, "cpsat", 30.0, 0.0)
    number = ended(session)["variant"]
    solved = session.variants[number]
    assert solved.result.plan is not None
    assert (solved.row.value, solved.row.bound, solved.row.admitted) == (4.0, 4.0, 1)
    assert not check(solved.instance, solved.result.plan)
    lost = solved.result.plan.assignments[0].devices[0]
    session.start_repair(number, [lost])
    mended = session.variants[ended(session)["variant"]]
    assert mended.repair is not None
    assert mended.repair.outcome == "repaired"
    assert mended.result.plan is not None
    assert not check(mended.instance, mended.result.plan)
    assert session.draft(mended.text)["form"]["failed"] == [lost]
    assert Instance.load(_written(tmp_path / "mended.yaml", mended.text)).cluster == mended.instance.cluster
    with pytest.raises(InputError, match="no accelerator 's9"):
        session.start_repair(number, ["s9.t9"])


@pytest.mark.slow
def test_a_plan_that_the_check_refuses_is_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(tmp_path)
    session.start_solve(GOLDEN, "first_fit", 30.0, 0.0)
    number = ended(session)["variant"]
    monkeypatch.setattr(module, "check", lambda instance, plan: (Violation("rule", "s0.t0", "has two jobs"),))
    session.start_repair(number, ["s1.t2"])
    assert "the check refuses the plan" in ended(session)["error"]["problem"]

    def refused(*given: object, **options: object) -> None:
        raise RefusedPlanError(["s0.t0 has two jobs"], None)

    monkeypatch.setattr(module, "solve", refused)
    session.start_solve(GOLDEN, "cpsat", 30.0, 0.0)
    assert "s0.t0 has two jobs" in ended(session)["error"]["problem"]
    assert [each["number"] for each in session.variants.data] == [number]


@pytest.mark.slow
def test_without_a_plan_there_is_nothing_to_repair(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    both = GOLDEN.replace("weight: 4", "required: true").replace("weight: 3", "required: true")
    session.start_solve(both, "cpsat", 30.0, 0.0)
    number = ended(session)["variant"]
    assert session.variants.data[0]["status"] == "INFEASIBLE"
    assert "There is no plan" in session.variants[number].page
    with pytest.raises(InputError, match="has no plan to repair"):
        session.start_repair(number, ["s0.t0"])


@pytest.mark.slow
def test_a_stop_keeps_the_best_plan(tmp_path: Path) -> None:
    """Of an instance whose value takes a minute and more to prove."""
    text = (ROOT / "instances/ocs_rail/rails256.yaml").read_text("utf-8")
    session = session_of(tmp_path, text)
    search = session.start_solve(text, "cpsat", 600.0, 0.0)
    with pytest.raises(ConflictError, match="one search runs at a time"):
        session.start_solve(GOLDEN, "cpsat", 5.0, 0.0)
    while not any(point["objective"] is not None for point in search.points):
        assert session.slot.is_busy
        session.slot.wait(0.02)
    session.slot.stop()
    variant = session.variants[ended(session)["variant"]]
    assert search.elapsed_s < 300
    assert variant.result.plan is not None
    assert variant.row.violations == 0


def test_a_file_is_saved_when_it_is_valid(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    with pytest.raises(InputError, match="jobs"):
        session.save(session.path, GOLDEN.replace("jobs:", "jobless:"), None)
    assert session.path.read_text("utf-8") == GOLDEN
    other = tmp_path / "other.yaml"
    changed = GOLDEN.replace("weight: 4", "weight: 5")
    session.save(other, changed, None)
    assert other.read_text("utf-8") == changed
    assert session.state["path"] == str(other)
    _written(other, GOLDEN)
    with pytest.raises(ConflictError, match="has changed on disk"):
        session.save(other, changed, None)
    assert session.open() == GOLDEN
    session.save(other, changed, None)
    assert session.state["saved"] == changed


def test_a_file_that_cannot_be_read_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        Session(tmp_path / "none.yaml", {})

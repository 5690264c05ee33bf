"""Pages for those who change the planner: their commands exist, and their examples do what the pages say."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from planner import api
from planner.checks import every_rule
from planner.checks import objectives as values
from planner.cli import main
from planner.cpsat.step1 import objectives
from planner.cpsat.step1.constraints import groups
from planner.formulation.group import Group
from planner.integrations.switch_drivers import CircuitError
from planner.model.instance import Instance
from tests.fabrics import FABRICS
from tests.paths import ROOT

CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
PAGES = {
    name: ROOT / "planner" / folder / "README.md"
    for name, folder in {
        "policy": "policies",
        "constraint": "cpsat",
        "objective": "cpsat/step1/objectives",
        "driver": "integrations/switch_drivers",
    }.items()
}
COMMANDS = re.findall(r"```sh\n(.*?)```", CONTRIBUTING.read_text("utf-8"), re.DOTALL)
LINES = [line.strip() for block in COMMANDS for line in block.splitlines() if line.strip()]
FABRIC = FABRICS["fat_tree"] | {"servers": 2, "gpus_per_server": 4}
BERT = {"kind": "transformer_training", "model": "bert-large", "global_batch": 64, "sequence": 512}


def examples(name: str) -> dict[str, Any]:
    """Names that the Python of a page defines."""
    found: dict[str, Any] = {"__name__": name, "Group": Group}
    for code in re.findall(r"```python\n(.*?)```", PAGES[name].read_text("utf-8"), re.DOTALL):
        exec(compile(code, str(PAGES[name]), "exec"), found)
    return found


def two_jobs(size: int, *objectives: str) -> Instance:
    """Two jobs of one tenant on two servers of four GPUs."""
    jobs = [{"name": name, "workload": BERT, "accelerators": size} for name in ("a", "b")]
    cluster = {"device": "h100-sxm", "fabric": FABRIC}
    given = {"schema_version": 2, "name": "two", "cluster": cluster, "jobs": jobs, "objectives": objectives}
    return Instance.model_validate(given)


def servers(result: api.Result) -> list[set[str]]:
    assert result.plan is not None
    return [{device.split(".")[0] for device in each.devices} for each in result.plan.assignments]


@pytest.mark.parametrize("path", [CONTRIBUTING, *PAGES.values()], ids=["contributing", *PAGES])
def test_a_page_is_short_and_its_links_lead_somewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= (70 if path == CONTRIBUTING else 60)
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not (path.parent / link).exists()] == []
    places = re.findall(r"`((?:planner|costmodel|tests)/[\w/]+(?:\.py|\.md)?)`", text)
    made = {"planner/cpsat/step1/constraints/apart.py", "planner/checks/apart.py"}
    made |= {"planner/cpsat/step1/objectives/jobs.py"}
    assert [place for place in places if place not in made and not (ROOT / place).exists()] == []


@pytest.mark.parametrize("line", LINES)
def test_a_command_exists(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is asked for its help where it is the planner's own; its paths are there."""
    for command in line.split(" && "):
        words = shlex.split(command)
        paths = [word for word in words if "/" in word and not word.startswith((".venv", "-"))]
        assert [path for path in paths if not (ROOT / path).exists()] == []
        if words[0] == "planner":
            assert main([words[1], "--help"]) == 0
            assert capsys.readouterr().out
        assert words[0] in {"planner", "python", "python3", "ruff", "mypy", "."}


@pytest.mark.slow
def test_the_policy_of_the_page_solves() -> None:
    fill_up = examples("policy")["fill_up"]
    result = api.solve(two_jobs(2, "value"), policy=fill_up)
    assert servers(result) == [{"s0"}, {"s0"}]


def test_the_constraint_of_the_page_and_its_rule_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both jobs fit on one server, and stand there; with the constraint each stands on its own."""
    page, instance = examples("constraint"), two_jobs(2, "value")
    together = api.solve(instance, policy="first_fit")
    assert servers(together) == [{"s0"}, {"s0"}]
    assert [each.rule for each in page["check_apart"](instance, together.plan)] == ["apart"]
    monkeypatch.setattr(groups, "ON_EVERY_FABRIC", (*groups.ON_EVERY_FABRIC, page["APART"]))
    monkeypatch.setattr(every_rule, "ON_EVERY_FABRIC", {**every_rule.ON_EVERY_FABRIC, "apart": page["check_apart"]})
    found = api.solve(instance, time_limit_s=20.0)
    assert found.status is api.Status.OPTIMAL
    assert sorted(map(sorted, servers(found))) == [["s0"], ["s1"]]
    assert found.plan is not None
    assert list(page["check_apart"](instance, found.plan)) == []


def test_the_objective_of_the_page_counts_as_the_check_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entered under a name that files know already."""
    page = examples("objective")
    monkeypatch.setitem(objectives.OBJECTIVES, "moves", page["Jobs"]())
    monkeypatch.setitem(values.OBJECTIVES, "moves", page["num_jobs"])
    for size, most in ((4, 2.0), (8, 1.0)):
        result = api.solve(two_jobs(size, "moves"), time_limit_s=20.0)
        assert (result.levels[0].value, result.levels[0].bound) == (most, most)


class Switch:
    """Circuits that are on."""

    def __init__(self) -> None:
        self.on: list[dict[str, Any]] = []
        self.is_broken = False

    def set(self, circuit: dict[str, Any]) -> None:
        if self.is_broken:
            raise OSError("no answer")
        self.on.append(circuit)

    def clear(self, circuit: dict[str, Any]) -> None:
        self.on = [each for each in self.on if each != circuit]

    def all(self) -> list[dict[str, Any]]:
        return self.on


def test_the_driver_of_the_page_sets_reads_back_and_undoes(tmp_path: Path) -> None:
    switch = Switch()
    driver = examples("driver")["VendorDriver"](tmp_path / "driver", switch)
    circuit = {"from": "s0.t0", "to": "s1.t0", "wavelengths": [0], "fibers": ["s0>s1#0"]}
    circuits = [{"dimension": "data", "circuits": [circuit]}]
    driver.connect("a", circuits)
    assert switch.on == [circuit]
    switch.on = []
    assert driver.resync().again == ("a",)
    assert switch.on == [circuit]
    driver.release("a")
    assert switch.on == []
    assert driver.applied() == {}
    switch.is_broken = True
    with pytest.raises(CircuitError, match="no answer"):
        driver.connect("a", circuits)

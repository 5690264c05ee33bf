"""Cross-connects of plans: what circuits ask for, by ports; differences that lead from one to the other."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from planner.api import solve
from planner.cli import main
from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import CrossConnect, cross_connects, difference
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.fabrics import FABRICS
from tests.planner.integrations.wiring.wiring_cases import WITH_SWITCHES
from tests.planner.simulate.grounds import BERT


def _planned(kind: str, sizes: tuple[int, ...] = (16, 16)) -> tuple[Instance, Plan]:
    jobs = [{"name": f"j{i}", "workload": BERT, "accelerators": n} for i, n in enumerate(sizes)]
    cluster = {"device": "h100-sxm", "fabric": FABRICS[kind]}
    instance = Instance.parse({"schema_version": 1, "name": "n", "cluster": cluster, "jobs": jobs})
    plan = solve(instance, policy="best_fit").plan
    assert plan is not None
    return instance, plan


@pytest.mark.parametrize("kind", WITH_SWITCHES)
def test_each_port_is_used_once(kind: str) -> None:
    instance, plan = _planned(kind)
    found = cross_connects(instance, plan, CableTable.of(instance.cluster.fabric))
    assert sum(map(len, found.values()))
    for connected in found.values():
        for side in ("a_side", "b_side"):
            assert max(Counter(getattr(each, side) for each in connected).values()) == 1


def test_rails_join_what_the_circuits_say() -> None:
    instance, plan = _planned("ocs_rail")
    fabric = instance.cluster.fabric
    table = CableTable.of(fabric)
    end_of = {(cable.switch, cable.port): cable.end for cable in table.cables}
    told = {
        (switch, end_of[switch, each.a_side], end_of[switch, each.b_side])
        for switch, connected in cross_connects(instance, plan, table).items()
        for each in connected
    }
    circuits = [c for a in plan.assignments for held in a.circuits for c in held.circuits]
    wanted = {(f"q{c.source.rpartition('g')[2]}#{n}", c.source, c.destination) for c in circuits for n in c.wavelengths}
    assert told == wanted
    assert wanted


def test_a_difference_leads_from_one_plan_to_the_other() -> None:
    instance, plan = _planned("torus")
    table = CableTable.of(instance.cluster.fabric)
    after = cross_connects(instance, plan, table)
    before = {switch: frozenset({CrossConnect("1A", "4B"), *list(each)[:1]}) for switch, each in after.items()}
    change = difference(before, after)
    for switch, wanted in after.items():
        names = {each.name for each in before[switch]} - set(change.get(switch, {}).get("delete", []))
        names |= {each["cross_connect_id"] for each in change.get(switch, {}).get("add", [])}
        assert names == {each.name for each in wanted}
    assert difference(after, after) == {}


def test_an_end_without_a_cable_is_told() -> None:
    instance, plan = _planned("ocs_rail")
    some = CableTable(CableTable.of(instance.cluster.fabric).cables[:1], "wiring.csv")
    with pytest.raises(InputError, match=r"wiring.csv: q.*see `planner wiring check`"):
        cross_connects(instance, plan, some)


def test_the_command_writes_what_to_delete_and_to_add(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance, plan = _planned("ocs_rail")
    files: dict[str, Any] = {"n.json": instance.model_dump_json(), "plan.json": plan.model_dump_json()}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = [str(tmp_path / "n.json"), str(tmp_path / "plan.json")]
    cables = str(tmp_path / "wiring.csv")
    assert main(["wiring", "new", given[0], "-o", cables, "--loss", "1"]) == 0
    assert main(["wiring", "check", given[0], cables]) == 0
    options = ["--format", "crossconnects", "--wiring", cables, "-o", str(tmp_path / "out")]
    assert main(["export", *given, *options]) == 0
    first = json.loads((tmp_path / "out" / "crossconnects.json").read_text("utf-8"))
    added = {
        switch: sorted(a["cross_connect_id"] for a in each["add"]) for switch, each in first["bulk_update"].items()
    }
    assert added == first["connected"]
    assert main(["export", *given, *options, "--from", given[1]]) == 0
    again = json.loads((tmp_path / "out" / "crossconnects.json").read_text("utf-8"))
    assert again == {"bulk_update": {}, "connected": first["connected"]}
    lines = Path(cables).read_text("utf-8").splitlines()
    Path(cables).write_text("\n".join(lines[:-1]), encoding="utf-8")
    capsys.readouterr()
    assert main(["wiring", "check", given[0], cables, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["faults"][0]["kind"] == "missing"

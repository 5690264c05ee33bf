"""Rules, responses and policies of a study of faults, and a log replayed through a study."""

from dataclasses import replace

import pytest

from planner.model.errors import InputError
from planner.simulate.fault_measures import FAULT_MEASURES
from planner.simulate.fault_study import FaultStudy, parse_rules, responses_of, split_policy, with_responses
from planner.simulate.rules import Rules
from planner.simulate.run_one import replay
from planner.simulate.study import cells_of, prepare_study
from planner.whatif.fault_log import FaultLog, FaultMap, LoggedFault
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, mix

LOG = FaultLog("log", tuple(LoggedFault(k, "GPU", 600.0 * k, 600.0 * k + 900.0) for k in range(4)), 7200.0)


def test_rules_are_read() -> None:
    rules = parse_rules("servers=draw, host=8,single=GPU+NIC,spares=2,checkpoint=1 h")
    assert (rules.of, rules.spares, rules.checkpoint_s) == (FaultMap("draw", 8, ("GPU", "NIC"), 400), 2, 3600.0)


@pytest.mark.parametrize("text", ["draw", "host=8,host=4", "hosts=8", "spares=-1", "servers=some", "checkpoint=soon"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--fault-rules"):
        parse_rules(text)


def test_responses_and_policies_are_read() -> None:
    assert responses_of("repair, requeue,repair") == ("repair", "requeue")
    with pytest.raises(InputError, match="responses are: place_again"):
        responses_of("pray")
    faults = FaultStudy(LOG, parse_rules(""), ("requeue", "repair"))
    assert with_responses(["a", "b"], faults) == ["a:requeue", "a:repair", "b:requeue", "b:repair"]
    assert with_responses(["a"], None) == ["a"]
    assert split_policy("a:repair") == ("a", "repair")
    assert split_policy("a:b") == ("a:b", "place_again")


def test_spares_leave_a_server() -> None:
    faults = FaultStudy(LOG, parse_rules("spares=4"), ("repair",))
    with pytest.raises(InputError, match="at most 3"):
        faults.require("c", cluster("fat_tree"))


def test_a_study_compares_responses_on_the_same_faults() -> None:
    faults = FaultStudy(LOG, parse_rules("spares=1,checkpoint=5 min"), ("requeue", "spare_server", "repair"))
    study = prepare_study(
        SMALL_DEMAND, mix(), {"c": cluster("fat_tree")}, jobs=120, rules=Rules(checkpoint_s=300.0), faults=faults,
        samples=0,
    )  # fmt: skip
    found = {}
    for cell in cells_of(study, with_responses(["best_fit"], faults), [0.7], 1):
        figures = found[split_policy(cell.policy)[1]] = replay(study, cell).figures
        parts = [figures[f"{part}_h"] or 0.0 for part in ("used", "wasted", "idle", "spare", "down")]
        assert set(FAULT_MEASURES) <= set(figures)
        assert (figures["goodput_h"] or 0) > 0
        assert sum(parts) == pytest.approx((figures["goodput_h"] or 0) / (figures["goodput"] or 1))
    assert (found["requeue"]["evictions"] or 0) > (found["repair"]["evictions"] or 0)
    assert found["requeue"]["down_h"] == found["repair"]["down_h"]
    without = replace(study, faults=None)
    assert set(FAULT_MEASURES).isdisjoint(replay(without, cells_of(without, ["best_fit"], [0.7], 1)[0]).figures)

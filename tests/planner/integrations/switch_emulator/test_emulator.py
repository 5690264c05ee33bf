"""Answers that do not come or are errors, faults by seed, and many switches that are quick."""

import time

import pytest

from planner.integrations.switch_emulator import Emulator, FaultKind, FaultRate, RequestClass, SwitchSpec
from tests.planner.integrations.switch_emulator.switches import ALL, BULK, Rig, before_fault, names, rig

MOST_CPU_S = 0.5


def test_a_switch_hangs_before_or_after_it_is_done() -> None:
    left = set()
    for seed in range(8):
        made = before_fault(RequestClass.WRITE, FaultKind.HANG, seed)
        assert made.ask("DELETE", "/restconf/data/sonic-ocs:sonic-ocs/OCS_CROSS_CONNECT") is None
        left.add(len(names(made)))
    assert left == {0, 3}


def test_an_error_is_answered_before_or_after_it_is_done() -> None:
    left = set()
    for seed in range(8):
        made = before_fault(RequestClass.BULK, FaultKind.ERROR, seed)
        assert made.bulk(delete=ALL)[0] >= 500
        left.add(len(names(made)))
    assert left == {0, 3}


def test_one_seed_one_run() -> None:
    runs = []
    for seed in (1, 1, 2):
        made = rig(*(FaultRate(RequestClass.BULK, kind, 0.2) for kind in FaultKind), seed=seed)
        for number in range(60):
            made.ask(
                "POST", BULK,
                {"sonic-ocs:input": {"delete": [ALL[number % 3]], "add": []}},
            )  # fmt: skip
            made.clock.now_s += 1.0
        runs.append(made.emulator.happened)
    assert runs[0] == runs[1] != runs[2]
    assert {each.kind for each in runs[0]} >= {FaultKind.HANG, FaultKind.ERROR, FaultKind.HALF, FaultKind.RESTART}


def test_48_switches_of_136_ports_are_pointed_anew_in_little_time() -> None:
    made = Rig(Emulator([SwitchSpec(f"ocs{number}") for number in range(48)]), None)  # type: ignore[arg-type]
    turns = [[f"{port}A-{(port + turn) % 68 + 1}B" for port in range(1, 69)] for turn in (0, 1)]
    spent = []
    for delete, add in (([], turns[0]), (turns[0], turns[1])):
        began = time.process_time()
        for name in made.emulator.switches:
            made.name = name
            assert made.bulk(delete, add)[1]["sonic-ocs:output"]["added_count"] == 68
        spent.append(time.process_time() - began)
    assert spent[1] < MOST_CPU_S


@pytest.mark.parametrize("request_class", RequestClass)
def test_faults_come_at_requests_of_their_class_alone(request_class: RequestClass) -> None:
    made = rig(FaultRate(request_class, FaultKind.ERROR, 1.0))
    found = {
        RequestClass.READ: made.said("GET", "/restconf/data")[0] >= 500,
        RequestClass.BULK: made.bulk()[0] >= 500,
        RequestClass.WRITE: made.said("DELETE", "/restconf/data/sonic-ocs:sonic-ocs")[0] >= 500,
    }
    assert [each for each, is_wrong in found.items() if is_wrong] == [request_class]

"""Every transfer of a schedule has its circuit."""

import json

import pytest

from planner.integrations.exports.held import Held
from planner.integrations.exports.sidecar import sidecar_text
from tests.planner.integrations.exports.exported import source_of
from tests.planner.integrations.exports.groups_cases import WITH_CIRCUITS


def reduces_of(name: str) -> tuple[Held, ...]:
    """What all-reduces of a plan hold."""
    return tuple(map(Held.of_run, source_of(name).runs))


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CIRCUITS)
def test_every_transfer_has_its_circuit(name: str) -> None:
    fabric = source_of(name).fabric
    for held in reduces_of(name):
        document = json.loads(sidecar_text(held, fabric))
        rounds = document["schedule"]["rounds"]
        assert sorted(index for each in document["configurations"] for index in each["rounds"]) == [*range(len(rounds))]
        for each in document["configurations"]:
            ends = {(circuit["from"], circuit["to"]) for circuit in each["circuits"]}
            for index in each["rounds"]:
                assert rounds[index]["configuration"] == each["id"]
                for sender, receiver, *_ in rounds[index]["transfers"]:
                    if sender != receiver:
                        assert all((group[sender], group[receiver]) in ends for group in document["groups"])
            for circuit in each["circuits"]:
                assert circuit["path"][0] == circuit["from"]
                assert circuit["path"][-1] == circuit["to"]
                servers = {end.split(".")[0] for end in (circuit["from"], circuit["to"])}
                assert len(circuit["path"]) == 1 + len(servers)

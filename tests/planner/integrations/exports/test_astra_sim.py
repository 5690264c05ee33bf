"""Files that ASTRA-sim reads."""

import json

import pytest

from costmodel.collectives.build import schedule_of
from planner.integrations.exports import astra_sim
from tests.costmodel.collectives.cases import best_of, limits


def test_files_of_astra_sim() -> None:
    schedule = schedule_of(best_of("exchange", "all_reduce", 8, 1e3))
    lines = dict(line.split(": ", 1) for line in astra_sim.network_text(schedule, limits()).splitlines())
    assert lines["npus_count"] == "[ 8 ]"
    assert float(lines["latency"].split()[1]) == 700
    bytes_per_ns = float(lines["bandwidth"].split()[1]) * (1 << 30) / 1_000_000_000
    assert bytes_per_ns == pytest.approx(18.75 * schedule.circuits.wavelengths.min(), rel=1e-8), (
        "as the network reads it"
    )
    system = json.loads(astra_sim.system_text("all_reduce", "job.data"))
    assert system["all-reduce-implementation-custom"] == ["job.data"]
    assert json.loads(astra_sim.memory_text()) == {"memory-type": "NO_MEMORY_EXPANSION"}
    with pytest.raises(ValueError, match="no custom broadcast"):
        astra_sim.system_text("broadcast", "x")

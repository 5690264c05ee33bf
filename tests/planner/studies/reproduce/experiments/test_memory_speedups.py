"""Memory nodes of MC-DLA: every required figure within its tolerance, the means recomputed, bounds that hold."""

from statistics import fmean, harmonic_mean

import pytest

from costmodel.dataflow.streams.memory_study import load_memory_study
from planner.studies.reproduce.published import FOLDER, files
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file
from tests.paths import SHARED

PAPER = SHARED / "papers" / "004_e307a35e33b8f2ac.txt"
NAMES = (
    "host_memory", "larger_nodes", "latencies", "networks", "power", "ring_collectives", "scaling", "sensitivity",
    "speedups",
)  # fmt: skip


@pytest.fixture(scope="module")
def outcomes() -> dict[str, ExperimentOutcome]:
    return {path.stem: reproduce_file(path) for path in files(FOLDER, "mcdla")}


@pytest.mark.slow
def test_no_required_figure_is_outside(outcomes: dict[str, ExperimentOutcome]) -> None:
    assert tuple(outcomes) == NAMES
    assert [row.quantity for each in outcomes.values() for row in each.rows if row.is_failure] == []
    outside = [row.quantity for each in outcomes.values() for row in each.rows if row.verdict == "outside"]
    assert outside == ["MC-DLA(B) of oracle, least", "loss of MC-DLA(S), most"]


def test_all_assumptions_are_in_one_study(outcomes: dict[str, ExperimentOutcome]) -> None:
    assert {each.published.inputs["study"] for each in outcomes.values()} == {"mc-dla"}


def test_means_of_the_speedups(outcomes: dict[str, ExperimentOutcome]) -> None:
    study, found = load_memory_study("mc-dla"), outcomes["speedups"].quantities
    gains = {
        parallel: [
            study.step(network, parallel, "DC-DLA").end_s / study.step(network, parallel, "MC-DLA(B)").end_s
            for network in study.networks
        ]
        for parallel in ("data", "model")
    }
    means = [harmonic_mean(each) for each in gains.values()]
    assert found["MC-DLA(B) over DC-DLA, data-parallel"] == pytest.approx(means[0])
    assert found["MC-DLA(B) over DC-DLA, model-parallel"] == pytest.approx(means[1])
    assert found["MC-DLA(B) over DC-DLA"] == pytest.approx(fmean(means))
    assert found["MC-DLA(B) over DC-DLA, harmonic over all"] == pytest.approx(
        harmonic_mean([*gains["data"], *gains["model"]])
    )


def test_what_contradicts_the_paper(outcomes: dict[str, ExperimentOutcome]) -> None:
    found = {row.quantity: row for each in outcomes.values() for row in each.rows if row.verdict == "contradicted"}
    assert set(found) == {
        "HC-DLA over DC-DLA, data-parallel",
        "gain of a faster port",
        "MC-DLA(B) over DC-DLA with a faster port",
        "DC-DLA, 4 devices, 2 to a port",
        "DC-DLA, 8 devices, 2 to a port",
        "system capacity, ddr4-2400-lrdimm-128gb",
        "node bandwidth, ddr4-2400-lrdimm-128gb",
    }
    assert found["HC-DLA over DC-DLA, data-parallel"].beside["least by the published means"] == pytest.approx(1.68)
    port = found["gain of a faster port"]
    assert port.beside["least by the published means"] == pytest.approx(44.83, abs=0.005)
    assert port.ours is not None
    assert port.ours > port.beside["least by the published means"] > port.published_number
    beside = found["MC-DLA(B) over DC-DLA with a faster port"].beside["2.8 over the least gain"]
    assert beside == pytest.approx(2.8 / 1.4483, rel=1e-4)
    three = found["DC-DLA, 8 devices, 2 to a port"].beside["three to a port"]
    assert three == pytest.approx(2.7, rel=0.05)


def test_larger_nodes_are_rows_with_their_readings(outcomes: dict[str, ExperimentOutcome]) -> None:
    nodes, devices = outcomes["larger_nodes"].rows
    assert {nodes.verdict, devices.verdict} == {"not derivable"}
    assert min(nodes.beside.values()) < nodes.published_number < max(nodes.beside.values())
    study = load_memory_study("mc-dla").model_copy(update={"devices": 16})
    gains = [
        [
            study.step(network, way, "DC-DLA").end_s / study.step(network, way, "MC-DLA(B)").end_s
            for network in study.networks
        ]
        for way in ("data", "model")
    ]
    assert nodes.beside["two to a port"] == pytest.approx(fmean(harmonic_mean(each) for each in gains))


def test_bounds_hold_in_the_model(outcomes: dict[str, ExperimentOutcome]) -> None:
    found = outcomes["speedups"].quantities
    for way in ("data-parallel", "model-parallel"):
        assert found[f"HC-DLA over DC-DLA, {way}"] >= found[f"half of MC-DLA(L) over DC-DLA, {way}"]
    over_all = found["MC-DLA(B) over DC-DLA, harmonic over all"]
    assert found["gain of a faster port"] >= 2 / (1 + 1 / over_all) - 1


def test_ratios_of_copies_are_exact(outcomes: dict[str, ExperimentOutcome]) -> None:
    found = outcomes["latencies"].quantities
    assert found["LOCAL over BW_AWARE"] == 2.0
    assert found["star over ring"] == 3.0
    assert found["copies of HC-DLA, cut"] == pytest.approx(1 - 8 / 75)


def test_each_row_of_the_sensitivity_has_every_variant(outcomes: dict[str, ExperimentOutcome]) -> None:
    variants = set(outcomes["sensitivity"].published.inputs["variants"])
    assert len(variants) == 13
    assert all(set(row.beside) == variants for row in outcomes["sensitivity"].rows)


@pytest.mark.skipif(not PAPER.is_file(), reason="the text of the paper is not beside the repository")
def test_powers_are_those_of_the_paper(outcomes: dict[str, ExperimentOutcome]) -> None:
    printed = {}
    for line in PAPER.read_text("utf-8").splitlines():
        size, *cells = line.split() or [""]
        if len(cells) == 6 and cells[0] == "GB" and cells[1].endswith("DIMM"):
            printed[f"{cells[1].lower()}-{size}gb"] = [float(cell) for cell in cells[-2:]]
    assert len(printed) == 5
    rows = {row.quantity: row.published for row in outcomes["power"].rows}
    for name, (node_w, density) in printed.items():
        assert rows[f"node power, ddr4-2400-{name}"] == node_w
        assert rows[f"capacity per watt, ddr4-2400-{name}"] == density

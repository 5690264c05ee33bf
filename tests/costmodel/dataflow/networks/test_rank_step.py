"""One rank's step of candidates that offload: kernels as scored, passes as 1F1B orders them, bytes as counted."""

from types import SimpleNamespace

import numpy as np
import pytest

from costmodel.dataflow.networks.rank_step import RankStep, rank_step
from costmodel.dataflow.networks.trained import rank_step_of
from costmodel.dataflow.streams.placement import evenly, kept
from costmodel.dataflow.streams.resident import MOST_PAGES, RULES
from costmodel.dataflow.streams.simulate import simulate
from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference, TransformerTraining
from tests.costmodel.dataflow.networks.small_model import FABRIC, SHAPE
from tests.oracles.transformer_memory import _layers_in_flight

DEVICE = load_device("h100-sxm").model_copy(update={"offload": load_memory_tier("host-pcie5")})
OFFLOADS = ("activations", "optimizer", "weights", "activations+optimizer", "weights+activations+optimizer")


def _job(**fields: object) -> TransformerTraining:
    given = {
        "model": SHAPE,
        "global_batch": 16,
        "sequence": 512,
        "micro_batch": (1, 2),
        "offload": OFFLOADS,
        "uneven_stages": False,
    }
    return TransformerTraining.model_validate(given | fields)


def _rows(job: TransformerTraining, size: int) -> tuple[Candidates, Scores]:
    rows = enumerate_candidates(job, [size], DEVICE, FABRIC)
    return rows, score(rows, DEVICE, FABRIC)


def _some(job: TransformerTraining, size: int, most: int = 25) -> list[tuple[RankStep, Candidates, Scores, int]]:
    rows, scores = _rows(job, size)
    assert len(rows)
    found = []
    for row in range(0, len(rows), max(1, len(rows) // most)):
        step = rank_step(rows, scores, row)
        assert step is not None
        found.append((step, rows, scores, row))
    return found


CASES = [(_job(), 4), (_job(interleave=(1, 2), recompute=("none", "full"), zero=(1, 3)), 8), (_job(micro_batch=4), 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("job", "size"), CASES)
def test_without_copies_a_step_takes_what_was_scored(job: TransformerTraining, size: int) -> None:
    for step, _, scores, row in _some(job, size):
        end_s = simulate(step.program, step.links, kept(step.program.size_bytes, step.links)).end_s
        assert end_s == pytest.approx(float(scores.step_s[row] - scores.offload_s[row]), rel=1e-9)
        assert step.scored_s == scores.step_s[row]
        updated = [each.size_bytes for each in step.program.graph.tensors if each.kind == "optimizer"][:2]
        assert step.local_bytes == pytest.approx(DEVICE.capacity_bytes - scores.footprint_bytes[row] - sum(updated))


@pytest.mark.slow
@pytest.mark.parametrize(("job", "size"), CASES)
def test_passes_are_those_of_1f1b(job: TransformerTraining, size: int) -> None:
    for step, rows, _, row in _some(job, size):
        choice = rows.mappings.choice(int(rows.mapping[row]))
        micro_batches = job.global_batch // choice["data"] // choice["micro_batch"]
        layers = 12 // choice["pipeline"]
        operators = step.program.operators
        for phase, count in (("backward", micro_batches), ("update", 1)):
            assert sum(each.phase == phase for each in operators) == count * layers
        most, alive = 0, 0
        for each in operators:
            is_pass = each.name != "pipeline bubble" and each.phase != "update"
            alive += is_pass * (1 if each.phase == "forward" else -1)
            most = max(most, alive)
        assert alive == 0
        assert most == _layers_in_flight(SimpleNamespace(**choice), micro_batches, layers)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("job", "size"), CASES)
def test_what_moves_is_what_the_score_counts_less_what_is_used_at_once(job: TransformerTraining, size: int) -> None:
    for step, rows, _, row in _some(job, size):
        program = step.program
        part, graph = rows.part(np.array([row]), DEVICE)
        moves = program.leaves.astype(float) + program.returns
        counted = float(graph.tier_bytes[0])
        moved = float((moves * program.size_bytes).sum())
        updated = sum(each.size_bytes for each in program.graph.tensors if each.kind == "weight")
        assert moved <= (counted + updated) * (1 + 1e-9)
        if not part.mappings.has_offload("weights")[0]:
            assert moved >= 0.8 * counted
        assert all(each.after < each.before for each in program.absences)
        for each, remake_s in zip(program.absences, program.remake_s.tolist(), strict=True):
            name = program.graph.tensors[each.tensor].name
            assert np.isfinite(remake_s) == name.endswith("inside")


@pytest.mark.slow
@pytest.mark.parametrize(("job", "size"), CASES)
def test_the_score_foretells_the_simulated_step(job: TransformerTraining, size: int) -> None:
    """Everything offloaded, over links that are far too slow, just fast enough, or fast."""
    ratios = []
    for bytes_per_s in (5e9, 63e9, 2e12):
        tier = load_memory_tier("host-pcie5").model_copy(update={"bandwidth_bytes_per_s": bytes_per_s})
        device = DEVICE.model_copy(update={"offload": tier})
        rows = enumerate_candidates(job, [size], device, FABRIC)
        scores = score(rows, device, FABRIC)
        for row in range(0, len(rows), max(1, len(rows) // 10)):
            step = rank_step(rows, scores, row)
            assert step is not None
            moved = evenly(step.program.size_bytes, step.links)
            ratios.append(simulate(step.program, step.links, moved, RULES).end_s / step.scored_s)
    assert min(ratios) > 0.65
    assert max(ratios) < 1.2
    assert np.median(ratios) == pytest.approx(1.0, abs=0.05)


def test_pages_are_whole_mebibytes_and_not_too_many() -> None:
    for step, *_ in _some(_job(), 4, most=8):
        assert np.ceil(step.program.size_bytes / step.page_bytes).max() <= MOST_PAGES
        assert step.page_bytes % 2**20 == 0


def test_what_offloads_nothing_has_no_such_step() -> None:
    rows = enumerate_candidates(_job(offload=("none", "optimizer")), [1], DEVICE, FABRIC)
    scores = score(rows, DEVICE, FABRIC)
    for row in range(len(rows)):
        away = rows.mappings.offload[rows.mapping[row]] > 0
        assert (rank_step(rows, scores, row) is not None) == away
        named = rank_step_of(rows.configuration(row), rows.workload, DEVICE, FABRIC)
        assert (named is not None) == away
        if named is not None:
            assert named.scored_s == pytest.approx(float(scores.step_s[row]))


def test_inference_and_devices_without_a_tier_offload_nothing() -> None:
    served = TransformerInference.model_validate(
        {"model": SHAPE, "concurrency": 2, "input_tokens": 8, "output_tokens": 8}
    )
    plain: Device = load_device("h100-sxm")
    fabric: FabricBase = FABRIC
    for job, device in ((served, DEVICE), (_job(offload="none"), plain)):
        rows = enumerate_candidates(job, [1], device, fabric)
        assert rank_step(rows, score(rows, device, fabric), 0) is None
        assert rank_step_of(rows.configuration(0), job, device, fabric) is None

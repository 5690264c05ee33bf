"""Recommendation models that keep a share of their rows in a second tier: what stays, what passes, how long."""

import numpy as np
import pytest
from pydantic import ValidationError

from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import Candidates, candidates_of, enumerate_candidates
from costmodel.pricing.score import Scores, score
from costmodel.workloads import Dlrm
from costmodel.workloads.dlrm.recommenders import load_recommender
from planner.candidates.kept_away import kept_away_in_words
from planner.checks import check
from planner.model.instance import Instance
from planner.model.result import Status
from planner.pipeline import solve
from tests.costmodel.pricing.score_cases import FAT_TREE, fabric_of
from tests.oracles.pool_search import best_value
from tests.oracles.tiny_pools import tiny_recommender_pool
from tests.paths import ROOT
from tests.planner.optimum import assert_solved_to

FABRIC = fabric_of(FAT_TREE)
SHAPE = load_recommender("dlrm-dcnv2")
BATCH = 4096
FOLDER = ROOT / "instances" / "recommenders"


def device(bytes_per_s: float) -> Device:
    tier = MemoryTier(
        name="far", source="test", capacity_bytes=1e13, bandwidth_bytes_per_s=bytes_per_s, latency_s=0.0,
        energy_j_per_byte=1e-10,
    )  # fmt: skip
    return load_device("h100-sxm").model_copy(update={"offload": tier})


def job_of(mode: str, offload: str = "none") -> Dlrm:
    return Dlrm.model_validate({"mode": mode, "model": "dlrm-dcnv2", "batch": BATCH, "offload": offload})


def priced(on: Device, mode: str, offload: str) -> tuple[Candidates, Scores]:
    rows = enumerate_candidates(job_of(mode, offload), [4], on, FABRIC)
    rows = rows.take(np.flatnonzero((rows.mappings.tensor == 4)[rows.mapping])[:1])
    return rows, score(rows, on, FABRIC)


@pytest.mark.parametrize(("mode", "passes", "row_bytes"), [("training", 2, 516), ("inference", 1, 512)])
@pytest.mark.parametrize("share", [12.5, 50])
def test_a_step_waits_for_rows_that_pass_a_slow_tier(mode: str, passes: int, row_bytes: int, share: float) -> None:
    """Each lookup finds its row there with the share that is there; training writes it back, with its state."""
    slow_s, fast_s = 1 / 1e8, 1 / 2e8
    (rows, slow), (_, fast) = (priced(device(1 / each_s), mode, f"tables {share} %") for each_s in (slow_s, fast_s))
    looked_up = share / 100 * BATCH * SHAPE.lookups / 4 * row_bytes
    waited = passes * looked_up / SHAPE.gather_efficiency * (slow_s - fast_s)
    assert slow.step_s[0] - fast.step_s[0] == pytest.approx(waited, rel=1e-6)
    one = rows.mappings.take(rows.mapping[:1])
    plain = Mappings.of(tensor=4, micro_batch=BATCH)
    (local, away), (whole, _) = (each.footprint(m) for each, m in ((rows.workload, one), (job_of(mode), plain)))
    tables = SHAPE.num_rows * row_bytes / 4
    assert away[0] == pytest.approx(share / 100 * tables)
    assert whole[0] - local[0] == pytest.approx(away[0] - 2 * looked_up)


def test_shares_are_listed_written_and_read_back() -> None:
    job = Dlrm(mode="inference", model="dlrm-dcnv2", batch=BATCH, offload=("none", "tables"))
    on = device(1e11)
    rows = enumerate_candidates(job, [4], on, FABRIC)
    written = [rows.configuration(row) for row in range(len(rows))]
    assert {each.offload for each in written} == {"none", *(f"tables {12.5 * n:g} %" for n in range(1, 9))}
    again = candidates_of(written, job, on, FABRIC)
    assert [again.configuration(row) for row in range(len(again))] == written
    assert enumerate_candidates(job, [4], load_device("h100-sxm"), FABRIC).mappings.offload.max() == 0


@pytest.mark.parametrize("offload", ["cache", "tables 30 %", []])
def test_wrong_shares_are_told(offload: str | list[str]) -> None:
    with pytest.raises(ValidationError, match=r"offload: .*(tables joined by|the list is empty)"):
        Dlrm.model_validate({"mode": "training", "model": "dlrm-dcnv2", "batch": BATCH, "offload": offload})


def test_the_shipped_recommenders_all_run_with_memory_nodes() -> None:
    objectives = []
    for name, running in (("tables", 3), ("tables_plain", 2)):
        instance = Instance.load(FOLDER / f"{name}.yaml")
        result = solve(instance, time_limit_s=60, seed=1)
        assert result.plan is not None
        assert all(level.status is Status.OPTIMAL for level in result.levels)
        assert check(instance, result.plan) == []
        assert len(result.plan.assignments) == running
        objectives.append(result.objective or 0.0)
        words = kept_away_in_words(instance.cluster, instance.job("ads-serving"), result.plan["ads-serving"])
        assert words.startswith("tables 25 % in memory-node: 26.1 of 1,280 GB") == (name == "tables")
    assert objectives[0] > 1.9 * objectives[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 7])
def test_value_is_the_enumerated_optimum_where_tables_are_in_units(seed: int) -> None:
    instance = tiny_recommender_pool(seed)
    assert_solved_to(instance, best_value(instance))

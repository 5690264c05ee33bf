"""`planner migrate` rewrites old instances, all of the files or none."""

from pathlib import Path

import pytest

from planner.model.instance import Instance
from tests.planner.cli.conftest import Planner, fields, written

TEXT = """# a rack of ours
schema_version: 1   # of 2026
name: old
cluster:
  device: h100-sxm
  fabric: {kind: fat_tree, servers: 2, gpus_per_server: 8, nvlink_bandwidth: 450 GB/s, nvlink_alpha: 1 us,
           nvlink_energy: 10 pJ/b, network_bandwidth: 50 GB/s, network_alpha: 5 us, network_energy: 20 pJ/b}  # copper
jobs:
  - name: train   # nightly
    workload: {kind: transformer_training, model: llama-3.1-8b, global_batch: 64, sequence: 2048, context: 2}
    accelerators: 16
  - name: serve
    workload:
      kind: transformer_inference
      model: llama-3.1-8b
      concurrency: 8
      input_tokens: 512
      output_tokens: 64   # short answers
    accelerators: 8
"""
NEW = (
    TEXT.replace("schema_version: 1 ", "schema_version: 2 ")
    .replace("context: 2}", "context: 2, expert: 1, uneven_stages: false, overlap: {context: 0.7}}")
    .replace("# short answers\n", "# short answers\n      expert: 1\n      kv_precision: bf16\n")
)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.yaml"
    path.write_text(TEXT)
    return path


def test_the_version_alone_changes(planner: Planner, old: Path) -> None:
    before = Instance.load(old)
    outcome = planner("migrate", old)
    assert (outcome.code, outcome.err) == (0, "")
    assert old.read_text() == TEXT.replace("schema_version: 1 ", "schema_version: 2 ")
    assert Instance.load(old) == before
    assert "unchanged" in planner("migrate", old).out


def test_old_defaults_are_written_down_and_comments_stay(planner: Planner, old: Path) -> None:
    outcome = planner("migrate", old, "--old-defaults")
    assert (outcome.code, outcome.err) == (0, "")
    assert old.read_text() == NEW
    assert "version 1 -> 2\n  jobs[train].workload: expert 1, uneven_stages false" in outcome.out
    assert Instance.load(old).jobs[0].workload.expert == 1  # type: ignore[union-attr]


def test_a_dry_run_and_a_bad_file_beside_it_change_nothing(planner: Planner, old: Path, tmp_path: Path) -> None:
    assert "version 1 -> 2" in planner("migrate", old, "--dry-run").out
    bad = written(tmp_path, fields() | {"schema_version": 1, "jobs": []})
    outcome = planner("migrate", old, bad)
    assert outcome.code == 2
    assert f"{bad}: jobs: there is nothing to plan" in outcome.err
    assert old.read_text() == TEXT


def test_what_is_no_instance_and_what_has_a_table_is_refused(planner: Planner, tmp_path: Path) -> None:
    newer = written(tmp_path, fields() | {"schema_version": 9})
    assert "schema_version: is 9, not a version up to 2" in planner("migrate", newer).err
    table = written(tmp_path, fields() | {"schema_version": 1, "jobs": "jobs.csv"})
    outcome = planner("migrate", table, "--old-defaults")
    assert outcome.code == 2
    assert "jobs.csv these columns where it lacks them (expert 1, context 1" in outcome.err


def test_what_cannot_be_changed_in_place_is_named(planner: Planner, old: Path) -> None:
    shared = TEXT.replace("workload: {kind: transformer_training", "workload: &same {kind: transformer_training")
    old.write_text(shared + "  - {name: again, workload: *same, accelerators: 8}\n")
    outcome = planner("migrate", old, "--old-defaults")
    assert outcome.code == 2
    assert f"{old}: jobs[again].workload.expert: is written in a way that cannot be changed" in outcome.err


def test_plans_are_left_alone(planner: Planner, plan: Path) -> None:
    before = plan.read_text()
    assert "version 1, the newest of its kind; unchanged" in planner("migrate", plan).out
    assert plan.read_text() == before

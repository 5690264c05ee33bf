"""`planner import`: files in, a cluster and a map of names out."""

import json
from pathlib import Path

import pytest
import yaml

from planner.cli import main
from planner.model.cluster import load_cluster

NODES = {"nodes": [{"name": f"n{i}", "gres": "gpu:h100:8", "state": ["IDLE"] if i else ["DOWN"]} for i in range(4)]}


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    (tmp_path / "nodes.json").write_text(json.dumps(NODES), "utf-8")
    (tmp_path / "topology.conf").write_text("BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[2-3]\n", "utf-8")
    return [str(tmp_path / "nodes.json"), str(tmp_path / "topology.conf"), "-o", str(tmp_path / "cluster.yaml")]


def test_a_cluster_is_written_beside_its_names(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "--from", "slurm", *given, "--fabric", "ocs_rail"]) == 0
    said = capsys.readouterr()
    assert "ocs_rail, 2 x 2 servers of 8 h100-sxm, 24 of 32 work" in said.out
    assert "note: n0 is failed: DOWN" in said.err
    assert load_cluster(tmp_path / "cluster.yaml").num_healthy == 24
    assert yaml.safe_load((tmp_path / "cluster.nodes.yaml").read_text("utf-8"))["nodes"]["n2"] == "r1.s0"
    assert main(["import", "--from", "slurm", *given]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["import", "--from", "slurm", *given, "--force", "--device", "h200"]) == 0
    assert load_cluster(tmp_path / "cluster.yaml").device.name == "h200-sxm"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--one-rack", "--join-nodes"], "give one"),
        (["--device", "h1000"], "--device"),
        (["--fabric", "string"], "is not one of"),
        (["--topology", "x", "--fabric", "lightpath", "--join-nodes", "--device", "x"], "--device"),
    ],
)
def test_what_cannot_be_is_refused(
    given: list[str], options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "--from", "slurm", *given, *options]) == 2
    assert said in capsys.readouterr().err

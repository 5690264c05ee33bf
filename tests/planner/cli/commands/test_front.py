"""planner front."""

import csv
import json
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.planner.cli.conftest import Planner

MODEL = ("front", "--workload", "llama-3.1-8b", "--devices", "4", "--users", "1,8,64")
DGX64, RACK64 = (ROOT / "instances" / "lumorph" / f"{name}.yaml" for name in ("dgx64", "rack64"))


def test_devices_on_one_picture_and_in_one_table(planner: Planner, tmp_path: Path) -> None:
    picture, written = tmp_path / "front.png", tmp_path / "front.csv"
    outcome = planner(*MODEL, "--device", "h100", "--device", "h200", "--plot", picture, "--csv", written, "--json")
    assert outcome.code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    records = json.loads(outcome.out)["front"]
    assert {record["name"] for record in records} == {"h100-sxm", "h200-sxm"}
    with written.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [{key: str(value) for key, value in record.items()} for record in records] == rows
    again = planner(*MODEL, "--csv", written)
    assert again.code == 0
    assert "tokens/s of a user" in again.out


def test_fabrics_on_one_picture(planner: Planner) -> None:
    outcome = planner("front", DGX64, RACK64, "--job", "llama8b-serve-1", "--users", "8,64", "--json")
    names = [record["name"] for record in json.loads(outcome.out)["front"]]
    assert sorted(set(names)) == ["dgx64 llama8b-serve-1", "rack64 llama8b-serve-1"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("front",), "one of the two"),
        ((*MODEL, DGX64), "one of the two"),
        (("front", DGX64, "--device", "b200"), "--device: is of --workload"),
        ((*MODEL, "--job", "chat"), "--job: is of instances"),
        ((*MODEL[:-1], "1,x"), "no list of numbers of users"),
        (("front", "--workload", "dlrm-dcnv2"), "writes no tokens"),
        ((*MODEL, "--output", "1"), "--output: output_tokens: an answer of one token"),
        ((*MODEL, "--device", "h1000"), "unknown device 'h1000'"),
        (("front", DGX64, "--job", "gpt22b-train-1"), "none serves users"),
        (("front", "--workload", "llama-3.1-405b", "--devices", "1", "--users", "1"), "no candidate of h100-sxm"),
    ],
)
def test_bad_input_is_told(planner: Planner, arguments: tuple[object, ...], told: str) -> None:
    outcome = planner(*arguments)
    assert outcome.code == 2
    assert told in outcome.err

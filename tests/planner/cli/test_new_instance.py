"""New instances: jobs from a table, fabrics from a template."""

import re
from pathlib import Path

import pytest

from planner.model import files
from planner.model.instance import Instance
from tests.planner.cli.commands.new_cases import HEADER
from tests.planner.cli.conftest import Planner


def test_cubes_of_a_torus_are_joined_by_switches(planner: Planner, tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    assert planner("new", "--fabric", "torus", "--servers", 80, "--tiles", 64, "-o", path).code == 0
    fabric = Instance.load(path).cluster.fabric
    assert fabric.kind == "torus"
    assert fabric.sides == (4, 4, 4)
    assert fabric.switches is not None
    assert fabric.switches.ports == 160


def test_jobs_come_from_a_csv_file(planner: Planner, tmp_path: Path) -> None:
    rows = [
        HEADER,
        "chat: one,search,llama-3.1-8b,inference,4;8,5,yes,,,64,1024,256",
        "",
        '"no, really",,bert-large,training,1-8,,no,64,512,,,',
        "0,ops,bert-large,transformer_training,2,0.5,,,512,,,",
    ]
    jobs, path = tmp_path / "jobs.csv", tmp_path / "new.yaml"
    jobs.write_text("\r\n".join(rows), encoding="utf-8")
    outcome = planner("new", "--fabric", "lightpath", "--jobs", jobs, "-o", path)
    assert outcome.code == 0, outcome.err
    chat, other, third = Instance.load(path).jobs
    assert (chat.name, chat.tenant, chat.sizes, chat.weight, chat.required) == (
        "chat: one",
        "search",
        (4, 8),
        5,
        True,
    )
    assert chat.workload.kind == "transformer_inference"
    assert chat.workload.concurrency == 64
    assert (other.name, other.sizes, other.required) == ("no, really", tuple(range(1, 9)), False)
    assert (third.name, third.weight, third.workload.kind) == ("0", 0.5, "transformer_training")


def test_a_job_that_no_size_can_run_is_refused(planner: Planner, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("name,model,kind,accelerators\nhuge,llama-3.1-405b,inference,1\n", encoding="utf-8")
    outcome = planner("new", "--fabric", "lightpath", "--jobs", jobs)
    assert outcome.code == 2
    assert f"{jobs}: jobs[huge].accelerators: " in outcome.err


def test_an_optional_job_without_a_slice_of_its_size_is_written_and_told(planner: Planner, tmp_path: Path) -> None:
    jobs, path = tmp_path / "jobs.csv", tmp_path / "new.yaml"
    rows = [
        "name,model,kind,accelerators,required", "odd,bert-large,training,12,no", "even,bert-large,training,8,yes",
    ]  # fmt: skip
    jobs.write_text("\n".join(rows), encoding="utf-8")
    outcome = planner("new", "--fabric", "sipac", "--jobs", jobs, "-o", path)
    assert outcome.code == 0
    assert [job.name for job in Instance.load(path).jobs] == ["odd", "even"]
    (warning,) = [line for line in outcome.err.splitlines() if line.startswith("warning: ")]
    assert warning.startswith(f"warning: {jobs}: jobs[odd].accelerators: no candidate: no slice has 12 accelerators")
    assert "sizes of slices are 1, 2, 4, 8" in warning
    jobs.write_text("\n".join(rows).replace("12,no", "12,yes"), encoding="utf-8")
    refused = planner("new", "--fabric", "sipac", "--jobs", jobs)
    assert (refused.code, refused.out) == (2, "")


def test_recommendation_jobs_come_from_a_csv_file(planner: Planner, tmp_path: Path) -> None:
    rows = [
        "name,model,kind,accelerators,batch",
        "ads,dlrm-dcnv2,dlrm_training,4;8,32768",
        "rank,dlrm,dlrm_inference,4,",
    ]
    jobs, path = tmp_path / "jobs.csv", tmp_path / "new.yaml"
    jobs.write_text("\n".join(rows), encoding="utf-8")
    assert planner("new", "--fabric", "fat_tree", "--jobs", jobs, "-o", path).code == 0
    ads, rank = Instance.load(path).jobs
    assert (ads.workload.kind, ads.workload.mode, ads.workload.batch) == ("dlrm", "training", 32768)
    assert (rank.workload.model, rank.workload.mode, rank.workload.batch) == ("dlrm", "inference", 4096)
    jobs.write_text("\n".join([*rows[:1], "ads,dlrm-dcnv2,inference,4,8"]), encoding="utf-8")
    assert "means nothing to inference" in planner("new", "--fabric", "fat_tree", "--jobs", jobs).err


@pytest.mark.parametrize(("device", "nvlink"), [("h100-sxm", 450e9), ("b200-sxm", 900e9), ("a100-sxm", 300e9)])
@pytest.mark.parametrize("fabric", ["fat_tree", "ocs_rail", "divided_ports"])
def test_servers_have_the_links_of_the_catalog(planner: Planner, fabric: str, device: str, nvlink: float) -> None:
    text = planner("new", "--fabric", fabric, "--device", device).out
    instance = Instance.parse(files.parse_text(text, "new"), "new")
    written = vars(instance.cluster.fabric)
    assert written["nvlink_bandwidth_bytes_per_s"] == nvlink
    assert written["nvlink_energy_j_per_byte"] == pytest.approx(8 * 10e-12)
    assert "# one direction" in text
    assert re.search(r" $", text, re.MULTILINE) is None


def test_a_device_of_a_file_is_written_in_place(planner: Planner, tmp_path: Path) -> None:
    device, path = tmp_path / "stacked.yaml", tmp_path / "new.yaml"
    fields = "name: stacked\nlike: b200-sxm\ncapacity: 260 GB\nmemory_bandwidth: 9 TB/s\nflops: {bf16: 2250 TFLOP/s}\n"
    device.write_text(fields, encoding="utf-8")
    assert planner("new", "--fabric", "fat_tree", "--device", device, "-o", path).code == 0
    cluster = Instance.load(path).cluster
    assert cluster.device.name == "stacked"
    assert cluster.device.capacity_bytes == 260e9
    assert vars(cluster.fabric)["nvlink_bandwidth_bytes_per_s"] == 900e9, "as of the device that it is like"
    device.write_text(fields.replace("capacity", "size"), encoding="utf-8")
    outcome = planner("new", "--fabric", "fat_tree", "--device", device)
    assert outcome.code == 2
    assert "stacked.yaml" in outcome.err
    assert "size" in outcome.err

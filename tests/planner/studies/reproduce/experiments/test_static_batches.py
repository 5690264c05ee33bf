"""What an experiment computes is what an instance file gives: the same candidates at the same prices."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costmodel.fabrics import FabricBase, fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import load_system
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.serving.kernel_rules import KernelRules
from costmodel.workloads import TransformerInference
from planner.cli import main
from planner.model.instance import Instance
from planner.studies.reproduce.experiments import optical_hbm_inference, photonic_inference
from planner.studies.reproduce.experiments.static_batches import ServingSystem, job_of, serve
from tests.planner.studies.reproduce.experiments.inference import outcome


def instance_of(folder: Path, device: Any, fabric: dict[str, Any], workload: TransformerInference, size: int) -> Path:
    """One job on one cluster, as a user writes it."""
    job = {"name": "x", "workload": workload.model_dump(mode="json", exclude_defaults=True), "accelerators": size}
    job["workload"] |= {"kind": "transformer_inference"}
    content = {"schema_version": 2, "name": "one", "cluster": {"device": device, "fabric": fabric}, "jobs": [job]}
    path = folder / "one.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def priced(path: Path, **wanted: int) -> tuple[float, float, float]:
    """Time to the first token, between two, and tokens per second of the fastest candidate of such a mapping."""
    instance = Instance.load(path)
    (job,), fabric = instance.jobs, instance.cluster.fabric
    rows = enumerate_candidates(job.workload, job.sizes, instance.cluster.device, fabric)
    prices = score(rows, instance.cluster.device, fabric)
    is_last = rows.split == len(rows.splits) - 1  # all ports serve memory
    ours = np.flatnonzero(rows.mappings.where(wanted)[rows.mapping] & is_last)
    best = ours[prices.step_s[ours].argmin()]
    return float(prices.ttft_s[best]), float(prices.tpot_s[best]), float(prices.speed[best])


def plain(spec: Device | FabricBase) -> dict[str, Any]:
    return spec.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.mark.parametrize("name", ["inference_405b", "inference_1t"])
@pytest.mark.parametrize("is_ruled", [True, False])
@pytest.mark.parametrize("is_on_appliance", [True, False])
@pytest.mark.filterwarnings("ignore::planner.model.errors.UnitWarning")
def test_batches_of_an_instance(
    name: str, is_ruled: bool, is_on_appliance: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many users as the batch of the experiment, by both columns and on both systems; and `planner solve` too."""
    inputs = outcome("photonic_fabric", name).inputs
    assert isinstance(inputs, photonic_inference.Inputs)
    rules = inputs.rules if is_ruled else None
    replica = photonic_inference.baseline(inputs, rules)
    if is_on_appliance:
        replica = photonic_inference.on_appliance(inputs, rules, 1.0, "evaluated")
    served = photonic_inference.serve_users(inputs, rules, replica, (128, 4096), (inputs.batch_limit,))
    job = photonic_inference.job(inputs, rules, (128, 4096))
    path = instance_of(
        tmp_path, plain(replica.device), plain(replica.fabric),
        job.model_copy(update={"concurrency": int(served.batch[0])}), replica.ranks,
    )  # fmt: skip
    first_s, token_s, speed = priced(path, tensor=replica.tensor, pipeline=replica.pipeline)
    assert first_s == pytest.approx(served.prefill_s[0], rel=1e-12)
    assert token_s == pytest.approx(served.token_s[0], rel=1e-12)
    assert speed == pytest.approx(served.output_tokens_per_s[0], rel=1e-9)
    assert main(["solve", str(path), "--json", "--time-limit", "5"]) == 0
    (placed,) = json.loads(capsys.readouterr().out)["plan"]["assignments"]
    assert placed["step"] <= served.batch[0] / speed * (1 + 1e-9)


@pytest.mark.parametrize("is_ruled", [True, False])
@pytest.mark.parametrize("passes", [1.0, 2.0, None])
@pytest.mark.filterwarnings("ignore::planner.model.errors.UnitWarning")
def test_passes_on_modules_of_an_instance(is_ruled: bool, passes: float | None, tmp_path: Path) -> None:
    """The limit of the cache is that of the fabric's memory."""
    inputs = outcome("optical_hbm", "decode").inputs
    assert isinstance(inputs, optical_hbm_inference.Inputs)
    inputs = inputs.model_copy(update={"l2_passes": passes or 2.0})
    device = optical_hbm_inference.systems(inputs)["own L2" if passes else "no L2 limit"]
    servers = fat_tree_of(load_system("dgx-a100"), 8)
    job = job_of(
        (4096, 2), inputs.rules if is_ruled else None, model="gpt3-175b", precision="fp16", kv_precision="fp16",
        activation_precision="fp16", concurrency=8,
    )  # fmt: skip
    served = serve(job, ServingSystem(device, servers, 8), (8,))
    divided = plain(servers) | {
        "kind": "divided_ports", "port_energy": "5 pJ/b",
        "memory": {"kind": "optical_modules", "part": inputs.memory, "l2_passes": passes},
    }  # fmt: skip
    found = priced(instance_of(tmp_path, inputs.device, divided, job, 8), tensor=8)
    assert found[:2] == pytest.approx((served.prefill_s[0], served.token_s[0]), rel=1e-12)


def test_each_number_of_users_as_if_alone() -> None:
    device = load_device("h100-sxm").model_copy(update={"capacity_bytes": 20e9})
    replica = ServingSystem(device, fat_tree_of(load_system("dgx-h100"), 2), 2)
    job = job_of((100, 50), KernelRules(), model="llama-3.1-8b", precision="bf16", concurrency=64)
    together = serve(job, replica, (1, 64, 3, 10**6))
    for row, users in enumerate((1, 64, 3, 10**6)):
        alone = serve(job, replica, (users,))
        assert alone.latency_s[0] == pytest.approx(together.latency_s[row], rel=1e-12)
        assert alone.batch[0] == together.batch[row] <= users
    work = 2 * job.shape.num_parameters * together.batch * 150
    np.testing.assert_allclose(together.mfu(job, replica), work / together.latency_s / 2 / 989.4e12, rtol=1e-3)


def test_a_model_without_room() -> None:
    replica = ServingSystem(load_device("h100-sxm"), fat_tree_of(load_system("dgx-h100"), 1))
    job = job_of((100, 50), KernelRules(), model="llama-3.1-405b", precision="fp8", concurrency=1)
    with pytest.raises(ValueError, match="model: no sequence fits beside the weights"):
        serve(job, replica, (1,))

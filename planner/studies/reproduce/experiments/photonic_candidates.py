"""The appliance against servers by candidates of the planner, as `planner solve` prices them, in static batches."""

import numpy as np

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Floats, Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import Scores, score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerInference
from planner.studies.reproduce.experiments import photonic_inference
from planner.studies.reproduce.experiments.photonic_inference import Inputs

LABEL = ", by the product's model"


def compute(inputs: Inputs) -> dict[str, float]:
    """By the paper's rules, and the largest gains of candidates: in throughput of as many users as the batch limit,
    and in latency of one user."""
    pairs = np.array([_gains(inputs, *request) for request in inputs.requests])
    return photonic_inference.compute(inputs) | {
        f"throughput gain{LABEL}": float(pairs[:, 0].max()),
        f"latency gain{LABEL}": float(pairs[:, 1].max()),
    }


def _gains(inputs: Inputs, tokens_in: int, tokens_out: int) -> tuple[float, float]:
    """Where one system has several stages, the candidates' tensor groups span as many servers."""
    base = load_device(inputs.device)
    base = base.model_copy(update={"capacity_bytes": inputs.capacity_bytes or base.capacity_bytes})
    systems = (base, inputs.tensor * inputs.pipeline), (_on_appliance(inputs, base), inputs.pipeline)
    speeds, seconds = [], []
    for device, ranks in systems:
        many, one = (_served(inputs, device, ranks, tokens_in, tokens_out, users) for users in (inputs.batch_limit, 1))
        speeds.append(float(many.speed[0]))
        seconds.append(float(one.ttft_s[0] + (tokens_out - 1) * one.tpot_s[0]))
    return speeds[1] / speeds[0], seconds[0] / seconds[1]


def _on_appliance(inputs: Inputs, base: Device) -> Device:
    """The accelerators of a server as one on the appliance's memory, at the bandwidth of the evaluation."""
    appliance = load_memory_appliance(inputs.appliance)
    tier = appliance.tier(appliance.evaluated_bytes_per_s)
    grown = {name: inputs.tensor * rate for name, rate in base.flops_per_s.items()}
    return base.model_copy(
        update={
            "name": f"{inputs.tensor} x {base.name} on {appliance.name}", "like": base.name, "flops_per_s": grown,
            "num_sm": inputs.tensor * base.num_sm, "l2_bytes": inputs.tensor * base.l2_bytes,
            "memory_bytes_per_s": tier.bandwidth_bytes_per_s, "capacity_bytes": tier.capacity_bytes,
        }
    )  # fmt: skip


def _served(inputs: Inputs, device: Device, ranks: int, tokens_in: int, tokens_out: int, users: int) -> Scores:
    """The fastest candidate of one tensor group on all ranks."""
    job = TransformerInference(
        model=inputs.model, precision=inputs.precision, kv_precision=inputs.rules.kv_cache, concurrency=users,
        input_tokens=tokens_in, output_tokens=tokens_out, batching="static",
    )  # fmt: skip
    system = system_of(inputs.device).model_copy(
        update={"gpus_per_server": inputs.tensor if ranks > inputs.pipeline else 1}
        | ({"network_bandwidth_bytes_per_s": inputs.stage_link_bytes_per_s} if inputs.stage_link_bytes_per_s else {})
    )
    mapping, fabric = Mappings.of(tensor=[ranks], micro_batch=users), fat_tree_of(system, ranks)
    rows = list_candidates(job, mapping, device, fabric, blocks=widest_block)
    if not len(rows):
        raise ValueError("model: no request fits beside the weights; give more stages, or fewer tokens")
    scores: Scores = score(rows, device, fabric)
    fastest: Floats = scores.step_s
    return scores.take(np.array([int(fastest.argmin())]))

"""Price of one candidate at a time, in plain Python: what `costmodel.pricing.score` says of all rows at once."""

from collections import deque
from functools import lru_cache
from itertools import pairwise, permutations
from math import prod
from types import SimpleNamespace
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from costmodel.fabrics import FabricBase, Islands, MemoryNodeRings, Torus
from costmodel.hardware.device import Device
from costmodel.kernels.attention_context import prefill_attention_s, prefill_curve
from costmodel.kernels.collective import collective_curve, node_collective_s
from costmodel.kernels.gemm import gemm_curve, gemm_s
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.efficiency import TRAINING_LINK, Efficiency, efficiency_of
from costmodel.workloads import Workload
from costmodel.workloads.transformer import training
from tests.oracles.dlrm import dlrm_step
from tests.oracles.evaluation import evaluation_step
from tests.oracles.networks import network_step
from tests.oracles.power import always_j, drawn_j
from tests.oracles.transformer import Run, Step, Work, training_step
from tests.oracles.transformer_inference import Served, inference_steps
from tests.oracles.turns import num_at_once, num_messages, waits

DIMENSIONS = ("tensor", "pipeline", "data", "context", "expert")
Prices = dict[str, float]


TRAINING = ("transformer_training", "network_training")
SUMMED = ("compute_s", "memory_s", "reconfiguration_s", "bubble_s", "offload_s", "network_j")


@lru_cache(maxsize=64)
def _step(workload: str, choice: tuple[tuple[str, int], ...]) -> Step:
    parsed = TypeAdapter(Workload).validate_json(workload)
    steps = {"transformer_training": training_step, "dlrm": dlrm_step, "network_training": network_step}
    return steps[parsed.kind](parsed, dict(choice))


def score_row(
    candidates: Candidates, row: int, device: Device, fabric: FabricBase, calibrations=None, phase: str | None = None
) -> Prices:
    """Every column of `Scores` for one row; communication by dimension, e.g. "tensor_s". Of one phase where given."""
    workload, m = candidates.workload, int(candidates.mapping[row])
    choice = candidates.mappings.choice(m)
    if workload.kind == "transformer_inference":
        job = workload if phase is None else workload.model_copy(update={"batching": "static", "chunk": None})
        served = inference_steps(job, choice, device, calibrations)
        return _served_row(served, candidates, row, device, fabric, calibrations, phase)
    if getattr(workload, "evaluation", None):
        return _evaluated_row(candidates, row, device, fabric, calibrations, phase)
    step = _step(workload.model_dump_json(), tuple(choice.items()))
    return _step_row(step, candidates, row, device, fabric, calibrations)


def _evaluated_row(
    candidates: Candidates, row: int, device: Device, fabric: FabricBase, calibrations: Any, phase: str | None
) -> Prices:
    """A step of training, and as many batches of evaluation as follow it in the mean; the first holds more."""
    workload, choice = candidates.workload, candidates.mappings.choice(int(candidates.mapping[row]))
    often = {"training": 1.0, "evaluation": workload.evaluation.batches / workload.evaluation.every}
    steps = {"training": training_step, "evaluation": evaluation_step}
    each = {
        name: _step_row(steps[name](workload, choice), candidates, row, device, fabric, calibrations)
        for name in often
        if phase in (None, name)
    }
    summed = {
        column: sum(often[name] * prices[column] for name, prices in each.items())
        for column in next(iter(each.values()))
    }
    held = ("footprint_bytes", "tier_footprint_bytes")
    return (
        summed
        | {column: max(prices[column] for prices in each.values()) for column in held}
        | {"work": next(iter(each.values()))["work"]}
    )


def _step_row(
    step: Step, candidates: Candidates, row: int, device: Device, fabric: FabricBase, calibrations: Any
) -> Prices:
    workload, choice = candidates.workload, candidates.mappings.choice(int(candidates.mapping[row]))
    regime = "training" if workload.kind in TRAINING else workload.mode
    efficiency, _ = efficiency_of(device, regime, workload.precision, calibrations)
    rates = _Rates(device, efficiency, workload.precision, regime, calibrations)
    prices = _prices(step, rates, candidates, row, device, fabric)
    if workload.kind != "network_training":
        prices["memory_s"] += efficiency.step_s
        prices["step_s"] += efficiency.step_s
    prices |= drawn_j(prices, device, _num_devices(choice))
    prices |= always_j(device, fabric, _num_devices(choice), prices["step_s"])
    del prices["tier_j"]
    samples = getattr(workload, "batch", None) or workload.global_batch
    prices["work"] = samples * getattr(workload, "sequence", 1)
    return prices | {"engine_s": 0.0, "ttft_s": NOBODY, "tpot_s": NOBODY}


def _served_row(
    served: Served, candidates: Candidates, row: int, device: Device, fabric: FabricBase, calibrations: Any,
    phase: str | None,
) -> Prices:  # fmt: skip
    """Steps of all phases as often as each is needed, and what the engine adds."""
    workload = candidates.workload
    rates = _EngineRates(device, served.curve, workload.precision, calibrations)
    names = [name for name in served.steps if phase in (None, name)]
    each = {name: _prices(served.steps[name], rates, candidates, row, device, fabric) for name in names}
    columns = (*SUMMED, *(f"{name}_s" for name in DIMENSIONS))
    prices = {column: sum(served.often[n] * each[n][column] for n in names) for column in columns}
    kernels_s = sum(served.often[name] * each[name]["step_s"] for name in names)
    first_s, answer_s = served.request_s({name: prices_of["step_s"] for name, prices_of in each.items()})
    prices["step_s"] = (first_s + answer_s) / workload.output_tokens
    prices |= {"engine_s": prices["step_s"] - kernels_s, "ttft_s": first_s}
    prices["tpot_s"] = answer_s / max(workload.output_tokens - 1, 1)
    choice = candidates.mappings.choice(int(candidates.mapping[row]))
    beside = prices["engine_s"] / kernels_s
    shares = [
        drawn_j(each[name], device, _num_devices(choice), served.often[name], beside * each[name]["step_s"])
        for name in names
    ]
    prices |= {column: sum(share[column] for share in shares) for column in shares[0]}
    prices |= always_j(device, fabric, _num_devices(choice), prices["step_s"])
    return prices | {"work": workload.concurrency, **served.footprints}


NOBODY = float("nan")
"""the times of users that a workload does not have"""


def _num_devices(choice: dict[str, int]) -> int:
    return choice["tensor"] * choice["pipeline"] * choice["data"] * choice["context"]


def _prices(step: Step, rates: Any, candidates: Candidates, row: int, device: Device, fabric: FabricBase) -> Prices:
    """One step of a graph."""
    workload, choice = candidates.workload, candidates.mappings.choice(int(candidates.mapping[row]))
    plans = {name: candidates.plans[int(candidates.plan[i, row])] for i, name in enumerate(DIMENSIONS)}
    kernels = [rates.seconds(work) for work in step.works]
    order = candidates.configuration(row).rank_order
    near = {name: _is_near(choice, int(candidates.block[row]), name, order) for name in DIMENSIONS}
    is_slower = workload.kind in TRAINING or getattr(workload, "mode", "") == "training"
    slow = {name: _slower(fabric, rates.efficiency) if near[name] and is_slower else 1.0 for name in DIMENSIONS}
    if is_slower and fabric.node_bytes_per_s:
        least_s = _slower(fabric, rates.efficiency) / fabric.node_bytes_per_s
        for name, plan in plans.items():
            if plan.seconds_per_byte:
                slow[name] = max(slow[name], least_s * plan.bytes_per_byte / plan.seconds_per_byte)
    sent = {name: [rates.send(work, name, plans[name], slow[name]) for work in step.works] for name in DIMENSIONS}
    hides = dict(getattr(workload, "overlap", {}))
    if not choice["sequence_parallel"]:
        hides.pop("tensor", None)
    if getattr(workload, "prefetch", False) and choice["zero"] == 3:
        hides["data"] = max(hides.get("data", 0.0), training.PREFETCHED * (1 - device.collective_sm / device.num_sm))
    prices = _times(step, kernels, sent, hides, _Switches(fabric, plans))
    prices["offload_s"] = 0.0
    if step.memory.tier_bytes:
        operator_s = sum(sum(bound) for bound in kernels)
        streamed_s = step.memory.tier_bytes / device.offload.bandwidth_bytes_per_s
        forward_s = operator_s / (4 if choice["recompute"] == 2 else 3)
        per_s = device.offload.bandwidth_bytes_per_s
        waits = [streamed_s - operator_s, step.memory.forward_bytes / per_s - forward_s]
        if step.memory.update_bytes:
            share = choice["data"] * choice["micro_batch"] / workload.global_batch
            once_s = share * operator_s
            waits.append((step.memory.update_bytes + 2 * step.memory.forward_bytes * share) / per_s - once_s)
        prices["offload_s"] = max(0.0, *waits)
    prices["step_s"] = sum(prices.values())
    prices |= _energies(step, choice, device, workload.precision)
    prices["network_j"] = 0.0
    for name in DIMENSIONS:
        inside = 1.0 if near[name] else _inside(choice, int(candidates.block[row]), name, order, plans[name], fabric)
        each_j = inside * fabric.network_j_per_byte(True) + (1 - inside) * fabric.network_j_per_byte(False)
        joules = [size * each_j for _, size in sent[name]]
        prices["network_j"] += (joules[0] + joules[1] / choice["pipeline"] + joules[2]) * _num_devices(choice)
    prices["footprint_bytes"] = step.memory.footprint_bytes
    prices["tier_footprint_bytes"] = step.memory.tier_footprint_bytes
    return prices


class _Switches(NamedTuple):
    """What switches between the circuits of a row."""

    fabric: FabricBase
    plans: dict[str, Any]

    def seconds(self, step: Step, free_s: float) -> tuple[float, float]:
        """Those that a bubble repeats, and all others."""
        change_s, is_hidden = self.fabric.switching_inside
        if self.fabric.turns:
            return waits(step, self.plans, self.fabric.turns, change_s, free_s)[:2]
        inner, outer = _changes(step)
        hidden_s, at_once = 0.0, 0.0
        if is_hidden and inner + outer:
            hidden_s = min(free_s / max(num_messages(step, self.plans), inner + outer), change_s)
            at_once = num_at_once(step)
        return inner * change_s - (inner - at_once) * hidden_s, outer * (change_s - hidden_s)


def _times(step: Step, kernels: list, sent: dict, hides: dict[str, float], switches: _Switches) -> Prices:
    """Seconds of everything but the second memory tier; they add up to the step."""
    stage, last, once = kernels
    operator_s = sum(stage) + sum(last) + sum(once)
    hidden_s = sum(hides.get(name, 0.0) * sum(seconds for seconds, _ in sent[name]) for name in DIMENSIONS)
    hidden_share = min(1.0, operator_s / hidden_s) if hidden_s else 0.0
    visible = {name: 1 - hides.get(name, 0.0) * hidden_share for name in DIMENSIONS}
    inner, outer = switches.seconds(step, max(operator_s - hidden_s, 0.0))
    repeated_s = sum(stage) + sum(visible[name] * sent[name][0][0] for name in DIMENSIONS) + inner
    spared_s = min(step.relief * repeated_s, sum(last))
    spared_share = spared_s / sum(last) if spared_s else 0.0
    return {
        **{f"{name}_s": visible[name] * sum(seconds for seconds, _ in sent[name]) for name in DIMENSIONS},
        "compute_s": stage[0] + once[0] + last[0] * (1 - spared_share),
        "memory_s": stage[1] + once[1] + last[1] * (1 - spared_share),
        "reconfiguration_s": inner + outer,
        "bubble_s": step.bubble * repeated_s,
    }


Known = dict[tuple[Run, float], tuple[int, float]]
_KNOWN: deque[tuple[tuple[object, ...], Known]] = deque(maxlen=8)
"""times of kernels, by what else they depend on; of the last such"""


def _known(of: tuple[object, ...]) -> Known:
    for other, known in _KNOWN:
        if other == of:
            return known
    _KNOWN.append((of, {}))
    return _KNOWN[-1][1]


class _Rates:
    """Times of kernels on a device."""

    def __init__(self, device: Device, efficiency: Efficiency, precision: str, regime: str, calibrations: Any) -> None:
        self.device, self.efficiency, self.precision, self.calibrations = device, efficiency, precision, calibrations
        self.is_measured = regime == "inference"
        self.known = _known((device, efficiency, precision, regime, calibrations))

    def seconds(self, work: Work) -> tuple[float, float]:
        """Of the kernels that compute binds, and of those that memory binds."""
        bound = [0.0, 0.0]
        known: dict[int, tuple[int, float]] = {}
        ahead = {id(run) for runs in work.passes for run in runs}
        for run in work.runs:
            if id(run) not in known:
                key = run, 0.0 if id(run) in ahead else self.efficiency.launch_s
                if key not in self.known:
                    self.known[key] = self._one(*key)
                known[id(run)] = self.known[key]
            by, time_s = known[id(run)]
            bound[by] += time_s * run.times
        for runs in work.passes:
            for awaited in (False, True):
                alike = [run for run in runs if run.awaited == awaited]
                busy_s = sum(known[id(run)][1] * run.times for run in alike)
                bound[1] += max(sum(run.times * run.kernels for run in alike) * self.efficiency.launch_s - busy_s, 0.0)
        return bound[0], bound[1]

    def send(self, work: Work, dimension: str, plan: Any, slower: float) -> tuple[float, float]:
        return _send(work, dimension, plan, slower)

    def _one(self, run: Run, launch_s: float) -> tuple[int, float]:
        device, precision = self.device, run.precision or self.precision
        share = self.efficiency.attention if run.kind == "attention" else self.efficiency.matrix
        compute_s = run.flops / (share * device.flops_per_s[precision])
        memory_s = run.memory_bytes / ((run.memory_efficiency or self.efficiency.memory) * device.memory_bytes_per_s)
        time_s = max(compute_s, memory_s) + launch_s
        if run.sizes or (run.several and not self.is_measured):
            rows, columns, inner, number = (*run.sizes, 1.0) if run.sizes else run.several
            curve = gemm_curve(device, precision, self.calibrations)[0].with_fused_quantization()
            if not self.is_measured:
                curve = curve.model_copy(update={"matrix_efficiency": self.efficiency.matrix})
            time_s = float(gemm_s(rows * number, columns, inner, device, precision, curve))
            time_s += 0.0 if self.is_measured else launch_s
            if run.several:
                time_s = max(time_s, memory_s)
        return (0 if compute_s >= memory_s else 1), time_s


class _EngineRates(_Rates):
    """Times of kernels inside an engine."""

    def __init__(self, device: Device, curve: Any, precision: str, calibrations: Any) -> None:
        super().__init__(device, SimpleNamespace(launch_s=0.0), precision, "inference", calibrations)
        self.curve = curve
        self.known = _known((device, curve, precision, calibrations))

    def _one(self, run: Run, launch_s: float) -> tuple[int, float]:
        del launch_s
        device, precision = self.device, run.precision or self.precision
        products = gemm_curve(device, precision, self.calibrations)[0].with_fused_quantization()
        if precision in ("fp8", "int8", "fp4"):
            products = products.model_copy(
                update={"matrix_efficiency": products.matrix_efficiency * self.curve.fp8_efficiency}
            )
        compute_s = run.flops / (products.matrix_efficiency * device.flops_per_s[precision])
        memory_s = run.memory_bytes / (device.memory_efficiency * device.memory_bytes_per_s)
        time_s = max(compute_s * self.curve.matrix_slowdown, memory_s)
        if sizes := run.sizes or run.experts:
            time_s = self.curve.matrix_slowdown * float(gemm_s(*sizes, device, precision, products))
        elif run.attention:
            batch, new, cached, heads, kv_heads, width, kv, causal = run.attention
            prefill = prefill_curve(device, "bf16", self.calibrations)[0]
            if cached and new == 1:
                read = batch * cached * kv_heads * width * 2 * {"fp8": 1, "fp32": 4}.get(kv, 2)
                peak = prefill.matrix_efficiency * device.flops_per_s["bf16"]
                time_s = max(read / (0.9 * device.memory_bytes_per_s), run.flops / peak)
            else:
                time_s = batch * float(
                    prefill_attention_s(
                        1, new, cached, heads, kv_heads, width, device,
                        precision="bf16", kv_precision=kv, causal=causal, curve=prefill,
                    )
                )  # fmt: skip
        return (0 if compute_s >= memory_s else 1), time_s + device.first_byte_s

    def send(self, work: Work, dimension: str, plan: Any, slower: float) -> tuple[float, float]:
        seconds, sent_bytes = _send(work, dimension, plan, slower)
        if plan.node_bytes_per_s and seconds:
            links = collective_curve(self.device, self.calibrations)[0]
            share = plan.node_bytes_per_s / self.device.link_bytes_per_s
            rates = ("link_bytes_per_s", "packet_bytes_per_s")
            links = links.model_copy(update={name: share * getattr(links, name) for name in rates})
            sends = [send for send in work.sends if send.dimension == dimension]
            seconds = sum(
                send.times * float(node_collective_s("all_reduce", plan.ranks, send.message_bytes, self.device, links))
                for send in sends
            )
        return seconds, sent_bytes


def _energies(step: Step, choice: dict[str, int], device: Device, precision: str) -> Prices:
    """Of all accelerators: what the last stage alone executes, one of each `pipeline` does."""
    prices = {"compute_j": 0.0, "memory_j": 0.0, "tier_j": 0.0}
    everywhere = choice["tensor"] * choice["pipeline"] * choice["data"] * choice["context"]
    for work, number in zip(step.works, (everywhere, everywhere // choice["pipeline"], everywhere), strict=True):
        for run in work.runs:
            j_per_flop = device.energy_j_per_flop[run.precision or precision]
            prices["compute_j"] += number * run.times * run.flops * j_per_flop
            prices["memory_j"] += number * run.times * run.memory_bytes * device.memory_j_per_byte
    if step.memory.tier_bytes:
        prices["tier_j"] = everywhere * step.memory.tier_bytes * device.offload.energy_j_per_byte
    return prices


def _slower(fabric: FabricBase, efficiency: Efficiency) -> float:
    """Links of a server at their peak over what training reaches on them."""
    peak = fabric.node_bytes_per_s
    return max(1.0, peak / (efficiency.link_bytes_per_s or TRAINING_LINK * peak)) if peak else 1.0


def _send(work: Work, dimension: str, plan: Any, slower: float) -> tuple[float, float]:
    """Seconds of the messages along a dimension, and bytes that a rank sends."""
    seconds = sent_bytes = 0.0
    for send in work.sends:
        if send.dimension == dimension:
            seconds += send.times * (send.parts * plan.latency_s + slower * plan.seconds_per_byte * send.message_bytes)
            sent_bytes += send.times * send.message_bytes * plan.bytes_per_byte
    return seconds, sent_bytes


def _is_near(choice: dict[str, int], block: int, dimension: str, order: str) -> bool:
    """Whether the groups along a dimension surely lie in one server: ranks counted, block by block."""
    return all(len(set(group)) == 1 for group in _blocks_of_groups(choice, block, dimension, order))


def _inside(choice: dict[str, int], block: int, dimension: str, order: str, plan: Any, fabric: FabricBase) -> float:
    """Share of what packets carry that stays in servers, of groups over several: pairs of ranks counted one by one."""
    if isinstance(fabric, Torus):
        axes = [(extent, side) for extent, side in zip(plan.radices, fabric.sides, strict=True) if extent > 1]
        inside = [sum((x + 1) % side != 0 for x in range(extent)) / extent for extent, side in axes]
        return sum(inside) / len(inside)
    if not isinstance(fabric, Islands | MemoryNodeRings) or plan.kind not in ("ring", "tree", "switched"):
        return 0.0
    shares = []
    for group in _blocks_of_groups(choice, block, dimension, order):
        number = len(group)
        if plan.kind == "ring":
            pairs = [(group[i], group[(i + 1) % number]) for i in range(number)]
        elif dimension == "expert":
            pairs = [*permutations(group, 2)]
        else:  # a line, and as a tree has as many links of either kind
            pairs = [*pairwise(group)]
        shares.append(sum(a == b for a, b in pairs) / len(pairs))
    return min(shares)


def _blocks_of_groups(choice: dict[str, int], block: int, dimension: str, order: str) -> list[list[int]]:
    """For each group along a dimension the blocks of its ranks."""
    extents = {
        "tp": choice["tensor"], "cp": choice["context"], "pp": choice["pipeline"], "ep": choice["expert"],
        "dp": choice["data"] // choice["expert"],
    }  # fmt: skip
    names = order.replace("dp", "dp" if "ep" in order else "ep-dp").split("-")
    within = {"tensor": "tp", "context": "cp", "pipeline": "pp", "data": "cp ep dp", "expert": "ep"}[dimension].split()
    groups: dict[Any, list[int]] = {}
    for rank in range(prod(extents.values())):
        left, index = rank, {}
        for name in names:
            left, index[name] = divmod(left, extents[name])
        group = tuple(index[name] for name in names if name not in within)
        groups.setdefault(group, []).append(rank // block)
    return [*groups.values()]


def _changes(step: Step) -> tuple[float, float]:
    """Switches there and back: to pipeline circuits between phases of layers, to data circuits, and inside layers from
    tensor circuits to those of context for each half of an all-reduce, and from either to those of experts, once for
    what goes there and comes back."""
    counts = {
        name: sum(s.times for work in step.works for s in work.sends if s.dimension == name) for name in DIMENSIONS
    }
    in_layers = counts["tensor"] or counts["context"] or counts["expert"]
    inner = 2 * counts["pipeline"] if in_layers else 0.0
    if counts["tensor"]:
        inner += 2 * 2 * counts["context"]
    if counts["tensor"] or counts["context"]:
        inner += counts["expert"]
    outer = 2 * counts["data"] if in_layers or counts["pipeline"] else 0.0
    return inner, outer

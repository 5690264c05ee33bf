"""One accelerator's steps of serving written out: every kernel and message, layer by layer, and a request's life."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from costmodel.serving import admission
from costmodel.serving.backends import serving_curve
from costmodel.workloads.transformer.shapes import model_name
from tests.oracles.transformer import BYTES, Rank, Run, Send, Step


@dataclass
class Served:
    """Single steps of an engine by phase, how many of each give every user a token, and what it all takes."""

    job: Any
    curve: Any
    users: int
    running: int
    taken: int
    """prompts of one step"""
    is_beside: bool
    steps: dict[str, Step]
    often: dict[str, float]

    def total(self, column: str) -> float:
        return sum(self.often[name] * step.total(column) for name, step in self.steps.items())

    def sent_bytes(self, dimension: str) -> float:
        return sum(self.often[name] * step.sent_bytes(dimension) for name, step in self.steps.items())

    @property
    def footprint_bytes(self) -> float:
        return self.steps["decode"].memory.footprint_bytes

    def request_s(self, kernels_s: dict[str, float]) -> tuple[float, float]:
        """From a prompt to its first token, and on to the last one; of single steps that take so long."""
        curve, layers, users, running = self.curve, self.job.shape.layers, self.users, self.running
        outputs = self.job.output_tokens

        def step_s(name: str, sequences: float, floor_s: float) -> float:
            if name not in kernels_s:
                return 0.0
            device_s = kernels_s[name] + layers * curve.layer_s
            return max(device_s, floor_s) + sequences * curve.sequence_s

        eager_s = layers * curve.eager_layer_s
        token_s = step_s("decode", running, 0.0)
        outside_s = curve.first_token_s if "prefill" in kernels_s else 0.0
        if not self.is_beside:
            prompts_s = step_s("prefill", self.taken, eager_s)
            groups = max(running / self.taken, 1.0)
            tokens_s = sum(token_s for _ in range(outputs - 1))
            first_s = (groups + 1) / 2 * prompts_s + (users / running - 1) * (groups * prompts_s + tokens_s)
            return outside_s + first_s, tokens_s + (groups - 1) / 2 * prompts_s
        prompt_s = step_s("prefill", running, eager_s)
        answer_s = sum(prompt_s if k < running else token_s for k in range(1, outputs))
        missed_s = min(curve.missed_steps, users - 1) * prompt_s
        turn_s = prompt_s + answer_s
        first_s = max(missed_s + prompt_s, users / running * turn_s - answer_s)
        if self.job.requests_per_user:
            run = self.job.requests_per_user
            start_s = step_s("start", 1 + (running - 1) / 3, eager_s)
            mean_s = (users / running - 1) / 2 * turn_s + sum(k * start_s for k in range(1, running + 1)) / running
            first_s = first_s * (1 - 1 / run) + mean_s / run
            answer_s -= (running - 1) * (prompt_s - token_s) / 2 / run
        return outside_s + first_s, answer_s


def inference_steps(job: Any, choice: dict[str, int], device: Any, calibrations: Any = None) -> Served:
    c, shape = SimpleNamespace(**choice), job.shape
    curve, _ = serving_curve(device, job.backend, model_name(shape), calibrations)
    kv = job.kv_precision or (job.precision if curve.kv_follows_weights else "bf16")
    users = -(-job.concurrency // c.data)
    rank = Rank(shape, c.tensor, c.expert, 0, 0, BYTES[job.precision], BYTES[job.activation_precision])
    layer = BYTES[job.precision] * (rank.whole_parameters() + rank.expert_parameters())
    vocabularies = 1 if shape.tied_embeddings else 2
    held = shape.layers * layer + 2 * vocabularies * shape.vocabulary * shape.hidden / c.tensor + curve.runtime_bytes
    token = shape.layers * 2 * BYTES[kv] * rank.keys
    engine = admission.MEMORY_SHARE * device.capacity_bytes
    room = (engine - held) / token / (job.input_tokens + curve.reserved_share * job.output_tokens)
    running = min(users, max(round(room), 1) if room > 0 else 1, job.max_batch or users)
    is_static = job.batching == "static"
    is_beside = not is_static and not curve.prefill_tokens
    if is_beside:
        running = min(running, job.output_tokens)
    taken = running if is_static else min(running, max(curve.prefill_tokens // job.input_tokens, 1))
    other = running - 1 if is_beside else 0
    mixes = {"decode": (running, 0), "prefill": (other, taken)} | ({"start": (other / 3, taken)} if is_beside else {})
    steps = {name: _step(job, c, kv, *mix) for name, mix in mixes.items()}
    cached = token * running * (job.input_tokens + job.output_tokens)
    for step in steps.values():
        step.memory.footprint_bytes = max(min(held + cached, engine), held)
    given = users / (running * job.output_tokens)
    often = {"decode": given * (job.output_tokens - 1), "prefill": given * max(running / taken, 1.0)}
    if is_beside:
        often = {"decode": given * (job.output_tokens - running), "prefill": given * running, "start": 0.0}
    return Served(job, curve, users, running, taken, is_beside, steps, often)


def _step(job: Any, c: Any, kv: str, running: float, prompts: float) -> Step:
    """All kernels and messages of one pass with some running requests and some prompts."""
    shape, step, inputs = job.shape, Step(), job.input_tokens
    tokens = running + prompts * job.input_tokens
    rank = Rank(shape, c.tensor, c.expert, tokens, tokens, BYTES[job.precision], BYTES[job.activation_precision])
    context = job.input_tokens + job.output_tokens / 2
    seen = job.input_tokens / 2 if shape.causal else job.input_tokens
    cores = []
    tokens_of, prompts_of = (running, 1, context, context, context), (prompts, inputs, 0, seen, inputs)
    for batch, new, cached, each, read in (tokens_of, prompts_of):
        if batch:
            in_bf16 = job.precision == "fp8" and kv != "fp8"
            moved = batch * read * 2 * rank.keys * BYTES[kv] + 2 * rank.activation * batch * new * rank.query
            sizes = (batch, new, cached, shape.heads / c.tensor, rank.keys / shape.head_dim)
            cores.append(
                Run(
                    "attention", 4 * batch * new * each * rank.query, moved,
                    precision="bf16" if in_bf16 else job.precision,
                    attention=(*sizes, shape.head_dim, kv, shape.causal),
                )
            )  # fmt: skip
    runs, sends = [*rank.layer(), *cores] * shape.layers, rank.layer_sends(2) * shape.layers
    precision = "bf16" if job.precision == "fp8" else job.precision
    runs.append(rank.matrix(running + prompts, shape.hidden, shape.vocabulary / c.tensor, 1, 2, precision))
    step.every_stage.add(runs, [Send(s.dimension, s.message_bytes, s.times) for s in sends])
    return step

"""One accelerator's steps of serving written out: every kernel and message, layer by layer, and a request's life."""

from dataclasses import dataclass, replace
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
    parts: float
    """steps that a prompt takes"""
    gain: float
    """tokens that a step gives a request"""
    steps: dict[str, Step]
    often: dict[str, float]

    def total(self, column: str) -> float:
        return sum(self.often[name] * step.total(column) for name, step in self.steps.items())

    def sent_bytes(self, dimension: str) -> float:
        return sum(self.often[name] * step.sent_bytes(dimension) for name, step in self.steps.items())

    @property
    def footprint_bytes(self) -> float:
        return self.steps["decode"].memory.footprint_bytes

    @property
    def footprints(self) -> dict[str, float]:
        away_bytes = self.steps["decode"].memory.tier_footprint_bytes
        return {"footprint_bytes": self.footprint_bytes, "tier_footprint_bytes": away_bytes}

    def request_s(self, kernels_s: dict[str, float]) -> tuple[float, float]:
        """From a prompt to its first token, and on to the last one; of single steps that take so long."""
        curve, layers, users, running = self.curve, self.job.shape.layers, self.users, self.running
        further, parts, gain = (self.job.output_tokens - 1) / self.gain, self.parts, self.gain
        if self.job.speculation:
            guess = self.job.speculation
            of_draft = guess.draft_shape.layers if guess.draft_model else guess.draft_cost * layers
            layers += sum(of_draft for _ in range(guess.tokens))

        def step_s(name: str, sequences: float, floor_s: float) -> float:
            if name not in kernels_s:
                return 0.0
            device_s = kernels_s[name] + layers * curve.layer_s
            return max(device_s, floor_s) + sequences * curve.sequence_s

        eager_s = layers * curve.eager_layer_s
        token_s = step_s("decode", running * gain, 0.0)
        outside_s = curve.first_token_s if "prefill" in kernels_s else 0.0
        if not self.is_beside:
            prompts_s = step_s("prefill", self.taken, eager_s)
            groups = max(running / self.taken, 1.0)
            tokens_s = further * token_s
            first_s = (groups + 1) / 2 * prompts_s + (users / running - 1) * (groups * prompts_s + tokens_s)
            return outside_s + first_s, tokens_s + (groups - 1) / 2 * prompts_s
        part_s = step_s("prefill", (running - 1) * gain + 1 / parts, eager_s)
        with_others = (running - 1) * parts
        answer_s = with_others * part_s + (further - with_others) * token_s
        missed_s = min(curve.missed_steps, users - 1) * part_s
        turn_s = parts * part_s + answer_s
        first_s = max(missed_s + parts * part_s, users / running * turn_s - answer_s)
        if self.job.requests_per_user:
            run = self.job.requests_per_user
            start_s = parts * step_s("start", 1 / parts + (running - 1) * gain / 3, eager_s)
            mean_s = (users / running - 1) / 2 * turn_s + (running + 1) / 2 * start_s
            first_s = first_s * (1 - 1 / run) + mean_s / run
            answer_s -= with_others * (part_s - token_s) / 2 / run
        return outside_s + first_s, answer_s


def inference_steps(job: Any, choice: dict[str, int], device: Any, calibrations: Any = None) -> Served:
    c, shape = SimpleNamespace(**choice), job.shape
    curve, _ = serving_curve(device, job.backend, model_name(shape), calibrations)
    kv = job.kv_precision or (job.precision if curve.kv_follows_weights else "bf16")
    users = -(-job.concurrency // c.data)
    asks = _Asks.of(job)
    held, token = curve.runtime_bytes, 0.0
    for each, share, tensor, expert in ((shape, 1, c.tensor, c.expert), *asks.draft(shape, c)):
        rank = Rank(each, tensor, expert, 0, 0, BYTES[job.precision], BYTES[job.activation_precision])
        layer = BYTES[job.precision] * (rank.whole_parameters() + rank.expert_parameters())
        vocabularies = 1 if each.tied_embeddings else 2
        held += share * (each.layers * layer + 2 * vocabularies * each.vocabulary * each.hidden / tensor)
        token += share * each.layers * 2 * BYTES[kv] * rank.keys
    engine = admission.MEMORY_SHARE * device.capacity_bytes
    away = _Away.of(job, c, layer, token)
    held, near = held - away.left_bytes(away.weight_bytes), token - away.left_bytes(away.token_bytes)
    is_static = job.batching == "static"
    tokens_each = asks.new + (1 if is_static else curve.reserved_share) * job.output_tokens
    memories = [(engine - held, near)]
    if away.token_bytes:
        memories.append((device.offload.capacity_bytes - away.weight_bytes, away.token_bytes))
    room = min((free / each - asks.known) / tokens_each for free, each in memories)
    whole = int(room + 1e-9) if is_static else round(room)
    running = min(users, max(whole, 1) if room > 0 else 1, job.max_batch or users)
    is_beside = not is_static and bool(job.chunk or not curve.prefill_tokens)
    if is_beside:
        running = asks.most_in_step(running)
    taken = running if is_static else min(running, max(curve.prefill_tokens // job.input_tokens, 1))
    taken = 1 if is_beside else taken
    parts = asks.parts(running)
    other = running - 1 if is_beside else 0
    mixes = {"decode": (running, 0), "prefill": (other, taken)} | ({"start": (other / 3, taken)} if is_beside else {})
    steps = {name: _step(job, c, kv, asks, parts, *mix) for name, mix in mixes.items()}
    cached_tokens = running * (asks.new + job.output_tokens) + asks.known
    for name, step in steps.items():
        step.memory.footprint_bytes = max(min(held + near * cached_tokens, engine), held)
        step.memory.tier_footprint_bytes = away.weight_bytes + away.token_bytes * cached_tokens
        step.memory.tier_bytes = away.moved_bytes(asks, parts, *mixes[name])
    given = users / (running * job.output_tokens)
    often = {"decode": given * asks.further, "prefill": given * max(running / taken, 1.0)}
    if is_beside:
        with_prompts = running * parts
        often = {"decode": given * (parts + asks.further - with_prompts), "prefill": given * with_prompts, "start": 0.0}
    return Served(job, curve, users, running, taken, is_beside, parts, asks.gain, steps, often)


@dataclass
class _Away:
    """What a rank keeps in a second tier: of its layers' weights, and of each token in the cache."""

    job: Any
    weight_bytes: float
    token_bytes: float

    @classmethod
    def of(cls, job: Any, c: Any, layer_bytes: float, token_bytes: float) -> "_Away":
        """Eighths of weights are the fourth to seventh bit of the choice, those of the cache the four after them."""
        weights, cache = c.offload // 8 % 16, c.offload // 128 % 16
        return cls(job, weights / 8 * job.shape.layers * layer_bytes, cache / 8 * token_bytes)

    def left_bytes(self, size: float) -> float:
        """Of what is away, all but two layers leave local memory."""
        return size * max(1 - 2 / self.job.shape.layers, 0)

    def moved_bytes(self, asks: "_Asks", parts: float, running: float, prompts: float) -> float:
        """All weights that are away, and of the cache what a step reads and writes, a shared prefix once."""
        seen = asks.new + self.job.output_tokens / 2
        read = asks.known + running * seen + prompts * (asks.new - asks.new / parts) / 2
        return self.weight_bytes + self.token_bytes * (read + running * asks.each + prompts * asks.new / parts)


@dataclass
class _Asks:
    """What a job says of prompts and guesses, in numbers."""

    job: Any
    new: float
    """tokens of a prompt that are computed"""
    each: int
    """tokens of a running request in a step"""
    gain: float
    """of these, the ones that count"""

    @classmethod
    def of(cls, job: Any) -> "_Asks":
        new = max(job.input_tokens - job.prefix_hit * job.input_tokens, 1)
        guesses, right = (job.speculation.tokens, job.speculation.acceptance) if job.speculation else (0, 0.0)
        gain, chance = 1.0, 1.0
        for _ in range(guesses):
            chance *= right
            gain += chance
        return cls(job, new, 1 + guesses, gain)

    @property
    def known(self) -> float:
        return self.job.input_tokens - self.new

    @property
    def further(self) -> float:
        """Steps after the first token."""
        return (self.job.output_tokens - 1) / self.gain

    def parts(self, running: float) -> float:
        return max(self.new / (self.job.chunk - (running - 1) * self.each), 1.0) if self.job.chunk else 1.0

    def most_in_step(self, running: float) -> float:
        """By halving: as many as have all others' prompts beside their further steps."""

        def suits(number: float) -> bool:
            left = self.job.chunk - (number - 1) * self.each if self.job.chunk else 1.0
            return left > 0 and (number - 1) * self.parts(number) <= self.further

        if suits(running):
            return running
        low, high = 1.0, float(running)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if suits(middle) else (low, middle)
        return low

    def draft(self, shape: Any, c: Any) -> list[tuple[Any, float, int, int]]:
        """Shape, share of it, and ranks."""
        said = self.job.speculation
        if said is None or (said.draft_model is None and not said.draft_cost):
            return []
        if said.draft_model is None:
            return [(shape, said.draft_cost, c.tensor, c.expert)]
        own, t = said.draft_shape, c.tensor
        divides = own.heads % t == 0 and (own.kv_heads % t == 0 or t % own.kv_heads == 0)
        return [(own, 1, t if divides else 1, 1)]


def _step(job: Any, c: Any, kv: str, asks: _Asks, parts: float, running: float, prompts: float) -> Step:
    """All kernels and messages of one step with some running requests and some prompts, and those of a draft."""
    step = Step()
    passes = [(job.shape, 1.0, c.tensor, c.expert, asks.each, running, prompts)]
    for shape, share, tensor, expert in asks.draft(job.shape, c):
        guesses = job.speculation.tokens
        passes += [(shape, share, tensor, expert, 1, running, 0)] * (guesses if running else 0)
        passes += [(shape, share, tensor, expert, 1, 0, prompts)] * (1 if prompts else 0)
    for shape, share, tensor, expert, each, of_running, of_prompts in passes:
        rows = _pass(job, shape, tensor, expert, kv, asks, parts, each, of_running, of_prompts)
        runs = [replace(run, times=share * run.times) for run in rows[0]]
        step.every_stage.add(runs, [Send(s.dimension, s.message_bytes, share * s.times) for s in rows[1]])
    return step


def _pass(
    job: Any, shape: Any, tensor: int, expert: int, kv: str, asks: _Asks, parts: float, each: int, running: float,
    prompts: float,
) -> tuple[list[Run], list[Send]]:  # fmt: skip
    """One run of all layers, and the projection on the vocabulary."""
    inputs = asks.new / parts
    before = asks.known + (asks.new - inputs) / 2
    tokens = running * each + prompts * inputs
    rank = Rank(shape, tensor, expert, tokens, tokens, BYTES[job.precision], BYTES[job.activation_precision])
    context = job.input_tokens + job.output_tokens / 2
    seen = before + ((inputs + 1) / 2 if shape.causal else inputs)
    cores = []
    tokens_of = running, each, context, context, context, 1, each
    prompts_of = prompts, inputs, before, seen, before + inputs, inputs, 1
    for batch, new, cached, pairs, read, rows, heads in (tokens_of, prompts_of):
        if batch:
            in_bf16 = job.precision == "fp8" and kv != "fp8"
            moved = batch * read * 2 * rank.keys * BYTES[kv] + 2 * rank.activation * batch * new * rank.query
            sizes = (batch, rows, cached, heads * shape.heads / tensor, rank.keys / shape.head_dim)
            cores.append(
                Run(
                    "attention", 4 * batch * new * pairs * rank.query, moved,
                    precision="bf16" if in_bf16 else job.precision,
                    attention=(*sizes, shape.head_dim, kv, shape.causal),
                )
            )  # fmt: skip
    dispatched = None if prompts else min(rank.weight, rank.activation)
    runs, sends = [*rank.layer(), *cores] * shape.layers, rank.layer_sends(2, dispatched) * shape.layers
    precision = "bf16" if job.precision == "fp8" else job.precision
    runs.append(rank.matrix(running * each + prompts, shape.hidden, shape.vocabulary / tensor, 1, 2, precision))
    return runs, sends

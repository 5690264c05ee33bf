"""The method of SiPAM in plain numbers: one rank of one mapping at a time, closed forms, no shared code."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

MODELS = {
    "126M": (12, 768, 16, 48, 3072),
    "5B": (24, 4096, 32, 128, 16384),
    "13B": (40, 5140, 40, 128, 20560),
    "22B": (48, 6144, 64, 96, 24576),
    "175B": (96, 12288, 96, 128, 49152),
    "530B": (105, 20480, 128, 160, 81920),
    "1T": (128, 25600, 160, 160, 102400),
}
"""layers, hidden, heads, width of a head, width of the feed-forward network"""


class Split(NamedTuple):
    tensor: int
    pipeline: int
    data: int


@dataclass(frozen=True)
class Asked:
    """Of one accelerator and step."""

    flops: float
    moved: float
    footprint: float
    idle: float

    def step(self, flops_per_s: float, bytes_per_s: float) -> float:
        return (1 + self.idle) * max(self.flops / flops_per_s, self.moved / bytes_per_s)


def asked(model: str, phase: str, split: Split, *, sequence: int = 2048, batch: int = 8, micro: int = 8) -> Asked:
    """Sums over the kernels of a layer, each input, weight and output crossing memory once."""
    layers, h, heads, head_dim, f = MODELS[model]
    t, q = split.tensor, heads * head_dim
    tokens = micro * sequence
    act, scores = tokens * h, micro * sequence * sequence * heads / t
    weights = (4 * h * q + 2 * h * f) / t
    in_and_out = 4 * act + 4 * tokens * q / t + 2 * act + 2 * tokens * f / t
    products = 4 * tokens * sequence * q / t
    forward = 2 * tokens * weights + products + (18 + 2 + 2) * act / t + 8 * tokens * f / t + 6 * scores
    moved_matrices = 2 * (weights + in_and_out)
    moved_products = 2 * (4 * tokens * q / t + 2 * scores)
    moved_scores = 4 * scores + 5 * scores
    moved_around = (2 * 5 + 2 * 6) * act / t + 4 * tokens * f / t
    moved_norms = 2 * 2 * (2 * act / t + 2 * h)
    moved = moved_matrices + moved_products + moved_scores + moved_around + moved_norms
    backward = 4 * tokens * weights + 2 * products + (42 + 2 + 4 + 4) * act / t + 3 * act
    backward += 13 * tokens * f / t + 9 * scores
    moved_back = 2 * moved_matrices + moved_products + moved_scores + moved_around + 2 * moved_norms
    moved_back += 2 * 3 * 2 * act / t + 2 * 4 * act
    kept = (4 + 2) * act / t + 4 * act + 8 * tokens * q / t + 4 * tokens * f / t + 5 * scores
    gradients = 2 * (4 * tokens * q / t + act + 2 * tokens * f / t + act) + (4 + 4 + 4) * act / t + 6 * scores
    own_layers = layers / split.pipeline
    micro_batches = batch // (split.data * micro)
    parameters = own_layers * (weights + 4 * h)
    idle = (split.pipeline - 1) / micro_batches
    runs = own_layers * micro_batches
    if phase == "inference":
        return Asked(runs * forward, runs * moved, 2 * parameters + kept, idle)
    in_flight = own_layers * min(split.pipeline, micro_batches)
    return Asked(
        flops=runs * (forward + backward) + 11 * parameters,
        moved=runs * (moved + moved_back) + 12 * parameters,
        footprint=16 * parameters + in_flight * kept + gradients,
        idle=idle,
    )


def splits(model: str, number: int, *, batch: int = 8, micro: int = 8) -> list[Split]:
    """Every product of degrees: whole heads, whole layers, whole micro-batches."""
    layers, _, heads, _, _ = MODELS[model]
    return [
        Split(t, p, number // (t * p))
        for t in range(1, 33)
        for p in range(1, layers + 1)
        if heads % t == 0 and layers % p == 0 and number % (t * p) == 0
        if batch % (number // (t * p) * micro) == 0
    ]


def loop(
    model: str, phase: str, io_bytes_per_s: Fraction, *, num_io: int = 12, rounds: int = 32
) -> list[tuple[int, int, int, int, float]]:
    """Units, I/Os, accelerators asked for and taken, and the next intensity, by round."""
    peak, unit_rate, unit_bytes = 10**15, 600 * 10**9, 16 * 10**9
    most = math.floor(num_io * io_bytes_per_s / unit_rate)
    here = asked(model, phase, Split(1, 1, 1))
    size = 1
    found: list[tuple[int, int, int, int, float]] = []
    seen = [(1, 1, 1)]
    for _ in range(rounds):
        units = min(max(math.ceil(peak * here.moved / here.flops / unit_rate), 1), most)
        io = math.ceil(units * unit_rate / io_bytes_per_s)
        wanted = math.ceil(here.footprint * size / (units * unit_bytes))
        size = wanted
        while not (ways := splits(model, size)):
            size += 1
        best = min(
            ways,
            key=lambda way: (
                max(asked(model, phase, way).footprint - units * unit_bytes, 0),
                asked(model, phase, way).step(peak, units * unit_rate),
                asked(model, phase, way).footprint,
            ),
        )
        here = asked(model, phase, best)
        found.append((units, io, wanted, size, here.flops / here.moved))
        if tuple(best) in seen:
            break
        seen.append(tuple(best))
    return found

"""Search for the numbers of all backends on one device: overheads by least squares, ways of scheduling by trial."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median

import numpy as np

from costmodel.calibrate.family import Floats
from costmodel.calibrate.serving_rows import Pair
from costmodel.pricing.calibration import Calibration, Calibrations, Numbers, load_calibrations
from costmodel.serving.backends import FAMILY, GENERIC, SETTINGS

SHARED = {"matrix_slowdown": (1.1, 0.5, 3.0), "layer_s": (15e-6, 0.0, 1e-3)}
"""number -> first value and bounds, of those that all backends of a device have in common"""
OWN = {
    "fp8_efficiency": (0.8, 0.2, 1.0),
    "sequence_s": (25e-6, 0.0, 1e-3),
    "eager_layer_s": (0.5e-3, 0.0, 2e-3),
    "first_token_s": (15e-3, 0.0, 1.0),
}
"""the same, of those that each backend has for itself"""
PREFILL_TOKENS = (0, 16384)
"""ways of scheduling that are tried, the usual one first; those of a backend with SETTINGS are not"""
HOLDS: Numbers = {"held_requests": 1.0}
"""what is tried of each pair: that it runs a request fewer than there are users"""
FEW_ROWS: dict[str, Numbers] = {"sglang": {"runtime_bytes": 10e9}}
"""what few rows bear on, set by hand: six rows of H100 at the limit of memory"""
MIN_FP8_ROWS = 5
"""of a backend, to fit its efficiency in fp8"""
WORTH = 1.1
"""a pair departs from the usual way where that lowers its loss by this factor"""
FIRST_TOKEN_WEIGHT = 0.4
"""of an error of the time to first token beside one of the time per output token"""
ROBUST_BEYOND = 0.05
"""relative error from which a row weighs less"""
STEP, MAX_STEPS = 0.02, 8
"""of a number, in units of its first value, to see what it moves; and steps of the search"""
LEAST_GAIN = 1e-3
"""share of the loss by which a step lowers it, or it is the last"""
NOTHING = 1e-6
"""what is left of a number, in units of its first value, when the search drives it to 0"""


@dataclass(frozen=True)
class Term:
    """A part of the model, and what takes its place without it."""

    name: str
    fixed: Numbers = field(default_factory=dict)
    """numbers that are neither fitted nor tried"""


FULL = Term("")
TERMS = (
    Term("slowdown of matrix products", {"matrix_slowdown": 1.0}),
    Term("gaps of layers", {"layer_s": 0.0}),
    Term("efficiency of fp8", {"fp8_efficiency": 1.0}),
    Term("time of a token", {"sequence_s": 0.0}),
    Term("launches without a graph", {"eager_layer_s": 0.0}),
    Term("time outside the engine", {"first_token_s": 0.0}),
    Term("steps that prompts miss", {"missed_steps": 0.0}),
    Term("prompts first", {"prefill_tokens": 0.0}),
    Term("held requests", {"held_requests": 0.0}),
    Term("precision of the cache", {"kv_follows_weights": 0.0}),
    Term("reserved memory", {"reserved_share": 0.5}),
)


@dataclass
class Fitted:
    """Numbers of a device so far."""

    term: Term
    shared: Numbers
    own: dict[str, Numbers]
    """by backend"""
    of_pair: dict[str, Numbers]
    """by pair, what differs from the backend's"""

    @property
    def num_parameters(self) -> int:
        """Numbers that were fitted or tried."""
        parts = (self.shared, *self.own.values(), *self.of_pair.values())
        return sum(name not in self.term.fixed for part in parts for name in part)

    def decided(self, variant: str) -> tuple[str, ...]:
        """Names of the numbers that rows decided, of a backend or a pair."""
        own = self.of_pair[variant] if variant in self.of_pair else {**self.shared, **self.own[variant]}
        told = {**self.term.fixed, **SETTINGS.get(variant, {}), **FEW_ROWS.get(variant, {})}
        return tuple(name for name in own if name not in told)

    def curves(self) -> dict[str, Numbers]:
        """Those of backends, of pairs, and the backend in their midst, for software that was not measured."""
        backends = {name: {**self.shared, **own, **self.term.fixed} for name, own in self.own.items()}
        each = [{name: numbers[name] for name in OWN if name in numbers} for numbers in backends.values()]
        known = {name: [numbers[name] for numbers in each if name in numbers] for name in OWN}
        midst = {name: median(values) for name, values in known.items() if values}
        return {**backends, **self.of_pair, GENERIC: {**self.shared, **midst}}

    def calibrations(self, device: str) -> Calibrations:
        """The catalog's, with these numbers before them."""
        own = Calibration(device=device, families={FAMILY: self.curves()}, source="a trial")
        return own, *load_calibrations()

    def residuals(self, pair: Pair) -> tuple[Floats, Floats]:
        """log(predicted / measured) of the times to first token and per output token."""
        served = pair.serve(self.calibrations(pair.device.name))
        return np.log(1e3 * served.first_token_s / pair.first_ms), np.log(1e3 * served.token_s / pair.token_ms)

    def weighted(self, pair: Pair) -> Floats:
        first, token = self.residuals(pair)
        return np.concatenate([FIRST_TOKEN_WEIGHT * first, token])

    def loss(self, own: Iterable[Pair]) -> float:
        errors = np.concatenate([self.weighted(pair) for pair in own])
        return float((np.sqrt(1.0 + (errors / ROBUST_BEYOND) ** 2) - 1.0).sum())

    def with_numbers(self, unknowns: Sequence[tuple[str, str]], values: Floats) -> "Fitted":
        """A copy with other values of numbers, each named by its backend ("" where shared) and its name."""
        shared, own = dict(self.shared), {backend: dict(numbers) for backend, numbers in self.own.items()}
        for (backend, name), value in zip(unknowns, values.tolist(), strict=True):
            (own[backend] if backend else shared)[name] = value
        return Fitted(self.term, shared, own, self.of_pair)


def fit_device(own: Sequence[Pair], term: Term) -> Fitted:
    """Ways of scheduling are tried at first values and again at fitted ones."""
    backends = sorted({pair.backend for pair in own})
    start = {name: first for name, (first, _, _) in OWN.items()}
    fitted = Fitted(
        term,
        {name: first for name, (first, _, _) in SHARED.items()},
        {
            name: {**_concerned(start, own, name), **SETTINGS.get(name, {}), **FEW_ROWS.get(name, {})}
            for name in backends
        },
        {},
    )
    _try_ways(fitted, own)
    _drop_unmoved(fitted, own)
    fitted = _least_squares(fitted, own)
    first = _ways(fitted)
    _try_ways(fitted, own)
    return fitted if _ways(fitted) == first else _least_squares(fitted, own)


def _ways(fitted: Fitted) -> tuple[dict[str, Numbers], Numbers]:
    return dict(fitted.of_pair), {backend: numbers["prefill_tokens"] for backend, numbers in fitted.own.items()}


def _concerned(start: Numbers, own: Sequence[Pair], backend: str) -> Numbers:
    """Numbers that rows of the backend bear on: one of fp8 needs such rows."""
    num_fp8 = sum(len(pair.loads) for pair in own if pair.backend == backend and pair.precision == "fp8")
    return {name: value for name, value in start.items() if num_fp8 >= MIN_FP8_ROWS or name != "fp8_efficiency"}


def _drop_unmoved(fitted: Fitted, own: Sequence[Pair]) -> None:
    """A number on which no row of its backend bears is not fitted: any value would do, and its default stands."""
    for backend, numbers in fitted.own.items():
        rows = [pair for pair in own if pair.backend == backend]
        before = [fitted.weighted(pair) for pair in rows]
        for name in OWN.keys() & numbers.keys() - fitted.term.fixed.keys():
            _, lower, _ = OWN[name]
            there = fitted.with_numbers([(backend, name)], np.array([lower]))
            if all(np.array_equal(there.weighted(pair), old) for pair, old in zip(rows, before, strict=True)):
                del numbers[name]


def _try_ways(fitted: Fitted, own: Sequence[Pair]) -> None:
    """Set the way of scheduling of each backend, and where a pair departs from it."""
    for backend, numbers in fitted.own.items():
        of_backend = [pair for pair in own if pair.backend == backend]
        if backend not in SETTINGS:
            losses = []
            for tokens in PREFILL_TOKENS:
                numbers["prefill_tokens"] = float(tokens)
                losses.append(_try_pairs(fitted, of_backend))
            numbers["prefill_tokens"] = float(PREFILL_TOKENS[int(np.argmin(losses))])
        _try_pairs(fitted, of_backend)


def _try_pairs(fitted: Fitted, of_backend: Sequence[Pair]) -> float:
    """Set what pairs have of their own; the sum of their losses."""
    total = 0.0
    for variant in sorted({pair.variant for pair in of_backend}):
        own = [pair for pair in of_backend if pair.variant == variant]
        fitted.of_pair[variant] = {}
        usual = fitted.loss(own)
        fitted.of_pair[variant] = dict(HOLDS)
        held = fitted.loss(own)
        if held * WORTH < usual:
            total += held
        else:
            fitted.of_pair[variant], total = {}, total + usual
    return total


def _least_squares(fitted: Fitted, own: Sequence[Pair]) -> Fitted:
    """Robust least squares in units of each number's upper bound; a number moves only the rows that it concerns."""
    from scipy.optimize import least_squares

    fixed = fitted.term.fixed
    unknowns = [("", name) for name in SHARED if name not in fixed]
    unknowns += [(of, name) for of, numbers in fitted.own.items() for name in OWN if name in numbers.keys() - fixed]
    start, lower, upper = np.array([{**SHARED, **OWN}[name] for _, name in unknowns]).T
    first = [fitted.own[of][name] if of else fitted.shared[name] for of, name in unknowns]

    def at(x: Floats) -> Fitted:
        return fitted.with_numbers(unknowns, np.clip(np.where(x < NOTHING, 0.0, x * start), lower, upper))

    @lru_cache(maxsize=1)
    def of_pairs(place: bytes) -> list[Floats]:
        return [at(np.frombuffer(place)).weighted(pair) for pair in own]

    def residuals(x: Floats) -> Floats:
        return np.concatenate(of_pairs(x.tobytes()))

    def jacobian(x: Floats) -> Floats:
        columns = []
        for number, (backend, _) in enumerate(unknowns):
            step = -STEP if (x[number] + STEP) * start[number] > upper[number] else STEP
            there = at(x + step * (np.arange(len(x)) == number))
            columns.append(
                np.concatenate(
                    [
                        (there.weighted(pair) - old) / step if backend in ("", pair.backend) else np.zeros(len(old))
                        for pair, old in zip(own, of_pairs(x.tobytes()), strict=True)
                    ]
                )
            )
        return np.stack(columns, axis=1)

    found = least_squares(
        residuals, np.array(first) / start, jacobian, bounds=(lower / start, upper / start), loss="soft_l1",
        f_scale=ROBUST_BEYOND, ftol=LEAST_GAIN, max_nfev=MAX_STEPS,
    )  # fmt: skip
    return at(found.x)

"""Software that serves: its overheads and its way of scheduling, in at most twelve numbers a backend."""

from functools import cache

from pydantic import Field

from costmodel.catalog import unknown_name
from costmodel.hardware.device import Device, load_device
from costmodel.pricing.calibration import (
    Calibration,
    FitOrigin,
    Numbers,
    curve_source,
    load_calibrations,
    numbers_of,
)
from costmodel.spec import Bytes, Seconds, Spec

FAMILY = "serving"
GENERIC = "generic"
"""a backend of typical overheads, of no particular software"""


SETTINGS: dict[str, Numbers] = {
    "trtllm": {"prefill_tokens": 0.0, "kv_follows_weights": 1.0, "reserved_share": 1.0},
    "vllm": {"prefill_tokens": 0.0},
    "sglang": {"prefill_tokens": 16384.0},
}
"""what documentation says of a backend's way, as keys of its curve; nothing of it is fitted. TensorRT-LLM starts a
request that it need not evict, and its fp8 checkpoints quantize the cache; it and vLLM run prompts beside the running
requests. SGLang runs prompts first, unless told otherwise (`enable_mixed_chunk`), of `max_prefill_tokens` in all"""


class ServingCurve(Spec):
    """Numbers of one backend on one device; the defaults, for a backend without a calibration, are typical ones.

    Curves are named "backend", and "backend/model" where a pair was seen: this one holds what differs from the
    backend's own numbers.
    """

    matrix_slowdown: float = Field(default=1.06, gt=0)
    """time of a matrix product in an engine over that of the kernel back to back: clocks under sustained load"""
    layer_s: Seconds = 17e-6
    """of each layer, whatever the step does: small kernels and gaps"""
    fp8_efficiency: float = Field(default=0.88, gt=0, le=1)
    """share of the kernel's matrix efficiency that fp8 products reach, quantization and scales included"""
    sequence_s: Seconds = 22e-6
    """of each token that a step yields: sampling, scheduling, turning into text, sending"""
    eager_layer_s: Seconds = 0.5e-3
    """least time of a layer in a step with prompts, whose kernels are launched one by one instead of as a graph"""
    first_token_s: Seconds = 15e-3
    """added to the first token, outside the engine: reading the prompt, sending the answer"""
    missed_steps: float = Field(default=2.0, ge=0)
    """steps of other requests from the last token of an answer until the user's next prompt may start, where all
    lengths are equal; not fitted"""
    prefill_tokens: int = Field(default=0, ge=0)
    """0: one prompt a step, beside the running requests; else steps of prompts alone, of so many tokens, go first"""
    held_requests: int = Field(default=0, ge=0)
    """users beyond the requests that the backend was set to run at once where it was measured; a job states `max_batch`
    instead"""
    reserved_share: float = Field(default=0.3, ge=0, le=1)
    """of an answer's tokens for which there must be memory when the request starts: 1 never evicts"""
    runtime_bytes: Bytes = 2e9
    """memory of the runtime beside weights and KV cache"""
    kv_follows_weights: bool = False
    """whether the cache has the weights' precision unless it is told otherwise"""


def serving_curve(
    device: Device, backend: str, model: str, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[ServingCurve, bool]:
    """Numbers of a backend that runs a model, and whether this pair was fitted on this very device.

    A pair without numbers takes those of the backend, a backend without numbers the defaults; either may come from
    a device of the same architecture, and those of a backend that was fitted on neither from where it was: software
    is much the same everywhere. A backend that was never fitted has those of the generic one, and its own settings.
    """
    own, _ = numbers_of(device, FAMILY, backend, calibrations)
    pair, is_fitted_here = numbers_of(device, FAMILY, variant_of(backend, model), calibrations)
    numbers = own or _elsewhere(backend, calibrations) or _by_settings(backend, calibrations)
    return ServingCurve.model_validate({**_by_name(numbers), **_by_name(pair)}), is_fitted_here


def serving_source(device: Device, backend: str, model: str) -> tuple[str, FitOrigin | None]:
    """Device on which the numbers of a backend that runs a model were fitted, and what decided them; "" where none."""
    elsewhere = [part.device for part in load_calibrations() if part.variant(FAMILY, backend) is not None][:1]
    places = [device, *map(load_device, elsewhere)]
    known = (curve_source(place, FAMILY, name) for place in places for name in (variant_of(backend, model), backend))
    return next((source for source in known if source is not None), ("", None))


@cache
def usual_curve(backend: str) -> ServingCurve:
    """Numbers of a backend whatever it runs on: its way with memory is the same everywhere."""
    return ServingCurve.model_validate(_by_name(_elsewhere(backend, None) or _by_settings(backend, None)))


def _by_settings(backend: str, calibrations: tuple[Calibration, ...] | None) -> Numbers:
    """Of software that was never fitted: typical overheads, and its way as its documentation has it."""
    return {**_by_name(_elsewhere(GENERIC, calibrations)), **SETTINGS.get(backend, {})}


def _elsewhere(backend: str, calibrations: tuple[Calibration, ...] | None) -> Numbers | None:
    """Of the first device that it was fitted on."""
    parts = load_calibrations() if calibrations is None else calibrations
    found = (part.variant(FAMILY, backend) for part in parts)
    return next((numbers for numbers in found if numbers is not None), None)


@cache
def backend_names() -> tuple[str, ...]:
    """The generic one, and those with numbers of their own on some device of the catalog, sorted."""
    variants = {variant for part in load_calibrations() for variant in part.families.get(FAMILY, {})}
    return tuple(sorted({GENERIC, *(variant.partition("/")[0] for variant in variants)}))


def require_backend(name: str) -> str:
    """The name of a backend that was measured; ValueError names the nearest ones where it is unknown."""
    if name not in backend_names():
        raise unknown_name("backend", name, backend_names())
    return name


def variant_of(backend: str, model: str) -> str:
    return f"{backend}/{model}"


def _by_name(numbers: Numbers | None) -> dict[str, float]:
    """Keys with their unit suffix, so that numbers of two files merge."""
    names = {field.alias or name: name for name, field in ServingCurve.model_fields.items()}
    return {names.get(key, key): value for key, value in (numbers or {}).items()}

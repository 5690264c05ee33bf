"""Software that serves: its overheads and its way of scheduling, in at most twelve numbers a backend."""

from functools import cache

from pydantic import Field

from costmodel.catalog import unknown_name
from costmodel.hardware.device import Device
from costmodel.pricing.calibration import Calibration, load_calibrations, numbers_of
from costmodel.spec import Bytes, Seconds, Spec
from costmodel.workloads.transformer.shapes import TransformerShape, load_model, model_names

FAMILY = "serving"


class ServingCurve(Spec):
    """Numbers of one backend on one device; the defaults, for a backend without a calibration, are typical ones.

    Curves are named "backend", and "backend/model" where a pair was seen: this one holds what differs from the
    backend's own numbers.
    """

    matrix_slowdown: float = Field(default=1.16, gt=0)
    """time of a matrix product in an engine over that of the kernel back to back: clocks under sustained load"""
    layer_s: Seconds = 13e-6
    """of each layer, whatever the step does: small kernels and gaps"""
    fp8_efficiency: float = Field(default=0.8, gt=0, le=1)
    """share of the kernel's matrix efficiency that fp8 products reach, quantization and scales included"""
    sequence_s: Seconds = 25e-6
    """of each token that a step yields: sampling, scheduling, turning into text, sending"""
    eager_layer_s: Seconds = 0.3e-3
    """least time of a layer in a step with prompts, whose kernels are launched one by one instead of as a graph"""
    first_token_s: Seconds = 15e-3
    """added to the first token, outside the engine: reading the prompt, sending the answer"""
    turnaround_s: Seconds = 10e-3
    """from the last token of an answer until the scheduler sees the user's next prompt"""
    prefill_tokens: int = Field(default=0, ge=0)
    """0: one prompt a step, beside the running requests; else steps of prompts alone, of so many tokens, go first"""
    held_requests: int = Field(default=0, ge=0)
    """users beyond the requests that the backend runs at once"""
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
    a device of the same architecture.
    """
    own, _ = numbers_of(device, FAMILY, backend, calibrations)
    pair, is_fitted_here = numbers_of(device, FAMILY, variant_of(backend, model), calibrations)
    return ServingCurve.model_validate({**_by_name(own), **_by_name(pair)}), is_fitted_here


@cache
def backend_names() -> tuple[str, ...]:
    """Backends with numbers of their own on some device of the catalog, sorted."""
    variants = {variant for part in load_calibrations() for variant in part.families.get(FAMILY, {})}
    return tuple(sorted({variant.partition("/")[0] for variant in variants}))


def require_backend(name: str) -> str:
    """The name of a backend that was measured; ValueError names the nearest ones where it is unknown."""
    if name not in backend_names():
        raise unknown_name("backend", name, backend_names())
    return name


def variant_of(backend: str, model: str) -> str:
    return f"{backend}/{model}"


@cache
def model_name(shape: TransformerShape) -> str:
    """Name of a shape in the catalog; "" where it has none."""
    return next((name for name in model_names() if load_model(name) == shape), "")


def _by_name(numbers: dict[str, float] | None) -> dict[str, float]:
    """Keys with their unit suffix, so that numbers of two files merge."""
    names = {field.alias or name: name for name, field in ServingCurve.model_fields.items()}
    return {names.get(key, key): value for key, value in (numbers or {}).items()}

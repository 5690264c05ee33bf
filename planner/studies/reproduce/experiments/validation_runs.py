"""How many runs a described validation has: each tensor degree on each device, each batch, two series of lengths."""

from typing import Annotated

from pydantic import Field

from costmodel.spec import Spec

Positive = Annotated[int, Field(ge=1)]


class LengthSeries(Spec):
    """One of input and output is varied, the other held."""

    varied: tuple[Positive, ...] = Field(min_length=1)
    held: Positive


class Inputs(Spec):
    """What the text lists."""

    tensor: dict[str, tuple[Positive, ...]] = Field(min_length=1)
    """degrees by device"""
    batches: tuple[Positive, ...] = Field(min_length=1)
    inputs: LengthSeries
    """tokens in, the output held"""
    outputs: LengthSeries
    """tokens out, the input held"""


def compute(inputs: Inputs) -> dict[str, float]:
    """Runs of all devices and of each; distinct ones, where both series have a request in common."""
    pairs = [(tokens, inputs.inputs.held) for tokens in inputs.inputs.varied]
    pairs += [(inputs.outputs.held, tokens) for tokens in inputs.outputs.varied]
    each = len(inputs.batches) * len(pairs)
    degrees = sum(len(found) for found in inputs.tensor.values())
    runs = {
        "runs": float(degrees * each),
        "distinct runs": float(degrees * len(inputs.batches) * len(set(pairs))),
        "runs with each degree counted once": float(len(set().union(*inputs.tensor.values())) * each),
    }
    return runs | {f"runs on {name}": float(len(found) * each) for name, found in inputs.tensor.items()}

"""How many requests the memory of the ranks holds at once: weights, runtime, and the KV cache of each request."""

import numpy as np
from numpy.typing import ArrayLike

from costmodel.parallelism.mappings import Floats
from costmodel.serving.backends import ServingCurve

MEMORY_SHARE = 0.9
"""of the device's memory that an engine takes, the default of vLLM and TensorRT-LLM"""


def memory_slots(
    free_bytes: ArrayLike,
    token_bytes: ArrayLike,
    input_tokens: Floats | float,
    output_tokens: Floats | float,
    curve: ServingCurve,
) -> Floats:
    """Requests that run at once on average beside what else the memory holds; 0 where not even one fits to its end.

    A request starts when there is memory for its prompt and a share of its answer; the arguments broadcast.
    """
    tokens = np.asarray(free_bytes, np.float64) / np.asarray(token_bytes, np.float64)
    some = np.maximum(np.round(tokens / (input_tokens + curve.reserved_share * output_tokens)), 1.0)
    return np.where(tokens * (1 + 1e-12) < input_tokens + output_tokens, 0.0, some)

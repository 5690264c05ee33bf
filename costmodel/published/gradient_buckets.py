"""All-reduces of gradients in buckets, one after the other, beside or after the backward pass that makes them.

Axes: B sizes of buckets, K buckets of the smallest size. Source: Li et al. 2020 (arXiv:2006.15704), section 3.2.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def buckets_of(gradient_bytes: float, bucket_bytes: Floats) -> Floats:
    """Bytes of each bucket, (B, K), in the order in which they are sent: full ones, the rest, and zeros after it.

    `bucket_bytes` of shape (B,), above 0.
    """
    sizes_bytes = np.asarray(bucket_bytes, np.float64)[:, None]
    if not np.all(sizes_bytes > 0):
        raise ValueError("bucket_bytes: a bucket holds more than 0 bytes; give larger ones")
    numbers = np.arange(np.ceil(gradient_bytes / sizes_bytes.min()))
    return np.clip(gradient_bytes - numbers * sizes_bytes, 0.0, sizes_bytes)


def finish_s(ready_s: Floats, transfer_s: Floats) -> Floats:
    """When the last of K transfers ends, shape (B,): one at a time, in order, each not before it is ready.

    `ready_s` and `transfer_s` broadcast to (B, K). Transfers and the compute beside them do not slow each other.
    """
    done_s = np.cumsum(transfer_s, axis=-1)
    waits_s = ready_s - done_s + transfer_s
    return np.asarray(waits_s.max(axis=-1) + done_s[..., -1])

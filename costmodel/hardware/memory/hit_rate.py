"""Hit rate of a least-recently-used cache in the steady state, for scans and for random access.

Pages are of one size, capacities and footprints counted in pages. Random access is independent from one
request to the next.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
BISECTIONS = 60
"""halvings of the logarithm of a time; 60 leave less than 1e-15 of it"""


def cyclic_scan_hit_rate(capacity_pages: ArrayLike, footprint_pages: ArrayLike) -> Floats:
    """1 where all pages fit, else 0: each page is evicted just before it is read again."""
    return np.where(np.asarray(footprint_pages) <= np.asarray(capacity_pages), 1.0, 0.0)


def uniform_hit_rate(capacity_pages: ArrayLike, footprint_pages: ArrayLike) -> Floats:
    """Share of the pages that fit, where all are read equally often; exact."""
    return np.asarray(np.minimum(1.0, np.asarray(capacity_pages) / np.asarray(footprint_pages)), np.float64)


def working_set_hit_rate(cache_bytes: float, working_set_bytes: ArrayLike, *, at_random: bool) -> Floats:
    """Of a job that keeps reading what it has in memory: from end to end, or evenly at random."""
    rate = uniform_hit_rate if at_random else cyclic_scan_hit_rate
    return rate(cache_bytes, np.maximum(np.asarray(working_set_bytes, np.float64), 1.0))


def zipf_popularity(num_pages: int, exponent: float) -> Floats:
    """Shares of the accesses, of shape (N,): page k has 1 / k^exponent of page 1; 0 is uniform."""
    if num_pages < 1 or exponent < 0:
        raise ValueError(f"num_pages ({num_pages}) must be positive and exponent ({exponent}) not negative")
    weight = np.arange(1, num_pages + 1, dtype=np.float64) ** -exponent
    return np.asarray(weight / weight.sum(), np.float64)


def lru_hit_rate(popularity: Floats, capacity_pages: ArrayLike) -> Floats:
    """Hit rate for each capacity, shape (C,), where page i of (N,) takes the share popularity[i] of accesses.

    Che's approximation: a page stays for a time T that is alike for all, where
    sum_i (1 - exp(-p_i T)) = capacity; the hit rate is sum_i p_i (1 - exp(-p_i T)). Work is C x N a halving.
    Source: Che, Tung and Wang, IEEE J. Sel. Areas Commun. 20(7) (2002).
    """
    shares = np.asarray(popularity, np.float64)
    if shares.ndim != 1 or np.any(shares <= 0) or not np.isclose(shares.sum(), 1.0):
        raise ValueError("popularity: shares of the accesses are positive, in one row, and sum to 1")
    capacity = np.asarray(capacity_pages, np.float64)
    wanted = np.atleast_1d(np.clip(capacity, 0.0, None))
    num_pages = len(shares)
    inner = np.clip(wanted, 1e-6, num_pages - 1e-6)
    low = np.log(inner)
    high = np.log(np.log(num_pages / (num_pages - inner)) / shares.min())
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_short = _kept(shares, middle).sum(axis=-1) < inner
        low, high = np.where(is_short, middle, low), np.where(is_short, high, middle)
    hit = np.minimum(_kept(shares, high) @ shares, 1.0)
    hit = np.where(wanted >= num_pages, 1.0, np.where(wanted <= 0, 0.0, hit))
    return np.asarray(hit.reshape(capacity.shape), np.float64)


def _kept(shares: Floats, log_time: Floats) -> Floats:
    """Probability that each page is in the cache, shape (C, N); C may be several axes."""
    return np.asarray(-np.expm1(-np.exp(log_time)[..., None] * shares), np.float64)

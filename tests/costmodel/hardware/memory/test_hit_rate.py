"""Hit rates against an exact simulation, and their limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.memory.hit_rate import (
    cyclic_scan_hit_rate,
    lru_hit_rate,
    uniform_hit_rate,
    working_set_hit_rate,
    zipf_popularity,
)
from tests.oracles.lru import lru_hits

ACCESSES, WARM = 60_000, 20_000


def simulated(popularity: np.ndarray, capacity: int) -> float:
    rng = np.random.default_rng(7)
    accesses = rng.choice(len(popularity), size=ACCESSES, p=popularity)
    return float(np.mean(lru_hits(accesses.tolist(), capacity)[WARM:]))


@pytest.mark.slow
@given(footprint=st.integers(1, 40), capacity=st.integers(1, 40))
def test_cyclic_scan_is_exact(footprint: int, capacity: int) -> None:
    rounds = 3
    hits = lru_hits(list(range(footprint)) * rounds, capacity)[footprint:]
    assert cyclic_scan_hit_rate(capacity, footprint) == np.mean(hits)


def test_a_scan_one_page_too_large_never_hits() -> None:
    np.testing.assert_array_equal(cyclic_scan_hit_rate([99, 100, 101], 100), [0.0, 1.0, 1.0])


@pytest.mark.parametrize("capacity", [5, 50, 150, 195])
def test_uniform_access(capacity: int) -> None:
    found = float(uniform_hit_rate(capacity, 200))
    assert found == pytest.approx(simulated(zipf_popularity(200, 0.0), capacity), abs=0.01)
    assert found == pytest.approx(float(lru_hit_rate(zipf_popularity(200, 0.0), capacity)), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [0.6, 0.8, 1.0, 1.2])
@pytest.mark.parametrize("capacity", [4, 20, 100, 180])
def test_zipf_access_within_a_hundredth(exponent: float, capacity: int) -> None:
    popularity = zipf_popularity(200, exponent)
    assert float(lru_hit_rate(popularity, capacity)) == pytest.approx(simulated(popularity, capacity), abs=0.01)


@pytest.mark.slow
@given(exponent=st.floats(0.0, 2.0), pages=st.integers(2, 300))
def test_grows_from_nothing_to_all(exponent: float, pages: int) -> None:
    capacity = np.linspace(0, pages, 20)
    hit = lru_hit_rate(zipf_popularity(pages, exponent), capacity)
    assert hit[0] == 0.0
    assert hit[-1] == 1.0
    assert np.all(np.diff(hit) >= -1e-12)
    best = np.interp(capacity, np.arange(pages + 1), np.r_[0, np.cumsum(zipf_popularity(pages, exponent))])
    assert np.all(hit <= best + 1e-9)
    """no better than holding the most popular pages"""


def test_more_than_all_pages_hits_always_and_shapes_are_kept() -> None:
    assert lru_hit_rate(zipf_popularity(10, 1.0), 1e6) == 1.0
    assert lru_hit_rate(zipf_popularity(10, 1.0), [[1, 2, 3], [4, 5, 6]]).shape == (2, 3)
    assert lru_hit_rate(np.ones(1), [0.0, 0.5, 1.0]).tolist()[::2] == [0.0, 1.0]


@pytest.mark.parametrize("popularity", [[0.5, 0.6], [1.0, 0.0], [[0.5, 0.5]]])
def test_bad_popularity(popularity: list[float]) -> None:
    with pytest.raises(ValueError, match="popularity: shares"):
        lru_hit_rate(np.array(popularity), 1)


def test_bad_zipf() -> None:
    with pytest.raises(ValueError, match="num_pages"):
        zipf_popularity(0, 1.0)


@given(cache=st.integers(1, 300), kept=st.integers(0, 300), at_random=st.booleans())
def test_a_working_set_is_found_as_far_as_the_cache_holds_it(cache: int, kept: int, at_random: bool) -> None:
    """By the pages that are left after many rounds; more cache never hurts, more to keep never helps."""
    found = float(working_set_hit_rate(cache, kept, at_random=at_random))
    left = min(cache, kept) / kept if kept else 1.0
    assert found == pytest.approx(left if at_random else float(left == 1.0))
    assert float(working_set_hit_rate(cache + 1, kept, at_random=at_random)) >= found
    assert float(working_set_hit_rate(cache, kept + 1, at_random=at_random)) <= found

"""What lies outside the rows of a fit is told, and nothing else."""

import pytest

from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import FitOrigin, load_calibrations, origin_of
from costmodel.pricing.fit_ranges import WORDS, outside_fit
from tests.costmodel.pricing.unlisted_cases import workload

RANGES = {"concurrency": (4.0, 128.0), "input_tokens": (1024.0, 1024.0)}
ORIGIN = FitOrigin(software="an engine 1.0", date="2026-01", data="a table", rows=3, ranges=RANGES)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"concurrency": (4, 128), "input_tokens": (1024, 1024)}, []),
        ({"concurrency": (8, 256)}, ["256 users (fitted on 4 to 128)"]),
        ({"concurrency": (1, 256)}, ["1 user (fitted on 4 to 128)"]),
        ({"input_tokens": (2048, 2048)}, ["2,048 tokens in (fitted on 1,024)"]),
        ({"sequence": (1, 1)}, []),
    ],
)
def test_what_is_outside_is_told(asked: dict[str, tuple[float, float]], told: list[str]) -> None:
    assert outside_fit(ORIGIN, asked) == told
    assert outside_fit(None, asked) == []


def test_every_range_of_the_catalog_can_be_told() -> None:
    origins = [o for part in load_calibrations() for each in part.origins.values() for o in each.values()]
    ranges = [each for origin in origins for each in origin.ranges.items()]
    assert ranges
    assert all(name in WORDS and low <= high for name, (low, high) in ranges)


def test_jobs_are_held_against_the_fit_that_prices_them() -> None:
    h100 = load_device("h100-sxm")
    served = {
        "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": [64, 4096], "input_tokens": 1024,
        "output_tokens": 256,
    }  # fmt: skip
    job, pair = workload(served), workload(served | {"backend": "trtllm"})
    assert job.fitted_on(h100, 8)[0] == origin_of(h100, "serving", "generic")
    assert pair.fitted_on(h100, 8)[0] == origin_of(h100, "serving", "trtllm/llama-3.1-8b")
    assert outside_fit(*job.fitted_on(h100, 8)) == ["4,096 users (fitted on 4 to 128)"]
    trained = workload({"kind": "transformer_training", "model": "gpt3-22b", "global_batch": 64, "sequence": 4096})
    assert outside_fit(*trained.fitted_on(h100, 8)) == ["8 accelerators (fitted on 48 to 1,536)"]
    assert outside_fit(*trained.fitted_on(h100, 512)) == []
    assert trained.fitted_on(load_device("mi300x"), 8)[0] is None

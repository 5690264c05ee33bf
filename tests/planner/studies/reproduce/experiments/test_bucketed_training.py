"""All-reduce times and bucketed training on Lumorph, recomputed from plain arithmetic, round by round."""

from collections.abc import Callable, Iterator
from functools import cache
from math import prod

import numpy as np
import pytest

from planner.studies.reproduce.experiments import bucketed_training, collective_times
from planner.studies.reproduce.experiments.all_reduce_algorithms import radices_of
from planner.studies.reproduce.experiments.bucketed_training import READINGS
from planner.studies.reproduce.experiments.crossings import crossings
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.rows import PublishedRow
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file
from tests.paths import SHARED

FACTS = SHARED / "facts" / "lumorph.md"
ALPHA, SWITCH, RATE, LANES = 0.7e-6, 3.7e-6, 300e9, 16
RADICES = {
    32: {2: (2, 2, 2, 2, 2), 4: (4, 4, 2)},
    64: {2: (2,) * 6, 4: (4, 4, 4)},
    128: {2: (2,) * 7, 4: (4, 4, 4, 2)},
    256: {2: (2,) * 8, 4: (4, 4, 4, 4)},
}
HEIGHT = {32: 5, 64: 6, 128: 7, 256: 8}


@cache
def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "lumorph" / f"{name}.yaml")


def ring(size: float, n: int) -> float:
    return sum(ALPHA + size / n / RATE for _ in range(2 * (n - 1)))


def unpipelined_tree(size: float, n: int) -> float:
    return sum(ALPHA + size / RATE for _ in range(2 * HEIGHT[n]))


def pipelined_tree(size: float, n: int) -> float:
    return min(2 * (HEIGHT[n] + k - 1) * (ALPHA + size / (k * RATE)) for k in range(1, 400))


def double_tree_limit(size: float, n: int) -> float:
    return 2 * HEIGHT[n] * ALPHA + 2 * size / RATE


def lumorph(radix: int, size: float, n: int) -> float:
    """Both ways through the rounds, each over r - 1 circuits of whole wavelengths."""
    time, kept = 0.0, size
    for each in RADICES[n][radix]:
        kept /= each
        time += 2 * (ALPHA + SWITCH + kept / (LANES // (each - 1) * RATE / LANES))
    return time


SCALARS: dict[str, Callable[[float, int], float]] = {
    "ring": ring,
    "unpipelined tree": unpipelined_tree,
    "pipelined tree": pipelined_tree,
    "double tree limit": double_tree_limit,
    "Lumorph-2": lambda size, n: lumorph(2, size, n),
    "Lumorph-4": lambda size, n: lumorph(4, size, n),
}


def halved(gap: Callable[[float], float], low: float, high: float) -> float:
    """The message where a gap changes its sign once, by halving."""
    is_positive = gap(low) > 0
    assert (gap(high) > 0) != is_positive
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (gap(middle) > 0) == is_positive else (low, middle)
    return low


@pytest.mark.slow
@pytest.mark.parametrize("name", ["collectives", "bert"])
def test_nothing_required_is_outside(name: str) -> None:
    rows = outcome(name).rows
    assert [row.quantity for row in rows if row.is_failure] == []
    assert {row.verdict for row in rows if row.required} <= {"reproduced", "contradicted"}


@pytest.mark.parametrize("name", SCALARS)
def test_times_of_the_table(name: str) -> None:
    found, inputs = outcome("collectives").quantities, outcome("collectives").inputs
    assert isinstance(inputs, collective_times.Inputs)
    assert len(inputs.table) == 5
    for cell in inputs.table:
        ours = found[f"{name}, {cell.ranks} ranks, {collective_times.size(cell.message_bytes)}"]
        assert ours == pytest.approx(SCALARS[name](cell.message_bytes, cell.ranks), rel=1e-9)


@pytest.mark.parametrize("other", ["ring", "Lumorph-2", "pipelined tree"])
@pytest.mark.parametrize("n", [64, 128, 256])
def test_crossings_of_lumorph_4(other: str, n: int) -> None:
    low, high = (1e5, 1e8) if other == "pipelined tree" else (1e6, 1e9)
    expected = halved(lambda size: lumorph(4, size, n) - SCALARS[other](size, n), low, high)
    found = outcome("collectives").quantities[f"first message of equal time of Lumorph-4 over {other}, {n} ranks"]
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("radix", "n"), [(2, 256), (4, 256), (4, 128)])
def test_message_that_saves_74_percent_over_a_ring(radix: int, n: int) -> None:
    expected = halved(lambda size: lumorph(radix, size, n) - 0.26 * ring(size, n), 1e3, 1e8)
    name = f"last message of 74 % saving of Lumorph-{radix} over ring, {n} ranks"
    assert outcome("collectives").quantities[name] == pytest.approx(expected, rel=1e-6)


def test_on_64_gpus_nothing_saves_74_percent_over_a_ring() -> None:
    found = outcome("collectives").quantities
    assert not [name for name in found if "74 % saving" in name and "over ring, 64" in name]
    assert found["most saving of Lumorph-4 over ring, 64 ranks"] < 1 - 6 * 4.4 / (126 * 0.7)


@pytest.mark.slow
@pytest.mark.parametrize("n", [64, 128, 256])
def test_savings_depend_on_the_tree(n: int) -> None:
    found = outcome("collectives").quantities
    sizes = [float(size) for size in np.geomspace(1024, 2**32, 300)]
    for trees, name in ((unpipelined_tree, "unpipelined tree"), (pipelined_tree, "pipelined tree")):
        most = max(1 - lumorph(4, size, n) / min(ring(size, n), trees(size, n)) for size in sizes)
        assert found[f"most saving of Lumorph-4 over ring and {name}, {n} ranks"] == pytest.approx(most, abs=2e-3)
    assert found[f"most saving of Lumorph-4 over pipelined tree, {n} ranks"] < 0.1805
    assert found[f"first message of equal time of Lumorph-4 over pipelined tree, {n} ranks"] > 2e6
    assert found[f"most saving of Lumorph-4 over double tree limit, {n} ranks"] < 0


def test_no_saving_over_a_tree_is_printed_without_its_name() -> None:
    for row in outcome("collectives").rows:
        words = f"{row.quantity} {' '.join(row.beside)}"
        assert words.count("tree") == words.count("unpipelined tree") + words.count(" pipelined tree") + sum(
            words.count(each) for each in ("double tree", "one tree")
        )


def contradicted(name: str) -> list[PublishedRow]:
    return [row for row in outcome(name).rows if row.verdict == "contradicted"]


def test_what_the_text_overclaims() -> None:
    found = {row.quantity for row in contradicted("collectives")}
    for n in (64, 128, 256):
        assert f"most saving of Lumorph-4 over ring and pipelined tree, {n} ranks" in found
    assert "most saving of Lumorph-4 over ring and unpipelined tree, 256 ranks" not in found
    assert len(found) == 11
    assert all(row.reason for row in contradicted("collectives"))


@pytest.mark.skipif(not FACTS.is_file(), reason="the facts are not beside the repository")
def test_published_times_are_those_of_the_facts() -> None:
    closed = ["ring", "double tree limit", "Lumorph-2", "Lumorph-4"]
    names = [*closed, "best plan of 3 peers", "best plan of 16 peers", "bound"]
    printed = dict(_table(FACTS.read_text("utf-8").splitlines(), names))
    ours = {row.quantity: row.published for row in outcome("collectives").rows if row.quantity in printed}
    assert len(printed) == 35
    assert ours == printed


def _table(lines: list[str], names: list[str]) -> Iterator[tuple[str, float]]:
    start = next(i for i, line in enumerate(lines) if line.startswith("| n, S |"))
    for line in lines[start + 2 : start + 7]:
        place, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        n, size = place.split(", ")
        for name, cell in zip(names, cells, strict=True):
            yield f"{name}, {n} ranks, {size.replace('KB', 'KiB').replace('MB', 'MiB')}", float(cell)


@pytest.mark.parametrize("n", [6, 17, 30, 32, 64, 96, 128, 256])
@pytest.mark.parametrize("radix", [2, 4])
def test_radices_have_the_ranks_as_their_product(n: int, radix: int) -> None:
    radices = radices_of(n, radix)
    assert prod(radices) == n
    assert set(radices[:-1]) <= {radix}


def test_crossings_of_a_known_function() -> None:
    found = crossings(lambda x: (x - 3e3) * (x - 4e6), np.geomspace(1, 1e9, 100))
    assert found == pytest.approx([3e3, 4e6])
    assert len(crossings(lambda x: x + 1, np.geomspace(1, 1e9, 100))) == 0


# Bucketed training


def bert() -> bucketed_training.Inputs:
    inputs = outcome("bert").inputs
    assert isinstance(inputs, bucketed_training.Inputs)
    return inputs


def times(name: str, n: int, bucket: float) -> list[float]:
    """Time of a step under each reading, bucket by bucket."""
    step = bucketed_training.step_of(bert(), n)
    left, ready, now, alone = step.gradient_bytes, 0.0, 0.0, 0.0
    while left > 0:
        sent = min(bucket, left)
        left, ready = left - sent, ready + sent
        takes = SCALARS[name](sent, n)
        alone += takes
        now = max(now, float(step.ready_s(np.array(ready)))) + takes
    beside = step.before_s + max(now, step.backward_s) + step.after_s
    return [SCALARS[name](bucket, n), alone, step.compute_s + alone, beside]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unpipelined tree", "pipelined tree", "Lumorph-2", "Lumorph-4"])
@pytest.mark.parametrize(("n", "bucket"), [(32, 1), (64, 8), (128, 21), (256, 54)])
def test_speedups_over_a_ring(name: str, n: int, bucket: int) -> None:
    over, ours = times("ring", n, bucket * 1e6), times(name, n, bucket * 1e6)
    found = outcome("bert").quantities
    for reading, theirs_s, ours_s in zip(READINGS, over, ours, strict=True):
        quantity = f"speed-up of {name}, {reading}, {n} GPUs, {bucket} MB"
        assert found[quantity] == pytest.approx(theirs_s / ours_s, rel=1e-9)


@pytest.mark.parametrize("n", [64, 128, 256])
def test_bucket_that_gives_what_is_published(n: int) -> None:
    expected = halved(lambda size: ring(size, n) - 1.7 * lumorph(4, size, n), 1e6, 1e8)
    found = outcome("bert").quantities
    assert found[f"exact bucket of Lumorph-4, {n} GPUs"] == pytest.approx(expected, rel=1e-6)
    assert found[f"largest bucket of Lumorph-4, full buckets, {n} GPUs"] == expected // 1e6 * 1e6


def test_on_32_gpus_it_is_never_reached() -> None:
    found = outcome("bert").quantities
    assert found["speed-up of Lumorph-4, empty buckets, 32 GPUs"] == pytest.approx(62 * 0.7 / (6 * 4.4))
    assert not [name for name in found if name.startswith("exact bucket of Lumorph-4, 32")]
    for reading in READINGS:
        assert found[f"largest bucket of Lumorph-4, {reading}, 32 GPUs"] == 0


def test_compute_time_leaves_less_to_gain() -> None:
    for n in (64, 128, 256):
        curves = bucketed_training.curves(bert(), n, bert().sweep_bytes())
        of = {curve.reading: curve.speedup for curve in curves if curve.algorithm == "Lumorph-4"}
        assert np.all(of["after the backward pass"] < of["communication alone"])
        assert np.all(np.abs(np.diff(of["full buckets"])) > 0)


def test_bad_inputs() -> None:
    plain = outcome("collectives").published.inputs
    with pytest.raises(ValueError, match="unknown algorithm 'lumorph-4'; did you mean Lumorph-4"):
        collective_times.Inputs.model_validate(plain | {"comparisons": [{"of": "lumorph-4", "over": ["ring"]}]})
    of_bert = outcome("bert").published.inputs
    with pytest.raises(ValueError, match="largest_bucket: is smaller than bucket_step"):
        bucketed_training.Inputs.model_validate(of_bert | {"largest_bucket": "0.5 MB"})
    with pytest.raises(ValueError, match="unknown algorithm 'rng'"):
        bucketed_training.Inputs.model_validate(of_bert | {"over": "rng"})

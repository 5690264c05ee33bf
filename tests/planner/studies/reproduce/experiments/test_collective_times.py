"""Times of an all-reduce against the published ones."""

from collections.abc import Iterator

import numpy as np
import pytest

from planner.studies.reproduce.experiments import bucketed_training, collective_times
from tests.paths import SHARED
from tests.planner.studies.reproduce.experiments.lumorph import (
    SCALARS,
    contradicted,
    halved,
    lumorph,
    outcome,
    pipelined_tree,
    ring,
    unpipelined_tree,
)

FACTS = SHARED / "facts" / "lumorph.md"


@pytest.mark.parametrize("name", SCALARS)
def test_times_of_the_table(name: str) -> None:
    found, inputs = outcome("collectives").quantities, outcome("collectives").inputs
    assert isinstance(inputs, collective_times.Inputs)
    assert len(inputs.table) == 5
    for cell in inputs.table:
        ours = found[f"{name}, {cell.ranks} ranks, {collective_times.size(cell.message_bytes)}"]
        assert ours == pytest.approx(SCALARS[name](cell.message_bytes, cell.ranks), rel=1e-9)


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


def test_bad_inputs() -> None:
    plain = outcome("collectives").published.inputs
    with pytest.raises(ValueError, match="unknown algorithm 'lumorph-4'; did you mean Lumorph-4"):
        collective_times.Inputs.model_validate(plain | {"comparisons": [{"of": "lumorph-4", "over": ["ring"]}]})
    of_bert = outcome("bert").published.inputs
    with pytest.raises(ValueError, match="largest_bucket: is smaller than bucket_step"):
        bucketed_training.Inputs.model_validate(of_bert | {"largest_bucket": "0.5 MB"})
    with pytest.raises(ValueError, match="unknown algorithm 'rng'"):
        bucketed_training.Inputs.model_validate(of_bert | {"over": "rng"})

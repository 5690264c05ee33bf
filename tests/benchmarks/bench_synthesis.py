"""Synthesized collectives beside published ones on the same networks, with bounds; and all-to-alls of twisted
and shifted tori.

    python -m tests.benchmarks.bench_synthesis --time-limit 60
    python -m tests.benchmarks.bench_synthesis --torus

Published times are those of schedules in the model of latency and bandwidth, not of machines:

- TE-CCL: `4-Collective_Finish_Time` of the files under `output_provided` in github.com/microsoft/TE-CCL (`Fast`), whose
  authors say that they are as good as the tables of Liu et al., SIGCOMM 2024, or better. There a size is 16 (32) chunks
  of an NDv2 (DGX-2) pair; node 0 of an NDv2 pair is no rank.
- SCCL: steps, rounds and chunks of the DGX-1 in SYNTHESIS.md of github.com/microsoft/msccl-tools: a step waits for all
  transfers of the one before, a round sends one chunk over each link of 25 GB/s.
- ForestColl (Zhao et al., arXiv:2402.06787) gives a formula for the optimum of an all-gather, which is the bound
  printed here, and its code the networks; figures that it prints for these networks were not found.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Collective
from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.line_shifts import LineShifts, load_line_shifts
from costmodel.fabrics.shifted import neighbours, shifted_load, shortest_ways
from costmodel.fabrics.twisted import NO_TWIST, Twist, all_to_all, least_of_any_wiring, neighbour, twist_of
from planner.formulation.linear import Rows, minimized
from planner.model.topology import load_network
from planner.synthesis.line_shifts import flow_bound
from planner.synthesis.synthesize import SynthesisOptions, synthesize
from tests.paths import ROOT

TOPOLOGIES = ROOT / "instances" / "topologies"
CUBE: Sides = (4, 4, 4)
BOXES: tuple[Sides, ...] = ((4, 8, 8), (8, 8, 16))
"""256 and 1,024 chips"""
SHIFTED = ("3x1x1", "2x2x1", "4x2x1", "4x2x2")
"""cubes of the slices of the catalog: 192 to 1,024 chips"""


class Published(NamedTuple):
    """One published schedule; None: no figure was found."""

    topology: str
    collective: Collective
    message_bytes: float
    time_s: float | None
    source: str


def steps_s(message_bytes: float, steps: int, rounds: int, chunks: int) -> float:
    """Of an all-gather of SCCL on a DGX-1."""
    return steps * 0.7e-6 + rounds * message_bytes / 8 / chunks / 25e9


PUBLISHED = (
    Published("ndv2x2_teccl", "all_gather", 15 * 1e3, 4.44e-6, "TE-CCL, 16 KB"),
    Published("ndv2x2_teccl", "all_gather", 15 * 62.5e3, 48.75e-6, "TE-CCL, 1 MB"),
    Published("ndv2x2_teccl", "all_gather", 15 * 62.5e6, 43.75e-3, "TE-CCL, 1 GB"),
    Published("ndv2x2_teccl", "all_to_all", 15 * 62.5e3, 290e-6, "TE-CCL, 1 MB"),
    Published("ndv2x2_teccl", "all_to_all", 15 * 1e6, 4.54e-3, "TE-CCL, 16 MB"),
    Published("dgx2x2", "all_gather", 32 * 31.25e3, 10.75e-6, "TE-CCL, 1 MB"),
    Published("dgx2x2", "all_to_all", 32 * 31.25e3, 84.25e-6, "TE-CCL, 1 MB"),
    Published("dgx1", "all_gather", 1e5, steps_s(1e5, 2, 3, 2), "SCCL, 2 steps 3 rounds 2 chunks"),
    Published("dgx1", "all_gather", 1e6, steps_s(1e6, 3, 7, 6), "SCCL, 3 steps 7 rounds 6 chunks"),
    Published("dgx1", "all_gather", 1e9, steps_s(1e9, 3, 7, 6), "SCCL, 3 steps 7 rounds 6 chunks"),
    *(
        Published(topology, collective, 1e9, None, "ForestColl: formula alone")
        for topology in ("a100", "a100x2", "mi250")
        for collective in ("all_gather", "reduce_scatter")
    ),
    *(
        Published(topology, collective, size, None, "not found")
        for topology, collective, size in product(
            ("dgx1", "a100x2", "mi250"), ("all_reduce", "all_to_all", "broadcast"), (1e6, 1e9)
        )
    ),
)


def collectives(time_limit_s: float) -> Iterator[tuple[str, ...]]:
    """Rows of the table; every schedule is proved once more by the interpreter of schedules."""
    for row in PUBLISHED:
        _, network = load_network(TOPOLOGIES / f"{row.topology}.yaml")
        begin_s = time.process_time()
        found = synthesize(network, row.collective, row.message_bytes, SynthesisOptions(time_limit_s, workers=1))
        faults = interpret(found.written)
        assert faults == (), faults
        yield (
            row.topology,
            row.collective,
            f"{row.message_bytes:.4g}",
            row.source,
            "-" if row.time_s is None else f"{1e6 * row.time_s:.5g}",
            f"{1e6 * found.time_s:.5g}",
            f"{1e6 * found.bound.time_s:.5g}",
            f"{100 * found.gap:.2f} %",
            f"{1e6 * found.family.time_s:.5g}",
            found.source,
            f"{time.process_time() - begin_s:.1f}",
        )


def least_load(box: Sides, twist: Twist) -> float:
    """Of an all-to-all of one byte on each chip, what crosses the busiest link at least, by a linear program.

    The wiring looks the same from every chip, so that of all best flows the mean over all shifts is one as well: what
    one chip sends over all links of one direction is what each such link carries.
    """
    chips = [*product(*(range(side) for side in box))]
    place = {chip: number for number, chip in enumerate(chips)}
    after = [place[neighbour(chip, axis, sign, box, twist)] for chip in chips for axis in range(3) for sign in (1, -1)]
    rows, links = Rows(), np.arange(6 * len(chips))
    for node in range(1, len(chips)):
        into = np.flatnonzero(np.array(after) == node)
        out = np.arange(6 * node, 6 * node + 6)
        rows.add([*into, *out], [1.0] * len(into) + [-1.0] * len(out), 1.0, 1.0)
    for direction in range(6):
        rows.add([*links[direction::6], len(links)], [1.0] * len(chips) + [-1.0], -np.inf, 0.0)
    box_of_columns = np.array([(0.0, float(len(chips)))] * len(links) + [(0.0, float(len(chips) ** 2))])
    objective = np.append(np.zeros(len(links)), 1.0)
    found = minimized(rows, box_of_columns, objective, 600.0)
    assert found is not None
    return found.bound / len(chips)


def tori() -> Iterator[tuple[str, ...]]:
    """Rows of the table: bytes on the busiest link for one byte on each chip."""
    for box in BOXES:
        twisted, plain = all_to_all(box, CUBE), max(box) / 8
        bound, plain_bound = least_load(box, twist_of(box, CUBE)), least_load(box, NO_TWIST)
        yield (
            "x".join(map(str, box)),
            f"{plain:.4f}",
            f"{plain_bound:.4f}",
            f"{twisted.on_link:.4f}",
            f"{bound:.4f}",
            f"{plain / twisted.on_link:.3f}",
            f"{plain / bound:.3f}",
            f"{plain / least_of_any_wiring(prod(box)):.3f}",
        )


def shifted_tori() -> Iterator[tuple[str, ...]]:
    """Rows of the table; the plain torus is the best one of as many cubes."""
    for cubes in SHIFTED:
        shifts = load_line_shifts(f"line-shifts-{cubes}-4x4x4")
        number = prod(shifts.cubes)
        plain = min(
            max(a, b, number // (a * b)) for a, b in product(range(1, number + 1), repeat=2) if number % (a * b) == 0
        )
        least, load, bound = CUBE[0] * plain / 8, shifted_load(shifts).on_link, least_over(shifts)
        most = least_of_any_wiring(number * prod(CUBE))
        chips = f"{number * prod(CUBE):,}"
        yield chips, f"{least:.4f}", f"{load:.4f}", f"{bound:.4f}", *(f"{least / x:.3f}" for x in (load, bound, most))


def least_over(shifts: LineShifts) -> float:
    """Bytes over the busiest link at least, of one byte on each chip, by any routing over a shifted torus."""
    ways = shortest_ways(neighbours(shifts), prod(shifts.sides))
    return flow_bound(ways, np.array(shifts.weights))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--torus", action="store_true")
    given = parser.parse_args()
    if given.torus:
        print("box, plain, flow bound, twisted, flow bound, gain, most by its flow bound, most by any wiring", sep="\t")
        for row in tori():
            print(*row, sep="\t", flush=True)
        print("chips, plain, shifted, flow bound, gain, most by its flow bound, most by any wiring", sep="\t")
        for row in shifted_tori():
            print(*row, sep="\t", flush=True)
        return
    print("network, collective, bytes, published, us, ours us, bound us, gap, family us, found by, CPU s")
    for row in collectives(given.time_limit):
        print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    main()

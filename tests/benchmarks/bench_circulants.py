"""Collectives over circulants beside the families, under the rules of each fabric with circuits, with bounds.

    python -m tests.benchmarks.bench_circulants
    python -m tests.benchmarks.bench_circulants --synthesize 10
    python -m tests.benchmarks.bench_circulants --table

The first prices the menus that fabrics of shipped instances offer to a group, with and without circulants. The second
lets `planner.synthesis` look for schedules over the circuits of the best plan, and over rings of memory nodes, whose
links nobody can choose. The third prints the strides that the catalog holds, from a search of a minute.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial

from costmodel.collectives import closed_forms
from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.network import Link, Network
from costmodel.fabrics import FabricBase, GroupPlan
from costmodel.parallelism.mappings import Dimension
from planner.model.instance import Instance
from planner.synthesis.circulant_search import MOST_RANKS, search_strides
from planner.synthesis.synthesize import SynthesisOptions, synthesize
from tests.paths import ROOT

RANKS = (3, 4, 5, 6, 7, 8, 12, 16)
SIZES = (1e3, 1e5, 1e6, 1e7, 1e8, 1e9)
FABRICS = {"lightpath": "lightpath", "ocs_rail": "ocs_rail", "sipam": "sipam"}
"""kind and file among instances/groups"""
PORTS = 4
"""I/Os that an accelerator of a pooled rack leaves to the network"""
ALONG: dict[Collective, Dimension] = {"all_reduce": "data", "all_gather": "context", "all_to_all": "expert"}
"""dimension whose groups run it"""
SYNTHESIZED = ((5, 1e6), (8, 1e6), (12, 1e6), (8, 1e8))


def fabric_of(name: str, collectives: str) -> FabricBase:
    """As a job sees it that leaves all its ports, or `PORTS` I/Os, to the network."""
    cluster = Instance.load(ROOT / "instances" / "groups" / f"{FABRICS[name]}.yaml").cluster
    servers = {"servers": max(RANKS)} if name == "ocs_rail" else {}
    fields = {field: getattr(cluster.fabric, field) for field in type(cluster.fabric).model_fields}
    fabric = type(cluster.fabric).model_validate(fields | servers | {"collectives": collectives})
    shares = [split.fabric for split in fabric.splits(cluster.device)]
    return next((each for each in shares if getattr(each, "network_io", None) == PORTS), fabric)


def least_s(plans: Sequence[GroupPlan], collective: Collective, message_bytes: float) -> tuple[float, str]:
    """Time and name of the quickest; of an all-gather half of an all-reduce. None there: infinite."""
    share = 0.5 if collective == "all_gather" else 1.0
    times = ((share * (plan.latency_s + plan.seconds_per_byte * message_bytes), plan.name) for plan in plans)
    return min(times, default=(float("inf"), "-"))


def bound_s(fabric: FabricBase, collective: Collective, ranks: int, message_bytes: float) -> float:
    """Of any plan within ports and wavelengths; where circuits are held, all-to-alls pass as many circuits as in a tree
    of as many branches as a rank has ports, at least."""
    limits = fabric.limits if hasattr(fabric, "limits") else None
    ports = limits.most_peers if limits else PORTS
    rate = limits.link_bytes_per_s if limits else PORTS * fabric.shoreline.io.bandwidth_bytes_per_s  # type: ignore[attr-defined]
    bound = getattr(closed_forms, f"{collective}_bound_s")
    found = float(bound(message_bytes, ranks, ports, fabric.alpha_s, rate))  # type: ignore[attr-defined]
    if collective != "all_to_all" or fabric.kind == "lightpath":  # type: ignore[attr-defined]
        return found
    left, hops, far = ranks - 1, 0, 1
    while left > 0:
        hops, left, far = hops + far * min(left, ports**far), left - ports**far, far + 1
    return max(found, hops * message_bytes / ranks / rate)


def menus() -> Iterator[tuple[str, ...]]:
    """Rows of the table."""
    for name in FABRICS:
        families, both = (fabric_of(name, offered) for offered in ("families", "circulants"))
        for collective, dimension in ALONG.items():
            for ranks in RANKS:
                old, new = (each.plans(dimension, ranks, one_server=False) for each in (families, both))
                cells = []
                for size in SIZES:
                    family_s, circulant_s = (least_s(plans, collective, size)[0] for plans in (old, new))
                    gap = circulant_s / bound_s(both, collective, ranks, size) - 1
                    gain = "new" if family_s == float("inf") else f"{100 * (family_s / circulant_s - 1):.0f} %"
                    cells.append(f"{gain} ({100 * gap:.0f} %)")
                yield name, collective, str(ranks), *cells, least_s(new, collective, 1e6)[1]


def network_of(plan: GroupPlan, alpha_s: float, bytes_per_s: float) -> Network:
    """The circuits of a plan as links."""
    (circuits,) = plan.configurations()
    return Network("circuits", plan.ranks, 0, tuple(Link(a, b, w * bytes_per_s, alpha_s) for a, b, w in circuits))


def rings_of(devices: int, rings: int, bytes_per_s: float, alpha_s: float) -> Network:
    """Rings of links to both sides, one beside the other."""
    ends = [(i, (i + way) % devices) for i in range(devices) for way in (1, -1)]
    return Network("rings", devices, 0, tuple(Link(a, b, rings * bytes_per_s, alpha_s) for a, b in ends))


def synthesized(time_limit_s: float) -> Iterator[tuple[str, ...]]:
    """Rows: what is priced, and what is found on the same links in so long."""
    options = SynthesisOptions(time_limit_s, workers=1)
    rails = fabric_of("ocs_rail", "circulants")
    ring = Instance.load(ROOT / "instances" / "groups" / "memory_ring.yaml").cluster.fabric
    for ranks, size in SYNTHESIZED:
        for collective in ("all_reduce", "all_to_all"):
            plans = rails.plans(ALONG[collective], ranks, one_server=False)  # type: ignore[index]
            best = min(plans, key=lambda plan: plan.latency_s + plan.seconds_per_byte * size)
            network = network_of(best, rails.alpha_s, rails.port_bandwidth_bytes_per_s)  # type: ignore[attr-defined]
            yield _row(f"rails, {best.name}", least_s([best], collective, size)[0], network, collective, size, options)  # type: ignore[arg-type]
        node = ring.node  # type: ignore[attr-defined]
        if ranks == node.devices:
            hop_s = max(node.ring_hops) / ranks * node.alpha_s
            network = rings_of(ranks, node.num_rings, node.link_bandwidth_bytes_per_s, hop_s)
            for collective in ("all_reduce", "all_to_all"):
                plans = ring.plans(ALONG[collective], ranks, one_server=True)  # type: ignore[index]
                yield _row("memory rings", least_s(plans, collective, size)[0], network, collective, size, options)  # type: ignore[arg-type]


def _row(
    name: str, priced_s: float, network: Network, collective: Collective, size: float, options: SynthesisOptions
) -> tuple[str, ...]:
    found = synthesize(network, collective, size, options)
    times = (f"{1e6 * each:.5g}" for each in (priced_s, found.time_s, found.bound.time_s))
    gain = f"{100 * (priced_s / found.time_s - 1):.1f} %"
    return name, collective, str(network.ranks), f"{size:.0e}", *times, gain


def table() -> str:
    """The file of the catalog."""
    found = {ranks: search_strides(ranks) for ranks in range(3, MOST_RANKS + 1)}
    parts = ['  "kind": "circulants"', '  "name": "circulants"']
    parts.append('  "source": "planner.synthesis.circulant_search, seed 0"')
    for name in ("all_reduce", "all_to_all"):
        rows = [f'    "{n}": {json.dumps(tables[name])}' for n, tables in found.items() if tables[name]]
        parts.append(f'  "{name}": {{\n' + ",\n".join(rows) + "\n  }")
    return "{\n" + ",\n".join(parts) + "\n}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--synthesize", type=float, metavar="SECONDS")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    show = partial(print, flush=True)
    if given.table:
        show(table())
    elif given.synthesize is not None:
        show("links, collective, ranks, bytes, priced us, synthesized us, bound us, gain")
        for row in synthesized(given.synthesize):
            show(*row, sep="\t")
    else:
        show("fabric, collective, ranks,", ", ".join(f"{size:.0e} B: gain (gap)" for size in SIZES), ", best at 1 MB")
        for row in menus():
            show(*row, sep="\t")


if __name__ == "__main__":
    main()

"""planner synthesize: a schedule of a collective for any network of a few ranks, with a bound beside it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.inputs import AsJson, Seed, Threads, TimeLimit, require_not_given, require_writable, write_text
from planner.cli.output import console, percent, plain, print_json, quantity, seconds, table
from planner.cli.outputs import MSCCL
from planner.cli.sizes import bytes_of
from planner.model.errors import InputError

if TYPE_CHECKING:
    from costmodel.collectives.ladder import Collective
    from planner.model.topology import Topology
    from planner.synthesis.synthesize import Synthesis

TopologyPath = Annotated[
    Path, typer.Argument(metavar="TOPOLOGY", help="Network of ranks, switches and links, YAML or JSON.")
]
Name = Annotated[
    Literal["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "broadcast"],
    typer.Option("--collective", help="What to run; a broadcast begins on rank 0."),
]
Size = Annotated[
    str,
    typer.Option(
        "--size", metavar="SIZE", help="Whole buffer of one rank: output of an all-gather, else input, such as '1 GiB'."
    ),
]
Msccl = Annotated[Path | None, typer.Option("--msccl", metavar="FILE", help="Write the schedule as XML of MSCCL.")]
MOST_LINKS = 12
"""that are shown"""
OPTIMAL = 1e-6
"""a gap below this is rounding"""


def synthesize(
    topology: TopologyPath,
    collective: Name = "all-gather",
    size: Size = "1 GiB",
    time_limit: TimeLimit = 20.0,
    seed: Seed = 0,
    threads: Threads = None,
    msccl: Msccl = None,
    as_json: AsJson = False,
) -> int:
    """Find a schedule of a collective on a network: which chunk goes over which links when, checked.

    Beside it: a time that no schedule goes below, and the best of the known families (rings, mixed radices, trees,
    exchanges, relays) on the same links, which it is never slower than. Meant for up to 16 ranks; 64 at most.
    """
    from planner.model.topology import load_network

    require_writable(msccl, "--msccl", MSCCL)
    require_not_given(msccl, "--msccl", topology)
    file, network = load_network(topology)
    message_bytes = bytes_of(size, "--size", "give the buffer of one rank, such as '1 GiB'")
    name: Collective = collective.replace("-", "_")  # type: ignore[assignment]
    if not as_json:
        links, ranks = counted(len(network.links), "link"), counted(network.ranks, "rank")
        console().print(f"{plain(file.name)}   {ranks}   {links}   {collective} of {quantity(message_bytes, 'B')}")
    found, elapsed_s = _search(network, name, message_bytes, (time_limit, seed, threads), is_quiet=as_json)
    if msccl is not None:
        write_text(msccl, _xml(topology, file.name, found))
    if as_json:
        print_json(document(file, found))
    else:
        _show(file, found, elapsed_s)
    return exits.PLAN


def _search(
    network: Any, name: "Collective", message_bytes: float, options: tuple[float, int, int | None], *, is_quiet: bool
) -> "tuple[Synthesis, float]":
    """What is found, and the seconds that it took; with progress on stdout unless that is for JSON."""
    from planner.cli.interrupt import stop_on_interrupt
    from planner.synthesis.synthesize import SynthesisOptions, synthesize

    def tell(source: str, time_s: float, elapsed_s: float) -> None:
        if not is_quiet:
            print(f"{elapsed_s:5.1f} s  {quantity(time_s, 's'):>8}   {plain(source)}", flush=True)

    time_limit, seed, workers = options
    begin_s = time.monotonic()
    with stop_on_interrupt() as is_asked:
        own = SynthesisOptions(time_limit, seed, workers, tell, is_asked)
        return synthesize(network, name, message_bytes, own), time.monotonic() - begin_s


def _xml(path: Path, name: str, found: "Synthesis") -> str:
    from planner.integrations.exports.msccl_xml import Algorithm, msccl_xml

    try:
        return msccl_xml(Algorithm(f"{name}-{found.collective}", found.written))
    except ValueError as error:
        raise InputError(str(path), "--msccl", f"{error}; or give a smaller --size") from None


def document(file: "Topology", found: "Synthesis") -> dict[str, Any]:
    """JSON of a schedule: transfers by time, or of a family its rounds."""
    from planner.cli.versions import versions

    timed = found.timed
    transfers = [] if timed is None else [
        {
            "chunk": each.chunk,
            "nodes": _nodes(file, found, each.links),
            "start_s": each.start_s,
            "arrival_s": timed.arrival_s(each),
            "adds": each.adds,
        }
        for each in timed.transfers
    ]  # fmt: skip
    return {
        "topology": file.name,
        "collective": found.collective,
        "message_bytes": found.message_bytes,
        "time_s": found.time_s,
        "bound_s": found.bound.time_s,
        "bound": found.bound.reason,
        "gap": found.gap,
        "source": found.source,
        "family": {"name": found.family.name, "time_s": found.family.time_s},
        "parts": found.written.parts,
        "chunk_bytes": found.message_bytes / found.written.num_chunks,
        "transfers": transfers,
        "rounds": [] if timed is not None else _rounds(found),
        "versions": versions(),
    }


def _nodes(file: "Topology", found: "Synthesis", links: tuple[int, ...]) -> list[str]:
    passed = [found.network.links[links[0]].source, *(found.network.links[link].destination for link in links)]
    return [file.node_name(node) for node in passed]


def _rounds(found: "Synthesis") -> list[list[dict[str, int]]]:
    """Of a family: (sender, receiver, chunk) of each round, what moves inside ranks left out."""
    written = found.written
    rounds: list[list[dict[str, int]]] = [[] for _ in range(len(written.configuration_of))]
    for number, sender, receiver, chunk in zip(
        *(column.tolist() for column in (written.round, written.sender, written.receiver, written.chunk)), strict=True
    ):
        if sender != receiver:
            rounds[number].append({"sender": sender, "receiver": receiver, "chunk": chunk})
    return [each for each in rounds if each]


def _show(file: "Topology", found: "Synthesis", elapsed_s: float) -> None:
    out = console()
    if found.timed is not None:
        out.print("", _busiest(file, found), "", sep="\n")
    proof = "optimal" if found.gap < OPTIMAL else f"gap {percent(found.gap)}"
    bound_s, family_s = quantity(found.bound.time_s, "s"), quantity(found.family.time_s, "s")
    out.print(f"time {quantity(found.time_s, 's')} ({proof}, bound {bound_s}: {found.bound.reason})", soft_wrap=True)
    times = found.family.time_s / found.time_s if found.time_s > 0 else 1.0
    out.print(f"best family {plain(found.family.name)}: {family_s}, {times:.2f} times as long", soft_wrap=True)
    rate = found.message_bytes / found.time_s if found.time_s > 0 else 0.0
    out.print(
        f"{plain(found.source)} · {counted(len(found.written), 'transfer')} · algorithmic bandwidth "
        f"{quantity(rate, 'B/s')} · checked: 0 faults · {seconds(elapsed_s)}",
        soft_wrap=True,
    )


def _busiest(file: "Topology", found: "Synthesis") -> Any:
    """The links that carry most, by the share of the time that they are held."""
    assert found.timed is not None
    held_s, chunks = [0.0] * len(found.network.links), [0] * len(found.network.links)
    for each in found.timed.transfers:
        for link in each.links:
            held_s[link] += found.network.route(each.links).busy_s(found.timed.chunk_bytes)
            chunks[link] += 1
    order = sorted(range(len(held_s)), key=lambda link: -held_s[link])[:MOST_LINKS]
    rows = [
        (
            " > ".join(_nodes(file, found, (link,))),
            quantity(found.network.links[link].bytes_per_s, "B/s"),
            f"{chunks[link]:,}",
            percent(held_s[link] / found.time_s),
        )
        for link in order
    ]
    result = table(("busiest links", "bandwidth", "chunks", "busy"), rows, right=("bandwidth", "chunks", "busy"))
    result.title_justify = "left"
    return result

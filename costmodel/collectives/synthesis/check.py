"""The check of a schedule with times: it knows the links and the collective, and nothing of how it was found."""

from collections import defaultdict
from collections.abc import Iterator

from costmodel.collectives.synthesis.timed import TimedSchedule, Transfer

TOLERANCE = 1e-9
"""relative to the time of the whole"""
Contributions = dict[tuple[int, int], dict[int, float]]
"""(chunk, rank) -> when what each rank gives to the chunk is there"""


def faults_of(schedule: TimedSchedule) -> tuple[str, ...]:
    """What is wrong: links that do not lead on, links held twice, chunks sent before they are there, additions of what
    is there already, and what is missing at the end."""
    return (*_broken_routes(schedule), *_links_held_twice(schedule), *_chunk_faults(schedule))


def _broken_routes(schedule: TimedSchedule) -> Iterator[str]:
    ranks, links = schedule.network.ranks, schedule.network.links
    for each in schedule.transfers:
        nodes = [links[each.links[0]].source, *(links[number].destination for number in each.links)]
        joined = all(links[number].source == node for number, node in zip(each.links, nodes, strict=False))
        inner = nodes[1:-1]
        if not joined or min(inner, default=ranks) < ranks or nodes[0] >= ranks or nodes[-1] >= ranks:
            yield f"chunk {each.chunk} goes over links {each.links}, which are no route from rank to rank"
        if each.start_s < 0:
            yield f"chunk {each.chunk} is sent before the call begins"


def _links_held_twice(schedule: TimedSchedule) -> Iterator[str]:
    links, slack_s = schedule.network.links, TOLERANCE * schedule.finish_s
    held = defaultdict(list)
    for each in schedule.transfers:
        rate = min(links[number].bytes_per_s for number in each.links)
        for number in each.links:
            held[number].append((each.start_s, each.start_s + schedule.chunk_bytes / rate))
    for number, times in held.items():
        end_s = 0.0
        for begins_s, ends_s in sorted(times):
            if begins_s < end_s - slack_s:
                yield f"link {number} carries two chunks at {begins_s:.9g} s"
            end_s = max(end_s, ends_s)


def _chunk_faults(schedule: TimedSchedule) -> Iterator[str]:
    links, slack_s = schedule.network.links, TOLERANCE * schedule.finish_s
    there = dict(_at_start(schedule))
    for each in sorted(schedule.transfers, key=lambda one: one.start_s):
        sender, receiver = links[each.links[0]].source, links[each.links[-1]].destination
        rate = min(links[number].bytes_per_s for number in each.links)
        arrival_s = each.start_s + sum(links[number].alpha_s for number in each.links) + schedule.chunk_bytes / rate
        sent = there.get((each.chunk, sender), {})
        if not sent:
            yield f"rank {sender} sends chunk {each.chunk} without having it"
        elif max(sent.values()) > each.start_s + slack_s:
            yield f"rank {sender} sends chunk {each.chunk} at {each.start_s:.9g} s, before all of it is there"
        yield from _receive(there, each, receiver, dict.fromkeys(sent, arrival_s))
    yield from _missing(schedule, there)


def _receive(there: Contributions, each: Transfer, receiver: int, sent: dict[int, float]) -> Iterator[str]:
    """Add or replace what a rank has of a chunk."""
    place = each.chunk, receiver
    before = there.get(place, {})
    if each.adds and before.keys() & sent.keys():
        yield f"rank {receiver} adds to chunk {each.chunk} what it holds already"
    kept = before if each.adds else {given: time_s for given, time_s in before.items() if given not in sent}
    there[place] = kept | sent


def _at_start(schedule: TimedSchedule) -> Iterator[tuple[tuple[int, int], dict[int, float]]]:
    ranks, parts = schedule.network.ranks, schedule.parts
    if schedule.collective == "broadcast":
        yield from (((chunk, 0), {0: 0.0}) for chunk in range(parts))
    elif schedule.collective == "all_gather":
        yield from (((chunk, chunk // parts), {0: 0.0}) for chunk in range(ranks * parts))
    elif schedule.collective == "all_to_all":
        yield from (((chunk, chunk // (ranks * parts)), {0: 0.0}) for chunk in range(ranks * ranks * parts))
    else:
        yield from (((chunk, rank), {rank: 0.0}) for chunk in range(ranks * parts) for rank in range(ranks))


def _missing(schedule: TimedSchedule, there: Contributions) -> Iterator[str]:
    ranks, parts, collective = schedule.network.ranks, schedule.parts, schedule.collective
    reduces = collective in ("reduce_scatter", "all_reduce")
    whole = set(range(ranks)) if reduces else {0}
    chunks = {"broadcast": parts, "all_to_all": ranks * ranks * parts}.get(collective, ranks * parts)
    for chunk in range(chunks):
        ends = {"reduce_scatter": [chunk // parts], "all_to_all": [chunk // parts % ranks]}.get(
            collective, [*range(ranks)]
        )
        for rank in ends:
            if there.get((chunk, rank), {}).keys() != whole:
                yield f"rank {rank} ends without all of chunk {chunk}"

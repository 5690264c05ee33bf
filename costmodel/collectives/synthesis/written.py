"""A schedule with times written out in rounds, as exports and proofs of schedules read it."""

import numpy as np

from costmodel.collectives.schedule import Circuits, Schedule
from costmodel.collectives.synthesis.timed import TimedSchedule, levels_of


def written_out(timed: TimedSchedule) -> Schedule:
    """The same transfers in rounds, over one circuit for each pair of ranks that any goes between."""
    network, parts = timed.network, timed.parts
    levels = np.array(levels_of(timed), dtype=np.int32)
    order = np.argsort(levels, kind="stable")
    moved = [timed.transfers[place] for place in order]
    ends = np.array(
        [(network.links[each.links[0]].source, network.links[each.links[-1]].destination) for each in moved],
        dtype=np.int16,
    ).reshape(-1, 2)
    pairs, circuit = np.unique(ends, axis=0, return_inverse=True)
    chunk = np.array([each.chunk for each in moved], dtype=np.int32)
    num_chunks = parts if timed.collective == "broadcast" else network.ranks * parts
    rounds = int(levels.max(initial=-1)) + 1
    always, one = np.zeros(len(pairs), dtype=np.int16), np.ones(len(pairs), dtype=np.int16)
    return Schedule(
        collective=timed.collective,
        ranks=network.ranks,
        num_chunks=num_chunks,
        num_slots=num_chunks * (network.ranks if timed.collective == "all_to_all" else 1),
        round=levels[order],
        sender=ends[:, 0],
        receiver=ends[:, 1],
        chunk=chunk,
        target=chunk,
        is_reduction=np.array([each.adds for each in moved], dtype=np.bool_),
        circuit=circuit.reshape(-1).astype(np.int32),
        configuration_of=np.zeros(rounds, dtype=np.int32),
        call_of=np.zeros(rounds, dtype=np.int32),
        circuits=Circuits(pairs[:, 0], pairs[:, 1], one, always, always),
    )

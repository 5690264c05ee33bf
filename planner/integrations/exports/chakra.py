"""A schedule as Chakra execution traces: each rank's sends and receives, with their sizes and what they wait for.

Names and numbers of fields are those of `et_def.proto` of MLCommons Chakra, schema 0.0.4. ASTRA-sim reads the binary
form, one file a rank; the JSON form says the same.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from google.protobuf.proto import serialize_length_prefixed

from costmodel.collectives.ladder import Collective
from costmodel.collectives.schedule import LOCAL, Schedule
from costmodel.wording import counted
from planner.integrations.exports import execution_trace
from planner.integrations.exports.runs import rounds_of

VERSION = "0.0.4"
SEND, RECEIVE, COLLECTIVE = 5, 6, 7
NODE_NAMES = {SEND: "COMM_SEND_NODE", RECEIVE: "COMM_RECV_NODE", COLLECTIVE: "COMM_COLL_NODE"}
COMM_TYPES: dict[Collective, int] = {
    "all_reduce": 0,
    "all_gather": 2,
    "broadcast": 5,
    "all_to_all": 6,
    "reduce_scatter": 7,
}
Attribute = int | bool


@dataclass(frozen=True)
class Node:
    """One communication of a rank."""

    id: int
    name: str
    kind: int
    waits_for: tuple[int, ...]
    attributes: dict[str, Attribute]

    def document(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "type": NODE_NAMES[self.kind],
            "data_deps": list(self.waits_for),
            "attr": [{"name": name, _value_field(value): value} for name, value in self.attributes.items()],
        }

    def message(self) -> Any:
        node = execution_trace.Node(id=self.id, name=self.name, type=self.kind, data_deps=self.waits_for)
        for name, value in self.attributes.items():
            node.attr.add(name=name, **{_value_field(value): value})
        return node


def _value_field(value: Attribute) -> str:
    """The field of an attribute that holds a value of this type."""
    return "bool_val" if isinstance(value, bool) else "int64_val"


def trace_nodes(schedule: Schedule, message_bytes: int) -> list[list[Node]]:
    """Nodes of each rank: a round waits for all that the rank did in its last round before.

    `comm_size` is in bytes. A circuit's chunks of one round are one message, its tag the round. Moves within a rank
    take no time and are left out. ValueError for fewer bytes than chunks.
    """
    if message_bytes < schedule.num_chunks:
        problem = f"a message of {counted(message_bytes, 'byte')} has less than one for each of its chunks"
        raise ValueError(f"{problem}; give --message {schedule.num_chunks}B or more")
    chunk_bytes = message_bytes / schedule.num_chunks
    nodes: list[list[Node]] = [[] for _ in range(schedule.ranks)]
    before: list[tuple[int, ...]] = [() for _ in range(schedule.ranks)]
    for tag, each in enumerate(rounds_of(schedule)):
        counts: dict[tuple[int, int], int] = {}
        for run in each.runs:
            if run.circuit != LOCAL:
                counts[run.sender, run.receiver] = counts.get((run.sender, run.receiver), 0) + run.count
        now: dict[int, list[int]] = {}
        for (sender, receiver), count in counts.items():
            size = round(count * chunk_bytes)
            for rank, kind in ((sender, SEND), (receiver, RECEIVE)):
                node = _message_node(len(nodes[rank]), kind, sender, receiver, tag, size, before[rank])
                nodes[rank].append(node)
                now.setdefault(rank, []).append(node.id)
        for rank, ids in now.items():
            before[rank] = tuple(ids)
    return nodes


def _message_node(
    index: int, kind: int, sender: int, receiver: int, tag: int, size: int, waits_for: tuple[int, ...]
) -> Node:
    verb = "send" if kind == SEND else "receive"
    attributes: dict[str, Attribute] = {
        "is_cpu_op": False,
        "comm_size": size,
        "comm_src": sender,
        "comm_dst": receiver,
        "comm_tag": tag,
    }
    return Node(index, f"{verb} {sender} to {receiver}, round {tag}", kind, waits_for, attributes)


def collective_node(collective: Collective, message_bytes: int) -> Node:
    """The whole collective as one node, for a workload that leaves the algorithm to the system."""
    attributes: dict[str, Attribute] = {
        "is_cpu_op": False,
        "comm_type": COMM_TYPES[collective],
        "comm_size": message_bytes,
    }
    return Node(0, collective, COLLECTIVE, (), attributes)


def trace_bytes(nodes: list[Node]) -> bytes:
    """The binary form: a stream of messages, metadata first."""
    stream = BytesIO()
    for message in (execution_trace.GlobalMetadata(version=VERSION), *(node.message() for node in nodes)):
        serialize_length_prefixed(message, stream)
    return stream.getvalue()


def trace_text(nodes: list[Node]) -> str:
    """The JSON form, a node a line."""
    return "\n".join(_lines(nodes)) + "\n"


def _lines(nodes: list[Node]) -> Iterator[str]:
    yield f'{{"version": "{VERSION}", "nodes": ['
    for node in nodes:
        yield json.dumps(node.document()) + ("," if node is not nodes[-1] else "")
    yield "]}"

"""Execution traces: read back as proto3 messages, sizes explicit, all sends received."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.internal.decoder import _DecodeVarint

from costmodel.collectives.build import schedule_of
from costmodel.collectives.ladder import Algorithm, Collective
from planner.integrations.exports import chakra
from tests.costmodel.collectives.cases import MIB, best_of


@pytest.fixture(scope="module")
def messages() -> dict[str, Any]:
    """Classes of the schema's messages, as far as they are used."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="et.proto", package="c", syntax="proto3")
    kinds = {"uint64": 4, "int64": 3, "int32": 5, "bool": 8, "string": 9, "message": 11}

    def message(name: str, fields: list[tuple[str, int, str, bool]]) -> None:
        added = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            is_message = kind not in kinds
            added.field.add(
                name=field,
                number=number,
                type=kinds["message" if is_message else kind],
                label=3 if repeated else 1,
                type_name=f".c.{kind}" if is_message else None,
            )

    message(
        "Attribute", [("name", 1, "string", False), ("int64_val", 9, "int64", False), ("bool_val", 27, "bool", False)]
    )
    message("Metadata", [("version", 1, "string", False), ("attr", 2, "Attribute", True)])
    message(
        "Node",
        [
            ("id", 1, "uint64", False), ("name", 2, "string", False), ("type", 3, "int32", False),
            ("ctrl_deps", 4, "uint64", True), ("data_deps", 5, "uint64", True), ("attr", 10, "Attribute", True),
        ],
    )  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = ("Metadata", "Node")
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"c.{name}")) for name in names}


def _parts(data: bytes) -> Iterator[bytes]:
    """Messages of a stream with their lengths in front."""
    place = 0
    while place < len(data):
        size, place = _DecodeVarint(data, place)
        yield data[place : place + size]
        place += size


def _values(node: Any) -> dict[str, int]:
    return {each.name: each.bool_val if each.name == "is_cpu_op" else each.int64_val for each in node.attr}


@pytest.mark.parametrize(
    ("collective", "algorithm", "ranks"),
    [("all_reduce", "radix", 12), ("all_reduce", "exchange", 7), ("all_to_all", "direct", 6), ("broadcast", "tree", 9)],
)
def test_traces_say_the_same_as_the_schedule(
    collective: Collective, algorithm: Algorithm, ranks: int, messages: dict[str, Any]
) -> None:
    schedule = schedule_of(best_of(algorithm, collective, ranks, MIB))
    sent: Counter[tuple[int, ...]] = Counter()
    received: Counter[tuple[int, ...]] = Counter()
    for rank, nodes in enumerate(chakra.trace_nodes(schedule, MIB)):
        first, *others = _parts(chakra.trace_bytes(nodes))
        assert messages["Metadata"].FromString(first).version == chakra.VERSION
        read = [messages["Node"].FromString(each) for each in others]
        documents = json.loads(chakra.trace_text(nodes))["nodes"]
        for number, (node, document) in enumerate(zip(read, documents, strict=True)):
            values = _values(node)
            assert node.id == number == document["id"]
            assert {each["name"]: each.get("int64_val", False) for each in document["attr"]} == values
            assert list(node.data_deps) == document["data_deps"]
            assert all(before < number for before in node.data_deps)
            ends = tuple(values[f"comm_{name}"] for name in ("src", "dst", "tag", "size"))
            assert {chakra.SEND: ends[0], chakra.RECEIVE: ends[1]}[node.type] == rank
            (sent if node.type == chakra.SEND else received)[ends] += 1
    assert sent == received
    assert set(sent.values()) == {1}
    wire = (schedule.circuit >= 0) & (schedule.call_of[schedule.round] == 0)
    assert sum(ends[3] for ends in sent) == pytest.approx(wire.sum() * MIB / schedule.num_chunks, rel=1e-4)


def test_every_field_that_is_set_is_written() -> None:
    """Zeros and false too, in the order of the schema: `id` 0, `is_cpu_op` false, one dependence, packed."""
    node = chakra.Node(0, "send 0 to 1, round 1", chakra.SEND, (0,), {"is_cpu_op": False, "comm_tag": 300})
    assert chakra.trace_bytes([node]).hex() == (
        "07" "0a05302e302e34"
        "3c" "0800" "121473656e64203020746f20312c20726f756e642031" "1805" "2a0100"
        "520e" "0a0969735f6370755f6f70" "d80100" "520d" "0a08636f6d6d5f746167" "48ac02"
    )  # fmt: skip


def test_the_call_of_a_collective(messages: dict[str, Any]) -> None:
    _, node = _parts(chakra.trace_bytes([chakra.collective_node("all_reduce", 3 * MIB)]))
    read = messages["Node"].FromString(node)
    assert (read.type, read.name) == (7, "all_reduce")
    assert _values(read) == {"is_cpu_op": False, "comm_type": 0, "comm_size": 3 * MIB}

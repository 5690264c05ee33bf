"""The few parts of the protobuf wire format that execution traces need: whole numbers, texts and messages."""

from collections.abc import Iterable


def varint(value: int) -> bytes:
    """A whole number, seven bits a byte, lowest first; negative ones as 64-bit two's complement."""
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes) -> bytes:
    """A text, a message or packed numbers."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def packed(field: int, values: Iterable[int]) -> bytes:
    joined = b"".join(varint(value) for value in values)
    return data(field, joined) if joined else b""


def delimited(message: bytes) -> bytes:
    """A message with its length in front, as streams of messages have it."""
    return varint(len(message)) + message

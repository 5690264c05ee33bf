"""Texts of annotations: long ones are packed, since an object holds only so many bytes of them in all."""

import gzip
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from io import BytesIO
from zlib import error as DeflateError  # noqa: N812

MOST_OF_OBJECT = 256 * 2**10
"""bytes of all keys and values of annotations (`TotalAnnotationSizeLimitB` of Kubernetes)"""
MOST_PLAIN = 32 * 2**10
"""bytes of a text that stays as it is, for people to read"""
MOST_UNPACKED = 16 * 2**20
"""bytes that are ever unpacked: whoever forges an annotation cannot fill the memory"""
PACKED = "gzip:"
"""before base64 of the gzip of a text"""


def packed(text: str) -> str:
    """A text as an annotation has it; the same text gives the same bytes."""
    data = text.encode()
    return text if len(data) <= MOST_PLAIN else PACKED + b64encode(gzip.compress(data, mtime=0)).decode()


def unpacked(text: str) -> str:
    """What `packed` was given; ValueError for what it never wrote."""
    if not text.startswith(PACKED):
        return text
    try:
        with gzip.open(BytesIO(b64decode(text.removeprefix(PACKED), validate=True))) as stream:
            data = stream.read(MOST_UNPACKED + 1)
    except (Base64Error, OSError, EOFError, DeflateError) as error:
        raise ValueError(f"is not packed as the planner packs it: {error}") from None
    if len(data) > MOST_UNPACKED:
        raise ValueError(f"is longer than {MOST_UNPACKED} bytes")
    return data.decode()


def num_bytes(annotations: Mapping[str, str]) -> int:
    """Bytes that count against `MOST_OF_OBJECT`."""
    return sum(len(key.encode()) + len(text.encode()) for key, text in annotations.items())

"""Records that survive a crash: a magic line, then one frame after the other, each with its length and checksum.

A frame cut short by a crash is recognised and cut off; what stands before it is whole.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

FRAME = struct.Struct("<II")  # length of the payload, CRC-32 of the payload


def framed(payload: bytes) -> bytes:
    """The payload with its length and checksum before it."""
    return FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def whole_frames(content: bytes, start: int) -> Iterator[tuple[bytes, int]]:
    """The payloads from `start` on, each with the place where its frame ends, up to the first broken one."""
    while start + FRAME.size <= len(content):
        length, checksum = FRAME.unpack_from(content, start)
        end = start + FRAME.size + length
        payload = content[start + FRAME.size : end]
        if end > len(content) or zlib.crc32(payload) != checksum:
            return
        yield payload, end
        start = end

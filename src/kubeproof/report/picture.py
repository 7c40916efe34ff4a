"""Pictures as PNG files, without a library: dots in RGB, rectangles, lines, small letters."""

from __future__ import annotations

import struct
import zlib

INK, WHITE = b"\x22\x22\x22", b"\xff\xff\xff"

_GLYPHS = {  # five rows of three dots each, top first, as octal digits
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71222",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25573", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", ".": "00002", ",": "00024", ":": "02020", "-": "00700",
    "/": "11244", "%": "51245", "=": "07070", "(": "12221", ")": "42224", "+": "02720", "_": "00007", " ": "00000",
}  # fmt: skip
_UNKNOWN = "77777"


def rgb(colour: str) -> bytes:
    """The three bytes of #rrggbb."""
    return bytes.fromhex(colour[1:])


class Canvas:
    """Dots in RGB, white at first."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows = [bytearray(WHITE * width) for _ in range(height)]

    def fill(self, x: int, y: int, width: int, height: int, colour: bytes) -> None:
        """A rectangle; what lies outside is left out."""
        left, right = max(x, 0), min(x + width, self.width)
        if left < right:
            for row in self._rows[max(y, 0) : max(y + height, 0)]:
                row[3 * left : 3 * right] = colour * (right - left)

    def tint(self, x: int, y: int, height: int, colour: bytes) -> None:
        """A column mixed with a colour, a fifth of it."""
        if 0 <= x < self.width:
            for row in self._rows[max(y, 0) : max(y + height, 0)]:
                for part in range(3):
                    row[3 * x + part] = (4 * row[3 * x + part] + colour[part]) // 5

    def line(self, x1: int, y1: int, x2: int, y2: int, colour: bytes, thick: int = 2) -> None:
        """A straight line."""
        steps = max(abs(x2 - x1), abs(y2 - y1), 1)
        for step in range(steps + 1):
            self.fill(x1 + round((x2 - x1) * step / steps), y1 + round((y2 - y1) * step / steps), thick, thick, colour)

    def write(self, x: int, y: int, text: str, colour: bytes = INK) -> None:
        """Text in capitals of six by ten dots; letters that are not known become blocks."""
        for place, char in enumerate(text.upper()):
            for line, dots in enumerate(_GLYPHS.get(char, _UNKNOWN)):
                for column in range(3):
                    if int(dots) >> (2 - column) & 1:
                        self.fill(x + 8 * place + 2 * column, y + 2 * line, 2, 2, colour)

    def encoded(self) -> bytes:
        """The picture as a PNG file: header, one compressed block of unfiltered rows, end."""
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in self._rows), 9)
        chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

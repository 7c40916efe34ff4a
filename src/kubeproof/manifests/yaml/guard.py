"""Bounds on input, so that no file can exhaust time, memory or the stack."""

from __future__ import annotations

import re

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.values import dataclass

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_NOT_UTF8_MARKS = (
    (b"\xff\xfe", "UTF-16 or UTF-32"),
    (b"\xfe\xff", "UTF-16"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
)
_NUMBER_LIKE = re.compile(r"[-+]?[0-9._]*[0-9][0-9._]*(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_A_NUMBER = frozenset({".nan", ".inf", "-.inf", "+.inf"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest input that is read; everything beyond is refused, never truncated."""

    file_bytes: int = 64 * 2**20
    input_bytes: int = 256 * 2**20
    depth: int = 100
    nodes: int = 2_000_000  # keys and values of the whole input, aliases counted as often as they are used
    scalar_characters: int = 2**20
    digits: int = 64
    documents: int = 100_000
    files: int = 100_000


class Budget:
    """What is left of the bounds that span the whole input."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.nodes = bounds.nodes
        self.bytes = bounds.input_bytes
        self.documents = bounds.documents

    def take_nodes(self, count: int, *, file: str, line: int) -> None:
        """Counts nodes; refuses the input once it has too many."""
        self.nodes -= count
        if self.nodes < 0:
            raise _make_exhausted(
                f"more than {self.bounds.nodes:,} keys and values, counting each use of an alias",
                file=file,
                line=line,
                remedy="Split the input or write out the aliases",
            )

    def take_document(self, *, file: str, line: int) -> None:
        """Counts one document; refuses the input once it has too many."""
        self.documents -= 1
        if self.documents < 0:
            raise _make_exhausted(
                f"more than {self.bounds.documents:,} documents",
                file=file,
                line=line,
                remedy="Split the input",
            )

    def take_bytes(self, count: int, *, file: str) -> None:
        """Counts the bytes of one file; refuses a file or an input that is too large."""
        self.bytes -= count
        if count > self.bounds.file_bytes or self.bytes < 0:
            raise _make_exhausted(
                f"the file is larger than {self.bounds.file_bytes // 2**20} MiB, "
                f"or the whole input larger than {self.bounds.input_bytes // 2**20} MiB",
                file=file,
                line=1,
                remedy="Split the input, or leave out what is not needed",
            )


def _make_exhausted(problem: str, *, file: str, line: int, remedy: str) -> HostileInputError:
    found = HostileInputError(problem, file=file, line=line, remedy=remedy)
    found.exhausts_input = True
    return found


def decode(content: bytes, *, file: str) -> str:
    """The content as text; refuses anything but UTF-8 without control characters."""
    for mark, name in _NOT_UTF8_MARKS:
        if content.startswith(mark):
            raise ManifestError(f"the file is {name}, not UTF-8", file=file, line=1, remedy="Save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise ManifestError("the file is not valid UTF-8", file=file, line=line, remedy="Save it as UTF-8") from None
    text = text.replace("\n\ufeff", "\n")  # files put one after the other, each with its mark
    found = _FORBIDDEN.search(text)
    if found is None:
        return text
    raise HostileInputError(
        f"control character U+{ord(found.group()):04X}",
        file=file,
        line=text.count("\n", 0, found.start()) + 1,
        remedy="Remove it; inside double quotes it can be written as an escape",
    )


def check_scalar(text: str, *, plain: bool, bounds: Bounds, file: str, line: int) -> None:
    """Refuses overlong scalars and numbers, NaN, infinities and lone surrogates."""
    if len(text) > bounds.scalar_characters:
        raise HostileInputError(
            f"a value with more than {bounds.scalar_characters:,} characters",
            file=file,
            line=line,
            remedy="Leave large data out of the input",
        )
    if plain and text.lower() in _NOT_A_NUMBER:
        raise ManifestError(
            f"{text} is not a number Kubernetes can store",
            file=file,
            line=line,
            remedy="Write a number, or quote it",
        )
    if plain and len(text) > bounds.digits and _NUMBER_LIKE.fullmatch(text):
        raise HostileInputError(
            f"a number with more than {bounds.digits} digits",
            file=file,
            line=line,
            remedy="Quote it if it is text",
        )
    if not plain and not text.isprintable() and any("\ud800" <= c <= "\udfff" for c in text):
        raise HostileInputError("half of a surrogate pair", file=file, line=line, remedy="Write the whole character")

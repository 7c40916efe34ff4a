"""The option `-o FORMAT[=FILE]`: parsing it, and writing reports where it says."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

import click

from kubeproof.cli.running.endings import first_of, say, silence, tell_ending
from kubeproof.errors import EnvironmentProblem
from kubeproof.named_tuples import NamedTuple

USUAL_RIGHTS = 0o666  # less the mask of the process
Decorator = Callable[[Callable[..., int]], Callable[..., int]]


class Output(NamedTuple):
    """One wanted report; without a file it goes to stdout.

    A named tuple: a dataclass would cost every start of the program a millisecond.
    """

    format: str
    file: str | None = None


def parse_output(value: str, formats: tuple[str, ...]) -> Output:
    """The wanted report; an unknown format or an unusable file is wrong usage, before any work is done."""
    format_name, equals, file = value.partition("=")
    if format_name not in formats:
        raise click.BadParameter(_unknown(format_name, formats))
    if not equals:
        return Output(format_name)
    if not file or not os.path.isdir(os.path.dirname(file) or ".") or os.path.isdir(file):
        raise click.BadParameter(f"{file!r} is not a file in an existing directory")
    return Output(format_name, file)


def _unknown(name: str, formats: tuple[str, ...]) -> str:
    if name == "png" and "svg" in formats:
        return "pictures are written as SVG: write svg=FILE; rsvg-convert, Inkscape and browsers make PNG files of it"
    return f"unknown format {name!r}; there are: {', '.join(formats)}"


def without_clash(outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    """The outputs, text on stdout if there are none; two in one place are wrong usage."""
    places = [None if output.file is None else os.path.abspath(output.file) for output in outputs]
    if places.count(None) > 1:
        raise click.BadParameter("only one format can go to stdout; write the others as FORMAT=FILE")
    if len(set(places)) < len(places):
        raise click.BadParameter("two formats go to the same file")
    return outputs or (Output("text"),)


def output_option(*formats: str) -> Decorator:
    """The option `-o`, repeatable, for these formats."""

    def parse(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[Output, ...]:
        return without_clash(tuple(parse_output(value, formats) for value in values))

    return click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        callback=parse,
        metavar="FORMAT[=FILE]",
        help=f"Report format: {', '.join(formats)}; default text. Repeatable; without FILE to stdout.",
    )


def emit(
    outputs: tuple[Output, ...], render: Callable[[Output], str], code: int = 0, *, verdict: str | None = None
) -> int:
    """Writes every report, and returns the exit code: `code`, which is what the reports say, or why one is missing.

    Files come first, so that a reader who closes stdout loses none. A report that cannot be made or written is told
    on stderr and costs none of the others; a violation stays one. With a verdict, even an empty one, a line tells
    where to look if all reports went into files.
    """
    codes = [code]
    try:
        for output in sorted(outputs, key=lambda one: one.file is None):
            codes.append(_emit_one(output, render))
    except KeyboardInterrupt as problem:
        codes.append(tell_ending(problem))
    if verdict is not None and len(codes) > len(outputs) and not any(codes[1:]):
        tell_where(outputs, verdict)
    return first_of(codes)


def _emit_one(output: Output, render: Callable[[Output], str]) -> int:
    try:
        report = render(output)
        if output.file is not None:
            write_file(output.file, report)
        else:
            write_stdout(report)
    except Exception as problem:
        return tell_ending(problem)
    return 0


def tell_where(outputs: tuple[Output, ...], verdict: str = "") -> None:
    """One line on stderr if all reports went into files: a run that prints nothing looks as if it had done nothing."""
    if all(output.file is not None for output in outputs):
        files = ", ".join(str(output.file) for output in outputs)
        say(f"{verdict}: see {files}" if verdict else f"see {files}")


def write_stdout(text: str) -> None:
    """Writes to stdout, characters it cannot show spelled out; a reader who left is no error."""
    stream = sys.stdout
    if stream is None:
        return
    encoding = stream.encoding or "ascii"
    try:
        _write_stream(stream, text.encode(encoding, "backslashreplace"), encoding)
    except BrokenPipeError:
        silence(stream)
    except OSError as problem:
        silence(stream)
        raise EnvironmentProblem(f"E401 cannot write to stdout: {problem.strerror}.") from None


def _write_stream(stream: TextIO, content: bytes, encoding: str) -> None:
    """Writes all of it, also if a signal comes meanwhile: CPython's own buffers then lose what a full pipe did not
    take."""
    try:
        place = stream.fileno() if os.name == "posix" else -1
    except (AttributeError, OSError, ValueError):  # no file of the system, as under a test runner
        place = -1
    if place >= 0:
        stream.flush()
        write_all(place, content)
    else:
        stream.write(content.decode(encoding))
        stream.flush()


def write_all(place: int, content: bytes) -> None:
    """Writes all of it to a file descriptor."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(place, rest) :]


def write_file(path: str, text: str) -> None:
    """Writes the file as a whole or not at all, with the rights that it had; devices and pipes are written directly."""
    try:
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            _write(path, text, os.O_WRONLY)
        else:
            _replace(os.path.realpath(path), text)
    except OSError as problem:
        raise EnvironmentProblem(f"E401 cannot write {path}: {problem.strerror}.") from None


def _replace(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    rights = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else None
    try:
        _write(temporary, text, os.O_WRONLY | os.O_CREAT | os.O_EXCL, USUAL_RIGHTS if rights is None else rights)
        if rights is not None:
            os.chmod(temporary, rights)  # the mask of the process may have taken some away
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _write(path: str, text: str, flags: int, rights: int = USUAL_RIGHTS) -> None:
    content = text.encode("utf-8", "backslashreplace")
    place = os.open(path, flags, rights)
    try:
        write_all(place, content)
    finally:
        os.close(place)

"""The server on standard input and output, in the Model Context Protocol."""

from __future__ import annotations

import inspect
import io
import os
import select
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from kubeproof import __version__
from kubeproof.cli.assistants.calls import CallLimits
from kubeproof.cli.assistants.fenced_files import Fence
from kubeproof.cli.assistants.tools import Toolbox
from kubeproof.cli.running.endings import INTERRUPTED, OK

AT_ONCE = 2
MOST_WAITING = 16
MOST_OF_A_LINE = 4 * 1024 * 1024  # bytes of one message; the rest of a longer one is thrown away
INSTRUCTIONS = """Kubeproof proves properties of Kubernetes manifests, or shows the run in which they fail.
Use verify before you say that a change is safe, and again after you changed something. HOLDS is a proof for the printed
scope; UNKNOWN is not. fix finds a change that is proved to help and writes nothing. explain tells what a word means."""


def make_server(fence: Fence, limits: CallLimits) -> MCPServer[Any]:
    """The server with its tools, none of which changes anything."""
    server: MCPServer[Any] = MCPServer(
        "kubeproof", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING", subscriptions=False
    )
    box = Toolbox(fence, limits, Gate())
    annotations = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for tool in (box.verify, box.what_if, box.explain, box.fix, box.simulate):
        server.add_tool(tool, description=inspect.getdoc(tool), annotations=annotations)
    return server


class Gate:
    """Lets a few calls run at once, a few more wait, and refuses the rest."""

    def __init__(self) -> None:
        self._waiting = 0
        self._limiter: anyio.CapacityLimiter | None = None

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Holds one of the places while a call runs."""
        self._limiter = self._limiter or anyio.CapacityLimiter(AT_ONCE)
        if self._waiting >= AT_ONCE + MOST_WAITING:
            raise ToolError("too many calls wait for their turn; ask again later.")
        self._waiting += 1
        try:
            async with self._limiter:
                yield
        finally:
            self._waiting -= 1


class BoundedLines(io.RawIOBase):
    """Bytes of a descriptor, of each line at most so many: nobody fills the memory with one message.

    `end` makes whoever reads see the end of them, also while there is nothing to read.
    """

    def __init__(self, descriptor: int, most: int = MOST_OF_A_LINE) -> None:
        self._descriptor, self._most, self._length = descriptor, most, 0
        self._woken, self._waker = os.pipe()

    def readable(self) -> bool:
        return True

    def end(self) -> None:
        """Nothing more is read."""
        os.write(self._waker, b".")

    def readinto(self, buffer: Any) -> int:
        """The next bytes; 0 at the end."""
        while chunk := self._wait(len(buffer)):
            kept = b"".join(map(self._cut, chunk.splitlines(keepends=True)))
            if kept:
                buffer[: len(kept)] = kept
                return len(kept)
        return 0

    def _wait(self, size: int) -> bytes:
        if os.name == "posix":
            ready, _, _ = select.select([self._descriptor, self._woken], [], [])
            if self._woken in ready:
                return b""
        return os.read(self._descriptor, size)

    def _cut(self, piece: bytes) -> bytes:
        """What is left of a piece: of a line that is too long its end is missing, which makes it no message."""
        ends = piece.endswith(b"\n")
        left = max(0, self._most - self._length)
        self._length = 0 if ends else self._length + len(piece)
        return piece if len(piece) <= left else piece[:left] + (b"\n" if ends else b"")


def serve(fence: Fence, limits: CallLimits) -> int:
    """Serves until the client closes the line, or a signal comes; the exit code."""
    lines = BoundedLines(0)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(lines), encoding="utf-8")
    return anyio.run(_serve, make_server(fence, limits), lines)


async def _serve(server: MCPServer[Any], lines: BoundedLines) -> int:
    heard: list[int] = []

    async def hear() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                heard.append(number)
                lines.end()
                tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hear)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()
    return INTERRUPTED if heard else OK

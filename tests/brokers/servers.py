"""Real brokers for tests: started on loopback with free ports and a directory of their own, gone afterwards.

A test that asks for one is skipped where the program is not installed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

import pytest

HOST = "127.0.0.1"
_RABBIT = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # Debian's wrapper in /usr/sbin changes user and directory
_PATIENCE_S = 120.0


def free_port() -> int:
    """A port that nobody has at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def greets(port: int, hello: bytes, answer: bytes) -> bool:
    """True if whoever listens on the port answers like this."""
    with suppress(OSError), socket.create_connection((HOST, port), timeout=5) as connection:
        connection.sendall(hello)
        return connection.recv(len(answer)) == answer
    return False


def until(holds: Callable[[], bool], what: str, process: subprocess.Popen[bytes] | None = None) -> None:
    """Waits for something that a process of ours is about to do."""
    end = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > end or (process is not None and process.poll() is not None):
            raise AssertionError(f"in vain: {what}")
        time.sleep(0.1)


class Broker:
    """A server of which a test can start, stop and kill the process; its data stay."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path, port: int) -> None:
        self._command, self._environment, self._folder, self.port = command, environment, folder, port
        self._hello, self._answer = b"", b""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Broker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(signal.SIGKILL)

    def expects(self, hello: bytes, answer: bytes) -> Broker:
        """What tells that the server is up."""
        self._hello, self._answer = hello, answer
        return self

    def start(self) -> Broker:
        """Starts it and waits until it answers."""
        with (self._folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self._command, env=self._environment, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True,
            )  # fmt: skip
        self.wait_until_up()
        return self

    def wait_until_up(self) -> None:
        """Waits until it answers."""
        until(lambda: greets(self.port, self._hello, self._answer), f"start {self._command[0]}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends the server and all that it started."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, how)
        self._process.wait(timeout=_PATIENCE_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process = None


@contextmanager
def rabbitmq(folder: Path) -> Iterator[Broker]:
    """A RabbitMQ with its own epmd, so that no daemon stays behind."""
    epmd = shutil.which("epmd")
    if epmd is None or not _RABBIT.exists():
        pytest.skip("rabbitmq-server is not installed")
    port, distribution, mapper = free_port(), free_port(), free_port()
    (folder / "advanced.config").write_text("[].\n")
    (folder / "enabled_plugins").write_text("[].\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "ERL_EPMD_ADDRESS": HOST,
        "ERL_EPMD_PORT": str(mapper),
        "RABBITMQ_NODENAME": f"kubeproof{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": HOST,
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced.config"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}",
    }
    mapping = subprocess.Popen([epmd, "-address", HOST, "-port", str(mapper)], env=environment)
    try:
        with Broker([str(_RABBIT)], environment, folder, port).expects(b"AMQP\0\0\x09\x01", b"\x01\0\0") as broker:
            yield broker.start()
    finally:
        mapping.kill()
        mapping.wait()


@contextmanager
def redis(folder: Path) -> Iterator[Broker]:
    """A Redis that writes every change to its append-only file."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    command = [
        program, "--bind", HOST, "--port", str(port), "--dir", str(folder), "--appendonly", "yes", "--save", "",
    ]  # fmt: skip
    with Broker(command, dict(os.environ), folder, port).expects(b"PING\r\n", b"+PONG") as broker:
        yield broker.start()

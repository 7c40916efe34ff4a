"""`kubeproof mcp`, driven over standard input and output by the official client: all tools, and what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kubeproof.cli.commands.mcp import mcp_command

mcp = pytest.importorskip("mcp", reason="the server needs the extra mcp")
anyio = pytest.importorskip("anyio")
psutil = pytest.importorskip("psutil", reason="looks for processes that are left")

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "how-to" / "assistants.md"
SERVE = [sys.executable, "-m", "kubeproof.cli.main", "mcp", "--timeout", "60", "--root"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
SHOP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      containers: [{name: cart, image: cart, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
"""
CONFLICT = {"paths": ["01-conflicting-spread"]}
GOOD_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "verify a folder": ("verify", CONFLICT),
    "verify a text": ("verify", {"manifests": SHOP, "nodes": ["2x2cpu,4Gi"], "faults": ["podCrash", "nodeLoss"]}),
    "explain": ("explain", {"words": ["S005", "stuck"]}),
    "drain a node": (
        "what_if",
        {"action": "drain", "subjects": ["node-1"], "manifests": SHOP, "nodes": ["2x2cpu,4Gi"]},
    ),
    "apply a change": ("what_if", {"action": "apply", "manifests": SHOP, "change": SHOP.replace("100m", "200m")}),
    "fix": ("fix", CONFLICT),
    "simulate": ("simulate", {"paths": ["11-simulated-shop"], "duration": "20s"}),
}
BAD_CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a path above": ("verify", {"paths": ["../secret.yaml"]}, "not inside the folder"),
    "an absolute path": ("fix", {"paths": ["/etc/passwd"]}, "not inside the folder"),
    "a link that leads out": ("verify", {"paths": ["out.yaml"]}, "not inside the folder"),
    "a folder link that leads out": ("simulate", {"paths": ["outside/secret.yaml"]}, "not inside the folder"),
    "a byte that ends texts": ("verify", {"paths": ["a\0b"]}, "not inside the folder"),
    "a pipe": ("verify", {"paths": ["pipe.yaml"]}, "is no file"),
    "what is not there": ("verify", {"paths": ["nothing.yaml"]}, "there is no"),
    "an option as path": ("verify", {"paths": ["--live"]}, "there is no"),
    "an option as word": ("explain", {"words": ["--help"]}, "nothing called"),
    "an option as fault": ("verify", {**CONFLICT, "faults": ["--controller=x.py:X"]}, "--controller=x.py:X"),
    "an option as nodes": ("verify", {**CONFLICT, "nodes": ["-o=text=pwned"]}, "nodes"),
    "an option as duration": ("simulate", {**CONFLICT, "duration": "--workers=9"}, "duration"),
    "a huge path": ("verify", {"paths": ["x" * 100_000]}, "at most 1000 characters"),
    "many paths": ("verify", {"paths": ["a"] * 101}, "at most 100 items"),
    "a huge text": ("verify", {"manifests": "a" * 1_000_001}, "at most 1000000 characters"),
    "too much time": ("verify", {**CONFLICT, "timeout_s": 61}, "at most 60"),
    "no time": ("verify", {**CONFLICT, "timeout_s": 0}, "greater than 0"),
    "another type": ("verify", {"paths": {"a": 1}}, "valid list"),
    "an option as node": ("what_if", {"action": "drain", "subjects": ["--live"], "manifests": SHOP}, "--live"),
    "an action that is none": ("what_if", {"action": "delete", "manifests": SHOP}, "'drain'"),
    "a change without apply": ("what_if", {"action": "drain", "change": SHOP, "manifests": SHOP}, "belongs to apply"),
    "no input": ("verify", {}, "Name paths"),
    "no YAML": ("verify", {"manifests": "{{{"}, "E1"),
    "no such tool": ("delete", {}, "Unknown tool"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to serve, with a secret beside it and links that lead there."""
    beside = tmp_path_factory.mktemp("beside")
    root = beside / "root"
    root.mkdir()
    for example in ("01-conflicting-spread", "09-microservices", "11-simulated-shop"):
        shutil.copytree(ROOT / "examples" / example, root / example)
    (beside / "secret.yaml").write_text(SHOP)
    (root / "out.yaml").symlink_to(beside / "secret.yaml")
    (root / "outside").symlink_to(beside)
    os.mkfifo(root / "pipe.yaml")
    return root


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Any]:
    """The answers to all calls of one session, the tools that there are, and processes that a cancelled call left."""
    before = contents(folder)
    told: dict[str, Any] = asyncio.run(converse(folder))
    return {**told, "unchanged": contents(folder) == before}


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path): path.read_bytes() for path in files}


async def converse(folder: Path) -> dict[str, Any]:
    server = mcp.StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], str(folder)], env=ENVIRONMENT)
    told: dict[str, Any] = {}
    async with mcp.Client(mcp.stdio_client(server)) as client:
        told["tools"] = (await client.list_tools()).tools
        for title, (name, arguments, _) in BAD_CALLS.items():
            told[title] = await client.call_tool(name, arguments)
        for title, (name, arguments) in GOOD_CALLS.items():
            told[title] = await client.call_tool(name, arguments)
        begun = await cancel_a_long_call(client)
        told["begun"], (_, told["left"]) = len(begun), await anyio.to_thread.run_sync(psutil.wait_procs, begun, 30)
        told["after"] = await client.call_tool("explain", {"words": ["drain"]})
    return told


async def cancel_a_long_call(client: Any) -> list[Any]:
    """The processes of a call that was cancelled as soon as it told of progress."""
    found: list[Any] = []
    with anyio.CancelScope() as scope:

        async def cancel(progress: float, total: float | None, message: str | None) -> None:
            found.extend(
                one for one in psutil.Process().children(recursive=True) if "confined" in " ".join(one.cmdline())
            )
            scope.cancel()

        await client.call_tool("verify", {"paths": ["09-microservices"]}, progress_callback=cancel)
    return found


def test_all_tools_only_read(answers):
    tools = {tool.name: tool for tool in answers["tools"]}

    assert set(tools) == {"verify", "what_if", "explain", "fix", "simulate"}
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in tools.values())
    assert all(tool.description and tool.output_schema for tool in tools.values())


@pytest.mark.parametrize(
    ("title", "code", "words"),
    [
        ("verify a folder", 1, "VIOLATED S005 schedulable"),
        ("verify a text", 0, "cart        1"),
        ("explain", 0, "S005 property: schedulable"),
        ("drain a node", 0, "cart"),
        ("apply a change", 0, "cart"),
        ("fix", 0, "+      - maxSkew: 2"),
        ("simulate", 0, "1 run of 20s, seed 0"),
    ],
)
def test_a_tool_answers_with_the_report_and_the_exit_code(answers, title, code, words):
    answer = answers[title]

    assert answer.structured_content["exit_code"] == code, answer.content[0].text
    assert words in answer.content[0].text
    assert not answer.is_error


def test_programs_get_verdicts_places_and_cells(answers):
    first = answers["verify a folder"].structured_content
    cells = answers["verify a text"].structured_content["matrix"]

    assert (first["verdict"], first["results"][0]["id"]) == ("VIOLATED", "S005")
    assert first["results"][0]["location"] == {"file": "01-conflicting-spread/scenario.yaml", "line": 7}
    assert {(cell["fault"], cell["grade"]) for cell in cells} == {("podCrash", "dips"), ("nodeLoss", "dips")}


def test_what_would_happen_is_told_in_a_sentence(answers):
    told = answers["drain a node"].structured_content

    assert "node-1 is drained" in told["sentence"]
    assert [one["target"] for one in told["workloads"]] == ["Deployment/shop/cart"]


@pytest.mark.parametrize("title", BAD_CALLS)
def test_what_is_hostile_or_wrong_is_refused_with_a_reason(answers, title):
    answer = answers[title]

    assert answer.is_error
    assert BAD_CALLS[title][2] in answer.content[0].text
    assert "Traceback" not in answer.content[0].text


def test_nothing_is_written(answers):
    assert answers["unchanged"]


def test_a_cancelled_call_ends_its_process_and_the_server_goes_on(answers):
    assert answers["begun"] > 0
    assert answers["left"] == []
    assert "drain" in answers["after"].content[0].text


HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


@pytest.fixture
def raw(folder: Path):
    """A server that is spoken to line by line."""
    with subprocess.Popen(
        [*SERVE, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    ) as server:
        yield server
        server.kill()


def test_a_call_ends_with_the_client(raw):
    call = {"name": "verify", "arguments": {"paths": ["09-microservices"]}, "_meta": {"progressToken": "p"}}
    for message in (
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ):
        raw.stdin.write(json.dumps(message).encode() + b"\n")
    raw.stdin.flush()
    while json.loads(raw.stdout.readline()).get("method") != "notifications/progress":
        pass
    begun = psutil.Process(raw.pid).children(recursive=True)

    raw.stdin.close()

    assert raw.wait(timeout=60) == 0
    assert begun
    assert psutil.wait_procs(begun, timeout=30)[1] == []


@pytest.mark.parametrize("block", re.findall(r"```json\n(.+?)```", PAGE.read_text("utf-8"), re.DOTALL))
def test_configurations_of_the_how_to_can_be_used(block):
    ((_, servers),) = json.loads(block).items()
    program, name, *words = [servers["kubeproof"]["command"], *servers["kubeproof"]["args"]]

    assert (program, name) == ("kubeproof", "mcp")
    mcp_command.make_context("mcp", words)


def test_a_message_without_end_is_thrown_away_and_a_signal_ends_the_server(raw):
    raw.stdin.write(json.dumps(HELLO).encode() + b"\n")
    raw.stdin.write(b'{"jsonrpc": "2.0", "id": 2, "method": "' + b"x" * 9_000_000 + b'"}\n')
    raw.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\nnonsense\n')
    raw.stdin.write(b'{"jsonrpc": "2.0", "id": 3, "method": "ping"}\n')
    raw.stdin.flush()

    answers = []
    while not answers or answers[-1].get("id") != 3:
        answers.append(json.loads(raw.stdout.readline()))

    assert [one for one in answers if one.get("id") == 2] == []
    raw.send_signal(signal.SIGTERM)
    assert raw.wait(timeout=60) == 130

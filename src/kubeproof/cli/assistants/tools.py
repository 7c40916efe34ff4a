"""The tools: which words of the command line each argument becomes. Text of a client is never an option."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from kubeproof.cli.assistants import answers
from kubeproof.cli.assistants.calls import ANSWERED, CHANGE, WHAT_IF, Call, CallLimits, Ended, run
from kubeproof.cli.assistants.fenced_files import Fence
from kubeproof.errors import UsageError

MOST_TEXT = 1_000_000
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Word = Annotated[str, Field(max_length=200)]
Words = Annotated[list[Word], Field(max_length=50)]
Paths = Annotated[
    list[Annotated[str, Field(max_length=1_000)]],
    Field(max_length=100, description="Files and folders of Kubernetes manifests, relative to the folder served."),
]
Manifests = Annotated[Text | None, Field(description="Kubernetes manifests as YAML text, instead of or beside paths.")]
Scenario = Annotated[
    Text | None,
    Field(description="A Scenario as YAML text: events and intents. Without one: what each workload survives."),
]
Faults = Annotated[
    Words, Field(description="Without a Scenario: only these faults, such as rollout, drain, nodeLoss, podCrash.")
]
Nodes = Annotated[Words, Field(description="Nodes for manifests without Node objects, such as 6x4cpu,16Gi,zones=3.")]
Seconds = Annotated[float | None, Field(gt=0, allow_inf_nan=False, description="Stop looking after so many seconds.")]
Action = Literal["drain", "cordon", "remove", "fail", "upgrade", "scale", "load", "apply"]
Told = dict[str, Any]


class Answer(BaseModel):
    """What a program reads of an answer; people and models read the report beside it."""

    exit_code: int
    verdict: str | None = None
    results: list[Told] = []
    matrix: list[Told] = []
    checks: list[Told] = []
    scope: Told | None = None
    not_modelled: list[Any] = []
    sentence: str | None = None
    workloads: list[Told] = []


Answered = Annotated[CallToolResult, Answer]


class Toolbox:
    """The tools of one server, all on the same folder and under the same limits."""

    def __init__(self, fence: Fence, limits: CallLimits, gate: Callable[[], Any]) -> None:
        self._fence, self._limits, self._gate = fence, limits, gate

    async def verify(
        self,
        ctx: Context,
        paths: Paths = [],  # noqa: B006 - the schema shows it; nobody changes it
        manifests: Manifests = None,
        scenario: Scenario = None,
        faults: Faults = [],  # noqa: B006
        nodes: Nodes = [],  # noqa: B006
        why: bool = False,
        timeout_s: Seconds = None,
    ) -> Answered:
        """Prove what manifests survive in every order of controllers and faults, or show the run in which they fail.

        Without a Scenario: one fault at a time for every workload. HOLDS and `ok` are proofs for the printed scope;
        UNKNOWN and `?` are not decided, and never mean that it is fine. `why` finds the fields that a violation needs.
        """
        words = ["verify", *self._searching(timeout_s), "--progress=always"]
        words += _each("--nodes", nodes) + _listed("--faults", faults) + (["--why"] if why else [])
        return await self._answer(ctx, words, paths, manifests, scenario, has_settings=True)

    async def fix(
        self,
        ctx: Context,
        paths: Paths = [],  # noqa: B006
        manifests: Manifests = None,
        scenario: Scenario = None,
        faults: Faults = [],  # noqa: B006
        nodes: Nodes = [],  # noqa: B006
        deny: Annotated[Words, Field(description="Kinds of edits that are not wanted, such as replicas.")] = [],  # noqa: B006
        proposals: Annotated[int, Field(ge=1, le=5)] = 1,
        timeout_s: Seconds = None,
    ) -> Answered:
        """Find the smallest change of the manifests after which all that is violated is proved, and nothing is worse.

        The answer holds a diff for the files; nothing is written.
        """
        words = ["fix", *self._searching(timeout_s), f"--proposals={proposals}"]
        words += _each("--nodes", nodes) + _listed("--faults", faults) + _listed("--deny", deny)
        return await self._answer(ctx, words, paths, manifests, scenario)

    async def what_if(
        self,
        ctx: Context,
        action: Action,
        subjects: Annotated[Words, Field(description="Nodes or a zone, shop/web=5, or +50%.")] = [],  # noqa: B006
        change: Annotated[Text | None, Field(description="With apply: the new manifests as YAML text.")] = None,
        paths: Paths = [],  # noqa: B006
        manifests: Manifests = None,
        nodes: Nodes = [],  # noqa: B006
        timeout_s: Seconds = None,
    ) -> Answered:
        """Ask one thing of a cluster before it is done: who is hit, for how long, how it goes; a sentence first.

        The cluster is what paths or manifests say: a snapshot or manifests of all that runs.
        """
        if (change is not None) != (action == "apply"):
            raise ToolError("change belongs to apply, and apply needs it.")
        words = [WHAT_IF, action, f"--timeout={self._seconds(timeout_s)}", "--color=never", "--progress=always"]
        words += _each("--nodes", nodes)
        more = () if change is None else ((CHANGE, change),)
        return await self._answer(ctx, words, paths, manifests, None, subjects=subjects, more=more)

    async def simulate(
        self,
        ctx: Context,
        paths: Paths = [],  # noqa: B006
        manifests: Manifests = None,
        scenario: Scenario = None,
        duration: Annotated[Word, Field(description="Simulated time, such as 30m.")] = "30m",
        runs: Annotated[int, Field(ge=1, le=1_000)] = 1,
        seed: Annotated[int, Field(ge=0, le=2**31)] = 0,
        vary: Annotated[Words, Field(description="Variants side by side: hpa.targetCPU=60,70,80.")] = [],  # noqa: B006
        timeout_s: Seconds = None,
    ) -> Answered:
        """Run the controllers on a clock, with requests and faults: pods, CPU and response times over time.

        The Scenario's `spec.workload` says which requests come. This samples; it proves nothing.
        """
        words = ["simulate", f"--duration={duration}", f"--runs={runs}", f"--seed={seed}", "--workers=1"]
        words += ["--progress=always", *_each("--vary", vary)]
        return await self._answer(ctx, words, paths, manifests, scenario, timeout_s=timeout_s)

    async def explain(
        self,
        ctx: Context,
        words: Annotated[Words, Field(description="IDs, faults, verdicts, error codes; none: list all.")] = [],  # noqa: B006
    ) -> Answered:
        """Tell what a property, check, event, fault, grade, error code or verdict means, and what to do about it."""
        call = Call(("explain", "--color=never", "--", *words))
        return _result(await self._run(ctx, call, self._limits))

    def _searching(self, timeout_s: float | None) -> list[str]:
        return [f"--timeout={self._seconds(timeout_s)}", f"--memory={self._limits.memory_mib}", "--color=never"]

    def _seconds(self, asked_s: float | None) -> float:
        """What a call may take: as asked, at most what the server allows."""
        most_s = self._limits.timeout_s
        if asked_s is not None and asked_s > most_s:
            raise ToolError(f"timeout_s is at most {most_s:g} here; `kubeproof mcp --timeout` allows more.")
        return most_s if asked_s is None else asked_s

    async def _answer(
        self,
        ctx: Context,
        words: Sequence[str],
        paths: Sequence[str],
        manifests: str | None,
        scenario: str | None,
        *,
        timeout_s: float | None = None,
        has_settings: bool = False,
        subjects: Sequence[str] = (),
        more: tuple[tuple[str, str], ...] = (),
    ) -> CallToolResult:
        texts = (("manifests.yaml", manifests), ("scenario.yaml", scenario), *more)
        given = tuple((name, text) for name, text in texts if text is not None)
        if not paths and manifests is None:
            raise ToolError("Name paths, or hand over manifests as text.")
        call = Call(tuple(words), tuple(paths), given, has_settings, tuple(subjects))
        limits = CallLimits(self._seconds(timeout_s), self._limits.memory_mib)
        return _result(await self._run(ctx, call, limits))

    async def _run(self, ctx: Context, call: Call, limits: CallLimits) -> Ended:
        try:
            async with self._gate():
                ended = await run(call, self._fence, limits, _progress(ctx))
        except UsageError as problem:
            raise ToolError(str(problem)) from None
        if ended is None:
            raise ToolError(f"stopped after {limits.timeout_s:g} s: ask for less, or for another timeout_s.")
        if ended.code not in ANSWERED:
            raise ToolError(ended.said or f"kubeproof ended with code {ended.code}, perhaps out of memory.")
        return ended


def _progress(ctx: Context) -> Callable[[str], Awaitable[None]]:
    """Tells each line of the command to a client that asked for progress."""
    told = 0

    async def tell(line: str) -> None:
        nonlocal told
        told += 1
        await ctx.report_progress(told, message=line[:1_000])

    return tell


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [f"{option}={value}" for value in values]


def _listed(option: str, values: Sequence[str]) -> list[str]:
    return [f"{option}={','.join(values)}"] if values else []


def _result(ended: Ended) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=answers.text_of(ended))], structured_content=answers.structure(ended)
    )

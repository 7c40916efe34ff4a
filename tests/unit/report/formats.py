"""Readers of the formats: each raises unless the text is that format and nothing else."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as Tree
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

HERE = Path(__file__).parent
PUBLISHED = HERE.parents[2] / "src" / "kubeproof" / "report" / "schemas"
COMMAND = re.compile(r"::(error|warning|notice) (?:[a-z]+=[^:,\n]*)(?:,[a-z]+=[^:,\n]*)*::[^\n\r]*")
MESSAGE = re.compile(r"  (p\d+)->>(p\d+): [A-Za-z0-9 _.,/=()\-#;]+")


def schema(path: Path) -> Draft202012Validator:
    content = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content, format_checker=FormatChecker())


def closed(content: Any) -> Any:
    """A schema in which no object may have keys that are not listed."""
    if isinstance(content, list):
        return [closed(one) for one in content]
    if not isinstance(content, dict):
        return content
    found = {key: closed(value) for key, value in content.items()}
    if "properties" in found and found.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found


VERIFY = json.loads((PUBLISHED / "verify.schema.json").read_text(encoding="utf-8"))
RESULT_SCHEMA = Draft202012Validator(closed(VERIFY))
LINE_SCHEMA = Draft202012Validator({"$defs": VERIFY["$defs"], "$ref": "#/$defs/result"})
SARIF_SCHEMA = schema(HERE / "sarif_subset.json")


def read_json(text: str) -> Any:
    found = json.loads(text)
    RESULT_SCHEMA.validate(found)
    return found


def read_ndjson(text: str) -> list[Any]:
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["type"] for line in lines] == ["run", *["result"] * (len(lines) - 2), "verdict"]
    for line in lines[1:-1]:
        LINE_SCHEMA.validate(line)
    return lines


def read_sarif(text: str) -> Any:
    found = json.loads(text)
    SARIF_SCHEMA.validate(found)
    (run,) = found["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    return run


def read_junit(text: str) -> Tree.Element:
    root = Tree.fromstring(text.encode())
    (suite,) = root
    cases = suite.findall("testcase")
    for suffix, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[suffix]) == sum(case.find(tag) is not None for case in cases)
    assert int(suite.attrib["tests"]) == len(cases)
    return suite


def read_github(text: str) -> list[str]:
    lines = text.split("\n")
    assert lines.pop() == ""
    assert [line for line in lines if not COMMAND.fullmatch(line)] == []
    return lines


def read_markdown(text: str) -> str:
    assert text.startswith("## ")
    assert text.count("<details>") == text.count("</details>")
    assert len(text) < 65_536
    return text


def read_mermaid(text: str) -> list[str]:
    head, *lines = text.splitlines()
    assert head == "sequenceDiagram"
    allowed = ("  accTitle: ", "  participant ", "  Note over ", "  loop for ever", "  end")
    assert [line for line in lines if not line.startswith(allowed) and not MESSAGE.fullmatch(line)] == []
    assert lines.count("  end") == sum(line.startswith("  loop") for line in lines)
    return lines


def read_itf(text: str) -> Any:
    found = json.loads(text)
    assert found["#meta"]["format"] == "ITF"
    assert [state["#meta"]["index"] for state in found["states"]] == list(range(len(found["states"])))
    assert all(set(state) == {"#meta", *found["vars"]} for state in found["states"])
    assert "loop" not in found or 0 < found["loop"] < len(found["states"])
    return found


def read_html(text: str) -> str:
    assert text.startswith("<!DOCTYPE html>")
    assert text.rstrip().endswith("</html>")
    return text


def read_text(text: str) -> str:
    assert re.match(r"[A-Z-]+: \d+ propert", text.splitlines()[-1])
    assert "\x1b" not in text
    return text


READERS: dict[str, Callable[[str], Any]] = {
    "text": read_text,
    "json": read_json,
    "html": read_html,
    "junit": read_junit,
    "sarif": read_sarif,
    "github": read_github,
    "markdown": read_markdown,
    "ndjson": read_ndjson,
    "mermaid": read_mermaid,
    "itf": read_itf,
}

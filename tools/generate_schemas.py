"""Writes what schemas repeat of the code: settings that options have, why a search may stop, what a Scenario may hold.

python tools/generate_schemas.py           writes the schemas, and their copies in the documentation
python tools/generate_schemas.py --check   exit code 1 if a committed schema is not current
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from kubeproof.cli.commands.verify import verify_command
from kubeproof.cli.options.settings import VERIFY_KEYS
from kubeproof.engine.stopped import StopReason
from kubeproof.events.declarations import manuals
from kubeproof.events.manual import FieldType, Manual
from kubeproof.intents.catalogue import catalogue
from kubeproof.intents.kind import IntentKind
from kubeproof.intents.library.service_levels import LEVELS
from kubeproof.manifests.scenarios.intents.declared import SEVERITIES
from kubeproof.manifests.scenarios.scenario import VERSION

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "src" / "kubeproof" / "report" / "schemas"
PUBLISHED = ROOT / "docs" / "reference" / "schemas"
SETTINGS, RESULTS = SCHEMAS / "settings.schema.json", SCHEMAS / "verify.schema.json"
SCENARIO = SCHEMAS / "scenario.schema.json"
SPEC = (  # what else there is; those with lists follow
    "kubernetesVersion", "deschedulerVersion", "start", "controllers", "scale", "quantify", "workload",
)  # fmt: skip
TYPES = {FieldType.FLAG: "boolean"}
Schema = dict[str, Any]


def setting_of(option: click.Parameter) -> Schema:
    """What a value of the option looks like in a file."""
    kind = option.type
    if isinstance(kind, click.types.BoolParamType):
        return {"type": "boolean", "default": option.default}
    if isinstance(kind, click.Choice):
        return {"enum": list(kind.choices), "default": option.default}
    if isinstance(kind, click.IntRange):
        return {"type": "integer"} | ({} if kind.min is None else {"minimum": kind.min})
    return {"type": "string"}


def with_settings(schema: Schema) -> Schema:
    """The schema of settings with an entry for each key; what is told there beside that stays."""
    options = {option.name: option for option in verify_command.params}
    told: Schema = schema["properties"]["verify"]["properties"]
    schema["properties"]["verify"]["properties"] = {
        key: _join(setting_of(options[name]), told.get(key)) for key, name in VERIFY_KEYS.items()
    }
    return schema


def _join(found: Schema, told: Schema | None) -> Schema:
    """What is told of a key, with the values that its option takes."""
    if told is None:
        return found
    return told | ({"enum": found["enum"]} if "enum" in found else {})


def with_reasons(schema: Schema) -> Schema:
    """The schema of results with every reason for which a search may stop."""
    for holder in _find_holders(schema, "stop_reason"):
        holder["stop_reason"]["enum"] = ["", *map(str, StopReason)]
    return schema


def _find_holders(value: Any, key: str) -> list[Schema]:
    if isinstance(value, list):
        return [found for one in value for found in _find_holders(one, key)]
    if not isinstance(value, dict):
        return []
    own = [value] if isinstance(value.get(key), dict) else []
    return own + [found for one in value.values() for found in _find_holders(one, key)]


def scenario() -> Schema:
    """What an editor knows of a Scenario: kinds of events and intents, their fields, and what they mean.

    Kubeproof reads more strictly; a Scenario that is refused by this one is refused there, too.
    """
    spec: Schema = {key: {} for key in SPEC}
    spec["events"] = _list_of({key: _event(manual) for key, (_, manual) in manuals().items()})
    names = {name: _intent(kind) for kind in catalogue() for name in (kind.key, *kind.aliases)}
    spec["intents"] = _list_of(names | {level.key: {"description": level.text} for level in LEVELS})
    metadata = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scenario of Kubeproof",
        "type": "object",
        "properties": {
            "apiVersion": {"const": VERSION},
            "kind": {"const": "Scenario"},
            "metadata": metadata,
            "spec": {"type": "object", "properties": spec, "additionalProperties": False},
        },
        "required": ["apiVersion", "kind", "metadata"],
        "additionalProperties": False,
    }


def _list_of(entries: dict[str, Schema]) -> Schema:
    """A list whose entries have one key each."""
    entry = {
        "type": "object",
        "properties": entries,
        "additionalProperties": False,
        "maxProperties": 1,
        "minProperties": 1,
    }
    return {"type": "array", "items": entry}


def _event(manual: Manual) -> Schema:
    fields: Schema = {"name": {"type": "string"}}
    for field in manual.fields:
        fields[field.key] = {
            key: value for key, value in (("type", TYPES.get(field.type)), ("description", field.note)) if value
        }
    return {"type": ["object", "null"], "description": manual.text, "properties": fields, "examples": [manual.example]}


def _intent(kind: IntentKind) -> Schema:
    fields: Schema = {"name": {"type": "string"}, "severity": {"enum": list(SEVERITIES)}} | {
        key: {} for key in kind.fields
    }
    return {
        "type": ["object", "string", "null"],
        "description": kind.text,
        "properties": fields,
        "examples": [kind.example],
    }


def schemas() -> dict[Path, str]:
    """Each schema as it should be."""
    made = ((SETTINGS, with_settings), (RESULTS, with_reasons))
    own = {path: json.dumps(make(json.loads(path.read_text(encoding="utf-8"))), indent=2) + "\n" for path, make in made}
    own[SCENARIO] = json.dumps(scenario(), indent=2) + "\n"
    return own | {PUBLISHED / path.name: text for path, text in own.items()}


def main() -> int:
    """Writes or checks; the exit code."""
    stale = [path for path, text in schemas().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        print("\n".join(f"{path.name} is not current: run tools/generate_schemas.py" for path in stale))
        return 1 if stale else 0
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

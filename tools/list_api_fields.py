"""Lists the fields of the Kubernetes API, for the test that no field reaches a snapshot unless a reader reads it.

    python tools/list_api_fields.py 1.37.1 swagger.json [crd.yaml ...] > tests/unit/live/data/api-fields.json

`swagger.json` is the OpenAPI document of Kubernetes (api/openapi-spec/swagger.json of its repository); custom resources
come from their definitions. Only names and types of fields are taken over. A type is a word (`string`, `integer`,
`quantity` ...), a list with the type of its items, an object {"*": type} for a map, or the name of an object type.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import yaml

from kubeproof.live.resources import RESOURCES

_WORDS = {"int-or-string": "intOrString", "date-time": "time", "byte": "string"}
_SPECIAL = {
    "Quantity": "quantity",
    "IntOrString": "intOrString",
    "Time": "time",
    "MicroTime": "time",
    "RawExtension": "any",
    "FieldsV1": "any",
}


class Listing:
    """Types by name, each with its fields."""

    def __init__(self) -> None:
        self.types: dict[str, dict[str, Any]] = {}
        self._short: dict[str, str] = {}  # definition -> its name here

    def add_swagger(self, document: dict[str, Any], wanted: set[tuple[str, str]]) -> dict[str, str]:
        """Adds the types that the wanted kinds consist of; tells the type of each kind."""
        definitions, found = document["definitions"], {}
        for name, one in definitions.items():
            for kind in one.get("x-kubernetes-group-version-kind", ()):
                version = "/".join(part for part in (kind["group"], kind["version"]) if part)
                if (version, kind["kind"]) in wanted:
                    found[kind["kind"]] = self._named(name, definitions)
        return found

    def _named(self, name: str, definitions: dict[str, Any]) -> str:
        short = name.rpartition(".")[2]
        if short in _SPECIAL:
            return _SPECIAL[short]
        if name in self._short:
            return self._short[name]
        given = self._short[name] = name if short in self.types else short
        self.types[given] = {}
        fields = definitions[name].get("properties", {})
        self.types[given] = {key: self._type(value, definitions, "") for key, value in sorted(fields.items())}
        return given

    def _type(self, schema: dict[str, Any], definitions: dict[str, Any], inside: str) -> Any:
        if "$ref" in schema:
            return self._named(schema["$ref"].rpartition("/")[2], definitions)
        if schema.get("x-kubernetes-int-or-string"):
            return "quantity" if "pattern" in schema else "intOrString"
        kind = schema.get("type", "any")
        if kind == "array":
            return [self._type(schema["items"], definitions, f"{inside}Item")]
        if kind != "object":
            return _WORDS.get(schema.get("format", ""), kind)
        if "additionalProperties" in schema and isinstance(schema["additionalProperties"], dict):
            return {"*": self._type(schema["additionalProperties"], definitions, f"{inside}Value")}
        if "properties" not in schema:
            return "any"
        fields = sorted(schema["properties"].items())
        self.types[inside] = {key: self._type(one, definitions, f"{inside}.{key}") for key, one in fields}
        return inside

    def add_definition(self, document: dict[str, Any], wanted: set[tuple[str, str]]) -> dict[str, str]:
        """Adds a custom resource; tells its type."""
        spec, found = document["spec"], {}
        for version in spec["versions"]:
            kind = spec["names"]["kind"]
            if (f"{spec['group']}/{version['name']}", kind) in wanted:
                found[kind] = self._type(version["schema"]["openAPIV3Schema"], {}, kind)
                self.types[kind]["metadata"] = "ObjectMeta"
        return found


def main(version: str, paths: list[str]) -> None:
    """Prints the listing."""
    wanted = {(resource.version, resource.kind) for resource in RESOURCES}
    listing, kinds = Listing(), {}
    with open(paths[0], encoding="utf-8") as file:
        swagger = json.load(file)
    kinds |= listing.add_swagger(swagger, wanted)
    for path in paths[1:]:
        with open(path, encoding="utf-8") as file:
            for document in yaml.safe_load_all(file):
                if document and document.get("kind") == "CustomResourceDefinition":
                    kinds |= listing.add_definition(document, wanted)
    missing = {kind for _, kind in wanted} - set(kinds)
    if missing:
        sys.exit(f"not in the files: {', '.join(sorted(missing))}")
    types = {name: fields for name, fields in sorted(listing.types.items()) if fields}
    told = {
        "source": f"names and types of fields of the Kubernetes API, {version}, and of the custom "
        "resources VerticalPodAutoscaler (kubernetes/autoscaler) and Application (argoproj/argo-cd); "
        "tools/list_api_fields.py",
        "kinds": dict(sorted(kinds.items())),
    }
    lines = [f'  "{key}": {json.dumps(value)},' for key, value in told.items()]
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(fields)}" for name, fields in types.items())
    print("{", *lines, '  "types": {', rows, "  }", "}", sep="\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

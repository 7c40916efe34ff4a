"""Label selectors and node selector terms, validated as the API server does."""

from __future__ import annotations

import re

from kubeproof.cluster.labels import LabelSelector, NodeTerm, PreferredTerm, Requirement
from kubeproof.manifests.validation.names import check_label_key, is_label_value, read_labels
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_NODE_OPERATORS = (*_LABEL_OPERATORS, "Gt", "Lt")
_INTEGER = re.compile(r"[-+]?[0-9]{1,19}", re.ASCII)


def read_selector(fields: Fields, key: str) -> LabelSelector | None:
    """The LabelSelector under a key; None if absent, which upstream keeps apart from an empty one."""
    child = fields.child(key)
    return None if child is None else selector_of(child)


def selector_of(fields: Fields) -> LabelSelector:
    """The LabelSelector a mapping describes; matchLabels come first, by key."""
    labels = read_labels(fields, "matchLabels")
    equal = [Requirement(key, "In", (value,)) for key, value in sorted(labels.items())]
    expressions = [_requirement(child, _LABEL_OPERATORS) for child in fields.children("matchExpressions")]
    fields.finish("LabelSelector")
    return LabelSelector((*equal, *expressions))


def read_node_terms(fields: Fields, key: str) -> tuple[NodeTerm, ...] | None:
    """The nodeSelectorTerms of a NodeSelector under a key; None if absent."""
    child = fields.child(key)
    if child is None:
        return None
    terms = tuple(_node_term(term) for term in child.children("nodeSelectorTerms"))
    if not terms:
        child.fail("nodeSelectorTerms", "is required", remedy="Add at least one term")
    child.finish("NodeSelector")
    return terms


def read_preferred_terms(fields: Fields, key: str) -> tuple[PreferredTerm, ...]:
    """The preferred node affinity terms under a key."""
    return tuple(_read_preferred(child) for child in fields.children(key))


def _read_preferred(fields: Fields) -> PreferredTerm:
    weight = fields.integer("weight", least=1, most=100)
    if weight is None:
        fields.fail("weight", "is required", remedy="Add a weight from 1 to 100")
    term = _node_term(fields.require_child("preference"))
    fields.finish("PreferredSchedulingTerm")
    return PreferredTerm(weight, term)


def _node_term(fields: Fields) -> NodeTerm:
    expressions = tuple(_requirement(child, _NODE_OPERATORS) for child in fields.children("matchExpressions"))
    by_field = tuple(_field_requirement(child) for child in fields.children("matchFields"))
    fields.finish("NodeSelectorTerm")
    return NodeTerm(expressions, by_field)


def _requirement(fields: Fields, operators: tuple[str, ...]) -> Requirement:
    key = check_label_key(fields, "key", fields.require_text("key"))
    fields.require_text("operator")
    operator = fields.word("operator", operators, "")
    values = fields.texts("values")
    _check_values(fields, operator, values)
    fields.finish("Requirement")
    return Requirement(key, operator, values)


def _check_values(fields: Fields, operator: str, values: tuple[str, ...]) -> None:
    """Operator and values must fit together."""
    if operator in ("In", "NotIn") and not values:
        fields.fail("values", f"is required with {operator}", remedy="Add at least one value")
    if operator in ("Exists", "DoesNotExist") and values:
        fields.fail("values", f"must be absent with {operator}", remedy="Remove it")
    if operator in ("Gt", "Lt") and not (len(values) == 1 and _INTEGER.fullmatch(values[0])):
        fields.fail("values", f"must be one integer with {operator}", remedy='Write values: ["5"]')
    for value in values:
        if not is_label_value(value) and operator not in ("Gt", "Lt"):
            fields.fail("values", f"holds {printable(value)!r}, not a label value", remedy="Correct it")


def _field_requirement(fields: Fields) -> Requirement:
    """One matchFields entry: only metadata.name, with exactly one value."""
    key = fields.require_text("key")
    if key != "metadata.name":
        fields.fail("key", f"is {printable(key)!r}", remedy="Node fields can only be matched by metadata.name")
    fields.require_text("operator")
    operator = fields.word("operator", ("In", "NotIn"), "")
    values = fields.texts("values")
    if len(values) != 1:
        fields.fail("values", "must hold exactly one node name", remedy="Write one name")
    fields.finish("Requirement")
    return Requirement(key, operator, values)

"""Values of checkpoints: exact, and nothing but data."""

from dataclasses import dataclass
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.errors import InternalError
from kubeproof.verify.journal.codec import Codec


@dataclass(frozen=True, slots=True)
class Pair:
    left: object
    right: object = None


@dataclass(frozen=True, slots=True)
class Stranger:
    value: object


class Word(StrEnum):
    YES = "yes"


CODEC = Codec(Pair, Word)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.builds(Pair, inner, st.sampled_from(Word))
        | st.builds(Pair, inner, inner)
    ),
)


@given(VALUES)
def test_values_come_back_as_they_were(value):
    assert repr(CODEC.decode(CODEC.encode(value))) == repr(value)


@pytest.mark.parametrize("value", [Stranger(1), (Stranger(1),), {1}, b"bytes", Pair, len])
def test_other_classes_are_not_written(value):
    with pytest.raises(InternalError, match="cannot be written to a checkpoint"):
        CODEC.encode(value)


@pytest.mark.parametrize(
    "text",
    [
        b'["Stranger",1]',
        b'["builtins.eval","1"]',
        b'["Pair"]',
        b'["Pair",1,2,3]',
        b'["Word","no"]',
        b'["Word","yes",["[","a"]]',
        b"[]",
        b"{}",
    ],
)
def test_other_classes_are_not_made(text):
    with pytest.raises(ValueError, match="not a value of a checkpoint"):
        CODEC.decode(text)


def test_classes_with_one_name_are_refused():
    with pytest.raises(InternalError, match="different names"):
        Codec(Pair, Pair)


def test_classes_without_fields_are_refused():
    with pytest.raises(InternalError, match="dataclasses"):
        Codec(int)

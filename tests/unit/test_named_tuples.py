"""`kubeproof.named_tuples.NamedTuple` against the one of `typing`, on every shape of class that we use."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest

from kubeproof.named_tuples import NamedTuple

T = TypeVar("T")
Base = Any


def plain(base: Base) -> Any:
    class Shape(base):
        """Some fields, some with defaults."""

        name: str
        count: int = 1
        parts: tuple[int, ...] = ()

        @property
        def double(self) -> int:
            return 2 * self.count

        @classmethod
        def of(cls, name: str) -> Any:
            return cls(name, 7)

    return Shape


def empty(base: Base) -> Any:
    class Shape(base):
        """No field at all."""

    return Shape


def hidden_names(base: Base) -> Any:
    class Shape(base):
        """Fields that are called like parts of the making."""

        self: int
        cls: int
        iterable: int = 3

    return Shape


def own_methods(base: Base) -> Any:
    class Shape(base):
        """What the class says itself stays."""

        name: str
        other: int = 0

        def __repr__(self) -> str:
            return f"<{self.name}>"

        def __str__(self) -> str:
            return self.name

        def __bool__(self) -> bool:
            return False

    return Shape


def generic(base: Base) -> Any:
    class Shape(base, Generic[T]):
        """A generic tuple."""

        value: T
        other: int = 2

    return Shape


SHAPES = [
    (plain, ("a",), ("b", 2, (3,))),
    (empty, (), ()),
    (hidden_names, (1, 2), (1, 2, 4)),
    (own_methods, ("a",), ("b", 1)),
    (generic, (1,), (1, 3)),
]
EACH = pytest.mark.parametrize(("shape", "first", "second"), SHAPES, ids=[shape.__name__ for shape, *_ in SHAPES])


def both(shape: Callable[[Base], Any]) -> list[Any]:
    """A class of ours and one of the standard library's."""
    return [shape(base) for base in (NamedTuple, typing.NamedTuple)]


def told(action: Callable[[], object]) -> object:
    """What an action returns, or how it fails."""
    try:
        return action()
    except (TypeError, AttributeError, ValueError) as problem:
        return type(problem), str(problem)


@EACH
def test_tuples_look_and_compare_as_the_standard_ones(shape, first, second):
    ours, standard = (
        [f"{a!r} {b!r} {a!s}", bool(a), a == first, hash(a) == hash(a[:]), a < b if a else None, a + b, len(b), a[:1]]
        for a, b in ((cls(*first), cls(*second)) for cls in both(shape))
    )

    assert ours == standard


@EACH
def test_tuples_are_made_with_the_same_arguments(shape, first, second):
    for values, options in (((1, 2, 3, 4, 5), {}), ((), {"nonsense": 1}), ((), {}), (("a",), {"name": 1})):
        ours, standard = (told(lambda cls=cls: cls(*values, **options)) for cls in both(shape))  # noqa: B023
        assert str(ours).replace("Shape.", "") == str(standard).replace("Shape.", "")


@EACH
def test_fields_are_read_and_changed_as_in_the_standard_ones(shape, first, second):
    ours, standard = (
        [
            [getattr(one, name) for name in cls._fields],
            one._asdict(),
            one._replace(**dict.fromkeys(cls._fields[:1], 9)),
            told(lambda: one._replace(nonsense=1)),  # noqa: B023
            told(lambda: cls._make(range(9))),  # noqa: B023
            told(lambda: setattr(one, "nonsense", 1)),  # noqa: B023
            told(lambda: setattr(one, "name", 1)),  # noqa: B023
            cls._make(second + first[len(second) :])._fields if len(second) == len(cls._fields) else None,
            copy.deepcopy(one),
        ]
        for cls in both(shape)
        for one in [cls(*first)]
    )

    assert ours == standard


@EACH
def test_what_a_class_says_of_itself_is_what_the_standard_one_says(shape, first, second):
    ours, standard = (
        [
            cls._fields,
            cls._field_defaults,
            cls.__match_args__,
            cls.__name__,
            cls.__qualname__,
            cls.__module__,
            cls.__doc__,
            cls.__mro__[1:],
            type(cls),
            hasattr(cls(*first), "__dict__"),
            [(one.name, one.kind, one.default) for one in inspect.signature(cls).parameters.values()],
            list(cls.__annotations__),
        ]
        for cls in both(shape)
    )

    assert ours == standard


def test_methods_and_patterns_see_the_fields():
    shape = plain(NamedTuple)
    match shape("a", 4):
        case shape(name, count):
            found = (name, count)

    assert found == ("a", 4)
    assert (shape("a", 4).double, shape.of("b")) == (8, ("b", 7, ()))


class Sent(NamedTuple):
    """A tuple that goes to another process."""

    name: str
    parts: tuple[int, ...] = ()


def test_tuples_survive_pickling():
    sent = Sent("a", (1, 2))

    assert [pickle.loads(pickle.dumps(sent, protocol)) for protocol in range(2, 6)] == [sent] * 4
    assert type(pickle.loads(pickle.dumps(sent))) is Sent
    assert typing.get_type_hints(Sent) == {"name": str, "parts": tuple[int, ...]}


def test_a_field_without_a_default_does_not_follow_one_with():
    with pytest.raises(TypeError, match="follows one with a default in Shape"):

        class Shape(NamedTuple):
            name: str = "x"
            count: int  # type: ignore[misc]

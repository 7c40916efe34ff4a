"""`kubeproof.values.dataclass` against the standard library's, on every shape of class that we use."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from kubeproof.values import copy_with, dataclass, make_dataclass

T = TypeVar("T")
Maker = Callable[..., Any]
NAN = float("nan")


def plain(make: Maker) -> Any:
    @make(frozen=True, slots=True)
    class Shape:
        """Some fields, some with defaults."""

        name: str
        count: int = 1
        parts: tuple[int, ...] = ()
        known: ClassVar[int] = 7

        @property
        def double(self) -> int:
            return 2 * self.count

    return Shape


def empty(make: Maker) -> Any:
    @make(frozen=True, slots=True)
    class Shape:
        """No field at all."""

    return Shape


def single(make: Maker) -> Any:
    @make(frozen=True, slots=True)
    class Shape:
        """One field: compared as a tuple of one."""

        value: object = 0

    return Shape


def named(make: Maker) -> Any:
    @make(frozen=True, slots=True, kw_only=True)
    class Shape:
        """Named parameters only."""

        name: str = "x"
        count: int

    return Shape


def mixed(make: Maker) -> Any:
    @make(frozen=True, slots=True)
    class Base:
        """The fields of a base come first."""

        name: str
        tags: dict[str, int] = field(default_factory=dict, compare=False)
        rest: int = field(default=3, kw_only=True)

    @make(frozen=True, slots=True)
    class Shape(Base):
        """Fields that are made, left out of comparisons, hashed by choice, not shown."""

        count: int = 2
        hidden: str = field(default="h", repr=False, compare=False)
        hashless: int = field(default=5, hash=False)
        made: list[int] = field(default_factory=list, init=False, compare=False)
        fixed: int = field(default=9, init=False)
        worked_out: int = field(init=False, compare=False, repr=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "worked_out", self.count * 10)

    return Shape


def mutable(make: Maker) -> Any:
    @make(slots=True)
    class Shape:
        """Not frozen, hence not hashable."""

        name: str
        items: list[int] = field(default_factory=list)

    return Shape


def generic(make: Maker) -> Any:
    @make(frozen=True, slots=True)
    class Shape(Generic[T]):
        """A generic class."""

        value: T
        other: T | None = None

    return Shape


def without_slots(make: Maker) -> Any:
    @make(frozen=True)
    class Shape:
        """Has a dictionary, as cached properties need."""

        name: str
        count: int = 0

    return Shape


def own_methods(make: Maker) -> Any:
    @make(frozen=True, slots=True)
    class Shape:
        """What the class says itself stays."""

        name: str

        def __repr__(self) -> str:
            return f"<{self.name}>"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.name.lower() == other.name.lower()

        def __hash__(self) -> int:
            return hash(self.name.lower())

    return Shape


def compiled(shape: Callable[[Maker], Any]) -> Callable[[Maker], Any]:
    """The same class after its first instances."""

    def made(make: Maker) -> Any:
        cls = shape(make)
        assert inspect.isfunction(cls.__init__)  # whoever asks for it gets the compiled one
        return cls

    return made


SHAPES = [
    (plain, (("a",), {}), (("a", 2), {"parts": (1, 2)})),
    (empty, ((), {}), ((), {})),
    (single, ((NAN,), {}), (("a",), {})),
    (named, ((), {"count": 1}), ((), {"count": 2, "name": "y"})),
    (mixed, (("a",), {"rest": 4}), (("a", {"k": 1}, 3), {"hidden": "other", "hashless": 6})),
    (mutable, (("a",), {}), (("a", [1]), {})),
    (generic, (("a",), {}), ((1,), {"other": 2})),
    (without_slots, (("a",), {}), (("b", 2), {})),
    (own_methods, (("a",), {}), (("A",), {})),
]
EACH = pytest.mark.parametrize(
    ("shape", "first", "second"),
    [(make, *calls) for shape, *calls in SHAPES for make in (shape, compiled(shape))],
    ids=[f"{shape.__name__}-{when}" for shape, *_ in SHAPES for when in ("first instances", "later instances")],
)


def both(shape: Callable[[Maker], Any], *calls: Any) -> list[list[Any]]:
    """The same instances, of a class of ours and of the standard library's."""
    made = [shape(make) for make in (make_dataclass, dataclasses.dataclass)]
    return [[cls(*values, **options) for values, options in calls] for cls in made]


def told(action: Callable[[], object]) -> object:
    """What an action returns, or how it fails."""
    try:
        return action()
    except (TypeError, AttributeError, ValueError) as problem:
        return type(problem), str(problem)


@EACH
def test_instances_look_and_compare_as_the_standard_ones(shape, first, second):
    ours, standard = (
        [repr(a), repr(b), a == a, a == b, a != b, a == 1, replace(a) == a, replace(b) == b]
        for a, b in both(shape, first, second)
    )

    assert ours == standard


@EACH
def test_hashes_are_the_standard_ones(shape, first, second):
    ours, standard = ([told(lambda: hash(a)), told(lambda: hash(b))] for a, b in both(shape, first, second))  # noqa: B023

    assert ours == standard


@EACH
def test_fields_are_those_of_a_standard_dataclass(shape, first, second):
    ours, standard = both(shape, first, second)

    assert all(is_dataclass(one) for one in ours)
    assert [repr(astuple(one)) for one in ours] == [repr(astuple(one)) for one in standard]
    assert [repr(asdict(one)) for one in ours] == [repr(asdict(one)) for one in standard]
    assert [one.name for one in fields(ours[0])] == [one.name for one in fields(standard[0])]
    assert type(ours[0]).__match_args__ == type(standard[0]).__match_args__
    assert getattr(ours[0], "__slots__", None) == getattr(standard[0], "__slots__", None)


@EACH
def test_instances_are_made_with_the_same_arguments(shape, first, second):
    for values, options in (((1, 2, 3, 4, 5, 6, 7, 8, 9), {}), ((), {"nonsense": 1}), ((1,), {"name": 1, "value": 1})):
        ours, standard = (
            told(partial(shape(make), *values, **options)) for make in (make_dataclass, dataclasses.dataclass)
        )
        assert repr(ours) == repr(standard)


@EACH
def test_values_are_changed_as_the_standard_library_does(shape, first, second):
    name = next((one.name for one in fields(shape(make_dataclass)) if one.init), "none")
    for changes in ({}, {name: "changed"}, {"nonsense": 1}, {"fixed": 1}):
        for one in both(shape, first, second)[0]:
            ours, standard = (told(lambda change=change: change(one, **changes)) for change in (copy_with, replace))  # noqa: B023
            assert repr(ours) == repr(standard)
            assert type(ours) is type(standard)


def test_a_value_of_a_standard_class_is_changed_as_well():
    assert repr(copy_with(plain(dataclasses.dataclass)("a"), count=3)).endswith("Shape(name='a', count=3, parts=())")


@EACH
def test_how_instances_are_made_can_be_seen(shape, first, second):
    ours, standard = (shape(make) for make in (make_dataclass, dataclasses.dataclass))

    assert list(inspect.signature(ours).parameters) == list(inspect.signature(standard).parameters)
    assert _kinds(ours) == _kinds(standard)
    assert ours.__init__.__annotations__ == standard.__init__.__annotations__


def _kinds(cls: type) -> list[Any]:
    return [(one.kind, one.default is inspect.Parameter.empty) for one in inspect.signature(cls).parameters.values()]


@pytest.mark.parametrize("shape", [plain, single, mixed, mutable, generic, without_slots])
def test_fields_can_be_written_exactly_where_the_standard_one_lets_them(shape):
    made = both(shape, (("a",), {}))
    names = [fields(one)[0].name for (one,) in made]
    ours, standard = (
        [told(lambda: setattr(one, name, 1)), told(lambda: delattr(one, name))]  # noqa: B023
        for (one,), name in zip(made, names, strict=True)
    )

    assert ours == standard


@EACH
def test_copies_are_equal(shape, first, second):
    for one in both(shape, first, second)[0][1:]:
        assert copy.copy(one) == one
        assert copy.deepcopy(one) == one


@dataclass(frozen=True, slots=True)
class Sent:
    """A value that goes to another process."""

    name: str
    parts: tuple[int, ...] = ()
    worked_out: int = field(default=0, init=False, compare=False)


def test_values_survive_pickling():
    sent = Sent("a", (1, 2))

    assert [pickle.loads(pickle.dumps(sent, protocol)) for protocol in range(2, 6)] == [sent] * 4


def test_a_frozen_value_refuses_every_change():
    sent = Sent("a")

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        sent.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del sent.name


def test_every_instance_has_its_own_made_values():
    shape = mutable(make_dataclass)
    first, second = shape("a"), shape("a")
    first.items.append(1)

    assert (first.items, second.items) == ([1], [])


def test_values_of_other_classes_are_never_equal():
    first, second = plain(make_dataclass), plain(make_dataclass)

    assert first("a") != second("a")


def test_a_value_that_holds_itself_can_be_shown():
    one = mutable(make_dataclass)("a")
    one.items.append(one)

    assert repr(one) == "mutable.<locals>.Shape(name='a', items=[...])"


def test_the_first_instance_makes_an_init():
    shape = plain(make_dataclass)
    before = vars(shape)["__init__"]
    made = [shape("a", n) for n in range(3)]

    assert not inspect.isfunction(before)
    assert inspect.isfunction(vars(shape)["__init__"])
    assert [(one.name, one.count, one.parts) for one in made] == [("a", n, ()) for n in range(3)]


def test_shapes_that_equal_each_other_keep_their_own_names_and_defaults():
    @make_dataclass(frozen=True, slots=True)
    class First:
        """A name that stands for the instance in other classes."""

        self: int
        rest: tuple[int, ...] = (1,)

    @make_dataclass(frozen=True, slots=True)
    class Second:
        """The same shape."""

        _1: int
        _0: tuple[int, ...] = (2,)

    assert (First(3).self, First(3).rest) == (3, (1,))
    assert (Second(3)._1, Second(3)._0, Second(_0=(4,), _1=5)._0) == (3, (2,), (4,))


def test_a_field_without_a_default_does_not_follow_one_with():
    @make_dataclass(frozen=True)
    class Shape:
        """Refused when an instance is made."""

        name: str = "x"
        count: int

    with pytest.raises(TypeError, match="non-default argument 'count' follows default argument"):
        Shape("a", 1)


def test_a_mutable_default_is_refused():
    with pytest.raises(ValueError, match="mutable default"):

        @make_dataclass(frozen=True)
        class Shape:
            parts: list[int] = []  # noqa: RUF012

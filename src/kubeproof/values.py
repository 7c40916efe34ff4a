"""`dataclass` as in the standard library, made in a tenth of the time.

The standard one compiles up to six methods for every class when its module is imported, most of which never run. This
one leaves fields, slots and defaults to it and adds methods that all classes share; only `__init__` is taken from the
standard one, once several instances were made. To a type checker it is the standard one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from itertools import repeat
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

Values = Callable[[Any], tuple[Any, ...]]
FIRST_INSTANCES = 128  # making an `__init__` takes as long as so many of these
_OVERRIDABLE = ("__eq__", "__hash__", "__init__", "__repr__")


def make_dataclass(
    cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, kw_only: bool = False
) -> Any:
    """The class with the fields and methods of a standard dataclass; without InitVar and further options.

    A class and its bases must all come from here, or all from the standard library.
    """
    if cls is None:
        return lambda cls: make_dataclass(cls, frozen=frozen, slots=slots, kw_only=kw_only)
    written = [name for name in _OVERRIDABLE if name in vars(cls)]
    bare: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    for name, method in _methods(bare, frozen).items():
        if name not in written:
            setattr(bare, name, method)
    return bare


K = TypeVar("K")
V = TypeVar("V")


def complete(kinds: Iterable[K], table: Mapping[K, V]) -> Mapping[K, V]:
    """The table, which has an entry for each of the kinds and for nothing else: forgetting one is seen at import."""
    missing, unknown = set(kinds) - set(table), set(table) - set(kinds)
    if missing or unknown:
        raise TypeError(f"a table lacks {sorted(map(str, missing))} and has {sorted(map(str, unknown))} too much")
    return table


def copy_with(value: Any, /, **changes: object) -> Any:
    """The value with some fields changed, as `dataclasses.replace` returns it; no Python runs for each field."""
    change = vars(type(value)).get("__replace__") or _make_change(type(value))
    return change(value, **changes)


if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    dataclass = make_dataclass
    replace = copy_with


def _methods(cls: Any, frozen: bool) -> dict[str, Any]:
    """What the class gets beside its fields."""
    own = fields(cls)
    compared = _values_of([field.name for field in own if field.compare])
    hashed = _values_of([field.name for field in own if (field.compare if field.hash is None else field.hash)])

    def is_equal(self: Any, other: object) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    methods = {"__init__": _LateInit(cls, own, frozen), "__repr__": _show, "__eq__": is_equal, "__hash__": None}
    if "__init__" in vars(cls):
        methods["__replace__"] = _standard_change
    return methods | _FROZEN | {"__hash__": hash_of} if frozen else methods


def _make_change(cls: Any) -> Callable[..., Any]:
    """Gives a class the method that changes a value, once one is asked for; most classes never need it."""
    own = fields(cls)
    cls.__replace__ = _changing(own, hasattr(cls, "__post_init__")) if all(f.init for f in own) else _standard_change
    made: Callable[..., Any] = cls.__replace__
    return made


def _changing(own: tuple[Field[Any], ...], ends: bool) -> Callable[..., Any]:
    """The method that changes a value of a class of which all fields are given to `__init__`."""
    names = [field.name for field in own]
    known, values = frozenset(names), _values_of(names)

    def change(self: Any, /, **changes: object) -> Any:
        if not changes.keys() <= known:
            return dataclasses.replace(self, **changes)  # says what is wrong
        copy = object.__new__(self.__class__)
        _fill(copy, dict(zip(names, values(self), strict=True)) | changes)
        if ends:
            copy.__post_init__()
        return copy

    return change


def _standard_change(self: Any, /, **changes: object) -> Any:
    return dataclasses.replace(self, **changes)


def _values_of(names: list[str]) -> Values:
    """Reads these attributes; always into a tuple, in which a value equals itself."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


@recursive_repr()
def _show(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({shown})"


# -- frozen -----------------------------------------------------------------------------------------


def _refuse_setting(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FROZEN = {
    "__setattr__": _refuse_setting,
    "__delattr__": _refuse_deleting,
    "__getstate__": _state,  # for pickle and copy, which would set attributes
    "__setstate__": _set_state,
}


# -- how instances begin ----------------------------------------------------------------------------


class _LateInit:
    """Sets the fields of the first instances by name, then puts a compiled `__init__` in its place.

    Compiling one takes as long as hundreds of instances do here, and most classes have fewer.
    """

    def __init__(self, cls: Any, own: tuple[Field[Any], ...], frozen: bool) -> None:
        self._class, self._fields, self._frozen = cls, own, frozen
        self._left = FIRST_INSTANCES
        self._is_prepared = False

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._left -= 1
        if instance is not None and self._left >= 0:
            return partial(self._set_fields, instance)
        made: Any = _compile_init(self._class, self._frozen)
        self._class.__init__ = made
        return made if instance is None else made.__get__(instance)

    def _set_fields(self, instance: Any, /, *values: object, **named: object) -> None:
        """What the compiled one does."""
        if not self._is_prepared:
            self._prepare()
        taken = dict(zip(self._positional, values, strict=False)) | named
        begun = self._defaults | taken
        for name, make in self._made:
            if name not in taken:
                begun[name] = make()
        if len(taken) < len(values) + len(named) or begun.keys() != self._set or not taken.keys() <= self._named:
            _compile_init(self._class, self._frozen)(instance, *values, **named)  # says what is wrong
        _fill(instance, begun)
        if self._ends:
            instance.__post_init__()

    def _prepare(self) -> None:
        """Works out what every instance needs, as many classes have none."""
        own, self._is_prepared = self._fields, True
        self._named = {field.name for field in own if field.init}
        self._positional = [field.name for field in own if field.init and not field.kw_only]
        self._defaults = {field.name: field.default for field in own if field.default is not MISSING}
        self._made = [(one.name, one.default_factory) for one in own if one.default_factory is not MISSING]
        self._set = self._named | self._defaults.keys() | {name for name, _ in self._made}
        self._ends = hasattr(self._class, "__post_init__")


def _fill(instance: object, values: dict[str, object]) -> None:
    """Sets fields of a value, whether it is frozen or not; no Python runs for each of them."""
    any(map(object.__setattr__, repeat(instance), values, values.values()))


def _compile_init(cls: Any, frozen: bool) -> Callable[..., None]:
    """The `__init__` that the standard library compiles for a class with these fields."""
    own = [(field.name, field.type, field) for field in fields(cls)]
    after = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    slots = "__slots__" in vars(cls)
    standard: Any = dataclasses.make_dataclass(
        cls.__name__, own, namespace=after, frozen=frozen, slots=slots, repr=False, eq=False, match_args=False
    )
    made: Callable[..., None] = standard.__init__
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    return made


__all__ = ["complete", "copy_with", "dataclass", "make_dataclass", "replace"]

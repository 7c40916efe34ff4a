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


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = make_dataclass


def _methods(cls: Any, frozen: bool) -> dict[str, Any]:
    """What the class gets beside its fields."""
    own = fields(cls)
    compared = _values_of([field.name for field in own if field.compare])
    hashed = _values_of([field.name for field in own if (field.compare if field.hash is None else field.hash)])

    def is_equal(self: Any, other: object) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    methods = {"__init__": _LateInit(cls, own, frozen), "__repr__": _shown, "__eq__": is_equal, "__hash__": None}
    return methods | _FROZEN | {"__hash__": hash_of} if frozen else methods


def _values_of(names: list[str]) -> Values:
    """Reads these attributes; always into a tuple, in which a value equals itself."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


@recursive_repr()
def _shown(self: Any) -> str:
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
    """Sets the fields of the first instances one by one, then puts a compiled `__init__` in its place.

    Compiling one takes as long as dozens of instances do here, and most classes have fewer.
    """

    def __init__(self, cls: Any, own: tuple[Field[Any], ...], frozen: bool) -> None:
        self._class, self._fields, self._frozen = cls, own, frozen
        self._left = FIRST_INSTANCES

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._left -= 1
        if instance is not None and self._left >= 0:
            return partial(self._set_fields, instance)
        made: Any = _compiled_init(self._class, self._frozen)
        self._class.__init__ = made
        return made if instance is None else made.__get__(instance)

    def _set_fields(self, instance: Any, /, *values: object, **named: object) -> None:
        """What the compiled one does."""
        positional = [field.name for field in self._fields if field.init and not field.kw_only]
        taken = dict(zip(positional, values, strict=False)) | named
        fits = len(taken) == len(values) + len(named)
        for field in self._fields:
            value = _initial_value(field, taken)
            if value is not MISSING:
                object.__setattr__(instance, field.name, value)
            fits &= value is not MISSING or not field.init
        if taken or not fits:
            _compiled_init(self._class, self._frozen)(instance, *values, **named)  # says what is wrong
        elif hasattr(instance, "__post_init__"):
            instance.__post_init__()


def _initial_value(field: Field[Any], taken: dict[str, object]) -> object:
    """What a field begins with: what was given for it, which is taken away, or its default; MISSING if it has none."""
    if field.init and field.name in taken:
        return taken.pop(field.name)
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else MISSING


def _compiled_init(cls: Any, frozen: bool) -> Callable[..., None]:
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


__all__ = ["dataclass", "make_dataclass"]

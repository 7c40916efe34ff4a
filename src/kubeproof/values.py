"""`dataclass` as in the standard library, made in a tenth of the time.

The standard one compiles up to six methods for every class when its module is imported, most of which never run. This
one adds methods that all classes share, and takes `__init__` from a class of the same shape, with the names changed,
when the first instance is made. To a type checker it is the standard one.
"""

from __future__ import annotations

import dataclasses
from abc import update_abstractmethods
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cache
from itertools import repeat
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar

Values = Callable[[Any], tuple[Any, ...]]
_OVERRIDABLE = ("__eq__", "__hash__", "__init__", "__repr__")


def make_dataclass(
    cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, kw_only: bool = False
) -> Any:
    """The class with the fields and methods of a standard dataclass; without InitVar and further options.

    A class and its bases must all come from here, or all from the standard library.
    """
    if cls is None:
        return lambda cls: make_dataclass(cls, frozen=frozen, slots=slots, kw_only=kw_only)
    own = _fields_of(cls, kw_only)
    body = vars(cls)
    written = [name for name in _OVERRIDABLE if name in body]
    made = _describe(own) | _methods(own, frozen, "__init__" in written)
    for name in written:
        del made[name]
    return update_abstractmethods(_add_slots(cls, own, made) if slots else _add(cls, own, made))


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


# -- fields -----------------------------------------------------------------------------------------


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Standard:
    """Has what the standard library writes into every dataclass."""

    field: int = 0


_FIELD = vars(fields(_Standard)[0].__class__)["_field_type"].__get__(fields(_Standard)[0])
_PARAMETERS = vars(_Standard)["__dataclass_params__"]


def _fields_of(cls: type, kw_only: bool) -> dict[str, Field[Any]]:
    """The fields by name, those of bases first."""
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= vars(base).get("__dataclass_fields__", {})
    for name, kind in vars(cls).get("__annotations__", {}).items():
        if not (kind.startswith("ClassVar") if isinstance(kind, str) else "ClassVar" in str(kind)):
            found[name] = _make_field(cls, name, kind, kw_only)
    return found


def _make_field(cls: type, name: str, kind: Any, kw_only: bool) -> Field[Any]:
    default = getattr(cls, name, MISSING)
    if isinstance(default, Field):
        made: Any = default
    else:
        begins = MISSING if isinstance(default, MemberDescriptorType) else default
        made = Field(begins, MISSING, True, True, None, True, None, MISSING)  # type: ignore[arg-type]
    made.name, made.type, made._field_type = name, kind, _FIELD
    if made.kw_only is MISSING:
        made.kw_only = kw_only
    if made.default.__class__.__hash__ is None:
        raise ValueError(f"mutable default {type(made.default)} for field {name} is not allowed: use default_factory")
    return made  # type: ignore[no-any-return]


def _describe(own: dict[str, Field[Any]]) -> dict[str, Any]:
    """What `fields`, `asdict` and patterns read."""
    matched = tuple(name for name, field in own.items() if field.init and not field.kw_only)
    return {"__dataclass_fields__": own, "__dataclass_params__": _PARAMETERS, "__match_args__": matched}


def _add(cls: Any, own: dict[str, Field[Any]], made: dict[str, Any]) -> Any:
    for name, field in own.items():
        if field.default is not MISSING:
            setattr(cls, name, field.default)
        elif name in vars(cls):
            delattr(cls, name)
    for name, value in made.items():
        setattr(cls, name, value)
    return cls


def _add_slots(cls: Any, own: dict[str, Field[Any]], made: dict[str, Any]) -> Any:
    """A second class, as slots cannot be added to one that exists."""
    body = dict(vars(cls)) | made
    inherited = {slot for base in cls.__mro__[1:-1] for slot in vars(base).get("__slots__", ())}
    body["__slots__"] = tuple(name for name in own if name not in inherited)
    for name in (*own, "__dict__", "__weakref__"):
        body.pop(name, None)
    second = type(cls)(cls.__name__, cls.__bases__, body)
    second.__qualname__ = cls.__qualname__
    return second


# -- methods ----------------------------------------------------------------------------------------


def _methods(every: dict[str, Field[Any]], frozen: bool, has_init: bool) -> dict[str, Any]:
    """What the class gets beside its fields."""
    own = every.values()
    compared = _values_of([field.name for field in own if field.compare])
    hashed = _values_of([field.name for field in own if (field.compare if field.hash is None else field.hash)])

    def is_equal(self: Any, other: object) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    methods = {"__init__": _LateInit(frozen), "__repr__": _show, "__eq__": is_equal, "__hash__": None}
    if has_init:
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


def _fill(instance: object, values: dict[str, object]) -> None:
    """Sets fields of a value, whether it is frozen or not; no Python runs for each of them."""
    any(map(object.__setattr__, repeat(instance), values, values.values()))


# -- how instances begin ----------------------------------------------------------------------------


class _LateInit:
    """Puts an `__init__` in its place when the first instance is made; many classes have none in a run."""

    def __init__(self, frozen: bool) -> None:
        self._frozen = frozen

    def __get__(self, instance: object, owner: Any) -> Any:
        (cls,) = [base for base in owner.__mro__ if vars(base).get("__init__") is self]
        made: Any = _make_init(cls, self._frozen)
        setattr(cls, "__init__", made)  # noqa: B010 (to a type checker it is that of one class)
        return made if instance is None else made.__get__(instance)


def _make_init(cls: Any, frozen: bool) -> FunctionType:
    """The `__init__` of a class: that of its shape, with the names of its fields."""
    own = fields(cls)
    plain = [field for field in own if field.init and not field.kw_only]
    named = [field for field in own if field.init and field.kw_only]
    set_here = [*plain, *named, *(field for field in own if not field.init and _begins(field))]
    shape = _code_of(tuple(map(_expression, set_here)), frozen, hasattr(cls, "__post_init__"))
    code = _rename(shape, [field.name for field in set_here]).replace(
        co_argcount=1 + len(plain), co_kwonlyargcount=len(named), co_qualname=f"{cls.__qualname__}.__init__"
    )
    made = FunctionType(code, _GLOBALS | {f"_begin_{n}": _begin(field) for n, field in enumerate(set_here)})
    made.__defaults__ = _defaults(plain)
    made.__kwdefaults__ = {field.name: _default(field) for field in named if _begins(field)}
    made.__annotations__ = {field.name: field.type for field in own if field.init} | {"return": None}
    made.__module__ = cls.__module__
    return made


@cache
def _code_of(expressions: tuple[str, ...], frozen: bool, ends: bool) -> CodeType:
    """What sets so many fields, by number."""
    given = [f"_{n}" for n, expression in enumerate(expressions) if "_{n}" in expression]
    line = "_set(_self, '_{n}', {value})" if frozen else "_self._{n} = {value}"
    lines = [line.format(n=n, value=expression.format(n=n)) for n, expression in enumerate(expressions)]
    lines += ["_self.__post_init__()"] if ends else []
    found: dict[str, Any] = {}
    exec(f"def __init__({', '.join(['_self', *given])}):\n " + "\n ".join(lines or ["pass"]), found)
    code: CodeType = found["__init__"].__code__
    return code


def _expression(field: Field[Any]) -> str:
    """What the field numbered `n` is set to."""
    if field.default_factory is MISSING:
        return "_{n}" if field.init else "_begin_{n}"
    return "_begin_{n}() if _{n} is _MADE else _{n}" if field.init else "_begin_{n}()"


def _rename(code: CodeType, fields: list[str]) -> CodeType:
    names = {f"_{n}": name for n, name in enumerate(fields)}
    names["_self"] = "__dataclass_self__" if "self" in fields else "self"
    return code.replace(
        co_varnames=tuple(names[name] for name in code.co_varnames),
        co_names=tuple(names.get(name, name) for name in code.co_names),
        co_consts=tuple(names.get(value, value) for value in code.co_consts),
    )


class _Made:
    """Stands for a value that is made for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()
_GLOBALS = {"_set": object.__setattr__, "_MADE": _MADE}


def _begins(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _begin(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else _MADE


def _defaults(given: list[Field[Any]]) -> tuple[Any, ...]:
    first = next((index for index, field in enumerate(given) if _begins(field)), len(given))
    for field in given[first:]:
        if not _begins(field):
            raise TypeError(f"non-default argument {field.name!r} follows default argument")
    return tuple(map(_default, given[first:]))


__all__ = ["complete", "copy_with", "dataclass", "make_dataclass", "replace"]

"""`NamedTuple` as in `typing`, made in a tenth of the time.

The standard one compiles a method for every class when its module is imported, and each annotation. This one takes the
method from a class with as many fields, with the names changed, and leaves annotations as they are written. To a type
checker it is the standard one. A generic one is made by the standard library.
"""

from __future__ import annotations

import typing
from collections import namedtuple
from collections.abc import Iterable
from functools import cache
from itertools import count
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

_new: Any = tuple.__new__
_Standard: Any = namedtuple("_Standard", ["field"])
_FIELD: Any = type(vars(_Standard)["field"])  # reads a field by its number


class _OfFields(type):
    """Makes a named tuple of what stands in the body of a class."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body.pop(field) for field in fields if field in body}
        if fields[len(fields) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"a field without a default follows one with a default in {name}")
        own = dict(zip(fields, map(_FIELD, count(), map("Field number {}".format, count())), strict=False))
        made = _SHARED | own | {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields} | body
        made["__new__"] = _make_new(fields, tuple(defaults.values()))
        return type(name, (tuple,), made)


def _make_new(fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
    code = _code_of(len(fields)).replace(co_varnames=("_cls", *fields), co_name="__new__", co_qualname="__new__")
    return FunctionType(code, {"_new": _new}, "__new__", defaults)


@cache
def _code_of(fields: int) -> CodeType:
    """What makes a tuple of so many fields."""
    names = "".join(f"_{number}, " for number in range(fields))
    made: Any = eval(f"lambda _cls, {names}: _new(_cls, ({names}))")
    code: CodeType = made.__code__
    return code


# -- what all share ---------------------------------------------------------------------------------


def _make(cls: Any, iterable: Iterable[Any]) -> Any:
    result = _new(cls, iterable)
    if len(result) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(result)}")
    return result


def _replace(self: Any, /, **changes: Any) -> Any:
    result = _new(type(self), map(changes.pop, self._fields, self))
    if changes:
        raise ValueError(f"Got unexpected field names: {list(changes)!r}")
    return result


def _show(self: Any) -> str:
    shown = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{self.__class__.__name__}({shown})"


def _as_dict(self: Any) -> dict[str, Any]:
    return dict(zip(self._fields, self, strict=True))


def _parts(self: Any) -> tuple[Any, ...]:
    return tuple(self)


_SHARED = {
    "__slots__": (),
    "_make": classmethod(_make),
    "_replace": _replace,
    "_asdict": _as_dict,
    "__repr__": _show,
    "__getnewargs__": _parts,  # for pickle and copy
}
_base: Any = type.__new__(_OfFields, "_NamedTuple", (), {})


class _Declared:
    """Stands among the bases of a class that becomes a named tuple."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        standard: Any = typing.NamedTuple
        return (_base,) if len(bases) == 1 else standard.__mro_entries__((standard,))


if TYPE_CHECKING:
    from typing import NamedTuple
else:
    NamedTuple = _Declared()

__all__ = ["NamedTuple"]

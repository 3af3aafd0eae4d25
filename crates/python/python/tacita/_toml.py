"""Settings as TOML, which the program reads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .errors import ArgumentTypeError


def toml(table: Mapping[str, object]) -> str:
    """A table as a document. Tables inside are written inline, so their order does not matter."""
    return "".join(f"{_quoted(key)} = {_value(key, value)}\n" for key, value in table.items())


def _value(name: str, value: object) -> str:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a number of NumPy
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        # TOML has inf and nan, and needs a point or an exponent in every other number; Python writes both so.
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    if isinstance(value, (str, os.PathLike)):
        return _quoted(os.fspath(value))
    if isinstance(value, Mapping):
        pairs = (f"{_quoted(str(key))} = {_value(str(key), one)}" for key, one in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, (list, tuple, range)) or hasattr(value, "tolist"):
        items: Any = getattr(value, "tolist", lambda: value)()
        return "[" + ", ".join(_value(name, one) for one in items) + "]"
    raise ArgumentTypeError(f"{name} cannot be of type {type(value).__name__}")


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's too, except those of surrogate pairs, which are not needed, and of DEL, which are.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

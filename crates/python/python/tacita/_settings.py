"""From arguments to the settings file of a run, and tables as files in memory."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ._arguments import positive, probability
from ._columns import name_of, text_of
from ._memory import MemoryFile
from ._tables import table_of
from ._toml import toml
from .errors import ArgumentError, ArgumentTypeError, RunError


def settings_of(given: object, keywords: Mapping[str, Any]) -> dict[str, Any]:
    asked = kebab(document_of("settings", given)) if given is not None else {}
    asked.update(kebab(keywords))
    for name, check in (("epsilon", positive), ("delta", probability)):
        if name in asked:
            asked[name] = check(name, asked[name])
    if "classes" in asked:
        asked["classes"] = texts("classes", asked["classes"])
    return asked


def document_of(name: str, given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentTypeError(f"{name} must be a file or a mapping, got {type(given).__name__}")
    path = Path(given)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}. Nothing was spent") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunError(f"{path} is not TOML: {error}. Nothing was spent") from None


def kebab(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in table.items() if value is not None}


def texts(name: str, values: Any) -> list[str]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ArgumentTypeError(f"{name} must be a list, got {type(values).__name__}")
    return [text_of(value) for value in values]


def declared_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with the names of TOML and values as texts, but for the names of columns."""
    declared = kebab(schema)
    if "label" in declared:
        declared["label"] = kebab(declared["label"])
        if "classes" in declared["label"]:
            declared["label"]["classes"] = texts("classes", declared["label"]["classes"])
    columns = {}
    for name, column in declared.get("columns", {}).items():
        columns[name_of(name)] = {
            key: texts(key, value) if key in ("categories", "order") else value
            for key, value in column.items()
            if value is not None
        }
    if columns:
        declared["columns"] = columns
    return declared


class Files(ExitStack):
    """Files in memory that last as long as the program runs."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[MemoryFile] = []

    def add(self, name: str, content: bytes) -> str:
        """The path of a new file."""
        file = self.enter_context(MemoryFile(name, content))
        self.all.append(file)
        return file.path


def put_data(asked: dict[str, Any], data: Any, test: Any, schema: Any, files: Files) -> None:
    """Puts data and schema among the settings."""
    if isinstance(schema, Mapping):
        if "schema" in asked or "declared" in asked:
            raise ArgumentError("give the schema once: in settings or as schema")
        asked["declared"] = declared_of(schema)
    elif isinstance(schema, (str, os.PathLike)):
        asked["schema"] = os.fspath(schema)
    elif schema is not None:
        raise ArgumentTypeError(f"schema must be a file or a mapping, got {type(schema).__name__}")
    elif isinstance(asked.get("declared"), Mapping):
        asked["declared"] = declared_of(asked["declared"])
    if isinstance(data, str):
        asked["data"] = data
    elif data is not None:
        for other in ("data", "csv", "parquet", "jsonl", "images"):
            if other in asked:
                raise ArgumentError(f"give either data or {other}, not both")
        kind = "csv" if asked.get("text") is None else "jsonl"
        asked[kind] = as_file("data", data, asked, files)
    if isinstance(test, (str, os.PathLike)):
        asked["test"] = os.fspath(test)
    elif test is not None:
        asked["test"] = as_file("test", test, asked, files)


def as_file(name: str, data: Any, settings: Mapping[str, Any], files: Files) -> str:
    """The path of a table in memory: texts as JSON lines, everything else as CSV."""
    if isinstance(data, os.PathLike):
        raise ArgumentTypeError(
            f"{name} is a path; say what it holds: csv=, parquet=, jsonl= or images="
        )
    table = table_of(name, data)
    for setting in ("label", "text"):
        column = settings.get(setting)
        if isinstance(column, str) and name_of(column) not in table.names:
            raise ArgumentError(
                f"{name} has no column {column!r}, which {setting} names. Nothing was spent"
            )
    return files.add(name, table.csv() if settings.get("text") is None else table.json_lines())


def document(table: Mapping[str, Any]) -> bytes:
    """Settings as a TOML file; those that are none are left out."""
    given = {name: value for name, value in table.items() if value is not None}
    return toml(given).encode("utf-8", "replace")

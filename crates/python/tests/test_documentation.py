"""Examples run, everything public is documented, and the stubs match the module."""

import ast
import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest
import tacita
from tacita import _tacita

MODULES = ["tacita"] + [
    f"tacita.{module.name}"
    for module in pkgutil.iter_modules(tacita.__path__)
    if module.name != "_tacita"
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("name", [name for name in tacita.__all__ if name != "__version__"])
def test_public_names_are_documented(name):
    value = getattr(tacita, name)
    assert inspect.getdoc(value)
    if inspect.isclass(value):
        members = [(m, getattr(value, m)) for m in vars(value) if not m.startswith("_")]
        for member, attribute in members:
            assert inspect.getdoc(attribute) or not callable(attribute), f"{name}.{member}"
    elif callable(value):
        assert ">>>" in inspect.getdoc(value), f"{name} has no example"


def names_in(body):
    names = set()
    for statement in body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            names.add(statement.name)
        elif isinstance(statement, ast.AnnAssign):
            names.add(statement.target.id)
    return names


def test_stubs_name_what_the_module_has():
    stub = Path(tacita.__file__).with_name("_tacita.pyi")
    tree = ast.parse(stub.read_text())
    public = {name for name in vars(_tacita) if not name.startswith("_")}
    assert names_in(tree.body) == public
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            real = vars(getattr(_tacita, statement.name))
            members = {name for name in real if not name.startswith("_")}
            assert names_in(statement.body) - {"__new__"} == members


def test_the_package_says_that_it_is_typed():
    assert Path(tacita.__file__).with_name("py.typed").exists()

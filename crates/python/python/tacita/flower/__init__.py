"""Private federations on Flower (``pip install flwr``; tried with 1.42).

The server's app::

    @app.main()
    def main(grid, context):
        strategy = tacita.flower.Strategy(plan, model, learning_rate=0.5, folder="runs/federation-1")
        strategy.start(grid)

The clients' app is any app that trains and returns arrays, with the modifier :func:`private_mod`, or one made by
:func:`client_app` from a function. Where a node is a site that holds the records of many clients, as a hospital does
those of its patients, its app is made by :func:`site_app`, and each of them is protected. Flower carries the bytes; what
must be right for the guarantee is done by :mod:`tacita.federation`.

Flower writes into its own log how many nodes it asked. That number is as secret as the data: keep the server's log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._clients import client_app, private_mod, site_app
    from ._server import Strategy

__all__ = ["Strategy", "client_app", "private_mod", "site_app"]

#: Loaded when they are first used, so that the module can be imported without Flower.
_LATER = {
    "Strategy": "_server",
    "client_app": "_clients",
    "private_mod": "_clients",
    "site_app": "_clients",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'tacita.flower' has no attribute {name!r}")
    from importlib import import_module

    try:
        value = getattr(import_module(f"tacita.flower.{_LATER[name]}"), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("flwr"):
            raise
        raise ImportError("tacita.flower needs Flower: pip install flwr", name="flwr") from error
    globals()[name] = value
    return value

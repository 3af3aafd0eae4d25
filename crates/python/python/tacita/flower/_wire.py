"""How the bytes of a federation travel in Flower's messages."""

from __future__ import annotations

import logging

log = logging.getLogger("tacita")

#: The record of a message that holds the bytes.
RECORD = "tacita"
#: Its fields: from the server, the order, the shapes of the model, the numbers of the clients at the node that are asked,
#: which part of them this is, and how many clients a node holds; from the client, its answer and the part.
ORDER, SHAPES, SLOTS, PART, PER_NODE, ANSWER = (
    "order",
    "shapes",
    "slots",
    "part",
    "clients-per-node",
    "answer",
)
#: The keys that Flower's own strategies use.
ARRAYS, CONFIG = "arrays", "config"

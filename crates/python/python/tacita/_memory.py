"""Bytes that a child process reads as a file, and that are never written to a disk."""

from __future__ import annotations

import os
import tempfile
from types import TracebackType


class MemoryFile:
    """A file in memory (``memfd_create``), readable by child processes that inherit its descriptor.

    Where the system has none, it is a file that only its owner may read and that goes when it is closed.
    """

    def __init__(self, name: str, content: bytes) -> None:
        #: What messages call it.
        self.name = name
        self._named: str | None = None
        if hasattr(os, "memfd_create"):
            self._descriptor = os.memfd_create("tacita", os.MFD_CLOEXEC)
        else:
            self._descriptor, self._named = tempfile.mkstemp(prefix="tacita-")
        with open(self._descriptor, "wb", closefd=False) as file:
            file.write(content)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What the child has to inherit."""
        return () if self._named else (self._descriptor,)

    @property
    def path(self) -> str:
        """The path by which the child opens it."""
        return self._named or f"/proc/self/fd/{self._descriptor}"

    def close(self) -> None:
        os.close(self._descriptor)
        if self._named:
            os.unlink(self._named)

    def __enter__(self) -> MemoryFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def is_memory(path: object) -> bool:
    """Whether a path is one of these."""
    return isinstance(path, str) and path.startswith("/proc/self/fd/")

"""Progress is drawn on one line where that is understood."""

import io

import pytest
from tacita._progress import Progress

STEPS = [(1, "  step 1/3  ε so far ≈ 0.5"), (3, "  step 3/3  ε ≈ 1")]


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook(io.StringIO):
    """What standard error is in Jupyter."""

    __module__ = "ipykernel.iostream"


def told_to(out, monkeypatch):
    monkeypatch.setattr("sys.stderr", out)
    progress = Progress()
    progress.line("plan")
    for made, text in STEPS:
        progress.step(made, 3, text)
    progress.line("done")
    return out.getvalue()


@pytest.mark.parametrize("kind", [Terminal, Notebook])
def test_a_terminal_and_a_notebook_see_one_line_drawn_anew(kind, monkeypatch):
    plan, drawn, done, end = told_to(kind(), monkeypatch).split("\n")
    assert (plan, done, end) == ("plan", "done", "")
    first, second = drawn.split("\r")[1:]
    assert "█" * 10 + "░" * 20 + " step 1/3" in first
    assert "█" * 30 + " step 3/3" in second and len(second) >= len(first)


def test_a_file_sees_lines(monkeypatch):
    said = told_to(io.StringIO(), monkeypatch)
    assert said == "plan\n" + "".join(text + "\n" for _, text in STEPS) + "done\n"

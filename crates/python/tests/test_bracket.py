"""Brackets: what is printed is proved too."""

import copy
import math
import pickle
import random
from decimal import Decimal

import pytest
import tacita
from tacita.bracket import down, up


def test_text_is_rounded_outwards():
    draw = random.Random(1)
    for _ in range(5000):
        value = math.ldexp(draw.uniform(0.5, 1.0), draw.randrange(-60, 60))
        above, below = Decimal(up(value)), Decimal(down(value))
        assert below <= Decimal(value) <= above
        assert above - below <= above * Decimal("1e-4")
        bracket = tacita.Bracket(value / 2, value)
        assert Decimal(f"{bracket:.4f}") >= Decimal(value)
        assert Decimal(f"{bracket:.3g}") >= Decimal(value)


def test_text_is_short():
    assert (up(1.6621949), up(3.0), down(1e-9), up(12345.678)) == ("1.6622", "3", "1e-9", "12346")
    assert up(math.inf) == "inf"
    assert f"{tacita.Bracket(0.1, 0.25):.1f}" == "0.3"
    assert str(tacita.Bracket(0.0, 2.0)) == "≤ 2 (proved)"


def test_a_bracket_is_a_value():
    bracket = tacita.Bracket(1.0, 2.0)
    assert float(bracket) == bracket.upper == 2.0
    assert eval(repr(bracket), {"Bracket": tacita.Bracket}) == bracket
    assert pickle.loads(pickle.dumps(bracket)) == copy.deepcopy(bracket) == bracket
    assert hash(bracket) == hash(tacita.Bracket(1.0, 2.0))
    assert list(bracket) == [1.0, 2.0]
    assert bracket != tacita.Bracket(1.0, 2.5)
    with pytest.raises(AttributeError):
        bracket.upper = 0.0


@pytest.mark.parametrize("ends", [(2.0, 1.0), (-1.0, 1.0), (math.nan, 1.0), (0.0, math.nan)])
def test_ends_must_be_in_order(ends):
    with pytest.raises(tacita.ArgumentError):
        tacita.Bracket(*ends)


def test_unknown_formats_are_refused():
    with pytest.raises(ValueError, match=r"\.Nf or \.Ng"):
        format(tacita.Bracket(1.0, 2.0), "d")


def test_a_sweep_in_a_shorter_type_is_rounded_up():
    numpy = pytest.importorskip("numpy")
    upper = numpy.linspace(0.1, 9.9, 999)
    sweep = tacita.BracketArray(upper / 2, upper)
    for kind in (numpy.float64, numpy.float32, numpy.float16):
        short = numpy.asarray(sweep, dtype=kind)
        assert short.dtype == kind
        assert (short.astype(numpy.float64) >= upper).all()
    with pytest.raises(tacita.ArgumentError, match="dtype"):
        numpy.asarray(sweep, dtype=int)

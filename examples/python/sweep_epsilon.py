"""A table of noise multipliers, and the curve and trade-off function of one plan."""

import numpy as np
import tacita

PLAN = {"records": 60_000, "batch": 512, "delta": 1e-5}

# Every combination of a budget and a number of epochs, as NumPy broadcasts.
epsilons = np.array([[1.0], [2.0], [4.0], [8.0]])
epochs = np.array([5, 10, 20])
table = tacita.calibrate(epsilon=epsilons, epochs=epochs, **PLAN)
print("noise multiplier, a row for each ε and a column for each number of epochs")
print(np.round(table.noise, 4))
assert (table.epsilon.upper <= epsilons).all()
# More noise for less ε and for more epochs.
assert (np.diff(table.noise, axis=0) < 0).all() and (np.diff(table.noise, axis=1) > 0).all()

ledger = tacita.calibrate(epsilon=2, epochs=10, **PLAN).ledger
deltas = ledger.curve(np.linspace(0, 4, 9))
print("δ at ε = 0, 0.5, …, 4, from above:", np.array2string(deltas.upper, precision=2))

# Whoever wrongly names 5 % of outsiders misses at least this share of the records that took part.
missed = ledger.trade_off([0.01, 0.05, 0.2])
print("missed at 1, 5 and 20 % false alarms, at least:", np.round(missed, 3))
assert (np.diff(missed) < 0).all()

"""Golden values of epsilon for tests/oracle.rs, by a method that shares nothing with the crate.

No lattice and no FFT: the characteristic function of the privacy loss is integrated over the
output line by the trapezoidal rule, raised to the number of rounds, and delta is its Laplace
inversion along the line Re s = t,

    delta(e) = 1/pi * Re int_0^inf M(t+iw) e^(-(t+iw)e) / ((t+iw)(t+1+iw)) dw,

M(s) = E e^(s loss) under the first distribution of the divergence. Every case is computed twice,
with different contour, cut-off and node spacings; the difference is printed and must stay below
2e-7 of epsilon, and cases that do not reach it are left out.

Made with Python 3.11, numpy 2.4:  python3 oracle.py > oracle.json
"""
import json
import math
import sys

import numpy as np


def loss_nodes(q, k, s, direction, per_deviation):
    low, high = -13 * s, max(13 * s, k + 13 * s)
    n = int((high - low) / s * per_deviation)
    x = np.linspace(low, high, n + 1)
    j = np.arange(k + 1)
    logw = np.array([math.lgamma(k + 1) - math.lgamma(i + 1) - math.lgamma(k - i + 1) for i in j])
    if q < 1:
        logw = logw + j * math.log(q) + (k - j) * math.log1p(-q)
        terms = [w + (2 * i * x - i * i) / (2 * s * s) for i, w in zip(j, logw)]
    else:
        terms = [(2 * k * x - k * k) / (2 * s * s)]
    top = np.max(terms, axis=0)
    ratio = top + np.log(sum(np.exp(t - top) for t in terms))
    mass = np.exp(-x * x / (2 * s * s)) * ((x[1] - x[0]) / (s * math.sqrt(2 * math.pi)))
    if direction == 'remove':
        return ratio, np.exp(-x * x / (2 * s * s) + ratio) * ((x[1] - x[0]) / (s * math.sqrt(2 * math.pi)))
    return -ratio, mass


class Composed:
    def __init__(self, rounds, k, direction, per_deviation):
        self.rounds = [(n, *loss_nodes(q, k, s, direction, per_deviation)) for q, s, n in rounds]

    def log_moment(self, t):
        total = 0.0
        for n, loss, mass in self.rounds:
            m = np.max(t * loss)
            total += n * (m + math.log(np.sum(mass * np.exp(t * loss - m))))
        return total

    def mean(self, t):
        total = 0.0
        for n, loss, mass in self.rounds:
            w = mass * np.exp(t * loss - np.max(t * loss))
            total += n * np.sum(w * loss) / np.sum(w)
        return total

    def deviation(self, t):
        total = 0.0
        for n, loss, mass in self.rounds:
            w = mass * np.exp(t * loss - np.max(t * loss))
            w = w / np.sum(w)
            total += n * (np.sum(w * loss * loss) - np.sum(w * loss) ** 2)
        return math.sqrt(total)

    def contour(self, t, period, most):
        """(w, M(t+iw)/M(t)) on a uniform grid until it is negligible."""
        dw = 2 * math.pi / period
        ws, values = [], []
        start, chunk = 0, 256
        while start < most:
            w = (start + 0.5 + np.arange(chunk)) * dw  # midpoint rule
            log = np.zeros(chunk, complex)
            for n, loss, mass in self.rounds:
                base = mass * np.exp(t * loss - np.max(t * loss))
                base = base / np.sum(base)
                # 1 + sum p (e^(iwl) - 1), by real parts to keep small changes.
                phase = np.outer(w, loss)
                change = (-2 * np.sin(phase / 2) ** 2) @ base + 1j * (np.sin(phase) @ base)
                log += n * np.log1p(change)
            ws.append(w)
            values.append(np.exp(log))
            size = np.abs(values[-1]) / (1 + w * w / (t * t))
            if np.max(size) < 1e-17:
                return np.concatenate(ws), np.concatenate(values), dw
            start += chunk
        return None

    def epsilon(self, delta, slack):
        # Saddle point of delta by bisection on the tilt.
        low, high = math.log(1e-2), math.log(1e6)
        for _ in range(60):
            t = math.exp((low + high) / 2)
            d = self.deviation(t)
            value = self.log_moment(t) - t * self.mean(t) - math.log(t * (t + 1) * max(d, 1 / t))
            low, high = (low, math.log(t)) if value < math.log(delta) else (math.log(t), high)
        t = math.exp(low) * slack
        e0, d = self.mean(t), self.deviation(t)
        found = self.contour(t, slack * (60 / t + 60 * d + 2 * abs(e0)), 60000)
        if found is None:
            return None
        w, value, dw = found
        s = t + 1j * w
        kernel = value / (s * (s + 1))
        log_scale = self.log_moment(t)

        def delta_of(e):
            total = np.sum((kernel * np.exp(-1j * w * e)).real) * dw / math.pi
            return total * math.exp(min(log_scale - t * e, 700))
        lo, hi = max(0.0, e0 - 30 / t), e0 + 30 / t
        if lo == 0.0 and delta_of(0.0) <= delta:
            return 0.0
        for _ in range(200):
            m = (lo + hi) / 2
            lo, hi = (m, hi) if delta_of(m) > delta else (lo, m)
        return hi


def main():
    rng = np.random.default_rng(20240607)
    cases = []
    while len(cases) < 60:
        kind = len(cases) % 6
        k = 1 if kind != 5 else int(rng.choice([2, 3, 8]))
        rounds = []
        for _ in range(1 if kind != 4 else int(rng.integers(2, 5))):
            q = float(10 ** rng.uniform(-3.5, -0.05))
            s = float(10 ** rng.uniform(-0.3, 1.5))
            n = int(10 ** rng.uniform(0.7, 5.5))
            rounds.append((q, s, n))
        if kind == 3:
            rounds.append((1.0, float(10 ** rng.uniform(0.5, 1.5)), int(rng.integers(1, 50))))
        delta = float(10 ** rng.uniform(-12, -2))
        case = {'rounds': rounds, 'records': k, 'delta': delta}
        good = True
        for direction in ('remove', 'add'):
            one = Composed(rounds, k, direction, 24).epsilon(delta, 1.0)
            two = Composed(rounds, k, direction, 31).epsilon(delta, 0.83) if one is not None else None
            if one is None or two is None or not math.isfinite(one):
                good = False
                break
            difference = abs(one - two)
            print(direction, rounds, k, delta, one, two, difference, file=sys.stderr, flush=True)
            if difference > max(2e-7 * one, 2e-9) or one > 60:
                good = False
                break
            case[direction] = one
        if good:
            cases.append(case)
    print(json.dumps({'provenance': __doc__.strip(), 'cases': cases}, indent=1))


main()

#!/usr/bin/env python3
"""The work of benches/agreement.rs in other libraries, timed.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy pandas statsmodels scikit-learn krippendorff
    .venv/bin/python benches/peers/agreement.py

Prints one line per case: library, case, milliseconds (the fastest of a few runs; where a loop would take minutes, a part of
it is run and scaled, and the line says so). The data come from the same generator as in the Rust benchmark.
"""

import time

import numpy as np

MASK = (1 << 64) - 1
REPLICATES = 2000


class Words:
    """splitmix64, as in the Rust benchmark."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % bound


def pairs(units, categories):
    words = Words(1)
    first, second = np.empty(units, int), np.empty(units, int)
    for i in range(units):
        first[i] = words.below(categories)
        second[i] = first[i] if words.below(10) < 8 else words.below(categories)
    return first, second


def fastest(work, runs=5):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def line(library, case, milliseconds, note=""):
    print(f"{library:<34} {case:<34} {milliseconds:>10.2f} ms  {note}", flush=True)


def square(first, second, categories):
    return np.bincount(first * categories + second, minlength=categories**2).reshape(categories, categories)


def kappa_intervals(units, categories):
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import cohens_kappa

    first, second = pairs(units, categories)
    codes, labels = first * categories + second, list(range(categories))
    table = square(first, second, categories)
    case = f"kappa, 2000 replicates, {units} x {categories}"

    def resampled(count, statistic):
        rng = np.random.default_rng(0)
        values = np.empty(count)
        for i in range(count):
            values[i] = statistic(rng.integers(0, units, units))
        return np.quantile(values, [0.025, 0.975])

    def by_table(index):
        counts = np.bincount(codes[index], minlength=categories**2).reshape(categories, categories)
        return cohens_kappa(counts, return_results=False)

    part = REPLICATES if units <= 200 else 100
    time_taken = fastest(lambda: resampled(part, by_table), 3)
    line("statsmodels, items resampled", case, time_taken * REPLICATES / part, "" if part == REPLICATES else "scaled")

    part = 200 if units <= 200 else 20
    by_labels = lambda index: cohen_kappa_score(first[index], second[index], labels=labels)
    time_taken = fastest(lambda: resampled(part, by_labels), 2)
    line("scikit-learn, items resampled", case, time_taken * REPLICATES / part, "scaled")

    def cells():
        draws = np.random.default_rng(0).multinomial(units, (table / units).ravel(), size=REPLICATES)
        draws = draws.reshape(REPLICATES, categories, categories).astype(float)
        po = np.trace(draws, axis1=1, axis2=2) / units
        pe = (draws.sum(1) * draws.sum(2)).sum(1) / units**2
        return np.quantile((po - pe) / (1 - pe), [0.025, 0.975])

    line("numpy, cells resampled (ours)", case, fastest(cells))


def alpha():
    import krippendorff

    first, second = pairs(1_000_000, 4)
    words = Words(2)
    values = np.vstack([first, second]).astype(float)
    values[1, [i for i in range(1_000_000) if words.below(10) == 0]] = np.nan
    for level in ("nominal", "ordinal"):
        found = krippendorff.alpha(values, level_of_measurement=level)
        time_taken = fastest(lambda: krippendorff.alpha(values, level_of_measurement=level), 3)
        line("krippendorff", f"alpha {level}, 2 x 1,000,000", time_taken, f"alpha {found:.12f}")


def fleiss():
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    words = Words(3)
    codes = np.empty((100_000, 10), int)
    for unit in codes:
        truth = words.below(5)
        for rater in range(10):
            unit[rater] = truth if words.below(10) < 7 else words.below(5)
    counts, _ = aggregate_raters(codes, 5)
    line("statsmodels, from codes", "Fleiss, 10 x 100,000", fastest(lambda: fleiss_kappa(aggregate_raters(codes, 5)[0]), 3))
    line("statsmodels, from counts", "Fleiss, 10 x 100,000", fastest(lambda: fleiss_kappa(counts), 3), f"kappa {fleiss_kappa(counts):.12f}")


if __name__ == "__main__":
    for units in (200, 100_000):
        for categories in (2, 3, 4, 5):
            kappa_intervals(units, categories)
    alpha()
    fleiss()

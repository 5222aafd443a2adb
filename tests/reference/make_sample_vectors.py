#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Statistics of small samples as scipy, numpy and the standard library compute them.

    make_sample_vectors.py > sample_vectors.txt      (Debian: python3-scipy)

Lines:
    student CONFIDENCE DF T          P(|T| <= t) = confidence
    beta X A B VALUE                 regularised incomplete beta function
    binomial K N VALUE               P(X < k), n tosses of a fair coin
    rank Q N RANK                    ceil(q * n) in exact arithmetic of the decimal q
    sample NAME N X...               the values of the next lines
    mean VALUE / deviation VALUE / median VALUE / quantile Q VALUE
    interval CONFIDENCE LOW HIGH     of the median, see sample.h
"""
import math
import statistics
from fractions import Fraction

import numpy
from scipy import special, stats

QUANTILES = ["0", "0.01", "0.07", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99", "0.999", "1"]


def exact_rank(q, n):
    return max(1, math.ceil(Fraction(q) * n))


def interval(x, confidence):
    """Hettmansperger & Sheather 1986; Student's where order statistics give too little."""
    x = sorted(x)
    n = len(x)
    median = statistics.median(x)

    def covered(k):
        return 1 - 2 * stats.binom.cdf(k - 1, n, 0.5)

    depths = [k for k in range(1, n // 2 + 1) if covered(k) >= confidence]
    if not depths:
        half = stats.t.isf((1 - confidence) / 2, n - 1) * stats.sem(x)
        mean = statistics.mean(x)
        return min(mean - half, median), max(mean + half, median)
    k = depths[-1]
    share = (covered(k) - confidence) / (covered(k) - covered(k + 1))
    weight = (n - k) * share / (k + (n - 2 * k) * share)
    if 2 * k == n:
        weight = min(weight, 0.5)
    return ((1 - weight) * x[k - 1] + weight * x[k],
            (1 - weight) * x[n - k] + weight * x[n - k - 1])


def show_sample(name, x, with_intervals=True):
    x = [float(v) for v in x]
    print("sample", name, len(x), *map(repr, x))
    exact = [Fraction(v) for v in x]
    print("mean", repr(float(statistics.mean(exact))))
    if len(x) >= 2:
        print("deviation", repr(float(statistics.stdev(exact))))
    print("median", repr(statistics.median(x)))
    for q in QUANTILES:
        value = sorted(x)[exact_rank(q, len(x)) - 1]
        if q != "0.07":  # whose double is above 7/100
            assert value == numpy.quantile(x, float(q), method="inverted_cdf"), (name, q)
        print("quantile", q, repr(value))
    if len(x) >= 3 and with_intervals:
        for confidence in (0.5, 0.9, 0.95, 0.99, 0.999):
            print("interval", confidence, *map(repr, map(float, interval(x, confidence))))


def show_functions():
    for confidence in (0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999):
        for df in (1, 2, 3, 4, 5, 7, 10, 29, 30, 100, 1000, 12345, 1000000):
            print("student", confidence, df, repr(float(stats.t.isf((1 - confidence) / 2, df))))
    for x in (0.0, 1e-9, 0.01, 0.3, 0.5, 0.7, 0.99, 1.0):
        for a, b in ((0.5, 0.5), (1, 1), (2, 3), (0.5, 500), (500, 0.5), (50, 40), (100000, 100000)):
            print("beta", x, a, b, repr(float(special.betainc(a, b, x))))
    for n in (1, 2, 3, 6, 7, 30, 101, 5000):
        for k in sorted({1, 2, n // 3 + 1, n // 2, n // 2 + 1, n} & set(range(1, n + 1))):
            print("binomial", k, n, repr(float(stats.binom.cdf(k - 1, n, 0.5))))
    for q in QUANTILES + ["0.3", "0.6", "0.29", "0.57", "0.58", "0.001", "0.9999", "0.333"]:
        for n in (1, 2, 3, 7, 10, 100, 1000, 99999, 1000000, 10**12):
            print("rank", q, n, exact_rank(q, n))


def main():
    random = numpy.random.default_rng(20260101)
    show_functions()
    show_sample("one", [682])
    show_sample("two", [1, 4])
    show_sample("three", [0.3, 0.1, 0.2])
    show_sample("eight", range(1, 9))
    show_sample("hundred", range(100, 0, -1))
    show_sample("equal", [7.25] * 9)
    show_sample("offset", [1e9 + v for v in (4, 7, 13, 16)])
    show_sample("negative", [-3, -1, 0, 2, -8, 5, 1e-3])
    show_sample("huge", [1e308, 1.5e308, -1e308, 1.7e308, 1e300, 1, 2], False)
    show_sample("tiny", [5e-324, 1e-300, 2e-310], False)
    for n in (4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 31, 64):
        show_sample(f"skewed-{n}", numpy.exp(random.normal(size=n)) * 300)


main()

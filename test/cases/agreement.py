"""Reads a list of questions, each the votes of its cases; answers what published libraries make of them."""

import json
import math
import sys

import krippendorff
import numpy
from statsmodels.stats.inter_rater import fleiss_kappa

try:
    import pandas
    from crowdkit.metrics.data import alpha_krippendorff
except ImportError:
    alpha_krippendorff = None


def number(value):
    return None if math.isnan(value) else float(value)


def kappa(cases, options):
    """Only defined for the same number of votes in each case."""
    if len({len(votes) for votes in cases}) != 1 or len(cases[0]) < 2:
        return None
    table = [[votes.count(option) for option in options] for votes in cases]
    with numpy.errstate(all="ignore"):
        return number(fleiss_kappa(table))


def alpha(cases, options):
    table = [[votes.count(option) for option in options] for votes in cases]
    try:
        return number(krippendorff.alpha(value_counts=numpy.array(table), level_of_measurement="nominal"))
    except ValueError:  # only one option was ever voted for
        return None


def crowd_alpha(cases):
    judged = {option for votes in cases if len(votes) > 1 for option in votes}
    if alpha_krippendorff is None or len(judged) < 2:  # it would divide by zero
        return None
    rows = [
        {"task": str(task), "worker": str(worker), "label": option}
        for task, votes in enumerate(cases)
        for worker, option in enumerate(votes)
    ]
    return number(alpha_krippendorff(pandas.DataFrame(rows)))


def answer(question):
    cases = [votes for votes in question["cases"] if votes]
    options = sorted({option for votes in cases for option in votes})
    return {"kappa": kappa(cases, options), "alpha": alpha(cases, options), "crowdAlpha": crowd_alpha(cases)}


json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)

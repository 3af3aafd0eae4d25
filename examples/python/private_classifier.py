"""A private classifier on a pandas table with missing values, saved, loaded and explained.

    pip install '.[sklearn]' pandas
    python examples/python/private_classifier.py

The patients are synthetic. Everything that the classifier is told about the columns is declared: nothing is learned from
the records but through noise that the budget covers.
"""

import numpy as np
import pandas as pd
from tacita import PrivateClassifier

rng = np.random.default_rng(2026)
count = 5_000
patients = pd.DataFrame(
    {
        "age": rng.integers(18, 95, count).astype(float),
        "pressure": rng.normal(130, 20, count),
        "ward": rng.choice(["north", "south", "east"], count),
    }
)
risk = (
    (patients["age"] - 55) / 10 + (patients["pressure"] - 130) / 20 + (patients["ward"] == "east")
)
outcome = pd.Series(np.where(risk + rng.normal(0, 1, count) > 0.3, "ill", "well"), name="outcome")
patients.loc[rng.random(count) < 0.1, "pressure"] = np.nan  # one in ten was not measured
train, test = slice(0, 4_000), slice(4_000, None)

model = PrivateClassifier(
    epsilon=1.0,
    records=4_000,  # public; a rounded figure is fine
    classes=["well", "ill"],
    bounds={"age": (0, 120), "pressure": (60, 220)},
    categories={"ward": ["north", "south", "east"]},
    missing="mark",  # a missing value is an input of its own, instead of a reason to leave the record out
)
model.fit(patients[train], outcome[train])

print(f"ε {model.epsilon_} at δ = {model.delta_:g}")
# These test patients are public. A score on private records is one more release, which the budget does not cover.
print(f"accuracy {100 * model.score(patients[test], outcome[test]):.1f} %")
new = pd.DataFrame({"age": [80.0], "pressure": [np.nan], "ward": ["east"]})
print(dict(zip(model.classes_, model.predict_proba(new)[0].round(3), strict=True)))

model.save("patients-model")
again = PrivateClassifier.load("patients-model")
print("loaded:", again.predict(new)[0])
with open("report.html", "w", encoding="utf-8") as file:
    file.write(again.report_html())
print("the privacy report is in report.html")

"""What the folder of a run of `tacita train` says, read with nothing but JSON: python read_run_folder.py runs/digits-1

A run folder holds nothing that depends on the data without noise, so all of this may be shown to anyone.
"""

import json
import sys
from pathlib import Path

import tacita

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/digits-1")

# The first line of the ledger was written before anything was released: the whole plan.
with (folder / "ledger.jsonl").open(encoding="utf-8") as lines:
    header, *entries = [json.loads(line) for line in lines]
plan = tacita.Ledger.from_json(json.dumps(header["plan"]))
print(plan)

# ε is not taken on trust: it is proved again, from the plan alone, and compared with what the report states.
report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
facts = report["facts"]
bracket = plan.epsilon(facts["delta"] - facts["delta_reserved"])
print(f"ε {bracket} at δ = {facts['delta']:g}")
print("the report says:", report["guarantee"] or report["not_private_because"])
if report["private"]:
    assert bracket.upper == report["guarantee"]["epsilon_upper"]

# The course: released values only.
metrics = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
last = json.loads(metrics[-1])
print(f"step {last['step']}: threshold {last['threshold']}, learning rate {last['learning_rate']}")

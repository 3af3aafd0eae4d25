"""Whether `transformers` and `peft` load what `tacita export` wrote, and answer as `tacita predict` does.

    tacita export RUN --merged MERGED --adapter ADAPTER
    tacita predict RUN --input TEXTS --proba --output ANSWERS
    python check_saved.py BASE MERGED ADAPTER TEXTS ANSWERS

TEXTS is a file with a text a line. Checked with transformers 5.23.0 and peft 0.21.2.
"""

import csv
import sys
from pathlib import Path

import torch
from peft import PeftModel
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import AutoModel, AutoModelForSequenceClassification

base, merged, adapter, texts, answers = map(Path, sys.argv[1:])
texts = [line for line in texts.read_text().split("\n") if line.strip()]
rows = list(csv.reader(answers.open()))
places = [at for at, name in enumerate(rows[0]) if name not in ("input", "prediction", "probability", "problem")]
expected = torch.tensor([[float(row[at]) for at in places] for row in rows[1:]])
tokenizer = Tokenizer.from_file(str(merged / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(64)


def probabilities(model, head):
    result = []
    for text in texts:
        encoding = tokenizer.encode(text)
        ids = torch.tensor([encoding.ids])
        with torch.no_grad():
            if head is None:
                logits = model(input_ids=ids).logits[0]
            else:
                mean = model(input_ids=ids).last_hidden_state[0].mean(0)
                logits = head["classifier.weight"] @ mean + head["classifier.bias"]
        result.append(logits.softmax(0))
    return torch.stack(result)


def compare(name, seen):
    worst = (seen - expected).abs().max().item()
    print(f"{name}: {len(texts)} texts, probabilities off by {worst:.1e}")
    assert worst < 1e-4


on_mean = (merged / "head.safetensors").exists()
kind = AutoModel if on_mean else AutoModelForSequenceClassification
head = load_file(merged / "head.safetensors") if on_mean else None
compare("merged", probabilities(kind.from_pretrained(merged).eval(), head))
if (adapter / "adapter_config.json").exists():
    options = {} if on_mean else dict(num_labels=len(places))
    model = PeftModel.from_pretrained(kind.from_pretrained(base, **options), adapter).eval()
    head = load_file(adapter / "head.safetensors") if on_mean else None
    compare("adapter", probabilities(model, head))

"""What the Python tokenizer and `transformers` make of real texts, beside a real checkpoint.

    python make_expected.py CHECKPOINT TEXTS

TEXTS is a file with a text a line. Writes expected.jsonl into CHECKPOINT: the tokens of every line, and for the first
twenty the mean of the last hidden states. The test `real_checkpoints…` reads them if TACITA_PRETRAINED names the folder
of the checkpoints. Made with transformers 5.23.0, tokenizers 0.23.3 and torch 2.15.0 on a CPU.
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoModel

folder, texts = Path(sys.argv[1]), Path(sys.argv[2])
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(128)
model = AutoModel.from_pretrained(folder).eval()
with (folder / "expected.jsonl").open("w") as out:
    for at, text in enumerate(texts.read_text().split("\n")):
        tokens = tokenizer.encode(text).ids
        line = dict(text=text, tokens=tokens)
        if at < 20:
            with torch.no_grad():
                states = model(input_ids=torch.tensor([tokens])).last_hidden_state[0]
            line["mean"] = states.mean(0).tolist()
        out.write(json.dumps(line) + "\n")

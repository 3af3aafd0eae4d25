"""Small random checkpoints in the hub's layout, and what `transformers` computes with them.

    python make_small.py small

Made with transformers 5.23.0, tokenizers 0.23.3 and torch 2.15.0 on a CPU; the seed is fixed.
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    MPNetConfig,
    MPNetForSequenceClassification,
    RobertaConfig,
    RobertaForSequenceClassification,
)

OUT = Path(sys.argv[1])
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'"
WORDS = ["good", "bad", "film", "the", "a", "is", "not", "very", "##ly", "##s", "##ing", "##ed"]
TEXTS = [
    "good film",
    "the film is not very good!",
    "Badly filmed, isn't it?",
    "a a a a a a a a a a a a a a",
    "x",
]
PAIRS = [("good film", "the film is good"), ("not bad", "very bad.")]


def word_piece(specials, cls, sep):
    vocabulary = {}
    for token in [*specials, *LETTERS, *("##" + letter for letter in LETTERS), *WORDS]:
        vocabulary.setdefault(token, len(vocabulary))
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ids = [(cls, vocabulary[cls]), (sep, vocabulary[sep])]
    second = f"{sep} $B:1 {sep}:1" if cls == "<s>" else f"$B:1 {sep}:1"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} {second}", special_tokens=ids
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, len(vocabulary)


def byte_level(cls, sep):
    vocabulary = {token: at for at, token in enumerate(["<s>", "<pad>", "</s>", "<unk>"])}
    for token in sorted(pre_tokenizers.ByteLevel.alphabet()):
        vocabulary.setdefault(token, len(vocabulary))
    merges = [("o", "o"), ("g", "oo"), ("goo", "d"), ("t", "h"), ("th", "e"), ("Ġ", "the")]
    for left, right in merges:
        vocabulary.setdefault(left + right, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(
        (sep, vocabulary[sep]), (cls, vocabulary[cls]), add_prefix_space=False
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, len(vocabulary)


SIZES = dict(
    hidden_size=8,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=16,
    max_position_embeddings=40,
    num_labels=3,
    initializer_range=0.4,
)


def bert():
    tokenizer, size = word_piece(["[PAD]", "[UNK]", "[CLS]", "[SEP]"], "[CLS]", "[SEP]")
    return tokenizer, BertForSequenceClassification(BertConfig(vocab_size=size, **SIZES)), 0


def roberta():
    tokenizer, size = byte_level("<s>", "</s>")
    config = RobertaConfig(
        vocab_size=size, type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5, **SIZES
    )
    return tokenizer, RobertaForSequenceClassification(config), 1


def mpnet():
    tokenizer, size = word_piece(["<s>", "<pad>", "</s>", "[UNK]"], "<s>", "</s>")
    config = MPNetConfig(vocab_size=size, pad_token_id=1, layer_norm_eps=1e-5, **SIZES)
    return tokenizer, MPNetForSequenceClassification(config), 1


def distilbert():
    tokenizer, size = word_piece(["[PAD]", "[UNK]", "[CLS]", "[SEP]"], "[CLS]", "[SEP]")
    config = DistilBertConfig(
        vocab_size=size,
        dim=8,
        n_layers=2,
        n_heads=2,
        hidden_dim=16,
        max_position_embeddings=40,
        num_labels=3,
        initializer_range=0.4,
    )
    return tokenizer, DistilBertForSequenceClassification(config), 0


def main():
    for seed, make in enumerate([bert, roberta, mpnet, distilbert]):
        torch.manual_seed(seed)
        tokenizer, model, padding = make()
        model.eval()
        # Scales, shifts and biases are 1 and 0 in a new model, which would hide one that is left out.
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(0.3 * torch.randn_like(parameter))
        folder = OUT / make.__name__
        model.save_pretrained(folder)
        tokenizer.save(str(folder / "tokenizer.json"))
        expected = []
        for text in [*TEXTS, *PAIRS]:
            encoding = tokenizer.encode(*([text] if isinstance(text, str) else text))
            ids, types = encoding.ids, encoding.type_ids
            fill = 32 - len(ids)
            inputs = dict(
                input_ids=torch.tensor([ids + fill * [padding]]),
                attention_mask=torch.tensor([len(ids) * [1] + fill * [0]]),
            )
            if make is bert:
                inputs["token_type_ids"] = torch.tensor([types + fill * [0]])
            with torch.no_grad():
                logits = model(**inputs).logits[0]
                inputs.pop("token_type_ids", None) if make is not bert else None
                states = model.base_model(**inputs).last_hidden_state[0, : len(ids)]
            text = [text] if isinstance(text, str) else list(text)
            mean = states.mean(0).tolist()
            expected.append(dict(text=text, tokens=ids, logits=logits.tolist(), mean=mean))
        (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


main()

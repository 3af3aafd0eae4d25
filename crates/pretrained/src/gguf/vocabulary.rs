//! The vocabulary of a GGUF file, as a tokenizer.

use super::value::Value;
use super::{Gguf, GgufError};
use serde_json::{Value as Json, json};
use std::io::{Read, Seek};
use tokenizers::Tokenizer;

/// Kinds of tokens, as llama.cpp counts them.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

const FOR_TEXT: &str = "is needed to turn text into tokens";

/// The tokenizer of a file whose vocabulary is a byte-pair encoding.
pub fn tokenizer<R: Read + Seek>(file: &Gguf<R>) -> Result<Tokenizer, GgufError> {
    let json = tokenizer_json(file)?.to_string();
    Tokenizer::from_bytes(json.as_bytes()).map_err(|error| GgufError::Vocabulary {
        why: error.to_string(),
    })
}

/// The same in the layout of `tokenizer.json`.
fn tokenizer_json<R: Read + Seek>(file: &Gguf<R>) -> Result<Json, GgufError> {
    let key = "tokenizer.ggml.model";
    if file.text(key, FOR_TEXT)? != "gpt2" {
        return Err(super::file::unexpected(
            key,
            &file.metadata()[key],
            "`gpt2`, a byte-pair encoding",
        ));
    }
    let tokens = file.texts("tokenizer.ggml.tokens", FOR_TEXT)?;
    let mut vocabulary = serde_json::Map::new();
    for (id, token) in tokens.iter().enumerate() {
        if vocabulary.insert(token.clone(), json!(id)).is_some() {
            return Err(wrong(format!("token `{token}` occurs twice")));
        }
    }
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added_tokens(file, tokens)?,
        "normalizer": null,
        "pre_tokenizer": pre_tokenizer(file)?,
        "post_processor": beginning(file, tokens)?,
        "decoder": byte_level(),
        "model": {
            "type": "BPE",
            "dropout": null,
            "unk_token": null,
            "continuing_subword_prefix": null,
            "end_of_word_suffix": null,
            "fuse_unk": false,
            "byte_fallback": false,
            "ignore_merges": false,
            "vocab": vocabulary,
            "merges": merges(file)?,
        },
    }))
}

fn wrong(why: String) -> GgufError {
    GgufError::Vocabulary { why }
}

fn byte_level() -> Json {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})
}

/// How a text is cut into words before pairs of bytes are merged.
fn pre_tokenizer<R: Read + Seek>(file: &Gguf<R>) -> Result<Json, GgufError> {
    let key = "tokenizer.ggml.pre";
    match file.metadata().get(key) {
        None => Ok(byte_level()),
        Some(Value::Text(name)) if matches!(name.as_str(), "gpt-2" | "gpt2" | "default") => {
            Ok(byte_level())
        }
        // Each digit is a word of its own. The importer of `transformers` 5.23 drops this rule.
        Some(Value::Text(name)) if name == "smollm" => Ok(json!({
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": true}, byte_level()],
        })),
        Some(other) => Err(super::file::unexpected(
            key,
            other,
            "`gpt-2`, `default` or `smollm`; with another model, use the folder of the hub with its tokenizer.json",
        )),
    }
}

/// Pairs of pieces. No piece holds a space: bytes below the letters are written as letters, a space as Ġ.
fn merges<R: Read + Seek>(file: &Gguf<R>) -> Result<Vec<[&str; 2]>, GgufError> {
    let lines = file.texts("tokenizer.ggml.merges", FOR_TEXT)?.iter();
    let pairs = lines.map(|line| match line.split_once(' ') {
        Some((left, right)) => Ok([left, right]),
        None => Err(wrong(format!("the merge `{line}` is not two pieces"))),
    });
    pairs.collect()
}

/// Tokens that are found before anything else is done to a text.
fn added_tokens<R: Read + Seek>(file: &Gguf<R>, tokens: &[String]) -> Result<Vec<Json>, GgufError> {
    let key = "tokenizer.ggml.token_type";
    let kinds = match file.metadata().get(key) {
        None => return Ok(Vec::new()),
        Some(Value::Integers(kinds)) if kinds.len() == tokens.len() => kinds,
        Some(other) => {
            return Err(super::file::unexpected(
                key,
                other,
                "a kind for every token",
            ));
        }
    };
    let added = kinds.iter().zip(tokens).enumerate();
    let added = added.filter(|(_, (kind, _))| [CONTROL, USER_DEFINED].contains(*kind));
    let added = added.map(|(id, (kind, token))| {
        json!({
            "id": id,
            "content": token,
            "single_word": false,
            "lstrip": false,
            "rstrip": false,
            "normalized": false,
            "special": *kind == CONTROL,
        })
    });
    Ok(added.collect())
}

/// The token that a text begins with, if the file says that one is added.
fn beginning<R: Read + Seek>(file: &Gguf<R>, tokens: &[String]) -> Result<Json, GgufError> {
    let flag = file.metadata().get("tokenizer.ggml.add_bos_token");
    if flag != Some(&Value::Flag(true)) {
        return Ok(Json::Null);
    }
    let id = special(file, "tokenizer.ggml.bos_token_id", tokens)?;
    let id =
        id.ok_or_else(|| wrong("a text should begin with a token that is not named".into()))?;
    let token = &tokens[id as usize];
    let text = |name: &str, kind: u8| json!({"Sequence": {"id": name, "type_id": kind}});
    let first = |kind: u8| json!({"SpecialToken": {"id": token, "type_id": kind}});
    Ok(json!({
        "type": "TemplateProcessing",
        "single": [first(0), text("A", 0)],
        "pair": [first(0), text("A", 0), first(1), text("B", 1)],
        "special_tokens": {token.as_str(): {"id": token, "ids": [id], "tokens": [token]}},
    }))
}

/// A token that the metadata names by its number.
fn special<R: Read + Seek>(
    file: &Gguf<R>,
    key: &str,
    tokens: &[String],
) -> Result<Option<u32>, GgufError> {
    match file.metadata().get(key) {
        None => Ok(None),
        Some(Value::Integer(id)) if (0..tokens.len() as i64).contains(id) => Ok(Some(*id as u32)),
        Some(other) => Err(super::file::unexpected(key, other, "the number of a token")),
    }
}

//! Signed statements about a run folder: an in-toto statement in a DSSE envelope, signed with Ed25519.
//!
//! A statement names the files of a run by their SHA-256, the head of the ledger's chain, and what was found. Once it is
//! signed, none of these files can change without the statement giving it away; a ledger that loses its last lines,
//! which nothing in the file itself would show, is one of them.

use crate::chain::sha256;
use crate::error::{VerifyError, read};
use crate::finding::{Finding, Standing, Verdict};
use crate::folder::verify;
use crate::keys::{PrivateKey, PublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer};
use serde_json::{Value, json};
use std::path::Path;

/// The type of the payload: <https://github.com/in-toto/attestation/blob/main/spec/v1/envelope.md>.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The version of in-toto statements: <https://in-toto.io/Statement/v1>.
const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// What a statement of ours is about.
const PREDICATE_TYPE: &str = "https://github.com/tacita-dp/tacita/private-training/v1";

/// The coins of canaries, until they are opened: for the owner of the folder alone.
const SEALED_COINS: &str = "canaries.do-not-publish.json";

/// A signed statement about a folder, as JSON. A folder in which anything is refused is not signed.
pub fn sign(folder: &Path, key: &PrivateKey) -> Result<String, VerifyError> {
    let verdict = verify(folder)?;
    if !verdict.holds() {
        let refused: Vec<&str> = verdict.refusals().map(|f| f.text.as_str()).collect();
        return Err(VerifyError::NotSigned(refused.join("\n")));
    }
    let payload = statement(folder, &verdict)?.to_string();
    let signature = key.0.sign(&to_be_signed(payload.as_bytes()));
    let envelope = json!({
        "payloadType": PAYLOAD_TYPE,
        "payload": STANDARD.encode(&payload),
        "signatures": [{"keyid": key_name(&key.public()), "sig": STANDARD.encode(signature.to_bytes())}],
    });
    Ok(format!("{envelope:#}\n"))
}

/// Checks a signed statement about a folder, and the folder.
pub fn check(folder: &Path, envelope: &[u8], key: &PublicKey) -> Result<Verdict, VerifyError> {
    let statement = opened(envelope, key)?;
    let mut verdict = verify(folder)?;
    let mut found = |in_order: bool, text: String| {
        let standing = if in_order {
            Standing::Checked
        } else {
            Standing::Refused
        };
        verdict.findings.push(Finding { standing, text });
    };
    found(
        true,
        format!("the statement is signed by the key {}", key_name(key)),
    );
    let said =
        (statement["subject"].as_array()).ok_or(VerifyError::Statement("it names no files"))?;
    let ours = subjects(folder)?;
    for file in said {
        let name = file["name"].as_str().unwrap_or_default();
        let same = ours.contains(file);
        found(
            same,
            match same {
                true => format!("{name} is the file that was signed"),
                false => format!(
                    "{name} is not the file that was signed: it was edited, replaced or cut short"
                ),
            },
        );
    }
    for new in &ours {
        let name = new["name"].as_str().unwrap_or_default();
        if !said.iter().any(|file| file["name"] == new["name"]) {
            found(
                false,
                format!("{name} was not there when the folder was signed"),
            );
        }
    }
    let head = statement["predicate"]["ledgerHead"].as_str();
    if head != Some(&verdict.head) {
        let text = "the ledger does not end where it ended when it was signed: lines were removed or added".into();
        verdict.findings.push(Finding {
            standing: Standing::Refused,
            text,
        });
    }
    Ok(verdict)
}

/// What is signed: DSSE's pre-authentication encoding.
fn to_be_signed(payload: &[u8]) -> Vec<u8> {
    let head = format!(
        "DSSEv1 {} {PAYLOAD_TYPE} {} ",
        PAYLOAD_TYPE.len(),
        payload.len()
    );
    [head.as_bytes(), payload].concat()
}

/// The statement in an envelope that the key signed.
fn opened(envelope: &[u8], key: &PublicKey) -> Result<Value, VerifyError> {
    let json = |bytes: &[u8]| {
        serde_json::from_slice::<Value>(bytes).map_err(|source| VerifyError::Json {
            file: "the statement",
            source,
        })
    };
    let envelope = json(envelope)?;
    if envelope["payloadType"] != PAYLOAD_TYPE {
        return Err(VerifyError::Statement(
            "its payload is no in-toto statement",
        ));
    }
    let decoded = |value: &Value| STANDARD.decode(value.as_str()?).ok();
    let payload = decoded(&envelope["payload"]);
    let payload = payload.ok_or(VerifyError::Statement("its payload cannot be decoded"))?;
    let signed = to_be_signed(&payload);
    let signatures = envelope["signatures"].as_array().into_iter().flatten();
    let mut signatures =
        signatures.filter_map(|s| Signature::from_slice(&decoded(&s["sig"])?).ok());
    if !signatures.any(|signature| key.0.verify_strict(&signed, &signature).is_ok()) {
        return Err(VerifyError::Statement("no signature in it is of this key"));
    }
    let statement = json(&payload)?;
    if statement["_type"] != STATEMENT_TYPE || statement["predicateType"] != PREDICATE_TYPE {
        return Err(VerifyError::Statement(
            "it is about something else than a private training run",
        ));
    }
    Ok(statement)
}

fn statement(folder: &Path, verdict: &Verdict) -> Result<Value, VerifyError> {
    let findings = verdict.findings.iter();
    let findings: Vec<Value> = findings
        .map(|f| json!({"standing": f.standing.word(), "text": f.text}))
        .collect();
    Ok(json!({
        "_type": STATEMENT_TYPE,
        "subject": subjects(folder)?,
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "epsilonUpper": verdict.epsilon_upper,
            "delta": verdict.delta,
            "ledgerHead": verdict.head,
            "findings": findings,
            "verifier": concat!("tacita-verify ", env!("CARGO_PKG_VERSION")),
        },
    }))
}

/// All files of a folder by name and hash, but for one that is not to be published.
fn subjects(folder: &Path) -> Result<Vec<Value>, VerifyError> {
    let unread = |source| VerifyError::Io {
        action: "read",
        path: folder.into(),
        source,
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && name != SEALED_COINS {
            names.push(name);
        }
    }
    names.sort();
    let subject = |name: &String| {
        let hash = sha256(&read(&folder.join(name))?);
        Ok(json!({"name": name, "digest": {"sha256": hash}}))
    };
    names.iter().map(subject).collect()
}

/// A short name of a key: the start of the hash of its bytes.
fn key_name(key: &PublicKey) -> String {
    sha256(key.0.as_bytes())[..16].to_string()
}

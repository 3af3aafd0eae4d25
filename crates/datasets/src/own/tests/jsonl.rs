use super::*;

const SCHEMA: &str = r#"
[label]
column = "mood"
classes = ["0", "1"]
[text]
vocabulary = 100
length = 3
"#;

fn jsonl(content: impl AsRef<[u8]>, options: &Options) -> Result<Opened> {
    let folder = Folder::new();
    let file = folder.write("notes.jsonl", content);
    let text = "note".into();
    open(&Source::Jsonl { file, text }, options)
}

#[test]
fn texts_are_read_with_classes_of_any_type() {
    let lines =
        "{\"note\": \"Well, well.\", \"mood\": 1}\n\n{\"mood\": \"0\", \"note\": \"a b c d\"}\n";
    let data = ready(jsonl(lines, &options(SCHEMA)));
    let RecordSet::Tokens(tokens) = &data.training else {
        panic!("tokens");
    };
    assert_eq!(
        (tokens.length(), tokens.vocabulary(), tokens.labels()),
        (3, 100, &[1, 0][..])
    );
    let batch = tokens.batch(&[0], &Default::default()).inputs.into_data();
    let ids: Vec<i64> = batch.iter().collect();
    assert!(ids[0] > 0 && ids[0] == ids[1] && ids[2] == 0);
}

#[test]
fn bad_lines_are_left_out_and_listed_without_their_values() {
    for (line, problem, value) in [
        (&b"{\"note\": "[..], "not a JSON object", "EOF"),
        (b"[1, 2]", "not a JSON object", "invalid type"),
        (
            b"{\"Note\": \"a\", \"mood\": 1}",
            "there is no field `note`",
            "did you mean “Note”?",
        ),
        (
            b"{\"note\": 5, \"mood\": 1}",
            "the field `note` is not a text",
            "",
        ),
        (
            b"{\"note\": \" \", \"mood\": 1}",
            "the text in `note` is empty",
            "",
        ),
        (
            b"{\"note\": \"a\", \"mood\": 2}",
            "the class in `mood` is not one of the declared classes",
            "“2”",
        ),
        (
            b"{\"note\": \"a\", \"mood\": null}",
            "the class in `mood` is neither a text nor a number",
            "",
        ),
        (
            b"{\"note\": \"\xff\", \"mood\": 1}",
            "not UTF-8; save the file as UTF-8",
            "",
        ),
        (
            &vec![b'x'; (1 << 24) + 2],
            "longer than 16777216 bytes; is this one object a line?",
            "",
        ),
    ] {
        let good = b"{\"note\": \"a\", \"mood\": 0}\n";
        let last = b"\n{\"note\": \"a\", \"mood\": 1}";
        let content = [&good[..], line, last].concat();
        let (data, bad) = listed(|options| jsonl(&content, options), SCHEMA);
        assert_eq!(data.training.labels(), [0, 1]);
        let [bad] = bad.as_slice() else {
            panic!("{bad:?}");
        };
        assert_eq!((bad.line, bad.problem.as_str()), (Some(2), problem));
        assert!(bad.with_value.contains(value), "{}", bad.with_value);
        assert_eq!(
            ready(jsonl(&content, &options(SCHEMA))).training.labels(),
            [0, 1]
        );
    }
    assert_eq!(ready(jsonl("", &options(SCHEMA))).training.count(), 0);
}

#[test]
fn a_missing_declaration_is_asked_for() {
    let error = message(jsonl("", &options("[label]\nclasses = [\"a\", \"b\"]")));
    assert!(error.contains("--label FIELD"), "{error}");
    let error = message(jsonl("", &options("[label]\ncolumn = \"mood\"")));
    assert!(error.contains("the classes are not declared"), "{error}");
    let error = message(jsonl(
        "",
        &options("[label]\ncolumn = \"mood\"\nclasses = [\"a\"]"),
    ));
    assert!(error.contains("only one class is declared, “a”"), "{error}");
}

/// The first line is a record. If it begins like a file in UTF-16, it is a bad one, and nothing else changes.
#[test]
fn the_first_record_does_not_decide_how_the_others_are_read() {
    let others = b"{\"note\": \"a b\", \"mood\": 1}\n".repeat(8);
    let classes = |first: &[u8]| {
        let content = [first, &others].concat();
        ready(jsonl(content, &options(SCHEMA)))
            .training
            .labels()
            .len()
    };
    assert_eq!(classes(b""), 8);
    for mark in [&b"\xff\xfe"[..], b"\xfe\xff"] {
        assert_eq!(classes(&[mark, b"x\n"].concat()), 8);
    }
    // What is declared is read, with its mark or without.
    let schema = format!("encoding = \"utf-16le\"\n{SCHEMA}");
    let utf16: Vec<u8> = (String::from_utf8_lossy(&others).encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for mark in [&b"\xff\xfe"[..], b""] {
        let content = [mark, &utf16].concat();
        let data = ready(jsonl(content, &options(&schema)));
        assert_eq!(data.training.labels().len(), 8);
    }
}

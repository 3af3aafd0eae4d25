use tacita_house::places::local_paths;
use tacita_house::rust_version::named_in;
use tacita_house::words::{AVOIDED, Avoided, as_words, prose, rust_texts, rust_words};

/// The avoided words in a text.
fn avoided(text: &str) -> Vec<&'static str> {
    AVOIDED
        .iter()
        .filter(|word| word.is_in(text))
        .map(|word| word.words)
        .collect()
}

#[test]
fn words_are_found_whole_and_in_any_case() {
    assert_eq!(
        avoided("On a Card, the law of noise goes on."),
        ["card", "law", "goes on"]
    );
    assert!(avoided("Discard the lawn; made up of parts; the optimiser.").is_empty());
    let room = Avoided {
        words: "room",
        instead: "module",
        except: &["room for"],
        in_names: true,
    };
    assert!(room.is_in("a room") && !room.is_in("room for more"));
}

#[test]
fn code_is_no_prose() {
    let text = "Take a `card`\n\n```rust\nlet law = 1;\n```\n\nand the [law](law.md).";
    let found: Vec<(usize, String)> = prose(text)
        .into_iter()
        .filter(|(_, line)| !avoided(line).is_empty())
        .collect();
    assert_eq!(found, [(7, "and the law.".to_string())]);
}

#[test]
fn names_of_public_items_are_read_as_words() {
    assert_eq!(as_words("go_on_from"), "go on from");
    assert_eq!(as_words("CardMemory"), "card memory");
    let source = "//! Head.\npub fn on_card() {}\nfn private_card() {}\npub struct Law { pub card: u32 }\n\
        pub enum E { Card }\n/// Words.\npub mod card { pub const LAW: u32 = 1; }";
    let (documentation, names) = rust_words(source).unwrap();
    assert!(documentation.contains("Head.") && documentation.contains("Words."));
    assert_eq!(
        names,
        ["on_card", "Law", "card", "E", "Card", "card", "LAW"]
    );
}

#[test]
fn texts_that_users_see_are_read_and_those_of_tests_are_not() {
    let source = "/// Doc.\n#[command(after_help = \"help\")]\nstruct A;\nfn f() { print(\"plain\"); \
        bail!(\"in {} macro\", g(format!(\"deep\"))); }\n#[serde(alias = \"old\")]\nstruct B;\n\
        #[cfg(test)]\nmod tests { const T: &str = \"unseen\"; }\n#[test]\nfn t() { print(\"unseen\") }";
    assert_eq!(
        rust_texts(source).unwrap(),
        ["help", "plain", "in {} macro", "deep"]
    );
}

#[test]
fn local_paths_are_found() {
    let path = concat!("/ro", "ot/x");
    assert_eq!(local_paths(&format!("a\nsee {path}\n/var/x")), [2]);
}

#[test]
fn versions_are_read_from_words() {
    assert_eq!(
        named_in("You need Rust 1.95 or newer; Rust 1.9."),
        ["1.95", "1.9"]
    );
}

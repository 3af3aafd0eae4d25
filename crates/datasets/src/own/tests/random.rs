//! Parsers on random bytes: whatever comes, no panic.

use super::*;
use proptest::prelude::*;

fn all(bytes: &[u8]) {
    let folder = Folder::new();
    let file = folder.write("random", bytes);
    let text = "note".to_string();
    let options = options(SCHEMA);
    let _ = open(&Source::Csv { file: file.clone() }, &options);
    let _ = open(&Source::Parquet { file: file.clone() }, &options);
    let _ = open(&Source::Jsonl { file, text }, &options);
    let _ = csv([&b"age,ward,outcome\n"[..], bytes].concat(), &options);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        all(&bytes);
        all(&[b"PAR1", bytes.as_slice(), b"PAR1"].concat());
    }

    #[test]
    fn random_tables_never_panic(text in "[a-z0-9.,;\"\n\r{}:é-]{0,200}") {
        all(text.as_bytes());
    }

    #[test]
    fn random_schemas_never_panic(text in "[a-z0-9.,=\"\n\\[\\]{}-]{0,100}") {
        let _ = toml::from_str::<Schema>(&text);
    }
}

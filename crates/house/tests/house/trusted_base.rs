use std::collections::BTreeMap;
use tacita_house::about::{about, is_about};
use tacita_house::trusted_base::{problems_of, refreshed};

const PAGE: &str = "\
| claim | files | code lines |
|---|--:|--:|
| [1. Noise](#1-noise) | 2 | 1,200 |
| **All** | 2 | 1,200 |

## 1. Noise

| file | what | code lines |
|---|---|--:|
| `crates/a/src/noise.rs` | draws | 1,200 |
| `crates/a/src/keys.rs` | keeps | 10 |
| **Total** | | 1,200 |

## Not to read

| where | why |
|---|---|
| `crates/a/src/layers/`, `crates/a/src/lib.rs` | only computes |
";

fn files() -> BTreeMap<String, usize> {
    [
        ("noise", 1200),
        ("keys", 10),
        ("lib", 3),
        ("layers/linear", 7),
        ("layers/lstm", 8),
    ]
    .map(|(name, lines)| (format!("crates/a/src/{name}.rs"), lines))
    .into()
}

fn size(files: &BTreeMap<String, usize>, file: &str) -> Option<(usize, usize)> {
    files.get(file).map(|lines| (1, *lines))
}

/// What is wrong with `page` for these files.
fn found(page: &str, files: &BTreeMap<String, usize>) -> String {
    problems_of(page, files, &["crates/a/src/no"], &|file| size(files, file)).join("\n")
}

#[test]
fn a_true_page_has_no_problems_and_stays_as_it_is() {
    assert_eq!(found(PAGE, &files()), "");
    assert_eq!(refreshed(PAGE, &|file| size(&files(), file)), PAGE);
}

#[test]
fn a_new_file_must_be_listed_or_excused() {
    let mut more = files();
    more.insert("crates/a/src/sums.rs".into(), 5);
    assert!(found(PAGE, &more).contains("sums.rs is not on the page"));
    more.insert("crates/a/src/noise_more.rs".into(), 5);
    assert!(
        found(PAGE, &more)
            .contains("noise_more.rs must be right for the guarantee and is not listed")
    );
}

#[test]
fn numbers_that_moved_by_more_than_a_tenth_are_found_and_refreshed() {
    let mut longer = files();
    longer.insert("crates/a/src/noise.rs".into(), 1_354);
    assert!(found(PAGE, &longer).contains("noise.rs has about 1,400 lines of code, not 1,200"));
    let page = refreshed(PAGE, &|file| size(&longer, file));
    assert_eq!(found(&page, &longer), "");
    assert!(page.contains("| [1. Noise](#1-noise) | 2 | 1,400 |"));
    assert!(page.contains("| **All** | 2 | 1,400 |") && page.contains("| **Total** | | 1,400 |"));
}

#[test]
fn a_few_lines_more_or_less_concern_nobody() {
    for (noise, keys) in [(1_100, 5), (1_310, 15), (1_201, 11)] {
        let mut moved = files();
        moved.insert("crates/a/src/noise.rs".into(), noise);
        moved.insert("crates/a/src/keys.rs".into(), keys);
        assert_eq!(found(PAGE, &moved), "");
        assert_eq!(refreshed(PAGE, &|file| size(&moved, file)), PAGE);
    }
}

#[test]
fn totals_are_checked_within_a_tenth_too() {
    let wrong = PAGE.replace("| **All** | 2 | 1,200 |", "| **All** | 2 | 1,400 |");
    assert_eq!(refreshed(&wrong, &|file| size(&files(), file)), PAGE);
}

#[test]
fn numbers_have_two_significant_digits() {
    let numbers = [0, 7, 12, 149, 995, 1_049, 22_186].map(about);
    assert_eq!(numbers, ["0", "7", "12", "150", "1,000", "1,000", "22,000"]);
    // One that pretends to be exact is not taken.
    assert!(is_about("1,000", 1_049) && !is_about("1,049", 1_049) && !is_about("words", 1));
}

#[test]
fn what_is_gone_twice_or_both_to_read_and_not_is_found() {
    let mut fewer = files();
    fewer.remove("crates/a/src/keys.rs");
    assert!(found(PAGE, &fewer).contains("keys.rs is listed and is no file"));
    fewer.retain(|file, _| !file.contains("layers"));
    assert!(found(PAGE, &fewer).contains("there is no such file"));
    let twice = PAGE.replace("keys.rs` | keeps | 10", "noise.rs` | keeps | 1,200");
    assert!(found(&twice, &files()).contains("noise.rs is listed 2 times"));
    let both = PAGE.replace("crates/a/src/lib.rs", "crates/a/src/");
    assert!(found(&both, &files()).contains("is to be read, and crates/a/src/ is not"));
}

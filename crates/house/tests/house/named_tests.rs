use tacita_house::named_tests::{named_in, tests_in};

#[test]
fn tests_are_found_in_modules_and_macros_and_other_functions_are_not() {
    let source = "fn helper() {} #[test] fn one() {} mod tests { #[test] #[ignore] fn two() {} } \
        proptest! { #![proptest_config(x)] #[test] fn three(a in 0..1) {} } #[inline] fn four() {}";
    let found: Vec<String> = tests_in(source).unwrap().into_iter().collect();
    assert_eq!(found, ["one", "three", "two"]);
}

#[test]
fn names_are_read_from_sentences_over_several_lines() {
    let text = "/// Holds. Checked by\n/// `one` and `two`. See `three`.\nfn f() {}\n// Checked by `four`\n";
    let names: Vec<String> = named_in(text).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["one", "two", "four"]);
}

#[test]
fn names_are_read_from_columns_of_tests() {
    let text = "| claim | checked by |\n|---|---|\n| `not_this` | `one`, `two` |\n\n| a | b |\n|---|---|\n| x | `y` |\n";
    assert_eq!(
        named_in(text),
        [(3, "one".to_string()), (3, "two".to_string())]
    );
}

use proc_macro2::TokenStream;
use tacita_house::constants::{defined_elsewhere, not_in_proof, repeated};
use tacita_house::lines::code_of;

fn files(files: &[(&str, &str)]) -> Vec<(String, TokenStream)> {
    files
        .iter()
        .map(|(name, text)| ((*name).into(), code_of(text).unwrap()))
        .collect()
}

#[test]
fn a_constant_must_be_defined_once_and_at_home() {
    let once = [("SHARE", "a.rs", &[][..])];
    let home = ("a.rs", "/// Words.\npub(crate) const SHARE: f64 = 1e-6;");
    let user = ("b.rs", "use crate::a::SHARE; fn f() -> f64 { SHARE }");
    assert!(defined_elsewhere(&once, &files(&[home, user])).is_empty());
    let again = ("b.rs", "const SHARE: f64 = 1e-6;");
    assert_eq!(defined_elsewhere(&once, &files(&[home, again])).len(), 1);
    assert_eq!(defined_elsewhere(&once, &files(&[user])).len(), 1);
    let with_copy = [("SHARE", "a.rs", &["b.rs"][..])];
    assert!(defined_elsewhere(&with_copy, &files(&[home, again])).is_empty());
    assert_eq!(
        defined_elsewhere(&with_copy, &files(&[home, user])).len(),
        1
    );
    let in_tests = (
        "b.rs",
        "#[cfg(test)] mod tests { const SHARE: f64 = 1e-6; }",
    );
    assert!(defined_elsewhere(&once, &files(&[home, in_tests])).is_empty());
}

#[test]
fn a_telling_number_must_not_be_repeated() {
    let home = (
        "in/rounding.rs",
        "const A: f64 = 2.01; const B: f64 = 1e-30; const C: f64 = 0.5;",
    );
    let fine = ("in/b.rs", "fn f(x: f64) -> f64 { 0.5 * x + 2.0 }");
    let outside = ("out/c.rs", "const D: f64 = 2.01;");
    assert!(repeated("in/rounding.rs", &["in/"], &files(&[home, fine, outside])).is_empty());
    let again = ("in/b.rs", "fn f(x: f64) -> f64 { g(2.01 * x, 1e-30) }");
    assert_eq!(
        repeated("in/rounding.rs", &["in/"], &files(&[home, again])).len(),
        2
    );
}

#[test]
fn a_constant_must_be_named_in_its_proof() {
    let home = files(&[(
        "a.rs",
        "const ONE: f64 = 1.0; const TWO: f64 = 2.0; fn three() {}",
    )]);
    assert!(not_in_proof("a.rs", "`ONE` and `TWO`", &home).is_empty());
    assert_eq!(not_in_proof("a.rs", "`ONE`, TWO", &home).len(), 1);
}

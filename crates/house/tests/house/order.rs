use tacita_house::order::Order;
use tacita_house::source::Crate;

/// A crate of files given as text.
fn parsed(files: &[(&str, &str)]) -> Crate {
    let read = |file: &str| {
        files
            .iter()
            .find(|(name, _)| format!("src/{name}") == file)
            .map(|(_, text)| (*text).into())
    };
    Crate::parse("example", "src/lib.rs", &read).unwrap()
}

/// No circles, no directions, no exceptions.
const PLAIN: Order = Order {
    depths: &[],
    may_use: &[],
    never: &[],
    known: &[],
    most_files_in_a_circle: 2,
    known_circles: &[],
};

/// Everything `order` finds, in one text.
fn found(order: &Order, files: &[(&str, &str)]) -> String {
    order.problems(&parsed(files)).join("\n")
}

#[test]
fn one_direction_is_fine() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use a::A;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "pub struct B;"),
    ];
    assert_eq!(found(&PLAIN, &files), "");
}

#[test]
fn a_circle_is_found_through_imports_types_calls_and_macros() {
    let ways = [
        "use crate::a::A;",
        "use super::a;",
        "pub fn f(_: &crate::a::A) {}",
        "pub fn f() { crate::a::make(); }",
        "pub fn f() { println!(\"{}\", crate::a::NUMBER); }",
        "pub fn f() { use crate::a::A; }",
        "impl crate::a::Trait for B {}",
        "pub fn f(a: X) { match a { crate::a::A => {} } }",
    ];
    for way in ways {
        let b = format!("pub struct B; {way}");
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "use crate::b::B; pub struct A(B); pub const NUMBER: u32 = 1;",
            ),
            ("b.rs", &b),
        ];
        assert!(
            found(&PLAIN, &files).contains("modules in a circle: a, b"),
            "{way}"
        );
    }
}

#[test]
fn re_exports_are_followed_to_the_definition() {
    // `b` names `A` through the root and through `c`, which hands on all of `a`.
    for path in ["crate::A", "crate::c::A", "crate::c::Renamed"] {
        let b = format!("pub struct B; pub fn f(_: {path}) {{}}");
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", &b),
            (
                "c.rs",
                "pub use crate::a::*; pub use crate::a::A as Renamed;",
            ),
        ];
        assert!(found(&PLAIN, &files).contains("a → b"), "{path}");
        assert!(found(&PLAIN, &files).contains("b → a"), "{path}");
    }
}

#[test]
fn tests_may_use_anything_and_other_crates_do_not_count() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B; use other::b::C; pub struct A(B);"),
        (
            "b.rs",
            "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }",
        ),
    ];
    assert_eq!(found(&PLAIN, &files), "");
}

#[test]
fn an_exception_that_is_no_longer_needed_is_a_problem() {
    let order = Order {
        known: &[("example", "b", "a", "not yet moved")],
        ..PLAIN
    };
    let circle = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; pub struct B;"),
    ];
    assert_eq!(found(&order, &circle), "");
    let solved = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", ""),
    ];
    assert!(found(&order, &solved).contains("b no longer uses a"));
}

#[test]
fn a_module_may_depend_only_on_those_in_its_row() {
    let order = Order {
        may_use: &[("example", &[("a", &[]), ("b", &["a"])])],
        ..PLAIN
    };
    let wrong = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "pub struct B;"),
    ];
    assert!(found(&order, &wrong).contains("a may not depend on b: src/a.rs → src/b.rs"));
    let new = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", ""),
        ("b.rs", ""),
        ("c.rs", ""),
    ];
    assert!(found(&order, &new).contains("does not say what c may depend on"));
    let gone = [("lib.rs", "mod a;"), ("a.rs", "")];
    assert!(found(&order, &gone).contains("names b, which is not there"));
}

#[test]
fn circles_of_files_inside_a_module_are_bounded() {
    let files = [
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod b; mod c; pub struct A(b::B);"),
        ("a/b.rs", "pub struct B(super::c::C);"),
        ("a/c.rs", "pub struct C; use super::A;"),
    ];
    assert!(
        found(&PLAIN, &files).contains("3 files depend on each other in a circle: a, a::b, a::c")
    );
    let known = Order {
        known_circles: &[("example", "a", 3)],
        ..PLAIN
    };
    assert_eq!(found(&known, &files), "");
    let larger = Order {
        known_circles: &[("example", "a", 4)],
        ..PLAIN
    };
    assert!(found(&larger, &files).contains("a is not in a circle of 4 files"));
}

#[test]
fn a_module_chosen_by_a_feature_has_both_its_files() {
    let files = [
        (
            "lib.rs",
            "mod b; #[cfg(x)] mod a; #[cfg(not(x))] #[path = \"none.rs\"] mod a;",
        ),
        ("a.rs", ""),
        ("none.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; pub struct B;"),
    ];
    assert!(found(&PLAIN, &files).contains("modules in a circle: a, b"));
}

#[test]
fn deeper_modules_may_have_rows_and_circles_of_their_own() {
    const TABLE: &[(&str, &[&str])] = &[("a", &[]), ("a::top", &["b::x"]), ("b", &["a::low"])];
    let order = Order {
        depths: &[("example", 2)],
        may_use: &[("example", TABLE)],
        ..PLAIN
    };
    let mut files = vec![
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "pub mod low; pub mod top;"),
        ("a/low.rs", "pub struct Low;"),
        ("a/top.rs", "use crate::b::x::X;"),
        ("b/mod.rs", "pub mod x; pub mod y;"),
        ("b/x.rs", "use crate::a::low::Low; pub struct X(Low);"),
        ("b/y.rs", "pub struct Y;"),
    ];
    assert_eq!(found(&order, &files), "");
    files[3].1 = "use crate::b::y::Y;";
    assert!(found(&order, &files).contains("a::top may not depend on b::y"));
    files[3].1 = "use crate::b::x::X; pub struct Top;";
    files[2].1 = "use super::top::Top; pub struct Low;";
    assert!(found(&order, &files).contains("modules in a circle: a::low, a::top, b::x"));
}

#[test]
fn what_may_never_be_used_is_found_inside_modules_too() {
    let order = Order {
        never: &[("example", "a::b", "a::c", "because")],
        ..PLAIN
    };
    let mut files = vec![
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod b; mod c;"),
        ("a/b/mod.rs", "mod d;"),
        ("a/b/d.rs", "use crate::a::c::C;"),
        ("a/c.rs", "pub struct C;"),
    ];
    assert_eq!(
        found(&order, &files),
        "example: a::b::d may not depend on a::c: because"
    );
    files[3].1 = "";
    assert_eq!(found(&order, &files), "");
    files[1].1 = "mod b;";
    assert!(found(&order, &files).contains("there is no a::c"));
}

//! Counts the lines of code an auditor has to read.

use crate::source::{attributes, is_test_only};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;

/// Lines that hold code: no blank lines, no comments, no documentation, and nothing that is compiled
/// for tests only.
pub fn code_lines(source: &str) -> syn::Result<usize> {
    let mut lines = BTreeSet::new();
    collect(code_of(source)?, &mut lines);
    Ok(lines.len())
}

/// The tokens of a file without what is compiled for tests only.
pub fn code_of(source: &str) -> syn::Result<TokenStream> {
    let mut file = syn::parse_file(source)?;
    if is_test_only(&file.attrs) {
        return Ok(TokenStream::new());
    }
    without_tests(&mut file.items);
    Ok(file.into_token_stream())
}

/// Removes items and modules under `#[cfg(test)]`, at every depth of modules and in `impl` blocks.
fn without_tests(items: &mut Vec<syn::Item>) {
    items.retain(|item| !is_test_only(attributes(item)));
    for item in items {
        match item {
            syn::Item::Mod(module) => {
                if let Some((_, inner)) = &mut module.content {
                    without_tests(inner);
                }
            }
            syn::Item::Impl(block) => block.items.retain(|item| match item {
                syn::ImplItem::Fn(function) => !is_test_only(&function.attrs),
                syn::ImplItem::Const(constant) => !is_test_only(&constant.attrs),
                _ => true,
            }),
            _ => {}
        }
    }
}

/// Adds every line on which a token stands. A comment is no token; documentation is an attribute
/// `doc`, which is skipped.
fn collect(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut position = 0;
    while position < tokens.len() {
        if let Some(length) = documentation(&tokens[position..]) {
            position += length;
            continue;
        }
        let token = &tokens[position];
        match token {
            TokenTree::Group(group) => {
                lines.insert(group.span_open().start().line);
                collect(group.stream(), lines);
                lines.insert(group.span_close().end().line);
            }
            _ => lines.extend(token.span().start().line..=token.span().end().line),
        }
        position += 1;
    }
}

/// How many tokens the documentation takes that begins here, if it does: `#[doc …]` or `#![doc …]`.
fn documentation(tokens: &[TokenTree]) -> Option<usize> {
    let is = |token: Option<&TokenTree>, sign| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == sign);
    if !is(tokens.first(), '#') {
        return None;
    }
    let length = if is(tokens.get(1), '!') { 3 } else { 2 };
    let Some(TokenTree::Group(group)) = tokens.get(length - 1) else {
        return None;
    };
    let first = group.stream().into_iter().next();
    let is_doc = matches!(first, Some(TokenTree::Ident(name)) if name == "doc");
    (group.delimiter() == Delimiter::Bracket && is_doc).then_some(length)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_documentation_and_tests_do_not_count() {
        let source = r#"//! A module.

/// A function.
#[inline]
pub fn double(value: u32) -> u32 { // a remark
    // why
    2 * value /* inside
    and on */
}

#[cfg(test)]
mod tests {
    #[test]
    fn doubles() {}
}
"#;
        assert_eq!(code_lines(source).unwrap(), 4);
    }

    #[test]
    fn every_line_of_a_string_counts_and_a_comment_sign_in_it_too() {
        assert_eq!(
            code_lines("const A: &str = \"one\n// two\n\nfour\";\n").unwrap(),
            4
        );
    }

    #[test]
    fn code_under_a_feature_counts_and_code_for_tests_in_a_block_does_not() {
        let source = "struct A;\n#[cfg(feature = \"cuda\")]\nimpl A {\n    fn a() {}\n    #[cfg(test)]\n    fn b() {}\n}\n";
        assert_eq!(code_lines(source).unwrap(), 5);
        let macros = "quick! {\n    /// Words.\n    fn a() {}\n}\n";
        assert_eq!(code_lines(macros).unwrap(), 3);
    }

    #[test]
    fn a_file_for_tests_only_has_no_lines() {
        assert_eq!(code_lines("#![cfg(test)]\nfn a() {}\n").unwrap(), 0);
    }
}

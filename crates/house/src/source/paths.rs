//! The imports and paths in a piece of Rust.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

/// Takes an import apart: `a::{b, c as d, e::*}` is `b → a::b`, `d → a::c` and all of `a::e`.
pub(super) fn flatten(
    tree: &syn::UseTree,
    before: &mut Vec<String>,
    names: &mut Vec<(String, Vec<String>)>,
    globs: &mut Vec<Vec<String>>,
) {
    let with = |name: &syn::Ident, before: &[String]| {
        // `use a::{self}` imports `a`.
        let last = (name != "self" || before.is_empty()).then(|| name.to_string());
        before.iter().cloned().chain(last).collect::<Vec<_>>()
    };
    match tree {
        syn::UseTree::Path(step) => {
            before.push(step.ident.to_string());
            flatten(&step.tree, before, names, globs);
            before.pop();
        }
        syn::UseTree::Name(end) => {
            let path = with(&end.ident, before);
            names.extend(path.last().cloned().map(|name| (name, path)));
        }
        syn::UseTree::Rename(end) => names.push((end.rename.to_string(), with(&end.ident, before))),
        syn::UseTree::Glob(_) => globs.push(before.clone()),
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, before, names, globs);
            }
        }
    }
}

/// Collects paths in types, expressions and patterns, and in the arguments of macros.
pub(super) struct Paths(pub(super) Vec<Vec<String>>);

impl<'a> Visit<'a> for Paths {
    fn visit_path(&mut self, path: &'a syn::Path) {
        self.0.push(
            path.segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect(),
        );
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        in_tokens(call.tokens.clone(), &mut self.0);
        visit::visit_macro(self, call);
    }

    fn visit_item_use(&mut self, import: &'a syn::ItemUse) {
        // An import inside a function counts as a path named there.
        let (mut names, mut globs) = (vec![], vec![]);
        flatten(&import.tree, &mut vec![], &mut names, &mut globs);
        self.0
            .extend(names.into_iter().map(|(_, path)| path).chain(globs));
    }

    fn visit_visibility(&mut self, _: &'a syn::Visibility) {
        // `pub(in crate::a)` uses nothing.
    }

    fn visit_attribute(&mut self, attribute: &'a syn::Attribute) {
        // `#[serde(with = "…")]` and its like name paths in strings; none of ours do.
        if !attribute.path().is_ident("doc") {
            in_tokens(attribute.meta.to_token_stream(), &mut self.0);
        }
    }
}

/// Collects `a::b::c` from tokens that are not parsed: those of macros.
fn in_tokens(tokens: TokenStream, paths: &mut Vec<Vec<String>>) {
    let mut current: Vec<String> = vec![];
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    paths.push(std::mem::take(&mut current));
                }
                current.push(name.to_string().trim_start_matches("r#").into());
                colons = 0;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            other => {
                paths.push(std::mem::take(&mut current));
                colons = 0;
                if let TokenTree::Group(group) = other {
                    in_tokens(group.stream(), paths);
                }
            }
        }
    }
    paths.push(current);
    paths.retain(|path| path.len() > 1 || path.first().is_some_and(|name| !name.is_empty()));
}

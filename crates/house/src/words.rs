//! The vocabulary of the project: words with a plainer or more usual equivalent do not occur in the
//! documents, in documentation comments, in public names and in what programs print.

use crate::repository::Repository;
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use syn::visit::{self, Visit};

/// A word to avoid.
#[derive(Debug)]
pub struct Avoided {
    /// One or more words, in lower case.
    pub words: &'static str,
    /// What to write.
    pub instead: &'static str,
    /// Phrases in which it means something else.
    pub except: &'static [&'static str],
    /// Whether it is also avoided in the names of public items. Spellings are not: Burn's names decide.
    pub in_names: bool,
}

/// The glossary's other side.
pub const AVOIDED: &[Avoided] = &[
    word("card", "GPU"),
    word("cards", "GPUs"),
    word("law", "distribution"),
    word("laws", "distributions"),
    word("go on", "resume, or continue"),
    word("goes on", "resumes, or continues"),
    word("went on", "resumed, or continued"),
    word("taken up", "resumed"),
    word("made-up", "synthetic"),
    word("takes up", "resumes"),
    word("counts more", "takes precedence"),
    word("count more", "take precedence"),
    word("dearest", "most expensive"),
    word("and its kin", "and similar"),
    spelling("optimizer", "optimiser"),
    spelling("optimizers", "optimisers"),
    spelling("optimize", "optimise"),
    spelling("optimization", "optimisation"),
    spelling("initialize", "initialise"),
    spelling("initialization", "initialisation"),
    spelling("normalize", "normalise"),
    spelling("normalized", "normalised"),
    spelling("normalization", "normalisation"),
    spelling("randomized", "randomised"),
    spelling("neighbor", "neighbour"),
    spelling("neighbors", "neighbours"),
    spelling("behavior", "behaviour"),
    spelling("color", "colour"),
    spelling("center", "centre"),
    spelling("license", "licence"),
];

const fn word(words: &'static str, instead: &'static str) -> Avoided {
    Avoided {
        words,
        instead,
        except: &[],
        in_names: true,
    }
}

const fn spelling(words: &'static str, instead: &'static str) -> Avoided {
    Avoided {
        words,
        instead,
        except: &[],
        in_names: false,
    }
}

impl Avoided {
    /// Whether `text` uses the word, except in its permitted phrases.
    pub fn is_in(&self, text: &str) -> bool {
        let mut text = text.to_lowercase();
        for phrase in self.except {
            text = text.replace(phrase, "");
        }
        let is_letter = |sign: char| sign.is_alphanumeric() || sign == '_';
        text.match_indices(self.words).any(|(start, found)| {
            !text[..start].ends_with(is_letter)
                && !text[start + found.len()..].starts_with(is_letter)
        })
    }
}

/// The prose of a Markdown text, line by line: no code, no addresses.
pub fn prose(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = vec![];
    let mut in_code = false;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(words) if !in_code => {
                let line = 1 + text[..range.start].matches('\n').count();
                match lines.last_mut().filter(|(last, _)| *last == line) {
                    Some((_, before)) => before.push_str(&words),
                    None => lines.push((line, words.into_string())),
                }
            }
            // A word in code still separates its neighbours.
            Event::Code(_) if !in_code => {
                if let Some((_, before)) = lines.last_mut() {
                    before.push_str(" … ");
                }
            }
            _ => {}
        }
    }
    lines
}

/// Documentation comments and public names of a Rust file.
pub fn rust_words(source: &str) -> Result<(String, Vec<String>)> {
    let documentation = source
        .lines()
        .map(|line| {
            let line = line.trim_start();
            ["///", "//!"]
                .iter()
                .find_map(|sign| line.strip_prefix(sign))
                .unwrap_or("")
        })
        // A comment's indentation would make its text look like code.
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n");
    let mut names = Names(vec![]);
    names.visit_file(&syn::parse_file(source)?);
    Ok((documentation, names.0))
}

/// Collects the names of public items, their parts and their variants.
struct Names(Vec<String>);

impl Names {
    fn add(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.0.push(name.to_string());
        }
    }
}

impl<'a> Visit<'a> for Names {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.add(&item.vis, &item.sig.ident);
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.add(&item.vis, &item.sig.ident);
    }
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.add(&item.vis, &item.ident);
        visit::visit_item_struct(self, item);
    }
    fn visit_field(&mut self, field: &'a syn::Field) {
        if let Some(name) = &field.ident {
            self.add(&field.vis, name);
        }
    }
    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.add(&item.vis, &item.ident);
        for variant in &item.variants {
            self.add(&item.vis, &variant.ident);
        }
    }
    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.add(&item.vis, &item.ident);
        for part in &item.items {
            if let syn::TraitItem::Fn(function) = part {
                self.add(&item.vis, &function.sig.ident);
            }
        }
    }
    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.add(&item.vis, &item.ident);
    }
    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.add(&item.vis, &item.ident);
    }
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.add(&item.vis, &item.ident);
        visit::visit_item_mod(self, item);
    }
}

/// The texts in a Rust file that its users may see: string literals, also those in macros such as `format!`
/// and in attributes such as clap's help, but not those of tests.
pub fn rust_texts(source: &str) -> Result<Vec<String>> {
    let mut texts = Texts(vec![]);
    texts.visit_file(&syn::parse_file(source)?);
    Ok(texts.0)
}

struct Texts(Vec<String>);

impl Texts {
    fn add_all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_all(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.0.push(text.value());
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Texts {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Mod(module) => &module.attrs[..],
            syn::Item::Fn(function) => &function.attrs[..],
            _ => &[],
        };
        if !attributes.iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }
    fn visit_attribute(&mut self, attribute: &'a syn::Attribute) {
        // Documentation is prose, which is read elsewhere; serde knows names of earlier versions.
        if ["command", "arg", "error"]
            .iter()
            .any(|name| attribute.path().is_ident(name))
            && let syn::Meta::List(list) = &attribute.meta
        {
            self.add_all(list.tokens.clone());
        }
    }
    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.add_all(call.tokens.clone());
    }
    fn visit_lit_str(&mut self, literal: &'a syn::LitStr) {
        self.0.push(literal.value());
    }
}

/// Whether an attribute is `#[test]` or `#[cfg(test)]`.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    }
}

/// A name as words: `goOn`, `GoOn` and `go_on` are `go on`.
pub fn as_words(name: &str) -> String {
    let mut words = String::new();
    for sign in name.chars() {
        if sign == '_' {
            words.push(' ');
        } else {
            if sign.is_uppercase() && words.ends_with(char::is_lowercase) {
                words.push(' ');
            }
            words.extend(sign.to_lowercase());
        }
    }
    words
}

/// Avoided words in the documents, documentation comments and public names.
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let mut problems = vec![];
    for file in repository
        .with_extension("md")
        .filter(|file| !is_exempt(file))
    {
        problems.extend(in_prose(file, &prose(&repository.read(file)?)));
    }
    for file in repository
        .with_extension("rs")
        .filter(|file| !is_exempt(file))
    {
        let source = repository.read(file)?;
        let (documentation, names) =
            rust_words(&source).with_context(|| format!("{file} is not Rust"))?;
        if !is_a_test(file) {
            for text in rust_texts(&source)? {
                let found = AVOIDED
                    .iter()
                    .filter(|avoided| avoided.in_names && avoided.is_in(&text));
                problems.extend(found.map(|avoided| {
                    let (words, instead) = (avoided.words, avoided.instead);
                    format!("{file}: a text with “{words}”: write {instead}: {text:?}")
                }));
            }
        }
        problems.extend(in_prose(file, &prose(&documentation)));
        for name in names {
            let words = as_words(&name);
            let found = AVOIDED
                .iter()
                .filter(|avoided| avoided.in_names && avoided.is_in(&words));
            problems.extend(found.map(|avoided| format!("{file}: `{name}`: {}", avoided.instead)));
        }
    }
    Ok(problems)
}

/// Whether a whole file is about tests, whose texts nobody else sees.
fn is_a_test(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("/tests.rs")
}

/// The changelog tells of the past in its words; this crate, the glossary and the list of renamed keys name what they
/// avoid.
fn is_exempt(file: &str) -> bool {
    file == "CHANGELOG.md"
        || file.ends_with("/glossary.md")
        || file.ends_with("/renamed_keys.rs")
        || file.starts_with("crates/house/")
}

fn in_prose(file: &str, lines: &[(usize, String)]) -> Vec<String> {
    let mut problems = vec![];
    for (line, text) in lines {
        for avoided in AVOIDED.iter().filter(|avoided| avoided.is_in(text)) {
            problems.push(format!(
                "{file}:{line}: “{}”: write {}",
                avoided.words, avoided.instead
            ));
        }
    }
    problems
}

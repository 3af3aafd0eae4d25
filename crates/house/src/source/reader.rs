//! Reads a crate from its root: files, modules in them, and what each names.

use super::Module;
use super::conditions::{attributes, is_test_only};
use super::paths::{Paths, flatten};
use anyhow::{Context, Result, bail};
use syn::visit::Visit;

/// Fills in the modules, the root first.
pub(super) struct Reader<'a> {
    pub(super) modules: Vec<Module>,
    pub(super) read: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    /// Reads `file` into module `at`, whose children's files are in `folder`.
    pub(super) fn file(&mut self, at: usize, file: &str, folder: String) -> Result<()> {
        let text = (self.read)(file).with_context(|| format!("cannot read {file}"))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("{file} is not Rust"))?;
        self.modules[at].files.push(file.into());
        if !is_test_only(&parsed.attrs) {
            self.items(at, file, &folder, &parsed.items)?;
        }
        Ok(())
    }

    fn items(&mut self, at: usize, file: &str, folder: &str, items: &[syn::Item]) -> Result<()> {
        for item in items {
            if is_test_only(attributes(item)) {
                continue;
            }
            match item {
                syn::Item::Mod(module) => self.child(at, file, folder, module)?,
                syn::Item::Use(import) => {
                    let (mut names, mut globs) = (vec![], vec![]);
                    flatten(&import.tree, &mut vec![], &mut names, &mut globs);
                    self.modules[at].imports.extend(names);
                    self.modules[at].globs.extend(globs);
                }
                other => {
                    let mut paths = Paths(vec![]);
                    paths.visit_item(other);
                    self.modules[at].paths.extend(paths.0);
                    self.modules[at].items.extend(defined(other));
                }
            }
        }
        Ok(())
    }

    fn child(&mut self, at: usize, file: &str, folder: &str, module: &syn::ItemMod) -> Result<()> {
        let name = module.ident.to_string();
        let child = match self.modules[at].children.get(&name) {
            Some(&known) => known,
            None => self.add(at, &name),
        };
        let inner = format!("{folder}/{name}");
        if let Some((_, items)) = &module.content {
            if self.modules[child].files.is_empty() {
                self.modules[child].files.push(file.into());
            }
            return self.items(child, file, &inner, items);
        }
        let candidates = match given_path(&module.attrs) {
            Some(path) => vec![format!("{}/{path}", folder_of(file))],
            None => vec![format!("{inner}.rs"), format!("{inner}/mod.rs")],
        };
        let Some(found) = candidates.iter().find(|file| (self.read)(file).is_some()) else {
            bail!(
                "{file}: no file for `mod {name}` (tried {})",
                candidates.join(", ")
            );
        };
        let inside = if found.ends_with("/mod.rs") {
            folder_of(found)
        } else {
            inner
        };
        self.file(child, found, inside)
    }

    fn add(&mut self, parent: usize, name: &str) -> usize {
        let mut path = self.modules[parent].path.clone();
        path.push(name.into());
        let index = self.modules.len();
        self.modules.push(Module {
            path,
            parent: Some(parent),
            ..Module::default()
        });
        self.modules[parent].children.insert(name.into(), index);
        index
    }
}

/// The file an attribute `#[path = "…"]` names.
fn given_path(attributes: &[syn::Attribute]) -> Option<String> {
    attributes
        .iter()
        .find(|attribute| attribute.path().is_ident("path"))
        .and_then(|attribute| {
            let syn::Expr::Lit(value) = &attribute.meta.require_name_value().ok()?.value else {
                return None;
            };
            match &value.lit {
                syn::Lit::Str(path) => Some(path.value()),
                _ => None,
            }
        })
}

pub(super) fn folder_of(file: &str) -> String {
    file.rsplit_once('/')
        .map_or(String::new(), |(folder, _)| folder.into())
}

/// The names an item brings into its module.
fn defined(item: &syn::Item) -> Option<String> {
    use syn::Item;
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        _ => return None,
    })
}

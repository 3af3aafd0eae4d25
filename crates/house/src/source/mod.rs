//! Reads the modules of a crate: which file each is, what it imports, and which paths it names.
//!
//! Only what is written as a path is seen. A method that another module adds to a type is not, nor is
//! a path that a macro builds. That is enough to see who depends on whom, since a type has to be named
//! or imported somewhere before its methods can be called.

mod conditions;
mod paths;
mod reader;

use anyhow::Result;
use reader::{Reader, folder_of};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use conditions::{attributes, is_test_only};

/// One target of a crate (its library or one of its programs) as a tree of modules.
#[derive(Debug)]
pub struct Crate {
    /// What to call it in messages, for example `tacita`.
    pub name: String,
    /// The modules; the first is the root.
    pub modules: Vec<Module>,
}

/// A module. One that is written inside its parent's file belongs to that file.
#[derive(Debug, Default)]
pub struct Module {
    /// From the crate's root; empty for the root itself.
    pub path: Vec<String>,
    /// Every file it is made of: two where a feature chooses between them.
    pub files: Vec<String>,
    pub(crate) parent: Option<usize>,
    pub(crate) children: BTreeMap<String, usize>,
    /// Items defined here, for imports by `*`.
    pub(crate) items: BTreeSet<String>,
    /// Imported name to the path it stands for.
    pub(crate) imports: Vec<(String, Vec<String>)>,
    /// Paths imported by `*`.
    pub(crate) globs: Vec<Vec<String>>,
    /// Every path named anywhere in the module.
    pub(crate) paths: Vec<Vec<String>>,
}

impl Module {
    /// The module's path as Rust writes it.
    pub fn name(&self) -> String {
        if self.path.is_empty() {
            "(root)".into()
        } else {
            self.path.join("::")
        }
    }
}

impl Crate {
    /// Reads the target whose root is the file `root`; `read` gives the text of a file, if there is
    /// one. Modules under `#[cfg(test)]` are left out: tests may use anything.
    pub fn parse(name: &str, root: &str, read: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let mut reader = Reader {
            modules: vec![Module::default()],
            read,
        };
        reader.file(0, root, folder_of(root))?;
        Ok(Self {
            name: name.into(),
            modules: reader.modules,
        })
    }

    /// Every file of the target, tests left out.
    pub fn files(&self) -> BTreeSet<&str> {
        self.modules
            .iter()
            .flat_map(|module| module.files.iter().map(String::as_str))
            .collect()
    }

    /// The module at `path`.
    pub fn find(&self, path: &[&str]) -> Option<usize> {
        self.modules
            .iter()
            .position(|module| module.path.iter().eq(path.iter()))
    }
}

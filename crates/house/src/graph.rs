//! Which module depends on which, and where that goes round in circles.

use crate::source::Crate;
use std::collections::{BTreeMap, BTreeSet};

/// How many imports are followed before giving up on a name.
const MOST_HOPS: usize = 32;

/// Dependencies between the modules of a crate, by index.
pub type Edges = BTreeSet<(usize, usize)>;

/// Where a path leads.
#[derive(Clone, Copy)]
enum Found {
    Module(usize),
    /// An item of that module.
    Item(usize),
}

impl Crate {
    /// From each module to the modules whose items it names, through imports and re-exports to where
    /// they are defined.
    pub fn dependencies(&self) -> Edges {
        let mut edges = Edges::new();
        for (from, module) in self.modules.iter().enumerate() {
            let imported = module.imports.iter().map(|(_, path)| path);
            for path in imported.chain(&module.globs).chain(&module.paths) {
                if let Some(Found::Module(to) | Found::Item(to)) = self.resolve(from, path, 0)
                    && to != from
                {
                    edges.insert((from, to));
                }
            }
        }
        edges
    }

    /// Follows a path that module `from` names.
    fn resolve(&self, from: usize, path: &[String], hops: usize) -> Option<Found> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Found::Module(0),
            "self" => Found::Module(from),
            "super" => Found::Module(self.modules[from].parent?),
            // A lone name is a local variable, a prelude name or was imported, which is seen there.
            _ if rest.is_empty() && hops == 0 => return None,
            name => self.look_up(from, name, hops)?,
        };
        while let Found::Module(module) = at {
            let Some((name, remaining)) = rest.split_first() else {
                break;
            };
            at = match name.as_str() {
                "super" => Found::Module(self.modules[module].parent?),
                name => self
                    .look_up(module, name, hops)
                    .unwrap_or(Found::Item(module)),
            };
            rest = remaining;
        }
        Some(at)
    }

    /// What `name` means in `module`.
    fn look_up(&self, module: usize, name: &str, hops: usize) -> Option<Found> {
        if hops > MOST_HOPS {
            return None;
        }
        let here = &self.modules[module];
        if let Some(&child) = here.children.get(name) {
            return Some(Found::Module(child));
        }
        if here.items.contains(name) {
            return Some(Found::Item(module));
        }
        for (_, path) in here.imports.iter().filter(|(known, _)| known == name) {
            // `use name;` of another crate would find itself.
            if path.len() > 1
                && let Some(found) = self.resolve(module, path, hops + 1)
            {
                return Some(found);
            }
        }
        here.globs
            .iter()
            .find_map(|path| match self.resolve(module, path, hops + 1)? {
                Found::Module(inside) if inside != module => self.look_up(inside, name, hops + 1),
                _ => None,
            })
    }

    /// Dependencies between modules seen from above: those `depth` levels below the root, each with
    /// everything inside it, and one example of each dependency (file to file). The files that only hold
    /// such modules together, the root's among them, are left out.
    pub fn from_above(&self, depth: usize) -> BTreeMap<(String, String), String> {
        let mut edges = BTreeMap::new();
        for (from, to) in self.dependencies() {
            if let (Some(a), Some(b)) = (self.above(depth, from), self.above(depth, to))
                && a != b
            {
                let example = || {
                    format!(
                        "{} → {}",
                        self.modules[from].files[0], self.modules[to].files[0]
                    )
                };
                edges.entry((a, b)).or_insert_with(example);
            }
        }
        edges
    }

    /// The module `depth` levels below the root that is or holds `module`.
    fn above(&self, depth: usize, module: usize) -> Option<String> {
        let module = &self.modules[module];
        let holds_others = module.path.len() < depth && !module.children.is_empty();
        (!module.path.is_empty() && !holds_others)
            .then(|| module.path[..depth.min(module.path.len())].join("::"))
    }
}

/// The circles of a graph: its strongly connected components of more than one node, each in order.
pub fn circles<N: Ord + Clone>(edges: &BTreeSet<(N, N)>) -> Vec<Vec<N>> {
    let nodes: BTreeSet<&N> = edges.iter().flat_map(|(from, to)| [from, to]).collect();
    let reach: BTreeMap<&N, BTreeSet<&N>> = nodes
        .iter()
        .map(|&node| (node, reachable(edges, node)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut found = vec![];
    for &node in &nodes {
        let circle: Vec<N> = reach[node]
            .iter()
            .filter(|&&other| reach[other].contains(node))
            .map(|&other| other.clone())
            .collect();
        if circle.len() > 1 && seen.insert(circle.clone()) {
            found.push(circle);
        }
    }
    found
}

fn reachable<'a, N: Ord>(edges: &'a BTreeSet<(N, N)>, from: &'a N) -> BTreeSet<&'a N> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(node) = waiting.pop() {
        for (_, to) in edges.iter().filter(|(from, _)| from == node) {
            if seen.insert(to) {
                waiting.push(to);
            }
        }
    }
    seen
}

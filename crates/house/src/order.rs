//! The order of modules: no circles between the modules of a crate, and in the engine the direction in
//! which they may depend on each other.

use crate::graph::circles;
use crate::repository::Repository;
use crate::source::Crate;
use crate::workspace;
use anyhow::Result;
use std::collections::BTreeSet;

/// The order of this workspace.
///
/// In the engine, training uses the mechanism, which uses the sensitivity of sums, which uses the
/// hardware. So the code that must be right for the guarantee depends on nothing that need not be, but for
/// the hardware's kernels, which are part of the trusted base as far as they compute norms and sums.
/// Layers stand above all of that: they note on the tape how their gradients are made, and draw their
/// initial weights and masks.
pub const ORDER: Order = Order {
    depths: &[("tacita", 2)],
    may_use: &[(
        "tacita",
        &[
            ("compute", &[]),
            (
                "compute::layers",
                &[
                    "sensitivity::tape",
                    "sensitivity::gradient",
                    "mechanism::initial_weights",
                    "mechanism::masks",
                ],
            ),
            ("sensitivity", &["compute::backend", "compute::flat"]),
            // The check of a model on synthetic records gives dropout masks of a public key.
            (
                "sensitivity::checks",
                &["compute::backend", "mechanism::masks"],
            ),
            (
                "sensitivity::places",
                &["compute::backend", "mechanism::masks"],
            ),
            ("mechanism", &["sensitivity", "compute::backend"]),
            ("training", &["mechanism", "sensitivity", "compute"]),
        ],
    )],
    never: &[(
        "tacita-accounting",
        "pld::proof",
        "pld::search",
        "a bound holds whatever was chosen",
    )],
    known: &[(
        "tacita-python",
        "errors",
        "border",
        "both turn a failure into an exception",
    )],
    most_files_in_a_circle: 7,
    known_circles: &[
        ("tacita", "compute::backend::gpu", 18),
        ("tacita-cli", "report", 9),
        ("tacita-cli", "utility", 10),
        ("tacita-datasets", "own", 16),
    ],
};

/// Modules of a crate, each with those of other top-level modules that it may depend on. A row holds for
/// what is inside its module too, unless that has a row of its own.
pub type MayUse = &'static [(&'static str, &'static [&'static str])];

/// What is demanded of the modules of the workspace.
#[derive(Debug)]
pub struct Order {
    /// How many levels below the root modules may not form circles: one unless listed here.
    pub depths: &'static [(&'static str, usize)],
    /// The directions of dependencies between top-level modules.
    pub may_use: &'static [(&'static str, MayUse)],
    /// Dependencies that no module may have: crate, from, to, and why.
    pub never: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// Dependencies that should not be there yet are: crate, from, to, and what it is. The list may only
    /// shrink: one that is no longer found is a problem too.
    pub known: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// The most files that may depend on each other in a circle. A folder's `mod.rs` and the files in it
    /// often do; more than a handful is a ball of wool.
    pub most_files_in_a_circle: usize,
    /// Larger circles that should not be there yet are: crate, one of its modules, and how many files.
    pub known_circles: &'static [(&'static str, &'static str, usize)],
}

impl Order {
    /// Everything in `target` that this order forbids, and everything it permits without need.
    pub fn problems(&self, target: &Crate) -> Vec<String> {
        let mut problems = self.circles_of_modules(target);
        problems.extend(self.directions(target));
        problems.extend(self.never_used(target));
        problems.extend(self.circles_of_files(target));
        problems
    }

    fn is_known(&self, target: &Crate, from: &str, to: &str) -> bool {
        let found = (target.name.as_str(), from, to);
        self.known
            .iter()
            .any(|known| (known.0, known.1, known.2) == found)
    }

    fn circles_of_modules(&self, target: &Crate) -> Vec<String> {
        let name = &target.name;
        let depth = self
            .depths
            .iter()
            .find(|(of, _)| of == name)
            .map_or(1, |(_, depth)| *depth);
        let found = target.from_above(depth);
        let stale = self.known.iter().filter(|known| known.0 == *name).filter_map(|known| {
            let edge = (known.1.to_string(), known.2.to_string());
            let (from, to) = &edge;
            (!found.contains_key(&edge)).then(|| {
                format!("{name}: {from} no longer uses {to}: take it off the list of known exceptions")
            })
        });
        let edges: BTreeSet<_> = found
            .keys()
            .filter(|(from, to)| !self.is_known(target, from, to))
            .cloned()
            .collect();
        let round = circles(&edges).into_iter().map(|circle| {
            let examples: Vec<_> = found
                .iter()
                .filter(|((from, to), _)| circle.contains(from) && circle.contains(to))
                .map(|((from, to), example)| format!("\n    {from} → {to}: {example}"))
                .collect();
            format!(
                "{name}: modules in a circle: {}{}",
                circle.join(", "),
                examples.concat()
            )
        });
        stale.chain(round).collect()
    }

    fn directions(&self, target: &Crate) -> Vec<String> {
        let name = &target.name;
        let Some((_, table)) = self.may_use.iter().find(|(of, _)| of == name) else {
            return vec![];
        };
        let row = |module: &str| {
            let rows = table.iter().filter(|(of, _)| is_in(module, of));
            rows.max_by_key(|(of, _)| of.len())
        };
        let mut problems = vec![];
        for ((from, to), example) in target.from_above(2) {
            let inside = from.split("::").next() == to.split("::").next();
            let allowed = row(&from).is_some_and(|(_, may)| may.iter().any(|one| is_in(&to, one)));
            if !inside && !allowed && !self.is_known(target, &from, &to) {
                problems.push(format!("{name}: {from} may not depend on {to}: {example}"));
            }
        }
        let tops = target
            .modules
            .iter()
            .filter(|module| module.path.len() == 1);
        for top in tops
            .map(|module| module.name())
            .filter(|top| row(top).is_none())
        {
            problems.push(format!(
                "{name}: the table of modules does not say what {top} may depend on"
            ));
        }
        let listed = table
            .iter()
            .flat_map(|(module, may)| may.iter().chain([module]));
        for module in listed.collect::<BTreeSet<_>>() {
            if target
                .find(&module.split("::").collect::<Vec<_>>())
                .is_none()
            {
                problems.push(format!(
                    "{name}: the table of modules names {module}, which is not there"
                ));
            }
        }
        problems
    }

    fn never_used(&self, target: &Crate) -> Vec<String> {
        let name = &target.name;
        let mut problems = vec![];
        for (_, from, to, why) in self.never.iter().filter(|never| never.0 == name) {
            for outer in [from, to] {
                if target
                    .find(&outer.split("::").collect::<Vec<_>>())
                    .is_none()
                {
                    problems.push(format!(
                        "{name}: there is no {outer}, of which something is demanded"
                    ));
                }
            }
            for (user, used) in target.dependencies() {
                let (user, used) = (target.modules[user].name(), target.modules[used].name());
                if is_in(&user, from) && is_in(&used, to) {
                    problems.push(format!("{name}: {user} may not depend on {used}: {why}"));
                }
            }
        }
        problems
    }

    fn circles_of_files(&self, target: &Crate) -> Vec<String> {
        let name = &target.name;
        let large: Vec<Vec<String>> = circles(&target.dependencies())
            .into_iter()
            .map(|circle| {
                circle
                    .into_iter()
                    .map(|module| target.modules[module].name())
                    .collect()
            })
            .filter(|circle: &Vec<_>| circle.len() > self.most_files_in_a_circle)
            .collect();
        let listed = |circle: &[String], (of, module, size): &(&str, &str, usize)| {
            of == name && circle.len() == *size && circle.iter().any(|one| one == module)
        };
        let new = large
            .iter()
            .filter(|circle| !self.known_circles.iter().any(|known| listed(circle, known)));
        let new = new.map(|circle| {
            let (size, files) = (circle.len(), circle.join(", "));
            format!("{name}: {size} files depend on each other in a circle: {files}")
        });
        let stale = self.known_circles.iter().filter(|known| known.0 == name);
        let stale = stale.filter(|known| !large.iter().any(|circle| listed(circle, known)));
        let stale = stale.map(|(_, module, size)| {
            format!("{name}: {module} is not in a circle of {size} files: correct the number or take it off")
        });
        new.chain(stale).collect()
    }
}

/// Whether `module` is `outer` or inside it.
fn is_in(module: &str, outer: &str) -> bool {
    module
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// What the modules of the repository do against [`ORDER`].
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let targets = workspace::targets(repository)?;
    Ok(targets
        .iter()
        .flat_map(|target| ORDER.problems(target))
        .collect())
}

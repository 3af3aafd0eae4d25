//! What is known about a run, and how firmly.

/// How firmly something is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A theorem about the plan, computed again here.
    Proved,
    /// Compared here, and found in order.
    Checked,
    /// Said by whoever ran the training about the data; no program can check it.
    Declared,
    /// Said by the program that trained; nothing in the folder can show it.
    Claimed,
    /// Wrong, or missing.
    Refused,
}

impl Standing {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Checked => "checked",
            Self::Declared => "declared",
            Self::Claimed => "claimed",
            Self::Refused => "REFUSED",
        }
    }
}

/// One thing that is known about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How firmly.
    pub standing: Standing,
    /// What, as a sentence.
    pub text: String,
}

/// All that is known about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// In the order in which it was looked at.
    pub findings: Vec<Finding>,
    /// The hash of the whole ledger.
    pub head: String,
    /// ε that the run keeps, an upper bound; none if it has no guarantee.
    pub epsilon_upper: Option<f64>,
    /// δ that goes with it.
    pub delta: f64,
}

impl Verdict {
    /// Whether nothing was refused.
    pub fn holds(&self) -> bool {
        self.refusals().next().is_none()
    }

    /// What was refused.
    pub fn refusals(&self) -> impl Iterator<Item = &Finding> {
        (self.findings.iter()).filter(|finding| finding.standing == Standing::Refused)
    }
}

/// Findings as they are made.
#[derive(Default)]
pub(crate) struct Findings(pub Vec<Finding>);

impl Findings {
    pub fn add(&mut self, standing: Standing, text: impl Into<String>) {
        let text = text.into();
        self.0.push(Finding { standing, text });
    }

    /// Something that is in order, or is not.
    pub fn expect(&mut self, in_order: bool, if_so: impl Into<String>, if_not: impl Into<String>) {
        match in_order {
            true => self.add(Standing::Checked, if_so),
            false => self.add(Standing::Refused, if_not),
        }
    }
}

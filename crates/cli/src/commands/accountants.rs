//! Which accountant a user asked for.

use clap::ValueEnum;
use tacita_accounting::{Accountant, Gdp, Pld, Rdp, Tcdp, Zcdp};

/// Accountants by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// Privacy loss distributions: a proved bracket, the tightest.
    Pld,
    /// Rényi divergences: a proved upper bound, some 10-60 % high.
    Rdp,
    /// Central limit theorem: an estimate, no guarantee (exact for full batches).
    Gdp,
    /// Concentrated DP without amplification: a proved upper bound, very high when sampling.
    Zcdp,
    /// Truncated concentrated DP: a proved upper bound, close to rdp.
    Tcdp,
}

impl Choice {
    /// The accountant of that name.
    pub fn accountant(self) -> Box<dyn Accountant> {
        match self {
            Self::Pld => Box::new(Pld::default()),
            Self::Rdp => Box::new(Rdp),
            Self::Gdp => Box::new(Gdp),
            Self::Zcdp => Box::new(Zcdp),
            Self::Tcdp => Box::new(Tcdp::new()),
        }
    }

    /// What its figures are worth.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Pld => "pld: privacy loss distributions, both ends proved",
            Self::Rdp => "rdp: Rényi divergences at the best order, proved",
            Self::Gdp => "gdp: Gaussian DP, by a limit theorem wherever there is sampling",
            Self::Zcdp => "zcdp: concentrated DP without amplification by sampling, proved",
            Self::Tcdp => "tcdp: truncated concentrated DP, proved",
        }
    }
}

/// One accountant or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choices {
    /// One.
    One(Choice),
    /// All, side by side.
    All,
}

impl Choices {
    /// Reads `--accountant`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        Choice::from_str(text, false).map(Self::One).map_err(|_| {
            format!("unknown accountant {text}; known are pld, rdp, gdp, zcdp, tcdp and all")
        })
    }

    /// The accountants asked for, tightest first.
    pub fn list(self) -> Vec<Choice> {
        match self {
            Self::One(choice) => vec![choice],
            Self::All => vec![
                Choice::Pld,
                Choice::Rdp,
                Choice::Tcdp,
                Choice::Zcdp,
                Choice::Gdp,
            ],
        }
    }
}

//! A schedule whose noise is known up to one factor.

use crate::accountant::AccountError;
use crate::ledger::{Ledger, LedgerError, Neighbours, Round, Sampling};

/// The noise of one query of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueryNoise {
    /// This many times the scale that is searched for.
    Scaled(f64),
    /// This noise multiplier, whatever the scale.
    Fixed(f64),
}

/// Rounds whose noise multipliers are fixed but for one common scale.
///
/// ```
/// use tacita_accounting::calibrate::Shape;
/// use tacita_accounting::Sampling;
/// let shape = Shape::growing_mu(Sampling::Poisson { rate: 0.01 }, 100, 2.0)?;
/// let ledger = shape.ledger(3.0)?;
/// // Noise falls by the factor 2 over the run.
/// assert_eq!(ledger.rounds()[99].noise_multipliers[0], 1.5);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    pub(super) spent: Ledger,
    pub(super) rounds: Vec<ShapedRound>,
}

/// How records are drawn, the noise of each query, and how many such rounds follow one another.
pub(super) type ShapedRound = (Sampling, Vec<QueryNoise>, u64);

/// Most rounds of different noise a schedule may list.
pub const MOST_DISTINCT: u64 = 1_000_000;

impl Shape {
    /// No rounds yet, under add-or-remove-one.
    pub fn new() -> Self {
        Self {
            spent: Ledger::new(Neighbours::AddOrRemoveOne),
            rounds: Vec::new(),
        }
    }

    /// Rounds to come after those of a ledger, whose relation and unit they share.
    pub fn after(spent: &Ledger) -> Self {
        Self {
            spent: spent.clone(),
            rounds: Vec::new(),
        }
    }

    /// The same noise in every step; the scale is the noise multiplier.
    pub fn constant(sampling: Sampling, steps: u64) -> Self {
        Self::new().then(sampling, QueryNoise::Scaled(1.0), steps)
    }

    /// Noise multiplier scale · ρ^(−t/T) in step t = 1..T, ρ being `growth`: μₜ = μ₀ρ^(t/T) with
    /// μ₀ = 1/scale (Du et al. 2021, arXiv:2111.00173, Algorithm 1).
    pub fn growing_mu(sampling: Sampling, steps: u64, growth: f64) -> Result<Self, AccountError> {
        if !(growth > 0.0 && growth.is_finite()) {
            return Err(AccountError::Argument {
                what: "growth of mu",
                range: "a finite number above 0",
                value: growth,
            });
        }
        if growth == 1.0 {
            return Ok(Self::constant(sampling, steps));
        }
        if steps > MOST_DISTINCT {
            return Err(AccountError::Argument {
                what: "steps of a schedule whose noise changes every step",
                range: "at most 1000000",
                value: steps as f64,
            });
        }
        let relative = |step: u64| growth.powf(-(step as f64) / steps as f64);
        let mut shape = Self::new();
        shape.rounds = (1..=steps)
            .map(|step| (sampling, vec![QueryNoise::Scaled(relative(step))], 1))
            .collect();
        Ok(shape)
    }

    /// Appends `times` rounds of one query.
    #[must_use]
    pub fn then(mut self, sampling: Sampling, noise: QueryNoise, times: u64) -> Self {
        self.rounds.push((sampling, vec![noise], times));
        self
    }

    /// Appends the rounds of another shape, say the next run of a search; the scale is common.
    ///
    /// ```
    /// use tacita_accounting::calibrate::Shape;
    /// use tacita_accounting::Sampling;
    /// let long = Shape::constant(Sampling::Poisson { rate: 0.01 }, 300);
    /// let short = Shape::constant(Sampling::Poisson { rate: 0.02 }, 100);
    /// assert_eq!(long.followed_by(&short).ledger(1.0)?.rounds_made(), 400);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    #[must_use]
    pub fn followed_by(mut self, next: &Self) -> Self {
        self.rounds.extend(next.rounds.iter().cloned());
        self
    }

    /// Puts single rounds of one query before all others, say statistics of the data.
    #[must_use]
    pub fn preceded_by(mut self, rounds: impl Iterator<Item = (Sampling, QueryNoise)>) -> Self {
        let rounds = rounds.map(|(sampling, noise)| (sampling, vec![noise], 1));
        self.rounds.splice(0..0, rounds);
        self
    }

    /// Adds a side query of this fixed noise multiplier to every round, say a clip count.
    #[must_use]
    pub fn with_side_query(mut self, noise_multiplier: f64) -> Self {
        for (_, queries, _) in &mut self.rounds {
            queries.push(QueryNoise::Fixed(noise_multiplier));
        }
        self
    }

    /// Pays for a side query by raising every scaled noise by a share, say 0.01: the round's
    /// effective multiplier ν stays, its main query has ν_g = (1 + share) ν and the side query
    /// ν_q = (ν⁻² − ν_g⁻²)^(−1/2), which is 7.124 ν for 1 %.
    ///
    /// ```
    /// use tacita_accounting::calibrate::Shape;
    /// use tacita_accounting::Sampling;
    /// let shape = Shape::constant(Sampling::Full {}, 1).with_noise_increase(0.01)?;
    /// let ledger = shape.ledger(1.0)?;
    /// let round = &ledger.rounds()[0];
    /// assert_eq!(round.noise_multipliers[0], 1.01);
    /// assert!((round.noise_multipliers[1] - 7.123_990_720_171_842).abs() < 1e-12);
    /// assert!((round.effective_noise_multiplier() - 1.0).abs() < 1e-14);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn with_noise_increase(mut self, share: f64) -> Result<Self, AccountError> {
        if !(share > 0.0 && share.is_finite()) {
            return Err(AccountError::Argument {
                what: "increase of the noise",
                range: "a finite share above 0",
                value: share,
            });
        }
        let main = 1.0 + share;
        let side = main / (share * (2.0 + share)).sqrt();
        for (_, queries, _) in &mut self.rounds {
            let mut sides = Vec::new();
            for query in queries.iter_mut() {
                if let QueryNoise::Scaled(relative) = query {
                    sides.push(QueryNoise::Scaled(*relative * side));
                    *relative *= main;
                }
            }
            queries.append(&mut sides);
        }
        Ok(self)
    }

    /// The ledger at a scale: what was spent before, then the rounds.
    pub fn ledger(&self, scale: f64) -> Result<Ledger, LedgerError> {
        self.ledger_of(|query| match query {
            QueryNoise::Scaled(relative) => Some(relative * scale),
            QueryNoise::Fixed(multiplier) => Some(multiplier),
        })
    }

    /// What no scale can make cheaper: what was spent before, and the queries of fixed noise.
    ///
    /// ```
    /// use tacita_accounting::calibrate::{QueryNoise, Shape};
    /// use tacita_accounting::Sampling;
    /// let shape = Shape::constant(Sampling::Poisson { rate: 0.01 }, 1000);
    /// assert!(shape.fixed()?.rounds().is_empty());
    /// let counted = shape.then(Sampling::Full {}, QueryNoise::Fixed(20.0), 1);
    /// assert_eq!(counted.fixed()?.rounds_made(), 1);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn fixed(&self) -> Result<Ledger, LedgerError> {
        self.ledger_of(|query| match query {
            QueryNoise::Scaled(_) => None,
            QueryNoise::Fixed(multiplier) => Some(multiplier),
        })
    }

    /// Kinds of rounds, at most.
    pub(super) fn kinds(&self) -> usize {
        self.spent.rounds().len() + self.rounds.len()
    }

    /// The least noise of a scaled query, relative to the scale.
    pub(super) fn least_relative_noise(&self) -> Option<f64> {
        (self.rounds.iter())
            .flat_map(|(_, queries, _)| queries)
            .filter_map(|query| match query {
                QueryNoise::Scaled(relative) => Some(*relative),
                QueryNoise::Fixed(_) => None,
            })
            .reduce(f64::min)
    }

    /// The ledger of those queries that have a noise multiplier.
    fn ledger_of(&self, noise: impl Fn(QueryNoise) -> Option<f64>) -> Result<Ledger, LedgerError> {
        let mut ledger = self.spent.clone();
        for (sampling, queries, times) in &self.rounds {
            let multipliers: Vec<f64> = queries.iter().filter_map(|query| noise(*query)).collect();
            // A round all of whose queries are left out is none; one without queries is an error.
            if multipliers.is_empty() && !queries.is_empty() {
                continue;
            }
            ledger.push(Round::new(*sampling, multipliers)?.times(*times))?;
        }
        Ok(ledger)
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::new()
    }
}

//! Noise that a public committee adds in shares, for use under secure aggregation.
//!
//! Every member adds its share in every round, whether it was drawn or not, so the noise does not depend on the draw.
//! Shares are whole numbers of steps: rounded normals. `PROOF.md`, §4, shows that their sum hides what one normal of
//! the same variance hides.

use super::PlanError;
use serde::{Deserialize, Serialize};
use tacita_mechanism::Keys;
use tacita_mechanism::noise::{NoiseError, NoiseHardening, NoiseStream};

/// The least standard deviation of a share, in steps of the grid (`PROOF.md`, §4): so much wider than a step that
/// the rounding of each share is as good as a rounding of their sum.
pub const LEAST_SHARE: f64 = 32.0;

/// Who makes the noise.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by", deny_unknown_fields)]
pub enum NoiseBy {
    /// The server, which is trusted with updates, draw and noise.
    #[default]
    Server,
    /// A fixed public committee, in shares under secure aggregation.
    Committee(Committee),
}

/// A committee of which some members may stay away.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Committee {
    /// m: members.
    pub members: u64,
    /// d: members who may stay away in a round; if more do, the round is void.
    #[serde(default)]
    pub absent: u64,
    /// c: members who may tell the adversary their shares.
    #[serde(default)]
    pub colluding: u64,
}

impl Committee {
    /// Members whose shares make up the noise of the plan: m − d.
    pub fn needed(&self) -> u64 {
        self.members - self.absent
    }

    /// Whether a round may be decoded with the shares of so many members.
    pub fn suffices(&self, present: u64) -> bool {
        (self.needed()..=self.members).contains(&present)
    }

    /// The standard deviation of one share, in steps, where the whole noise has `noise_std` of them.
    pub fn share_std(&self, noise_std: f64) -> f64 {
        noise_std / (self.needed() as f64).sqrt()
    }

    /// What is left of the noise multiplier for whoever knows the shares of so many members: rounded down.
    pub fn left_of_noise(&self, known: u64) -> f64 {
        let left = self.needed().saturating_sub(known) as f64 / self.needed() as f64;
        left.sqrt() * (1.0 - 4.0 * f64::EPSILON)
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        if self.members == 0 || self.absent + self.colluding >= self.members {
            return Err(PlanError::Committee {
                members: self.members,
                absent: self.absent,
                colluding: self.colluding,
            });
        }
        Ok(())
    }
}

/// Adds a member's share of a round to its own vector, modulo 2^64.
pub(crate) fn add_share(
    keys: &Keys,
    round: u64,
    share_std: f64,
    steps: &mut [i64],
) -> Result<(), NoiseError> {
    NoiseStream::new(keys, round, 0, NoiseHardening::Grid).add_whole_normals(0, share_std, steps)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_the_variance_of_the_plan_at_least() {
        // 2^16 values: the variance of a sample is off by 0.55 %, so 4 % is seven standard deviations.
        let committee = Committee {
            members: 5,
            absent: 2,
            colluding: 0,
        };
        let (noise_std, values) = (1e4, 1 << 16);
        for present in 3..=5u64 {
            let mut total = vec![0i64; values];
            for member in 0..present {
                let keys = Keys::fixed_seed(member);
                add_share(&keys, 7, committee.share_std(noise_std), &mut total).unwrap();
            }
            let variance = total.iter().map(|v| (*v as f64).powi(2)).sum::<f64>() / values as f64;
            let ratio = variance / noise_std.powi(2);
            assert!(
                (ratio - present as f64 / 3.0).abs() < 0.04,
                "{present}: {ratio}"
            );
            assert!(committee.suffices(present));
        }
        assert!(!committee.suffices(2));
    }

    #[test]
    fn shares_are_spaced_by_one_step() {
        let mut share = vec![0i64; 4096];
        add_share(&Keys::fixed_seed(1), 0, 1e6, &mut share).unwrap();
        let odd = share.iter().filter(|value| *value % 2 != 0).count();
        // 4,096 coins: five standard deviations are 160.
        assert!(odd.abs_diff(2048) < 160, "{odd}");
    }
}

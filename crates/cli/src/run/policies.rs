//! Policies by their short names on the command line.

use anyhow::{Context, Result, bail};
use tacita::clipping::{ClipRule, Online, Threshold};
use tacita::optim::{LearningRate, OptimizerRule};
use tacita::{Clipping, NoiseDecay, NoiseSchedule, PaperAccountant};

/// A name and the numbers after its colons.
fn parts(text: &str) -> Result<(&str, Vec<f64>)> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let number = |part: &str| {
        part.parse::<f64>()
            .with_context(|| format!("“{part}” in “{text}” is no number"))
    };
    Ok((name, parts.map(number).collect::<Result<_>>()?))
}

/// `auto[:GAMMA]`, `auto-v`, `abadi:C`, `quantile:G` or `online[:C0]`.
pub fn clipping(text: &str) -> Result<Clipping> {
    let (name, numbers) = parts(text)?;
    Ok(match (name, numbers.as_slice()) {
        ("auto", []) => Clipping::auto(),
        ("auto", [gamma]) => {
            let mut clipping = Clipping::auto();
            clipping.rule = ClipRule::Auto { gamma: *gamma };
            clipping
        }
        ("auto-v", []) => Clipping::auto_v(),
        ("abadi", [threshold]) => Clipping::abadi(*threshold),
        ("quantile", [quantile]) => Clipping::quantile(*quantile),
        ("online", []) => Clipping::online(),
        ("online", [initial]) => Clipping::online().threshold(Threshold::Online(Online {
            initial: *initial,
            ..Online::default()
        })),
        _ => bail!(
            "--clipping {text} is unknown; use auto, auto:GAMMA, auto-v, abadi:C, quantile:G, online or \
             online:C0, such as abadi:1.5"
        ),
    })
}

/// `sgd`, `momentum[:B]`, `nesterov[:B]`, `adam`, ….
pub fn optimizer(text: &str) -> Result<OptimizerRule> {
    let (name, numbers) = parts(text)?;
    let momentum = numbers.first().copied().unwrap_or(0.9);
    let takes_a_number = matches!(name, "momentum" | "nesterov");
    if numbers.len() > usize::from(takes_a_number) || !(0.0..1.0).contains(&momentum) {
        bail!(
            "--optimizer {text}: momentum and nesterov take one number from 0 to below 1, others none"
        );
    }
    Ok(match name {
        "sgd" => OptimizerRule::Sgd,
        "momentum" => OptimizerRule::heavy_ball(momentum),
        "nesterov" => OptimizerRule::nesterov(momentum),
        "adam" => OptimizerRule::adam(),
        "adamw" => OptimizerRule::adam_w(),
        "nadam" => OptimizerRule::n_adam(),
        "adagrad" => OptimizerRule::ada_grad(),
        "rmsprop" => OptimizerRule::rms_prop(),
        "adadelta" => OptimizerRule::ada_delta(),
        "adam-wosm" => OptimizerRule::adam_without_second_moment(),
        _ => bail!(
            "--optimizer {text} is unknown; use sgd, momentum, nesterov, adam, adamw, nadam, adagrad, \
             rmsprop, adadelta or adam-wosm"
        ),
    })
}

/// `constant`, `linear[:END]`, `cosine[:END]`, `exponential:R` or `online`.
pub fn learning_rate(rate: f64, schedule: &str, optimizer: OptimizerRule) -> Result<LearningRate> {
    let (name, numbers) = parts(schedule)?;
    Ok(match (name, numbers.as_slice()) {
        ("constant", []) => rate.into(),
        ("linear", []) => linear(rate, 0.0),
        ("linear", [end]) => linear(rate, *end),
        ("cosine", []) => cosine(rate, 0.0),
        ("cosine", [end]) => cosine(rate, *end),
        ("exponential", [ratio]) => LearningRate::Exponential {
            initial: rate,
            ratio: *ratio,
        },
        ("online", []) => LearningRate::Online {
            initial: rate,
            rate: 2.5e-3,
            momentum: match optimizer {
                OptimizerRule::HeavyBall { momentum } | OptimizerRule::Nesterov { momentum } => {
                    momentum
                }
                _ => 0.0,
            },
        },
        _ => bail!(
            "--rate-schedule {schedule} is unknown; use constant, linear, linear:END, cosine, \
             cosine:END, exponential:R or online"
        ),
    })
}

/// A rate must stay above 0, so an end of 0 is a thousandth.
fn linear(rate: f64, end: f64) -> LearningRate {
    LearningRate::Linear {
        initial: rate,
        last: rate * end.max(1e-3),
    }
}

fn cosine(rate: f64, end: f64) -> LearningRate {
    LearningRate::Cosine {
        initial: rate,
        last: rate * end.max(1e-3),
    }
}

/// `optimal`, `time:K`, `exponential:K`, `step:F:N` or `polynomial:P:END:N`.
pub fn noise_schedule(text: &str) -> Result<NoiseSchedule> {
    let (name, numbers) = parts(text)?;
    let decay = match (name, numbers.as_slice()) {
        ("constant", []) => return Ok(NoiseSchedule::Constant),
        ("optimal", []) => return Ok(NoiseSchedule::Optimal),
        ("time", [rate]) => NoiseDecay::TimeBased { rate: *rate },
        ("exponential", [rate]) => NoiseDecay::Exponential { rate: *rate },
        ("step", [factor, period]) => NoiseDecay::Step {
            factor: *factor,
            period: *period as u64,
        },
        ("polynomial", [power, end, period]) => NoiseDecay::Polynomial {
            power: *power,
            end: *end,
            period: *period as u64,
        },
        _ => bail!(
            "--noise-schedule {text} is unknown; use optimal, time:K, exponential:K, step:FACTOR:EPOCHS or \
             polynomial:POWER:END:EPOCHS"
        ),
    };
    Ok(NoiseSchedule::Decay(decay))
}

/// `clt`, `rdp`, `zcdp` or `tcdp`.
pub fn paper_accountant(text: &str) -> Result<PaperAccountant> {
    Ok(match text {
        "clt" => PaperAccountant::CentralLimit,
        "rdp" => PaperAccountant::Renyi,
        "zcdp" => PaperAccountant::ZeroConcentrated,
        "tcdp" => PaperAccountant::TruncatedConcentrated,
        _ => bail!("--paper-accountant {text} is unknown; use clt, rdp, zcdp or tcdp"),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn short_names_give_the_policies_they_name() {
        assert_eq!(clipping("abadi:1.5").unwrap(), Clipping::abadi(1.5));
        assert_eq!(clipping("auto-v").unwrap(), Clipping::auto_v());
        assert_eq!(clipping("online").unwrap(), Clipping::online());
        assert_eq!(
            optimizer("momentum:0.5").unwrap(),
            OptimizerRule::heavy_ball(0.5)
        );
        assert_eq!(noise_schedule("optimal").unwrap(), NoiseSchedule::Optimal);
    }

    #[test]
    fn unknown_names_and_missing_numbers_are_named() {
        for text in ["abadi", "abadi:x", "quantile", "autos", "auto:1:2"] {
            assert!(
                clipping(text).unwrap_err().to_string().contains(text),
                "{text}"
            );
        }
        for text in ["sgd:0.9", "momentum:1.5", "adamax"] {
            assert!(
                optimizer(text).unwrap_err().to_string().contains(text),
                "{text}"
            );
        }
        assert!(noise_schedule("step:0.5").is_err());
        assert!(paper_accountant("gdp").is_err());
    }
}

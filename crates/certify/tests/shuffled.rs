//! What is proved of shuffled batches.
#![allow(clippy::unwrap_used)]

use tacita_accounting::{Neighbours, Sampling, epsilon_of_mu};
use tacita_certify::{Batches, Certificate, Claims, Verdict, certify, read};

fn shuffled(history: &str) -> Certificate {
    let claims = Claims {
        delta: Some(1e-5),
        batches: Some(Batches::Shuffled),
        ..Claims::default()
    };
    certify(&read(history).unwrap(), &claims).unwrap()
}

fn upper(certificate: &Certificate) -> f64 {
    certificate.epsilon.unwrap().upper_bound().unwrap()
}

/// Ten passes over 50 batches: a record meets the noise ten times, and replacing it moves a sum by twice the threshold.
#[test]
fn a_record_meets_the_noise_once_in_a_pass() {
    let certificate = shuffled("[[20.0, 0.02, 500]]");
    let ledger = certificate.ledger.clone().unwrap();
    assert_eq!(ledger.neighbours(), Neighbours::ReplaceOne);
    assert_eq!(ledger.rounds_made(), 10);
    assert_eq!(
        ledger.rounds()[0].sampling,
        Sampling::Partition { batches: 50 }
    );
    let exact = epsilon_of_mu(10_f64.sqrt() * 2.0 / 20.0, 1e-5).unwrap();
    assert!((upper(&certificate) / exact - 1.0).abs() < 1e-9);
    assert_eq!(certificate.epsilon.unwrap().lower_bound(), None);
}

#[test]
fn a_pass_that_was_begun_counts_as_one() {
    assert_eq!(
        shuffled("[[20.0, 0.02, 501]]")
            .ledger
            .unwrap()
            .rounds_made(),
        11
    );
    // Of 0.03 there are 33 whole batches in a pass, so that 100 steps begin a fourth.
    assert_eq!(
        shuffled("[[20.0, 0.03, 100]]")
            .ledger
            .unwrap()
            .rounds_made(),
        4
    );
}

/// Whatever the order of the steps, a record is in one batch of a pass; at worst in the least noisy.
#[test]
fn the_least_noisy_steps_count() {
    let certificate = shuffled("[[30.0, 0.1, 15], [10.0, 0.1, 1], [20.0, 0.1, 14]]");
    let ledger = certificate.ledger.unwrap();
    let halves: Vec<(f64, u64)> = (ledger.rounds().iter())
        .map(|round| (round.noise_multipliers[0], round.times))
        .collect();
    assert_eq!(halves, [(5.0, 1), (10.0, 2)]);
}

/// Every placement of a record in the batches of each pass costs at most what is stated.
#[test]
fn no_placement_of_a_record_costs_more() {
    let noises = [3.0, 9.0, 4.0, 8.0, 5.0, 7.0];
    let list: Vec<String> = noises
        .iter()
        .map(|noise| format!("[{noise}, 0.5, 1]"))
        .collect();
    let stated = upper(&shuffled(&format!("[{}]", list.join(","))));
    for placement in 0..8_u32 {
        let precision: f64 = (0..3)
            .map(|pass| noises[2 * pass + (placement >> pass & 1) as usize])
            .map(|noise| (2.0_f64 / noise).powi(2))
            .sum();
        let cost = epsilon_of_mu(precision.sqrt(), 1e-5).unwrap();
        assert!(
            cost <= stated * (1.0 + 1e-9),
            "{placement}: {cost} above {stated}"
        );
    }
}

#[test]
fn what_poisson_sampling_would_have_given_is_not_proved() {
    let history = read("[[4.0, 0.1, 20]]").unwrap();
    let poisson = Claims {
        delta: Some(1e-5),
        ..Claims::default()
    };
    let amplified = upper(&certify(&history, &poisson).unwrap());
    let claims = Claims {
        epsilon: Some(amplified),
        batches: Some(Batches::Shuffled),
        ..poisson
    };
    let certificate = certify(&history, &claims).unwrap();
    assert_eq!(certificate.verdict, Verdict::Unproved);
    assert!(upper(&certificate) > 2.0 * amplified);
    let changing = read("[[4.0, 0.1, 20], [4.0, 0.2, 20]]").unwrap();
    let error = certify(&changing, &claims).unwrap_err().to_string();
    assert!(error.contains("size changes"), "{error}");
}

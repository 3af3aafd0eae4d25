//! The accountants against stored figures: `data/peers.json` holds, for each case, what multiprecision
//! arithmetic and other tools (named there with their versions) say.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::Value;
use tacita_accounting::{
    Accountant, CltSchedule, FirstStep, Gdp, Ledger, Neighbours, RandomRuns, Rdp, RdpCurve,
    Reading, Round, Sampling, Tcdp, Zcdp, epsilon_of_mu, mu_of_budget, whole_grid,
};

fn vectors() -> Value {
    serde_json::from_str(include_str!("data/peers.json")).unwrap()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
        .unwrap_or_else(|| panic!("not a number: {value}"))
}

fn poisson(rate: f64, segments: &[(f64, u64)]) -> Ledger {
    let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    for &(z, times) in segments {
        let round = Round::new(Sampling::Poisson { rate }, vec![z]).unwrap();
        ledger.push(round.times(times)).unwrap();
    }
    ledger
}

fn ledger_of(case: &Value) -> Ledger {
    let segments: Vec<(f64, u64)> = case["segments_z_steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (number(&pair[0]), pair[1].as_u64().unwrap()))
        .collect();
    poisson(number(&case["q"]), &segments)
}

fn upper(reading: Reading) -> f64 {
    reading.upper_bound().expect("a guarantee")
}

#[track_caller]
fn assert_close(value: f64, expected: f64, relative: f64, what: &str) {
    let off = (value / expected - 1.0).abs();
    assert!(
        off <= relative,
        "{what}: {value} against {expected}, off by {off:.2e}"
    );
}

#[test]
fn rdp_equals_dense_orders_of_the_vectors() {
    for case in vectors()["cases"].as_array().unwrap() {
        let name = case["id"].as_str().unwrap();
        let (ledger, delta) = (ledger_of(case), number(&case["delta"]));
        let (epsilon, order) = RdpCurve::of(&ledger).unwrap().epsilon_up(delta).unwrap();
        let dense = number(&case["rdp_eps_dense"]["eps"]);
        assert!(
            epsilon <= dense * (1.0 + 1e-8),
            "{name}: {epsilon} above {dense}"
        );
        // The stored value is the best of a grid of orders, fine for few segments and coarse for
        // hundreds; a better order exists between its points.
        let segments = case["segments_z_steps"].as_array().unwrap().len();
        let coarse = if segments < 10 { 1e-7 } else { 4e-3 };
        assert!(
            epsilon >= dense * (1.0 - coarse),
            "{name}: {epsilon} below {dense}"
        );
        assert_close(order, number(&case["rdp_eps_dense"]["order"]), 0.05, name);
        // Other tools search fewer orders, so they may only lie above, and not far.
        for tool in ["rdp_eps_dp_accounting_default", "rdp_eps_opacus"] {
            if let Some(theirs) = case[tool]["eps"].as_f64() {
                assert!(
                    epsilon <= theirs * (1.0 + 1e-8),
                    "{name}: {epsilon} above {theirs}"
                );
            }
        }
    }
}

#[test]
fn delta_inverts_epsilon_for_every_bound() {
    let accountants: [&dyn Accountant; 3] = [&Rdp, &Tcdp::new(), &Zcdp];
    for case in vectors()["cases"]
        .as_array()
        .unwrap()
        .iter()
        .take(40)
        .step_by(3)
    {
        let (ledger, delta) = (ledger_of(case), number(&case["delta"]));
        for accountant in accountants {
            let epsilon = upper(accountant.epsilon(&ledger, delta).unwrap());
            let back = upper(accountant.delta(&ledger, epsilon).unwrap());
            let what = format!("{} {}", case["id"], accountant.name());
            assert!(back <= delta * (1.0 + 1e-6), "{what}: {back} above {delta}");
            assert!(back >= delta * 0.98, "{what}: {back} far below {delta}");
        }
    }
}

#[test]
fn gdp_limit_equals_multiprecision() {
    for case in vectors()["cases"].as_array().unwrap() {
        let name = case["id"].as_str().unwrap();
        let ledger = ledger_of(case);
        let mu = Gdp.mu(&ledger).unwrap();
        assert!(!mu.is_exact);
        assert_close(mu.mu, number(&case["gdp_clt"]["mu"]), 1e-12, name);
        let reading = Gdp.epsilon(&ledger, number(&case["delta"])).unwrap();
        let Reading::Estimate(epsilon) = reading else {
            panic!("{name}: the limit must never be a guarantee")
        };
        assert_close(epsilon, number(&case["gdp_clt"]["eps"]), 1e-9, name);
    }
}

#[test]
fn full_batch_is_exact_in_gdp_and_the_textbook_rho_in_zcdp() {
    for case in vectors()["cases"].as_array().unwrap() {
        if number(&case["q"]) < 1.0 {
            continue;
        }
        let pair = &case["segments_z_steps"][0];
        let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
        let round = Round::new(Sampling::Full {}, vec![number(&pair[0])]).unwrap();
        ledger.push(round.times(pair[1].as_u64().unwrap())).unwrap();
        let delta = number(&case["delta"]);

        let exact = number(&case["gaussian_exact"]["eps"]);
        let epsilon = upper(Gdp.epsilon(&ledger, delta).unwrap());
        assert!(epsilon >= exact * (1.0 - 1e-15));
        assert_close(epsilon, exact, 1e-10, "exact Gaussian");

        let rho = Zcdp.rho_up(&ledger).unwrap();
        assert_close(rho, number(&case["zcdp"]["rho"]), 1e-12, "rho");
        let simple = number(&case["zcdp"]["eps_simple(rho+2sqrt(rho log1/delta))"]);
        let zcdp = upper(Zcdp.epsilon(&ledger, delta).unwrap());
        assert!(
            zcdp <= simple,
            "the tight conversion may only lie below the simple one"
        );
        // For a full batch zCDP, RDP and tCDP are the same curve.
        assert_close(
            zcdp,
            upper(Rdp.epsilon(&ledger, delta).unwrap()),
            1e-9,
            "rdp",
        );
        assert_close(
            zcdp,
            upper(Tcdp::new().epsilon(&ledger, delta).unwrap()),
            5e-3,
            "tcdp",
        );
    }
}

#[test]
fn paper_mu_zero_equals_multiprecision() {
    for case in vectors()["dynamic_dpsgd"].as_array().unwrap() {
        let (epsilon, delta) = (number(&case["eps_claimed"]), number(&case["delta"]));
        let mu_total = mu_of_budget(epsilon, delta).unwrap();
        assert_close(mu_total, number(&case["mu_tot"]), 1e-10, "mu of the budget");
        assert_close(
            epsilon_of_mu(mu_total, delta).unwrap(),
            epsilon,
            1e-9,
            "and back",
        );
        let steps = case["T"].as_u64().unwrap();
        let (rate, growth) = (number(&case["p"]), number(&case["rho_mu"]));
        let schedule =
            CltSchedule::growing_mu(epsilon, delta, rate, steps, growth, FirstStep::Zero).unwrap();
        assert_close(schedule.mu_zero, number(&case["mu_0"]), 1e-9, "mu_0");
        let ends = &case["sigma_first_last"];
        let multipliers = &schedule.noise_multipliers;
        assert_close(multipliers[0], number(&ends[0]), 1e-9, "first multiplier");
        // The stored last multiplier is that of a block for long schedules.
        assert_close(
            multipliers[multipliers.len() - 1],
            number(&ends[1]),
            0.02,
            "last",
        );
        // What the limit claims, the limit confirms.
        let Reading::Estimate(claimed) = Gdp.epsilon(&schedule.ledger().unwrap(), delta).unwrap()
        else {
            panic!("an estimate was expected")
        };
        assert_close(claimed, epsilon, 1e-8, "claim");
    }
}

#[test]
fn numbering_from_one_gives_the_paper_algorithm() {
    let one = CltSchedule::growing_mu(1.2, 1e-5, 0.01, 1000, 2.0, FirstStep::One).unwrap();
    let zero = CltSchedule::growing_mu(1.2, 1e-5, 0.01, 1000, 2.0, FirstStep::Zero).unwrap();
    // The same schedule: numbering from one only rescales μ₀ by ρ^(1/T).
    assert_close(zero.mu_zero / one.mu_zero, 2f64.powf(1e-3), 1e-12, "scale");
    assert_close(
        one.noise_multipliers[999],
        1.0 / (2.0 * one.mu_zero),
        1e-12,
        "last",
    );
}

#[test]
fn tuning_costs_equal_the_vectors() {
    for case in vectors()["tuning"].as_array().unwrap() {
        let run = poisson(
            number(&case["q"]),
            &[(number(&case["z"]), case["T"].as_u64().unwrap())],
        );
        let (delta, mean) = (number(&case["delta"]), number(&case["mean_runs"]));
        let runs = match case["eta_shape"].as_f64() {
            Some(shape) => RandomRuns::negative_binomial(shape, mean).unwrap(),
            None => RandomRuns::poisson(mean).unwrap(),
        };
        let epsilon = upper(runs.epsilon(&run, delta).unwrap());
        let theirs =
            number(&case["rdp_eps_repeat_select_papernot_steinke(dp_accounting RepeatAndSelect)"]);
        // dp_accounting searches a fixed list of orders, so it lies a little above.
        assert!(epsilon <= theirs * (1.0 + 1e-9), "{epsilon} above {theirs}");
        assert!(epsilon >= theirs * 0.99, "{epsilon} far below {theirs}");

        let grid = whole_grid(&vec![run; mean as usize]).unwrap();
        let epsilon = upper(Rdp.epsilon(&grid, delta).unwrap());
        assert_close(
            epsilon,
            number(&case["grid_composition rdp dense"]),
            1e-7,
            "grid",
        );
    }
}

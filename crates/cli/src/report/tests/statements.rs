//! What stands on the page.

use super::super::caveats;
use super::{everything, facts, plain, report, visible};
use tacita_accounting::decimal::up;
use tacita_accounting::{Accountant, Gdp, Ledger, Pld, Rdp, Reading};

#[test]
fn every_required_statement_is_on_the_page() {
    let page = visible(&report(facts(everything())).html());
    for wanted in [
        "One record: one row of the data.",
        "add-or-remove-one",
        "Trust model Central",
        "Released The weights; the noisy answers (bounded sums, gradient, directions, right answers)",
        "Never released",
        "Sampling really used",
        "Poisson: every record is drawn on its own",
        "0.01 per step, for 60,000 records declared as public knowledge",
        "Steps 200, as planned",
        "gradient: from 1.25 to 1 (noise standard deviation / sensitivity), 2 levels",
        "directions: from 8.75 to 7",
        "the clip rule",
        "threshold: from 1.5 to 0.75 (range 0.75 to 1.5), learned during the run from noisy releases only",
        "learning rate: from 0.5 to 0.25",
        "Privacy loss distribution (PLD), tacita-accounting 0.1",
        "The true ε of the plan lies between",
        "Rényi divergences (RDP)",
        "Central limit theorem (GDP)",
        "Privacy curve",
        "Budget over the run",
        "Clipping threshold",
        "Learning rate",
        "column means: bounded sums",
        "Without it",
        "Tuning NOT covered",
        "Preparation of data Covered",
        "columns scaled to their means estimated with noise, part of ε",
        "pixels divided by 255 public knowledge",
        "ChaCha20 with keys from the operating system",
        "32-bit floating point",
        "trained by tacita 9.8.7",
        "the data",
        "the licence",
        "the model, 551,322 trained parameters",
        "the optimiser",
        "≈ 81.2 %",
        "noisy count on private rows: ± 2.0 points (two standard deviations of the noise), part of ε",
        "Budget asked for: ε = 3: kept.",
        "a caveat of the data",
        "a caveat of the run",
        "Guarantees of several runs on the same records add up",
        "Suspicion before",
        "Signature",
    ] {
        assert!(page.contains(wanted), "`{wanted}` is missing in\n{page}");
    }
    let page = visible(&report(plain()).html());
    for wanted in [
        "95.5 % on 1,797 public rows; the most frequent class has 50.0 %",
        "How well it does",
        "Exact figures on 8 public rows",
        "Balanced accuracy 75.0 %",
        "AUC, ROC 0.812",
        "F1 of “yes” 0.750",
        "Confusion matrix",
        "Precision and recall",
        "Calibration",
        "By class",
        "Accuracy",
        "None: in every step only",
    ] {
        assert!(page.contains(wanted), "`{wanted}` is missing in\n{page}");
    }
}

#[test]
fn an_accuracy_without_a_licence_to_be_shown_is_not() {
    let mut silent = plain();
    silent.evaluation = None;
    silent.utility = None;
    let page = visible(&report(silent).html());
    assert!(page.contains("Accuracy not stated") && !page.contains("95.5"));
}

#[test]
fn bounds_stand_beside_at_most_and_estimates_beside_about() {
    let facts = plain();
    let (ledger, delta) = (facts.plan.clone(), facts.delta - facts.delta_reserved);
    let page = visible(&report(facts).html());
    let certified = up(
        Pld::default()
            .epsilon(&ledger, delta)
            .unwrap()
            .upper_bound()
            .unwrap(),
        5,
    );
    let rdp = up(
        Rdp.epsilon(&ledger, delta).unwrap().upper_bound().unwrap(),
        5,
    );
    let Reading::Estimate(clt) = Gdp.epsilon(&ledger, delta).unwrap() else {
        panic!("sampled rounds give an estimate");
    };
    let clt = up(clt, 5);
    assert!(
        page.contains(&format!("ε ≤ {certified} at δ = 10⁻⁵")),
        "{page}"
    );
    assert!(page.contains(&format!("(RDP) ≤ {rdp} ")), "{page}");
    assert!(
        page.contains(&format!("(GDP) ≈ {clt} an estimate, NO GUARANTEE")),
        "{page}"
    );
    for (start, _) in page.match_indices(&clt) {
        assert!(
            page[..start].ends_with("≈ "),
            "the estimate without its sign"
        );
    }
    for bound in [certified, rdp] {
        assert!(
            !page.contains(&format!("≈ {bound}")),
            "a bound shown as an estimate"
        );
    }
}

#[test]
fn stopping_early_leaves_the_guarantee_of_the_plan() {
    let whole = report(plain()).json();
    let mut short = plain();
    short.rounds_made = 50;
    let stopped = report(short);
    assert_eq!(stopped.json()["guarantee"], whole["guarantee"]);
    assert!(visible(&stopped.html()).contains("Stopped early: 50 of 200 planned rounds"));
    assert!(whole["stopped_early"].is_null());
}

#[test]
fn too_little_noise_is_called_so() {
    let mut naked = plain();
    naked.plan = Ledger::from_json(
        r#"{"neighbours":"add-or-remove-one","rounds":[{"sampling":{"kind":"full"},"noise_multipliers":[0.1],"times":200}]}"#,
    )
    .unwrap();
    let mut report = report(naked);
    assert!(report.figures.certified.upper.unwrap() > 1e4);
    let huge = visible(&report.html());
    report.figures.certified.upper = None;
    let unbounded = visible(&report.html());
    assert!(unbounded.contains("No finite ε at δ = 10⁻⁵"));
    for page in [huge, unbounded] {
        assert!(page.contains("nothing of use is promised"), "{page}");
        assert!(
            !page.contains("Suspicion before") && !page.contains("NaN") && !page.contains("inf ")
        );
    }
}

#[test]
fn a_fixed_size_plan_is_certified_by_renyi_without_a_lower_end() {
    let mut fixed = plain();
    fixed.plan = Ledger::from_json(
        r#"{"neighbours":"replace-one","rounds":[{"sampling":{"kind":"fixed-size","batch":600,"of":60000},"noise_multipliers":[1.0],"times":200}]}"#,
    )
    .unwrap();
    let report = report(fixed);
    assert_eq!(report.figures.certified.accountant, "rdp");
    let page = visible(&report.html());
    assert!(page.contains("no lower end is known") && page.contains("replace-one"));
    assert!(!page.contains("Poisson"));
}

#[test]
fn the_report_of_a_search_keeps_the_caveat_of_gpus_and_no_other_of_a_run() {
    let mut facts = plain();
    assert!(!caveats::of_search(&facts).contains(&"a caveat of the run".into()));
    let gpu = tacita::Report::GPU_CAVEAT;
    facts.caveats.push(gpu.into());
    assert!(caveats::of_search(&facts).contains(&gpu.into()));
    assert!(caveats::caveats(&facts).contains(&gpu.into()));
}

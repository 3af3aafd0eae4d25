//! What a report must say, and what it must never say.
#![allow(clippy::unwrap_used)]

use super::facts::{Evaluation, Facts, KeySource, Origin, TraceOrigin};
use super::figures::CurvePoint;
use super::{Report, number, odds};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tacita_accounting::{Accountant, Gdp, Ledger, Pld, Rdp, Reading};

/// A run with everything: a noisy estimate before training, a side query, a learned threshold, a noise
/// schedule and a noisy score.
fn everything() -> Value {
    let step = |noise: f64, times: u64| {
        json!({
            "sampling": { "kind": "poisson", "rate": 0.01 },
            "noise_multipliers": [noise, 7.0 * noise],
            "times": times,
        })
    };
    let once = |noise: f64| json!({ "sampling": { "kind": "full" }, "noise_multipliers": [noise], "times": 1 });
    json!({
        "tacita_facts": 1,
        "name": "the run",
        "data": {
            "name": "the data",
            "licence": "the licence",
            "record": "one row of the data",
            "public_record_count": 60_000,
            "caveats": ["a caveat of the data"],
        },
        "preparation": [
            { "what": "columns scaled to their means", "origin": "privately-estimated" },
            { "what": "pixels divided by 255", "origin": "public" },
        ],
        "model": { "name": "the model", "parameters": 551_322 },
        "optimizer": "the optimiser",
        "learning_rate": { "name": "learning rate", "origin": "schedule", "points": [[0, 0.5], [100, 0.25]] },
        "clipping": "the clip rule",
        "thresholds": [{ "name": "threshold", "origin": "learned", "points": [[0, 1.5], [150, 0.75]] }],
        "plan": { "neighbours": "add-or-remove-one", "rounds": [once(20.0), step(1.25, 100), step(1.0, 100), once(15.0)] },
        "phases": [
            { "kind": "preparation", "what": "column means", "rounds": 1, "queries": ["bounded sums"] },
            { "kind": "training", "what": "training", "rounds": 200, "queries": ["gradient", "directions"] },
            { "kind": "evaluation", "what": "noisy score", "rounds": 1, "queries": ["right answers"] },
        ],
        "delta": 1e-5,
        "delta_reserved": 1e-11,
        "budget": 3.0,
        "rounds_made": 202,
        "keys": "operating-system",
        "diagnostics": false,
        "tuning": "not-covered",
        "evaluation": { "kind": "noisy-count", "on": "private rows", "accuracy": 0.8125, "noise_std": 0.01 },
        "released": ["the weights"],
        "precision": "32-bit floating point",
        "version": "9.8.7",
        "caveats": ["a caveat of the run"],
    })
}

/// The plain case: one query, constant noise, a public test set.
fn plain() -> Facts {
    let mut facts = facts(everything());
    facts.plan = Ledger::from_json(
        r#"{"neighbours":"add-or-remove-one","rounds":[{"sampling":{"kind":"poisson","rate":0.01},"noise_multipliers":[1.0],"times":200}]}"#,
    )
    .unwrap();
    facts.phases = vec![facts.phases[1].clone()];
    facts.phases[0].queries.truncate(1);
    facts.rounds_made = 200;
    facts.preparation.remove(0);
    facts.evaluation = Some(Evaluation::PublicTest {
        on: "public rows".to_string(),
        records: 1797,
        accuracy: 0.9549,
        over_steps: vec![(0, 0.1), (100, 0.8), (200, 0.9549)],
    });
    facts
}

fn facts(value: Value) -> Facts {
    serde_json::from_value(value).unwrap()
}

fn report(facts: Facts) -> Report {
    Report::new(facts).unwrap()
}

/// The page as a reader sees it: no style, no tags, ordinary spaces.
fn visible(html: &str) -> String {
    let body = html.split_once("</style>").unwrap().1;
    let mut text = String::new();
    let mut inside = false;
    for letter in body.chars() {
        match letter {
            '<' => inside = true,
            '>' => {
                inside = false;
                text.push(' ');
            }
            _ if !inside => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

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
        "noisy count on private rows; noise ± 1 points, part of ε",
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
        "95.5 % on 1,797 public rows",
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
    let page = visible(&report(silent).html());
    assert!(page.contains("Accuracy not stated") && !page.contains("95.5"));
}

#[test]
fn bounds_stand_beside_at_most_and_estimates_beside_about() {
    let facts = plain();
    let (ledger, delta) = (facts.plan.clone(), facts.delta - facts.delta_reserved);
    let page = visible(&report(facts).html());
    let certified = number::up(
        Pld::default()
            .epsilon(&ledger, delta)
            .unwrap()
            .upper_bound()
            .unwrap(),
        5,
    );
    let rdp = number::up(
        Rdp.epsilon(&ledger, delta).unwrap().upper_bound().unwrap(),
        5,
    );
    let Reading::Estimate(clt) = Gdp.epsilon(&ledger, delta).unwrap() else {
        panic!("sampled rounds give an estimate");
    };
    let clt = number::up(clt, 5);
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
fn figures_are_those_of_the_plan_at_the_delta_left_by_the_reserve() {
    let facts = plain();
    let at = |delta: f64| Pld::default().epsilon(&facts.plan, delta).unwrap();
    let Reading::Bracket { lower, upper } = at(facts.delta - facts.delta_reserved) else {
        panic!("a bracket");
    };
    let report = report(facts.clone());
    let certified = report.figures.certified;
    assert_eq!(
        (certified.lower, certified.upper),
        (Some(lower), Some(upper))
    );
    let curve = &report.figures.curve;
    assert!(curve.is_sorted_by(|a, b| a.epsilon < b.epsilon && a.delta_upper >= b.delta_upper));
    assert!(
        curve
            .iter()
            .all(|point| point.delta_upper >= facts.delta_reserved)
    );
    for point in curve.iter().filter(|point| point.epsilon > upper) {
        assert!(point.delta_upper <= facts.delta, "{point:?}");
    }
    let last = report.figures.spending.last().unwrap();
    assert_eq!(last.rounds, 200);
    assert!(last.rdp.unwrap() > upper && (last.certified.unwrap() / upper - 1.0).abs() < 0.01);
}

#[test]
fn side_costs_are_what_the_plan_saves_without_them() {
    let report = report(facts(everything()));
    let whole = report.figures.certified.upper.unwrap();
    let costs = &report.side_costs;
    assert_eq!(costs.len(), 3);
    assert!(
        costs
            .iter()
            .all(|cost| cost.epsilon_without.unwrap() < whole)
    );
    let bare = r#"{"neighbours":"add-or-remove-one","rounds":[
        {"sampling":{"kind":"full"},"noise_multipliers":[20.0],"times":1},
        {"sampling":{"kind":"poisson","rate":0.01},"noise_multipliers":[1.25],"times":100},
        {"sampling":{"kind":"poisson","rate":0.01},"noise_multipliers":[1.0],"times":100},
        {"sampling":{"kind":"full"},"noise_multipliers":[15.0],"times":1}]}"#;
    let bare = Ledger::from_json(bare).unwrap();
    let expected = Pld::default().epsilon(&bare, 1e-5 - 1e-11).unwrap();
    assert_eq!(costs[1].what, "directions");
    assert_eq!(costs[1].noise_multipliers, (7.0, 8.75));
    assert_eq!(costs[1].epsilon_without, expected.upper_bound());
}

/// Φ by Simpson's rule; good to 1e-12 for moderate arguments.
fn normal(x: f64) -> f64 {
    let parts = 4000;
    let step = x / f64::from(parts);
    let density = |t: f64| (-0.5 * t * t).exp();
    let weighted = (0..=parts).map(|i| {
        let weight = if i == 0 || i == parts {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        };
        weight * density(f64::from(i) * step)
    });
    0.5 + weighted.sum::<f64>() * step / 3.0 / std::f64::consts::TAU.sqrt()
}

/// The exact curve of a Gaussian of sensitivity over noise μ (Balle & Wang 2018, Theorem 8).
fn gaussian_curve(mu: f64) -> Vec<CurvePoint> {
    (0..=200)
        .map(|index| {
            let epsilon = f64::from(index) * 0.05;
            let delta =
                normal(0.5 * mu - epsilon / mu) - epsilon.exp() * normal(-0.5 * mu - epsilon / mu);
            CurvePoint {
                epsilon,
                delta_upper: delta.max(0.0) + 1e-11,
            }
        })
        .collect()
}

#[test]
fn bounds_on_attacks_hold_for_the_gaussian_and_are_close() {
    for mu in [0.3, 1.0, 2.0] {
        let curve = gaussian_curve(mu);
        // The best test has threshold t: false alarms Φ(−t), power Φ(μ − t).
        for threshold in [0.5, 1.0, 2.0, 3.0] {
            let bound = odds::attack(&curve, normal(-threshold)).found_upper;
            let exact = normal(mu - threshold);
            assert!(bound >= exact, "μ = {mu}: {bound} < {exact}");
            assert!(
                bound <= exact + 0.02,
                "μ = {mu}: {bound} is far above {exact}"
            );
        }
        // Equal odds: the best guess is right with probability Φ(μ/2).
        let guess = odds::coin_guess_upper(&curve);
        assert!((guess - normal(0.5 * mu)).abs() < 1e-9);
        // The loss is N(μ²/2, μ²): beyond the exponent it goes at most with probability δ.
        let delta = 1e-4;
        let exponent = odds::odds_exponent(&curve, delta).unwrap();
        let beyond = normal(0.5 * mu - exponent / mu);
        assert!(beyond <= delta, "μ = {mu}: {beyond:e}");
        assert!(
            beyond >= 0.1 * delta,
            "μ = {mu}: {beyond:e} is needlessly small"
        );
    }
}

#[test]
fn beliefs_move_by_the_odds_factor() {
    let after = odds::posterior_upper(0.1, 9.0_f64.ln());
    assert!((after - 0.5).abs() < 1e-9);
    assert!(odds::posterior_upper(0.5, 5000.0) <= 1.0);
}

/// Numbers of many sizes from a fixed linear congruence.
fn many() -> impl Iterator<Item = f64> {
    let mut state = 7_u64;
    (0..20_000).map(move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        10_f64.powf(24.0 * unit - 14.0)
    })
}

fn read(shown: &str) -> f64 {
    let plain: String = shown
        .replace(" × 10", "e")
        .replace([',', ' ', '%'], "")
        .chars()
        .map(
            |letter| match "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|raised| raised == letter)
            {
                Some(digit) => char::from_digit(digit as u32, 10).unwrap(),
                None if letter == '⁻' => '-',
                None => letter,
            },
        )
        .collect();
    plain
        .parse()
        .unwrap_or_else(|_| panic!("{shown} → {plain}"))
}

#[test]
fn shown_bounds_are_never_below_and_lower_ends_never_above() {
    for value in many().chain([8.0, 0.1, 0.3, 7.999_999_9, 99_999.999, 1e-5]) {
        for digits in [3, 4, 5, 6] {
            let tolerance = 2.0 * 10_f64.powi(1 - digits);
            let shown = read(&number::up(value, digits));
            assert!(
                shown >= value && shown <= value * (1.0 + tolerance),
                "{shown} for {value}"
            );
            let shown = read(&number::down(value, digits));
            assert!(
                shown <= value && shown >= value * (1.0 - tolerance),
                "{shown} for {value}"
            );
        }
        if value <= 1.0 {
            let shown = read(&number::percent_up(value)) / 100.0;
            assert!(
                shown >= value * (1.0 - 1e-15) && shown <= value + 0.001_1,
                "{shown} for {value}"
            );
        }
    }
    assert_eq!(number::up(7.999_943, 5), "8");
    assert_eq!(number::up(12_345.61, 5), "12,346");
    assert_eq!(number::down(3.409e-9, 3), "3.4 × 10⁻⁹");
    assert_eq!(number::exact(2.6e-5), "2.6 × 10⁻⁵");
    assert_eq!(number::percent_up(0.999_985_49), "99.9986 %");
}

/// Every key a private report may hold. A new one must be thought about: nothing here may depend on
/// private records without noise.
const KEYS: &str = "accountant accuracy at attacks bracket budget caveats certified clipping clt \
    coin_guess_upper comparison curve data delta delta_reserved delta_upper diagnostics epsilon epsilon_lower \
    epsilon_upper epsilon_without estimate evaluation facts false_alarms figures found_upper guarantee keys kind \
    learning_rate licence lower membership model name neighbours noise_multipliers noise_std not_private_because \
    odds_exponent_upper on optimizer origin over_steps parameters phases plan points precision preparation private \
    public_record_count queries rate rdp record records refusal released rounds rounds_made sampling side_costs \
    spending statements stopped_early tacita_facts tacita_report text thresholds times topic tuning upper \
    upper-bound version what";

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn a_private_report_holds_no_loss_time_or_batch_size() {
    let mut found = BTreeSet::new();
    keys(&report(facts(everything())).json(), &mut found);
    keys(&report(plain()).json(), &mut found);
    let allowed: BTreeSet<&str> = KEYS.split_whitespace().collect();
    for key in &found {
        assert!(allowed.contains(key.as_str()), "`{key}` is not on the list");
    }
    for extra in ["loss", "seconds", "batch_sizes", "norms", "seed"] {
        let mut leaking = everything();
        leaking[extra] = json!(1.0);
        let error = serde_json::from_value::<Facts>(leaking).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}

/// Replaces every string but those that choose a variant.
fn poison(value: &mut Value, key: &str, with: &str) {
    const CHOICES: [&str; 6] = ["kind", "origin", "neighbours", "keys", "tuning", "plan"];
    match value {
        Value::String(text) if !CHOICES.contains(&key) => *text = with.to_string(),
        Value::Object(map) => map
            .iter_mut()
            .for_each(|(key, value)| poison(value, key, with)),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, key, with)),
        _ => {}
    }
}

#[test]
fn strings_of_users_cannot_become_markup() {
    const EVIL: &str = "</title></style><script>alert('1')</script><b onclick=\"x\">&";
    let mut evil = everything();
    poison(&mut evil, "", EVIL);
    for facts in [facts(evil.clone()), {
        let mut public = facts(evil);
        public.evaluation = Some(Evaluation::PublicTest {
            on: EVIL.to_string(),
            records: 1,
            accuracy: 1.0,
            over_steps: vec![(0, 0.0), (9, 1.0)],
        });
        public
    }] {
        let html = report(facts).html();
        assert!(
            html.contains("&lt;script&gt;alert("),
            "the text itself is shown"
        );
        for bad in [
            "<script",
            "<b ",
            "</title></style>",
            "alert('1')",
            "onclick=\"x",
        ] {
            assert!(!html.contains(bad), "{bad} came through");
        }
        assert_eq!(html.matches("</style>").count(), 1);
    }
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    for facts in [facts(everything()), plain()] {
        let html = report(facts).html();
        for bad in [
            "http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe",
            "<img",
        ] {
            assert!(!html.contains(bad), "{bad} on the page");
        }
        assert!(html.contains("default-src 'none'"));
        assert!(!html.contains("NaN") && !html.contains("inf\""));
    }
}

#[test]
fn a_run_that_is_not_private_says_so_and_promises_nothing() {
    let changes: [fn(&mut Facts); 2] = [
        |facts| facts.keys = KeySource::FixedSeed,
        |facts| facts.diagnostics = true,
    ];
    for change in changes {
        let mut exposed = plain();
        change(&mut exposed);
        let report = report(exposed);
        let page = visible(&report.html());
        assert!(page.contains("NOT PRIVATE") && page.contains("Do not release"));
        for promise in [
            "Certified guarantee",
            "Suspicion before",
            "What is promised",
            "Signature",
        ] {
            assert!(!page.contains(promise), "`{promise}` in {page}");
        }
        assert!(report.summary().starts_with("NOT PRIVATE"));
        let json = report.json();
        assert_eq!(
            (&json["private"], &json["guarantee"]),
            (&json!(false), &Value::Null)
        );
    }
    let json = report(plain()).json();
    assert_eq!(json["private"], true);
    assert!(
        json["guarantee"]["text"]
            .as_str()
            .unwrap()
            .starts_with("ε ≤ ")
    );
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
fn a_ledger_that_disagrees_is_refused() {
    let facts = plain();
    let message = |plan: &Ledger, released, private| {
        let refused = Report::with_ledger(facts.clone(), plan, released, private);
        refused.unwrap_err().to_string()
    };
    assert!(
        message(&facts.plan.prefix(100), 100, true)
            .contains("different plans (200 and 100 rounds)")
    );
    assert!(
        message(&facts.plan, 200, false).contains("the ledger says that a fixed seed was used")
    );
    assert!(
        message(&facts.plan, 199, true).contains("200 rounds were released, the ledger holds 199")
    );
    // A crash after the facts were written: what the ledger holds counts.
    let mut early = facts.clone();
    early.rounds_made = 40;
    let report = Report::with_ledger(early, &facts.plan, 60, true).unwrap();
    assert_eq!(report.facts.rounds_made, 60);
}

#[test]
fn facts_that_contradict_themselves_are_refused() {
    let cases: [(fn(&mut Facts), &str); 9] = [
        (|f| f.tacita_facts = 2, "format 2"),
        (|f| f.delta = 1.5, "got 1.5"),
        (|f| f.delta_reserved = f.delta, "delta_reserved"),
        (|f| f.rounds_made = 201, "only 200 rounds"),
        (
            |f| f.phases[0].rounds = 199,
            "the phases have 199 rounds in all, the plan has 200",
        ),
        (
            |f| f.phases[0].queries.push("more".to_string()),
            "names 2 queries",
        ),
        (
            |f| f.preparation[0].origin = Origin::PrivatelyEstimated,
            "no preparation phase",
        ),
        (|f| f.thresholds[0].points.clear(), "no points"),
        (
            |f| {
                f.evaluation = Some(Evaluation::NoisyCount {
                    on: String::new(),
                    accuracy: 0.5,
                    noise_std: 0.1,
                });
            },
            "no evaluation phase",
        ),
    ];
    for (change, wanted) in cases {
        let mut wrong = plain();
        change(&mut wrong);
        let error = format!("{:#}", Report::new(wrong).unwrap_err());
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn facts_survive_a_round_trip() {
    let before = facts(everything());
    assert_eq!(before.thresholds[0].origin, TraceOrigin::Learned);
    let text = serde_json::to_string(&before).unwrap();
    assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), before);
}

//! What a search costs is what its ledgers cost.

use super::common::path;
use super::*;
use tacita_accounting::whole_grid;

#[test]
fn grid_costs_what_its_ledgers_cost_together() {
    let (space, out) = fresh("grid", GRID);
    let found = found(&tune(&space, &out));
    let ledgers: Vec<Ledger> = (1..=4)
        .map(|run| released(&out.join(format!("runs/{run}"))))
        .collect();
    assert_eq!(
        ledgers.iter().map(Ledger::rounds_made).collect::<Vec<_>>(),
        [3, 6, 3, 6]
    );
    let whole = whole_grid(&ledgers).unwrap();
    let read = Pld::default().epsilon(&whole, 1e-5 * (1.0 - 1e-6)).unwrap();
    let upper = found["epsilon_upper"].as_f64().unwrap();
    assert_eq!(read.upper_bound(), Some(upper));
    assert!(upper <= 2.0);
    assert_eq!(found["private"], true);
    assert_eq!(found["chosen_by"], "test-set");

    // Every run is shown, the winner is the best of them, and each says that it is a part of a search.
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    let value = |run: &Value| run["score"]["value"].as_f64().unwrap();
    let best = runs.iter().map(value).fold(0.0, f64::max);
    assert_eq!(value(&found["winner"]), best);
    for run in runs {
        let folder = out.join(run["folder"].as_str().unwrap());
        let report = fs::read_to_string(folder.join("report.html")).unwrap();
        assert!(report.contains("the score of the best is too good"));
        promises_what_the_search_does(&folder, upper);
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("CHOSEN BY THE TEST SET"));
    // Whom ε protects, of which data, and what is said beside every guarantee.
    for said in [
        "One record",
        "add-or-remove-one",
        "3,823 records",
        "several records is protected less",
    ] {
        assert!(page.contains(said), "{said}");
    }

    // The ledger of one run says what it alone costs, and that this is not all.
    let ledger = out.join("runs/1/ledger.jsonl");
    let arguments = ["account", "--delta", "1e-5", "--ledger", path(&ledger)];
    let output = common::tacita(&arguments);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("PART OF A SEARCH"));
}

#[test]
fn private_records_choose_by_noisy_counts_in_the_ledger() {
    let (space, out) = fresh("counts", "");
    let rows: String = (0..400)
        .map(|row| {
            format!(
                "{},{}\n",
                f64::from(row % 20) / 20.0,
                if row % 20 < 10 { "no" } else { "yes" }
            )
        })
        .collect();
    let table = space.with_file_name("table.csv");
    fs::write(&table, format!("value,answer\n{rows}")).unwrap();
    let text = format!(
        "mode = \"grid\"\nchoose-by = \"noisy-count\"\n[settings]\ncsv = {:?}\nlabel = \"answer\"\n\
         classes = [\"no\", \"yes\"]\nrecords = 400\ntest-share = 0.25\nscore-noise = 10.0\nepsilon = 3.0\n\
         delta = 1e-4\nsteps = 5\nbatch = 50\n[settings.declared.columns.value]\nmin = 0.0\n\
         max = 1.0\n[grid]\nlearning-rate = [0.1, 1.0]\n",
        table
    );
    fs::write(&space, text).unwrap();
    let found = found(&tune(&space, &out));
    let ledgers = [1, 2].map(|run| released(&out.join(format!("runs/{run}"))));
    for ledger in &ledgers {
        // Means and spreads of the column, five steps, then two tables of counts in one release.
        assert_eq!(ledger.rounds_made(), 7);
        let last = ledger.rounds().last().unwrap();
        assert_eq!(last.noise_multipliers, [10.0 / 2_f64.sqrt()]);
    }
    let read = Pld::default()
        .epsilon(&whole_grid(&ledgers).unwrap(), 1e-4 * (1.0 - 1e-6))
        .unwrap();
    assert_eq!(read.upper_bound(), found["epsilon_upper"].as_f64());
}

//! The recipe of the book by which others prepare rows for a model.

use crate::common::{empty, path, printed, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Every kind of column but hashed ones, missing values, and columns that were centred and scaled.
const SCHEMA: &str = r#"
records = 300
[label]
column = "y"
classes = ["no", "yes"]
[columns.age]
min = 0
max = 100
missing = "indicator"
[columns.price]
min = 0
max = 5000
decimal = ","
thousands = "."
strip = "€"
fill = 20
[columns.day]
kind = "date"
min = "2020-01-01"
max = "2025-01-01"
format = "%d.%m.%Y"
cycles = ["weekday", "month"]
[columns.smokes]
kind = "boolean"
[columns.grade]
order = ["low", "mid", "high"]
[columns.ward]
categories = ["north", "south"]
other = true
missing = "category"
"#;

fn row(index: usize) -> String {
    let age = match index % 7 {
        0 => "NA".to_string(),
        _ => (index % 90).to_string(),
    };
    let price = ["1.234,50 €", "17,5", "?", "9.000"][index % 4];
    let ward = ["north", "south", "west", ""][index % 4];
    let grade = ["low", "mid", "high"][index % 3];
    let smokes = ["yes", "FALSE", "1"][index % 3];
    let day = format!(
        "{:02}.{:02}.{}",
        1 + index % 28,
        1 + index % 12,
        2019 + index % 7
    );
    let class = if index % 90 > 40 { "yes" } else { "no" };
    format!("{age},\"{price}\",{day},{smokes},{grade},{ward},{class}\n")
}

/// The scores of a linear model for rows that the recipe prepared are the logarithms of the probabilities that
/// `tacita predict` gives, up to a constant. Nothing is tested where there is no Python.
#[test]
fn rows_prepared_by_the_recipe_get_the_predictions_of_tacita() {
    let folder = empty("own", "recipe");
    let (data, schema, out) = (
        folder.join("t.csv"),
        folder.join("schema.toml"),
        folder.join("run"),
    );
    let header = "age,price,day,smokes,grade,ward,y\n";
    let rows: String = (0..300).map(row).collect();
    fs::write(&data, format!("{header}{rows}")).unwrap();
    fs::write(&schema, SCHEMA).unwrap();
    let table = ["--csv", path(&data), "--schema", path(&schema)];
    printed(&[&["train", "--quiet"], &table[..], &["--out", path(&out)]].concat());
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/prepare_rows.py");
    let python = std::env::var("TACITA_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = match Command::new(&python)
        .args([path(&recipe), path(&out), path(&data)])
        .output()
    {
        Ok(output) => output,
        Err(_) => return eprintln!("not tested: there is no {python}"),
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
    let prepared: Vec<Vec<f64>> = (text(&output.stdout).lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (weights, bias) = linear(&out.join("model.safetensors"));
    let said = printed(&["predict", path(&out), "--json", "--input", path(&data)]);
    assert_eq!((prepared.len(), said.lines().count()), (300, 300));
    for (row, line) in prepared.iter().zip(said.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        let [no, yes] = ["no", "yes"].map(|class| line["probability"][class].as_f64().unwrap());
        let score = |class: usize| {
            let products = row.iter().zip(weights.chunks(2));
            bias[class] + products.map(|(x, pair)| x * pair[class]).sum::<f64>()
        };
        assert!(
            ((yes / no).ln() - (score(1) - score(0))).abs() < 1e-4,
            "{line} {row:?}"
        );
    }
}

/// Weights, row by row, and bias.
fn linear(file: &Path) -> (Vec<f64>, Vec<f64>) {
    let bytes = fs::read(file).unwrap();
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..start]).unwrap();
    let values = |name: &str| -> Vec<f64> {
        let [from, to] =
            [0, 1].map(|end| header[name]["data_offsets"][end].as_u64().unwrap() as usize);
        (bytes[start + from..start + to].chunks(4))
            .map(|four| f64::from(f32::from_le_bytes(four.try_into().unwrap())))
            .collect()
    };
    (values("layers.0.weight"), values("layers.0.bias"))
}

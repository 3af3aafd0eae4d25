//! Adult: whether a person of the 1994 census earns more than 50,000 dollars.
//!
//! Categories are those of `adult.names`, the documentation that comes with the set, with `?` for
//! what is missing. It gives no bounds, so these are round numbers declared here: census ages run
//! from 17 (the condition of the extract) to 90 (top-coded), gains are top-coded at 99,999.

use super::{About, DataSet, public_set, strings};
use crate::download::{Checksum, Download};
use crate::formats::compressed;
use crate::locate::{Found, Site};
use crate::preparation::{
    Basis, Column, Encoding, InputPreparation, Preparation, TablePreparation, Values,
};
use anyhow::{Context, Result, ensure};

const TRAINING_SHA256: &str = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d";
const TEST_SHA256: &str = "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05";

pub(super) const SITE: Site = Site {
    name: "adult",
    folders: &["adult"],
    forms: &[&["adult.data", "adult.test"]],
    downloads: &[
        Download {
            url: "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
            file: "adult.data",
            checksum: Checksum::Content(TRAINING_SHA256),
        },
        Download {
            url: "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",
            file: "adult.test",
            checksum: Checksum::Content(TEST_SHA256),
        },
    ],
    home: "https://archive.ics.uci.edu/dataset/2/adult",
};

const CLASSES: [&str; 2] = ["<=50K", ">50K"];

/// Numeric columns by their bounds, the others by their categories.
enum Declared {
    Bounds(f64, f64),
    Categories(&'static str),
}
use Declared::{Bounds, Categories};

const COLUMNS: &[(&str, Declared)] = &[
    ("age", Bounds(17.0, 90.0)),
    (
        "workclass",
        Categories(
            "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, \
             Without-pay, Never-worked, ?",
        ),
    ),
    ("fnlwgt", Bounds(0.0, 1_500_000.0)),
    (
        "education",
        Categories(
            "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, \
             7th-8th, 12th, Masters, 1st-4th, 10th, Doctorate, 5th-6th, Preschool",
        ),
    ),
    ("education-num", Bounds(1.0, 16.0)),
    (
        "marital-status",
        Categories(
            "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, \
             Married-spouse-absent, Married-AF-spouse",
        ),
    ),
    (
        "occupation",
        Categories(
            "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, \
             Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, \
             Transport-moving, Priv-house-serv, Protective-serv, Armed-Forces, ?",
        ),
    ),
    (
        "relationship",
        Categories("Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried"),
    ),
    (
        "race",
        Categories("White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black"),
    ),
    ("sex", Categories("Female, Male")),
    ("capital-gain", Bounds(0.0, 99_999.0)),
    ("capital-loss", Bounds(0.0, 5_000.0)),
    ("hours-per-week", Bounds(0.0, 100.0)),
    (
        "native-country",
        Categories(
            "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, \
             Outlying-US(Guam-USVI-etc), India, Japan, Greece, South, China, Cuba, Iran, Honduras, \
             Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France, \
             Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, \
             Nicaragua, Scotland, Thailand, Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong, \
             Holand-Netherlands, ?",
        ),
    ),
];

fn columns() -> Vec<Column> {
    COLUMNS
        .iter()
        .map(|(name, declared)| Column {
            name: (*name).to_string(),
            encoding: match declared {
                Bounds(min, max) => Encoding::Numeric {
                    min: *min,
                    max: *max,
                    basis: Basis::Declared,
                },
                Categories(list) => Encoding::Categorical {
                    categories: list.split(", ").map(str::to_string).collect(),
                },
            },
        })
        .collect()
}

pub(super) fn read(found: &Found) -> Result<DataSet> {
    let columns = columns();
    let part = |name: &str, sha256: &str| {
        let path = compressed::find(&found.folder, name)
            .with_context(|| format!("{} lacks {name}", found.folder.display()))?;
        table(&compressed::read_checked(&path, Some(sha256))?, &columns)
            .with_context(|| format!("{}", path.display()))
    };
    let parts = [
        part("adult.data", TRAINING_SHA256)?,
        part("adult.test", TEST_SHA256)?,
    ];
    let about = About {
        origin: "Adult, B. Becker and R. Kohavi 1996, UCI (US census of 1994)".into(),
        licence: "CC BY 4.0".into(),
        caveats: vec![
            "bounds of the numeric columns are round numbers declared by this program".into(),
        ],
    };
    let preparation = Preparation {
        input: InputPreparation::Table(TablePreparation {
            columns,
            standard: None,
        }),
        classes: strings(&CLASSES),
    };
    public_set(SITE.name, preparation, parts, None, about)
}

/// Lines of values and the class; the test file has a comment first and dots last.
fn table(file: &[u8], columns: &[Column]) -> Result<(Values, Vec<u16>)> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'|'))
        .trim(csv::Trim::All)
        .from_reader(file);
    let mut values = Values::default();
    let mut labels = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        ensure!(
            record.len() == columns.len() + 1,
            "line {line}: {} fields, not {}",
            record.len(),
            columns.len() + 1
        );
        for (column, value) in columns.iter().zip(&record) {
            let read = column.read(value).with_context(|| format!("line {line}"))?;
            values.cells.push(column.cell(read));
        }
        let class = record[columns.len()].trim_end_matches('.');
        let label = CLASSES.iter().position(|known| *known == class);
        labels.push(label.with_context(|| format!("line {line}: an unknown class"))? as u16);
    }
    Ok((values, labels))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn comments_dots_and_missing_values_are_read() {
        let file = b"|1x3 Cross validator\n\
            90, ?, 0, Masters, 16, Divorced, ?, Wife, Black, Male, 0, 0, 40, ?, >50K.\n\n\
            17, Private, 0, 10th, 1, Divorced, Sales, Wife, Black, Male, 0, 0, 40, Hong, <=50K\n";
        let (values, labels) = table(file, &columns()).unwrap();
        assert_eq!(labels, [1, 0]);
        assert_eq!(values.cells[..2], [1.0, 8.0]);
        assert_eq!(values.cells[14], 0.0);
    }

    #[test]
    fn a_short_line_is_named() {
        let error = table(b"1, 2, 3\n", &columns()).unwrap_err();
        assert_eq!(format!("{error:#}"), "line 1: 3 fields, not 15");
    }
}

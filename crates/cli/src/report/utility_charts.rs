//! The charts of how good a model is.

use super::charts::Explained;
use crate::plot::{Chart, Series, Stroke};
use crate::utility::ClassUtility;

/// Those there is something to show on.
pub fn of_classes(utility: &ClassUtility) -> Vec<Explained> {
    [
        roc(utility),
        precision_recall(utility),
        calibration(utility),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn line(name: &str, colour: usize, stroke: Stroke, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.into(),
        colour,
        stroke,
        points,
        lower: Vec::new(),
    }
}

const DIAGONAL: [(f64, f64); 2] = [(0.0, 0.0), (1.0, 1.0)];

/// What is averaged, if anything is.
fn of(utility: &ClassUtility) -> String {
    match &utility.per_class[..] {
        [_, positive] => format!("The question is whether a record is “{}”.", positive.class),
        _ => "The mean over the classes, each against all others.".into(),
    }
}

fn roc(utility: &ClassUtility) -> Option<Explained> {
    (!utility.roc.is_empty()).then(|| Explained {
        chart: Chart {
            series: vec![
                line("this model", 0, Stroke::Solid, utility.roc.clone()),
                line("guessing", 5, Stroke::Dotted, DIAGONAL.to_vec()),
            ],
            shares: true,
            ..Chart::new("ROC curve", "false-positive rate", "true-positive rate")
        },
        note: of(utility),
    })
}

fn precision_recall(utility: &ClassUtility) -> Option<Explained> {
    let shares = || {
        let mut records = utility.per_class.iter().map(|class| class.records.max(0.0));
        let all: f64 = records.clone().sum();
        let several = utility.per_class.len();
        // What guessing reaches: the share of the second class, or the mean share of all.
        match several {
            2 => records.next_back().unwrap_or(0.0) / all,
            _ => 1.0 / several as f64,
        }
    };
    (!utility.precision_recall.is_empty()).then(|| Explained {
        chart: Chart {
            series: vec![
                line(
                    "this model",
                    0,
                    Stroke::Solid,
                    utility.precision_recall.clone(),
                ),
                line(
                    "guessing",
                    5,
                    Stroke::Dotted,
                    vec![(0.0, shares()), (1.0, shares())],
                ),
            ],
            shares: true,
            ..Chart::new("Precision and recall", "recall", "precision")
        },
        note: of(utility),
    })
}

fn calibration(utility: &ClassUtility) -> Option<Explained> {
    let bins = &utility.calibration;
    let moved = |sign: f64| {
        let bins = bins.iter();
        bins.map(|bin| {
            let band = sign * bin.observed.plus_minus.unwrap_or(0.0);
            (bin.predicted, (bin.observed.value + band).clamp(0.0, 1.0))
        })
        .collect::<Vec<_>>()
    };
    let mut series = vec![line("this model", 0, Stroke::Solid, moved(0.0))];
    if utility.count_noise.is_some() {
        series.push(Series {
            lower: moved(-1.0),
            ..line(
                "two standard deviations of the noise",
                0,
                Stroke::Dotted,
                moved(1.0),
            )
        });
    }
    series.push(line(
        "as they should be",
        5,
        Stroke::Dotted,
        DIAGONAL.to_vec(),
    ));
    (bins.len() > 1).then(|| Explained {
        chart: Chart {
            series,
            shares: true,
            ..Chart::new(
                "Calibration",
                "probability the model gives",
                "share it is true of",
            )
        },
        note:
            "Above the dotted line it is true more often than the model says, below it less often."
                .into(),
    })
}

//! What is released of a model's answers on private test records: tables of counts, and the cells that one record
//! enters.
//!
//! | table | cells | of |
//! |---|---|---|
//! | outcome | right, wrong | more than two classes |
//! | classes | one a class | more than two classes |
//! | confusion | class × answer | up to 32 classes |
//! | scores | for each judged class: is it × bin of its log-odds | up to 32 classes |
//!
//! A record enters one cell of each table, and of the scores one for each judged class. Its vector has 1 in those
//! cells, over √(judged classes) in the scores, and is then divided by the root of the number of tables: its length is
//! exactly 1, whatever the record. So with t tables and noise of z records on a cell the noise multiplier is z/√t.
//! Of the scores of k classes a cell has noise z√k.

use super::ClassAnswers;
use super::log_odds::{BINS, against_others, answer, bin, middle};
use super::ranking::{Scored, ranked};
use super::tally::{Count, Tally, judged};

/// More classes than these would make more cells than noise leaves anything of.
const MOST_CLASSES: usize = 32;

/// The tables for so many classes, and the noise on a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    classes: usize,
    noise: f64,
}

/// Cells of a table in the released vector, and what a record adds to one.
struct Table {
    first: usize,
    cells: usize,
    step: f64,
}

impl Layout {
    /// Tables for so many classes, with this standard deviation of the noise on a cell, in records.
    pub fn new(classes: usize, noise: f64) -> Self {
        Self { classes, noise }
    }

    /// The noise multiplier of the release: noise over the length of a record's vector before it is divided.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise / self.root()
    }

    /// The standard deviation of the noise on a cell, in records.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Numbers that are released.
    pub fn length(&self) -> usize {
        let [outcome, classes, confusion, scores] = self.tables();
        outcome.cells + classes.cells + confusion.cells + scores.cells
    }

    /// √(number of tables).
    fn root(&self) -> f64 {
        let tables = self.tables();
        let used = tables.iter().filter(|table| table.cells > 0).count();
        (used as f64).sqrt()
    }

    fn tables(&self) -> [Table; 4] {
        let classes = self.classes;
        let fits = classes <= MOST_CLASSES;
        let judged = judged(classes).len();
        let cells = [
            if classes > 2 { 2 } else { 0 },
            if classes > 2 { classes } else { 0 },
            if fits { classes * classes } else { 0 },
            if fits { judged * 2 * BINS } else { 0 },
        ];
        let mut first = 0;
        [0, 1, 2, 3].map(|table| {
            let entries = if table == 3 { judged } else { 1 };
            let made = Table {
                first,
                cells: cells[table],
                step: (entries as f64).sqrt().recip(),
            };
            first += cells[table];
            made
        })
    }

    /// What a record adds: the cells it enters, each once.
    pub fn cells(&self, values: &[f32], label: usize) -> Vec<usize> {
        let [outcome, classes, confusion, scores] = self.tables();
        let answer = answer(values);
        let mut cells = Vec::new();
        if outcome.cells > 0 {
            cells.push(outcome.first + usize::from(answer != label));
            cells.push(classes.first + label);
        }
        if confusion.cells > 0 {
            cells.push(confusion.first + label * self.classes + answer);
            let log_odds = against_others(values);
            for (judge, class) in judged(self.classes).enumerate() {
                let is_not = usize::from(label != class);
                let cell = (judge * 2 + is_not) * BINS + bin(log_odds[class]);
                cells.push(scores.first + cell);
            }
        }
        cells
    }

    /// A record's vector, of length 1.
    pub fn vector(&self, values: &[f32], label: usize) -> Vec<f64> {
        let mut vector = vec![0.0; self.length()];
        let (tables, root) = (self.tables(), self.root());
        for cell in self.cells(values, label) {
            let table = tables
                .iter()
                .rfind(|table| table.cells > 0 && table.first <= cell);
            vector[cell] = table.map_or(0.0, |table| table.step) / root;
        }
        vector
    }

    /// The vectors of all records.
    pub fn vectors(&self, answers: ClassAnswers<'_>) -> impl Iterator<Item = Vec<f64>> {
        let records = answers.outputs.iter().zip(answers.labels);
        records.map(|(values, label)| self.vector(values, usize::from(*label)))
    }

    /// Counts of records from the released sums.
    pub fn tally(&self, released: &[f64]) -> Tally {
        let [outcome, classes, confusion, scores] = self.tables();
        let root = self.root();
        let counts = |table: &Table| -> Vec<f64> {
            let sums = &released[table.first..table.first + table.cells];
            sums.iter().map(|sum| sum * root / table.step).collect()
        };
        let matrix = counts(&confusion);
        let matrix: Vec<Vec<f64>> = matrix.chunks(self.classes).map(<[f64]>::to_vec).collect();
        let by_score = counts(&scores);
        let scored = by_score.chunks(2 * BINS).map(|cells| {
            let at = |bin: usize| Scored {
                log_odds: middle(bin),
                positive: cells[bin],
                negative: cells[BINS + bin],
            };
            ranked((0..BINS).map(at).collect())
        });
        let noise = |table: &Table| self.noise / table.step;
        // Of two classes the confusion matrix tells both; a sum of two cells has noise of its own.
        let (right_and_wrong, by_class) = match outcome.cells {
            0 => {
                let right = matrix[0][0] + matrix[1][1];
                let wrong = matrix[0][1] + matrix[1][0];
                let by_class = matrix.iter().map(|row| row.iter().sum()).collect();
                let noise = self.noise * 2_f64.sqrt();
                (
                    Count::new([right, wrong], noise),
                    Count::new(by_class, noise),
                )
            }
            _ => {
                let both = counts(&outcome);
                (
                    Count::new([both[0], both[1]], noise(&outcome)),
                    Count::new(counts(&classes), noise(&classes)),
                )
            }
        };
        Tally {
            outcome: right_and_wrong,
            classes: by_class,
            scores: Count::new(scored.collect(), noise(&scores)),
            confusion: Count::new(matrix, noise(&confusion)),
        }
    }
}

#![allow(clippy::unwrap_used)]

mod images;
mod inputs;
mod jsonl;
mod parquet;
mod person;
mod random;
mod schema;
mod shards;
mod split;
mod table;
mod targets;

use super::*;
use crate::preparation::Basis;
use crate::testkit::{Folder, message};
use crate::{BadRecords, DataSet, Listed, Opened, Options, RecordSet, Source, open};
use ::tacita::Records;
use std::sync::{Arc, Mutex};

/// A table of patients.
const SCHEMA: &str = r#"
[label]
column = "outcome"
classes = ["well", "ill"]
[columns.age]
min = 0
max = 100
[columns.ward]
categories = ["north", "south"]
"#;

const PATIENTS: &str = "age,ward,outcome\n50,north,well\n25,south,ill\n100,north,ill\n";

fn options(schema: &str) -> Options {
    Options {
        schema: toml::from_str(schema).unwrap(),
        ..Options::default()
    }
}

fn ready(opened: Result<Opened>) -> DataSet {
    match opened.unwrap() {
        Opened::Ready(data) => *data,
        Opened::NeedsBounds(_) => panic!("all bounds are declared"),
    }
}

/// A data set and the list of the records that were left out of it.
fn listed(open: impl Fn(&Options) -> Result<Opened>, schema: &str) -> (DataSet, Vec<Listed>) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let mut options = options(schema);
    options.bad_records = BadRecords::List(list.clone());
    let data = ready(open(&options));
    let bad = list.lock().unwrap().clone();
    (data, bad)
}

fn csv(content: impl AsRef<[u8]>, options: &Options) -> Result<Opened> {
    let folder = Folder::new();
    let file = folder.write("patients.csv", content);
    open(&Source::Csv { file }, options)
}

/// All rows and classes.
fn rows(records: &RecordSet) -> (Vec<f32>, Vec<u16>) {
    let RecordSet::Rows(rows) = records else {
        panic!("rows");
    };
    let indices: Vec<usize> = (0..rows.count()).collect();
    let batch = rows.batch(&indices, &Default::default());
    (
        batch.inputs.into_data().iter().collect(),
        rows.labels().to_vec(),
    )
}

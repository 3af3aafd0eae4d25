use super::*;

fn of(folder: &Folder, path: &str) -> Result<Vec<String>> {
    let files = shards(&folder.path().join(path), Format::Csv)?;
    let name = |file: &std::path::PathBuf| file.file_name().unwrap().to_str().unwrap().to_string();
    Ok(files.iter().map(name).collect())
}

#[test]
fn the_files_of_a_folder_or_a_pattern_are_taken_in_the_order_of_their_names() {
    let folder = Folder::new();
    for name in [
        "10.csv",
        "2.csv",
        "1.csv.gz",
        "_done.csv",
        ".2.csv.crc",
        "note.md",
        "x.parquet",
    ] {
        folder.write(&format!("table/{name}"), name);
    }
    folder.write("table/year=7/3.csv", "");
    assert_eq!(
        of(&folder, "table").unwrap(),
        ["1.csv.gz", "10.csv", "2.csv"]
    );
    assert_eq!(of(&folder, "table/*/*.csv").unwrap(), ["3.csv"]);
    assert_eq!(of(&folder, "table/[12]*.csv").unwrap(), ["10.csv", "2.csv"]);
    assert_eq!(of(&folder, "table/2.csv").unwrap(), ["2.csv"]);
    assert!(message(of(&folder, "table/*.tsv")).contains("no file matches"));
    folder.write("empty/readme", "");
    assert!(message(of(&folder, "empty")).contains("no CSV file"));
}

#[test]
fn a_file_that_would_be_read_twice_is_refused() {
    let folder = Folder::new();
    let first = folder.write("table/a.csv", "x");
    std::fs::hard_link(&first, folder.path().join("table/b.csv")).unwrap();
    let refused = message(of(&folder, "table"));
    assert!(
        refused.contains("a.csv") && refused.contains("b.csv") && refused.contains("twice"),
        "{refused}"
    );
}

#[test]
fn a_table_in_several_files_is_the_table_in_one() {
    let folder = Folder::new();
    let (header, lines) = PATIENTS.split_once('\n').unwrap();
    for (at, line) in lines.lines().enumerate() {
        folder.write(&format!("table/{at}.csv"), format!("{header}\n{line}\n"));
    }
    let file = folder.path().join("table");
    let several = ready(open(&Source::Csv { file: file.clone() }, &options(SCHEMA)));
    let one = ready(csv(PATIENTS, &options(SCHEMA)));
    assert_eq!(several.training, one.training);
    folder.write("table/9.csv", "ward,age,outcome\nnorth,50,well\n");
    let refused = message(open(&Source::Csv { file }, &options(SCHEMA)));
    assert!(
        refused.contains("9.csv") && refused.contains("must have the columns of"),
        "{refused}"
    );
}

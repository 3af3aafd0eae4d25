use super::*;
use crate::preparation::Preparation;
use crate::testkit::png;
use crate::{Format, InputOptions, Inputs, NewInput, Take, read_inputs};

fn preparation(kind: &str) -> Preparation {
    serde_json::from_str(&format!(r#"{{"input": {kind}, "classes": ["a", "b"]}}"#)).unwrap()
}

/// Everything that was read.
#[derive(Default)]
struct Read {
    inputs: Vec<NewInput>,
    chunks: Vec<RecordSet>,
    notes: Vec<String>,
}

impl Take for Read {
    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn take(&mut self, Inputs { inputs, records }: Inputs) -> Result<()> {
        let good = inputs
            .iter()
            .filter(|input| input.problem.is_none())
            .count();
        assert_eq!(good, records.count());
        self.inputs.extend(inputs);
        self.chunks.push(records);
        Ok(())
    }
}

impl Read {
    fn names(&self) -> Vec<&str> {
        self.inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect()
    }

    fn problems(&self) -> Vec<&str> {
        let problem = |input: &NewInput| input.problem.clone();
        let problems = self.inputs.iter().filter(|input| problem(input).is_some());
        problems
            .map(|input| input.problem.as_ref().unwrap().plain.as_str())
            .collect()
    }
}

fn inputs(
    name: &str,
    content: impl AsRef<[u8]>,
    preparation: &Preparation,
    options: &InputOptions,
) -> Result<Read> {
    let folder = Folder::new();
    let path = folder.write(name, content);
    let mut read = Read::default();
    read_inputs(&path, preparation, options, None, &mut read)?;
    Ok(read)
}

fn text(field: &str) -> InputOptions {
    InputOptions {
        text: Some(field.into()),
        ..InputOptions::default()
    }
}

/// New rows may come in another order of columns, with or without the class, with others, as CSV or JSON lines.
#[test]
fn new_rows_are_prepared_like_those_learned_from() {
    let data = ready(csv(PATIENTS, &options(SCHEMA)));
    let usual = InputOptions::default();
    let turned = "ward,note,age\nnorth,x,50\nsouth,y,25\nnorth,z,100\n";
    let new = inputs("new.csv", turned, &data.preparation, &usual).unwrap();
    assert_eq!(rows(&new.chunks[0]).0, rows(&data.training).0);
    assert_eq!(new.names(), ["line 2", "line 3", "line 4"]);
    assert!(
        new.notes[0].contains("`note`") && !new.notes[0].contains("`age`"),
        "{:?}",
        new.notes
    );
    let objects = "{\"ward\": \"north\", \"age\": 50}\n{\"age\": \"25\", \"ward\": \"south\"}\n\n\
                   {\"age\": 1e2, \"ward\": \"north\", \"more\": [1]}\n";
    let lines = inputs("new.jsonl", objects, &data.preparation, &usual).unwrap();
    assert_eq!(rows(&lines.chunks[0]).0, rows(&data.training).0);
    let error = message(inputs(
        "new.csv",
        "age,wards\n1,north\n",
        &data.preparation,
        &usual,
    ));
    assert!(
        error.contains("there is no column `ward`; did you mean “wards”?"),
        "{error}"
    );
    let error = message(inputs("new.csv", "age,ward\n", &data.preparation, &usual));
    assert!(error.contains("there is no input"), "{error}");
}

/// Some rows that cannot be used stop nothing, and values of others are handed on.
#[test]
fn rows_that_cannot_be_used_are_reported_one_by_one() {
    let data = ready(csv(PATIENTS, &options(SCHEMA)));
    let options = InputOptions {
        ids: vec!["who".into()],
        ..InputOptions::default()
    };
    let content = "age,ward,who\n1,north,A\nx,north,B\n1,west,C\n1\n,north,D\n2,south,\"E, F\"\n";
    let read = inputs("new.csv", content, &data.preparation, &options).unwrap();
    assert_eq!(read.inputs.len(), 6);
    assert_eq!(read.chunks[0].count(), 2);
    let ids: Vec<_> = read.inputs.iter().map(|input| input.ids.join("")).collect();
    assert_eq!(ids, ["A", "B", "C", "", "D", "E, F"]);
    assert_eq!(
        read.problems(),
        [
            "column `age` is not a number",
            "column `ward` is not one of the declared categories",
            "1 fields, but the header has 3",
            "column `age` is empty"
        ]
    );
    assert!(
        read.inputs[2]
            .problem
            .as_ref()
            .unwrap()
            .with_value
            .contains("“west”")
    );
    let missing = InputOptions {
        ids: vec!["whom".into()],
        ..InputOptions::default()
    };
    let error = message(inputs("new.csv", content, &data.preparation, &missing));
    assert!(
        error.contains("no column `whom` to hand on; did you mean “who”?"),
        "{error}"
    );
}

/// However long the file, so many rows are in memory at a time.
#[test]
fn rows_are_handed_over_in_chunks() {
    let data = ready(csv(PATIENTS, &options(SCHEMA)));
    let content = format!("age,ward\n{}", "1,north\n".repeat(1200));
    let read = inputs(
        "new.csv",
        content,
        &data.preparation,
        &InputOptions::default(),
    )
    .unwrap();
    let counts: Vec<usize> = read.chunks.iter().map(RecordSet::count).collect();
    assert_eq!(counts, [512, 512, 176]);
}

#[test]
fn texts_come_as_lines_objects_or_columns() {
    let words = preparation(r#"{"kind": "words", "vocabulary": 50, "length": 2}"#);
    let usual = InputOptions::default();
    let lines = inputs("new.txt", "One two\n\nthree\n", &words, &usual).unwrap();
    let objects = "{\"t\": \"one TWO\"}\n{\"t\": \"Three\"}\n";
    let by_name = inputs("new.jsonl", objects, &words, &text("t")).unwrap();
    assert_eq!(lines.chunks, by_name.chunks);
    assert_eq!(lines.names(), ["line 1", "line 3"]);
    let told = InputOptions {
        format: Some(Format::Jsonl),
        ..text("t")
    };
    assert_eq!(
        inputs("new", objects, &words, &told).unwrap().chunks,
        lines.chunks
    );
    let table = inputs("new.csv", "n,t\n1,one two\n2,three\n", &words, &text("t")).unwrap();
    assert_eq!(table.chunks, lines.chunks);
    // JSON lines are no lines of text.
    let error = message(inputs("new.jsonl", objects, &words, &usual));
    assert!(error.contains("--text FIELD"), "{error}");
    let bad = inputs(
        "new.jsonl",
        "{\"t\": 1}\n{}\n[]\n{\"t\": \"a\"}",
        &words,
        &text("t"),
    )
    .unwrap();
    assert_eq!(
        bad.problems(),
        [
            "the field `t` is not a text",
            "the text in `t` is empty",
            "not a JSON object"
        ]
    );
}

#[test]
fn images_come_as_a_file_or_a_folder() {
    let size = r#"{"channels": 1, "height": 2, "width": 2}"#;
    let picture = preparation(&format!(
        r#"{{"kind": "picture", "size": {size}, "white": 255}}"#
    ));
    let folder = Folder::new();
    let file = folder.write("b.png", png(2, 2, [9; 3]));
    folder.write("deep/a.png", png(3, 3, [7; 3]));
    folder.write("notes.txt", "");
    let read = |path: &Path| {
        let mut read = Read::default();
        read_inputs(path, &picture, &InputOptions::default(), None, &mut read).map(|()| read)
    };
    assert_eq!(
        read(folder.path()).unwrap().names(),
        ["b.png", "deep/a.png"]
    );
    assert_eq!(read(&file).unwrap().chunks[0].count(), 1);
    folder.write("c.png", "no image");
    let all = read(folder.path()).unwrap();
    assert_eq!((all.problems().len(), all.chunks[0].count()), (1, 2));
    assert!(
        all.problems()[0].contains("not a readable image"),
        "{:?}",
        all.problems()
    );
}

use super::*;
use crate::own::inputs::Inputs;
use crate::preparation::Preparation;
use crate::testkit::png;

fn preparation(kind: &str) -> Preparation {
    serde_json::from_str(&format!(r#"{{"input": {kind}, "classes": ["a", "b"]}}"#)).unwrap()
}

fn inputs(
    name: &str,
    content: impl AsRef<[u8]>,
    preparation: &Preparation,
    text: Option<&str>,
) -> Result<Inputs> {
    let folder = Folder::new();
    let path = folder.write(name, content);
    read_inputs(&path, preparation, text, None, None)
}

/// New rows may come in another order of columns, with or without the class.
#[test]
fn new_rows_are_prepared_like_those_learned_from() {
    let data = ready(csv(PATIENTS, &options(SCHEMA)));
    let turned = "ward,note,age\nnorth,x,50\nsouth,y,25\nnorth,z,100\n";
    let new = inputs("new.csv", turned, &data.preparation, None).unwrap();
    assert_eq!(rows(&new.records).0, rows(&data.training).0);
    assert_eq!(new.names, ["line 2", "line 3", "line 4"]);
    let error = message(inputs(
        "new.csv",
        "age,wards\n1,north\n",
        &data.preparation,
        None,
    ));
    assert!(
        error.contains("line 2: there is no column `ward`; did you mean “wards”?"),
        "{error}"
    );
    let error = message(inputs(
        "new.csv",
        "age,ward\n1,north\nx,north\n",
        &data.preparation,
        None,
    ));
    assert!(
        error.contains("new.csv: line 3: column `age` is not a number"),
        "{error}"
    );
    let error = message(inputs("new.csv", "age,ward\n", &data.preparation, None));
    assert!(error.contains("there is no input"), "{error}");
}

#[test]
fn texts_come_as_lines_or_objects() {
    let words = preparation(r#"{"kind": "words", "vocabulary": 50, "length": 2}"#);
    let lines = inputs("new.txt", "One two\n\nthree\n", &words, None).unwrap();
    let objects = "{\"t\": \"one TWO\"}\n{\"t\": \"Three\"}\n";
    let objects = inputs("new.jsonl", objects, &words, Some("t")).unwrap();
    assert_eq!(lines.records, objects.records);
    assert_eq!(lines.names, ["line 1", "line 3"]);
    let error = message(inputs("new.jsonl", "{\"t\": 1}", &words, Some("t")));
    assert!(
        error.contains("line 1: the field `t` is not a text"),
        "{error}"
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
    folder.write("a.png", png(3, 3, [7; 3]));
    folder.write("notes.txt", "");
    let read = |path: &Path| read_inputs(path, &picture, None, None, None);
    assert_eq!(read(folder.path()).unwrap().names, ["a.png", "b.png"]);
    assert_eq!(read(&file).unwrap().records.count(), 1);
    folder.write("c.png", "no image");
    let error = message(read(folder.path()));
    assert!(error.contains("c.png: not a readable image"), "{error}");
}

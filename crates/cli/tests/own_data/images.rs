//! Images.

use crate::common::{empty, path, printed, refused, summary, tacita, text};
use crate::share_right;
use std::fs;

pub fn png(level: u8) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 8, 8);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[level; 64]).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn images_are_trained_on_and_classified() {
    let folder = empty("own", "images");
    let images = folder.join("scans");
    for index in 0..60_u8 {
        for (class, level) in [("dark", index), ("light", 255 - index)] {
            let place = images.join(class);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join(format!("{index}.png")), png(level)).unwrap();
        }
    }
    let schema = folder.join("schema.toml");
    fs::write(&schema, "image = { width = 8, height = 8, channels = 1 }\n").unwrap();
    let out = folder.join("run");
    let arguments = [
        "train",
        "--images",
        path(&images),
        "--schema",
        path(&schema),
        "--records",
        "120",
        "--noise",
        "1",
        "--steps",
        "40",
        "--model",
        "logistic",
        "--out",
        path(&out),
    ];
    refused(&arguments, &["--public-folder-names", "--classes"]);
    summary(&[&arguments[..], &["--public-folder-names"]].concat());
    let said = printed(&["predict", path(&out), "--input", path(&images.join("dark"))]);
    assert!(share_right(&said, |_| "dark") > 0.9, "{said}");
    let said = printed(&[
        "predict",
        path(&out),
        "--input",
        path(&images.join("light").join("3.png")),
    ]);
    assert_eq!(share_right(&said, |_| "light"), 1.0, "{said}");
    let said = tacita(&["predict", path(&out), "--input", path(&schema)]);
    assert_eq!(said.status.code(), Some(3));
    let message = text(&said.stderr);
    assert!(
        message.contains("schema.toml: not a readable image"),
        "{message}"
    );

    // Without the folder of the classes there is nothing at all to read.
    let mut nowhere = arguments;
    let gone = folder.join("gone");
    nowhere[2] = path(&gone);
    refused(
        &[&nowhere[..], &["--classes", "dark,light"]].concat(),
        &["there is no folder"],
    );
}

use super::*;
use crate::testkit::png;

const SCHEMA: &str = "image = { width = 4, height = 4, channels = 1 }";

fn animals() -> Folder {
    let folder = Folder::new();
    folder.write("cat/1.png", png(8, 6, [0; 3]));
    folder.write("cat/2.PNG", png(4, 4, [255; 3]));
    folder.write("cat/.hidden.png", "no image");
    folder.write("cat/notes.txt", "no image");
    folder.write("dog/1.png", png(3, 9, [51; 3]));
    folder.write("readme.md", "animals");
    folder
}

fn images(folder: &Folder, options: &Options) -> Result<Opened> {
    open(
        &Source::Images {
            folder: folder.path().into(),
        },
        options,
    )
}

#[test]
fn a_folder_for_each_class_is_read() {
    let folder = animals();
    let mut options = options(SCHEMA);
    options.classes_are_public = true;
    let data = ready(images(&folder, &options));
    assert_eq!(data.classes(), ["cat", "dog"]);
    let RecordSet::Images(images) = &data.training else {
        panic!("images");
    };
    assert_eq!(images.labels(), [0, 0, 1]);
    let batch = images
        .batch(&[2, 1], &Default::default())
        .inputs
        .into_data();
    let values: Vec<f32> = batch.iter().collect();
    assert_eq!((values[..16].to_vec(), values[16]), (vec![0.2; 16], 1.0));
}

/// Patients, visits and dates in folders of their own; nothing that is hidden.
#[test]
fn images_in_folders_below_count() {
    let folder = animals();
    folder.write("cat/tom/2024/1.png", png(4, 4, [9; 3]));
    folder.write("dog/rex/.cache/1.png", png(4, 4, [9; 3]));
    let schema = format!("{SCHEMA}\nlabel.classes = [\"cat\", \"dog\"]");
    let data = ready(images(&folder, &options(&schema)));
    assert_eq!(data.training.labels(), [0, 0, 0, 1]);
}

#[test]
fn names_of_folders_are_classes_only_if_declared() {
    let error = message(images(&animals(), &options(SCHEMA)));
    assert!(
        error.contains("only if you say that they are public"),
        "{error}"
    );
    let declared = format!("{SCHEMA}\nlabel.classes = [\"dog\", \"cat\"]");
    assert_eq!(
        ready(images(&animals(), &options(&declared)))
            .training
            .labels(),
        [0, 1, 1]
    );
    // A class that was not declared, and one without images: either can be one record's doing.
    let fewer = format!("{SCHEMA}\nlabel.classes = [\"dog\", \"cats\"]");
    let (data, bad) = listed(|options| images(&animals(), options), &fewer);
    assert_eq!(data.training.labels(), [0]);
    assert!(bad[0].file.ends_with("cat"), "{bad:?}");
    assert!(
        bad[0].with_value.contains("did you mean “cats”?"),
        "{bad:?}"
    );
}

#[test]
fn errors_name_the_file() {
    let folder = animals();
    let bad = folder.write("dog/bad.jpg", "not at all");
    let schema = format!("{SCHEMA}\nlabel.classes = [\"dog\", \"cat\"]");
    let (data, listed) = listed(|options| images(&folder, options), &schema);
    assert_eq!(data.training.count(), 3);
    let place = (bad.display().to_string(), None);
    assert_eq!((listed[0].file.clone(), listed[0].line), place);
    assert_eq!(listed[0].problem, "not a readable image");
    assert!(
        listed[0]
            .with_value
            .contains("not a PNG, JPEG, WebP, TIFF, BMP or DICOM image")
    );
    assert_eq!(
        ready(images(&folder, &options(&schema))).training.count(),
        3
    );

    let error = message(images(
        &folder,
        &options("label.classes = [\"dog\", \"cat\"]"),
    ));
    assert!(
        error.contains("the size of images must be declared"),
        "{error}"
    );
    let nowhere = Source::Images {
        folder: "no/such".into(),
    };
    let error = message(open(&nowhere, &options(&schema)));
    assert!(error.contains("there is no folder no/such"), "{error}");
    let alone = Folder::new();
    alone.write("cat/1.png", png(4, 4, [0; 3]));
    let mut public = options(SCHEMA);
    public.classes_are_public = true;
    let error = message(images(&alone, &public));
    assert!(
        error.contains("only one class is declared, “cat”"),
        "{error}"
    );
}

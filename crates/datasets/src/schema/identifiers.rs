//! Names of columns that look like those of identifiers.

/// Words that identifiers are named by, in lower case.
const WORDS: [&str; 22] = [
    "id",
    "ids",
    "uuid",
    "guid",
    "ssn",
    "email",
    "mail",
    "name",
    "firstname",
    "lastname",
    "surname",
    "forename",
    "fullname",
    "username",
    "phone",
    "telephone",
    "mobile",
    "address",
    "iban",
    "passport",
    "mrn",
    "key",
];

/// Whether a column is named like one that tells who somebody is. The name is all that is looked at.
pub fn is_named_like_an_identifier(name: &str) -> bool {
    words(name)
        .iter()
        .any(|word| WORDS.contains(&word.as_str()))
}

/// The words of a name such as `patient_id`, `patientId` or `E-Mail`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for letter in name.chars() {
        let ends = !letter.is_alphanumeric() || (letter.is_uppercase() && lower);
        if ends && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        lower = letter.is_lowercase();
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_known_by_whole_words_of_their_names() {
        for name in [
            "id",
            "ID",
            "patient_id",
            "patientId",
            "E-Mail",
            "Last Name",
            "SSN",
            "user.uuid",
        ] {
            assert!(is_named_like_an_identifier(name), "{name}");
        }
        for name in [
            "age", "idle", "humidity", "video", "grid", "", "emailed", "valid",
        ] {
            assert!(!is_named_like_an_identifier(name), "{name}");
        }
    }
}

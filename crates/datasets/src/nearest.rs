//! What error messages show: the value seen, cut short, and the name that was meant.

use super::renamed_keys::is_old;

/// An error of TOML in words: an unknown key is named with the nearest known one.
pub fn toml_error(error: &toml::de::Error) -> anyhow::Error {
    let message = error.message();
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(key) if message.contains("unknown field") => {
            let names: Vec<&str> = quoted.filter(|name| !is_old(name)).collect();
            anyhow::anyhow!("there is no setting {}{}", shown(key), known(key, &names))
        }
        _ => anyhow::anyhow!("{}", error.to_string().trim_end()),
    }
}

/// A value in quotes, at most 40 characters of it.
pub fn shown(value: &str) -> String {
    const MOST: usize = 40;
    let cut: String = value.chars().take(MOST).collect();
    let dots = if cut.len() < value.len() { "…" } else { "" };
    format!("\u{201c}{}{dots}\u{201d}", cut.escape_debug())
}

/// The end of an error message about an unknown name: the nearest known one, or some of them.
pub fn known(name: &str, names: &[impl AsRef<str>]) -> String {
    const NEAR: f64 = 0.75;
    let nearest = names
        .iter()
        .map(|known| {
            (
                strsim::jaro_winkler(&name.to_lowercase(), &known.as_ref().to_lowercase()),
                known,
            )
        })
        .filter(|(likeness, _)| *likeness > NEAR)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((_, known)) => format!("; did you mean {}?", shown(known.as_ref())),
        None if names.is_empty() => String::new(),
        None => {
            const MOST: usize = 16;
            let some: Vec<_> = names
                .iter()
                .take(MOST)
                .map(|known| shown(known.as_ref()))
                .collect();
            let more = if names.len() > MOST { ", …" } else { "" };
            format!("; there are {}{more}", some.join(", "))
        }
    }
}

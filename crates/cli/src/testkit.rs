//! What tests of several modules share.

use tacita_datasets::random::SplitMix;

/// Positive numbers at which printing goes wrong if anywhere: short decimals, their neighbours, and any others.
pub fn awkward() -> Vec<f64> {
    let mut random = SplitMix(22);
    let mut values = vec![];
    for case in 0..400 {
        let size = [1e-3, 1e-1, 1.0, 1e2][case % 4];
        let any = size * (1 + random.below(1_000_000)) as f64 / 1e5;
        let digits = [10.0, 1e2, 1e3, 1e4, 1e5][case % 5];
        let short = (any * digits).ceil() / digits;
        values.extend([any, short, short.next_up(), short.next_down()]);
    }
    values.retain(|value| *value > 0.0);
    values
}

/// The numbers that follow some words of a text.
pub fn bounds(text: &str, words: &str) -> Vec<f64> {
    let after = text.split(words).skip(1);
    after.map(read).collect()
}

/// The number with which a text begins, as people read it: 9.0001 × 10⁻⁴, or 1,234.5.
fn read(text: &str) -> f64 {
    let raised = |sign| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|digit| digit == sign);
    let mut typed = String::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let power = ["\u{a0}×\u{a0}10", " × 10"]
            .iter()
            .find_map(|power| rest.strip_prefix(power));
        if let Some(after) = power {
            typed.push('e');
            rest = after;
            continue;
        }
        match (sign, raised(sign)) {
            ('0'..='9' | '.' | 'e' | '-', _) => typed.push(sign),
            ('⁻', _) => typed.push('-'),
            (_, Some(digit)) => typed.push_str(&digit.to_string()),
            (',', _) => {}
            _ => break,
        }
        rest = &rest[sign.len_utf8()..];
    }
    let typed = typed.trim_end_matches(['.', 'e', '-']);
    typed
        .parse()
        .unwrap_or_else(|_| panic!("no number: {text}"))
}

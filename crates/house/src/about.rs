//! Numbers that need not be exact: two significant digits, and true within a tenth.

/// `number` rounded to two significant digits, with commas, as the documents write it.
pub fn about(number: usize) -> String {
    let digits = number.checked_ilog10().unwrap_or(0) + 1;
    let unit = 10_usize.pow(digits.saturating_sub(2));
    grouped((number + unit / 2) / unit * unit)
}

/// Whether `text` is a number that was rounded like this, and still true of `number`: off by at most a
/// tenth, or by a few lines where a tenth is less than that.
pub fn is_about(text: &str, number: usize) -> bool {
    let Ok(written) = text.replace(',', "").parse::<usize>() else {
        return false;
    };
    text == about(written) && written.abs_diff(number) <= (number / 10).max(5)
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

//! A GPU without memory left ends the program with an error message, not with a panic from deep inside.

/// From now on. The program ends at once, as if it were killed: ledgers and checkpoints are made for that.
#[cfg(feature = "cuda")]
pub fn end_with_a_message() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            match panic.payload_as_str().and_then(words) {
                Some(words) => {
                    eprintln!("error: {words}");
                    std::process::exit(crate::exit_codes::BAD_INPUT.into());
                }
                None => usual(panic),
            }
        }));
    });
}

/// What to say of a panic, if it is for want of memory.
fn words(panic: &str) -> Option<String> {
    let (_, bytes) = panic.split_once("out of device memory allocating ")?;
    let digits: String = bytes.chars().take_while(char::is_ascii_digit).collect();
    let gigabytes = digits.parse::<f64>().ok()? / 1e9;
    Some(format!(
        "the GPU has no memory left (a further {gigabytes:.1} GB were asked for); end what else runs on it, or use \
         a smaller --batch or model. What a run's ledger holds stays spent; resume it by: tacita resume FOLDER"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::words;

    /// As CubeCL 0.11.3 said it on an H200.
    #[test]
    fn want_of_memory_is_told_from_other_panics() {
        let panic = "Error while reading data: use `try_to_data` instead to catch the error at runtime: An error \
                     happened during execution\nCaused by:\n  An IO error happened\nCaused by:\n  out of device memory \
                     allocating 2473590784 bytes\nNo backtrace available";
        let said = words(panic).unwrap();
        assert!(
            said.contains("2.5 GB") && said.contains("tacita resume"),
            "{said}"
        );
        assert_eq!(words("index out of bounds"), None);
    }
}

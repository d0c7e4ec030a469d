//! Numbers as the engines parse them.

/// A whole number of Python's `int`: a sign, underscores between digits, blanks around.
pub(super) fn int(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_int = digits
        .split('_')
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_int {
        return None;
    }
    // Rust's `parse` takes no underscores; a sign in front was checked above, so each `+` is one.
    text.replace(['_', '+'], "").parse().ok()
}

/// A number of tokens of vLLM (vllm/engine/arg_utils.py, human_readable_int): `8192`, `8k`, `1.5k`
/// (thousands), `8K` (times 1024).
pub(super) fn human(text: &str) -> Option<i64> {
    let text = text.trim();
    let Some((at, unit)) = text.char_indices().last().filter(|(_, c)| c.is_ascii_alphabetic())
    else {
        return int(text);
    };
    let (decimal, binary) = match unit.to_ascii_lowercase() {
        'k' => (1_000, 1 << 10),
        'm' => (1_000_000, 1 << 20),
        'g' => (1_000_000_000, 1 << 30),
        't' => (1_000_000_000_000, 1_i64 << 40),
        _ => return None,
    };
    let digits = &text[..at];
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Only the decimal units take a point: vLLM refuses `1.5K`.
    if unit.is_ascii_uppercase() {
        return is_plain(digits).then(|| digits.parse::<i64>().ok()?.checked_mul(binary))?;
    }
    match digits.split_once('.') {
        None => is_plain(digits).then(|| digits.parse::<i64>().ok()?.checked_mul(decimal))?,
        Some((whole, part)) if is_plain(whole) && is_plain(part) => {
            let value = digits.parse::<f64>().ok()?;
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "vLLM multiplies floats too"
            )]
            let tokens = (value * decimal as f64) as i64;
            Some(tokens)
        }
        Some(_) => None,
    }
}

/// A number of Python's `float`; no infinity.
pub(super) fn float(text: &str) -> Option<f64> {
    let text = text.trim().replace('_', "");
    // Python and Rust both take `inf` and `nan`, which are no settings.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|value: &f64| plain && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_engines() {
        for (text, expected) in [
            ("8192", Some(8192)),
            ("8k", Some(8000)),
            ("1.5k", Some(1500)),
            ("8K", Some(8192)),
            ("2M", Some(2 << 20)),
            ("1.5K", None),
            ("-1", Some(-1)),
            ("32_768", Some(32_768)),
            ("1e+06", None),
            ("2.56e+02", None),
            ("1.0", None),
            ("", None),
            ("k", None),
            ("many", None),
            ("99999999999999999999K", None),
        ] {
            assert_eq!(human(text), expected, "{text}");
        }
        assert_eq!(
            (int("8k"), int(" 4 "), int("+4"), int("4_"), int("0x4")),
            (None, Some(4), Some(4), None, None)
        );
        assert_eq!(
            (float("0.9"), float("9e-1"), float("inf"), float("90%")),
            (Some(0.9), Some(0.9), None, None)
        );
    }
}

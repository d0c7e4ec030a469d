//! Words in the place of a value that is filled in later.

/// Whether a text is one word of upper-case letters.
pub fn is_upper(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Words that ask for a value: `REPLACE_ME`, `CHANGEME`, `YOUR_TOKEN_HERE`.
pub fn asks_for_value(text: &str) -> bool {
    let is_shouted = text.len() > 3
        && text.bytes().all(|byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
        });
    is_shouted
        && (["REPLACE", "CHANGEME", "CHANGE_ME", "CHANGE-ME", "YOUR_", "YOUR-"])
            .iter()
            .any(|word| text.starts_with(word))
}

/// Words that stand for a value which an overlay or a hand sets, where no such word is valid.
pub fn stands_for_value(text: &str) -> bool {
    const WORDS: [&str; 11] = [
        "OVERLAY",
        "OVERRIDE",
        "OVERRIDDEN",
        "PLACEHOLDER",
        "TODO",
        "FIXME",
        "TBD",
        "REPLACE",
        "REPLACED",
        "PATCHED",
        "HERE",
    ];
    let is_word = |word: &str| WORDS.iter().any(|listed| word.eq_ignore_ascii_case(listed));
    is_upper(text) && text.split(['_', '-']).any(is_word)
}

/// Whether a text stands in the place of a secret: a placeholder such as `__TOKEN__`, a word for one, or
/// what programs get that need a value and check none.
pub fn stands_for_secret(text: &str) -> bool {
    const UNUSED: [&str; 6] = ["dummy", "empty", "none", "unused", "not-needed", "placeholder"];
    let within = |sign: &str| {
        let inner = text.strip_prefix(sign).and_then(|rest| rest.strip_suffix(sign));
        inner.is_some_and(is_upper)
    };
    // Elsewhere `INSERT_BEFORE` is a value, as of Istio's patches.
    text.starts_with("INSERT_")
        || asks_for_value(text)
        || stands_for_value(text)
        || ["__", "@", "%"].into_iter().any(within)
        // `yourpassword`, `your-token-here`.
        || (text.len() > 6 && text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("your")))
        || UNUSED.iter().any(|word| text.eq_ignore_ascii_case(word))
        || text.chars().all(|c| matches!(c, 'x' | 'X' | '*' | '.'))
}

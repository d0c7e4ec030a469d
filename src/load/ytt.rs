//! Templates of ytt: YAML whose comments are code (carvel.dev, ytt, Language).
//!
//! In: a text. Out: which of its lines are statements, and which values code computes.

use std::ops::Range;

/// The value of a line that code computes: `name: #@ data.values.name`.
pub(super) fn value(line: &str) -> Option<Range<usize>> {
    let start = line.find("#@ ")?;
    let before = line[..start].trim_end();
    // Behind anything else `#@ ` is a comment or a part of a text.
    let is_value = before.ends_with(':') || before.ends_with('-');
    (is_value && !before.trim_start().starts_with('#'))
        .then(|| start..start + line[start..].trim_end().len())
}

/// Whether a line decides if, or how often, the lines below it are written.
pub(super) fn is_statement(line: &str) -> bool {
    const WORDS: [&str; 7] = ["if", "if/end", "elif", "else:", "for", "for/end", "while"];
    let code = line.trim_start().strip_prefix("#@").map(str::trim);
    // A comment in words does not end as a statement does.
    code.filter(|code| code.ends_with(':') || code.ends_with("/end"))
        .is_some_and(|code| code.split(' ').next().is_some_and(|word| WORDS.contains(&word)))
}

/// Whether a text has values or statements of ytt.
pub(super) fn is_in(text: &str) -> bool {
    text.contains("#@") && text.lines().any(|line| value(line).is_some() || is_statement(line))
}

/// The first expression within a text: `(@= data.values.type @)`.
pub(super) fn within(text: &str) -> Option<&str> {
    let start = text.find("(@")?;
    let end = text[start..].find("@)")?;
    Some(&text[start..start + end + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_statements_are_told_from_comments() {
        for (line, expected) in [
            ("  name: #@ data.values.name\n", Some("#@ data.values.name")),
            ("- #@ host\n", Some("#@ host")),
            ("name: a #@ b\n", None),
            ("#@ load(\"x\")\n", None),
            ("# name: #@ x\n", None),
            ("name: #@schema/nullable\n", None),
        ] {
            assert_eq!(value(line).map(|range| &line[range]), expected, "{line}");
        }
        assert!(is_statement("  #@ if/end data.values.labels:"));
        assert!(is_statement("#@ else:") && is_statement("#@ for x in y:"));
        assert!(is_statement("  #@ for/end\r\n") && !is_statement("#@ for later use"));
        assert!(!is_statement("#@ load(\"@ytt:data\", \"data\")") && !is_statement("# if x"));
        assert_eq!(within("a-(@= x @)-b"), Some("(@= x @)"));
        assert!(!is_in("#@ load(\"x\")\na: b\n") && is_in("a:\n- #@ b\n"));
    }
}

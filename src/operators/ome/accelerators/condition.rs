//! Conditions of preferences: `<30B`, `>=4096`, `7B-13B`, `fp8` (OEP-0003, ServingRuntime
//! Extensions; docs/decisions.md#preference-order).

use crate::decision::Truth;
use crate::quantity::ParamCount;
use ecow::EcoString;

/// The subject of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Parameters of the model.
    ModelSize,
    /// Tokens of a request.
    RequestSize,
    /// A word: quantization, modelFormat, modelArchitecture, component.
    Word,
}

/// The subject of a key; none for an unknown key.
pub(crate) fn subject(key: &str) -> Option<Subject> {
    Some(match key {
        "modelSize" => Subject::ModelSize,
        "requestSize" => Subject::RequestSize,
        "quantization" | "modelFormat" | "modelArchitecture" | "component" => Subject::Word,
        _ => return None,
    })
}

/// A parsed condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// Compared with a number.
    Compared(Comparison, f64),
    /// Between two numbers, both included.
    Within(f64, f64),
    /// Equal to a word, or not.
    Is(EcoString, bool),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `=`, `==` or nothing
    Equal,
    /// `!=`
    NotEqual,
}

fn split(text: &str) -> (Comparison, &str) {
    // Longer signs first: `<=` begins with `<`.
    for (sign, comparison) in [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("!=", Comparison::NotEqual),
        ("==", Comparison::Equal),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
        ("=", Comparison::Equal),
    ] {
        if let Some(rest) = text.strip_prefix(sign) {
            return (comparison, rest.trim());
        }
    }
    (Comparison::Equal, text)
}

/// A number of parameters or of tokens.
pub(crate) fn number(subject: Subject, text: &str) -> Option<f64> {
    let text = text.trim();
    match subject {
        Subject::ModelSize => ParamCount::parse(text).ok().map(ParamCount::as_f64),
        Subject::RequestSize => tokens(text),
        Subject::Word => None,
    }
}

/// Tokens; `k` means thousands.
#[expect(clippy::cast_precision_loss, reason = "compared only")]
pub(crate) fn tokens(text: &str) -> Option<f64> {
    match text.strip_suffix(['k', 'K']) {
        // Only with a `k` may a number have a point: `1.5k` is a whole number of tokens.
        Some(thousands) => thousands
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite() && *number >= 0.0)
            .map(|number| number * 1000.0),
        None => text.parse::<u64>().ok().map(|number| number as f64),
    }
}

/// Reads an expression; none when it does not parse.
pub(crate) fn parse(subject: Subject, text: &str) -> Option<Condition> {
    let (comparison, rest) = split(text.trim());
    if subject == Subject::Word {
        return match comparison {
            Comparison::Equal => Some(Condition::Is(rest.into(), true)),
            Comparison::NotEqual => Some(Condition::Is(rest.into(), false)),
            _ => None,
        }
        .filter(|_| !rest.is_empty());
    }
    // A range has no sign in front; in `<7-13` the hyphen makes no number, so that nothing parses.
    if let Some((least, most)) = rest.split_once('-').filter(|_| comparison == Comparison::Equal) {
        let (least, most) = (number(subject, least)?, number(subject, most)?);
        return (least <= most).then_some(Condition::Within(least, most));
    }
    Some(Condition::Compared(comparison, number(subject, rest)?))
}

/// Whether a condition holds for a fact.
#[expect(clippy::float_cmp, reason = "both are parsed from decimal texts by one rule")]
pub(super) fn holds(condition: &Condition, subject: Subject, fact: Option<&str>) -> Truth {
    // Without a fact a condition neither holds nor fails: the preference is shown as unknown.
    let Some(fact) = fact else { return Truth::Unknown };
    let truth = |holds: bool| if holds { Truth::True } else { Truth::False };
    let figure = number(subject, fact);
    match (condition, figure) {
        (Condition::Is(word, wanted), _) => truth(fact.eq_ignore_ascii_case(word) == *wanted),
        // The fact is a text that is no number, as a size `large`: it cannot be compared.
        (_, None) => Truth::Unknown,
        (Condition::Within(least, most), Some(value)) => truth(*least <= value && value <= *most),
        (Condition::Compared(comparison, bound), Some(value)) => truth(match comparison {
            Comparison::Less => value < *bound,
            Comparison::LessOrEqual => value <= *bound,
            Comparison::Greater => value > *bound,
            Comparison::GreaterOrEqual => value >= *bound,
            Comparison::Equal => value == *bound,
            Comparison::NotEqual => value != *bound,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_expressions_are_true_false_unknown_or_invalid() {
        for (subject, text, fact, expected) in [
            (Subject::ModelSize, "<30B", Some("13B"), Some(Truth::True)),
            (Subject::ModelSize, "< 30B", Some("30B"), Some(Truth::False)),
            (Subject::ModelSize, ">70B", Some("70B"), Some(Truth::False)),
            (Subject::ModelSize, "7B-13B", Some("13B"), Some(Truth::True)),
            (Subject::ModelSize, ">=70B", None, Some(Truth::Unknown)),
            (Subject::ModelSize, "thirty", Some("13B"), None),
            (Subject::ModelSize, "13B-7B", Some("10B"), None),
            (Subject::RequestSize, "<2048", Some("1024"), Some(Truth::True)),
            (Subject::RequestSize, ">4k", Some("5000"), Some(Truth::True)),
            (Subject::RequestSize, "<many", Some("1"), None),
            (Subject::Word, "fp8", Some("FP8"), Some(Truth::True)),
            (Subject::Word, "!=fp8", Some("int4"), Some(Truth::True)),
            (Subject::Word, "<fp8", Some("int4"), None),
        ] {
            assert_eq!(
                parse(subject, text).map(|condition| holds(&condition, subject, fact)),
                expected,
                "{text} of {fact:?}"
            );
        }
    }
}

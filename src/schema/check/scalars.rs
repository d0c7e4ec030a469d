//! Checks strings, numbers and quantities against their type, and words the message for a value of
//! the wrong type.

use super::{Check, Place};
use crate::diag::Code;
use crate::quantity::Quantity;
use crate::schema::types::{Rules, Type};
use crate::schema::{hint, pattern};
use crate::yaml::{Node, Value};
use ecow::EcoString;

impl Check<'_> {
    pub(super) fn length(
        &mut self,
        node: &Node,
        length: usize,
        rules: &Rules,
        (what, many): (&str, &str),
        place: &Place<'_>,
    ) {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let what = |count: i64| if count == 1 { what } else { many };
        if let Some(least) = rules.min.filter(|least| length < *least) {
            self.report(Code::InvalidValue, node, place, |path| {
                format!("`{path}` must have at least {least} {}, not {length}", what(least))
            });
        }
        if let Some(most) = rules.max.filter(|most| length > *most) {
            self.report(Code::InvalidValue, node, place, |path| {
                format!("`{path}` must have at most {most} {}, not {length}", what(most))
            });
        }
    }

    pub(super) fn text(&mut self, node: &Node, text: &str, rules: &Rules, place: &Place<'_>) {
        // An accepted value needs no look at length and pattern.
        if !rules.choices.is_empty() {
            let words: Vec<&str> =
                rules.choices.iter().map(|word| word.trim_matches('"')).collect();
            if !words.contains(&text) {
                self.unsupported(node, text, &words, place);
            }
            return;
        }
        // OpenAPI counts characters and not bytes.
        let length = text.chars().count();
        self.length(node, length, rules, ("character", "characters"), place);
        if let Some(pattern) =
            rules.pattern.and_then(|pattern| serde_json::from_str::<String>(pattern).ok())
            && !pattern::matches(&pattern, text)
        {
            self.report(Code::InvalidValue, node, place, |path| {
                format!("`{path}`: `{text}` does not match `{pattern}`")
            });
        }
    }

    pub(super) fn unsupported(
        &mut self,
        node: &Node,
        value: &str,
        words: &[&str],
        place: &Place<'_>,
    ) {
        let help = hint::choices(value, words);
        self.report(Code::InvalidValue, node, place, |path| {
            format!("`{path}`: unsupported value `{value}`")
        })
        .help = Some(help);
    }

    pub(super) fn integer(
        &mut self,
        node: &Node,
        number: i64,
        range: (i64, i64),
        rules: Option<&Rules>,
        place: &Place<'_>,
    ) {
        let (least, most) = rules
            .map_or(range, |rules| (rules.min.unwrap_or(range.0), rules.max.unwrap_or(range.1)));
        if let Some(rules) = rules.filter(|rules| !rules.choices.is_empty()) {
            let text = number.to_string();
            if !rules.choices.contains(&text.as_str()) {
                self.unsupported(node, &text, &rules.choices, place);
            }
        } else if number < least {
            self.report(Code::InvalidValue, node, place, |path| {
                format!("`{path}` must be at least {least}, not {number}")
            });
        } else if number > most {
            self.report(Code::InvalidValue, node, place, |path| {
                format!("`{path}` must be at most {most}, not {number}")
            });
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "bounds of numbers are small")]
    pub(super) fn number(&mut self, node: &Node, rules: Option<&Rules>, place: &Place<'_>) {
        let value = match node.value {
            Value::Int(number) => number as f64,
            Value::Big(number) => number as f64,
            Value::Float(number) => number,
            _ => return,
        };
        let Some(rules) = rules else { return };
        if let Some(least) = rules.min.filter(|least| value < *least as f64) {
            self.report(Code::InvalidValue, node, place, |path| {
                format!("`{path}` must be at least {least}, not {value}")
            });
        }
        if let Some(most) = rules.max.filter(|most| value > *most as f64) {
            self.report(Code::InvalidValue, node, place, |path| {
                format!("`{path}` must be at most {most}, not {value}")
            });
        }
    }

    pub(super) fn quantity(&mut self, node: &Node, text: &str, place: &Place<'_>) {
        // The library also takes a unit without a number for zero; the pattern of every CRD does
        // not, and a bare unit is never intended.
        let number = text.trim_start_matches(['+', '-']).trim_start_matches('.');
        if !number.starts_with(|c: char| c.is_ascii_digit()) || Quantity::parse(text).is_err() {
            let help = hint::quantity(text);
            self.report(Code::InvalidQuantity, node, place, |path| {
                format!("`{path}`: `{text}` is not a quantity")
            })
            .help = Some(help);
        }
    }

    /// A short scalar as it is written, without the quotes of text.
    pub(super) fn written(&self, node: &Node) -> Option<EcoString> {
        let value = node.scalar_text()?;
        // The tree has `0x10` as 16; the message quotes what the user wrote.
        let span = node.origin.span().filter(|_| node.as_str().is_none());
        let text = span
            .map(|span| self.sources.text(span))
            .filter(|text| !text.is_empty())
            .map_or(value, EcoString::from);
        Some(text).filter(|text| text.len() <= 60 && !text.contains('\n'))
    }

    pub(super) fn mistyped(&mut self, node: &Node, ty: &Type, place: &Place<'_>) {
        let expected = expected(ty);
        let written = self.written(node);
        // kubectl reads 1.0 as the integer 1; whoever wrote it sees a number.
        let found = if matches!(node.value, Value::Int(_))
            && written.as_ref().is_some_and(|text| text.contains('.'))
        {
            "a number"
        } else {
            node.kind_name()
        };
        let message = written
            .as_ref()
            .map_or_else(|| format!("not {found}"), |text| format!("`{text}` is {found}"));
        let finding = self.report(Code::InvalidType, node, place, |path| {
            format!("`{path}` must be {expected}, {message}")
        });
        let (help, fix) = hint::mistyped(node, ty, written.as_deref());
        finding.help = help;
        finding.fix = fix;
    }
}

/// A type in the words of a message.
pub(super) fn expected(ty: &Type) -> &'static str {
    match ty {
        Type::Object(_) | Type::Map(_) => "a mapping",
        Type::List(_) => "a list",
        Type::Str(_) | Type::Time | Type::Bytes => "a string",
        Type::Int(_) | Type::Int32(_) => "an integer",
        Type::Number(_) => "a number",
        Type::Bool => "a boolean",
        Type::Quantity => "a quantity",
        Type::IntOrString(_) => "an integer or a string",
        Type::Loose => "a string or a number",
        Type::Any => "anything",
    }
}

/// Whether a text is a date and time of RFC 3339.
pub(super) fn is_time(text: &str) -> bool {
    let shape = |text: &str, form: &str| {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(c, form)| {
                if form == b'0' { c.is_ascii_digit() } else { c.eq_ignore_ascii_case(&form) }
            })
    };
    let Some((date, rest)) = text.split_at_checked(19) else { return false };
    let number = |range: std::ops::Range<usize>| date[range].parse::<u32>().unwrap_or(u32::MAX);
    if !shape(date, "0000-00-00T00:00:00") {
        return false;
    }
    let (year, month) = (number(0..4), number(5..7));
    let days = match month {
        // Go's parser checks the day against the month.
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    // Go refuses a second of 60, too.
    if !(1..=days).contains(&number(8..10))
        || number(11..13) > 23
        || number(14..16) > 59
        || number(17..19) > 59
    {
        return false;
    }
    // A fraction has a digit; Go takes a comma before it, too.
    let rest = match rest.strip_prefix(['.', ',']) {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => {
            fraction.trim_start_matches(|c: char| c.is_ascii_digit())
        }
        _ => rest,
    };
    shape(rest, "Z") || shape(rest, "+00:00") || shape(rest, "-00:00")
}

/// Whether a text is padded base64; line breaks are passed over, as Go does.
pub(super) fn is_base64(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/'))
}

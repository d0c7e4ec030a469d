//! Label selectors, as after `-l`.
//!
//! In: `app=demo,tier in (a,b),!canary`. Out: requirements that labels meet or not, and the
//! canonical text. Grammar and words of errors are those of `k8s.io/apimachinery/pkg/labels`.

use super::field_error::FieldError;
use super::names;
use ecow::{EcoString, EcoVec};
use std::collections::BTreeSet;
use std::fmt;

/// How a label must relate to the values of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SelectorOperator {
    /// `in (…)`: one of the values.
    In,
    /// `notin (…)`: none of the values, or no such label.
    NotIn,
    /// `=`: the value.
    Equals,
    /// `==`: the value.
    DoubleEquals,
    /// `!=`: not the value, or no such label.
    NotEquals,
    /// `>`: an integer above the value.
    GreaterThan,
    /// `<`: an integer below the value.
    LessThan,
    /// The bare key: any value.
    Exists,
    /// `!` before the key: no such label.
    DoesNotExist,
}

impl SelectorOperator {
    /// The operator between key and values.
    fn sign(self) -> &'static str {
        match self {
            Self::In => " in ",
            Self::NotIn => " notin ",
            Self::Equals => "=",
            Self::DoubleEquals => "==",
            Self::NotEquals => "!=",
            Self::GreaterThan => ">",
            Self::LessThan => "<",
            Self::Exists | Self::DoesNotExist => "",
        }
    }
}

/// Why a text is no selector, in the library's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

impl SelectorError {
    fn expected(found: &str, expected: &str) -> Self {
        Self(format!("found '{found}', expected: {expected}"))
    }

    fn in_requirement(self) -> Self {
        Self(format!("unable to parse requirement: {}", self.0))
    }
}

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    key: EcoString,
    operator: SelectorOperator,
    /// Sorted, each once.
    values: EcoVec<EcoString>,
}

impl Requirement {
    /// A condition with a key, values and a number of values that are valid for the operator.
    pub fn new(
        key: impl Into<EcoString>,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = EcoString>,
    ) -> Result<Self, SelectorError> {
        use SelectorOperator as Op;
        let key = key.into();
        let values: EcoVec<EcoString> =
            // Sorted and without repetitions, which is the canonical text.
            values.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut errors = Vec::new();
        let wrong = names::label_key(&key);
        if !wrong.is_empty() {
            errors.push(FieldError::invalid(&key, wrong.join("; ")).at("key"));
        }
        let count = match operator {
            Op::In | Op::NotIn => values
                .is_empty()
                .then_some("for 'in', 'notin' operators, values set can't be empty"),
            Op::Equals | Op::DoubleEquals | Op::NotEquals => {
                (values.len() != 1).then_some("exact-match compatibility requires one single value")
            }
            Op::Exists | Op::DoesNotExist => (!values.is_empty())
                .then_some("values set must be empty for exists and does not exist"),
            Op::GreaterThan | Op::LessThan => (values.len() != 1)
                .then_some("for 'Gt', 'Lt' operators, exactly one value is required"),
        };
        errors
            .extend(count.map(|detail| FieldError::invalid(values.join(","), detail).at("values")));
        if matches!(operator, Op::GreaterThan | Op::LessThan) {
            let wrong =
                values.iter().enumerate().filter(|(_, value)| value.parse::<i64>().is_err());
            errors.extend(wrong.map(|(index, value)| {
                FieldError::invalid(value, "for 'Gt', 'Lt' operators, the value must be an integer")
                    .at(&format!("values[{index}]"))
            }));
        }
        for (index, value) in values.iter().enumerate() {
            let wrong = names::label_value(value);
            if !wrong.is_empty() {
                errors.push(
                    FieldError::invalid(value, wrong.join("; "))
                        .at(&format!("values[{index}][{key}]")),
                );
            }
        }
        match errors.as_slice() {
            [] => Ok(Self { key, operator, values }),
            [one] => Err(SelectorError(one.clone())),
            several => Err(SelectorError(format!("[{}]", several.join(", ")))),
        }
    }

    /// Key of the label.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The relation requested.
    pub fn operator(&self) -> SelectorOperator {
        self.operator
    }

    /// The values, sorted.
    pub fn values(&self) -> &[EcoString] {
        &self.values
    }

    /// Whether the value of the label, `None` when the object has no such label, meets the
    /// condition.
    pub fn matches(&self, value: Option<&str>) -> bool {
        use SelectorOperator as Op;
        let listed = || value.is_some_and(|value| self.values.iter().any(|other| other == value));
        match self.operator {
            Op::In | Op::Equals | Op::DoubleEquals => listed(),
            Op::NotIn | Op::NotEquals => !listed(),
            Op::Exists => value.is_some(),
            Op::DoesNotExist => value.is_none(),
            Op::GreaterThan | Op::LessThan => {
                let integer = |text: &str| text.parse::<i64>().ok();
                match (
                    value.and_then(integer),
                    self.values.first().and_then(|bound| integer(bound)),
                ) {
                    (Some(value), Some(bound)) => {
                        if self.operator == Op::GreaterThan {
                            value > bound
                        } else {
                            value < bound
                        }
                    }
                    _ => false,
                }
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.operator == SelectorOperator::DoesNotExist { "!" } else { "" };
        let (open, close) =
            if matches!(self.operator, SelectorOperator::In | SelectorOperator::NotIn) {
                ("(", ")")
            } else {
                ("", "")
            };
        write!(f, "{not}{}{}{open}{}{close}", self.key, self.operator.sign(), self.values.join(","))
    }
}

/// Conditions that must all be met. Without any, everything is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector {
    /// Sorted by key; those of one key in the order written.
    requirements: EcoVec<Requirement>,
}

impl Selector {
    /// The selector of these conditions.
    pub fn new(requirements: impl IntoIterator<Item = Requirement>) -> Self {
        let mut requirements: EcoVec<Requirement> = requirements.into_iter().collect();
        // A stable sort: conditions of one key keep their order.
        requirements.make_mut().sort_by(|a, b| a.key.cmp(&b.key));
        Self { requirements }
    }

    /// Reads a selector. The empty text selects everything.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        Parser { tokens: scan(text), position: 0 }.selector()
    }

    /// Whether nothing is requested.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The conditions, sorted by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether labels meet all conditions. `label` answers the value of a key.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }
}

impl fmt::Display for Selector {
    /// Writes the canonical form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Self::parse(text)
    }
}

/// A sign, a word or the end. Whatever is not a sign is a word; `in` and `notin` are words where a
/// value may be.
type Token<'a> = &'a str;

/// The token that ends every list of tokens.
const END: Token<'static> = "";

fn is_sign(token: Token<'_>) -> bool {
    token.starts_with(is_special)
}

fn is_word(token: Token<'_>) -> bool {
    token != END && !is_sign(token)
}

fn is_special(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

/// Splits a text into tokens. Never fails: everything except signs and white space is a word.
fn scan(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let end = match rest.chars().next() {
            // Quirk: a null character is the end where a token would begin, and lost where one
            // ends.
            None | Some('\0') => return tokens,
            Some(c) if is_special(c) => {
                // The longer sign first; `=!` is two signs.
                let double = rest.starts_with("==") || rest.starts_with("!=");
                1 + usize::from(double)
            }
            Some(_) => rest
                .find(|c: char| is_special(c) || matches!(c, ' ' | '\t' | '\r' | '\n' | '\0'))
                .unwrap_or(rest.len()),
        };
        tokens.push(&rest[..end]);
        rest = &rest[end..];
        rest = rest.strip_prefix('\0').unwrap_or(rest);
    }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn look(&self) -> Token<'a> {
        self.tokens.get(self.position).copied().unwrap_or(END)
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.look();
        self.position += 1;
        token
    }

    fn selector(mut self) -> Result<Selector, SelectorError> {
        let mut requirements = Vec::new();
        let token = self.look();
        if token == END {
            return Ok(Selector::default());
        }
        if !is_word(token) && token != "!" {
            return Err(SelectorError::expected(token, "!, identifier, or 'end of string'"));
        }
        loop {
            requirements.push(self.requirement().map_err(SelectorError::in_requirement)?);
            match self.take() {
                END => return Ok(Selector::new(requirements)),
                "," => {
                    let next = self.look();
                    if !is_word(next) && next != "!" {
                        return Err(SelectorError::expected(next, "identifier after ','"));
                    }
                }
                other => return Err(SelectorError::expected(other, "',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        use SelectorOperator as Op;
        let absent = self.look() == "!";
        if absent {
            self.take();
        }
        let key = self.take();
        if !is_word(key) {
            return Err(SelectorError::expected(key, "identifier"));
        }
        let wrong = names::label_key(key);
        if !wrong.is_empty() {
            // Upstream prints its missing path.
            return Err(SelectorError(FieldError::invalid(key, wrong.join("; ")).at("<nil>")));
        }
        // After `!key` nothing but a comma may follow, which the caller checks.
        if absent || matches!(self.look(), END | ",") {
            return Requirement::new(key, if absent { Op::DoesNotExist } else { Op::Exists }, []);
        }
        let operator = match self.take() {
            "in" => Op::In,
            "notin" => Op::NotIn,
            "=" => Op::Equals,
            "==" => Op::DoubleEquals,
            "!=" => Op::NotEquals,
            ">" => Op::GreaterThan,
            "<" => Op::LessThan,
            other => return Err(SelectorError::expected(other, "in, notin, =, ==, !=, gt, lt")),
        };
        let values =
            if matches!(operator, Op::In | Op::NotIn) { self.list()? } else { vec![self.value()?] };
        Requirement::new(key, operator, values.into_iter().map(EcoString::from))
    }

    /// The value after a sign; nothing is the empty value.
    fn value(&mut self) -> Result<Token<'a>, SelectorError> {
        if matches!(self.look(), END | ",") {
            return Ok("");
        }
        let token = self.take();
        if is_word(token) { Ok(token) } else { Err(SelectorError::expected(token, "identifier")) }
    }

    /// Values in parentheses; a missing value beside a comma is empty.
    fn list(&mut self) -> Result<Vec<Token<'a>>, SelectorError> {
        let open = self.take();
        if open != "(" {
            return Err(SelectorError(format!("found '{open}' expected: '('")));
        }
        let first = self.look();
        if first == ")" {
            self.take();
            return Ok(vec![""]);
        }
        if !is_word(first) && first != "," {
            return Err(SelectorError::expected(first, "',', ')' or identifier"));
        }
        let mut values = Vec::new();
        loop {
            let token = self.take();
            if is_word(token) {
                values.push(token);
                match self.look() {
                    "," => {}
                    ")" => break,
                    other => return Err(SelectorError::expected(other, "',' or ')'")),
                }
            } else if token == "," {
                // A comma in front of all values stands behind an empty one.
                if values.is_empty() {
                    values.push("");
                }
                match self.look() {
                    ")" => {
                        values.push("");
                        break;
                    }
                    "," => {
                        self.take();
                        values.push("");
                    }
                    _ => {}
                }
            } else {
                return Err(SelectorError::expected(token, "',', or identifier"));
            }
        }
        self.take();
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn selectors_match_labels_by_operator() {
        let labels = |key: &str| match key {
            "app" => Some("demo"),
            "tier" => Some("a"),
            "gpus" => Some("8"),
            "empty" => Some(""),
            _ => None,
        };
        for (text, expected) in [
            ("", true),
            ("app=demo", true),
            ("app==other", false),
            ("app!=other", true),
            ("missing!=x", true),
            ("missing=", false),
            ("empty=", true),
            ("app", true),
            ("!app", false),
            ("!missing", true),
            ("tier in (b,a)", true),
            ("tier notin (a)", false),
            ("missing notin (a)", true),
            ("gpus>7,gpus<9", true),
            ("gpus>8", false),
            ("app>1", false),
            ("missing<1", false),
            ("app=demo,tier=b", false),
        ] {
            assert_eq!(Selector::parse(text).unwrap().matches(labels), expected, "{text}");
        }
    }

    #[test]
    fn requirements_with_invalid_values_or_keys_are_refused() {
        let new = |key: &str, operator, values: &[&str]| {
            Requirement::new(key, operator, values.iter().map(|value| EcoString::from(*value)))
        };
        assert!(new("a", SelectorOperator::In, &["x"]).is_ok());
        assert!(new("a", SelectorOperator::In, &[]).is_err());
        assert!(new("a", SelectorOperator::Exists, &["x"]).is_err());
        assert!(new("a", SelectorOperator::GreaterThan, &["1", "2"]).is_err());
        assert!(new("-a", SelectorOperator::Exists, &[]).is_err());
    }

    proptest! {
        #[test]
        fn canonical_text_reads_as_the_same_selector(text in "[ab=!,()<>1 ]{0,30}|[a-c]{1,2} (in|notin) \\([a-c, ]{0,6}\\)(,!?[a-c])?") {
            if let Ok(selector) = Selector::parse(&text) {
                prop_assert_eq!(Selector::parse(&selector.to_string()), Ok(selector));
            }
        }

        #[test]
        fn no_text_is_a_panic(text in ".*") {
            let _ = Selector::parse(&text);
        }
    }
}

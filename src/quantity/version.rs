//! Versions of model formats and frameworks, by both rules.
//!
//! In: the two texts that are at `version`, and the operator. Out: whether the runtime admits the
//! model, and if not, why. Nothing here is semantic versioning: to the controller `1.0.0-rc1` is
//! greater than `1.0.0`, and the documents compare at the precision the runtime writes.

use ecow::EcoString;
use std::cmp::Ordering;
use std::fmt;

/// A numbered part of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first number.
    Major,
    /// The second number.
    Minor,
    /// The third number.
    Patch,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Major => "major",
            Self::Minor => "minor",
            Self::Patch => "patch",
        })
    }
}

/// Why a text is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Nothing is written.
    #[error("the version is empty")]
    Empty,
    /// A part is empty or has something other than digits.
    #[error("the {part} part `{text}` is not a number")]
    NotNumber {
        /// The part.
        part: Part,
        /// The text.
        text: EcoString,
    },
    /// A part has a zero before its number; to the controller alone an error.
    #[error("the {part} part `{text}` has a leading zero")]
    LeadingZero {
        /// The part.
        part: Part,
        /// The text.
        text: EcoString,
    },
    /// A part does not fit 64 bits.
    #[error("the {part} part `{text}` is too large")]
    TooLarge {
        /// The part.
        part: Part,
        /// The text.
        text: EcoString,
    },
    /// Nothing follows a `-`, `+` or `.` after the numbers.
    #[error("the suffix after the numbers has an empty part")]
    EmptySuffix,
}

/// The comparison of a runtime's version with the model's (`modelFormat.operator`); the documents
/// have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// Equal; also when nothing is written.
    #[default]
    Equal,
    /// The runtime's version must exceed the model's.
    GreaterThan,
    /// The runtime's version must reach the model's.
    GreaterThanOrEqual,
    /// Any other text: equality, but only between versions of equal precision and prefix.
    Other,
}

impl Operator {
    /// The operator of a field that may be absent. The spelling is exact.
    pub fn parse(text: Option<&str>) -> Self {
        match text {
            None | Some("Equal") => Self::Equal,
            Some("GreaterThan") => Self::GreaterThan,
            Some("GreaterThanOrEqual") => Self::GreaterThanOrEqual,
            Some(_) => Self::Other,
        }
    }
}

/// Why a runtime's version does not admit a model's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionMismatch {
    /// The versions are not equal.
    #[error("the versions differ")]
    Different,
    /// Only one of the versions begins with `v`, which the operator does not allow.
    #[error("only one of the versions begins with `v`")]
    Prefix,
    /// The versions have different numbers of parts, which the operator does not allow.
    #[error("the versions are written with different precision")]
    Precision,
    /// The operator is `GreaterThan`.
    #[error("the runtime's version is not greater than the model's")]
    NotGreater,
    /// The operator is `GreaterThanOrEqual`.
    #[error("the runtime's version is less than the model's")]
    Less,
}

/// A version by the grammar of the shipped controller (pkg/runtimeselector/matcher.go,
/// compareSupportedModelFormats, upstream `pkg/modelver/util.go`):
/// `[v]MAJOR[.MINOR[.PATCH[.DEV][-PRE][+BUILD]]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    /// Elements after `-`, after `+`, and after the third dot, in the order of comparison.
    suffixes: [Vec<EcoString>; 3],
    precision: usize,
    prefixed: bool,
}

impl Version {
    /// Reads a version as the controller does.
    ///
    /// `4.43.0.dev0`, `1.2.3.4`, `1.2.3-a.b+c.d` and `v1` are versions; `V1`, `1.`, `01`, `1.2-rc`,
    /// `1.2.3a`, `1.2.3-` are not.
    pub fn parse_controller(text: &str) -> Result<Self, VersionError> {
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        // Dots behind the second one belong to the suffixes.
        let mut parts = text.splitn(3, '.');
        let written = parts.next().unwrap_or("");
        let major = written.strip_prefix('v').unwrap_or(written);
        let (minor, tail) = (parts.next(), parts.next());
        let precision = 1 + usize::from(minor.is_some()) + usize::from(tail.is_some());
        // From the right: the build can have any characters, the rest no `+`, and the version
        // numbers no `-`.
        let (tail, build) = cut(tail.unwrap_or("0"), '+');
        let (tail, pre) = cut(tail, '-');
        let (patch, dev) = cut(tail, '.');
        let numbers = [
            controller_number(major, Part::Major)?,
            controller_number(minor.unwrap_or("0"), Part::Minor)?,
            controller_number(patch, Part::Patch)?,
        ];
        let suffixes = [elements(pre)?, elements(build)?, elements(dev)?];
        Ok(Self { numbers, suffixes, precision, prefixed: written.starts_with('v') })
    }

    /// Whether anything is after the three numbers. Such versions are compared for equality
    /// only.
    fn is_unofficial(&self) -> bool {
        self.suffixes.iter().any(|list| !list.is_empty())
    }

    /// Whether all three numbers are written, and nothing before them: all that OME read before
    /// v0.1.5 (pkg/modelver/util.go, Parse).
    pub fn is_three_numbers(&self) -> bool {
        self.precision == 3 && !self.prefixed
    }

    /// Whether a runtime of this version serves a model of that version: unofficial versions and
    /// `Equal` request equality whatever the spelling; all other operators request equal precision
    /// and prefix first (pkg/runtimeselector/matcher.go, compareSupportedModelFormats; OME docs,
    /// Serving Runtime, Core Configuration; docs/decisions.md#version-precision).
    pub fn admits(&self, operator: Operator, model: &Self) -> Result<(), VersionMismatch> {
        let order = self.compare(model);
        // An order between versions with suffixes has no meaning that the controller would rely on.
        let exact = operator == Operator::Equal || self.is_unofficial() || model.is_unofficial();
        let failure = if exact {
            (order != Ordering::Equal).then_some(VersionMismatch::Different)
        } else if self.precision != model.precision {
            Some(VersionMismatch::Precision)
        } else if self.prefixed != model.prefixed {
            Some(VersionMismatch::Prefix)
        } else {
            match operator {
                Operator::GreaterThan => {
                    (order != Ordering::Greater).then_some(VersionMismatch::NotGreater)
                }
                Operator::GreaterThanOrEqual => {
                    (order == Ordering::Less).then_some(VersionMismatch::Less)
                }
                Operator::Equal | Operator::Other => {
                    (order != Ordering::Equal).then_some(VersionMismatch::Different)
                }
            }
        };
        failure.map_or(Ok(()), Err)
    }

    /// Whether some model's version is admitted by this version and by another, each with its
    /// operator.
    ///
    /// If there is one, one of these is: the numbers of either version or zero, which is the least
    /// of all, written with the precision and prefix of either.
    pub fn shares_a_model(&self, operator: Operator, other: (&Self, Operator)) -> bool {
        let (theirs, their_operator) = other;
        // `GreaterThan` admits every lesser version, and 0 is the least.
        let zero = Self { numbers: [0; 3], suffixes: Default::default(), ..self.clone() };
        [self, theirs, &zero].into_iter().any(|numbers| {
            let mut spellings = [self, theirs].into_iter().filter_map(|like| numbers.spelled(like));
            spellings.any(|model| {
                self.admits(operator, &model).is_ok()
                    && theirs.admits(their_operator, &model).is_ok()
            })
        })
    }

    /// The version with the precision and prefix of another; none if that leaves out a number.
    fn spelled(&self, like: &Self) -> Option<Self> {
        // Suffixes follow the third number, so such a version cannot be shorter.
        let kept = if self.is_unofficial() { 3 } else { like.precision };
        self.numbers[kept..].iter().all(|number| *number == 0).then(|| Self {
            precision: kept,
            prefixed: like.prefixed,
            ..self.clone()
        })
    }

    /// The controller's order: numbers, then suffixes by bytes, a missing suffix first; precision
    /// and `v` mean nothing.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| self.suffixes.cmp(&other.suffixes))
    }
}

/// Splits at the first `mark`.
fn cut(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(left, right)| (left, Some(right)))
}

fn elements(list: Option<&str>) -> Result<Vec<EcoString>, VersionError> {
    let Some(list) = list else { return Ok(Vec::new()) };
    if list.split('.').any(str::is_empty) {
        Err(VersionError::EmptySuffix)
    } else {
        Ok(list.split('.').map(EcoString::from).collect())
    }
}

fn number(text: &str, part: Part) -> Result<u64, VersionError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(VersionError::NotNumber { part, text: text.into() });
    }
    text.parse().map_err(|_| VersionError::TooLarge { part, text: text.into() })
}

fn controller_number(text: &str, part: Part) -> Result<u64, VersionError> {
    let value = number(text, part);
    if text.len() > 1
        && text.starts_with('0')
        && !matches!(value, Err(VersionError::NotNumber { .. }))
    {
        return Err(VersionError::LeadingZero { part, text: text.into() });
    }
    value
}

/// A version by the documents (OME docs, Serving Runtime, Core Configuration;
/// docs/decisions.md#version-precision): one to three numbers with dots between, then a suffix or
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentedVersion {
    /// One to three numbers.
    numbers: Vec<u64>,
    /// The text after the numbers, including its first sign; empty without a suffix.
    suffix: EcoString,
}

impl DocumentedVersion {
    /// Whether a runtime of this version serves a model of that version: only the parts in the
    /// runtime's version are compared, parts that the model omits are 0, and a suffix of the
    /// runtime must be equal to the model's (OME docs, Serving Runtime, Core Configuration;
    /// docs/decisions.md#version-precision).
    pub fn admits(&self, model: &Self) -> bool {
        let parts = model.numbers.iter().copied().chain(std::iter::repeat(0));
        let equal = self.numbers.iter().copied().zip(parts).all(|(ours, theirs)| ours == theirs);
        equal && (self.suffix.is_empty() || self.suffix == model.suffix)
    }
}

/// Reads a version by the documented rule.
///
/// A suffix begins with `-` or `+`, or with a dot after three numbers: `4.45.0.dev0`, `1.0.0-rc1`.
/// Anything else that is not numbers and dots (`1.x`, `v1`, `main`, `1.2.3a`) is an error.
pub fn validate_documented(text: &str) -> Result<DocumentedVersion, VersionError> {
    if text.is_empty() {
        return Err(VersionError::Empty);
    }
    let mut numbers = Vec::new();
    let mut rest = text;
    for part in [Part::Major, Part::Minor, Part::Patch] {
        let end = rest.find(['.', '-', '+']).unwrap_or(rest.len());
        numbers.push(number(&rest[..end], part)?);
        rest = &rest[end..];
        match rest.strip_prefix('.') {
            // A dot behind the third number begins a suffix.
            Some(next) if part != Part::Patch => rest = next,
            _ => break,
        }
    }
    if rest.len() == 1 || rest.split(['.', '-', '+']).skip(1).any(str::is_empty) {
        return Err(VersionError::EmptySuffix);
    }
    Ok(DocumentedVersion { numbers, suffix: rest.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches_controller(
        runtime: &str,
        operator: Operator,
        model: &str,
    ) -> Result<(), VersionMismatch> {
        let [runtime, model] =
            [runtime, model].map(|text| Version::parse_controller(text).unwrap());
        runtime.admits(operator, &model)
    }

    fn matches_documented(runtime: &str, model: &str) -> bool {
        let [runtime, model] = [runtime, model].map(|text| validate_documented(text).unwrap());
        runtime.admits(&model)
    }

    // pkg/runtimeselector, T10, and 2.4.
    #[test]
    fn controller_version_matching_follows_the_operator() {
        for (runtime, model, operator, expected) in [
            ("1", "1.0.0", "Equal", Ok(())),
            ("1", "1.0.0", "GreaterThanOrEqual", Err(VersionMismatch::Precision)),
            ("v1", "1", "Equal", Ok(())),
            ("v1", "1", "GreaterThanOrEqual", Err(VersionMismatch::Prefix)),
            ("2.0.0", "1.9.9", "GreaterThan", Ok(())),
            ("1.0.0", "1.0.0", "GreaterThan", Err(VersionMismatch::NotGreater)),
            ("1.0.0", "1.0.0", "GreaterThanOrEqual", Ok(())),
            ("1.0.0", "2.0.0", "GreaterThan", Err(VersionMismatch::NotGreater)),
            ("1.0.0", "2.0.0", "GreaterThanOrEqual", Err(VersionMismatch::Less)),
            ("2.0.0-rc1", "1.0.0", "GreaterThan", Err(VersionMismatch::Different)),
            ("2.0.0.dev0", "2.0.0", "GreaterThanOrEqual", Err(VersionMismatch::Different)),
            ("4.51.0.dev0", "4.51.0.dev0", "GreaterThan", Ok(())),
            ("1.0", "1.0.0", "Bogus", Err(VersionMismatch::Precision)),
            ("1.0", "1.0", "", Ok(())),
        ] {
            assert_eq!(
                matches_controller(runtime, Operator::parse(Some(operator)), model),
                expected,
                "{runtime} {operator} {model}"
            );
        }
        assert_eq!(Operator::parse(None), Operator::Equal);
    }

    /// Every pair of versions and operators, beside a search among all models.
    #[test]
    fn two_versions_share_a_model_if_one_is_admitted_by_both() {
        let texts = [
            "0",
            "1",
            "2",
            "v1",
            "v2",
            "0.0",
            "1.0",
            "1.1",
            "v1.0",
            "0.0.0",
            "1.0.0",
            "1.0.1",
            "2.0.0",
            "v1.0.0",
            "1.0.0-rc1",
            "1.0.0.dev0",
            "v1.0.0-rc1",
        ];
        let versions = texts.map(|text| Version::parse_controller(text).unwrap());
        let numbers = [
            "0", "1", "2", "0.0", "1.0", "1.1", "2.0", "0.0.0", "1.0.0", "1.0.1", "1.1.0", "2.0.0",
        ];
        let unofficial = ["1.0.0-rc1", "1.0.0.dev0"];
        let plain = numbers.into_iter().chain(unofficial);
        let models = plain.flat_map(|text| [text.to_owned(), format!("v{text}")]);
        let models: Vec<Version> =
            models.map(|text| Version::parse_controller(&text).unwrap()).collect();
        let operators =
            [Operator::Equal, Operator::GreaterThan, Operator::GreaterThanOrEqual, Operator::Other];
        let mut shared = 0;
        for (at, one) in versions.iter().enumerate() {
            for (version, other) in versions.iter().enumerate() {
                for (first, second) in operators
                    .into_iter()
                    .flat_map(|operator| operators.map(|other| (operator, other)))
                {
                    let is_admitted = |model: &Version| {
                        one.admits(first, model).is_ok() && other.admits(second, model).is_ok()
                    };
                    let expected = models.iter().any(is_admitted);
                    let found = one.shares_a_model(first, (other, second));
                    shared += usize::from(found);
                    assert_eq!(
                        found, expected,
                        "{first:?} {} and {second:?} {}",
                        texts[at], texts[version]
                    );
                }
            }
        }
        assert!(shared > 500, "{shared}");
    }

    #[test]
    fn controller_versions_parse_with_suffixes_or_fail() {
        let lists = |text: &str| {
            Version::parse_controller(text).unwrap().suffixes.map(|list| list.join(","))
        };
        for (text, expected) in [
            ("4.43.0.dev0", ["", "", "dev0"]),
            ("1.2.3.4", ["", "", "4"]),
            ("1.2.3-a.b+c.d", ["a,b", "c,d", ""]),
            ("1.2.3+b-x", ["", "b-x", ""]),
            ("1.2.3.dev0-x", ["x", "", "dev0"]),
            ("4.51.3-SAM-HQ-preview", ["SAM-HQ-preview", "", ""]),
            ("1.2.3", ["", "", ""]),
        ] {
            assert_eq!(lists(text), expected, "{text}");
        }
        let not_number = |part, text: &str| VersionError::NotNumber { part, text: text.into() };
        for (text, error) in [
            ("", VersionError::Empty),
            ("V1", not_number(Part::Major, "V1")),
            ("vv1", not_number(Part::Major, "v1")),
            ("v", not_number(Part::Major, "")),
            ("1.", not_number(Part::Minor, "")),
            ("01", VersionError::LeadingZero { part: Part::Major, text: "01".into() }),
            ("1.02", VersionError::LeadingZero { part: Part::Minor, text: "02".into() }),
            ("1.2.3a", not_number(Part::Patch, "3a")),
            ("1.2-rc", not_number(Part::Minor, "2-rc")),
            ("1-rc.1", not_number(Part::Major, "1-rc")),
            ("1.2.3.", VersionError::EmptySuffix),
            ("1.2.3-", VersionError::EmptySuffix),
            ("1.2.3+", VersionError::EmptySuffix),
            ("1.2.3-a..b", VersionError::EmptySuffix),
            (
                "18446744073709551616",
                VersionError::TooLarge { part: Part::Major, text: "18446744073709551616".into() },
            ),
        ] {
            assert_eq!(Version::parse_controller(text), Err(error), "{text}");
        }
    }

    // OME docs, Serving Runtime, Core Configuration; docs/decisions.md#version-precision; the rows
    // of documented/s0-match/version-precision.
    #[test]
    fn documented_version_matching_compares_only_the_given_parts() {
        for (runtime, models) in [
            ("1", "1.0.0 1.4.2 1.0.7 1.1.0 1 1.0"),
            ("1.0", "1.0.0 1.0.7 1 1.0"),
            ("1.0.0", "1.0.0 1 1.0"),
        ] {
            for model in ["1.0.0", "1.4.2", "1.0.7", "1.1.0", "1", "1.0", "2.0.0"] {
                let expected = models.split(' ').any(|models| models == model);
                assert_eq!(matches_documented(runtime, model), expected, "{runtime} {model}");
            }
        }
        for (runtime, model, expected) in [
            ("4.45.0.dev0", "4.45.0.dev0", true),
            ("4.45.0.dev0", "4.45.0", false),
            ("4.45.0", "4.45.0.dev0", true),
            ("1.0.0-rc1", "1.0.0-rc2", false),
            ("1-rc1", "1.2.0-rc1", true),
            ("1.02", "1.2", true),
        ] {
            assert_eq!(matches_documented(runtime, model), expected, "{runtime} {model}");
        }
    }

    #[test]
    fn documented_versions_are_accepted_or_refused() {
        for text in [
            "1",
            "1.0",
            "4.36.2",
            "4.45.0.dev0",
            "1.0.0-rc1",
            "1.2.3.4",
            "1.2.3+cu121",
            "1.0-rc1",
            "0.34.0.dev0",
        ] {
            assert!(validate_documented(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "1.x",
            "x",
            "main",
            "v1",
            "1.",
            "1..2",
            ".1",
            "1.2.3a",
            "1.2.x",
            "1 ",
            " 1",
            "1.2.3.",
            "1.2.3-",
            "1.2.3-a..b",
            "1.*",
            ">=1.0",
            "1,0",
            "latest",
            "99999999999999999999",
        ] {
            assert!(validate_documented(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_version_text_is_safe_and_a_valid_version_equals_itself(text in ".*", likely in "v?[0-9.+a-z-]{0,20}") {
            for text in [&text, &likely] {
                if let Ok(version) = Version::parse_controller(text) {
                    prop_assert_eq!(version.compare(&version), Ordering::Equal);
                    prop_assert!(matches_controller(text, Operator::Equal, text).is_ok());
                }
                if validate_documented(text).is_ok() {
                    prop_assert!(matches_documented(text, text));
                }
            }
        }

        #[test]
        fn version_order_is_antisymmetric_and_transitive(a in version(), b in version(), c in version()) {
            let [a, b, c] = [&a, &b, &c].map(|text| Version::parse_controller(text).unwrap());
            prop_assert_eq!(a.compare(&b), b.compare(&a).reverse());
            if a.compare(&b).is_le() && b.compare(&c).is_le() {
                prop_assert!(a.compare(&c).is_le());
            }
        }
    }

    fn version() -> impl Strategy<Value = String> {
        "v?[0-3](\\.[0-3](\\.[0-3](\\.dev[01])?(-[ab](\\.[ab])?)?(\\+[ab])?)?)?"
    }
}

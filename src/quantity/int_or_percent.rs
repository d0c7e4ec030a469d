//! Numbers that may be written as a share of something: `maxUnavailable: 25%`.
//!
//! In: an integer, or a text. Out: a number once the whole is known, rounded as `intstr` of
//! apimachinery does.

use ecow::EcoString;
use std::fmt;

/// An absolute number or a percentage (`intstr.IntOrString` where a percentage is meant).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntOrPercent {
    /// Counts as it is.
    Int(i64),
    /// Hundredths of the whole; may be negative or above 100.
    Percent(i64),
}

/// Which way a share that does not come out even is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the greater number.
    Up,
    /// To the lesser number.
    Down,
}

/// Why a text is no percentage, in the library's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntOrPercentError {
    /// No `%` at the end. A number in quotes is such a text.
    #[error("invalid value for IntOrString: invalid type: string is not a percentage")]
    NotPercent,
    /// No integer before the `%`.
    #[error(
        "invalid value for IntOrString: invalid value {}: strconv.Atoi: parsing {}: invalid syntax",
        super::go_quote(text),
        super::go_quote(number_of(text))
    )]
    NotInteger {
        /// The whole text.
        text: EcoString,
    },
    /// More than 64 bits before the `%`.
    #[error(
        "invalid value for IntOrString: invalid value {}: strconv.Atoi: parsing {}: value out of range",
        super::go_quote(text),
        super::go_quote(number_of(text))
    )]
    OutOfRange {
        /// The whole text.
        text: EcoString,
    },
}

fn number_of(text: &str) -> &str {
    text.strip_suffix('%').unwrap_or(text)
}

impl IntOrPercent {
    /// Reads the text form, which only percentages have: digits with an optional sign, and `%`.
    ///
    /// What the API server's schema takes is narrower; see [`percent`](super::names::percent).
    pub fn parse_percent(text: &str) -> Result<Self, IntOrPercentError> {
        let number = text.strip_suffix('%').ok_or(IntOrPercentError::NotPercent)?;
        // Go's `Atoi` takes one sign; whether the number fits is a question of its own with other
        // words.
        let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(IntOrPercentError::NotInteger { text: text.into() });
        }
        number
            .parse()
            .map(Self::Percent)
            .map_err(|_| IntOrPercentError::OutOfRange { text: text.into() })
    }

    /// The number this stands for when `total` is the whole (`GetScaledValueFromIntOrPercent`).
    /// Upstream computes in floating point, which is exact for every size in use; here beyond
    /// that too, up to the ends of 64 bits.
    pub fn scaled(self, total: i64, rounding: Rounding) -> i64 {
        match self {
            Self::Int(value) => value,
            Self::Percent(percent) => {
                // Two numbers of 64 bits fit into 128.
                let hundredths = i128::from(percent) * i128::from(total);
                // Towards the lesser number, for negative shares as well.
                let floor = hundredths.div_euclid(100);
                let up = rounding == Rounding::Up && hundredths.rem_euclid(100) != 0;
                let value = floor + i128::from(up);
                i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
            }
        }
    }
}

impl fmt::Display for IntOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percentages_are_rounded_up_or_down() {
        for (percent, total, down, up) in [
            (25, 4, 1, 1),
            (25, 5, 1, 2),
            (30, 4, 1, 2),
            (50, 3, 1, 2),
            (0, 7, 0, 0),
            (100, 7, 7, 7),
            (110, 10, 11, 11),
            (-25, 5, -2, -1),
            (33, 0, 0, 0),
        ] {
            let share = IntOrPercent::Percent(percent);
            assert_eq!(
                (share.scaled(total, Rounding::Down), share.scaled(total, Rounding::Up)),
                (down, up),
                "{share} of {total}"
            );
        }
        assert_eq!(IntOrPercent::Int(3).scaled(1, Rounding::Down), 3);
        assert_eq!(IntOrPercent::Percent(i64::MAX).scaled(i64::MAX, Rounding::Up), i64::MAX);
    }

    #[test]
    fn invalid_percentages_fail_with_the_upstream_message() {
        assert_eq!(IntOrPercent::parse_percent("25%"), Ok(IntOrPercent::Percent(25)));
        assert_eq!(IntOrPercent::parse_percent("+5%"), Ok(IntOrPercent::Percent(5)));
        for (text, error) in [
            ("25", "invalid value for IntOrString: invalid type: string is not a percentage"),
            (
                "%",
                r#"invalid value for IntOrString: invalid value "%": strconv.Atoi: parsing "": invalid syntax"#,
            ),
            (
                "1.5%",
                r#"invalid value for IntOrString: invalid value "1.5%": strconv.Atoi: parsing "1.5": invalid syntax"#,
            ),
            (
                "99999999999999999999%",
                r#"invalid value for IntOrString: invalid value "99999999999999999999%": strconv.Atoi: parsing "99999999999999999999": value out of range"#,
            ),
        ] {
            assert_eq!(IntOrPercent::parse_percent(text).unwrap_err().to_string(), error);
        }
    }

    proptest! {
        #[test]
        fn rounding_up_and_down_enclose_the_share(percent in -1000_i64..1000, total in 0_i64..100_000) {
            let share = IntOrPercent::Percent(percent);
            let (down, up) = (share.scaled(total, Rounding::Down), share.scaled(total, Rounding::Up));
            prop_assert!(down * 100 <= percent * total && percent * total <= up * 100 && up - down <= 1);
            prop_assert_eq!(IntOrPercent::parse_percent(&share.to_string()), Ok(share));
        }

        #[test]
        fn no_text_is_a_panic(text in ".*%?") {
            let _ = IntOrPercent::parse_percent(&text).map_err(|error| error.to_string());
        }
    }
}

//! Sizes of models in parameters: `8B`, `671B`, `1.5T`.
//!
//! In: the text of `modelParameterSize` or of a bound of `modelSizeRange`. Out: an exact count, or,
//! by the rule of the controller, whatever number its float parser makes of the text.

use super::go_float;
use std::fmt;

/// A number of parameters, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParamCount(pub u64);

/// Why a text is no number of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamCountError {
    /// Not a decimal number with `K`, `M`, `B`, `T` or nothing after it.
    #[error(
        "a size is a number with K, M, B, T or nothing after it, such as 8B, 0.5B or 7000000000"
    )]
    Syntax,
    /// A fraction of a parameter.
    #[error("the size is not a whole number of parameters")]
    Fraction,
    /// More than 2^64 parameters.
    #[error("the size is too large")]
    TooLarge,
}

/// Units with their powers of ten, the greatest first.
const UNITS: [(char, u32); 4] = [('T', 12), ('B', 9), ('M', 6), ('K', 3)];

impl ParamCount {
    /// Reads a size by the documented rule (OME docs, Serving Runtime, Core Configuration;
    /// docs/decisions.md#size-ranges): a decimal number without sign, `K`, `M`, `B` or `T` for
    /// powers of 1000, no suffix for single parameters.
    ///
    /// `9GB`, `7b`, `8 billion`, `.5B` and `7.B` are no sizes.
    pub fn parse(text: &str) -> Result<Self, ParamCountError> {
        let unit = UNITS.iter().find(|(unit, _)| text.ends_with(*unit));
        let (number, power) =
            unit.map_or((text, 0), |(unit, power)| (text.trim_end_matches(*unit), *power));
        // `trim_end_matches` took several: `8BB` is no size.
        if unit.is_some() && number.len() + 1 != text.len() {
            return Err(ParamCountError::Syntax);
        }
        let (whole, fraction) = match number.split_once('.') {
            Some((_, "")) => return Err(ParamCountError::Syntax),
            Some(parts) => parts,
            None => (number, ""),
        };
        if whole.is_empty()
            || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return Err(ParamCountError::Syntax);
        }
        // Zeros at the end add no precision: `7.000000000000B` is whole.
        let fraction = fraction.trim_end_matches('0');
        let places = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        // More decimals than the unit has zeros leave a part of a parameter.
        let missing = power.checked_sub(places).ok_or(ParamCountError::Fraction)?;
        let mut count = 0_u64;
        for byte in whole.bytes().chain(fraction.bytes()) {
            count = count
                .checked_mul(10)
                .and_then(|count| count.checked_add(u64::from(byte - b'0')))
                .ok_or(ParamCountError::TooLarge)?;
        }
        count.checked_mul(10_u64.pow(missing)).map(Self).ok_or(ParamCountError::TooLarge)
    }

    /// Reads a size as the shipped controller does. A `T`, `B` or `M` at the end is the unit (one
    /// of them, tried in this order); the rest is parsed as a Go float, and is 0 if it is not a
    /// number (pkg/runtimeselector/matcher.go, checkModelSize; OME docs, Serving Runtime, Core
    /// Configuration; docs/decisions.md#size-ranges).
    ///
    /// `7b`, `7K`, `9GB`, ` 7B` and the empty text are 0; `.5B`, `1_000B`, `-5B`, `0x1p3B`, `infB`
    /// and `NaNB` are numbers.
    pub fn parse_controller(text: &str) -> f64 {
        let (number, multiplier) = [('T', 1e12), ('B', 1e9), ('M', 1e6)]
            .into_iter()
            .find_map(|(unit, multiplier)| Some((text.strip_suffix(unit)?, multiplier)))
            .unwrap_or((text, 1.0));
        go_float::parse(number).unwrap_or(0.0) * multiplier
    }

    /// The size that a misspelled one probably means: `7b`, `8 billion`, `9GB`, `1_000M`. `None` if
    /// it is unclear.
    pub fn suggestion(text: &str) -> Option<Self> {
        let plain: String = text
            .chars()
            .filter(|c| !c.is_whitespace() && !matches!(c, '_' | ',' | '+'))
            .collect::<String>()
            .to_uppercase();
        let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
        let (number, unit) = plain.split_at(end);
        let unit = match unit {
            "" => "",
            "K" | "THOUSAND" => "K",
            "M" | "MB" | "MILLION" | "MILLIONS" => "M",
            "B" | "BN" | "G" | "GB" | "BILLION" | "BILLIONS" => "B",
            "T" | "TB" | "TN" | "TRILLION" | "TRILLIONS" => "T",
            _ => return None,
        };
        let number = number.trim_end_matches('.');
        // `.5B` lacks only its zero.
        let zero = if number.starts_with('.') { "0" } else { "" };
        Self::parse(&format!("{zero}{number}{unit}")).ok()
    }

    /// The count as OME's model agent writes it into `modelParameterSize`: two decimals, none when
    /// there are none, and one when two are exact (pkg/hfutil/modelconfig/interface.go,
    /// FormatParamCount).
    pub fn as_agent(self) -> String {
        let Some((unit, value)) = self.in_units() else { return self.0.to_string() };
        if value.fract() == 0.0 {
            format!("{value:.0}{unit}")
        // Upstream prints one decimal here, although two would be exact.
        } else if (value * 100.0).fract() == 0.0 {
            format!("{value:.1}{unit}")
        } else {
            format!("{value:.2}{unit}")
        }
    }

    /// The count to three digits, for people: `12.0B`, `671B`.
    pub fn short(self) -> String {
        let Some((unit, value)) = self.in_units() else { return self.0.to_string() };
        // Bounds of rounding: 9.995 would be printed as 10.00, which has four digits.
        let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        format!("{value:.decimals$}{unit}")
    }

    /// The greatest unit with a value of at least one, and the value.
    fn in_units(self) -> Option<(char, f64)> {
        let (unit, power) = UNITS.iter().find(|(_, power)| self.0 >= 10_u64.pow(*power))?;
        Some((*unit, self.as_f64() / 10_f64.powi(power.cast_signed())))
    }

    /// The count as a floating-point number, as scores use it; exact below 2^53.
    #[expect(clippy::cast_precision_loss, reason = "scores are floating-point numbers upstream")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl fmt::Display for ParamCount {
    /// Writes the greatest unit with a value of at least one, with all decimals:
    /// `8B`, `1.5B`, `999`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((unit, power)) = UNITS.iter().find(|(_, power)| self.0 >= 10_u64.pow(*power))
        else {
            return f.pad(&self.0.to_string());
        };
        let one = 10_u64.pow(*power);
        let (whole, fraction) = (self.0 / one, self.0 % one);
        let decimals = format!("{fraction:0width$}", width = *power as usize);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        f.pad(&format!("{whole}{point}{decimals}{unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_are_written_as_the_model_agent_writes_them() {
        for (count, agent, short) in [
            (8_030_261_248, "8.03B", "8.03B"),
            (11_956_805_184, "11.96B", "12.0B"),
            (20_914_757_184, "20.91B", "20.9B"),
            (7_100_900_096, "7.10B", "7.10B"),
            (7_000_000_000, "7B", "7.00B"),
            (7_500_000_000, "7.5B", "7.50B"),
            // Two exact decimals are written as one.
            (8_250_000_000, "8.2B", "8.25B"),
            (999_999_999, "1000.00M", "1000M"),
            (1_026_408_232_448, "1.03T", "1.03T"),
            (684_531_386_000, "684.53B", "685B"),
            (12_345, "12.35K", "12.3K"),
            (999, "999", "999"),
            (0, "0", "0"),
        ] {
            let count = ParamCount(count);
            assert_eq!((count.as_agent().as_str(), count.short().as_str()), (agent, short));
        }
    }

    // OME docs, Serving Runtime, Core Configuration; docs/decisions.md#size-ranges.
    #[test]
    fn documented_sizes_are_exact() {
        for (text, count) in [
            ("7B", 7_000_000_000),
            ("4.9B", 4_900_000_000),
            ("0.5B", 500_000_000),
            ("7.61562B", 7_615_620_000),
            ("500M", 500_000_000),
            ("7K", 7_000),
            ("1.5T", 1_500_000_000_000),
            ("1100B", 1_100_000_000_000),
            ("7000000000", 7_000_000_000),
            ("1.0", 1),
            ("0", 0),
            ("007B", 7_000_000_000),
        ] {
            assert_eq!(ParamCount::parse(text), Ok(ParamCount(count)), "{text}");
        }
    }

    #[test]
    fn undocumented_size_spellings_are_errors() {
        for text in [
            "",
            "B",
            "7b",
            "9GB",
            "8 billion",
            " 7B",
            "7B ",
            "7 B",
            "+7B",
            "-5B",
            ".5B",
            "7.B",
            "7.",
            ".",
            "7BB",
            "1TB",
            "1_000B",
            "1e9",
            "0x1p3B",
            "infB",
            "1.2.3B",
            "seven",
            "٣B",
        ] {
            assert_eq!(ParamCount::parse(text), Err(ParamCountError::Syntax), "{text}");
        }
        assert_eq!(ParamCount::parse("0.5"), Err(ParamCountError::Fraction));
        assert_eq!(ParamCount::parse("1.0000000001B"), Err(ParamCountError::Fraction));
        assert_eq!(ParamCount::parse("18446744073709551616"), Err(ParamCountError::TooLarge));
        assert_eq!(ParamCount::parse("99999999T"), Err(ParamCountError::TooLarge));
        assert_eq!(ParamCount::parse(&"9".repeat(4_000)), Err(ParamCountError::TooLarge));
        assert_eq!(
            ParamCount::parse(&format!("0.{}B", "1".repeat(4_000))),
            Err(ParamCountError::Fraction)
        );
    }

    #[test]
    fn counts_are_shown_in_the_greatest_unit() {
        for (count, text) in [
            (8_000_000_000, "8B"),
            (671_000_000_000, "671B"),
            (1_500_000_000, "1.5B"),
            (1_040_000_000_000, "1.04T"),
            (7_615_620_000, "7.61562B"),
            (999, "999"),
            (1_000, "1K"),
            (1_001, "1.001K"),
            (0, "0"),
        ] {
            assert_eq!(ParamCount(count).to_string(), text);
        }
    }

    #[test]
    fn slips_get_a_suggestion() {
        for (text, meant) in [
            ("7b", Some("7B")),
            ("8 billion", Some("8B")),
            ("9GB", Some("9B")),
            (".5B", Some("500M")),
            ("7.B", Some("7B")),
            ("1,000 m", Some("1B")),
            ("seven", None),
            ("-5B", None),
            ("", None),
        ] {
            assert_eq!(
                ParamCount::suggestion(text).map(|count| count.to_string()).as_deref(),
                meant,
                "{text}"
            );
        }
    }

    // pkg/runtimeselector/matcher.go, checkModelSize.
    #[test]
    fn the_controller_reads_go_floats() {
        for (text, expected) in [
            ("7b", 0.0),
            ("7 B", 0.0),
            (" 7B", 0.0),
            ("7K", 0.0),
            ("7GB", 0.0),
            ("1TB", 0.0),
            ("", 0.0),
            ("B", 0.0),
            ("1e400B", 0.0),
            ("0xB", 0.0),
            ("7B", 7e9),
            ("+7B", 7e9),
            (".5B", 5e8),
            ("7.B", 7e9),
            ("1e3M", 1e9),
            ("-5B", -5e9),
            ("1_000B", 1e12),
            ("0x1p3B", 8e9),
            ("infB", f64::INFINITY),
            ("2T", 2e12),
            ("7000000000", 7e9),
        ] {
            assert!(
                ParamCount::parse_controller(text).total_cmp(&expected).is_eq(),
                "{text}: {}",
                ParamCount::parse_controller(text)
            );
        }
        assert!(ParamCount::parse_controller("NaNB").is_nan());
    }

    proptest! {
        #[test]
        fn shown_counts_read_back(count in any::<u64>(), power in 0_u32..18) {
            for count in [count, count / 10_u64.pow(power) * 10_u64.pow(power)] {
                prop_assert_eq!(ParamCount::parse(&ParamCount(count).to_string()), Ok(ParamCount(count)));
            }
        }

        #[test]
        fn both_rules_agree_on_documented_sizes(text in "[0-9]{1,6}(\\.[0-9]{1,3})?[MBT]") {
            let exact = ParamCount::parse(&text).unwrap().as_f64();
            prop_assert!((ParamCount::parse_controller(&text) - exact).abs() <= exact * f64::EPSILON);
        }

        #[test]
        fn no_text_is_a_panic(text in ".*", likely in "[-+0-9._xXeEpPKMBTG ]{0,30}") {
            for text in [&text, &likely] {
                let _ = (ParamCount::parse(text), ParamCount::suggestion(text), ParamCount::parse_controller(text));
            }
        }
    }
}

use super::*;
use crate::quantity::recordings;
use proptest::prelude::*;
use serde_json::Value;

/// Returns the fields of one row that differ and are not recorded as inexact.
fn differences(row: &Value, fields: &[(&str, Value)]) -> Vec<String> {
    let inexact = |field: &str| {
        row["inexact"].as_array().is_some_and(|list| list.iter().any(|item| item == field))
    };
    fields
        .iter()
        .filter(|(field, actual)| {
            !inexact(field) && !row[*field].is_null() && row[*field] != *actual
        })
        .map(|(field, actual)| format!("{field}: {actual}, recorded {}", row[*field]))
        .collect()
}

fn judge(row: &Value, line: &str) -> Vec<String> {
    if let (Some(a), Some(b)) = (row["a"].as_str(), row["b"].as_str()) {
        let (Ok(a), Ok(b)) = (Quantity::parse(a), Quantity::parse(b)) else {
            return vec!["does not parse".into()];
        };
        return differences(
            row,
            &[
                ("sum", (&a + &b).canonical().as_str().into()),
                ("diff", (&a - &b).canonical().as_str().into()),
                ("cmp", (a.cmp(&b) as i8).into()),
            ],
        );
    }
    let parsed = match row.get("in").and_then(Value::as_str) {
        Some(text) => Quantity::parse(text),
        None if row["json"].is_null() => Ok(Quantity::default()),
        None => match row["json"].as_str() {
            Some(text) => Quantity::parse_field(text),
            // Numbers count as they are written.
            None => Quantity::parse_field(
                line.split_once("\"json\":").unwrap().1.split_once(",\"ok\"").unwrap().0,
            ),
        },
    };
    match (parsed, row["ok"] == true) {
        (Err(_), false) => Vec::new(),
        (Err(QuantityError::ExponentOutOfRange), true) if row["inexact"].is_array() => Vec::new(),
        (Err(error), true) => vec![format!("is refused: {error}")],
        (Ok(_), false) => vec!["is accepted".into()],
        (Ok(quantity), true) => {
            let sign = i8::from(quantity > Quantity::default()) - i8::from(quantity.is_negative());
            differences(
                row,
                &[
                    ("canonical", quantity.canonical().as_str().into()),
                    ("recomputed", quantity.recomputed().as_str().into()),
                    ("format", quantity.format().as_str().into()),
                    ("value", quantity.value().into()),
                    ("milli", quantity.milli().and_then(|milli| i64::try_from(milli).ok()).into()),
                    ("sign", sign.into()),
                ],
            )
        }
    }
}

#[test]
fn agrees_with_the_recorded_library() {
    let mut wrong = Vec::new();
    for line in &recordings::lines("apimachinery/quantity") {
        let row: Value = serde_json::from_str(line).unwrap();
        wrong.extend(
            judge(&row, line).into_iter().map(|difference| format!("{line}\n  {difference}")),
        );
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn gives_the_number_where_upstream_overflows() {
    for (text, canonical, value) in [
        ("8Ei", "8Ei", None),
        ("7Ei", "7Ei", Some(7 << 60)),
        ("9223372036854775807Ki", "9223372036854775807Ki", None),
        ("1000000000000000000000", "1000E", None),
        ("-1.0000000001", "-1000000001n", Some(-2)),
        ("-0.0000000001", "-1n", Some(-1)),
        ("2048Ei", "2048Ei", None),
        ("-9223372036854775808", "-9223372036854775808", Some(i64::MIN)),
    ] {
        let quantity = Quantity::parse(text).unwrap();
        assert_eq!((quantity.canonical().as_str(), quantity.value()), (canonical, value), "{text}");
    }
}

#[test]
fn canonical_keeps_the_written_form_and_recomputed_does_not() {
    for (text, canonical, recomputed) in [
        ("+5", "+5", "5"),
        ("010", "010", "10"),
        ("1.5", "1500m", "1500m"),
        ("1000", "1k", "1k"),
        ("1.234", "1.234", "1234m"),
        ("5.", "5.", "5"),
        ("1E3", "1E3", "1e3"),
        ("12Gi", "12Gi", "12Gi"),
    ] {
        let quantity = Quantity::parse(text).unwrap();
        assert_eq!(
            (quantity.canonical().as_str(), quantity.recomputed().as_str()),
            (canonical, recomputed),
            "{text}"
        );
    }
}

#[test]
fn hostile_numbers_are_refused_at_once() {
    let digits = "9".repeat(4_000);
    for (text, error) in [
        ("1e1000000000", QuantityError::ExponentOutOfRange),
        ("1e2147483647", QuantityError::ExponentOutOfRange),
        ("1e-2147483648", QuantityError::ExponentOutOfRange),
        ("0e1000000000", QuantityError::ExponentOutOfRange),
        ("1e99999999999999999999999", QuantityError::ExponentOutOfRange),
        (&format!("1e{digits}"), QuantityError::ExponentOutOfRange),
        (&digits, QuantityError::TooManyDigits),
        (&format!("0.{digits}"), QuantityError::TooManyDigits),
        (&format!("{digits}Gi"), QuantityError::TooManyDigits),
        // Its canonical text would have more digits.
        (&format!("{}.5Gi", "7".repeat(999)), QuantityError::TooManyDigits),
        (&format!("{}.5", "7".repeat(999)), QuantityError::TooManyDigits),
        (&format!("1{}", "m".repeat(4_000)), QuantityError::Suffix),
        ("8 billion", QuantityError::Format),
        ("80GB", QuantityError::Format),
    ] {
        assert_eq!(Quantity::parse(text).unwrap_err(), error, "{text}");
    }
}

#[test]
fn arithmetic_keeps_the_first_notation_unless_it_is_zero() {
    let parse = |text| Quantity::parse(text).unwrap();
    assert_eq!((&parse("1Gi") + &parse("1M")).canonical(), "1074741824");
    assert_eq!((&parse("0") + &parse("1Gi")).canonical(), "1Gi");
    assert_eq!((&parse("1Gi") * 8).canonical(), "8Gi");
    assert_eq!((&parse("500m") * 3).canonical(), "1500m");
    for (factor, canonical) in [(0, "0"), (-2, "-2Gi"), (i64::MAX, "9223372036854775807Gi")] {
        assert_eq!((&parse("1Gi") * factor).canonical(), canonical);
    }
    assert_eq!(parse("1Gi").max(parse("1G")).canonical(), "1Gi");
    assert!((parse("1.5").as_f64() - 1.5).abs() < f64::EPSILON);
}

fn written() -> impl Strategy<Value = String> {
    "[-+]?[0-9]{0,22}(\\.[0-9]{0,12})?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][-+]?[0-9]{1,2})?"
}

proptest! {
    #[test]
    fn canonical_text_reads_as_the_same_quantity(text in written()) {
        if let Ok(quantity) = Quantity::parse(&text) {
            for printed in [quantity.canonical(), quantity.recomputed()] {
                let again = Quantity::parse(&printed).unwrap();
                prop_assert_eq!(&again, &quantity);
                prop_assert_eq!(again.canonical(), printed);
            }
        }
    }

    #[test]
    fn order_agrees_with_arithmetic(a in written(), b in written(), factor in -5_i64..5) {
        if let (Ok(a), Ok(b)) = (Quantity::parse(&a), Quantity::parse(&b)) {
            let zero = Quantity::default();
            prop_assert_eq!(a.cmp(&b), (&a - &b).cmp(&zero));
            prop_assert_eq!(&(&(&a + &b) - &b), &a);
            prop_assert_eq!(&a + &b, &b + &a);
            prop_assert_eq!(&(&a * factor) + &a, &a * (factor + 1));
            prop_assert_eq!(-&a, &zero - &a);
        }
    }

    #[test]
    fn no_text_is_a_panic(text in ".*", likely in "[-+.0-9eEinumkKMGTP ]{0,40}") {
        for text in [text, likely] {
            if let Ok(quantity) = Quantity::parse_field(&text) {
                let _ = (quantity.canonical(), quantity.recomputed(), quantity.value(), quantity.milli(), quantity.as_f64());
            }
        }
    }
}

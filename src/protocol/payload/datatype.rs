//! The thirteen tensor datatypes: sizes, ranges, and the field of each in typed gRPC contents
//! (KServe 0.10 docs, Open Inference Protocol, HTTP/REST and Open Inference Protocol, gRPC).

use super::Form;
use crate::quantity::base64;
use crate::yaml::{Node, Value};

/// A row of the table.
#[derive(Debug)]
pub(super) struct Datatype {
    /// Name, compared exactly.
    pub(super) name: &'static str,
    /// Bytes of one element; `None` for a variable size.
    pub(super) size: Option<u64>,
    /// Field of `InferTensorContents`; `None` for 16-bit floats.
    pub(super) contents: Option<&'static str>,
    values: Values,
}

/// The values of a datatype.
#[derive(Clone, Copy, Debug)]
enum Values {
    Boolean,
    Whole { least: i128, greatest: i128 },
    Float { greatest: f64 },
    Bytes,
}

const fn whole(
    name: &'static str,
    size: u64,
    contents: &'static str,
    least: i128,
    greatest: i128,
) -> Datatype {
    Datatype {
        name,
        size: Some(size),
        contents: Some(contents),
        values: Values::Whole { least, greatest },
    }
}

/// Numbers from this one up round to infinity as 16-bit floats.
const FP16_OVERFLOW: f64 = 65520.0;

pub(super) static DATATYPES: [Datatype; 13] = [
    Datatype {
        name: "BOOL",
        size: Some(1),
        contents: Some("bool_contents"),
        values: Values::Boolean,
    },
    whole("UINT8", 1, "uint_contents", 0, u8::MAX as i128),
    whole("UINT16", 2, "uint_contents", 0, u16::MAX as i128),
    whole("UINT32", 4, "uint_contents", 0, u32::MAX as i128),
    whole("UINT64", 8, "uint64_contents", 0, u64::MAX as i128),
    whole("INT8", 1, "int_contents", i8::MIN as i128, i8::MAX as i128),
    whole("INT16", 2, "int_contents", i16::MIN as i128, i16::MAX as i128),
    whole("INT32", 4, "int_contents", i32::MIN as i128, i32::MAX as i128),
    whole("INT64", 8, "int64_contents", i64::MIN as i128, i64::MAX as i128),
    Datatype {
        name: "FP16",
        size: Some(2),
        contents: None,
        values: Values::Float { greatest: FP16_OVERFLOW },
    },
    Datatype {
        name: "FP32",
        size: Some(4),
        contents: Some("fp32_contents"),
        values: Values::Float { greatest: f32::MAX as f64 },
    },
    Datatype {
        name: "FP64",
        size: Some(8),
        contents: Some("fp64_contents"),
        values: Values::Float { greatest: f64::MAX },
    },
    Datatype { name: "BYTES", size: None, contents: Some("bytes_contents"), values: Values::Bytes },
];

/// The error of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// Its JSON type is not this one.
    Type(&'static str),
    /// Its value is out of range.
    Range,
}

impl Datatype {
    /// Returns the datatype of a name, compared exactly.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        DATATYPES.iter().find(|datatype| datatype.name == name)
    }

    /// Describes the range of its values.
    pub(super) fn range(&self) -> String {
        match self.values {
            Values::Boolean => "true and false".into(),
            Values::Whole { least, greatest } => {
                format!("whole numbers from {least} to {greatest}")
            }
            // Shows the greatest value, not the rounding limit.
            Values::Float { greatest } if greatest == FP16_OVERFLOW => {
                "numbers from -65504 to 65504".into()
            }
            Values::Float { greatest } => format!("numbers from -{greatest:e} to {greatest:e}"),
            Values::Bytes => "strings".into(),
        }
    }

    /// Checks one element. In the JSON form of a proto message, numbers may be strings, and bytes
    /// are base64.
    pub(super) fn judge(&self, node: &Node, form: Form) -> Result<(), Wrong> {
        match self.values {
            Values::Boolean => node.as_bool().map(|_| ()).ok_or(Wrong::Type("a boolean")),
            // JSON over REST has the text itself, which may be anything.
            Values::Bytes if form == Form::GrpcV2 => node
                .as_str()
                .and_then(base64::decoded_length)
                .map(|_| ())
                .ok_or(Wrong::Type("a string of base64")),
            Values::Bytes => node.as_str().map(|_| ()).ok_or(Wrong::Type("a string")),
            Values::Whole { least, greatest } => {
                let number = number(node, form).ok_or(Wrong::Type("a number"))?;
                let fits =
                    number.whole().is_some_and(|number| (least..=greatest).contains(&number));
                if fits { Ok(()) } else { Err(Wrong::Range) }
            }
            Values::Float { greatest } => {
                let number = number(node, form).ok_or(Wrong::Type("a number"))?.float();
                let fits = match greatest {
                    // Digits that overflow to infinity are out of range, unlike its name.
                    _ if !number.is_finite() => node.as_str().is_some_and(is_non_finite_name),
                    // Up to half a step above 65504 a number rounds down to it.
                    FP16_OVERFLOW => number.abs() < greatest,
                    // A number that rounds to the greatest value is in range.
                    _ if self.name == "FP32" => rounds_to_f32(number),
                    _ => true,
                };
                if fits { Ok(()) } else { Err(Wrong::Range) }
            }
        }
    }
}

/// Reports whether a text is a number that is not finite, as ProtoJSON spells it.
fn is_non_finite_name(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

#[expect(clippy::cast_possible_truncation, reason = "the question is whether it overflows")]
fn rounds_to_f32(number: f64) -> bool {
    (number as f32).is_finite()
}

/// A number as written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    /// Returns the number as an integer, if it has no fraction.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float without fraction, saturating far outside of every datatype"
    )]
    pub(super) fn whole(self) -> Option<i128> {
        match self {
            Self::Whole(number) => Some(number),
            Self::Float(number) if number.fract() == 0.0 => Some(number as i128),
            Self::Float(_) => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "servers read JSON numbers as floats")]
    fn float(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

/// Returns the number of a node; in the JSON form of a proto message, also from a string.
pub(super) fn number(node: &Node, form: Form) -> Option<Number> {
    match &node.value {
        Value::Int(number) => Some(Number::Whole((*number).into())),
        Value::Big(number) => Some(Number::Whole((*number).into())),
        Value::Float(number) => Some(Number::Float(*number)),
        Value::Str(text) if form == Form::GrpcV2 => {
            // Rust's parser also takes `inf`, `+1` and `.5`, which ProtoJSON does not.
            let begins = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
            match text.as_str() {
                "NaN" => Some(Number::Float(f64::NAN)),
                "Infinity" => Some(Number::Float(f64::INFINITY)),
                "-Infinity" => Some(Number::Float(f64::NEG_INFINITY)),
                _ if !begins => None,
                _ => text
                    .parse()
                    .map(Number::Whole)
                    // Whole numbers first: a float would round those beyond 2^53.
                    .or_else(|_| text.parse().map(Number::Float))
                    .ok(),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};
    use serde_json::{Value as Json, json};

    static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

    fn judge(datatype: &str, value: &Json, form: Form) -> Result<(), Wrong> {
        Datatype::named(datatype)
            .expect("it is in the table")
            .judge(&Node::from_json(value, Origin::Default(&TEST)), form)
    }

    // KServe 0.10 docs, Open Inference Protocol, HTTP/REST and Open Inference Protocol, gRPC.
    #[test]
    fn datatypes_match_the_protocol_table() {
        let table: Vec<_> = DATATYPES
            .iter()
            .map(|datatype| (datatype.name, datatype.size, datatype.contents))
            .collect();
        let expected = [
            ("BOOL", Some(1), Some("bool_contents")),
            ("UINT8", Some(1), Some("uint_contents")),
            ("UINT16", Some(2), Some("uint_contents")),
            ("UINT32", Some(4), Some("uint_contents")),
            ("UINT64", Some(8), Some("uint64_contents")),
            ("INT8", Some(1), Some("int_contents")),
            ("INT16", Some(2), Some("int_contents")),
            ("INT32", Some(4), Some("int_contents")),
            ("INT64", Some(8), Some("int64_contents")),
            ("FP16", Some(2), None),
            ("FP32", Some(4), Some("fp32_contents")),
            ("FP64", Some(8), Some("fp64_contents")),
            ("BYTES", None, Some("bytes_contents")),
        ];
        assert_eq!(table, expected);
        assert!(Datatype::named("fp32").is_none() && Datatype::named("BF16").is_none());
    }

    // KServe 0.10 docs, Open Inference Protocol, HTTP/REST. Rows: the extreme values of each type,
    // and one value beyond each.
    #[test]
    fn datatype_limits_are_accepted_and_values_beyond_refused() {
        for (datatype, least, greatest, below, above) in [
            ("UINT8", json!(0), json!(255), json!(-1), json!(256)),
            ("UINT16", json!(0), json!(65535), json!(-1), json!(65536)),
            ("UINT32", json!(0), json!(4_294_967_295_u32), json!(-1), json!(4_294_967_296_i64)),
            ("UINT64", json!(0), json!(u64::MAX), json!(-1), json!(18_446_744_073_709_551_616.0)),
            ("INT8", json!(-128), json!(127), json!(-129), json!(128)),
            ("INT16", json!(-32768), json!(32767), json!(-32769), json!(32768)),
            (
                "INT32",
                json!(i32::MIN),
                json!(i32::MAX),
                json!(-2_147_483_649_i64),
                json!(2_147_483_648_i64),
            ),
            (
                "INT64",
                json!(i64::MIN),
                json!(i64::MAX),
                json!(-1e19),
                json!(9_223_372_036_854_775_808_u64),
            ),
            ("FP16", json!(-65504), json!(65504.0), json!(-65520), json!(70000)),
            (
                "FP32",
                json!(f64::from(f32::MIN)),
                json!(f64::from(f32::MAX)),
                json!(-3.5e38),
                json!(3.5e38),
            ),
        ] {
            assert_eq!(
                (judge(datatype, &least, Form::V2), judge(datatype, &greatest, Form::V2)),
                (Ok(()), Ok(())),
                "{datatype}"
            );
            assert_eq!(
                (judge(datatype, &below, Form::V2), judge(datatype, &above, Form::V2)),
                (Err(Wrong::Range), Err(Wrong::Range)),
                "{datatype}"
            );
        }
        assert_eq!(judge("FP64", &json!(1e300), Form::V2), Ok(()));
    }

    #[test]
    fn json_values_must_match_the_datatype() {
        for (datatype, value, form, expected) in [
            ("BOOL", json!(true), Form::V2, Ok(())),
            ("BOOL", json!(1), Form::V2, Err(Wrong::Type("a boolean"))),
            ("INT8", json!(true), Form::V2, Err(Wrong::Type("a number"))),
            ("INT8", json!(1.0), Form::V2, Ok(())),
            ("INT8", json!(1.5), Form::V2, Err(Wrong::Range)),
            ("INT8", json!("1"), Form::V2, Err(Wrong::Type("a number"))),
            ("INT64", json!("1"), Form::GrpcV2, Ok(())),
            ("INT64", json!("one"), Form::GrpcV2, Err(Wrong::Type("a number"))),
            ("INT64", json!("NaN"), Form::GrpcV2, Err(Wrong::Range)),
            ("FP32", json!("NaN"), Form::GrpcV2, Ok(())),
            ("FP32", json!("inf"), Form::GrpcV2, Err(Wrong::Type("a number"))),
            ("FP64", json!("-Infinity"), Form::GrpcV2, Ok(())),
            ("FP64", json!("1e308"), Form::GrpcV2, Ok(())),
            ("FP64", json!("1e999"), Form::GrpcV2, Err(Wrong::Range)),
            ("FP32", json!("-1e999"), Form::GrpcV2, Err(Wrong::Range)),
            ("FP32", json!("NaN"), Form::V2, Err(Wrong::Type("a number"))),
            ("FP32", json!(null), Form::V2, Err(Wrong::Type("a number"))),
            ("BYTES", json!("ä!"), Form::V2, Ok(())),
            ("BYTES", json!("ä!"), Form::GrpcV2, Err(Wrong::Type("a string of base64"))),
            ("BYTES", json!("YQ=="), Form::GrpcV2, Ok(())),
            ("BYTES", json!(1), Form::V2, Err(Wrong::Type("a string"))),
        ] {
            assert_eq!(judge(datatype, &value, form), expected, "{datatype} {value}");
        }
    }
}

//! Small things about amounts, names and texts that no recorded table has.

use super::base64;
use super::count::{Count, grouped};
use super::dollars::Dollars;
use super::go_json_text::{boolean, fields, list, string};
use super::hash::model_config_name;
use super::kv_cache::{Kept, KeptLayers, Layout};
use super::names::{generate_name_label, generate_name_subdomain, service_account};
use super::resource::suffix_of_quantity;
use super::selector::{Requirement, Selector, SelectorOperator};
use super::version::Version;
use super::{Memory, Quantity, Range, is_accelerator};
use ecow::EcoString;
use serde_json::json;

#[test]
fn numbers_are_grouped_and_summed() {
    for (number, expected) in [
        (0, "0"),
        (12, "12"),
        (999, "999"),
        (1000, "1,000"),
        (12_345, "12,345"),
        (123_456, "123,456"),
        (1_234_567, "1,234,567"),
    ] {
        assert_eq!(grouped(number), expected);
    }
    let mut count = Count::from(2);
    count += Count::from(3);
    assert_eq!(
        (count.number(), count.is_known(), Count::UNKNOWN.is_known()),
        (Some(5), true, false)
    );
    let mut cost = Dollars::default();
    for _ in 0..2 {
        cost += Dollars::of(&Quantity::parse("1.25").unwrap(), 1);
    }
    assert_eq!(cost, Dollars::of(&Quantity::parse("1250m").unwrap(), 2));
    let [mut amount, other] = ["1Gi", "512Mi"].map(|text| Quantity::parse(text).unwrap());
    amount += &other;
    assert_eq!(amount.canonical(), "1536Mi");
    amount -= &other;
    amount -= &other;
    assert_eq!(amount.canonical(), "512Mi");
    assert!(amount == other && amount != Quantity::parse("1Gi").unwrap());
    assert_eq!([Range::DEVICES, Range::COUNT].map(Range::most), [1_000_000, i64::from(i32::MAX)]);
}

#[test]
fn memory_is_printed_in_mib_or_gib() {
    for (mib, shown, gib) in [
        (512, "512.0 MiB", 0.5),
        (972, "972.0 MiB", 972.0 / 1024.0),
        (973, "1.0 GiB", 973.0 / 1024.0),
        (22_118, "21.6 GiB", 22_118.0 / 1024.0),
    ] {
        let memory = Memory(mib << 20);
        assert_eq!((memory.short().as_str(), memory.gib()), (shown, gib));
    }
    assert_eq!(Memory::from_gib(3), Some(Memory(3 << 30)));
    assert_eq!(Memory::from_gib(u64::MAX), None);
}

#[test]
fn json_fields_are_decoded_with_go_errors() {
    let by_key = fields(r#"{"b": 1, "a": "x"}"#, "router").unwrap();
    assert_eq!(by_key.keys().collect::<Vec<_>>(), ["b", "a"]);
    for (text, expected) in [
        ("[]", "unable to parse router json: json: cannot unmarshal array into Go value"),
        ("1", "unable to parse router json: json: cannot unmarshal number into Go value"),
        ("\"x\"", "unable to parse router json: json: cannot unmarshal string into Go value"),
        ("true", "unable to parse router json: json: cannot unmarshal bool into Go value"),
    ] {
        assert_eq!(fields(text, "router").unwrap_err(), expected);
    }
    assert!(fields("{", "router").unwrap_err().starts_with("unable to parse router json: "));
    let mut text = EcoString::from("before");
    string(&mut text, &json!(null), "router", "image").unwrap();
    assert_eq!(text, "before");
    string(&mut text, &json!("after"), "router", "image").unwrap();
    assert_eq!(text, "after");
    assert_eq!(
        string(&mut text, &json!(1), "router", "image").unwrap_err(),
        "unable to parse router json: json: cannot unmarshal number into Go struct field image of \
         type string"
    );
    assert_eq!(list(&json!(["a", "b"]), "router", "args").unwrap(), ["a", "b"]);
    assert!(list(&json!(null), "router", "args").unwrap().is_empty());
    let words = "unable to parse router json: json: cannot unmarshal";
    for (value, expected) in [
        (json!({}), "object into Go struct field args of type []string"),
        (json!(["a", true]), "bool into Go struct field args of type string"),
    ] {
        assert_eq!(list(&value, "router", "args").unwrap_err(), format!("{words} {expected}"));
    }
    let mut flag = false;
    boolean(&mut flag, &json!(null), "router", "on").unwrap();
    assert!(!flag);
    boolean(&mut flag, &json!(true), "router", "on").unwrap();
    assert!(flag);
    assert_eq!(
        boolean(&mut flag, &json!("x"), "router", "on").unwrap_err(),
        format!("{words} string into Go struct field on of type bool")
    );
}

#[test]
fn kv_cache_formulas_list_the_numbers_of_each_layer() {
    let grouped = Kept::Grouped { heads: 8, key: 128, value: 128, window: None, index: 0 };
    let indexed = Kept::Grouped { heads: 8, key: 128, value: 64, window: Some(512), index: 32 };
    let latent = Kept::Latent { rank: 512, rope: 64, index: 0 };
    let mut reported = Vec::new();
    for kept in [grouped, indexed, latent] {
        for (width, ways) in [(1, 1), (2, 8), (2, 16)] {
            reported.push(KeptLayers { layers: 2, kept }.formula(Layout { width, ways }));
        }
    }
    assert_eq!(
        reported,
        [
            "2 layers × 8 KV heads × (128 + 128) × 1 byte",
            "2 layers × 8 KV heads × (128 + 128) × 2 bytes",
            "2 layers × 16 KV heads (8, repeated on 16 accelerators) × (128 + 128) × 2 bytes",
            "2 layers × (8 KV heads × (128 + 64) + index 32) × 1 byte of the last 512 tokens",
            "2 layers × (8 KV heads × (128 + 64) + index 32 × 8 accelerators) × 2 bytes of the \
             last 512 tokens",
            "2 layers × (16 KV heads (8, repeated on 16 accelerators) × (128 + 64) + index 32 × 16 \
             accelerators) × 2 bytes of the last 512 tokens",
            "2 layers × (latent 512 + 64) × 1 byte",
            "2 layers × (latent 512 + 64) × 8 accelerators × 2 bytes",
            "2 layers × (latent 512 + 64) × 16 accelerators × 2 bytes",
        ]
    );
    let compressed = Kept::Compressed { head: 100, window: 8, ratio: 4, index: 20 };
    let layers = KeptLayers { layers: 3, kept: compressed };
    let layout = Layout { width: 2, ways: 2 };
    // A vector and its index for each run of four tokens; the window keeps vectors alone.
    assert_eq!(layers.per_token(layout), 3 * (120 * 2 / 4) * 2);
    assert_eq!(layers.request(16, layout), 3 * (8 * 200 + 4 * 120 * 2) * 2);
    assert_eq!(layers.request(3, layout), 3 * 3 * 200 * 2);
}

#[test]
fn names_that_are_generated_may_end_with_a_dash() {
    for (prefix, fine) in [
        ("a", true),
        ("a-", true),
        ("a--", true),
        ("ab-", true),
        ("A-", true),
        ("-", false),
        ("Ab-", false),
        ("aé-", false),
        ("", false),
    ] {
        assert_eq!(generate_name_subdomain(prefix).is_empty(), fine, "{prefix}");
        assert_eq!(generate_name_label(prefix).is_empty(), fine, "{prefix}");
    }
    assert!(service_account("a.b").is_empty() && !service_account("A").is_empty());
    assert_eq!(model_config_name("abc"), "modelconfig-abc");
    assert_eq!(model_config_name("0123456789012345678901"), "modelconfig-23456789012345678901");
}

#[test]
fn requirements_compare_numbers_and_expose_key_and_values() {
    let greater = Requirement::new("k", SelectorOperator::GreaterThan, ["5".into()]).unwrap();
    let less = Requirement::new("k", SelectorOperator::LessThan, ["5".into()]).unwrap();
    for (value, expected) in [("4", [false, true]), ("5", [false, false]), ("6", [true, false])] {
        assert_eq!([greater.matches(Some(value)), less.matches(Some(value))], expected, "{value}");
    }
    assert_eq!((greater.key(), greater.values()), ("k", &["5".into()][..]));
    let selector = Selector::new([greater, less]);
    assert!(!selector.is_empty() && Selector::default().is_empty());
    assert_eq!(selector.requirements().len(), 2);
}

#[test]
fn devices_suffixes_and_full_versions_are_recognized() {
    for (resource, expected) in [
        ("gpu.intel.com/i915", true),
        ("gpu.intel.com/millicores", false),
        ("huawei.com/Ascend910", true),
        ("huawei.com/Ascend910-memory", false),
        ("acme.example/big-gpu", true),
        ("acme.example/gpu-memory", false),
    ] {
        assert_eq!(is_accelerator(resource), expected, "{resource}");
    }
    let exponent = |suffix| suffix_of_quantity(suffix).map(|(_, exponent)| exponent);
    assert_eq!(
        ["", "k", "Ki", "m", "E", "x"].map(exponent),
        [Some(0), Some(3), Some(10), Some(-3), Some(18), None]
    );
    for (text, expected) in
        [("1.2.3", true), ("v1.2.3", false), ("1.2", false), ("1", false), ("1.2.3-rc", true)]
    {
        assert_eq!(Version::parse_controller(text).unwrap().is_three_numbers(), expected, "{text}");
    }
    assert_eq!(base64::decoded_length("YWJj"), Some(3));
}

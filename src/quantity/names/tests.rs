use super::*;
use crate::quantity::Selector;
use crate::quantity::recordings;
use proptest::prelude::*;
use serde_json::Value;

type Rule = fn(&str) -> Vec<String>;
type FieldRule = fn(&str) -> Vec<FieldError>;

const RULES: [(&str, Rule); 22] = [
    ("dns1123label", dns1123_label),
    ("dns1123subdomain", dns1123_subdomain),
    ("dns1035label", dns1035_label),
    ("wildcard-dns1123", wildcard_dns1123_subdomain),
    ("namespace", namespace),
    ("serviceaccount", service_account),
    ("service-name", service_name),
    ("generate-name-subdomain", generate_name_subdomain),
    ("generate-name-label", generate_name_label),
    ("labelkey", label_key),
    ("labelvalue", label_value),
    ("annotationkey", annotation_key),
    ("finalizer", finalizer),
    ("pathsegment", path_segment_name),
    ("pathsegment-prefix", path_segment_prefix),
    ("portname", port_name),
    ("envvarname", env_var_name),
    ("relaxed-envvarname", relaxed_env_var_name),
    ("configmapkey", config_map_key),
    ("cidentifier", c_identifier),
    ("httpheader", http_header_name),
    ("percent", percent),
];

/// Kinds recorded with the path of a field before the text, with that path.
const FIELD_RULES: [(&str, &str, FieldRule); 4] = [
    ("fqdn", "url", fully_qualified_domain_name),
    ("fq-name", "finalizer", fully_qualified_name),
    ("domain-prefixed-path", "path", domain_prefixed_path),
    ("ip", "ip", ip_address),
];

/// The recorded errors of a kind; `None` for kinds that are not checked.
fn errors(kind: &str, text: &str) -> Option<Vec<String>> {
    if let Some((_, path, rule)) = FIELD_RULES.iter().find(|(name, _, _)| *name == kind) {
        return Some(rule(text).iter().map(|error| error.at(path)).collect());
    }
    let (_, rule) = RULES.iter().find(|(name, _)| *name == kind)?;
    let path = match kind {
        "annotationkey" => "annotations",
        "finalizer" => "finalizer",
        _ => return Some(rule(text)),
    };
    Some(rule(text).into_iter().map(|error| FieldError::invalid(text, error).at(path)).collect())
}

#[test]
fn agrees_with_the_recorded_library() {
    let mut wrong = Vec::new();
    for row in recordings::rows::<Value>("apimachinery/names") {
        let line = &row.to_string();
        let (kind, text) = (row["kind"].as_str().unwrap(), row["in"].as_str().unwrap());
        let recorded: Vec<&str> =
            row["errors"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        if kind == "selector" {
            let (found, canonical) = match Selector::parse(text) {
                Ok(selector) => (Vec::new(), Some(selector.to_string())),
                Err(error) => (vec![error.to_string()], None),
            };
            if found != recorded || canonical.as_deref() != row["canonical"].as_str() {
                wrong.push(format!("{line}\n  {found:?} {canonical:?}"));
            }
            continue;
        }
        let found = errors(kind, text);
        if found.as_ref().is_none_or(|found| *found != recorded) {
            wrong.push(format!("{line}\n  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn path_segments_and_port_numbers_are_validated() {
    assert_eq!(path_segment_name(".."), ["may not be '..'"]);
    assert_eq!(path_segment_name("a/b%c"), ["may not contain '/'", "may not contain '%'"]);
    assert!(path_segment_name("...").is_empty());
    assert!(path_segment_prefix(".").is_empty());
    assert_eq!(port_number(0), ["must be between 1 and 65535, inclusive"]);
    assert!(port_number(65535).is_empty());
}

#[test]
fn annotations_have_a_common_limit() {
    let value = "x".repeat(ANNOTATIONS_LIMIT - 1);
    assert_eq!(annotations_size([("k", value.as_str())]), None);
    assert_eq!(
        annotations_size([("k", value.as_str()), ("l", "")]),
        Some(FieldError::TooLong(262_144))
    );
}

proptest! {
    #[test]
    fn no_text_is_a_panic(text in ".*", likely in "[-a-zA-Z0-9_.:/*%é]{0,70}") {
        for text in [&text, &likely] {
            for kind in RULES.iter().map(|rule| rule.0).chain(FIELD_RULES.iter().map(|rule| rule.0)) {
                prop_assert!(errors(kind, text).is_some());
            }
        }
    }

    #[test]
    fn a_valid_dns_label_is_a_valid_subdomain_and_label_value(text in "[-a-z0-9.]{0,70}") {
        if dns1123_label(&text).is_empty() {
            prop_assert!(dns1123_subdomain(&text).is_empty() && label_value(&text).is_empty() && path_segment_name(&text).is_empty());
        }
        if dns1035_label(&text).is_empty() {
            prop_assert!(dns1123_label(&text).is_empty());
        }
    }
}

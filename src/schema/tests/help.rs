//! The next step of a finding, and which values are listed.

use super::*;
use crate::schema::hint;

fn runtime(spec: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
    )
}

/// Messages and help of the findings about an object, under the rules of the server.
fn help_of(text: &str) -> Vec<String> {
    let lines = messages(text, Strictness::Server);
    lines.iter().map(|line| line.split_once(": ").map_or("", |(_, rest)| rest).to_owned()).collect()
}

#[test]
fn an_unknown_field_suggests_the_nearest_field() {
    for (spec, expected) in [
        ("gpuConfigurations: {}", "write `acceleratorConfigurations`"),
        ("diabled: true", "did you mean `disabled`?"),
        // The nearest one is there already: the next one counts.
        ("engineConfig: {minReplicas: 1, minReplica: 2}", "did you mean `maxReplicas`?"),
        ("disabled: true, disable: true", "did you mean `disabled`?"),
        ("minReplicas: 1", "`minReplicas` is a field of `engineConfig`"),
        ("decoderConfig: {}, minReplicas: 1", "`minReplicas` is a field of `decoderConfig`"),
        ("modelSizeRange: {zzzzzz: 1}", "the fields are `max`, `min`"),
        // Its fields are one level too low, unless they are there already.
        (
            "modelSizeRange: {zzzzzz: {min: 1B, max: 2B}}",
            "leave `zzzzzz` out, and write `min`, `max` in its place",
        ),
        ("modelSizeRange: {min: 1B, zzzzzz: {min: 1B}}", "the fields are `max`, `min`"),
        ("zzzzzzzzzzzz: 1", "-"),
    ] {
        let found = help_of(&runtime(spec));
        let help = found.iter().find(|line| line.contains("unknown field")).unwrap();
        assert_eq!(help.rsplit("; ").next(), Some(expected), "{spec}: {found:?}");
    }
}

#[test]
fn a_misspelled_field_maps_to_the_intended_field() {
    let ty = kind("ome.io/v1beta1", "ClusterServingRuntime").unwrap().root();
    let spec = ty.at(&["spec"]).and_then(Type::object).unwrap();
    let empty = node(&serde_json::json!({}));
    let disabled = node(&serde_json::json!({"disabled": true}));
    for (name, parent, expected) in [
        ("Disabled", &empty, Some("disabled")),
        ("dis-abled", &empty, Some("disabled")),
        ("dis_abled", &empty, Some("disabled")),
        ("disable", &empty, Some("disabled")),
        ("disabeld", &empty, Some("disabled")),
        ("dsble", &empty, None),
        ("disable", &disabled, None),
        ("containerConcurrency", &empty, None),
    ] {
        assert_eq!(hint::slip(name, parent, spec).map(|field| field.name), expected, "{name}");
    }
    // A short word may be any other.
    let range = ty.at(&["spec", "modelSizeRange"]).and_then(Type::object).unwrap();
    assert!(hint::slip("mix", &empty, range).is_none());
    assert_eq!(hint::slip("MIN", &empty, range).map(|field| field.name), Some("min"));
}

#[test]
fn accepted_values_are_listed_in_the_help() {
    for (value, words, expected) in [
        ("x", &["a"][..], "write `a`"),
        ("x", &["a", "b"], "write `a` or `b`"),
        ("x", &["\"a\"", "b", "c"], "write `a`, `b` or `c`"),
        (
            "Alway",
            &["Always", "Never", "Once", "Twice"],
            "write `Always`, `Never`, `Once` or `Twice`",
        ),
        (
            "Alway",
            &["Always", "Never", "Once", "Twice", "Thrice"],
            "did you mean `Always`? Accepted are `Always`, `Never`, `Once`, `Twice` or `Thrice`",
        ),
        ("Q", &["Always", "", "Once", "Twice", "No"], "write `Always`, `Once`, `Twice` or `No`"),
        ("", &["Always", "", "Once", "Twice", "No"], "write `Always`, `Once`, `Twice` or `No`"),
    ] {
        assert_eq!(hint::choices(value, words), expected);
    }
    let object = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}], type: ClusterIp}\n";
    let found = messages(object, Strictness::Server);
    assert!(found.iter().all(|line| !line.contains("did you mean ``")), "{found:?}");
}

#[test]
fn missing_fields_are_named_with_their_accepted_values() {
    let of = |rules: Option<&str>| Field {
        name: "kind",
        ty: table::object(&format!(" kind str{}", rules.unwrap_or("")).leak()[..], false)
            .fields
            .remove(0)
            .ty,
        ..table::object(" kind str", false).fields.remove(0)
    };
    assert_eq!(hint::absent_field(&of(None)), "add `kind`");
    assert_eq!(hint::absent_field(&of(Some("(min=1)"))), "add `kind`");
    assert_eq!(hint::absent_field(&of(Some("(enum=\"A\"|\"B\")"))), "add `kind`: `A` or `B`");
    let many: Vec<String> = (0..13).map(|at| format!("\"W{at}\"")).collect();
    assert_eq!(hint::absent_field(&of(Some(&format!("(enum={})", many.join("|"))))), "add `kind`");
    let twelve = format!("(enum={})", many[..12].join("|"));
    assert!(hint::absent_field(&of(Some(&twelve))).ends_with("or `W11`"));
}

#[test]
fn invalid_quantities_suggest_the_intended_amount() {
    let any = "write a number with an optional unit, such as `8Gi` or `500m`";
    for (text, expected) in [
        ("8 GB", "write `8Gi` (powers of 1024) or `8G` (powers of 1000)"),
        ("1,024 kilobytes", any),
        ("8kB", "write `8Ki` (powers of 1024) or `8k` (powers of 1000)"),
        ("8 Gbytes", "write `8Gi` (powers of 1024) or `8G` (powers of 1000)"),
        ("8 GiB", "write `8Gi` (powers of 1024) or `8G` (powers of 1000)"),
        ("8 GiBs", any),
        ("1,024", "write `1024`"),
        ("8 bytes", "write `8`"),
        ("1.5 MB", "write `1.5Mi` (powers of 1024) or `1.5M` (powers of 1000)"),
        ("8 cores", any),
        ("GB", any),
        (".", any),
        ("many", any),
    ] {
        assert_eq!(hint::quantity(text), expected, "{text}");
    }
}

#[test]
fn a_value_of_a_wrong_type_gets_a_replacement_suggestion() {
    for (spec, expected) in [
        ("disabled: 'true'", "write `true` without quotes"),
        ("disabled: 1", "write `true` or `false`"),
        ("engineConfig: {minReplicas: some}", "write a number"),
        ("engineConfig: {minReplicas: 1.5}", "write a whole number"),
        ("engineConfig: {minReplicas: '3'}", "write `3` without quotes"),
        (
            "engineConfig: {runner: {name: r, resources: {limits: {cpu: true}}}}",
            "write a quantity such as `8Gi` or `500m`",
        ),
        ("supportedModelFormats: {name: x}", "begin each element with `- `"),
        ("protocolVersions: {a: b}", "write a list"),
        ("protocolVersions: a", "write a list: `[a]`"),
        ("engineConfig: {runner: r}", "write `name: r` on a line of its own below it"),
        ("modelSizeRange: r", "-"),
        (
            "supportedModelFormats: [{modelFormat: {name: 5}, modelFramework: {name: x}}]",
            "put it in quotes: `\"5\"`",
        ),
    ] {
        let found = help_of(&runtime(spec));
        let line = found.iter().find(|line| line.starts_with("invalid-type: "));
        let help = line.and_then(|line| line.rsplit("; ").next());
        assert_eq!(help, Some(expected), "{spec}: {found:?}");
    }
    // A long text, or one of several lines, is not repeated.
    let long = "x".repeat(61);
    for (value, shown) in [(&long[..60], true), (&long, false), ("a\\nb", false)] {
        let found = help_of(&runtime(&format!("disabled: \"{value}\"")));
        assert_eq!(found[0].contains("is a string"), shown, "{found:?}");
        assert_eq!(found[0].contains("not a string"), !shown, "{found:?}");
    }
}

#[test]
fn secret_data_must_be_base64_and_numbers_within_bounds() {
    let secret = |data: &str| {
        let text =
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ndata: {{k: {data:?}}}\n");
        messages(&text, Strictness::Server).is_empty()
    };
    for (data, fine) in [
        ("", true),
        ("YQ==", true),
        ("YWI=", true),
        ("YWJj", true),
        ("YWJj\nYWJj\r\n", true),
        ("+/+/", true),
        ("YQ", false),
        ("Y===", false),
        ("YWJ", false),
        ("YW-_", false),
        ("YW j", false),
        ("a=bc", false),
    ] {
        assert_eq!(secret(data), fine, "{data:?}");
    }
    for (value, expected) in [
        ("minReplicas: 3.0", None),
        ("minReplicas: 3.5", Some("must be an integer")),
        ("minReplicas: 1e30", Some("must be at most 9223372036854775807, not 1e30")),
        ("minReplicas: -1e30", Some("must be at least -9223372036854775808, not -1e30")),
        (
            "terminationGracePeriodSeconds: 1e30",
            Some("must be at most 9223372036854775807, not 1e30"),
        ),
        (
            "volumes: [{name: v, configMap: {name: c, defaultMode: 1e30}}]",
            Some("must be at most 2147483647, not 1e30"),
        ),
        (
            "volumes: [{name: v, configMap: {name: c, defaultMode: -1e30}}]",
            Some("must be at least -2147483648, not -1e30"),
        ),
        (
            "volumes: [{name: v, configMap: {name: c, defaultMode: -1e-30}}]",
            Some("must be an integer"),
        ),
    ] {
        let found = help_of(&runtime(&format!("engineConfig: {{{value}}}")));
        match expected {
            Some(expected) => assert!(found[0].contains(expected), "{value}: {found:?}"),
            None => assert!(found.is_empty(), "{value}: {found:?}"),
        }
    }
}

/// The findings about one value of a type that a line of the tables describes.
fn judged(rules: &str, value: &serde_json::Value) -> Vec<String> {
    let body: &'static str = format!(" field {rules}").leak();
    let definition: &'static Definition = Box::leak(Box::new(Definition::new("test/Own", body)));
    let object = node(&serde_json::json!({"field": value}));
    let mut findings = Vec::new();
    definition.whole().check(&object, Strictness::Server, &SourceMap::new(), &mut findings);
    findings.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn length_range_and_pattern_rules_are_checked() {
    use serde_json::json;
    for (rules, value, expected) in [
        ("str(min=1)", json!(""), "must have at least 1 character, not 0"),
        ("str(min=2)", json!("a"), "must have at least 2 characters, not 1"),
        ("str(min=2)", json!("aé"), ""),
        ("str(max=1)", json!("aé"), "must have at most 1 character, not 2"),
        ("[min=1]str", json!([]), "must have at least 1 element, not 0"),
        ("[max=1]str", json!(["a", "b"]), "must have at most 1 element, not 2"),
        ("str(enum=\"a\"|\"b c\")", json!("b c"), ""),
        ("str(enum=\"a\"|\"b c\")", json!("b"), "unsupported value `b`"),
        ("str(enum=\"a\"|\"\")", json!(""), ""),
        ("str(pattern=\"^a b$\")", json!("a b"), ""),
        ("str(pattern=\"^a b$\")", json!("a"), "does not match `^a b$`"),
        ("int64(enum=1|2)", json!(2), ""),
        ("int64(enum=1|2)", json!(3), "unsupported value `3`"),
        ("int64(min=1)", json!(1), ""),
        ("int64(min=1)", json!(0), "must be at least 1, not 0"),
        ("int64(max=1)", json!(2), "must be at most 1, not 2"),
        ("num(min=1)", json!(1), ""),
        ("num(min=1)", json!(0.5), "must be at least 1, not 0.5"),
        ("num(min=1)", json!(0), "must be at least 1, not 0"),
        ("num(max=1)", json!(1), ""),
        ("num(max=1)", json!(1.5), "must be at most 1, not 1.5"),
        ("num(max=1)", json!(u64::MAX), "must be at most 1, not 18446744073709552000"),
        ("num", json!(1.5), ""),
    ] {
        let found = judged(rules, &value);
        match expected {
            "" => assert!(found.is_empty(), "{rules} {value}: {found:?}"),
            expected => assert!(found[0].ends_with(expected), "{rules} {value}: {found:?}"),
        }
    }
}

#[test]
fn types_are_found_at_user_written_paths() {
    let root = kind("ome.io/v1beta1", "ClusterServingRuntime").unwrap().root();
    let at = |path: &str| {
        let path = crate::yaml::FieldPath::parse(path).unwrap();
        root.select(&path).map(|ty| format!("{ty:?}"))
    };
    let text = Some("Str(None)".to_owned());
    for path in [
        "spec.engineConfig.runner.env[0].name",
        "spec.engineConfig.runner.env.name",
        "spec.engineConfig.runner.env[name=A].name",
        "spec.engineConfig.nodeSelector.zone",
        "spec.engineConfig.runner.args[0]",
        "metadata.labels.any",
    ] {
        assert_eq!(at(path), text, "{path}");
    }
    assert_eq!(at("spec.engineConfig.runner.none"), None);
    assert_eq!(at("spec.engineConfig.runner.image.none"), None);
    let along = |names: &[&str]| root.at(names).map(|ty| format!("{ty:?}"));
    assert_eq!(along(&["spec", "engineConfig", "runner", "env", "name"]), text);
    assert_eq!(along(&["spec", "engineConfig", "nodeSelector", "zone"]), text);
    assert_eq!(along(&["spec", "none"]), None);
}

#[test]
fn overridden_defaults_are_listed() {
    let text = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: a}\nspec: {supportedModelFormats: [{modelFormat: {name: x, weight: 7, operator: Equal}}]}\n";
    let tree =
        yaml::parse(crate::source::SourceId(0), text, 0..text.len(), &yaml::Limits::default());
    let schema = kind("ome.io/v1beta1", "ClusterServingRuntime").unwrap();
    let found: Vec<(String, String)> = schema
        .overruled(&tree.value.unwrap())
        .into_iter()
        .map(|(span, default)| {
            let (start, end) = (span.start as usize, span.end as usize);
            (text[start..end].to_owned(), default.to_json().to_string())
        })
        .collect();
    let expected = [("Equal", "\"Equal\""), ("7", "1")];
    let expected = expected.map(|(written, default)| (written.to_owned(), default.to_owned()));
    assert!(
        found.len() == 2 && expected.iter().all(|expected| found.contains(expected)),
        "{found:?}"
    );
}

#[test]
fn cel_rules_run_only_on_objects_that_fit_the_schema() {
    let broken = |api: &str, listener: &str| -> Vec<String> {
        let text = format!(
            "{{\"apiVersion\": \"{api}\", \"kind\": \"Gateway\", \"metadata\": {{\"name\": \"a\", \
             \"namespace\": \"n\"}}, \"spec\": {{\"gatewayClassName\": \"c\", \"listeners\": [{listener}]}}}}"
        );
        let object = node(&serde_json::from_str(&text).unwrap());
        let found = kind("gateway.networking.k8s.io/v1", "Gateway").unwrap();
        let schema = kind(api, "Gateway").unwrap_or(found);
        let found = schema.broken_rules(&object, &SourceMap::new());
        found.into_iter().map(|broken| format!("{}: {}", broken.path, broken.message)).collect()
    };
    let v1 = "gateway.networking.k8s.io/v1";
    let fine = r#"{"name": "a", "port": 80, "protocol": "HTTP"}"#;
    assert!(broken(v1, fine).is_empty());
    let twice = format!(r#"{fine}, {{"name": "b", "port": 80, "protocol": "HTTP"}}"#);
    let found = broken(v1, &twice);
    let message = "spec.listeners: Combination of port, protocol and hostname must be unique";
    assert!(found.len() == 1 && found[0].starts_with(message), "{found:?}");
    assert_eq!(broken("gateway.networking.k8s.io/v1beta1", &twice), found);
    let tls = r#"{"name": "a", "port": 443, "protocol": "HTTPS", "tls": {"mode": "Terminate"}}"#;
    assert_eq!(
        broken(v1, tls),
        [
            "spec.listeners[0].tls: certificateRefs or options must be specified when mode is Terminate"
        ]
    );
    // A value that does not match its schema is not checked.
    assert!(broken(v1, &format!("{twice}, {{\"name\": 5}}")).is_empty());
    let config = kind("v1", "ConfigMap").unwrap();
    let object = node(&serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap"}));
    assert!(config.broken_rules(&object, &SourceMap::new()).is_empty());
}

#[test]
fn durations_are_those_of_go() {
    // A condition about texts and whether it holds; none is an error.
    for (rule, expected) in [
        ("duration('0') == duration('0s')", true),
        ("duration('1m') == duration('60s')", true),
        ("duration('1h1m1s1ms1us1ns') > duration('3661s1ms1us')", true),
        ("duration('1.5s') == duration('1500ms')", true),
        ("duration('.5s') == duration('500ms')", true),
        ("duration('1.s') == duration('1s')", true),
        ("duration('0.25m') == duration('15s')", true),
        ("duration('1us') == duration('1µs')", true),
        ("duration('2s') == duration('1s')", false),
        ("true == (1 == 1)", true),
        ("(1 == 1) == (1 == 2)", false),
        ("(1 == 2) != (1 == 1)", true),
        ("'a' != 'a'", false),
        ("'a' != 1", true),
    ] {
        assert_eq!(truth(rule), Some(expected), "{rule}");
    }
    for text in ["", ".s", "1", "s", "1x", "1..5s", "1.5.5s", "1234567890123456789s"] {
        assert_eq!(truth(&format!("duration('{text}') == duration('1s')")), None, "{text}");
    }
    assert_eq!(truth("duration('123456789012345678s') > duration('1s')"), Some(true));
}

fn truth(rule: &str) -> Option<bool> {
    use super::super::cel;
    match cel::evaluate(&cel::parse(rule)?, &node(&serde_json::json!({}))) {
        cel::Outcome::Holds => Some(true),
        cel::Outcome::Fails => Some(false),
        cel::Outcome::Error | cel::Outcome::TooCostly => None,
    }
}

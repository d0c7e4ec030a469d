//! Types of a few fields, written in the grammar of the tables.

use super::super::marshal::{Misfit, zero};
use super::super::overlay;
use super::super::types::{Rules, Type};
use super::*;
use crate::yaml::Value;

/// The first type of a text.
fn ty(text: &'static str) -> &'static Type {
    let definition = table::index(text).into_iter().next().unwrap();
    Box::leak(Box::new(definition)).whole()
}

fn json(text: &str) -> Node {
    node(&serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

#[test]
fn a_table_lists_types_with_their_fields() {
    let text = "# about\nA\n # a field\n a str\n b [set] str !?~3*+ merge,retain:name or:a = [\"x\"]\n\nB open\nC closed\n c qty\n";
    let all = table::index(text);
    let names: Vec<(&str, bool, usize)> = all
        .iter()
        .map(|one| (one.name, one.open(), table::object(one.body(), one.open()).fields.len()))
        .collect();
    assert_eq!(names, [("A", false, 2), ("B", true, 0), ("C", false, 1)]);
    assert_eq!(format!("{:?}", all[0]), "A");
    let fields = &all[0].server().fields;
    let field = &fields[1];
    let flags = [
        field.required,
        field.nullable,
        field.always,
        field.formerly_always,
        field.pointer,
        field.recent,
    ];
    assert_eq!(flags, [true; 6]);
    assert_eq!(
        (field.or, field.default, field.lenient, field.documented),
        (Some("a"), Some("[\"x\"]"), false, false)
    );
    assert_eq!(field.patch, Patch { merge: true, retain: true, replace: false, key: Some("name") });
    let first = &fields[0];
    let flags = [first.required, first.nullable, first.always, first.pointer, first.recent];
    assert_eq!((flags, first.or, first.default), ([false; 5], None, None));
    let rules = |text: &'static str| match table::object(text, false).fields.remove(0).ty {
        Type::Str(rules) => rules.map(|rules| *rules),
        Type::List(item) => Some(item.rules),
        _ => None,
    };
    let default = Rules::default();
    assert_eq!(rules(" a str"), None);
    assert_eq!(rules(" a [] str"), Some(default.clone()));
    assert_eq!(rules(" a [set]str"), Some(Rules { set: true, ..default.clone() }));
    assert_eq!(rules(" a [odd]str"), Some(default.clone()));
    assert_eq!(
        rules(" a [map=a|b min=1 max=2]str"),
        Some(Rules { keys: vec!["a", "b"], min: Some(1), max: Some(2), ..default.clone() })
    );
    // A quoted pattern may hold what ends rules elsewhere.
    assert_eq!(
        rules(" a str(pattern=\"^a) \\\" ]$\" max=3) !"),
        Some(Rules { pattern: Some("\"^a) \\\" ]$\""), max: Some(3), ..default.clone() })
    );
    assert_eq!(
        rules(" a str(enum=\"a b\"|\"c\")"),
        Some(Rules { choices: vec!["\"a b\"", "\"c\""], ..default })
    );
}

/// The stored tree, or its errors.
#[test]
fn struct_marshaling_follows_the_go_tags() {
    use Library::{V0_33, V0_34};
    let plain = "T\n s str\n i int\n f num\n b bool\n l []str\n m {}str\n a any\n q qty\n o U\n";
    let always = "T\n s str ~\n i int32 ~\n b bool ~\n l []str ~\n q qty ~\n t time ~\n p U ~*\n o kserve/MultiNodeEnv ~\n v str *\n";
    let old = "T\n c time 3\n n str +\n";
    let open = "T open\n a str\n";
    let zeros = r#"{"s":"","i":0,"f":0.0,"b":false,"l":[],"m":{},"a":null}"#;
    for (text, library, tree, expected) in [
        (plain, V0_34, zeros, Ok("{}")),
        (
            plain,
            V0_34,
            r#"{"s":"x","i":1,"f":0.5,"b":true,"l":["y"],"m":{"k":""},"a":{},"q":"1000m","z":1}"#,
            Ok(r#"{"s":"x","i":1,"f":0.5,"b":true,"l":["y"],"m":{"k":""},"a":{},"q":"1"}"#),
        ),
        // Keys of another case are taken for fields unless one is exact.
        (plain, V0_34, r#"{"S":"x"}"#, Ok(r#"{"s":"x"}"#)),
        (plain, V0_34, r#"{"S":"x","s":"y"}"#, Ok(r#"{"s":"y"}"#)),
        (
            always,
            V0_34,
            "{}",
            Ok(r#"{"s":"","i":0,"b":false,"l":null,"q":"0","t":null,"p":null,"o":null}"#),
        ),
        (
            always,
            V0_34,
            r#"{"v":"","s":"","i":5}"#,
            Ok(r#"{"s":"","i":5,"b":false,"l":null,"q":"0","t":null,"p":null,"o":null,"v":""}"#),
        ),
        (old, V0_33, r#"{"n":"x"}"#, Ok(r#"{"c":null}"#)),
        (old, V0_34, r#"{"n":"x"}"#, Ok(r#"{"n":"x"}"#)),
        (open, V0_34, r#"{"a":"","b":1,"c":{"d":null}}"#, Ok(r#"{"b":1,"c":{"d":null}}"#)),
        (plain, V0_34, r#"{"s":1}"#, Err("`s`: 1 does not fit")),
        (plain, V0_34, r#"{"l":["a",{}]}"#, Err("`l[1]`: a mapping does not fit")),
        (plain, V0_34, r#"{"m":{"k":1}}"#, Err("`m.k`: 1 does not fit")),
        (plain, V0_34, r#"{"q":"x"}"#, Err("`q`: x does not fit")),
        (plain, V0_34, r#"{"q":"x\ny\n"}"#, Err("`q`: a text of 2 lines does not fit")),
        (plain, V0_34, r#"{"i":"1"}"#, Err("`i`: 1 does not fit")),
        (plain, V0_34, r#"{"i":2147483648}"#, Ok(r#"{"i":2147483648}"#)),
        (always, V0_34, r#"{"i":2147483648}"#, Err("`i`: 2147483648 does not fit")),
    ] {
        let found = marshal(&json(tree), ty(text), library);
        let expected = expected.map(|text| text.replace(r#","o":null"#, ""));
        let found = found.map_err(|error| error.to_string()).map(|node| {
            let mut tree = node.to_json();
            if text == always
                && let Some(map) = tree.as_object_mut()
            {
                map.remove("o");
            }
            tree.to_string()
        });
        assert_eq!(found, expected.map_err(ToOwned::to_owned), "{tree}");
    }
    let misfit = Misfit::new("a.b", &json("[]"));
    assert_eq!(misfit.to_string(), "`a.b`: a list does not fit");
    // A struct that is not a pointer is printed with its own zero values.
    let nested = ty("T\n metadata ObjectMeta ~\n");
    let printed = marshal(&json("{}"), nested, V0_33).unwrap().to_json();
    assert_eq!(printed["metadata"], serde_json::json!({"creationTimestamp": null}));
    let printed = marshal(&json(r#"{"metadata":{"name":"a"}}"#), nested, V0_34).unwrap().to_json();
    assert_eq!(printed["metadata"], serde_json::json!({"name": "a"}));
    assert_eq!(
        [zero(&Type::Bool), zero(&Type::Quantity)],
        [Value::Bool(false), Value::Str("0".into())]
    );
}

#[test]
fn defaults_reach_into_lists_and_maps() {
    let text = "T\n a int = 1\n n int ? = 2\n l []ObjectReference\n m {}int\n s []str\n";
    for (tree, expected) in [
        ("{}", r#"{"a":1,"n":2}"#),
        (r#"{"a":null,"n":null}"#, r#"{"a":1,"n":null}"#),
        (r#"{"a":5,"n":6}"#, r#"{"a":5,"n":6}"#),
        (r#"{"s":["x",null],"m":{"k":null}}"#, r#"{"s":["x",null],"m":{"k":null},"a":1,"n":2}"#),
    ] {
        let mut tree = json(tree);
        ty(text).default(&mut tree);
        assert_eq!(tree, json(expected));
    }
    // A port of a container has a default, which is written wherever the port is.
    let deployment = kind("ome.io/v1beta1", "InferenceService").unwrap();
    let mut object = json(
        r#"{"spec":{"engine":{"runner":{"ports":[{"containerPort":1},{"containerPort":2,"protocol":"UDP"}]}}}}"#,
    );
    deployment.default(&mut object);
    let ports = object.at(&["spec", "engine", "runner", "ports"]).unwrap().to_json();
    assert_eq!(
        ports,
        serde_json::json!([{"containerPort": 1, "protocol": "TCP"}, {"containerPort": 2, "protocol": "UDP"}])
    );
}

#[test]
fn values_are_checked_against_their_type() {
    let mut failed = Vec::new();
    for (text, tree, expected) in [
        ("o/T\n f int\n", r#"{"f":3.0}"#, ""),
        ("o/T\n f int\n", r#"{"f":3.5}"#, "`f` must be an integer, `3.5` is a number"),
        (
            "o/T\n f int\n",
            r#"{"f":-1e30}"#,
            "`f` must be at least -9223372036854775808, not -1000000000000000000000000000000",
        ),
        (
            "o/T\n f int\n",
            r#"{"f":1e30}"#,
            "`f` must be at most 9223372036854775807, not 1000000000000000000000000000000",
        ),
        (
            "o/T\n f int32\n",
            r#"{"f":-1e30}"#,
            "`f` must be at least -2147483648, not -1000000000000000000000000000000",
        ),
        (
            "o/T\n f int32\n",
            r#"{"f":2147483648}"#,
            "`f` must be at most 2147483647, not 2147483648",
        ),
        ("o/T\n f int32\n", r#"{"f":2147483647}"#, ""),
        ("o/T\n f int(max=5)\n", r#"{"f":5}"#, ""),
        ("o/T\n f int(max=5)\n", r#"{"f":6}"#, "`f` must be at most 5, not 6"),
        ("o/T\n f int(min=5)\n", r#"{"f":5}"#, ""),
        ("o/T\n f int(min=5)\n", r#"{"f":4}"#, "`f` must be at least 5, not 4"),
        ("o/T\n f str(max=2)\n", r#"{"f":"ab"}"#, ""),
        ("o/T\n f str(max=2)\n", r#"{"f":"abc"}"#, "`f` must have at most 2 characters, not 3"),
        ("o/T\n f str(min=1)\n", r#"{"f":""}"#, "`f` must have at least 1 character, not 0"),
        ("o/T\n f qty\n", r#"{"f":0.5}"#, "`f` must be a quantity, `0.5` is a number"),
        ("o/T\n f qty\n", r#"{"f":2.0}"#, ""),
        ("T\n f qty\n", r#"{"f":0.5}"#, ""),
        ("o/T\n f {}str\n", r#"{"f":{"k":"1e99999"}}"#, ""),
        (
            "o/T\n f {}qty\n",
            r#"{"f":{"nvidia.com/gpu":"-1"}}"#,
            "`f.nvidia\\.com/gpu` must be a whole number from 0 to 1000000, not `-1`: it is not counted",
        ),
        ("o/T\n f str !\n", "{}", "`f` is required"),
        ("o/T\n f str !\n", r#"{"f":null}"#, "`f` is required"),
        ("o/T\n f str !?\n", r#"{"f":null}"#, ""),
        ("o/T\n f str !\n g str !?\n", r#"{"g":null}"#, "`f` is required"),
        ("o/T\n f str ! = \"x\"\n", "{}", ""),
        ("o/T\n f str ! or:g\n g str\n", r#"{"g":"x"}"#, ""),
        ("o/T\n f str ! or:g\n g str\n", r#"{"g":null}"#, "`f` is required"),
        // A Go struct has its zero value.
        ("T\n f str !\n", "{}", ""),
        ("o/T open\n f str\n", r#"{"z":1}"#, ""),
        ("o/T\n f str\n", r#"{"z":1}"#, "unknown field `z`"),
        (
            "o/T\n size int\n",
            r#"{"size":-1}"#,
            "`size` must be a whole number from 0 to 2147483647, not `-1`: it is not counted",
        ),
        (
            "o/T\n size int\n",
            r#"{"size":2147483648}"#,
            "`size` must be a whole number from 0 to 2147483647, not `2147483648`: it is not counted",
        ),
        ("o/T\n size int\n", r#"{"size":2147483647}"#, ""),
        ("o/T\n other int\n", r#"{"other":-1}"#, ""),
        ("o/T\n f [set]str\n", r#"{"f":["a","b","a"]}"#, "`f` has `a` twice"),
        ("o/T\n f []str\n", r#"{"f":["a","a"]}"#, ""),
        ("o/T\n f [min=1]str\n", r#"{"f":[]}"#, "`f` must have at least 1 element, not 0"),
        ("o/T\n f [max=1]str\n", r#"{"f":["a","b"]}"#, "`f` must have at most 1 element, not 2"),
        ("o/T\n f [max=2]str\n", r#"{"f":["a","b"]}"#, ""),
        ("o/T\n f []str\n", r#"{"f":[null]}"#, "`f[0]` must be a string, not null"),
        ("T\n f []str\n", r#"{"f":[null]}"#, "warning: `f[0]` must be a string, not null"),
        ("T\n f []str\n", r#"{"f":[1]}"#, "`f[0]` must be a string, `1` is an integer"),
        ("o/T\n f bytes\n", r#"{"f":"YQ=="}"#, ""),
        ("o/T\n f bytes\n", r#"{"f":"YQ="}"#, "`f` is not base64"),
    ] {
        let mut findings = Vec::new();
        ty(text).check(&json(tree), Strictness::Server, &SourceMap::new(), &mut findings);
        let findings: Vec<String> = findings
            .iter()
            .map(|finding| {
                let soft = finding.severity == Severity::Warning;
                let counted = finding.message.contains("counted");
                let warning = if soft && !counted { "warning: " } else { "" };
                format!("{warning}{}", finding.message)
            })
            .collect();
        let message = findings.join(", ");
        if message != expected {
            failed.push(format!("{text} {tree}\n  {message}\n  {expected}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn timestamps_need_a_valid_date_and_an_offset() {
    for (time, right) in [
        ("2026-01-31T12:00:00Z", true),
        ("2026-01-31t12:00:00z", true),
        ("2026-01-32T12:00:00Z", false),
        ("2026-01-00T12:00:00Z", false),
        ("2026-00-01T12:00:00Z", false),
        ("2026-13-01T12:00:00Z", false),
        ("2026-12-31T12:00:00Z", true),
        ("2026-04-30T12:00:00Z", true),
        ("2026-04-31T12:00:00Z", false),
        ("2026-06-31T12:00:00Z", false),
        ("2026-09-31T12:00:00Z", false),
        ("2026-11-31T12:00:00Z", false),
        ("2026-02-28T12:00:00Z", true),
        ("2026-02-29T12:00:00Z", false),
        ("2024-02-29T12:00:00Z", true),
        ("2024-02-30T12:00:00Z", false),
        ("1900-02-29T12:00:00Z", false),
        ("2000-02-29T12:00:00Z", true),
        ("2026-01-01T23:59:59Z", true),
        ("2026-01-01T24:00:00Z", false),
        ("2026-01-01T00:60:00Z", false),
        ("2026-01-01T00:00:60Z", false),
        ("2026-01-01T00:00:00.5Z", true),
        ("2026-01-01T00:00:00,5Z", true),
        ("2026-01-01T12:00:00.Z", false),
        ("2026-01-01T12:00:00,+02:00", false),
        ("2026-01-01T00:00:00+02:00", true),
        ("2026-01-01T00:00:00-02:00", true),
        ("2026-01-01T00:00:00", false),
        ("2026-01-01 00:00:00Z", false),
        ("x026-01-01T00:00:00Z", false),
        ("2026-01-01", false),
    ] {
        let tree = json(&format!(r#"{{"f":"{time}"}}"#));
        let mut findings = Vec::new();
        ty("T\n f time\n").check(&tree, Strictness::Server, &SourceMap::new(), &mut findings);
        assert_eq!(findings.is_empty(), right, "{time}");
    }
}

#[test]
fn the_documents_add_fields_and_replace_types() {
    let fields = |name: &str| {
        let definition = table::definition(name).unwrap();
        (definition.server(), definition.documented())
    };
    let mut seen = [0; 4];
    for definition in table::index(include_str!("../tables/overlay.txt")) {
        if definition.name.starts_with("oep3/") || definition.name == "*" {
            continue;
        }
        let (server, documented) = fields(definition.name);
        assert_eq!(documented.open, server.open || definition.open(), "{}", definition.name);
        for expected in &definition.server().fields {
            let found = documented.fields.iter().find(|field| field.name == expected.name).unwrap();
            match server.fields.iter().find(|field| field.name == expected.name) {
                None => {
                    assert!(
                        found.documented && !found.lenient,
                        "{}.{}",
                        definition.name,
                        expected.name
                    );
                    seen[0] += 1;
                }
                Some(shipped) => {
                    assert!(!found.documented, "{}.{}", definition.name, expected.name);
                    let lenient = shipped.required && !expected.required;
                    assert_eq!(found.lenient, lenient, "{}.{}", definition.name, expected.name);
                    assert_eq!(found.patch, shipped.patch, "{}.{}", definition.name, expected.name);
                    let flags = |field: &Field| {
                        [field.always, field.formerly_always, field.pointer, field.recent]
                    };
                    assert_eq!(
                        flags(found),
                        flags(shipped),
                        "{}.{}",
                        definition.name,
                        expected.name
                    );
                    seen[1] += 1;
                    seen[2] += usize::from(lenient);
                }
            }
        }
        let more = documented
            .fields
            .iter()
            .filter(|field| server.fields.iter().all(|other| other.name != field.name));
        seen[3] += more.count();
    }
    assert!(seen[..3].iter().all(|count| *count > 0), "{seen:?}");
    assert_eq!(seen[0], seen[3]);
    // Types that the overlay does not name have their own fields.
    assert!(overlay::apply("none", " a str\n", false).is_none());
    // Rules for fields of every type are for those without rules of their own.
    let everywhere = table::index(include_str!("../tables/overlay.txt"))
        .into_iter()
        .find(|definition| definition.name == "*")
        .unwrap();
    for rule in &everywhere.server().fields {
        let rules = |ty: &Type| match ty {
            Type::Str(rules) | Type::Int(rules) | Type::IntOrString(rules) => rules.clone(),
            _ => None,
        };
        let word = match &rule.ty {
            Type::Str(_) => "str",
            Type::Int(_) => "int",
            _ => "ios",
        };
        for (name, expected) in [
            ("", rules(&rule.ty)),
            ("(min=7)", Some(Box::new(Rules { min: Some(7), ..Rules::default() }))),
        ] {
            let body: &'static str = format!(" before str\n {} {word}{name}\n", rule.name).leak();
            let object = overlay::apply("none", body, false).unwrap();
            assert_eq!(rules(&object.fields[1].ty), expected, "{} {name}", rule.name);
            assert_eq!(rules(&object.fields[0].ty), None);
            assert!(!object.open && overlay::apply("none", body, true).unwrap().open);
        }
    }
}

#[test]
fn pruning_keeps_what_open_types_and_maps_hold() {
    let deep = "apps/v1";
    let root = kind(deep, "Deployment").unwrap().root();
    let mut tree = json(
        r#"{"metadata":{"labels":{"any":"x"},"bogus":1},"spec":{"template":{"spec":{"containers":[{"name":"c","bogus":1,"resources":{"limits":{"cpu":"1"}}}]}},"bogus":[1]}}"#,
    );
    prune(&mut tree, root);
    assert_eq!(
        tree,
        json(
            r#"{"metadata":{"labels":{"any":"x"}},"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]}}}}"#
        )
    );
    let mut tree = json(r#"{"a":"x","b":1}"#);
    prune(&mut tree, ty("T open\n a str\n"));
    assert_eq!(tree, json(r#"{"a":"x","b":1}"#));
    prune(&mut tree, ty("T\n a str\n"));
    assert_eq!(tree, json(r#"{"a":"x"}"#));
}

/// Two types of one name would be the first of them everywhere.
#[test]
fn a_name_is_of_one_type() {
    let mut names = std::collections::HashSet::new();
    for definition in table::TABLES.iter().flat_map(table::Table::definitions) {
        assert!(names.insert(definition.name), "{}", definition.name);
    }
}

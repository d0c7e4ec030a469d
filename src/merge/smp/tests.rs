use super::*;
use crate::merge::history::Recorder;
use crate::quantity::recordings;
use crate::schema;
use crate::yaml::{Origin, Rule};

static RULE: Rule = Rule { id: "test", text: "", cite: "" };

fn node(value: &serde_json::Value) -> Node {
    Node::from_json(value, Origin::Derived(&RULE))
}

#[test]
fn merges_match_the_recorded_upstream_results() {
    let mut failed = Vec::new();
    let rows: Vec<serde_json::Value> = recordings::rows("apimachinery/strategic-merge");
    for row in &rows {
        let ty = schema::structure(row["type"].as_str().unwrap());
        assert!(ty.is_some(), "{}", row["type"]);
        let typed = row["mode"] == "typed";
        if typed && row["original_marshalled"].is_null() {
            // Decoding rejected it before the merge.
            continue;
        }
        let (original, patch, expected) = if typed {
            (&row["original_marshalled"], &row["patch_marshalled"], &row["merged"])
        } else {
            (&row["original"], &row["patch"], &row["result"])
        };
        let mut history = Recorder::new();
        let result = merge(node(original), &node(patch), ty, &mut history);
        let same = match &result {
            Ok(merged) => row.get("error").is_none() && merged == &node(expected),
            Err(_) => row.get("error").is_some(),
        };
        if !same {
            failed.push(format!(
                "{}\n  original {original}\n  patch    {patch}\n  expected {} {expected}\n  got      {:?}",
                row["id"],
                row["error"],
                result.map(|node| node.to_json().to_string())
            ));
        }
        // Recording does not change the result.
        assert_eq!(
            merge(node(original), &node(patch), ty, &mut Recorder::off()).ok(),
            merge(node(original), &node(patch), ty, &mut history).ok()
        );
    }
    assert!(failed.is_empty(), "{} of {} rows:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

fn merged(base: &serde_json::Value, patch: &serde_json::Value, ty: &str) -> serde_json::Value {
    merge(node(base), &node(patch), schema::structure(ty), &mut Recorder::off()).unwrap().to_json()
}

#[test]
fn keyed_lists_keep_the_order_of_the_patch_and_of_the_base() {
    // Results recorded from k8s.io/apimachinery, pkg/util/strategicpatch.
    let list = |names: &str| {
        serde_json::Value::Array(
            names.split_whitespace().map(|name| serde_json::json!({"name": name})).collect(),
        )
    };
    for (base, patch, expected) in [
        ("A B", "X", "X A B"),
        ("A B C", "X A", "X A B C"),
        ("A B C", "A X", "A X B C"),
        ("A B C", "B X", "A B X C"),
        ("A B C", "C X", "A B C X"),
        ("A B C", "C A", "B C A"),
        ("A B C D", "D X B", "A C D X B"),
        ("A B C D", "B X D Z", "A B X C D Z"),
    ] {
        let result = merged(
            &serde_json::json!({"env": list(base)}),
            &serde_json::json!({"env": list(patch)}),
            "Container",
        );
        assert_eq!(result["env"], list(expected), "{base} + {patch}");
        // Long lists use another search and give the same result.
        let tail: String = (0..40).fold(String::new(), |tail, number| format!("{tail} T{number}"));
        let long = merged(
            &serde_json::json!({"env": list(&format!("{base}{tail}"))}),
            &serde_json::json!({"env": list(patch)}),
            "Container",
        );
        assert_eq!(long["env"].as_array().map(Vec::len), Some(expected.split(' ').count() + 40));
    }
}

/// Results of strategicpatch.StrategicMergePatch of k8s.io/apimachinery v0.33.7 for finalizers that
/// occur twice in the base. Rows: base, patch, `$setElementOrder`, result, one letter per
/// finalizer.
#[test]
fn duplicates_in_the_base_are_merged_like_upstream() {
    let list = |letters: &str| -> Vec<String> { letters.chars().map(String::from).collect() };
    for (base, patch, order, expected) in [
        ("ddd", "ab", "", "abd"),
        ("aa", "bay", "", "bay"),
        ("cdbbc", "acxd", "", "acxdb"),
        ("dacd", "ay", "", "dayc"),
        ("bab", "dabx", "", "dabx"),
        ("dbdcad", "db", "", "dbac"),
        ("dabacd", "yada", "", "yadbc"),
        ("dcbda", "d", "", "dcba"),
        ("bbbdb", "yxcx", "", "yxcbd"),
        ("dad", "d", "", "da"),
        ("dcabd", "da", "", "dcab"),
        ("badbcd", "cc", "", "badc"),
        ("dadaaa", "ccyc", "", "cyda"),
        ("bcccd", "xaad", "", "xabcd"),
        ("adac", "yac", "", "yadc"),
        ("bddd", "dxd", "", "bdx"),
        ("badb", "by", "", "byad"),
        ("cacaa", "x", "", "cax"),
        ("baadca", "d", "", "badc"),
        ("baa", "bbdx", "", "bdxa"),
        ("cacaad", "dad", "", "cda"),
        ("aaa", "byb", "", "bya"),
        ("bbc", "yy", "yy", "ybc"),
        ("bcaac", "x", "xc", "baxc"),
        ("bbcb", "xy", "xy", "xybc"),
        ("aaaa", "yx", "yx", "yxa"),
        ("cbbab", "xx", "xxa", "cbxa"),
        ("bbba", "xy", "xy", "xyba"),
        ("cacb", "x", "x", "xcab"),
        ("caa", "y", "yb", "cay"),
        ("cac", "xx", "xx", "xca"),
        ("aba", "xy", "xyba", "xyba"),
        ("bcaca", "x", "xaa", "bcxa"),
        ("bbbb", "xx", "xxa", "xb"),
        ("baaa", "x", "x", "xba"),
        ("ab", "yx", "yx", "yxab"),
    ] {
        let mut change = serde_json::json!({"finalizers": list(patch)});
        if !order.is_empty() {
            change["$setElementOrder/finalizers"] = list(order).into();
        }
        let base = serde_json::json!({"finalizers": list(base)});
        let result = merged(&base, &change, "ObjectMeta");
        assert_eq!(result["finalizers"], serde_json::json!(list(expected)), "{base} + {change}");
    }
}

#[test]
fn unknown_types_merge_mappings_and_replace_lists() {
    let (base, patch) = (
        serde_json::json!({"a": {"b": 1, "l": [1, 2]}}),
        serde_json::json!({"a": {"c": null, "l": [3]}, "n": {"x": null, "y": 1}}),
    );
    let result = merge(node(&base), &node(&patch), None, &mut Recorder::off()).unwrap().to_json();
    assert_eq!(result, serde_json::json!({"a": {"b": 1, "l": [3]}, "n": {"y": 1}}));
}

#[test]
fn overridden_values_are_kept_in_the_history() {
    use crate::yaml::FieldPath;
    let base = serde_json::json!({"name": "c", "image": "old", "args": ["--a"], "env": [{"name": "L", "value": "info"}, {"name": "K", "value": "k"}], "stdin": true});
    let patch = serde_json::json!({"name": "c", "image": "new", "args": ["--b"], "env": [{"name": "L", "value": "debug"}, {"name": "K", "$patch": "delete"}], "stdin": null});
    let mut history = Recorder::new();
    history.stand(FieldPath::parse("spec.runner").unwrap());
    merge(node(&base), &node(&patch), schema::structure("Container"), &mut history).unwrap();
    let lost = |path: &str| {
        let path = FieldPath::parse(path).unwrap();
        history
            .overridden_at(&path)
            .iter()
            .map(|lost| {
                (
                    lost.loser.to_json().to_string(),
                    lost.winner.map(|node| node.to_json().to_string()),
                    lost.restated(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(lost("spec.runner.image"), [("\"old\"".into(), Some("\"new\"".into()), false)]);
    assert_eq!(lost("spec.runner.args[0]"), [("\"--a\"".into(), Some("\"--b\"".into()), false)]);
    assert_eq!(
        lost("spec.runner.env[name=L].value"),
        [("\"info\"".into(), Some("\"debug\"".into()), false)]
    );
    assert_eq!(lost("spec.runner.env[name=K].value"), [("\"k\"".into(), None, false)]);
    assert_eq!(lost("spec.runner.stdin"), [("true".into(), None, false)]);
    assert_eq!(lost("spec.runner.name"), [("\"c\"".into(), Some("\"c\"".into()), true)]);
    assert!(lost("spec.runner.env").is_empty());
    assert_eq!(history.overridden_below(&FieldPath::parse("spec.runner.env").unwrap()).count(), 3);
}

#[test]
fn an_error_names_the_field() {
    let base = serde_json::json!({"containers": [{"name": "a", "env": [{"name": "E"}]}]});
    let patch = serde_json::json!({"containers": [{"name": "a", "env": [{"value": "x"}]}]});
    let error =
        merge(node(&base), &node(&patch), schema::structure("PodSpec"), &mut Recorder::off())
            .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`containers[name=a].env`: a list element has no `name`, the key by which the list is merged"
    );
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn tree() -> impl Strategy<Value = serde_json::Value> {
        let scalar = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            (0..3i64).prop_map(Into::into),
            Just(serde_json::json!(1.5)),
            prop_oneof!["a", "b", "delete", "replace", "merge"].prop_map(Into::into),
        ];
        scalar.prop_recursive(5, 48, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                fields(inner, true).prop_map(serde_json::Value::Object)
            ]
        })
    }

    fn fields(
        inner: impl Strategy<Value = serde_json::Value> + 'static,
        directives: bool,
    ) -> impl Strategy<Value = serde_json::Map<String, serde_json::Value>> {
        let plain = [
            "name",
            "containers",
            "env",
            "args",
            "volumes",
            "metadata",
            "finalizers",
            "labels",
            "value",
            "ports",
            "containerPort",
            "resources",
            "limits",
        ];
        let names = if directives {
            [
                &plain[..],
                &[
                    "$patch",
                    "$retainKeys",
                    "$setElementOrder/containers",
                    "$setElementOrder/env",
                    "$deleteFromPrimitiveList/finalizers",
                ],
            ]
            .concat()
        } else {
            plain.to_vec()
        };
        prop::collection::vec((prop::sample::select(names), inner), 0..5).prop_map(|pairs| {
            pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        })
    }

    /// Keeps one element per name. A list with a duplicate key does not give the same result when
    /// merged twice, here and upstream.
    fn unique(items: Vec<serde_json::Value>) -> serde_json::Value {
        let mut seen = std::collections::BTreeSet::new();
        items.into_iter().filter(|item| seen.insert(item["name"].to_string())).collect()
    }

    /// Generates pod specs, and patches that can be merged into them.
    fn pod() -> impl Strategy<Value = serde_json::Value> {
        let named = |more: BoxedStrategy<serde_json::Map<String, serde_json::Value>>| {
            ("[a-d]", more).prop_map(|(name, mut map)| {
                map.insert("name".into(), name.into());
                serde_json::Value::Object(map)
            })
        };
        let variable = named(
            "[xy]"
                .prop_map(|value| serde_json::Map::from_iter([("value".into(), value.into())]))
                .boxed(),
        );
        let container =
            (prop::collection::vec(variable, 0..4), prop::collection::vec("[pq]", 0..3)).prop_map(
                |(env, args)| {
                    serde_json::Map::from_iter([
                        ("env".to_owned(), unique(env)),
                        ("args".to_owned(), args.into()),
                    ])
                },
            );
        (prop::collection::vec(named(container.boxed()), 0..4), prop::option::of("[hi]"))
            .prop_map(|(containers, hostname)| serde_json::json!({"containers": unique(containers), "hostname": hostname}))
    }

    proptest! {
        #[test]
        fn merging_arbitrary_trees_does_not_panic(base in tree(), patch in tree(), ty in prop::sample::select(vec!["PodSpec", "Container", "Deployment", "ObjectMeta"])) {
            let _ = merge(node(&base), &node(&patch), schema::structure(ty), &mut Recorder::new());
            let _ = merge(node(&base), &node(&patch), None, &mut Recorder::off());
        }

        #[test]
        fn an_empty_patch_changes_nothing(base in pod()) {
            prop_assert_eq!(merged(&base, &serde_json::json!({}), "PodSpec"), base);
        }

        #[test]
        fn merging_twice_is_merging_once(base in pod(), patch in pod()) {
            let once = merged(&base, &patch, "PodSpec");
            prop_assert_eq!(merged(&once, &patch, "PodSpec"), once);
        }
    }
}

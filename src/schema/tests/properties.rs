//! Properties of all trees.

use super::*;
use proptest::prelude::*;

/// Trees of words that occur in schemas, at the right places and at wrong ones.
fn tree() -> impl Strategy<Value = serde_json::Value> {
    let scalar = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-zA-Z0-9 .:/-]{0,12}".prop_map(Into::into),
        "\\PC{0,4}".prop_map(Into::into),
    ];
    scalar.prop_recursive(6, 64, 5, |inner| {
        let names = prop::sample::select(vec![
            "spec",
            "metadata",
            "engine",
            "engineConfig",
            "runner",
            "env",
            "name",
            "value",
            "resources",
            "limits",
            "cpu",
            "containers",
            "ports",
            "containerPort",
            "protocol",
            "volumes",
            "labels",
            "supportedModelFormats",
            "modelFormat",
            "priority",
            "discovery",
            "template",
            "roles",
            "replicas",
            "partition",
            "quantity",
            "creationTimestamp",
        ]);
        let field = prop_oneof![9 => names.prop_map(ToOwned::to_owned), 1 => "\\PC{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((field, inner), 0..6)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn checking_any_tree_does_not_panic_and_defaults_are_idempotent(tree in tree(), index in 0..kinds().len()) {
        let root = kinds()[index].root();
        let tree = node(&tree);
        for strictness in [Strictness::Documented, Strictness::Server] {
            root.check(&tree, strictness, &SourceMap::new(), &mut Vec::new());
        }
        let _ = marshal(&tree, root, Library::V0_33);
        let mut filled = tree.clone();
        root.default(&mut filled);
        let mut again = filled.clone();
        root.default(&mut again);
        prop_assert_eq!(&again, &filled);
        let mut ordered = tree.clone();
        order(&mut ordered, root);
        prop_assert_eq!(&ordered, &tree);
        let mut pruned = tree.clone();
        prune(&mut pruned, root);
    }

    #[test]
    fn marshaling_is_idempotent(tree in tree(), ty in prop::sample::select(vec!["Container", "PodSpec", "ObjectMeta", "Deployment"])) {
        let ty = structure(ty).unwrap();
        if let Ok(once) = marshal(&node(&tree), ty, Library::V0_33) {
            prop_assert_eq!(marshal(&once, ty, Library::V0_33).unwrap(), once);
        }
    }

    #[test]
    fn patterns_never_hang(pattern in "[a-z(|)*+?{},0-9^$\\[\\]\\\\.-]{0,24}", text in "[a-z0-9-]{0,64}") {
        super::super::pattern::matches(&pattern, &text);
    }
}

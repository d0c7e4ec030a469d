//! Properties of KServe services with a canary.

use super::kserve::{Rendered, holds, items, text};
use proptest::prelude::*;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;

/// A canary adds a variant, which the routes share the requests with: what runs stays as it is.
#[test]
fn a_canary_leaves_the_stable_pods_alone() {
    let (canaries, routed) = (Cell::new(0), Cell::new(0));
    holds(|input| {
        if !input.service["spec"]["canary"].is_array() {
            return Ok(());
        }
        let mut plain = input.clone();
        plain.service["spec"]["canary"] = Value::Null;
        let (plain, canary) = (plain.rendered(false), input.rendered(false));
        if plain.error.is_some() || canary.error.is_some() || plain.objects.is_empty() {
            return Ok(());
        }
        let deployments = |rendered: &Rendered| -> BTreeMap<String, Value> {
            let named =
                |object: &Value| (text(&object["metadata"]["name"]).to_owned(), object.clone());
            rendered.of("Deployment").map(named).collect()
        };
        let (before, mut after) = (deployments(&plain), deployments(&canary));
        for (name, deployment) in &before {
            prop_assert_eq!(Some(deployment.clone()), after.remove(name));
        }
        // The variant is stopped with the predictor.
        let runs = before.keys().any(|name| name.ends_with("-predictor"));
        prop_assert_eq!(after.len(), usize::from(runs), "one variant has one Deployment");
        // The variant has 10 of 100 requests, wherever requests are shared.
        for rule in canary.of("HTTPRoute").flat_map(|route| items(&route["spec"]["rules"])) {
            let backends = items(&rule["backendRefs"]);
            let weights: Vec<_> =
                backends.iter().filter_map(|backend| backend["weight"].as_i64()).collect();
            if backends.len() > 1 {
                prop_assert!(weights.contains(&10) && weights.contains(&90), "{}", rule);
                routed.set(routed.get() + 1);
            }
        }
        canaries.set(canaries.get() + 1);
        Ok(())
    });
    assert!(canaries.get() > 3 && routed.get() > 0, "{canaries:?} {routed:?}");
}

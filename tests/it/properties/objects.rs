//! Rules of an API server about objects other than services: one of several fields, unique keys,
//! unique pairs. Random objects are checked, and the expected result is computed independently.

use super::fleet::node;
use ome::internals::diag::{Diagnostic, Severity};
use ome::internals::objects::accept::{accept_rendered, judge};
use ome::internals::source::SourceMap;
use ome::internals::yaml::Node;
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The server's rejections of an object that is read, or by the definition of its kind.
fn refused(object: &Value, custom: bool) -> Vec<String> {
    let object: Node = node(object);
    let mut found: Vec<Diagnostic> = Vec::new();
    if custom {
        let semantics = ome::internals::api::Semantics::Controller;
        accept_rendered(&object, semantics, &SourceMap::new(), &mut found);
    } else {
        judge(&object, &mut found);
    }
    found.retain(|finding| finding.severity == Severity::Error);
    found.into_iter().map(|finding| finding.message).collect()
}

/// Checks a property of random objects; both rejected and accepted ones occur.
fn holds<S: Strategy>(drawn: S, property: impl Fn(S::Value) -> (Value, bool, bool))
where
    S::Value: std::fmt::Debug,
{
    let (taken, others) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 256, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let checked = runner.run(&drawn, |drawn| {
        let (object, custom, fine) = property(drawn);
        let said = refused(&object, custom);
        let count = if fine { &taken } else { &others };
        count.set(count.get() + 1);
        prop_assert_eq!(said.is_empty(), fine, "{} {:?}", object, said);
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
    assert!(taken.get() > 10 && others.get() > 10, "{taken:?} {others:?}");
}

fn object(api_version: &str, kind: &str, rest: Value) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
    let (Some(all), Value::Object(rest)) = (object.as_object_mut(), rest) else { return object };
    all.extend(rest);
    object
}

/// Alternatives in the definitions of Istio: their paths, and values of each.
fn alternatives() -> Vec<(&'static str, Value)> {
    vec![
        ("match", json!({"exact": "a", "prefix": "b", "regex": "c"})),
        ("abort", json!({"httpStatus": 500, "grpcStatus": "UNAVAILABLE", "http2Error": "x"})),
        ("balancer", json!({"simple": "RANDOM", "consistentHash": {"useSourceIp": true}})),
        (
            "hash",
            json!({"httpHeaderName": "h", "httpCookie": {"name": "c"}, "useSourceIp": true,
                "httpQueryParameterName": "q"}),
        ),
    ]
}

#[test]
fn at_most_one_of_alternative_fields_is_accepted() {
    let all = alternatives();
    let drawn = (0..all.len()).prop_flat_map(|index| {
        let keys: Vec<String> =
            alternatives()[index].1.as_object().expect("fields").keys().cloned().collect();
        let count = keys.len();
        (Just(index), subsequence(keys, 0..=count))
    });
    holds(drawn, |(index, keys)| {
        let (place, values) = &all[index];
        let chosen: Map<String, Value> =
            keys.iter().map(|key| (key.clone(), values[key].clone())).collect();
        let route = |rest: Value| {
            let mut http = json!({"route": [{"destination": {"host": "s"}}]});
            http.as_object_mut().expect("fields").extend(rest.as_object().expect("fields").clone());
            object(
                "networking.istio.io/v1beta1",
                "VirtualService",
                json!({"spec": {"hosts": ["h"], "http": [http]}}),
            )
        };
        let rule = |balancer: Value| {
            let spec = json!({"host": "h", "trafficPolicy": {"loadBalancer": balancer}});
            object("networking.istio.io/v1beta1", "DestinationRule", json!({"spec": spec}))
        };
        let object = match *place {
            "match" => route(json!({"match": [{"uri": chosen}]})),
            "abort" => route(json!({"fault": {"abort": chosen}})),
            "balancer" => rule(Value::Object(chosen)),
            _ => rule(json!({"consistentHash": chosen})),
        };
        (object, true, keys.len() < 2)
    });
}

/// Sources of a PersistentVolume, each whole.
fn sources() -> Value {
    json!({
        "awsElasticBlockStore": {"volumeID": "v"},
        "azureDisk": {"diskName": "d", "diskURI": "https://a/b"},
        "azureFile": {"secretName": "s", "shareName": "h"},
        "cephfs": {"monitors": ["m"]},
        "cinder": {"volumeID": "v"},
        "csi": {"driver": "d.example.com", "volumeHandle": "h"},
        "fc": {"wwids": ["w"]},
        "flocker": {"datasetName": "d"},
        "gcePersistentDisk": {"pdName": "p"},
        "glusterfs": {"endpoints": "e", "path": "p"},
        "hostPath": {"path": "/p"},
        "iscsi": {"targetPortal": "t", "iqn": "iqn.2001-04.com.example:s", "lun": 0},
        "nfs": {"server": "s", "path": "/p"},
        "photonPersistentDisk": {"pdID": "p"},
        "portworxVolume": {"volumeID": "v"},
        "quobyte": {"registry": "h:1", "volume": "v"},
        "rbd": {"monitors": ["m"], "image": "i"},
        "scaleIO": {"gateway": "g", "system": "s", "volumeName": "v"},
        "storageos": {"volumeName": "v"},
        "vsphereVolume": {"volumePath": "p"},
    })
}

/// Fields of a source that may be absent where the others are there.
const OPTIONAL: [&str; 1] = ["lun"];

#[test]
fn a_persistent_volume_needs_exactly_one_complete_source() {
    let kinds: Vec<String> = sources().as_object().expect("kinds").keys().cloned().collect();
    let drawn = (subsequence(kinds, 0..=2), prop::option::weighted(0.5, 0..4_usize));
    holds(drawn, |(kinds, gone)| {
        let mut spec = json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]});
        let mut whole = true;
        for kind in &kinds {
            let mut source = sources()[kind].clone();
            let fields = source.as_object_mut().expect("fields");
            let names: Vec<String> = fields.keys().cloned().collect();
            if let Some(name) = gone.and_then(|gone| names.get(gone)) {
                fields.remove(name);
                whole &= OPTIONAL.contains(&name.as_str());
            }
            spec[kind] = source;
        }
        let fine = kinds.len() == 1 && whole;
        (object("v1", "PersistentVolume", json!({"spec": spec})), false, fine)
    });
}

#[test]
fn taints_differ_in_key_or_effect() {
    let taint = ("[ab]", prop::sample::select(vec!["NoSchedule", "NoExecute"]), "[xy]?");
    holds(prop::collection::vec(taint, 0..4), |taints| {
        let pairs: BTreeSet<_> = taints.iter().map(|(key, effect, _)| (key, effect)).collect();
        let list: Vec<Value> = taints
            .iter()
            .map(|(key, effect, value)| json!({"key": key, "effect": effect, "value": value}))
            .collect();
        let fine = pairs.len() == taints.len();
        (object("v1", "Node", json!({"spec": {"taints": list}})), false, fine)
    });
}

#[test]
fn pod_cidrs_have_at_most_one_range_per_ip_family() {
    let range =
        prop::sample::select(vec![("10.0.0.0/24", 4), ("10.1.0.0/24", 4), ("fd00::/64", 6)]);
    holds(prop::collection::vec(range, 0..3), |ranges| {
        let families: BTreeSet<_> = ranges.iter().map(|(_, family)| family).collect();
        let list: Vec<&str> = ranges.iter().map(|(range, _)| *range).collect();
        let mut spec = json!({"podCIDRs": list});
        if let Some(first) = list.first() {
            spec["podCIDR"] = json!(first);
        }
        (object("v1", "Node", json!({"spec": spec})), false, families.len() == ranges.len())
    });
}

#[test]
fn config_map_keys_are_valid_and_not_in_data_and_binary_data() {
    let keys = || prop::collection::btree_set("[a-d](/|\\.)?", 0..3);
    holds((keys(), keys()), |(data, binary)| {
        let of = |keys: &BTreeSet<String>, value: &str| -> Map<String, Value> {
            keys.iter().map(|key| (key.clone(), json!(value))).collect()
        };
        let fine =
            data.is_disjoint(&binary) && data.iter().chain(&binary).all(|key| !key.contains('/'));
        let lists = json!({"data": of(&data, "v"), "binaryData": of(&binary, "dg==")});
        (object("v1", "ConfigMap", lists), false, fine)
    });
}

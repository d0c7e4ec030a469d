//! A dump of a cluster answers as the files do that were applied there.

use super::{answer, service, state, write};
use crate::process::{Call, Done, Folder, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Without `--no-builtin`: for a dump, the built-in objects are not used.
fn ome(folder: &Folder, args: &str) -> Done {
    let args = args.split(' ').map(ToOwned::to_owned).collect();
    let (env, time) = (BTreeMap::new(), Duration::from_mins(1));
    let call = Call { args, stdin: "", directory: folder.path(), env: &env, time };
    run(&call).expect("it ends within a minute")
}

/// An object as the API server returns it.
fn live(object: &Value, number: usize) -> Value {
    let mut live = object.clone();
    let api = object["apiVersion"].clone();
    let metadata = live["metadata"].as_object_mut().expect("metadata");
    let applied = json!({ "kubectl.kubernetes.io/last-applied-configuration": object.to_string() });
    for (key, value) in [
        ("uid", json!(format!("00000000-0000-4000-8000-{number:012}"))),
        ("resourceVersion", json!((1000 + number).to_string())),
        ("generation", json!(1)),
        ("creationTimestamp", json!("2026-01-02T03:04:05Z")),
        (
            "managedFields",
            json!([{ "manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": api, "time": "2026-01-02T03:04:05Z", "fieldsType": "FieldsV1", "fieldsV1": { "f:spec": { ".": {} } } }]),
        ),
    ] {
        metadata.insert(key.to_owned(), value);
    }
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    let own = applied.as_object().expect("an object").clone();
    annotations.as_object_mut().expect("annotations").extend(own);
    match object["kind"].as_str() {
        Some("ClusterBaseModel") => {
            live["status"] = json!({ "state": "Ready", "nodesReady": ["n0"] });
        }
        Some("InferenceService") => {
            live["status"] = json!({ "observedGeneration": 1, "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z" }] });
        }
        Some("ClusterServingRuntime") => live["status"] = json!({}),
        _ => {}
    }
    live
}

/// The pods of a Deployment.
fn pods(deployment: &Value) -> Vec<Value> {
    let spec = &deployment["spec"];
    let name = deployment["metadata"]["name"].as_str().expect("a name");
    let pod = |at: i64| {
        let mut pod = spec["template"].clone();
        (pod["apiVersion"], pod["kind"]) = (json!("v1"), json!("Pod"));
        pod["metadata"]["name"] = json!(format!("{name}-5d4f7c9b8-abc{at}"));
        pod["metadata"]["namespace"] = deployment["metadata"]["namespace"].clone();
        pod["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{name}-5d4f7c9b8"), "uid": "r", "controller": true }]);
        pod["spec"]["nodeName"] = json!(format!("n{at}"));
        pod["status"] =
            json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] });
        pod
    };
    (0..spec["replicas"].as_i64().unwrap_or(1)).map(pod).collect()
}

/// An answer without positions in files, and without the findings about files only: that they have
/// no creation times.
fn without_places(value: &Value) -> Value {
    const PLACES: [&str; 7] = ["at", "file", "line", "column", "endLine", "endColumn", "where"];
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| !PLACES.contains(&key.as_str()) && !key.ends_with("At"))
            .map(|(key, value)| (key.clone(), without_places(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => {
            let kept = items.iter().filter(|item| item["code"] != "creation-timestamp-unknown");
            kept.map(without_places).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn a_cluster_dump_gives_the_same_results_as_the_files() {
    let folder = Folder::new(&[]);
    let mut files = state("v1", &[]);
    files.extend([service("chat", "single", 2, 4), service("wide", "group", 1, 1)]);
    // One is chosen by the runtime's formats, one is in error.
    let mut chosen = service("auto", "", 1, 1);
    chosen["spec"].as_object_mut().expect("a spec").remove("runtime");
    files.extend([chosen, service("lost", "nowhere", 1, 1)]);
    write(&folder, "files.yaml", &files);
    let made = answer(&ome(&folder, "render -f files.yaml --semantics controller -o json"));
    let made = made["items"].as_array().expect("objects");
    assert!(made.iter().any(|own| own["kind"] == "LeaderWorkerSet"), "{made:#?}");
    let running: Vec<Value> =
        made.iter().filter(|own| own["kind"] == "Deployment").flat_map(pods).collect();
    assert!(!running.is_empty(), "{running:#?}");
    let all = files.iter().chain(made).chain(&running).enumerate();
    let items: Vec<Value> = all.map(|(at, own)| live(own, at)).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "metadata": { "resourceVersion": "" }, "items": items });
    write(&folder, "dump.yaml", &[list]);
    for semantics in ["documented", "controller"] {
        let both = |command: &str| {
            ["files.yaml", "dump.yaml"].map(|file| {
                let args = format!("{command} -f {file} --semantics {semantics} -o json");
                let done = ome(&folder, &args);
                assert!(!done.stdout.contains("builtin:"), "{args}: {}", done.stdout);
                (done.exit, answer(&done))
            })
        };
        for (command, part) in
            [("plan", "services"), ("explain -A", "services"), ("render", "items")]
        {
            let [files, dump] = both(command);
            assert_eq!(files.0, dump.0, "{semantics} {command}");
            let [one, other] = [&files.1[part], &dump.1[part]].map(without_places);
            assert!(one.as_array().is_some_and(|all| all.len() > 3), "{one:#}");
            same(&one, &other, &format!("{semantics} {command}"));
        }
        let [files, dump] = both("validate");
        let codes = |found: &Value| -> Vec<String> {
            let all = found["findings"].as_array().expect("findings").iter();
            let mut codes: Vec<String> = all.map(|own| own["code"].to_string()).collect();
            // Only the dump has the finding about objects that operators write.
            codes.retain(|code| code != "\"other-kind\"");
            codes.sort();
            codes
        };
        assert_eq!((files.0, codes(&files.1)), (dump.0, codes(&dump.1)), "{semantics}");
        let args = format!("diff --base files.yaml -f dump.yaml --semantics {semantics} -o json");
        let summary = answer(&ome(&folder, &args))["summary"].clone();
        assert_eq!((&summary["services"], &summary["changed"]), (&json!(4), &json!(0)));
    }
    // The objects of the dump are those that the operator would write.
    let drift = answer(&ome(&folder, "drift -f dump.yaml --semantics controller -o json"));
    let summary = &drift["summary"];
    assert_eq!((&summary["drifted"], &summary["failed"]), (&json!(0), &json!(1)), "{drift:#}");
}

/// Equal, or the first service that is not.
fn same(one: &Value, other: &Value, what: &str) {
    let (one, other) = (one.as_array().expect("a list"), other.as_array().expect("a list"));
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one, other, "{what}");
    }
    assert_eq!(one.len(), other.len(), "{what}");
}

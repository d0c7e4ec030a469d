//! Hashes beside those of the Kthena controllers.

use super::*;
use crate::load::{Request, load};
use crate::quantity::recordings;
use crate::source::SourceId;
use crate::yaml::{Limits, Origin, parse};
use serde_json::Value as Json;
use std::path::Path;

const HEAD: RoleStruct = RoleStruct::Head;

fn tree(text: &str) -> Node {
    let checked = parse(SourceId(0), text, 0..text.len(), &Limits::default());
    checked.value.unwrap()
}

fn role(name: &str, entry: &str) -> Node {
    tree(&format!("{{name: {name}, workerReplicas: 0, entryTemplate: {entry}}}"))
}

// Vectors of pkg/model-serving-controller/utils/revision_util.go, made with Go and go-spew.
#[test]
fn revisions_match_the_upstream_vectors() {
    let nginx = |more: &str| {
        format!("{{spec: {{containers: [{{name: nginx, image: 'nginx:1.14.2'{more}}}]}}}}")
    };
    for (entry, revision, hash) in [
        (nginx(""), "76665f8574", "66fc9464c8"),
        (
            "{metadata: {}, spec: {containers: [{name: nginx, image: 'nginx:1.14.2'}]}}".to_owned(),
            "5578c4f896",
            "5585868b",
        ),
        (nginx(", ports: [{containerPort: 8080, protocol: TCP}]"), "8585bb4c6f", "6d87db85bc"),
        (
            "{spec: {tolerations: [], containers: [{name: nginx, image: 'nginx:1.14.2'}]}}"
                .to_owned(),
            "6f4658d7c",
            "5c777467d9",
        ),
        (nginx(", resources: {requests: {cpu: 100m}}"), "6788c99bc9", "66978d9f67"),
        (nginx(", resources: {requests: {cpu: '0.1'}}"), "747f546b67", "67887f4fcf"),
        (nginx(", resources: {limits: {nvidia.com/gpu: 8}}"), "55fddddb9", "7c659bd7"),
        (nginx(", resources: {limits: {nvidia.com/gpu: '8'}}"), "55fddddb9", "7c659bd7"),
    ] {
        let role = role("prefill", &entry);
        assert_eq!(
            (of_roles([&role], HEAD).as_str(), of_role(&role, HEAD).as_str()),
            (revision, hash),
            "{entry}"
        );
    }
    let (prefill, decode) = (role("prefill", &nginx("")), role("decode", &nginx("")));
    assert_eq!(of_roles([&prefill, &decode], HEAD), "79cddb964");
    assert_eq!(of_roles([&decode, &prefill], HEAD), "5f77654b4");
    assert_eq!(of_role(&decode, HEAD), "868665b8d4");
}

/// The columns of the tables, and the struct of each release.
const RELEASES: [(&str, RoleStruct); 4] = [
    ("v0.1.0", RoleStruct::V0_1),
    ("v0.4.0", RoleStruct::V0_4),
    ("v1.0.0", RoleStruct::V1_0),
    ("head", RoleStruct::Head),
];

// Roles at random with the hashes of `utils.Revision` as each release builds it.
#[test]
fn role_hashes_match_go() {
    let table = include_str!("../../../../../testdata/kthena/revisions.jsonl");
    assert!(table.lines().count() >= 60);
    for line in table.lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let role = Node::from_json(&row["role"], Origin::Default(&super::super::rules::POD));
        for (release, declared) in RELEASES {
            assert_eq!(
                of_role(&role, declared),
                row[release].as_str().unwrap(),
                "{release} {line}"
            );
        }
    }
}

/// Every ModelServing of the recorded cases, as its file has it: the recorder filled in no
/// defaults.
#[test]
fn model_serving_revisions_match_each_release() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance");
    let mut compared = 0;
    for row in recordings::rows::<Json>("apimachinery/kthena-revisions") {
        let file = row["file"].as_str().unwrap();
        let (suite, case) = file.split_once('/').unwrap();
        let path = root.join(suite).join("own").join(case);
        let path = if path.exists() { path } else { root.join(file) };
        let request = Request { paths: &[path], builtin: &[], ..Request::default() };
        let loaded = load(&request, &mut std::io::empty(), &Limits::default());
        let named = |node: &&Node| {
            node.at(&["metadata", "name"]).and_then(Node::as_str) == row["name"].as_str()
        };
        let serving = loaded
            .documents
            .iter()
            .filter(|document| document.kind == "ModelServing")
            .map(|document| &document.node)
            .find(named)
            .unwrap_or_else(|| panic!("{file} holds {}", row["name"]));
        // A boolean where the type is text: the recorder's library turns it into a word, the
        // server refuses it.
        if file.contains("invalid-unquoted-y") {
            continue;
        }
        let roles = serving.at(&["spec", "template", "roles"]).map(Node::items);
        let roles = roles.unwrap_or_default();
        for (release, declared) in RELEASES {
            let Some(recorded) = row.get(release).and_then(Json::as_object) else { continue };
            assert_eq!(of_roles(roles, declared), recorded["revision"].as_str().unwrap(), "{row}");
            for role in roles {
                let name = role.get("name").and_then(Node::as_str).unwrap();
                let hash = &recorded[&format!("role/{name}")];
                assert_eq!(of_role(role, declared), hash.as_str().unwrap(), "{row}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn replica_counts_do_not_change_the_revision() {
    let with = tree(
        "{name: a, replicas: 3, maxUnavailable: 50%, partition: 1, workerReplicas: 0, entryTemplate: {spec: {containers: []}}}",
    );
    let without = tree("{name: a, workerReplicas: 0, entryTemplate: {spec: {containers: []}}}");
    assert_eq!(of_roles([&with], HEAD), of_roles([&without], HEAD));
    let workers = tree("{name: a, workerReplicas: 1, entryTemplate: {spec: {containers: []}}}");
    assert_ne!(of_roles([&workers], HEAD), of_roles([&without], HEAD));
}

#[test]
fn the_hashed_text_of_the_smallest_role_matches_the_recording() {
    let mut printer = Printer::new(HEAD, "");
    printer.role(&role("prefill", "{spec: {containers: [{name: nginx, image: 'nginx:1.14.2'}]}}"));
    assert_eq!(printer.text.len() + "([]v1alpha1.Role)[]".len(), 2641);
    assert!(printer.text.ends_with(
        "RollingUpdateConfiguration:(v1alpha1.RollingUpdateConfiguration){MaxUnavailable:(*intstr.IntOrString)<nil> Partition:(*intstr.IntOrString)<nil>}}"
    ));
}

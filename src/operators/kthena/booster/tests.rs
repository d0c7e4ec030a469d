//! What is written for a ModelBooster, and what is refused. The recorded boosters are a suite of
//! the conformance cases.

use super::backend::go_text;
use super::*;
use crate::api::Api;
use crate::operators::kthena::releases::KTHENA_CONTROLLER;
use crate::source::{SourceId, Span};
use crate::testing::object;
use crate::yaml::{Limits, parse};

const WORKER: &str =
    "{type: server, image: 'v:1', replicas: 1, pods: 1, resources: {limits: {nvidia.com/gpu: 1}}";

fn booster(name: &str, backend: &str) -> (ModelServing, Vec<Diagnostic>) {
    let text = format!(
        "{{apiVersion: {API_VERSION}, kind: ModelBooster, metadata: {{name: {name}}}, spec: {{backend: {backend}}}}}"
    );
    let node = parse(SourceId(0), &text, 0..text.len(), &Limits::default()).value.unwrap();
    let span = Span { source: SourceId(0), start: 0, end: u32::try_from(text.len()).unwrap() };
    let object = object((Api::Kthena, API_VERSION), "ModelBooster", (Some("default"), name), node);
    let object = Object { span, ..object };
    let mut found = Vec::new();
    (model_serving(object, &KTHENA_CONTROLLER, &mut found), found)
}

fn backend(more: &str, worker: &str) -> String {
    format!(
        "{{name: b1, type: vLLM, modelURI: 'hf://acme/tiny-7b', cacheURI: 'pvc://weights', replicas: 1, {more} workers: [{WORKER} {worker}}}]}}"
    )
}

fn engine(serving: &ModelServing) -> &Node {
    serving.roles[0].entry.spec.items_of("containers").last().unwrap()
}

fn words(node: &Node, key: &str) -> Vec<String> {
    node.items_of(key).iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_booster_becomes_three_objects_with_the_revisions_of_the_controller() {
    let (serving, found) = booster("m1", &backend("", ""));
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(serving.object.id.to_string(), "ModelServing/default/m1-b1");
    assert_eq!((serving.pods(), serving.roles[0].name.value.as_str()), (1, "leader"));
    let objects = &serving.booster.as_ref().unwrap().objects;
    let kinds: Vec<_> = objects.iter().map(|node| node.get("kind").unwrap().as_str()).collect();
    assert_eq!(kinds, [Some("ModelServing"), Some("ModelServer"), Some("ModelRoute")]);
    let revision = |at: usize| {
        let label = ["metadata", "labels", "workload.serving.volcano.sh/revision"];
        objects[at].at(&label).and_then(Node::as_str).unwrap_or_default()
    };
    // The uid is hashed with the ModelServer, so its revision differs in every cluster.
    assert_eq!(revision(2), "54f9bd6556");
    assert!(revision(0).len() > 5 && revision(0) != revision(1), "{}", revision(0));
}

#[test]
fn configuration_is_printed_as_go_prints_it() {
    let (serving, found) = booster(
        "m1",
        &backend(
            "",
            ", config: {max_model_len: 1048576, b: 131072, flag: true, none: null, empty: '', l: [1, x], m: {k: v, a: 1}, f: 0.00001}",
        ),
    );
    let [number] = &found[..] else { panic!("{found:?}") };
    assert_eq!(number.code, Code::KthenaDefect);
    assert!(
        number.message.contains("`max_model_len: 1048576` reaches the engine as `1.048576e+06`")
    );
    let command = words(engine(&serving), "command").split_off(5);
    let expected = "--b 131072 --empty --f 1e-05 --flag true --l [1 x] --m map[a:1 k:v] --max-model-len 1.048576e+06 --none <nil>";
    assert_eq!(command.join(" "), expected);
    for (json, text) in
        [("21000000", "2.1e+07"), ("999999", "999999"), ("1e21", "1e+21"), ("-0.5", "-0.5")]
    {
        assert_eq!(go_text(&serde_json::from_str(json).unwrap()), text);
    }
}

#[test]
fn placeholders_of_users_are_replaced_or_refused() {
    let env = |value: &str| backend(&format!("env: [{{name: X, value: '{value}'}}],"), "");
    for (value, expected) in [
        ("${MODEL_NAME}", "m1"),
        ("${ENGINE_PORT}", "8000"),
        ("at ${ENGINE_PORT}/${MODEL_NAME}", "at 8000/m1"),
        ("$(HOME)", "$(HOME)"),
    ] {
        let (serving, found) = booster("m1", &env(value));
        assert!(found.is_empty(), "{value}: {found:?}");
        let x = engine(&serving).items_of("env")[0].get("value").and_then(Node::as_str);
        assert_eq!(x, Some(expected));
    }
    for (value, message) in [
        ("${HOME}", "not found placeholder: HOME"),
        ("a ${HOME}", "key not found: HOME"),
        ("${HOME", "not found end }"),
        ("${ENGINE_ENV}", "crashes"),
        ("${INIT_CONTAINERS}", "parse json failed"),
        ("${MODEL_NAME}-${MODEL_NAME}", "not found placeholder: MODEL_NAME}-${MODEL_NAME"),
    ] {
        let (serving, found) = booster("m1", &env(value));
        assert!(
            found.iter().any(|finding| finding.message.contains(message)),
            "{value}: {found:?}"
        );
        assert!(serving.booster.unwrap().objects.is_empty());
    }
}

#[test]
fn paths_of_the_cache_are_those_of_go_urls() {
    for (uri, path) in [
        ("pvc://weights", "/weights"),
        ("pvc:///weights/", "/weights"),
        ("hostpath://mnt/x", "/mnt/x"),
        ("hostpath:///a%20b?q", "/a b"),
        ("hostpath://user@host/x#y", "/host/x#y"),
        ("hostpath://a b/x", ""),
        ("hostpath://h:port/x", ""),
        ("hostpath:///%zz", ""),
        ("hostpath:///", ""),
        ("", ""),
    ] {
        assert_eq!(cache::path(uri), path, "{uri}");
    }
}

#[test]
fn what_the_controller_or_admission_refuses_is_said_before() {
    let disaggregated = "{name: b1, type: vLLMDisaggregated, modelURI: 'hf://a/b', replicas: 1, workers: [{type: prefill, image: v}]}";
    let claim = "{name: b1, type: vLLM, modelURI: 'pvc://other/m', cacheURI: 'pvc://weights', replicas: 1, workers: [{type: server, image: v}]}";
    let cases = [
        ("m1", disaggregated.to_owned(), "decode worker not found in backend"),
        ("tiny-3.1", backend("", ""), "DNS-1035"),
        ("7b", backend("", ""), "DNS-1035"),
        ("m1", claim.to_owned(), "PVC source path \"/other/m\" is not reachable"),
        ("m1", claim.replace("other/m", "weights/../x"), "'..' path segments"),
        (
            "m1",
            backend("", ", config: {port: 8000.5}"),
            "invalid port \"8000.5\" for worker server",
        ),
        ("m1", backend("", ", config: [1]"), "cannot unmarshal array"),
        ("m1", backend("", "").replace("v:1", "v 1"), "image cannot contain whitespace"),
        (
            "m1",
            backend("", "").replace("pvc://weights", "hostpath:///"),
            "must include a host path",
        ),
    ];
    for (name, backend, message) in cases {
        let (_, found) = booster(name, &backend);
        assert!(
            found.iter().any(|finding| finding.message.contains(message)),
            "{message}: {found:?}"
        );
    }
}

#[test]
fn a_range_of_replicas_is_read_as_before_v1_0() {
    let read = |text: &str, policy| {
        let mut node = parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.unwrap();
        let mut found = Vec::new();
        prepare(&mut node, policy, &mut found);
        (node.get("spec").unwrap().to_json().to_string(), found.len())
    };
    let text =
        "{spec: {autoscalingPolicy: {}, backend: {name: b, minReplicas: 2, maxReplicas: 5}}}";
    let (documented, controller) =
        (&crate::operators::kthena::releases::KTHENA_V0_1, &KTHENA_CONTROLLER);
    assert_eq!(read(text, documented), (r#"{"backend":{"name":"b","replicas":2}}"#.into(), 1));
    assert_eq!(read(text, controller).1, 0);
    let new = "{spec: {backend: {name: b, replicas: 2, maxReplicas: 5}}}";
    assert_eq!(read(new, documented).1, 0);
}

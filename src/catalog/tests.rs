//! Which object of a name counts, and who sees it.

use super::*;
use crate::api::Field;
use crate::diag::{Code, Diagnostic};
use crate::pipeline::testing::world_of;
use crate::workspace::World;

fn model(kind: &str, place: &str, size: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: {kind}\nmetadata: {{name: m{place}}}\nspec: {{modelFormat: {{name: safetensors}}, modelParameterSize: {size}, storage: {{storageUri: 'hf://a/b'}}}}\n---\n"
    )
}

fn runtime(kind: &str, name: &str, place: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: {kind}\nmetadata: {{name: {name}{place}}}\nspec: {{supportedModelFormats: [{{modelFormat: {{name: safetensors}}, autoSelect: true}}], engineConfig: {{runner: {{name: ome-container, image: 'x:1'}}}}}}\n---\n"
    )
}

fn cluster_runtime(name: &str) -> String {
    runtime("ClusterServingRuntime", name, "")
}

fn namespaced(name: &str, namespace: &str) -> String {
    runtime("ServingRuntime", name, &format!(", namespace: {namespace}"))
}

fn at(namespace: &str) -> Scope {
    Scope::Namespace(namespace.into())
}

fn size(world: &World, scope: &Scope) -> Option<String> {
    let model = world.catalog.model(scope, "m")?;
    Some(model.size.as_ref()?.value.text.to_string())
}

fn names<'a>(all: impl Iterator<Item = &'a Runtime>) -> Vec<String> {
    all.map(|runtime| runtime.object.id.to_string()).collect()
}

fn found(world: &World, code: Code) -> Vec<&Diagnostic> {
    world.diagnostics.iter().filter(|finding| finding.code == code).collect()
}

#[test]
fn models_of_a_namespace_and_of_the_cluster_are_two() {
    let world = world_of(
        &(model("ClusterBaseModel", "", "7B") + &model("BaseModel", ", namespace: a", "8B")),
    );
    assert_eq!(size(&world, &Scope::Cluster).as_deref(), Some("7B"));
    assert_eq!(size(&world, &at("a")).as_deref(), Some("8B"));
    assert_eq!(size(&world, &at("b")), None);
    let order: Vec<String> =
        world.catalog.models().map(|model| model.object.id.to_string()).collect();
    assert_eq!(order, ["BaseModel/a/m", "ClusterBaseModel/m"]);
}

#[test]
fn the_last_of_two_definitions_counts_and_the_first_place_is_named() {
    let two = model("ClusterBaseModel", "", "7B") + &model("ClusterBaseModel", "", "8B");
    let world = world_of(&two);
    assert_eq!(size(&world, &Scope::Cluster).as_deref(), Some("8B"));
    assert_eq!(found(&world, Code::DuplicateObject).len(), 1);
    // Equal ones are one.
    let same = model("ClusterBaseModel", "", "7B").repeat(2);
    let world = world_of(&same);
    assert_eq!(world.catalog.models().count(), 1);
    assert_eq!(found(&world, Code::DuplicateObject).len(), 0);
}

#[test]
fn a_service_sees_the_runtimes_of_its_namespace_first_and_none_of_others() {
    let text = cluster_runtime("z") + &namespaced("b", "one") + &namespaced("a", "two");
    let world = world_of(&text);
    let runtimes = world.catalog.runtimes(Api::Ome);
    let seen = |namespace: &str, all: bool| names(runtimes.seen_from(namespace, all));
    assert_eq!(seen("one", false), ["ServingRuntime/one/b", "ClusterServingRuntime/z"]);
    assert_eq!(seen("three", false), ["ClusterServingRuntime/z"]);
    let everywhere = ["ServingRuntime/one/b", "ClusterServingRuntime/z", "ServingRuntime/two/a"];
    assert_eq!(seen("one", true), everywhere);
    assert!(runtimes.has_namespace("two") && !runtimes.has_namespace("three"));
    assert!(world.catalog.runtimes(Api::KServe).is_empty());
}

#[test]
fn a_runtime_is_found_in_its_scope_only() {
    let world = world_of(&(cluster_runtime("own") + &namespaced("own", "a")));
    let runtimes = world.catalog.runtimes(Api::Ome);
    let id =
        |scope: &Scope| runtimes.get(scope, "own").map(|runtime| runtime.object.id.to_string());
    assert_eq!(id(&Scope::Cluster).as_deref(), Some("ClusterServingRuntime/own"));
    assert_eq!(id(&at("a")).as_deref(), Some("ServingRuntime/a/own"));
    assert_eq!(id(&at("b")), None);
    assert_eq!(runtimes.len(), 2);
}

#[test]
fn the_nearest_name_is_one_that_the_namespace_sees() {
    let text = cluster_runtime("vllm-small") + &namespaced("vllm-large", "a");
    let world = world_of(&text);
    let runtimes = world.catalog.runtimes(Api::Ome);
    assert_eq!(runtimes.nearest("a", "vllm-larg"), Some("vllm-large"));
    assert_eq!(runtimes.nearest("b", "vllm-smal"), Some("vllm-small"));
    assert_ne!(runtimes.nearest("b", "vllm-large"), Some("vllm-large"));
    assert_eq!(runtimes.nearest("a", "triton"), None);
    let world = world_of(&model("BaseModel", ", namespace: a", "7B"));
    assert_eq!(world.catalog.nearest_model("a", "mm"), Some("m"));
    assert_eq!(world.catalog.nearest_model("b", "m"), None);
}

#[test]
fn a_changed_runtime_takes_the_place_of_its_first_version_alone() {
    let world = world_of(&(cluster_runtime("a") + &cluster_runtime("b")));
    let runtimes = world.catalog.runtimes(Api::Ome);
    let mut changed = runtimes.get(&Scope::Cluster, "a").expect("it was read").clone();
    changed.formats.clear();
    let tried = runtimes.with(&changed);
    let formats =
        |set: &RuntimeSet| set.iter().map(|runtime| runtime.formats.len()).collect::<Vec<_>>();
    assert_eq!((formats(runtimes), formats(&tried)), (vec![1, 1], vec![0, 1]));
}

#[test]
fn objects_are_found_by_kind_namespace_and_name() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\nprovisioner: p\n---\n";
    let world = world_of(text);
    let is_there =
        |kind: &str, namespace: &str| world.catalog.other(kind, namespace, "a").is_some();
    assert!(is_there("ConfigMap", "x") && is_there("StorageClass", ""));
    assert!(!is_there("ConfigMap", "y") && !is_there("ConfigMap", "") && !is_there("Secret", "x"));
}

#[test]
fn a_place_belongs_to_the_object_that_holds_it() {
    let text = cluster_runtime("a") + &cluster_runtime("b");
    let world = world_of(&text);
    let runtime = world.catalog.runtimes(Api::Ome).get(&Scope::Cluster, "b").expect("it was read");
    let inside =
        runtime.formats[0].format.as_ref().expect("a format").name.span().expect("a place");
    let (start, id) = world.catalog.owner(inside).expect("an owner");
    assert_eq!(
        (start, id.to_string().as_str()),
        (runtime.object.span.start, "ClusterServingRuntime/b")
    );
    assert_eq!(world.catalog.owner_kind(inside), Some("ClusterServingRuntime"));
}

#[test]
fn services_of_two_operators_may_have_one_name() {
    let text = "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: s, namespace: a}\nspec: {engine: {}}\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s, namespace: a}\nspec: {predictor: {containers: [{name: kserve-container, image: x}]}}\n";
    let world = world_of(text);
    let is_there = |api, namespace| world.catalog.service(api, namespace, "s").is_some();
    assert!(is_there(Api::Ome, "a") && is_there(Api::KServe, "a"));
    assert!(!is_there(Api::Ome, "b") && !is_there(Api::Kthena, "a"));
}

#[test]
fn taken_services_are_gone_and_the_others_stay_in_order() {
    let service = |name: &str| {
        format!(
            "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {name}, namespace: a}}\nspec: {{engine: {{}}}}\n---\n"
        )
    };
    let mut world = world_of(&["c", "a", "b"].map(service).concat());
    let name = |views: &Views| views.documented.name().to_string();
    let taken = world.catalog.take_services(&[2, 0]);
    assert_eq!(taken.iter().map(|views| name(views)).collect::<Vec<_>>(), ["c", "a"]);
    assert_eq!(world.catalog.services().map(name).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn classes_of_the_input_switch_off_what_is_built_in() {
    let class = "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {name: own}\nspec: {vendor: nvidia, discovery: {nodeSelector: {a: b}}}\n";
    let world = world_of(class);
    assert!(world.catalog.has_own_class());
    let class = world.catalog.class_by(Semantics::Documented, "own").expect("it was read");
    assert!(world.catalog.is_candidate_class(class));
    assert!(world.catalog.class_by(Semantics::Documented, "else").is_none());
    assert!(!world_of("").catalog.has_own_class());
}

#[test]
fn objects_with_placeholders_are_known_as_unfilled() {
    let world = world_of(&model("ClusterBaseModel", "", "'{{ .Values.size }}'"));
    let first = world.catalog.models().next().expect("it was read");
    assert!(world.catalog.has_unfilled() && world.catalog.is_unfilled(&first.object));
    let world = world_of(&model("ClusterBaseModel", "", "7B"));
    assert!(!world.catalog.has_unfilled());
}

fn runtimes(text: &str) -> World {
    world_of(text)
}

#[test]
fn a_namespace_sees_its_runtimes_before_those_of_the_cluster() {
    let text = cluster_runtime("a") + &namespaced("z", "ml") + &namespaced("b", "other");
    let world = runtimes(&text);
    let set = world.catalog.runtimes(Api::Ome);
    for (namespace, all, expected) in [
        ("ml", false, &["ServingRuntime/ml/z", "ClusterServingRuntime/a"][..]),
        ("other", false, &["ServingRuntime/other/b", "ClusterServingRuntime/a"]),
        ("empty", false, &["ClusterServingRuntime/a"]),
        ("ml", true, &["ServingRuntime/ml/z", "ClusterServingRuntime/a", "ServingRuntime/other/b"]),
        (
            "empty",
            true,
            &["ClusterServingRuntime/a", "ServingRuntime/ml/z", "ServingRuntime/other/b"],
        ),
    ] {
        assert_eq!(names(set.seen_from(namespace, all)), expected, "{namespace} {all}");
    }
}

#[test]
fn a_runtime_is_found_by_scope_and_name_alone() {
    let world = runtimes(&(cluster_runtime("a") + &namespaced("a", "ml")));
    let set = world.catalog.runtimes(Api::Ome);
    let found = |scope: &Scope, name: &str| {
        set.get(scope, name).map(|runtime| runtime.object.id.to_string())
    };
    assert_eq!(found(&Scope::Cluster, "a").as_deref(), Some("ClusterServingRuntime/a"));
    assert_eq!(found(&at("ml"), "a").as_deref(), Some("ServingRuntime/ml/a"));
    assert_eq!(found(&at("other"), "a"), None);
    assert_eq!(found(&Scope::Cluster, "b"), None);
    assert!(set.has_namespace("ml") && !set.has_namespace("other"));
}

#[test]
fn objects_are_found_by_any_place_inside_them() {
    let text = cluster_runtime("a") + &model("ClusterBaseModel", "", "7B");
    let world = world_of(&text);
    let model = world.catalog.model(&Scope::Cluster, "m").expect("a model");
    let span = model.size.as_ref().and_then(Field::span).expect("a place");
    assert_eq!(world.catalog.owner_kind(span), Some("ClusterBaseModel"));
    assert_eq!(world.catalog.owner(span).map(|(_, id)| id.name.as_str()), Some("m"));
}

#[test]
fn what_was_refused_is_known_by_the_object() {
    let mut world = runtimes(&(cluster_runtime("a") + &cluster_runtime("b")));
    let object = |world: &World, name: &str| {
        world.catalog.runtimes(Api::Ome).get(&Scope::Cluster, name).expect("read").object.clone()
    };
    let (one, other) = (object(&world, "a"), object(&world, "b"));
    let failure = Failure { code: Code::InvalidValue, message: "x".into(), help: None, span: None };
    world.catalog.set_refused([(one.name_span(), failure)].into());
    assert_eq!(world.catalog.refused(&one).map(|failure| failure.code), Some(Code::InvalidValue));
    assert!(world.catalog.refused(&other).is_none());
}

#[test]
fn objects_of_one_name_and_kind_are_two_in_two_groups() {
    let object = |version: &str, kind: &str| {
        format!(
            "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: ml}}\nspec: {{}}\n---\n"
        )
    };
    for (versions, kind, count) in [
        (["v1", "serving.knative.dev/v1"], "Service", 2),
        (["batch/v1", "batch.volcano.sh/v1alpha1"], "Job", 2),
        (
            ["inference.networking.k8s.io/v1", "inference.networking.x-k8s.io/v1alpha2"],
            "InferencePool",
            2,
        ),
        // Two versions of one group are one object.
        (["autoscaling/v1", "autoscaling/v2"], "HorizontalPodAutoscaler", 1),
    ] {
        let world = world_of(&versions.map(|version| object(version, kind)).concat());
        let others = world.catalog.others().iter().filter(|other| other.id.kind == kind);
        assert_eq!(others.count(), count, "{kind}");
    }
}

//! What is read of repositories as they are.
#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

use super::{ReadOptions, World, read};
use crate::api::Semantics;
use crate::diag::{Code, Severity};
use crate::load::{Request, load};
use crate::yaml::Limits;

/// A repository of these files.
fn repository(files: &[(&str, &str)]) -> World {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let paths = [root.path().to_owned()];
    let request = Request { paths: &paths, ..Request::default() };
    let loaded = load(&request, &mut std::io::empty(), &Limits::default());
    read(loaded, &ReadOptions::new(Semantics::Documented))
}

/// Codes of findings, with those of a severity alone.
fn codes(world: &World, severity: Severity) -> Vec<&'static str> {
    let all = world.diagnostics.iter().filter(|own| own.severity == severity);
    all.map(|own| own.code.as_str()).collect()
}

const RUNTIME: &str = "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: own}\nspec: {containers: [{name: kserve-container, image: a/b:1}]}\n";

fn service(name: &str, namespace: &str) -> String {
    format!(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {name}{namespace}}}\nspec: {{predictor: {{model: {{modelFormat: {{name: a}}, runtime: own}}}}}}\n"
    )
}

/// The namespace of the runtime.
fn home(files: &[(&str, &str)]) -> String {
    let world = repository(files);
    let own = world.catalog.all_runtimes().find(|own| own.object.id.name == "own").unwrap();
    own.object.id.scope.namespace().unwrap().to_string()
}

#[test]
fn a_runtime_without_a_namespace_is_where_the_services_beside_it_are() {
    let (team, open, other) =
        (service("a", ", namespace: team"), service("b", ""), service("c", ", namespace: other"));
    assert_eq!(home(&[("m/a.yaml", &team), ("m/own.yaml", RUNTIME)]), "team");
    // A service of the directory sets none, another one sets another, or it is in another one.
    for files in [
        [("m/a.yaml", team.as_str()), ("m/b.yaml", &open), ("m/own.yaml", RUNTIME)],
        [("m/a.yaml", &team), ("m/b.yaml", &other), ("m/own.yaml", RUNTIME)],
        [("n/a.yaml", &team), ("n/b.yaml", &team), ("m/own.yaml", RUNTIME)],
    ] {
        assert_eq!(home(&files), "default", "{files:?}");
    }
}

fn definition(field: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.x.io}}\nspec:\n  group: x.io\n  names: {{kind: Thing, plural: things}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{field}: {{type: string}}}}}}}}}}}}\n"
    )
}

#[test]
fn an_object_is_checked_by_the_nearest_definition() {
    let thing = "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {b: x}\n";
    let (a, b) = (definition("a"), definition("b"));
    let near = repository(&[("1/crd/d.yaml", &a), ("2/crd/d.yaml", &b), ("2/t.yaml", thing)]);
    assert_eq!(codes(&near, Severity::Error), [""; 0]);
    let far = repository(&[("1/crd/d.yaml", &a), ("2/crd/d.yaml", &b), ("1/t.yaml", thing)]);
    assert_eq!(codes(&far, Severity::Error), ["unknown-field"]);
    // Bases, and what was built of them some time ago, are as near.
    let built = repository(&[("1/all.yaml", &a), ("1/crd/d.yaml", &b), ("1/s/t.yaml", thing)]);
    assert_eq!(codes(&built, Severity::Error), [""; 0]);
}

/// A fork, or a release from before the first one that is known: its CRD lies in the tree.
#[test]
fn a_model_booster_of_another_shape_is_checked_by_its_definition_and_not_planned() {
    let crd = |field: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: modelboosters.workload.serving.volcano.sh}}\nspec:\n  group: workload.serving.volcano.sh\n  names: {{kind: ModelBooster, plural: modelboosters}}\n  scope: Namespaced\n  versions:\n  - name: v1alpha1\n    served: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{field}}}}}}}}}}}\n"
        )
    };
    let booster = "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelBooster\nmetadata: {name: qwen}\nspec: {backends: [{name: a, type: vLLM}]}\n";
    let many = crd(
        "backends: {type: array, items: {type: object, properties: {name: {type: string}, type: {type: string}}}}",
    );
    let own = repository(&[("crd.yaml", &many), ("b.yaml", booster)]);
    assert_eq!(codes(&own, Severity::Error), [""; 0]);
    assert!(codes(&own, Severity::Warning).contains(&"newer-than-known"));
    assert!(own.catalog.model_servings().is_empty());
    // What its own definition lacks is an error.
    let other = booster.replace("type: vLLM", "tipe: vLLM");
    let wrong = repository(&[("crd.yaml", &many), ("b.yaml", &other)]);
    assert!(codes(&wrong, Severity::Error).contains(&"unknown-field"));
    // Without it, the known releases decide.
    let alone = repository(&[("b.yaml", booster)]);
    assert!(codes(&alone, Severity::Error).contains(&"required-field"));
}

#[test]
fn texts_that_another_program_completes_are_no_mistakes() {
    let part = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: a}]}}}\n";
    for (name, text) in [
        ("kubeconfig.yaml", "apiVersion: v1\nkind: Config\nclusters: []\n"),
        (
            "s.enc.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {k: 'ENC[AES256_GCM,data:x,iv:y]'}\nsops: {mac: 'ENC[AES256_GCM,data:x]', version: 3.7.1}\n",
        ),
        ("removals.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n$patch: delete\n"),
        ("b/patches/a.yaml", part),
        ("ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ENV-NAMESPACE\n"),
        (
            "k.yaml",
            "apiVersion: v1\nkind: Service\nmetadata:\n{%- if a %}\n  name: a\n{%- endif %}\n",
        ),
        ("report.yaml", "run:\n  kind: a\n  apiVersion: v1\nx: .inf\n"),
    ] {
        let world = repository(&[(name, text)]);
        assert_eq!(codes(&world, Severity::Error), [""; 0], "{name}");
        assert!(!codes(&world, Severity::Info).is_empty(), "{name}");
    }
    let whole = repository(&[("b/a.yaml", part)]);
    assert!(codes(&whole, Severity::Error).contains(&"required-field"));
    assert!(whole.diagnostics.iter().any(|own| own.code == Code::RequiredField));
}

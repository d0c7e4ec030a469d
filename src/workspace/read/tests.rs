//! What is read of repositories as they are.
#![expect(clippy::disallowed_methods, reason = "tests write the files that they read")]

use super::{ReadOptions, World, read};
use crate::api::Semantics;
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::{Request, load};
use crate::testing::ome_on;
use crate::yaml::Limits;

/// A repository of these files.
fn repository(files: &[(&str, &str)]) -> World {
    repository_within(files, None)
}

/// The same with `--in DIR`.
fn repository_within(files: &[(&str, &str)], within: Option<&str>) -> World {
    repository_with(files, within, false)
}

/// The same; `skims` reads one definition of a name only.
fn repository_with(files: &[(&str, &str)], within: Option<&str>, skims: bool) -> World {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let paths = [root.path().to_owned()];
    let request = Request { paths: &paths, skims, ..Request::default() };
    let loaded = load(&request, &mut std::io::empty(), &Limits::default());
    let mut given = ReadOptions::new(Semantics::Documented);
    given.within = within.map(ToOwned::to_owned);
    read(loaded, &given)
}

/// Codes of findings, with those of a severity alone.
fn codes(world: &World, severity: Severity) -> Vec<&'static str> {
    let all = world.diagnostics.iter().filter(|finding| finding.severity == severity);
    all.map(|finding| finding.code.as_str()).collect()
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
    let runtime =
        world.catalog.all_runtimes().find(|runtime| runtime.object.id.name == "own").unwrap();
    runtime.object.id.scope.namespace().unwrap().to_string()
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

/// A plan reads one definition of a name: what another one may take is no error.
#[test]
fn a_definition_that_was_not_read_may_have_a_field() {
    let crd = |spec: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: inferenceservices.serving.kserve.io\nspec:\n  group: serving.kserve.io\n  names: {{kind: InferenceService, plural: inferenceservices}}\n  scope: Namespaced\n  versions:\n  - name: v1beta1\n    served: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, {spec}}}}}}}}}\n"
        )
    };
    let full =
        crd("properties: {predictor: {type: object, x-kubernetes-preserve-unknown-fields: true}}");
    let minimal = crd("x-kubernetes-preserve-unknown-fields: true");
    let wrong = service("a", "").replace("spec: {", "spec: {nodeName: n, ");
    let files = [
        ("crd/full/i.yaml", full.as_str()),
        ("crd/minimal/i.yaml", &minimal),
        ("s/a.yaml", &wrong),
    ];
    let is_unknown = |world: &World, severity: Severity| {
        codes(world, severity).iter().filter(|code| **code == "unknown-field").count()
    };
    let skimmed = repository_with(&files, None, true);
    assert_eq!([Severity::Error, Severity::Warning].map(|of| is_unknown(&skimmed, of)), [0, 1]);
    let whole = repository(&files);
    assert_eq!([Severity::Error, Severity::Warning].map(|of| is_unknown(&whole, of)), [0, 0]);
    let alone = repository_with(&[files[0], files[2]], None, true);
    assert_eq!(is_unknown(&alone, Severity::Error), 1);
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
    let world = repository(&[("crd.yaml", &many), ("b.yaml", booster)]);
    assert_eq!(codes(&world, Severity::Error), [""; 0]);
    assert!(codes(&world, Severity::Warning).contains(&"newer-than-known"));
    assert!(world.catalog.model_servings().is_empty());
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
        ("b/kustomize/a.yaml", part),
        ("b/a.patch.yaml", "apiVersion: v1\nkind: ServiceAccount\nimagePullSecrets: [{name: a}]\n"),
        ("n.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: _}\n"),
        (
            "flow.yaml",
            "apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: {a: ${B}}}\nspec: {externalIPs: [${A}, ${B}]}\n",
        ),
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
    // What is wrong beside a placeholder is said of its own place.
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: ${A}}\nspec: {externalIPs: [a}\n";
    let broken = repository(&[("a.yaml", text)]);
    let syntax = broken.diagnostics.iter().find(|finding| finding.code == Code::YamlSyntax);
    let at = syntax.and_then(Diagnostic::span).map(|span| span.start as usize);
    assert!(at.is_some_and(|at| at > text.find("externalIPs").unwrap()), "{syntax:?}");
    // Versions that earlier releases of Kueue served.
    let old = "apiVersion: kueue.x-k8s.io/v1alpha2\nkind: ClusterQueue\nmetadata: {name: a}\n";
    let old = repository(&[("a.yaml", old)]);
    let message = "`ClusterQueue` of `kueue.x-k8s.io/v1alpha2` is not served since Kueue v0.3.0";
    assert_eq!(old.diagnostics[0].message, message);
    let whole = repository(&[("b/a.yaml", part)]);
    assert!(codes(&whole, Severity::Error).contains(&"required-field"));
    assert!(whole.diagnostics.iter().any(|finding| finding.code == Code::RequiredField));
}

const NODE: &str =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"2\"}}\n";

fn runtime(image: &str) -> String {
    RUNTIME.replace("a/b:1", image)
}

/// The image of the runtime that the services named `a` see, by the directory of each.
fn images(files: &[(&str, &str)], within: Option<&str>) -> Vec<String> {
    let world = repository_within(files, within);
    let views = world.views.iter().map(|view| &view.catalog);
    let mut found: Vec<String> = std::iter::once(&world.catalog)
        .chain(views)
        .flat_map(|catalog| catalog.services().map(move |views| (catalog, views)))
        .map(|(catalog, views)| {
            let place = views.documented.object.name_span();
            let directory = world.sources.get(place.source).directory().unwrap_or_default();
            let runtime =
                catalog.all_runtimes().find(|runtime| runtime.object.id.name == "own").unwrap();
            let image =
                runtime.object.node.at(&["spec", "containers"]).unwrap().items()[0].get("image");
            format!("{directory} {}", image.unwrap().as_str().unwrap())
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn a_service_uses_the_runtime_of_its_directory_then_of_those_above() {
    let (one, two, service) = (runtime("x:1"), runtime("x:2"), service("a", ""));
    let near = [
        ("dev/a.yaml", service.as_str()),
        ("dev/own.yaml", &one),
        ("prod/a.yaml", &service),
        ("prod/own.yaml", &two),
    ];
    assert_eq!(images(&near, None), ["dev/ x:1", "prod/ x:2"]);
    let above = [("dev/deep/a.yaml", service.as_str()), ("dev/own.yaml", &one), ("own.yaml", &two)];
    assert_eq!(images(&above, None), ["dev/deep/ x:1"]);
    let requested = [("a.yaml", service.as_str()), ("dev/own.yaml", &one), ("prod/own.yaml", &two)];
    assert_eq!(images(&requested, None), ["./ x:1"]);
    assert_eq!(images(&requested, Some("prod")), ["./ x:2"]);
}

#[test]
fn definitions_of_tests_come_after_others() {
    let (one, two, service) = (runtime("x:1"), runtime("x:2"), service("a", ""));
    for aside in ["testdata", "test", "tests", "e2e", "versioned_docs", "vendor"] {
        let path = format!("a/{aside}/own.yaml");
        let files =
            [("s/a.yaml", service.as_str()), (path.as_str(), one.as_str()), ("z/own.yaml", &two)];
        assert_eq!(images(&files, None), ["s/ x:2"], "{aside}");
    }
}

#[test]
fn the_state_of_a_cluster_is_not_read_from_tests() {
    let quota =
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 1}}\n";
    let world = repository(&[("tests/node.yaml", NODE), ("tests/quota.yaml", quota)]);
    assert_eq!(world.catalog.machines().len(), 0);
    assert!(world.catalog.other("ResourceQuota", "default", "q").is_none());
    let found: Vec<_> = world
        .diagnostics
        .iter()
        .filter(|finding| finding.code == Code::CopiesLeftOut)
        .map(|finding| finding.message.clone())
        .collect();
    assert_eq!(found, ["copies: 2 objects of a cluster's state are not counted"]);
    // Workloads are read, and not counted.
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {containers: [{name: c, image: x}]}}}\n";
    let world = repository(&[("tests/job.yaml", job)]);
    let says = |finding: &Diagnostic| finding.message == "copies: 1 workload is not counted";
    assert!(world.diagnostics.iter().any(says), "{:?}", world.diagnostics);
    let world = repository(&[("a/node.yaml", NODE), ("a/quota.yaml", quota)]);
    assert_eq!(world.catalog.machines().len(), 1);
    assert!(world.catalog.other("ResourceQuota", "default", "q").is_some());
    // What services use by its name is read from there.
    let profile = "apiVersion: infrastructure.opendatahub.io/v1\nkind: HardwareProfile\nmetadata: {name: p, namespace: default}\nspec: {identifiers: []}\n";
    let world = repository(&[("tests/p.yaml", profile)]);
    assert!(world.catalog.other("HardwareProfile", "default", "p").is_some());
}

#[test]
fn a_node_with_placeholders_is_no_machine() {
    let world = repository(&[("n.yaml", &NODE.replace("n1", "\"${NODE}\""))]);
    assert_eq!((world.catalog.nodes().count(), world.catalog.machines().len()), (1, 0));
}

/// An OpenShift Template with an object.
fn template(object: &str) -> String {
    let lines: Vec<String> = object.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {{name: t}}\nobjects:\n-{}",
        &lines.concat()[1..]
    )
}

#[test]
fn an_object_of_a_template_counts_only_alone() {
    let (stands, created, service) = (runtime("x:1"), template(&runtime("x:2")), service("a", ""));
    for (first, second) in [("a.yaml", "b.yaml"), ("b.yaml", "a.yaml")] {
        let both =
            [("s/s.yaml", service.as_str()), (first, stands.as_str()), (second, created.as_str())];
        assert_eq!(images(&both, None), ["s/ x:1"], "{first}");
        assert!(!codes(&repository(&both), Severity::Warning).contains(&"duplicate-object"));
    }
    assert_eq!(images(&[("s.yaml", &service), ("t.yaml", &created)], None), ["./ x:2"]);
    // Two that stand are a duplicate.
    let other = runtime("x:3");
    let both = [("a.yaml", stands.as_str()), ("b.yaml", other.as_str())];
    assert_eq!(codes(&repository(&both), Severity::Warning), ["duplicate-object"]);
}

#[test]
fn what_becomes_of_each_kind_is_counted() {
    let service = service("a", "");
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: a, resources: {limits: {nvidia.com/gpu: 2}}}]}}}\n";
    let foreign = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n";
    let world = repository(&[
        ("s.yaml", &service),
        ("r.yaml", RUNTIME),
        ("d.yaml", deployment),
        ("n.yaml", NODE),
        ("f.yaml", foreign),
    ]);
    let row = |kind: &str| {
        let row = world.input.iter().find(|row| row.kind == kind)?;
        Some((row.handling.as_str(), row.count))
    };
    assert_eq!(row("InferenceService"), Some(("planned", 1)));
    assert_eq!(row("ServingRuntime"), Some(("used", 1)));
    assert_eq!(row("Deployment"), Some(("workload", 1)));
    assert_eq!(row("Node"), Some(("used", 1)));
    assert_eq!(row("*"), Some(("unread", 1)));
    let devices = &world.input.iter().find(|row| row.kind == "Deployment").unwrap().devices;
    assert_eq!(devices.get("nvidia.com/gpu"), Some(&2));
}

#[test]
fn what_an_operator_wrote_for_a_service_is_used() {
    let pool = |owner: &str| {
        format!(
            "apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: {{name: p, namespace: ml, ownerReferences: [{owner}]}}\nspec: {{}}\n"
        )
    };
    for (owner, handling) in [
        ("", "unread"),
        ("{apiVersion: v1, kind: Pod, name: a}", "unread"),
        ("{apiVersion: serving.kserve.io/v1alpha2, kind: LLMInferenceService, name: a}", "used"),
    ] {
        let world = repository(&[("p.yaml", &pool(owner))]);
        let row = world.input.iter().find(|row| row.kind == "InferencePool").unwrap();
        assert_eq!(row.handling.as_str(), handling, "{owner}");
    }
}

#[test]
fn a_list_is_its_objects_and_a_broken_document_hides_no_other() {
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: Node, metadata: {{name: n1}}}}\n- {{apiVersion: v1, kind: Node, metadata: {{name: n2}}}}\n---\na: [\n---\n{}",
        service("a", "")
    );
    let world = repository(&[("all.yaml", &list)]);
    assert_eq!(world.catalog.nodes().count(), 2);
    assert_eq!(world.catalog.services().count(), 1);
    assert!(codes(&world, Severity::Error).contains(&"yaml-syntax"));
}

#[test]
fn a_strategy_that_no_release_has_is_an_error_in_a_tree_too() {
    let set = "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 1, rolloutStrategy: {type: OnDelete}, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: c, image: x}]}}}}\n";
    let text = crate::testing::gpu_node("n1", 8, "") + set;
    for path in ["{.}", "{in.yaml}"] {
        let command = format!("plan -o json -f {path}");
        let ran = crate::testing::ome_on(&command, &[("in.yaml", &text)]);
        assert_eq!((ran.code, ran.at("/placement/verdict")), (1, "does-not-fit".into()), "{path}");
    }
}

/// A mapping that groups fields of the one around it may be of a newer release.
#[test]
fn a_group_of_known_fields_may_be_newer() {
    let text = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: ml}\nspec: {predictor: {podSpec: {volumes: []}, model: {modelFormat: {name: sklearn}, storageUri: 's3://a/b'}}}\n";
    for (command, code) in
        [("plan -o json -f", "newer-than-known"), ("validate -o json", "unknown-field")]
    {
        let ran = ome_on(&format!("{command} {{in.yaml}}"), &[("in.yaml", text)]);
        assert!(ran.findings().contains(&code.to_owned()), "{command}: {}{}", ran.out, ran.err);
    }
}

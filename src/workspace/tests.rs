//! What becomes of the objects of an input.

use super::accounting::Handling;
use crate::diag::{Code, Severity};
use crate::testing::{codes, world};

/// Kind and handling of each row.
fn rows(text: &str) -> Vec<(String, usize, &'static str)> {
    let world = world(text);
    world.input.iter().map(|row| (row.kind.to_string(), row.count, row.handling.as_str())).collect()
}

fn object(version: &str, kind: &str, rest: &str) -> String {
    format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: d}}\n{rest}\n"
    )
}

#[test]
fn every_object_has_a_row_with_what_becomes_of_it() {
    for (version, kind, rest, handling) in [
        ("ome.io/v1beta1", "InferenceService", "spec: {engine: {}}", "planned"),
        (
            "serving.kserve.io/v1beta1",
            "InferenceService",
            "spec: {predictor: {containers: [{name: kserve-container, image: i}]}}",
            "planned",
        ),
        ("ome.io/v1beta1", "BaseModel", "spec: {storage: {storageUri: 'hf://a/b'}}", "used"),
        ("apps/v1", "Deployment", "spec: {}", "workload"),
        ("v1", "ConfigMap", "data: {}", "checked"),
    ] {
        let found = rows(&object(version, kind, rest));
        assert!(
            found
                .iter()
                .any(|(found, count, how)| found == kind && *count == 1 && *how == handling),
            "{kind}: {found:?}"
        );
    }
}

#[test]
fn objects_of_one_kind_share_a_row() {
    let two = object("example.com/v1", "Thing", "")
        + &object("example.com/v1", "Thing", "").replace("name: a", "name: b");
    assert_eq!(rows(&two), [("*".to_owned(), 2, "unread")]);
}

#[test]
fn handlings_are_ordered_from_the_most_to_the_least() {
    let all = [
        Handling::Planned,
        Handling::Workload,
        Handling::Used,
        Handling::Built,
        Handling::Checked,
        Handling::Unread,
    ];
    assert!(all.is_sorted());
}

/// Devices of a kind that no table has are a warning.
#[test]
fn devices_that_nothing_counts_are_reported() {
    let of = |resources: &str| {
        object(
            "example.com/v1",
            "Thing",
            &format!(
                "spec: {{template: {{spec: {{containers: [{{name: c, image: i, resources: {{limits: {{{resources}}}}}}}]}}}}}}"
            ),
        )
    };
    for (resources, expected) in [("nvidia.com/gpu: 2", true), ("cpu: 2", false), ("", false)] {
        let world = world(&of(resources));
        let found = codes(&world.diagnostics).contains(&"devices-not-counted");
        assert_eq!(found, expected, "{resources}");
    }
}

/// Custom kinds request devices beside pod templates too.
#[test]
fn devices_of_other_fields_for_resources_are_reported() {
    for (spec, expected) in [
        ("resources: {limits: {nvidia.com/gpu: 2}}", true),
        ("templates: [{container: {image: i, resources: {limits: {nvidia.com/gpu: 1}}}}]", true),
        ("trainer: {numNodes: 4, resourcesPerNode: {limits: {nvidia.com/gpu: 1}}}", true),
        ("executor: {instances: 2, gpu: {name: nvidia.com/gpu, quantity: 1}}", true),
        ("executor: {instances: 2, gpu: {name: nvidia.com/gpu, quantity: 0}}", false),
        ("resources: {limits: {cpu: 2}}", false),
        // The most that a pool of nodes may have.
        ("limits: {nvidia.com/gpu: 8}", false),
    ] {
        let world = world(&object("example.com/v1", "Thing", &format!("spec: {{{spec}}}")));
        let found = codes(&world.diagnostics).contains(&"devices-not-counted");
        assert_eq!(found, expected, "{spec}");
    }
}

#[test]
fn an_input_with_identities_of_a_server_is_a_cluster() {
    let service = object("ome.io/v1beta1", "InferenceService", "spec: {engine: {}}");
    for (text, expected) in [
        (service.clone(), false),
        (
            service.replace(
                "namespace: d}",
                "namespace: d, uid: 8d1a2d2c-0000-0000-0000-000000000001}",
            ),
            true,
        ),
    ] {
        assert_eq!(world(&text).is_live, expected, "{text}");
    }
}

#[test]
fn a_document_that_is_broken_hides_no_other() {
    let text =
        format!("a: [\n{}", object("ome.io/v1beta1", "InferenceService", "spec: {engine: {}}"));
    let world = world(&text);
    assert_eq!(world.catalog.services().count(), 1);
    assert!(codes(&world.diagnostics).contains(&"yaml-syntax"), "{:?}", codes(&world.diagnostics));
}

#[test]
fn names_of_objects_are_those_that_a_server_takes() {
    for (name, expected) in [("a", false), ("A", true), ("-a", true), ("a.b", false), ("a_b", true)]
    {
        let text = object("ome.io/v1beta1", "InferenceService", "spec: {engine: {}}")
            .replace("name: a,", &format!("name: \"{name}\","));
        let found = codes(&world(&text).diagnostics).contains(&"invalid-name");
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_model_serving_is_read_with_the_defaults_of_its_definition() {
    let text = crate::testing::serving("s", "2", "1");
    let world = world(&text);
    let serving = world.catalog.model_servings().first().expect("it was read");
    assert_eq!(serving.replicas.value, 2);
    assert_eq!((serving.pods(), serving.extent()), (2, 2));
    assert_eq!(serving.recovery.value.as_str(), "RoleRecreate");
    assert!(serving.counted);
    for (groups, counted, pods) in
        [("0", true, 0), ("-1", false, 0), ("99999999999", false, 2_147_483_647)]
    {
        let world = crate::testing::world(&crate::testing::serving("s", groups, "1"));
        let serving = world.catalog.model_servings().first().expect("it was read");
        assert_eq!((serving.counted, serving.pods()), (counted, pods), "{groups}");
    }
}

/// A definition of a kind with fields that it requires.
fn definition(group: &str, kind: &str, spec: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.{group}}}\nspec: {{group: {group}, scope: Namespaced, names: {{kind: {kind}, plural: {plural}}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, {spec}}}}}}}}}}}]}}\n"
    )
}

/// A server calls mutating webhooks before it checks the schema.
#[test]
fn what_a_webhook_may_write_is_not_in_error() {
    let defined =
        definition("example.com", "Thing", "required: [size], properties: {size: {type: integer}}");
    let thing = object("example.com/v1", "Thing", "spec: {}");
    let webhook = |resources: &str| {
        format!(
            "---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: defaults}}\nwebhooks: [{{name: a.example.com, rules: [{{apiGroups: [example.com], apiVersions: ['*'], operations: [CREATE], resources: [{resources}]}}]}}]\n"
        )
    };
    for (more, expected) in [
        (String::new(), Some(Severity::Error)),
        (webhook("others"), Some(Severity::Error)),
        (webhook("things"), Some(Severity::Warning)),
    ] {
        let world = world(&(defined.clone() + &thing + &more));
        let mut found = world.diagnostics.iter();
        let found = found.find(|finding| finding.code == Code::RequiredField);
        assert_eq!(found.map(|finding| finding.severity), expected, "{more}");
        let help = found.and_then(|finding| finding.help.clone()).unwrap_or_default();
        assert_eq!(help.contains("`defaults`"), expected == Some(Severity::Warning), "{help}");
    }
}

#[test]
fn names_that_the_webhook_of_jobsets_writes_are_not_required() {
    let rules = "{type: array, items: {type: object, required: [action, name], properties: {name: {type: string}, action: {type: string}}}}";
    let defined = definition(
        "jobset.x-k8s.io",
        "JobSet",
        &format!("properties: {{failurePolicy: {{type: object, properties: {{rules: {rules}}}}}}}"),
    );
    let set = |rule: &str| {
        object(
            "jobset.x-k8s.io/v1",
            "JobSet",
            &format!("spec: {{failurePolicy: {{rules: [{rule}]}}}}"),
        )
    };
    for (rule, expected) in [("{action: FailJobSet}", 0), ("{name: a}", 1)] {
        let world = world(&(defined.clone() + &set(rule)));
        let found = codes(&world.diagnostics);
        let count = found.iter().filter(|code| **code == "required-field").count();
        assert_eq!(count, expected, "{rule}: {found:?}");
    }
}

/// Test tools apply what is in their files while a test runs.
#[test]
fn devices_in_files_of_test_tools_are_not_counted() {
    let step = "spec: {steps: [{try: [{apply: {resource: {kind: Pod, spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}]}]}";
    for (version, expected) in [("chainsaw.kyverno.io/v1alpha1", false), ("example.com/v1", true)] {
        let world = world(&object(version, "Test", step));
        let found = codes(&world.diagnostics).contains(&"devices-not-counted");
        assert_eq!(found, expected, "{version}");
    }
}

/// Nodes of a simulator have as much of a status as somebody wrote.
#[test]
fn no_field_of_a_status_is_required() {
    for (rest, expected) in [
        ("status: {nodeInfo: {kubeletVersion: fake}, allocatable: {cpu: 8}}", false),
        ("spec: {taints: [{key: a}]}", true),
    ] {
        let found = world(&object("v1", "Node", rest)).diagnostics;
        assert_eq!(codes(&found).contains(&"required-field"), expected, "{rest}: {found:?}");
    }
}

/// Copies in several directories have one name, which is said once.
#[test]
fn objects_of_one_name_are_named_once() {
    let cache = |size: &str| {
        format!(
            "apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\nmetadata: {{name: a, namespace: ml}}\nspec: {{resources: {{limits: {{nvidia.com/gpu: {size}}}}}}}\n"
        )
    };
    let (one, two) = (cache("1"), cache("2"));
    let files = [("x/a.yaml", one.as_str()), ("y/a.yaml", &two)];
    let ran = crate::testing::ome_on("diff --base {.} -f {.} -o table", &files);
    assert!(ran.out.contains("2 NIMService (ml/a twice)"), "{}{}", ran.out, ran.err);
}

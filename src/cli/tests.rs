//! Whole commands in this process: exit codes, what is named, which findings belong to an answer.

use crate::testing::{catalog, gpu_node, ome, ome_on, plan, service, serving};

/// The codes of every command for an input that is right, wrong, or does not fit.
#[test]
fn exit_codes_are_those_of_the_table() {
    let right = catalog(1) + &service("a", "minReplicas: 1");
    let wrong = catalog(1) + &service("a", "minReplicas: x");
    let absent = service("a", "minReplicas: 1");
    let full = right.clone() + &gpu_node("one", 0, "");
    for (command, input, code) in [
        ("plan", &right, 0),
        ("plan", &absent, 1),
        ("plan", &wrong, 1),
        ("plan", &full, 2),
        ("validate", &right, 0),
        ("validate", &wrong, 2),
        ("render", &right, 0),
        ("render", &absent, 1),
        ("explain a", &right, 0),
        ("explain a", &absent, 1),
        ("explain b", &right, 1),
        ("plan --at sometimes", &right, 1),
        ("why a spec.replicas", &right, 1),
        ("endpoints", &right, 0),
    ] {
        let ran = ome(command, input);
        assert_eq!(ran.code, code, "{command}\n{}{}", ran.out, ran.err);
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let ran = ome_on("plan -f /nowhere/of/ome.yaml", &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("/nowhere/of/ome.yaml"), "{}", ran.err);
}

#[test]
fn a_name_that_is_not_in_the_input_offers_the_nearest() {
    let input = catalog(1) + &service("chat", "") + &service("search", "");
    for (name, help) in [
        ("chta", "did you mean `chat`?"),
        ("other/chat", "`chat` is in namespace `ml`: write `ml/chat`"),
        ("x", "the input has chat, search"),
    ] {
        let ran = ome(&format!("explain {name}"), &input);
        assert!(ran.err.contains(help), "{name}: {}", ran.err);
        assert_eq!(ran.code, 1, "{name}");
    }
}

/// A ModelServing in error has a row with its error, no pods, and no place on a node.
#[test]
fn a_model_serving_in_error_counts_nowhere() {
    let node = gpu_node("one", 8, "");
    for (groups, gpus, code) in [
        ("-3", "2", "invalid-value"),
        ("99999999999", "2", "invalid-value"),
        ("1", "99999999999", "invalid-quantity"),
        ("1", "1.5", "invalid-quantity"),
    ] {
        let input = serving("good", "1", "2") + &serving("bad", groups, gpus) + &node;
        let ran = plan(&input);
        assert_eq!(ran.code, 1, "{groups} {gpus}");
        assert_eq!(ran.at("/totals/pods"), 1, "{groups} {gpus}");
        assert_eq!(ran.at("/totals/gpus/nvidia.com~1gpu"), 2, "{groups} {gpus}");
        assert_eq!(ran.at("/totals/modelServings"), 2, "{groups} {gpus}");
        assert_eq!(ran.at("/placement/pods/wanted"), 1, "{groups} {gpus}");
        assert_eq!(ran.at("/placement/verdict"), "unknown", "{groups} {gpus}");
        assert_eq!(ran.at("/modelServings/0/name"), "bad");
        assert_eq!(ran.at("/modelServings/0/error/code"), code, "{groups} {gpus}");
        assert_eq!(ran.at("/modelServings/0/pods"), 0);
        assert_eq!(ran.at("/modelServings/0/placement"), serde_json::Value::Null);
        assert_eq!(ran.at("/modelServings/1/error"), serde_json::Value::Null);
        let text = ome("plan", &input);
        assert!(text.out.contains("2 ModelServings, 1 in error; 1 pod and 2 GPUs"), "{}", text.out);
        assert_eq!(ome("render", &input).code, 1);
    }
}

/// More pods than are looked at one by one: counted, not placed, not in error.
#[test]
fn a_model_serving_with_too_many_pods_has_a_row() {
    let ran = plan(&(serving("huge", "300000", "1") + &gpu_node("one", 8, "")));
    assert_eq!(ran.at("/modelServings/0/pods"), 300_000);
    assert_eq!(ran.at("/modelServings/0/error"), serde_json::Value::Null);
    assert_eq!(ran.at("/modelServings/0/groups"), serde_json::json!([]));
    assert!(ran.findings().contains(&"too-many-pods".to_owned()), "{:?}", ran.findings());
}

#[test]
fn a_model_serving_needs_a_spec_in_both_modes() {
    let head = "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {name: a, namespace: d}\n";
    for semantics in ["documented", "controller"] {
        for spec in ["", "spec:\n", "spec: null\n", "spec: {}\n", "spec: {template: {}}\n"] {
            let command = format!("validate --semantics {semantics} -o json");
            let ran = ome(&command, &format!("{head}{spec}"));
            assert_eq!(ran.findings(), ["required-field"], "{semantics} {spec}");
            assert_eq!(ran.code, 2, "{semantics} {spec}");
        }
    }
}

/// The values that are offered are those of the profile.
#[test]
fn an_unsupported_value_names_the_values_of_the_profile() {
    let text = |fields: &str| {
        format!(
            "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: a, namespace: d}}\nspec:\n  {fields}\n  template:\n    roles: [{{name: r, replicas: 1, workerReplicas: 0, entryTemplate: {{spec: {{containers: [{{name: c, image: i}}]}}}}}}]\n"
        )
    };
    for (fields, documented, controller) in [
        (
            "recoveryPolicy: Bogus",
            "write `ServingGroupRecreate` or `RoleRecreate`",
            "write `ServingGroupRecreate`, `RoleRecreate` or `None`",
        ),
        (
            "rolloutStrategy: {type: Bogus}",
            "write `ServingGroupRollingUpdate`",
            "write `ServingGroupRollingUpdate` or `RoleRollingUpdate`",
        ),
    ] {
        for (semantics, help) in [("documented", documented), ("controller", controller)] {
            let command = format!("validate --semantics {semantics} -o json");
            let ran = ome(&command, &text(fields));
            assert_eq!(ran.findings(), ["invalid-value"], "{semantics} {fields}");
            assert_eq!(ran.at("/findings/0/help"), help, "{semantics} {fields}");
        }
    }
}

/// What cannot be counted is reported once: where the number is, or as the sum that is too large.
#[test]
fn not_counted_is_reported_unless_the_number_itself_is() {
    let of = |engine: &str| {
        let ran = ome("validate -o json", &(catalog(1) + &service("a", engine)));
        let numbers = ["invalid-quantity", "invalid-value", "not-counted"];
        let found = ran.findings().into_iter().filter(|code| numbers.contains(&code.as_str()));
        found.collect::<Vec<_>>().join(" ")
    };
    let runner = |limits: &str| {
        format!("runner: {{name: x, image: i, resources: {{limits: {{{limits}}}}}}}")
    };
    for (engine, expected) in [
        (runner("nvidia.com/gpu: 1.5"), "invalid-quantity"),
        (format!("minReplicas: 2000000000, {}", runner("nvidia.com/gpu: 1000000")), "not-counted"),
        (
            format!("minReplicas: 2000000000, {}", runner("nvidia.com/gpu: 1000000, cpu: abc")),
            "invalid-quantity not-counted",
        ),
        ("minReplicas: -1".to_owned(), "invalid-value"),
    ] {
        let mut found: Vec<String> = of(&engine).split(' ').map(str::to_owned).collect();
        found.sort();
        assert_eq!(found.join(" "), expected, "{engine}");
    }
}

/// An input with identities of a server is a cluster, which has no built-in runtimes.
#[test]
fn a_live_input_says_that_built_in_runtimes_are_left_out() {
    let model = catalog(1);
    let model = model.split("---").next().expect("the model");
    let live = |uid: &str| {
        format!(
            "{model}---\napiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: d{uid}}}\nspec: {{model: {{name: m}}, engine: {{}}}}\n"
        )
    };
    let uid = ", uid: 8d1a2d2c-0000-0000-0000-000000000001, resourceVersion: \"5\"";
    let sentence = "built-in ones left out (a live cluster; `--builtin always` adds them)";
    for (text, flags, expected) in [
        (live(uid), "", true),
        (live(""), "", false),
        (live(uid), "--builtin always", false),
        (live(uid), "--builtin never", false),
    ] {
        let ran = ome_on(&format!("plan {flags} -f {{in.yaml}}"), &[("in.yaml", &text)]);
        assert_eq!(ran.out.contains(sentence), expected, "{flags}\n{}", ran.out);
    }
}

#[test]
fn an_annotation_of_an_unknown_mode_names_the_modes() {
    let service = |place: &str| {
        let (metadata, engine) = match place {
            "service" => (", annotations: {ome.io/deploymentMode: Bogus}", ""),
            _ => ("", "annotations: {ome.io/deploymentMode: Bogus}"),
        };
        format!(
            "---\napiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: d{metadata}}}\nspec: {{model: {{name: m}}, runtime: {{name: rt}}, engine: {{{engine}}}}}\n"
        )
    };
    for place in ["service", "engine"] {
        let ran = ome("validate -o json", &(catalog(1) + &service(place)));
        assert_eq!(ran.findings(), ["no-effect"], "{place}");
        let help = ran.at("/findings/0/help").to_string();
        assert!(
            help.contains("write one of RawDeployment, Serverless, MultiNode"),
            "{place}: {help}"
        );
    }
}

/// Knative has no `serviceAccount`: the server drops it.
#[test]
fn a_service_account_of_knative_is_named_and_left_out() {
    let text = |mode: &str, field: &str| {
        format!(
            "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: d, annotations: {{serving.kserve.io/deploymentMode: {mode}}}}}\nspec: {{predictor: {{{field}: own, containers: [{{name: kserve-container, image: i}}]}}}}\n"
        )
    };
    for semantics in ["documented", "controller"] {
        for (mode, field, finding, written) in [
            ("Serverless", "serviceAccount", true, false),
            ("Serverless", "serviceAccountName", false, true),
            ("RawDeployment", "serviceAccount", false, true),
        ] {
            let text = text(mode, field);
            let found = ome(&format!("validate --semantics {semantics} -o json"), &text);
            assert_eq!(
                !found.findings().is_empty(),
                finding,
                "{semantics} {mode} {field}: {}",
                found.out
            );
            let ran = ome(&format!("render --semantics {semantics}"), &text);
            assert_eq!(ran.code, 0, "{semantics} {mode} {field}: {}", ran.err);
            assert_eq!(ran.out.contains(": own"), written, "{semantics} {mode} {field}");
        }
    }
}

/// A new service has the generation 1; the documents say nothing about it.
#[test]
fn the_generation_of_a_service_that_is_not_there_is_one() {
    let text = |generation: &str| {
        format!(
            "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: d{generation}, annotations: {{serving.kserve.io/deploymentMode: RawDeployment}}}}\nspec: {{predictor: {{model: {{modelFormat: {{name: sk}}, runtime: r, storageUri: \"s3://b/m\"}}}}}}\n---\napiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {{name: r, namespace: d}}\nspec:\n  supportedModelFormats: [{{name: sk, autoSelect: true}}]\n  containers: [{{name: kserve-container, image: i, args: [\"--g={{{{.Generation}}}}\"]}}]\n"
        )
    };
    for (semantics, generation, expected) in [
        ("controller", "", Some("--g=1")),
        ("controller", ", generation: 7", Some("--g=7")),
        ("documented", ", generation: 7", Some("--g=7")),
        ("documented", "", None),
    ] {
        let ran = ome(&format!("render --semantics {semantics}"), &text(generation));
        let written = ran.out.lines().find(|line| line.contains("--g="));
        let written = written.map(|line| line.trim_start_matches([' ', '-']));
        assert_eq!(
            written.map(|value| format!("--{value}")),
            expected.map(str::to_owned),
            "{semantics}{generation}: {}",
            ran.err
        );
    }
}

/// A requirement that runtime and service set has the place of the layer that is named.
#[test]
fn features_of_two_layers_have_the_place_of_the_named_layer() {
    let text = |value: &str| {
        let runtime = catalog(1).replace(
            "  modelSizeRange",
            "  acceleratorRequirements: {acceleratorClasses: [c], requiredFeatures: [tensor-cores, fp8]}\n  modelSizeRange",
        );
        format!(
            "{runtime}---\napiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: c}}\nspec: {{vendor: nvidia, discovery: {{nodeSelector: {{a: b}}}}, capabilities: {{memoryGB: 80Gi, features: [tensor-cores]}}, resources: [{{name: nvidia.com/gpu, quantity: \"1\"}}]}}\n---\napiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: d}}\nspec:\n  model: {{name: m}}\n  runtime: {{name: rt}}\n  acceleratorSelector: {{constraints: {{requiredFeatures: [{value}]}}}}\n  engine: {{}}\n"
        )
    };
    for (value, layer, in_service, reason_in_service) in [
        ("nvlink", "service", true, false),
        ("fp8, nvlink", "service", true, true),
        ("fp8", "runtime", false, true),
        // The runtime's first one.
        ("tensor-cores", "runtime", false, false),
    ] {
        let text = text(value);
        let line =
            |part: &str| text.lines().position(|line| line.contains(part)).expect("a line") + 1;
        let (runtime, service) = (line("acceleratorRequirements"), line("acceleratorSelector"));
        let page = ome("explain a", &text).out;
        let row = page.lines().find(|row| row.starts_with("features ")).expect("a row");
        let place = if in_service { service } else { runtime };
        assert!(row.contains(layer) && row.ends_with(&format!(":{place}")), "{value}: {row}");
        let ran = ome("explain a -o json", &text);
        let at = ran.at("/services/0/accelerators/0/candidates/0/reasons/0/at").to_string();
        let place = if reason_in_service { service } else { runtime };
        assert!(at.ends_with(&format!(":{place}\"")), "{value}: {at}");
    }
}

#[test]
fn why_names_the_line_that_sets_a_field() {
    let input = catalog(2)
        + &service(
            "a",
            "minReplicas: 3, runner: {name: ome-container, env: [{name: A, value: b}]}",
        );
    for (path, text) in [("image", "image: example"), ("env[name=A].value", "value: b")] {
        let path = format!("spec.template.spec.containers[name=ome-container].{path}");
        let ran = ome(&format!("why Deployment/a-engine {path}"), &input);
        let line = input.lines().position(|line| line.contains(text)).expect("a line") + 1;
        assert_eq!(ran.code, 0, "{path}: {}", ran.err);
        assert!(ran.out.contains(&format!("in.yaml:{line}")), "{path}: {}", ran.out);
    }
}

#[test]
fn rendered_objects_are_the_same_in_each_format() {
    let input = catalog(1) + &service("a", "minReplicas: 1");
    let list = ome("render -o json", &input);
    let items = list.at("/items");
    let names: Vec<String> = items
        .as_array()
        .into_iter()
        .flatten()
        .map(|value| format!("{} {}", value["kind"], value["metadata"]["name"]).replace('"', ""))
        .collect();
    let yaml = ome("render", &input).out;
    assert_eq!(
        yaml.matches("\nkind: ").count() + usize::from(yaml.starts_with("kind: ")),
        names.len()
    );
    assert!(names.contains(&"Deployment a-engine".to_owned()), "{names:?}");
    assert!(names.contains(&"Service a".to_owned()), "{names:?}");
}

#[test]
fn a_service_in_error_renders_nothing_and_others_are_rendered() {
    let broken = service("b", "minReplicas: 1").replace("name: rt", "name: other");
    let ran = ome("render -o json", &(catalog(1) + &service("a", "minReplicas: 1") + &broken));
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("a-engine") && !ran.out.contains("b-engine"));
    assert!(ran.err.contains("runtime-not-found"), "{}", ran.err);
}

#[test]
fn selection_is_explained_with_the_rule_that_rejects() {
    let input = |text: &str| text.replace("runtime: {name: rt}, ", "");
    let all = catalog(1) + &service("a", "");
    for (from, to, code) in [
        ("autoSelect: true", "autoSelect: false", "auto-select-off"),
        ("{min: 1B, max: 10B}", "{min: 10B, max: 20B}", "size-range"),
        (
            "modelArchitecture: LlamaForCausalLM\n    autoSelect",
            "modelArchitecture: Other\n    autoSelect",
            "architecture",
        ),
        (
            "spec:\n  supportedModelFormats",
            "spec:\n  disabled: true\n  supportedModelFormats",
            "disabled",
        ),
    ] {
        let ran = ome("explain a -o json", &input(&all.replace(from, to)));
        let reasons = ran.at("/services/0/runtime/candidates/0/reasons").to_string();
        assert!(reasons.contains(&format!("\"{code}\"")), "{code}: {reasons}");
        assert_eq!(ran.at("/services/0/error/code"), "no-compatible-runtime", "{code}");
        assert_eq!(ran.code, 1, "{code}");
    }
    let ran = ome("explain a -o json", &input(&all));
    assert_eq!(ran.at("/services/0/runtime/chosen/name"), "rt");
    assert_eq!(ran.at("/services/0/runtime/basis"), "auto");
}

#[test]
fn the_bounds_of_a_size_range_are_inside_it() {
    for (size, expected) in [("1B", true), ("10B", true), ("0.9B", false), ("10.1B", false)] {
        let input = (catalog(1) + &service("a", ""))
            .replace("runtime: {name: rt}, ", "")
            .replace("modelParameterSize: 8B", &format!("modelParameterSize: {size}"));
        assert_eq!(plan(&input).code == 0, expected, "{size}");
    }
}

#[test]
fn findings_of_other_objects_touch_no_answer() {
    let service = service("a", "minReplicas: 1");
    let other = "---\napiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: other}\nspec: {supportedModelFormats: x}\n";
    let ran = plan(&(catalog(1) + &service + other));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.findings(), Vec::<String>::new());
    assert_eq!(ome("validate", &(catalog(1) + &service + other)).code, 2);
}

#[test]
fn a_document_that_was_not_read_is_named_by_every_command_that_fails_for_it() {
    // kubectl takes no document on the line of `---`; the object there is read all the same.
    let node = "--- {apiVersion: v1, kind: Node, metadata: {name: n}}\n";
    let limits = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\n";
    for args in ["render", "plan", "explain", "endpoints"] {
        let ran = ome(args, &(limits.to_owned() + node));
        assert_eq!(ran.code, 1, "{args}: {}", ran.err);
        assert!(ran.err.contains("yaml-syntax"), "{args}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_scalar_in_place_of_a_mapping_is_a_finding_of_a_merged_service() {
    let preset = "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\nmetadata: {name: kserve-config-llm-template, namespace: kserve}\nspec: {template: {containers: [{name: main, image: i}]}}\n---\n";
    for field in ["annotations: -1", "labels: 1.50", "annotations: {a: 1}"] {
        let service = format!(
            "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {{name: a, namespace: b, {field}}}\nspec: {{model: {{uri: 'hf://a/b'}}}}\n"
        );
        for command in ["plan", "render", "explain"] {
            let ran = ome(command, &format!("{preset}{service}"));
            assert_eq!(ran.code, 1, "{command}, {field}: {}{}", ran.out, ran.err);
            assert!(ran.err.contains("invalid-type"), "{command}, {field}: {}", ran.err);
        }
    }
}

#[test]
fn a_namespace_limits_the_services() {
    let two =
        catalog(1) + &service("a", "") + &service("b", "").replace("namespace: ml", "namespace: x");
    for (flags, names) in [("", &["a", "b"][..]), ("-n ml", &["a"]), ("-n x", &["b"])] {
        let ran = ome(&format!("plan -o json {flags}"), &two);
        let services = ran.at("/services");
        let mut found: Vec<&str> = services
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|value| value["name"].as_str())
            .collect();
        found.sort_unstable();
        assert_eq!(found, names, "{flags}");
    }
}

#[test]
fn a_template_takes_a_part_of_the_document() {
    let input = catalog(1) + &service("a", "minReplicas: 2");
    for (template, expected) in [
        ("{.services[0].name}", "a"),
        ("{.totals.pods}", "2"),
        ("{.services[*].namespace}", "ml"),
        ("{.nothing}", ""),
    ] {
        let ran = ome(&format!("plan -o jsonpath={template}"), &input);
        assert_eq!(ran.out.trim(), expected, "{template}");
    }
    assert_eq!(ome("plan -o jsonpath={.a", &input).code, 1);
}

#[test]
fn quiet_leaves_errors_and_the_answer() {
    let input = catalog(1) + &service("a", "minReplicas: 1, nodeSelektor: {a: b}");
    let loud = ome("validate", &input);
    let quiet = ome("-q plan", &input);
    assert_eq!(loud.code, 2);
    assert!(quiet.err.contains("unknown-field"), "{}", quiet.err);
    assert!(quiet.out.contains("ml"), "{}", quiet.out);
}

#[test]
fn users_of_a_runtime_are_the_services_that_it_serves() {
    let input =
        catalog(1) + &service("a", "") + &service("b", "").replace("runtime: {name: rt}, ", "");
    let ran = ome("explain runtime/rt", &input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("ml/a") && ran.out.contains("ml/b"), "{}", ran.out);
}

#[test]
fn a_model_that_is_disabled_is_an_error() {
    let input =
        (catalog(1) + &service("a", "")).replacen("spec:\n", "spec:\n  disabled: true\n", 1);
    let ran = plan(&input);
    assert_eq!(ran.at("/services/0/error/code"), "model-disabled");
    assert_eq!(ran.code, 1);
}

#[test]
fn a_runtime_that_is_named_must_fit_the_model() {
    for (from, to, code) in [
        ("max: 10B", "max: 7B", "runtime-incompatible"),
        (
            "spec:\n  supportedModelFormats",
            "spec:\n  disabled: true\n  supportedModelFormats",
            "runtime-disabled",
        ),
        ("metadata: {name: rt}", "metadata: {name: other}", "runtime-not-found"),
    ] {
        let ran = plan(&(catalog(1) + &service("a", "")).replace(from, to));
        assert_eq!(ran.at("/services/0/error/code"), code);
        assert_eq!(ran.code, 1, "{code}");
    }
    // A named runtime need not allow automatic selection.
    let ran =
        plan(&(catalog(1) + &service("a", "")).replace("autoSelect: true", "autoSelect: false"));
    assert_eq!(ran.code, 0);
}

/// A path in the place of a name is answered with the command that reads it, and that works.
#[test]
fn a_path_as_a_name_has_the_command_that_reads_it() {
    let text = catalog(1) + &service("a", "minReplicas: 1") + &gpu_node("n1", 1, "");
    for verb in ["explain", "plan", "rollout"] {
        let ran = ome_on(&format!("{verb} {{svc.yaml}} -f {{svc.yaml}}"), &[("svc.yaml", &text)]);
        assert_eq!(ran.code, 1, "{verb}: {}", ran.out);
        let proposed = format!("which `-f` reads: `ome {verb} -f ");
        assert!(ran.err.contains(&proposed), "{verb}: {}", ran.err);
    }
}

/// The last line follows the exit code, and nothing is confirmed of an input with errors.
#[test]
fn a_rollout_with_a_serving_in_error_confirms_nothing() {
    let old = serving("a", "1", "1") + &gpu_node("n1", 8, "");
    let new = serving("a", "'100%'", "1") + &gpu_node("n1", 8, "");
    let files = [("old.yaml", old.as_str()), ("new.yaml", new.as_str())];
    let ran = ome_on("rollout --all --no-builtin --base {old.yaml} -f {new.yaml}", &files);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains('✓'), "{}", ran.out);
    let last = ran.out.lines().last().unwrap_or_default();
    assert!(last.starts_with('✗'), "{}", ran.out);
}

/// What placing reads is judged once: `validate` reports it with the severity that `plan` has.
#[test]
fn a_refused_workload_is_reported_once() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {selector: {matchLabels: {app: b}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}}\n";
    for semantics in ["documented", "controller"] {
        let ran = ome_on(
            &format!("validate --semantics {semantics} -o json {{in.yaml}}"),
            &[("in.yaml", text)],
        );
        let found: Vec<String> =
            ran.findings().into_iter().filter(|code| code == "server-refuses").collect();
        assert_eq!(found.len(), 1, "{semantics}: {}", ran.out);
        assert_eq!(ran.code, 2, "{semantics}: {}", ran.out);
    }
}

/// A service is rendered with the runtime of its own directory, as it is planned.
#[test]
fn a_service_is_rendered_with_the_objects_of_its_directory() {
    let text = |service: &str, image: &str| {
        format!(
            "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {{name: r}}\nspec:\n  supportedModelFormats: [{{name: sklearn, version: '1', autoSelect: true}}]\n  containers: [{{name: kserve-container, image: {image}}}]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {service}}}\nspec: {{predictor: {{model: {{modelFormat: {{name: sklearn}}, runtime: r, storageUri: 's3://b/m'}}}}}}\n"
        )
    };
    let (one, two) = (text("one", "image-one"), text("two", "image-two"));
    let files = [("x/a.yaml", one.as_str()), ("y/a.yaml", two.as_str())];
    for (service, image, other) in
        [("one", "image-one", "image-two"), ("two", "image-two", "image-one")]
    {
        let ran = ome_on(&format!("render {service} -f {{.}}"), &files);
        let has = |image: &str| ran.out.contains(image);
        assert!(has(image) && !has(other), "{service}: {}{}", ran.out, ran.err);
    }
}

/// What a server refuses of a runtime that only one directory has is found by every command.
#[test]
fn a_refusal_of_the_runtime_of_one_directory_is_found() {
    let text = |service: &str, port: u32| {
        format!(
            "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {{name: r}}\nspec:\n  supportedModelFormats: [{{name: f, autoSelect: true}}]\n  containers: [{{name: kserve-container, image: i, ports: [{{containerPort: {port}}}]}}]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {service}, annotations: {{serving.kserve.io/deploymentMode: RawDeployment}}}}\nspec: {{predictor: {{model: {{modelFormat: {{name: f}}, runtime: r, storageUri: 'hf://a/b'}}}}}}\n"
        )
    };
    // Two services that see each their runtime, then two definitions of one service.
    for services in [["one", "two"], ["one", "one"]] {
        let (one, two) = (text(services[0], 80), text(services[1], 70000));
        let files = [("x/a.yaml", one.as_str()), ("y/a.yaml", two.as_str())];
        for command in ["plan -f {.}", "validate {.}", "render -f {.}"] {
            if services[0] == services[1] && command.starts_with("render") {
                // One definition of each name is rendered.
                continue;
            }
            let ran = ome_on(command, &files);
            let all = ran.out + &ran.err;
            assert!(all.contains("70000: must be between"), "{command} {services:?}: {all}");
            let expected = if command.starts_with("validate") { 0 } else { 2 };
            assert_eq!(ran.code, expected, "{command} {services:?}: {all}");
        }
    }
}

/// A component that KEDA of the input scales to none has the same size in both answers.
#[test]
fn what_an_autoscaler_of_the_input_leaves_counts_alike() {
    let text = |least: u32| {
        format!(
            "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {{name: r, namespace: d}}\nspec:\n  supportedModelFormats: [{{name: f, autoSelect: true}}]\n  containers: [{{name: kserve-container, image: i, resources: {{limits: {{nvidia.com/gpu: 2}}}}}}]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: d, annotations: {{serving.kserve.io/deploymentMode: RawDeployment, serving.kserve.io/autoscalerClass: external}}}}\nspec: {{predictor: {{model: {{modelFormat: {{name: f}}, runtime: r, storageUri: 'hf://a/b'}}}}}}\n---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{name: a, namespace: d}}\nspec: {{scaleTargetRef: {{name: a-predictor}}, minReplicaCount: {least}, triggers: [{{type: cron}}]}}\n"
        )
    };
    let texts = [text(0), text(3)];
    let files = [("a.yaml", texts[0].as_str()), ("b.yaml", texts[1].as_str())];
    for (file, gpus, replicas) in [("a", 0, "0..100"), ("b", 6, "3..100")] {
        let plan = ome_on(&format!("plan -f {{{file}.yaml}}"), &files);
        assert!(plan.out.contains(replicas), "{file}: {}", plan.out);
        let page = ome_on(&format!("explain a -f {{{file}.yaml}}"), &files);
        let replicas = replicas.replace("..", " to ");
        assert!(page.out.contains(&format!("{replicas} replicas")), "{file}: {}", page.out);
        let plan = ome_on(&format!("plan -f {{{file}.yaml}} -o json"), &files);
        let counted = plan.at("/totals/gpus/nvidia.com~1gpu").as_i64().unwrap_or(0);
        assert_eq!(counted, gpus, "{file}: {}", plan.out);
    }
    for (base, new, from, to) in [("a", "b", 0, 6), ("b", "a", 6, 0), ("a", "a", 0, 0)] {
        let diff =
            ome_on(&format!("diff --base {{{base}.yaml}} -f {{{new}.yaml}} -o json"), &files);
        let gpus = diff.at("/summary/gpus").clone();
        assert_eq!(
            [&gpus["before"], &gpus["after"]],
            [from, to].map(serde_json::Value::from).each_ref(),
            "{base} {new}: {}",
            diff.out
        );
    }
}

/// That every object is missing in a cluster of which nothing was read is no drift.
#[test]
fn drift_without_anything_of_a_cluster_is_not_judged() {
    let text = "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: r, namespace: d}\nspec:\n  supportedModelFormats: [{name: f, autoSelect: true}]\n  containers: [{name: kserve-container, image: i}]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: d, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {model: {modelFormat: {name: f}, runtime: r, storageUri: 'hf://a/b'}}}\n";
    for (output, code) in [("table", 1), ("json", 1)] {
        let ran = ome(&format!("drift -o {output}"), text);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert!(ran.out.is_empty(), "{}", ran.out);
        for part in
            ["nothing to compare with", "kubectl get deployment,", "then `--live live.yaml`"]
        {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
    }
    // What is named as a dump is compared, and a line says what it looks like.
    let files = [("a.yaml", text)];
    let ran = ome_on("drift -f {a.yaml} --live {a.yaml}", &files);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("is it a dump of the cluster?"), "{}", ran.err);
    // A dump of which the operator's objects are gone says what is missing.
    let dumped = text.replace("{name: a, namespace: d,", "{name: a, namespace: d, uid: u,")
        + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: d, uid: n}\n";
    let ran = ome("drift", &dumped);
    assert_eq!((ran.code, ran.out.contains("missing")), (2, true), "{}{}", ran.out, ran.err);
}

/// A runtime that is nearer to another definition of a service is not seen, and the error names it.
#[test]
fn a_runtime_of_another_definition_is_named_with_its_file() {
    let service = |least: u32| {
        format!(
            "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: d, annotations: {{serving.kserve.io/deploymentMode: RawDeployment}}}}\nspec: {{predictor: {{minReplicas: {least}, model: {{modelFormat: {{name: f}}, runtime: r, storageUri: 'hf://a/b'}}}}}}\n"
        )
    };
    let runtime = "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {name: r}\nspec:\n  supportedModelFormats: [{name: f, autoSelect: true}]\n  containers: [{name: kserve-container, image: i}]\n";
    let (dev, prod) = (service(1), service(2));
    for (file, command, code) in [
        // Of two definitions the first by path counts.
        ("dev/r.yaml", "plan -f {.}", 1),
        ("prod/r.yaml", "plan -f {.}", 1),
        ("prod/r.yaml", "explain -f {.}", 1),
        ("prod/r.yaml", "render -f {.}", 1),
    ] {
        let files = [("dev/s.yaml", dev.as_str()), (file, runtime), ("prod/s.yaml", prod.as_str())];
        let ran = ome_on(command, &files);
        let all = ran.out + &ran.err;
        assert_eq!(ran.code, code, "{file} {command}: {all}");
        let named =
            format!("{file}` has it, which is nearer to another definition; `ome plan d/a -f ");
        assert!(all.contains(&named), "{file} {command}: {all}");
    }
}

//! Upgrades of Kthena and of KServe, rule by rule.

use super::diff::Scratch;
use serde_json::Value;

/// A ModelServing with `replicas` groups of one entry pod and one worker, 4 GPUs each.
pub(crate) fn rolled(name: &str, replicas: i64, strategy: &str) -> String {
    format!(
        "apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {{name: {name}, namespace: a}}
spec:
  replicas: {replicas}
  rolloutStrategy: {strategy}
  template:
    roles:
      - name: p
        replicas: 1
        workerReplicas: 1
        entryTemplate: {{spec: {{containers: [{{name: e, image: x, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]}}}}
        workerTemplate: {{spec: {{containers: [{{name: w, image: x, resources: {{limits: {{nvidia.com/gpu: 4}}}}}}]}}}}
---
"
    )
}

#[test]
fn a_kthena_upgrade_restarts_groups_outside_the_partition() {
    let scratch = Scratch::new("kthena-upgrade");
    let groups = |partition: i64| {
        format!(
            "{{type: ServingGroupRollingUpdate, rollingUpdateConfiguration: {{partition: {partition}}}}}"
        )
    };
    let fleet = [
        rolled("free", 2, &groups(0)),
        rolled("half", 3, &groups(1)),
        rolled("held", 2, &groups(2)),
        rolled("role", 2, "{type: RoleRollingUpdate}"),
    ];
    scratch.write("fleet.yaml", &fleet.concat());
    let upgrade = |from: &str, to: &str, more: &[&str]| {
        let args = [&["--from-release", from, "--to-release", to, "-f", "fleet.yaml"], more];
        scratch.diff(&args.concat())
    };
    for (from, to) in [("v0.4.0", "v1.0.0"), ("v1.0.0", "head"), ("v0.4.0", "head")] {
        let (exit, answer) = upgrade(&format!("kthena={from}"), &format!("kthena={to}"), &[]);
        assert_eq!(exit, Some(2), "{answer}");
        let of = |service: &str| {
            let groups = answer["groups"].as_array().expect("groups");
            groups.iter().find(|group| group["services"][0] == service).expect("a group").clone()
        };
        assert_eq!(answer["summary"]["restarts"], 3);
        assert_eq!(answer["summary"]["podsRestarted"], 4 + 4 + 4);
        assert_eq!(answer["summary"]["fails"], 0);
        for (service, restart, pods, held, fewest) in [
            ("a/free", true, 4, 0, Value::from(1)),
            ("a/half", true, 4, 1, Value::from(2)),
            ("a/held", false, 0, 2, Value::from(2)),
        ] {
            let group = of(service);
            assert_eq!(group["restart"], restart, "{group}");
            assert_eq!(group["podsRestarted"], pods, "{group}");
            assert_eq!(group["rollout"]["gpus"], pods * 4, "{group}");
            assert_eq!(group["rollout"]["heldByPartition"], held, "{group}");
            assert_eq!(group["rollout"]["fewestGroupsRunning"], fewest, "{group}");
            assert_eq!(group["rollout"]["fits"], Value::Null, "{group}");
            assert_eq!(group["rules"][0]["id"], "H1", "{group}");
            let revision = &group["rollout"]["revision"];
            assert_ne!(revision["from"], revision["to"], "{group}");
        }
        // The edit that stops the whole rollout is last.
        assert_eq!(answer["groups"][3]["services"][0], "a/held");
        assert_eq!(
            of("a/role")["rules"].as_array().map_or(0, Vec::len),
            1 + usize::from(to == "head")
        );
    }
    assert_eq!(upgrade("kthena=head", "kthena=head", &[]).0, Some(0));
    let held = ["a/held", "--fail-on", "restarts"];
    assert_eq!(upgrade("kthena=v0.4.0", "kthena=head", &held).0, Some(0));

    // One node has room for one group.
    scratch.write("nodes.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {nvidia.com/gpu: \"8\", cpu: \"8\", memory: 64Gi, pods: \"110\"}}\n");
    let (_, answer) = upgrade("kthena=v0.4.0", "kthena=head", &["a/free", "-f", "nodes.yaml"]);
    let rollout = &answer["groups"][0]["rollout"];
    assert_eq!(rollout["fits"], false, "{answer}");
    assert!(rollout["stops"].as_str().is_some_and(|why| why.contains("do not fit")), "{answer}");
    let mixed = ["diff", "--from-release", "kthena=v0.4.0", "--to-release", "ome=head"];
    let mixed = scratch.ome(&[&mixed[..], &["-f", "fleet.yaml"]].concat());
    assert!(mixed.stderr.contains("two releases of one operator"), "{}", mixed.stderr);
}

#[test]
fn a_kthena_upgrade_uses_controller_mode() {
    let scratch = Scratch::new("kthena-mode");
    scratch.write("fleet.yaml", &rolled("s", 2, "{type: ServingGroupRollingUpdate}"));
    let args = ["diff", "--from-release", "kthena=v0.4.0", "--to-release", "kthena=head"];
    let done = scratch.ome(&[&args[..], &["-f", "fleet.yaml"]].concat());
    assert!(done.stdout.starts_with("mode: controller · base: kthena=v0.4.0"), "{}", done.stdout);
}

/// The objects of a KServe fleet in the tests of its upgrades.
const OF_KSERVE: &str = "apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: acme-vllm, annotations: {serving.kserve.io/server-type: vllmserver}}
spec:
  supportedModelFormats: [{name: vLLM, autoSelect: true}, {name: huggingface, autoSelect: true}]
  protocolVersions: [v1]
  containers: [{name: kserve-container, image: 'vllm/vllm-openai:v0.9.0'}]
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: cpu, namespace: a, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec: {predictor: {model: {modelFormat: {name: huggingface}, storageUri: gs://acme/m, runtime: acme-vllm}}}
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: named, namespace: a, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec: {predictor: {name: blue, model: {modelFormat: {name: huggingface}, storageUri: gs://acme/m, runtime: acme-vllm, runtimeVersion: v0.9.0}}}
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: vllm, namespace: a, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec: {predictor: {model: {modelFormat: {name: vLLM}, storageUri: gs://acme/m, runtime: acme-vllm, runtimeVersion: v0.9.0}}}
";

#[test]
fn an_upgrade_of_kserve_names_its_rules() {
    let scratch = Scratch::new("kserve-upgrade");
    scratch.write("fleet.yaml", OF_KSERVE);
    let args = ["--from-release", "kserve=v0.19.0", "--to-release", "kserve=v0.20.0"];
    let (exit, answer) = scratch.diff(&[&args[..], &["-f", "fleet.yaml"]].concat());
    assert_eq!(exit, Some(2));
    let group = |service: &str| {
        let groups = answer["groups"].as_array().expect("groups");
        groups.iter().find(|group| group["services"][0] == service).expect("a group").clone()
    };
    let rules = |service: &str| -> Vec<Value> {
        let rules = group(service)["rules"].as_array().cloned().unwrap_or_default();
        rules.iter().map(|rule| rule["id"].clone()).collect()
    };
    assert_eq!(rules("a/cpu"), ["I3"], "{:#}", group("a/cpu"));
    assert!(group("a/cpu").to_string().contains("vllm/vllm-openai-cpu:v0.9.0"));
    assert_eq!(rules("a/named"), ["I1"], "{:#}", group("a/named"));
    assert!(group("a/named").to_string().contains("named-blue-predictor"));
    assert_eq!(rules("a/vllm"), ["I2"], "{:#}", group("a/vllm"));
    let refused = "does not support specified protocol version";
    assert!(group("a/vllm")["fails"]["message"].as_str().is_some_and(|why| why.contains(refused)));
    assert_eq!(answer["summary"]["fails"], 1);
}

#[test]
fn a_downgrade_reverts_rules_and_prints_no_upgrade_advice() {
    let scratch = Scratch::new("downgrade");
    scratch.write("fleet.yaml", OF_KSERVE);
    let args = ["--from-release", "kserve=v0.20.0", "--to-release", "kserve=v0.19.0"];
    let (exit, answer) = scratch.diff(&[&args[..], &["-f", "fleet.yaml"]].concat());
    assert_eq!(exit, Some(2));
    let rules: Vec<&Value> = answer["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .flat_map(|group| group["rules"].as_array().expect("rules"))
        .collect();
    assert!(rules.len() >= 3, "{answer:#}");
    for rule in rules {
        assert_eq!((&rule["takenBack"], &rule["action"]), (&true.into(), &Value::Null), "{rule:#}");
        assert!(!rule.to_string().contains("upgrade"), "{rule:#}");
    }
    for output in ["table", "markdown", "html"] {
        let all = [&["diff", "--no-config"], &args[..], &["-f", "fleet.yaml", "-o", output]];
        let page = scratch.ome(&all.concat()).stdout;
        assert!(page.contains("I3 no longer holds: "), "{page}");
        assert!(!page.to_lowercase().contains("before the upgrade"), "{page}");
    }
}

/// The identifiers of the rules of a service's group.
fn rules_of(answer: &Value, service: &str) -> Vec<String> {
    let groups = answer["groups"].as_array().cloned().unwrap_or_default();
    let group = groups.iter().find(|group| group["services"][0] == service).cloned();
    let rules = group.and_then(|group| group["rules"].as_array().cloned()).unwrap_or_default();
    rules.iter().filter_map(|rule| rule["id"].as_str().map(str::to_owned)).collect()
}

/// A ModelServing whose PodGroups have a queue.
pub(crate) fn queued() -> String {
    rolled("queued", 2, "{type: ServingGroupRollingUpdate}").replace(
        "metadata: {name: queued, namespace: a}",
        "metadata: {name: queued, namespace: a, annotations: {scheduling.volcano.sh/queue-name: gpu}}",
    )
}

#[test]
fn kthena_autoscaler_and_queue_rules_affect_only_their_servings() {
    let scratch = Scratch::new("kthena-rules");
    let scaler = "apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler, namespace: a}
spec: {maxReplicas: 4, scaleTargetRef: {apiVersion: workload.serving.volcano.sh/v1alpha1, kind: ModelServing, name: scaled}}
---
";
    let fleet = [
        scaler,
        &rolled("scaled", 2, "{type: ServingGroupRollingUpdate}"),
        &rolled("free", 2, "{type: ServingGroupRollingUpdate}"),
        &queued(),
    ];
    scratch.write("fleet.yaml", &fleet.concat());
    for (from, to, scaled, queued) in [
        ("kthena=v0.4.0", "kthena=v1.0.0", &["H1", "H4"][..], &["H1", "H3"][..]),
        ("kthena=v0.4.0", "kthena=head", &["H1", "H4"], &["H1", "H3"]),
        // Both releases have the entry pods and the queue.
        ("kthena=v1.0.0", "kthena=head", &["H1"], &["H1"]),
    ] {
        let args = ["--from-release", from, "--to-release", to, "-f", "fleet.yaml"];
        let answer = scratch.diff(&args).1;
        assert_eq!(rules_of(&answer, "a/scaled"), scaled, "{from} {to}");
        assert_eq!(rules_of(&answer, "a/queued"), queued, "{from} {to}");
        assert_eq!(rules_of(&answer, "a/free"), ["H1"], "{from} {to}");
    }
}

/// A service of KServe that reads models from `uris`, with more of its predictor.
pub(crate) fn stored(name: &str, predictor: &str) -> String {
    format!(
        "---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {{name: {name}, namespace: a, annotations: {{serving.kserve.io/deploymentMode: Standard}}}}
spec: {{predictor: {{{predictor}}}}}
"
    )
}

/// Containers of the predictor's Deployment in a release.
fn pods(scratch: &Scratch, release: &str, name: &str) -> Value {
    let args = ["render", name, "--no-config", "--expand", "-o", "json", "-f", "fleet.yaml"];
    let done = scratch.ome(&[&args[..], &["--release", release]].concat());
    let answer: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let list = answer.as_array().cloned().or_else(|| answer["items"].as_array().cloned());
    let is_pods = |object: &&Value| object["kind"] == "Deployment";
    let found = list.as_ref().and_then(|list| list.iter().find(is_pods)).cloned();
    found.map(|object| object["spec"]["template"]["spec"].clone()).unwrap_or(answer)
}

#[test]
fn images_and_variables_follow_the_release_of_kserve() {
    let scratch = Scratch::new("kserve-images");
    let runtime = "apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: own}
spec:
  supportedModelFormats: [{name: sklearn, autoSelect: true}]
  protocolVersions: [v1]
  containers: [{name: kserve-container, image: 'x:1', env: [{name: KEY, value: plain}]}]
";
    let model = "model: {modelFormat: {name: sklearn}, runtime: own";
    let uri = |uri: &str, path: &str| format!("{{uri: '{uri}', mountPath: {path}}}");
    let (one, two, bucket) = (
        uri("oci://r/a:1", "/mnt/a/m"),
        uri("oci://r/b:1", "/mnt/b/m"),
        uri("gs://acme/m", "/mnt/c/m"),
    );
    let odd = uri("oci://r/a:1", "'/mnt/o d/m'");
    let fleet = [
        runtime.to_owned(),
        stored("several", &format!("{model}}}, storageUris: [{one}, {two}, {bucket}]")),
        stored("odd", &format!("{model}}}, storageUris: [{odd}]")),
        stored("native", &format!("{model}, storageUri: 'oci+native://r/a:1'}}")),
        stored("pulled", &format!("{model}, storageUri: 'oci+fetch://r/a:1'}}")),
        stored("both", &format!("{model}, storageUri: 'gs://acme/m', env: [{{name: KEY, valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}}}]}}")),
        stored("named", &format!("{model}, storageUri: 'gs://acme/m'}}, storageContainerName: fast")),
        stored("plain", &format!("{model}, storageUri: 'gs://acme/m'}}")),
        stored("knative", &format!("{model}, storageUri: 'gs://acme/m'}}")).replace("Standard", "Knative"),
        "---
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterStorageContainer
metadata: {name: fast}
spec: {container: {name: storage-initializer, image: 'fast:1'}, supportedUriFormats: [{prefix: 'fast://'}, {prefix: 'gs://'}]}
".to_owned(),
    ];
    scratch.write("fleet.yaml", &fleet.concat());
    let names = |pod: &Value, key: &str| -> Vec<String> {
        let list = pod[key].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|own| own["name"].as_str().map(str::to_owned)).collect()
    };
    let [old, new, head] = ["kserve=v0.19.0", "kserve=v0.20.0", "kserve=head"];
    let pods = |release: &str, name: &str| pods(&scratch, release, name);
    // First the first image only; then each image, and fetched files.
    assert_eq!(names(&pods(old, "several"), "containers"), ["kserve-container", "modelcar"]);
    assert_eq!(names(&pods(old, "several"), "initContainers"), ["modelcar-init"]);
    let several = pods(new, "several");
    assert_eq!(names(&several, "containers"), ["kserve-container", "modelcar", "modelcar-1"]);
    assert_eq!(
        names(&several, "initContainers"),
        ["modelcar-init", "modelcar-init-1", "storage-initializer"]
    );
    let script = |release: &str| pods(release, "odd")["containers"][1]["args"][2].clone();
    assert!(
        script(old).as_str().is_some_and(|text| text.contains("models /mnt/o d/m")),
        "{}",
        script(old)
    );
    assert!(
        script(new).as_str().is_some_and(|text| text.contains("models '/mnt/o d/m'")),
        "{}",
        script(new)
    );
    assert_eq!(pods(new, "native")["volumes"][0]["image"]["reference"], "r/a:1");
    assert_eq!(names(&pods(head, "pulled"), "initContainers"), ["storage-initializer"]);
    let variable = |release: &str| pods(release, "both")["containers"][0]["env"][0].clone();
    assert_eq!(
        (&variable(old)["value"], variable(old)["valueFrom"].is_null()),
        (&"plain".into(), false)
    );
    assert!(variable(new)["value"].is_null() && !variable(new)["valueFrom"].is_null());

    let upgrade = |from: &str, to: &str| {
        scratch.diff(&["--from-release", from, "--to-release", to, "-f", "fleet.yaml"]).1
    };
    let first = upgrade(old, new);
    for (service, rules) in [
        ("a/several", &["I4"][..]),
        ("a/odd", &["I4"]),
        ("a/native", &["I4"]),
        ("a/both", &["I5"]),
        ("a/named", &["I5"]),
        ("a/plain", &[]),
    ] {
        assert_eq!(rules_of(&first, service), rules, "{service}: {first:#}");
    }
    let notes = first["notes"].as_array().cloned().unwrap_or_default();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0]["id"], "I6");
    let reached = notes[0]["objects"].to_string();
    assert!(reached.contains("a/plain") && !reached.contains("a/knative"), "{reached}");
    assert_eq!(rules_of(&upgrade(new, head), "a/pulled"), ["I8"]);
    assert_eq!(upgrade(new, head)["notes"], Value::Null);
}

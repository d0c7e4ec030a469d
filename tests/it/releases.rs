//! Releases of operators: what is followed, and what an upgrade does.

use super::diff::Scratch;
use super::process::Done;
use serde_json::Value;

/// What a fleet is made of in the tests of upgrades: a class, a model, a runtime and two services.
const FLEET: &str = "apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: h100}
spec:
  discovery: {nodeSelector: {gpu: h100}}
  resources: [{name: nvidia.com/gpu, quantity: 4}]
---
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: llama}
spec:
  modelFormat: {name: safetensors}
  modelParameterSize: 8B
  storage: {storageUri: hf://acme/llama, path: /models/llama}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: srt}
spec:
  supportedModelFormats: [{modelFormat: {name: safetensors}, autoSelect: true}]
  acceleratorRequirements: {acceleratorClasses: [h100]}
  engineConfig:
    runner:
      name: ome-container
      image: sglang:v0.5.5
      resources: {limits: {nvidia.com/gpu: 4}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: named, namespace: a}
spec: {model: {name: llama}, engine: {}, acceleratorSelector: {acceleratorClass: h100}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: silent, namespace: a}
spec: {model: {name: llama}, engine: {}}
";

#[test]
fn an_upgrade_names_the_rules_that_hit_each_service() {
    let scratch = Scratch::new("upgrade");
    scratch.write("fleet.yaml", FLEET);
    let upgrade = |from: &str, to: &str| {
        scratch.diff(&["--from-release", from, "--to-release", to, "-f", "fleet.yaml"])
    };
    let (exit, answer) = upgrade("ome=v0.1.4", "ome=v0.1.5");
    assert_eq!(exit, Some(2));
    let group = |service: &str| {
        let groups = answer["groups"].as_array().expect("groups");
        groups.iter().find(|group| group["services"][0] == service).expect("a group").clone()
    };
    let rules = |service: &str| -> Vec<String> {
        let group = group(service);
        let rules = group["rules"].as_array().expect("rules");
        rules.iter().map(|rule| rule["id"].as_str().expect("an id").to_owned()).collect()
    };
    // The shipped config map and PARALLELISM_SIZE hit both; the class is lost by the silent one.
    for rule in ["A5", "B1"] {
        assert!(rules("a/named").contains(&rule.to_owned()), "{:?}", rules("a/named"));
    }
    assert!(!rules("a/named").contains(&"A1".to_owned()), "{:?}", rules("a/named"));
    assert!(rules("a/silent").contains(&"A1".to_owned()), "{:?}", rules("a/silent"));
    // Without a class PARALLELISM_SIZE stays, whatever the rule for chosen classes says.
    assert!(!rules("a/silent").contains(&"A5".to_owned()), "{:?}", rules("a/silent"));
    assert_eq!(group("a/silent")["accelerators"]["engine"]["to"], Value::Null);
    assert_eq!(answer["summary"]["restarts"], 2);
    assert_eq!(answer["summary"]["fails"], 0);
    assert_eq!(group("a/named")["leftBehind"][0]["object"], "Ingress/a/named");
    assert_eq!(upgrade("ome=v0.1.5", "ome=v0.1.5").0, Some(0));
    assert_eq!(upgrade("ome=v0.1.5", "ome=head").0, Some(0));
}

#[test]
fn a_release_that_is_followed_is_in_the_header_and_in_the_settings() {
    let scratch = Scratch::new("release");
    scratch.write("fleet.yaml", FLEET);
    let plan = |args: &[&str]| {
        scratch.ome(&[&["plan", "--no-builtin", "-f", "fleet.yaml"], args].concat())
    };
    let header = |done: &Done| done.stdout.lines().next().unwrap_or_default().to_owned();
    let flag = plan(&["--no-config", "--release", "ome=v0.1.3"]);
    assert!(header(&flag).starts_with("mode: controller · release: ome=v0.1.3"), "{}", flag.stdout);
    assert!(flag.stderr.contains("field-of-another-release"), "{}", flag.stderr);
    scratch.write("ome.toml", "[releases]\nome = \"v0.1.4\"\n");
    assert!(header(&plan(&[])).contains("release: ome=v0.1.4"));
    scratch.write("ome.toml", "[releases]\nome = \"v9\"\nargo = \"v1\"\n");
    let wrong = plan(&[]).stderr;
    assert!(
        wrong.contains("invalid-setting") && wrong.contains("unknown operator `argo`"),
        "{wrong}"
    );
}

/// A ModelServing with `replicas` groups of one entry pod and one worker, 4 GPUs each.
fn rolled(name: &str, replicas: i64, strategy: &str) -> String {
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
fn an_upgrade_of_kthena_rolls_what_no_partition_holds() {
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
        // What holds everything back comes last.
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

/// The findings of a code in what `ome plan` prints as JSON.
fn plan_findings(scratch: &Scratch, code: &str, more: &[&str]) -> Vec<Value> {
    let args = [&["plan", "--no-config", "-o", "json", "-f", "fleet.yaml"], more].concat();
    let answer: Value = serde_json::from_str(&scratch.ome(&args).stdout).expect("JSON");
    let findings = answer["findings"].as_array().cloned().unwrap_or_default();
    findings.into_iter().filter(|finding| finding["code"] == code).collect()
}

#[test]
fn built_in_objects_that_nothing_is_given_cause_no_findings() {
    let scratch = Scratch::new("built-in-findings");
    scratch.write("fleet.yaml", FLEET);
    let dropped = |more: &[&str]| plan_findings(&scratch, "field-of-another-release", more);
    // The fleet has a runtime and a class of its own, and names nothing built-in.
    assert_eq!(dropped(&["--release", "ome=v0.1.4"]), Vec::<Value>::new());
    let places: Vec<Value> = dropped(&["--release", "ome=v0.1.3"])
        .iter()
        .map(|finding| finding["file"].clone())
        .collect();
    assert!(!places.is_empty() && places.iter().all(|file| file == "fleet.yaml"), "{places:?}");
    // Where built-in runtimes are candidates, a field is reported once for all of them.
    let all = dropped(&["--release", "ome=v0.1.4", "--builtin", "always"]);
    let text = Value::from(all.clone()).to_string();
    assert!(all.len() < 4 && text.contains("built-in objects)"), "{text}");
    // One that is named counts too.
    let named =
        FLEET.replace("spec: {model", "spec: {runtime: {name: srt-mistral-7b-instruct}, model");
    scratch.write("fleet.yaml", &named);
    let named = dropped(&["--release", "ome=v0.1.4"]);
    assert_eq!(named.len(), 1, "{named:?}");
}

#[test]
fn a_release_of_one_operator_leaves_the_others_as_they_were() {
    let scratch = Scratch::new("one-operator");
    // A published image of sklearn has no v2; the documents say so, the controller asks for v1.
    let kserve = "---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: a}
spec: {predictor: {model: {modelFormat: {name: sklearn}, storageUri: gs://acme/iris}}}
";
    let fleet = [FLEET, kserve, "---\n", &rolled("group", 2, "{type: ServingGroupRollingUpdate}")];
    scratch.write("fleet.yaml", &fleet.concat());
    let plan = |args: &[&str]| -> Value {
        let args = [&["plan", "--no-config", "-o", "json", "-f", "fleet.yaml"], args].concat();
        serde_json::from_str(&scratch.ome(&args).stdout).expect("JSON")
    };
    let of = |answer: &Value, api: &str| -> Vec<Value> {
        let services = answer["services"].as_array().expect("services");
        services.iter().filter(|service| service["api"] == api).cloned().collect()
    };
    let [documented, controller, one] = [
        &["--semantics", "documented"],
        &["--semantics", "controller"],
        &["--release", "ome=head"],
    ]
    .map(|args| plan(args));
    assert_eq!(of(&one, "ome"), of(&controller, "ome"));
    assert_ne!(of(&one, "ome"), of(&documented, "ome"));
    assert_eq!(of(&one, "kserve"), of(&documented, "kserve"));
    assert_ne!(of(&one, "kserve"), of(&controller, "kserve"));
    assert_eq!(one["modelServings"], documented["modelServings"]);
    let header = |args: &[&str]| {
        let done = scratch.ome(&[&["plan", "--no-config", "-f", "fleet.yaml"], args].concat());
        done.stdout.lines().next().unwrap_or_default().to_owned()
    };
    let mixed = "mode: controller for OME, documented for KServe and Kthena · release: ome=v0.1.4";
    assert!(header(&["--release", "ome=v0.1.4"]).starts_with(mixed));
    let all = ["--release", "ome=v0.1.4", "--semantics", "controller"];
    assert!(header(&all).starts_with("mode: controller · release: ome=v0.1.4"));
    // What the documents are compared with.
    let beside = ["--release", "ome=v0.1.4", "--semantics", "documented"];
    assert!(header(&beside).starts_with("mode: documented · release: ome=v0.1.4"));
}

#[test]
fn an_upgrade_of_kthena_is_the_controllers() {
    let scratch = Scratch::new("kthena-mode");
    scratch.write("fleet.yaml", &rolled("s", 2, "{type: ServingGroupRollingUpdate}"));
    let args = ["diff", "--from-release", "kthena=v0.4.0", "--to-release", "kthena=head"];
    let done = scratch.ome(&[&args[..], &["-f", "fleet.yaml"]].concat());
    assert!(done.stdout.starts_with("mode: controller · base: kthena=v0.4.0"), "{}", done.stdout);
}

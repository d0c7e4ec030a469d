//! Releases of operators: their selection, and upgrades.

use super::diff::Scratch;
use super::process::Done;
use super::upgrades::rolled;
use serde_json::Value;

/// The objects of a fleet in the tests of upgrades: a class, a model, a runtime and two services.
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
    // Without a class PARALLELISM_SIZE stays, independent of the rule for chosen classes.
    assert!(!rules("a/silent").contains(&"A5".to_owned()), "{:?}", rules("a/silent"));
    assert_eq!(group("a/silent")["accelerators"]["engine"]["to"], Value::Null);
    assert_eq!(answer["summary"]["restarts"], 2);
    assert_eq!(answer["summary"]["fails"], 0);
    assert_eq!(group("a/named")["leftBehind"][0]["object"], "Ingress/a/named");
    // The CRDs have other fields, and none of them is in the fleet.
    assert!(!rules("a/named").contains(&"C9".to_owned()), "{:?}", rules("a/named"));
    let notes: Vec<&str> = answer["notes"]
        .as_array()
        .expect("notes")
        .iter()
        .filter_map(|note| note["id"].as_str())
        .collect();
    assert_eq!(notes, ["B6", "C10", "D"]);
    assert_eq!(upgrade("ome=v0.1.5", "ome=v0.1.5").0, Some(0));
    assert_eq!(upgrade("ome=v0.1.5", "ome=17b77eda").0, Some(0));
}

#[test]
fn the_release_comes_from_flag_or_settings_and_is_in_the_header() {
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

/// The findings of a code in what `ome plan` prints as JSON.
fn plan_findings(scratch: &Scratch, code: &str, more: &[&str]) -> Vec<Value> {
    let args = [&["plan", "--no-config", "-o", "json", "-f", "fleet.yaml"], more].concat();
    let answer: Value = serde_json::from_str(&scratch.ome(&args).stdout).expect("JSON");
    let findings = answer["findings"].as_array().cloned().unwrap_or_default();
    findings.into_iter().filter(|finding| finding["code"] == code).collect()
}

#[test]
fn unused_built_in_objects_cause_no_findings() {
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
    // A decision that takes none of the built-in candidates has no findings about them; asked for
    // themselves, a field is reported once for all of them.
    let always = ["--release", "ome=v0.1.4", "--builtin", "always"];
    assert_eq!(dropped(&always), Vec::<Value>::new());
    let of_builtin = ["validate", "--no-config", "fleet.yaml", "--source", "builtin"];
    let all = scratch.ome(&[&of_builtin[..], &always].concat()).stdout;
    let count = all.matches("field-of-another-release\n").count();
    assert!((1..4).contains(&count) && all.contains("built-in objects)"), "{all}");
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
    // A published image of sklearn has no v2, by the documents; the controller requires v1.
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
        &["--release", "ome=17b77eda"],
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
    // The release that the documents are compared with.
    let beside = ["--release", "ome=v0.1.4", "--semantics", "documented"];
    assert!(header(&beside).starts_with("release: ome=v0.1.4 · "));
}

#[test]
fn rules_that_change_no_object_list_the_affected_objects() {
    let scratch = Scratch::new("notes");
    let more = "---
apiVersion: ome.io/v1beta1
kind: FineTunedWeight
metadata: {name: lora}
spec: {modelType: LoRA, storage: {storageUri: oci://n/a/b/c/o/d}, baseModelRef: {name: llama}}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: typo}
spec:
  supportedModelFormats: [{modelFormat: {name: onnx}}]
  acceleratorRequirements: {acceleratorClasses: [h1OO]}
  engineConfig: {runner: {name: ome-container, image: x}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: routed, namespace: a}
spec: {model: {name: llama}, engine: {minReplicas: 2, maxReplicas: 2}, router: {runner: {name: router, image: x}, minReplicas: 1, maxReplicas: 1}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: old, namespace: a}
spec: {predictor: {model: {baseModel: llama}, minReplicas: 1}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: most, namespace: a}
spec: {model: {name: llama}, engine: {}, predictor: {maxReplicas: 2}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: zero, namespace: a}
spec: {model: {name: llama}, engine: {minReplicas: 0}}
---
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: odd}
spec: {modelFormat: {name: odd}, modelParameterSize: 1B, storage: {storageUri: hf://acme/odd, path: /m}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: refused, namespace: a}
spec: {model: {name: odd}, engine: {}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: ghost, namespace: a}
spec: {model: {name: ghost}, runtime: {name: typo}, engine: {}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: asks, namespace: a}
spec: {model: {name: ghost}, engine: {}}
";
    scratch.write("fleet.yaml", &[FLEET, more].concat());
    let notes = |from: &str, to: &str| -> Vec<(String, Vec<String>)> {
        let args = ["--from-release", from, "--to-release", to, "-f", "fleet.yaml"];
        let answer = scratch.diff(&args).1;
        let notes = answer["notes"].as_array().cloned().unwrap_or_default();
        let texts = |list: &Value| -> Vec<String> {
            let list = list.as_array().cloned().unwrap_or_default();
            list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        };
        notes
            .iter()
            .map(|note| (note["id"].as_str().expect("an id").to_owned(), texts(&note["objects"])))
            .collect()
    };
    let reached = |notes: &[(String, Vec<String>)], id: &str| {
        let found = notes.iter().find(|(own, _)| own == id);
        found.map(|(_, objects)| objects.join(" ")).unwrap_or_default()
    };
    let later = notes("ome=v0.1.4", "ome=v0.1.5");
    let service = |name: &str| format!("InferenceService/a/{name}");
    assert!(!reached(&later, "B6").contains(&service("zero")), "{later:?}");
    assert!(reached(&later, "B6").contains(&service("routed")), "{later:?}");
    assert_eq!(reached(&later, "B7"), service("routed"));
    // Every release rejects one whose engine requires a runtime.
    assert_eq!(reached(&later, "C5"), service("ghost"));
    assert_eq!(reached(&later, "C6"), [service("most"), service("old")].join(" "));
    assert!(reached(&later, "C8").contains(&service("refused")), "{later:?}");
    assert!(!reached(&later, "C8").contains(&service("named")), "{later:?}");
    assert!(!reached(&later, "C10").contains(&service("routed")), "{later:?}");
    assert!(reached(&later, "C10").contains(&service("named")), "{later:?}");
    assert!(reached(&later, "D").contains("ClusterBaseModel/llama"), "{later:?}");
    let earlier = notes("ome=v0.1.3", "ome=v0.1.4");
    assert_eq!(reached(&earlier, "G8"), "FineTunedWeight/lora");
    // The webhook requires the class, and for the controller the predictor is used.
    let checked: Vec<&String> =
        earlier.iter().filter(|(id, _)| id == "G7").flat_map(|(_, objects)| objects).collect();
    assert_eq!(checked, ["ClusterServingRuntime/typo", &service("most")], "{earlier:?}");
    assert!(reached(&later, "G7").is_empty(), "{later:?}");
    assert!(reached(&later, "G8").is_empty() && reached(&earlier, "B6").is_empty());
    let last = notes("ome=v0.1.5", "ome=17b77eda");
    assert_eq!(last.iter().map(|note| note.0.as_str()).collect::<Vec<_>>(), ["D"]);
}

#[test]
fn metadata_of_existing_objects_is_not_updated() {
    let scratch = Scratch::new("metadata");
    let fleet = FLEET.replace(
        "spec: {model: {name: llama}, engine: {}, acc",
        "spec: {model: {name: llama}, engine: {annotations: {prometheus.io/scrape: 'true'}}, acc",
    );
    scratch.write("fleet.yaml", &fleet);
    let args = ["a/named", "--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5"];
    let answer = scratch.diff(&[&args[..], &["-f", "fleet.yaml"]].concat()).1;
    let group = &answer["groups"][0];
    let objects = group["objects"].as_array().expect("objects");
    let changed: Vec<&Value> = objects
        .iter()
        .filter(|object| object["action"] == "update")
        .map(|object| &object["object"])
        .collect();
    // v0.1.5 makes the Service without the annotation, and does not take it from the one that
    // exists.
    assert_eq!(changed, ["Deployment/a/named-engine"], "{group:#}");
}

#[test]
fn an_upgrade_uses_the_built_in_runtimes_of_each_release() {
    let scratch = Scratch::new("own-catalog");
    let model = "apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: llama-1b}
spec:
  modelFormat: {name: safetensors, version: '1.0.0'}
  modelFramework: {name: transformers, version: '4.45.0.dev0'}
  modelArchitecture: LlamaForCausalLM
  modelParameterSize: 1.24B
  storage: {storageUri: hf://meta-llama/Llama-3.2-1B, path: /models/llama}
---
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: srt-llama-3-2-1b-instruct}
spec:
  supportedModelFormats: [{modelFormat: {name: mine}}]
  engineConfig: {runner: {name: ome-container, image: mine}}
---
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: chat, namespace: a}
spec: {model: {name: llama-1b}, runtime: {name: srt-llama-3-2-1b-instruct}, engine: {}}
";
    scratch.write("fleet.yaml", model);
    let upgrade = |more: &[&str]| {
        let args =
            ["--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5", "-f", "fleet.yaml"];
        scratch.diff(&[&args[..], more].concat()).1
    };
    let alone = upgrade(&[]);
    assert_eq!(alone["summary"]["refused"], 1, "{alone:#}");
    let own = upgrade(&["--own-catalog"]);
    assert_eq!(own["summary"]["refused"], 0, "{own:#}");
    let listed = |release: &str| -> Value {
        let args = [
            "catalog",
            "list",
            "--no-config",
            "--kind",
            "runtime",
            "-o",
            "json",
            "-f",
            "fleet.yaml",
        ];
        let done = scratch.ome(&[&args[..], &["--release", release]].concat());
        serde_json::from_str::<Value>(&done.stdout).expect("JSON")["items"].clone()
    };
    let items = listed("ome=v0.1.4");
    let items = items.as_array().expect("items");
    assert_eq!(items.len(), 35);
    assert!(items.iter().all(|item| item["release"] == "ome=v0.1.4"), "{items:?}");
    let releases = scratch.ome(&["catalog", "releases", "-o", "json"]).stdout;
    let releases: Value = serde_json::from_str(&releases).expect("JSON");
    let of = |release: &str| {
        let rows = releases["releases"].as_array().expect("rows");
        let is_it = |row: &&Value| row["operator"] == "ome" && row["release"] == release;
        rows.iter().find(is_it).expect("a row").clone()
    };
    assert_eq!(of("v0.1.4")["runtimes"], 35);
    assert_eq!(
        (of("17b77eda")["default"].clone(), of("v0.1.5")["default"].clone()),
        (true.into(), false.into())
    );
    let other =
        ["diff", "--own-catalog", "--from-release", "kthena=v0.4.0", "--to-release", "kthena=head"];
    let other = scratch.ome(&[&other[..], &["-f", "fleet.yaml"]].concat());
    assert!(other.stderr.contains("needs two releases of OME"), "{}", other.stderr);
}

#[test]
fn the_ome_release_is_detected_from_a_cluster_dump() {
    let scratch = Scratch::new("live");
    let live = FLEET.replace("metadata: {name: named,", "metadata: {uid: 0b1e, name: named,");
    let controller = |tag: &str| {
        format!(
            "---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: ome-controller-manager, namespace: ome}}
spec:
  selector: {{matchLabels: {{a: b}}}}
  template:
    metadata: {{labels: {{a: b}}}}
    spec: {{containers: [{{name: manager, image: 'ghcr.io/moirai-internal/ome-manager:{tag}'}}]}}
"
        )
    };
    let header = |files: &str, more: &[&str]| {
        scratch.write("fleet.yaml", files);
        let args = ["plan", "--no-config", "--semantics", "controller", "-f", "fleet.yaml"];
        let done = scratch.ome(&[&args[..], more].concat());
        (done.stdout.lines().next().unwrap_or_default().to_owned(), done.stdout)
    };
    let (known, table) = header(&[&live, controller("v0.1.4").as_str()].concat(), &[]);
    assert!(
        known.contains("cluster: ome=v0.1.4 (image of Deployment/ome/ome-controller-manager)"),
        "{known}"
    );
    // v0.1.4 gives the first class of the runtime to a service that names none.
    assert!(table.contains("in every row") && table.contains("class h100"), "{table}");
    let (read, _) = header(&[&live, controller("v1.2.0").as_str()].concat(), &[]);
    assert!(read.contains("cluster: ome=v1.2.0 (image of"), "{read}");
    let (near, table) = header(&[&live, controller("v1.9.0").as_str()].concat(), &[]);
    assert!(near.contains("rules of ome v1.2.2 (read), cluster runs v1.9.0"), "{near}");
    assert!(!table.contains("class h100") && table.contains("silent   -"), "{table}");
    let asked = ["--release", "ome=head"];
    let (asked, _) = header(&[&live, controller("v0.1.4").as_str()].concat(), &asked);
    assert!(asked.contains("release: ome=head") && !asked.contains("cluster:"), "{asked}");
    let (written, _) = header(&[FLEET, controller("v0.1.4").as_str()].concat(), &[]);
    assert!(written.contains("cluster: ome=v0.1.4"), "{written}");
    let definition = "---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: inferenceservices.ome.io}
spec:
  group: ome.io
  scope: Namespaced
  names: {kind: InferenceService, plural: inferenceservices}
  versions:
    - name: v1beta1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                acceleratorSelector:
                  type: object
                  properties: {constraints: {type: object, properties: {minComputeCapability: {type: integer}}}}
";
    let (fields, _) = header(&[&live, definition].concat(), &[]);
    assert!(fields.contains("cluster: ome=v0.1.4 (fields of the CRDs of ome.io)"), "{fields}");
}

#[test]
fn kserve_and_kthena_releases_are_detected_from_a_cluster_dump() {
    let scratch = Scratch::new("live-others");
    let controller = |name: &str, image: &str| {
        format!(
            "---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: system}}
spec:
  selector: {{matchLabels: {{a: b}}}}
  template:
    metadata: {{labels: {{a: b}}}}
    spec: {{containers: [{{name: manager, image: '{image}'}}]}}
"
        )
    };
    let kthena = |tag: &str| {
        controller("kthena", &format!("ghcr.io/volcano-sh/kthena-controller-manager:{tag}"))
    };
    let kserve =
        |tag: &str| controller("kserve", &format!("docker.io/kserve/kserve-controller:{tag}"));
    let group = rolled("group", 2, "{type: ServingGroupRollingUpdate}")
        .replace("metadata: {name: group,", "metadata: {uid: 0b1e, name: group,");
    let service = "apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: a, uid: 0b1f}
spec: {predictor: {model: {modelFormat: {name: sklearn}, storageUri: gs://acme/iris}}}
---
";
    let fields = |path: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: modelservings.workload.serving.volcano.sh}}
spec:
  group: workload.serving.volcano.sh
  scope: Namespaced
  names: {{kind: ModelServing, plural: modelservings}}
  versions: [{{name: v1alpha1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{path}}}}}}}}}}}}}]
---
"
        )
    };
    let plan = |files: &[&str], more: &[&str]| {
        scratch.write("dump.yaml", &files.concat());
        let args = ["plan", "--no-config", "-f", "dump.yaml"];
        scratch.ome(&[&args[..], more].concat()).stdout
    };
    let header = |files: &[&str], more: &[&str]| {
        plan(files, more).lines().next().unwrap_or_default().to_owned()
    };
    let controllers = ["--semantics", "controller"];
    let known = header(&[&group, service, &kthena("v1.0.0"), &kserve("v0.20.0")], &controllers);
    for part in [
        "cluster: kserve=v0.20.0 (image of Deployment/system/kserve)",
        "cluster: kthena=v1.0.0 (image of Deployment/system/kthena)",
    ] {
        assert!(known.contains(part) && !known.contains("nearest"), "{known}");
    }
    let near = header(&[&group, service, &kthena("v1.0.3"), &kserve("v0.18.0")], &controllers);
    for part in
        ["rules of kthena v1.0.0 (read), cluster runs v1.0.3", "nearest known kserve=v0.19.0"]
    {
        assert!(near.contains(part), "{near}");
    }
    // The observed revision decides: each release prints another revision of the same roles.
    let revision = |files: &[&str], more: &[&str]| -> String {
        scratch.write("dump.yaml", &files.concat());
        let args = ["render", "group", "--no-config", "--expand", "-o", "yaml", "-f", "dump.yaml"];
        let text = scratch.ome(&[&args[..], more].concat()).stdout;
        let line = text.lines().find(|line| line.contains("modelserving.volcano.sh/revision"));
        line.unwrap_or_default().trim().to_owned()
    };
    let asked = |tag: &str| {
        let release = format!("kthena={tag}");
        let args = ["--release", &release];
        revision(&[&group], &args)
    };
    for tag in ["v0.4.0", "v1.0.0"] {
        let seen = revision(&[&group, &kthena(tag)], &controllers);
        assert!(!seen.is_empty(), "{tag}");
        assert_eq!(seen, asked(tag));
        assert_ne!(seen, asked("head"));
    }
    // A flag wins, and the document is no release.
    let flag = ["--release", "kthena=head"];
    assert_eq!(revision(&[&group, &kthena("v0.4.0")], &flag), asked("head"));
    assert!(!header(&[&group, &kthena("v0.4.0")], &flag).contains("cluster:"));
    // A CRD has every field of its release: the release is the oldest one with all of them.
    for (path, tag) in [
        (
            "template: {type: object, properties: {roles: {type: array, items: {type: object, properties: {maxUnavailable: {type: integer}}}}}}",
            "v1.0.0",
        ),
        (
            "template: {type: object, properties: {roles: {type: array, items: {type: object, properties: {partition: {type: integer}}}}}}",
            "head",
        ),
        ("plugins: {type: array, items: {type: object}}", "v0.4.0"),
        ("replicas: {type: integer}", "v0.1.0"),
    ] {
        let seen = header(&[&fields(path), &group], &controllers);
        let said =
            format!("cluster: kthena={tag} (fields of the CRDs of workload.serving.volcano.sh)");
        assert!(seen.contains(&said), "{seen}");
    }
}

#[test]
fn files_that_install_one_version_of_a_controller_are_evidence_of_its_release() {
    let controller = |name: &str, tag: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: ome}}\nspec: {{template: {{spec: {{containers: [{{name: manager, image: 'ghcr.io/x/ome-manager:{tag}'}}]}}}}}}\n"
        )
    };
    for (installed, header) in [
        (controller("a", "v0.1.4"), Some("cluster: ome=v0.1.4 (image of Deployment/ome/a)")),
        (controller("a", "v1.9.0"), Some("rules of ome v1.2.2 (read), cluster runs v1.9.0")),
        (controller("a", "latest"), None),
        (controller("a", "v0.1.4") + &controller("b", "v0.1.5"), None),
    ] {
        let scratch = Scratch::new("installed");
        scratch.write("fleet.yaml", &format!("{FLEET}{installed}"));
        let done = scratch.ome(&["plan", "-f", "fleet.yaml", "--semantics", "controller"]);
        match header {
            Some(header) => assert!(done.stdout.contains(header), "{}", done.stdout),
            None => assert!(!done.stdout.contains("cluster"), "{}", done.stdout),
        }
        assert_eq!(done.stderr.contains("release-newer"), installed.contains("v1.9.0"));
    }
}

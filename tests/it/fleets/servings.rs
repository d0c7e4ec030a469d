//! ModelServings in fleets: placed and rolled together with InferenceServices of OME and KServe.

use super::{GPU, answer, apply, node, nodes, ome, runner, service, state, write};
use crate::process::Folder;
use serde_json::{Value, json};

/// A ModelServing of groups of one pod of a role, or of an entry and a worker.
fn model_serving(name: &str, image: &str, replicas: i64, workers: i64, gpus: i64) -> Value {
    let template = json!({ "spec": { "containers": [runner(image, gpus)] } });
    let mut role = json!({ "name": "decode", "replicas": 1, "entryTemplate": template, "workerReplicas": workers });
    if workers > 0 {
        role["workerTemplate"] = template;
    }
    json!({
        "apiVersion": "workload.serving.volcano.sh/v1alpha1", "kind": "ModelServing",
        "metadata": { "name": name, "namespace": "ml" },
        "spec": {
            "schedulerName": "volcano", "replicas": replicas,
            "template": { "restartGracePeriodSeconds": 0, "roles": [role] },
        },
    })
}

/// Services of OME and ModelServings that change at once take room from each other, beside pods
/// that run.
#[test]
fn model_servings_roll_beside_everything_else() {
    let folder = Folder::new(&[]);
    let chat = [service("chat", "single", 1, 1)];
    let write_state = |file: &str, image: &str, replicas: i64| {
        let mut all = state(image, &chat);
        all.push(model_serving("pd", image, replicas, 1, 8));
        write(&folder, file, &all);
    };
    let roll = |old: &str, new: &str, profile: &[&str]| {
        let args = ["rollout", "--all", "--base", old, "-f", new, "-f", "nodes.yaml", "-o", "json"];
        ome(&folder, &[&args[..], profile].concat())
    };
    for profile in [&[][..], &["--release", "kthena=v0.4.0"][..]] {
        write_state("old.yaml", "v1", 2);
        write_state("new.yaml", "v2", 2);
        // Four pods of the ModelServing and one of the service. Without a node to spare the surge
        // pod of the service takes one that the ModelServing frees, and a group waits for a while.
        for (places, waits) in [(5, true), (6, false)] {
            write(&folder, "nodes.yaml", &nodes(places));
            let done = roll("old.yaml", "new.yaml", profile);
            let found = answer(&done);
            assert_eq!(done.exit, Some(0), "{profile:?} {places} {found:#}");
            assert_eq!(found["totals"]["services"], 2);
            let own = |name: &str| {
                let all = found["services"].as_array().expect("services");
                let own = all.iter().find(|own| own["name"] == name).expect("it changes");
                own["components"][0].clone()
            };
            let groups = own("pd");
            assert_eq!(
                (&groups["name"], &groups["rollout"]["kind"]),
                (&json!("groups"), &json!("ModelServing"))
            );
            let stages = groups["rollout"]["stages"].as_array().expect("stages");
            let waited = stages.iter().any(|stage| stage["new"]["pending"] == 1);
            assert_eq!(waited, waits, "{profile:?} {places} {groups:#}");
            assert_eq!(groups["rollout"]["lowestReady"], 1, "{groups:#}");
            assert_eq!(groups["rollout"]["end"], "complete", "{profile:?} {places} {groups:#}");
            let last =
                groups["rollout"]["stages"].as_array().and_then(|all| all.last()).expect("a stage");
            assert_eq!(
                (&last["new"]["ready"], &last["old"]["total"], &last["gpus"]),
                (&json!(2), &json!(0), &json!(32))
            );
        }
        // A third group has no room: two nodes like those that exist, or two groups.
        write_state("new.yaml", "v1", 3);
        write(&folder, "nodes.yaml", &nodes(6));
        let done = roll("old.yaml", "new.yaml", profile);
        let found = answer(&done);
        assert_eq!((done.exit, &found["totals"]["stuck"]), (Some(2), &json!(1)), "{found:#}");
        let groups = &found["services"][0]["components"][0]["rollout"];
        assert_eq!(groups["stuck"]["pod"], "pd-2-decode-0-0", "{groups:#}");
        assert!(
            groups["stuck"]["message"].as_str().is_some_and(|said| said.contains("Insufficient"))
        );
        let fix = groups["fix"].as_array().expect("edits");
        let paths: Vec<&str> =
            fix.iter().filter_map(|fix| fix["edits"][0]["path"].as_str()).collect();
        assert!(paths.contains(&"nodes like n0"), "{paths:?}");
        // The proposed edit completes the rollout.
        for fix in fix {
            let edit = &fix["edits"][0];
            if edit["path"] == "spec.replicas" {
                write_state("edited.yaml", "v1", edit["to"].as_i64().expect("a number"));
                assert_eq!(roll("old.yaml", "edited.yaml", profile).exit, Some(0), "{fix:#}");
            } else {
                let more = edit["to"].as_str().and_then(|words| words.split(' ').next());
                let more: usize = more.and_then(|word| word.parse().ok()).expect("a number");
                write(&folder, "nodes.yaml", &nodes(6 + more));
                assert_eq!(roll("old.yaml", "new.yaml", profile).exit, Some(0), "{fix:#}");
            }
        }
        // Deleted pods free resources.
        write(&folder, "nodes.yaml", &nodes(5));
        write(&folder, "gone.yaml", &state("v2", &chat));
        write_state("old.yaml", "v1", 2);
        let done = roll("old.yaml", "gone.yaml", profile);
        assert_eq!(done.exit, Some(0), "{:#}", answer(&done));
    }
}

/// Pods of a ModelServing that run keep their nodes; those of an older revision are replaced.
#[test]
fn a_model_serving_rollout_continues_from_running_pods() {
    let folder = Folder::new(&[]);
    let pod = |group: i64, node: &str, image: &str| {
        let (group_name, name) = (format!("pd-{group}"), format!("pd-{group}-decode-0-0"));
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": name, "namespace": "ml", "labels": {
                "modelserving.volcano.sh/name": "pd", "modelserving.volcano.sh/group-name": group_name,
                "modelserving.volcano.sh/role": "decode", "modelserving.volcano.sh/entry": "true",
            } },
            "spec": { "nodeName": node, "containers": [runner(image, 8)] },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
        })
    };
    write(&folder, "new.yaml", &[model_serving("pd", "v2", 2, 0, 8)]);
    write(&folder, "nodes.yaml", &nodes(2));
    let roll = |images: [&str; 2]| {
        write(&folder, "pods.yaml", &[pod(0, "n0", images[0]), pod(1, "n1", images[1])]);
        let args = [
            "rollout",
            "--all",
            "-f",
            "new.yaml",
            "-f",
            "nodes.yaml",
            "-f",
            "pods.yaml",
            "-o",
            "json",
        ];
        let done = ome(&folder, &args);
        assert_eq!(done.exit, Some(0), "{done:?}");
        answer(&done)
    };
    assert_eq!(roll(["v2", "v2"])["totals"]["changed"], 0);
    let found = roll(["v1", "v2"]);
    let rolled = &found["services"][0]["components"][0]["rollout"];
    assert_eq!(
        (&rolled["end"], &rolled["lowestReady"]),
        (&json!("complete"), &json!(1)),
        "{rolled:#}"
    );
    assert_eq!(
        rolled["stages"][0]["old"]["total"].as_i64().unwrap_or(0)
            + rolled["stages"][0]["terminating"].as_i64().unwrap_or(0),
        1,
        "{rolled:#}"
    );
}

/// A service of KServe with one container.
fn predictor(name: &str, image: &str, replicas: i64) -> Value {
    let mut container = runner(image, 8);
    container["name"] = json!("kserve-container");
    json!({
        "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService",
        "metadata": { "name": name, "namespace": "ml", "annotations": { "serving.kserve.io/deploymentMode": "Standard" } },
        "spec": { "predictor": { "minReplicas": replicas, "maxReplicas": replicas, "containers": [container] } },
    })
}

/// The demand for a class includes ModelServings, whose pods have the class of their node, also if
/// they are not printed or pending.
#[test]
fn class_totals_include_requests_of_model_servings() {
    let folder = Folder::new(&[]);
    let label = "nvidia.com/gpu.product";
    let class = |name: &str| {
        json!({
            "apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": { "name": name },
            "spec": {
                "vendor": "nvidia", "discovery": { "nodeSelector": { label: name } },
                "capabilities": { "memoryGB": "80Gi" }, "resources": [{ "name": GPU, "quantity": "1" }],
            },
        })
    };
    let labeled = |name: &str, class: &str| {
        let mut own = node(name, 8);
        own["metadata"]["labels"][label] = json!(class);
        own
    };
    let pinned = |name: &str, replicas: i64, class: &str| {
        let mut own = model_serving(name, "v1", replicas, 1, 2);
        for template in ["entryTemplate", "workerTemplate"] {
            own["spec"]["template"]["roles"][0][template]["spec"]["nodeSelector"] =
                json!({ label: class });
        }
        own
    };
    let mut chat = service("chat", "single", 1, 1);
    chat["spec"]["engine"]["nodeSelector"] = json!({ label: "h100" });
    chat["spec"]["acceleratorSelector"] = json!({ "acceleratorClass": "h100" });
    let mut all = state("v1", &[chat]);
    all.extend([class("h100"), class("l40s"), labeled("n0", "h100"), labeled("n1", "h100")]);
    all.push(labeled("n2", "l40s"));
    // Two groups fit beside the service; of three groups on eight GPUs one waits.
    all.extend([pinned("pd", 2, "h100"), pinned("small", 3, "l40s")]);
    write(&folder, "in.yaml", &all);
    let plan = |more: &[&str]| {
        let args = [&["plan", "-f", "in.yaml"], more].concat();
        ome(&folder, &args)
    };
    let found = answer(&plan(&["-o", "json"]));
    let row = |asked: i64, allocatable: i64, in_use: i64| json!({ "asked": asked, "allocatable": allocatable, "inUse": in_use, "left": allocatable - in_use - asked });
    let classes = &found["totals"]["byClass"];
    assert_eq!(classes, &json!({ "h100": row(16, 16, 0), "l40s": row(12, 8, 0) }), "{found:#}");
    assert_eq!(
        (
            &found["totals"]["gpus"][GPU],
            &found["totals"]["pods"],
            &found["totals"]["modelServings"]
        ),
        (&json!(28), &json!(11), &json!(2))
    );
    // Resources of services that are not printed are in use.
    let found = answer(&plan(&["chat", "-o", "json"]));
    assert_eq!(found["totals"]["byClass"], json!({ "h100": row(8, 16, 8) }), "{found:#}");
    let found = answer(&plan(&["small", "-o", "json"]));
    assert_eq!(found["totals"]["byClass"], json!({ "l40s": row(12, 8, 0) }), "{found:#}");
    // Every page shows the same.
    let text = plan(&[]).stdout;
    assert!(text.contains("h100   16         16           0       0"), "{text}");
    assert!(text.contains("l40s   12         8            0       -4"), "{text}");
    assert!(text.contains("1 service, 2 ModelServings; 11 pods and 28 GPUs"), "{text}");
    let text = plan(&["small"]).stdout;
    assert!(text.contains("l40s   12         8            0       -4"), "{text}");
    let text = plan(&["-o", "markdown"]).stdout;
    assert!(text.contains("| l40s | 12 | 8 | 0 | \\-4 |"), "{text}");
    assert!(plan(&["-o", "html"]).stdout.contains("12 requested of 8, 4 short"));
}

/// `--slow`, `--stuck` and `--fail` accept roles of a ModelServing as well as components.
#[test]
fn slow_stuck_and_failing_pods_of_a_role_delay_the_rollout() {
    let folder = Folder::new(&[]);
    let write_state = |file: &str, image: &str| {
        let mut pd = model_serving("pd", image, 2, 0, 4);
        let roles = pd["spec"]["template"]["roles"].as_array_mut().expect("roles");
        let mut prefill = roles[0].clone();
        prefill["name"] = json!("prefill");
        roles.push(prefill);
        write(&folder, file, &[pd, predictor("judge", image, 1)]);
    };
    write_state("old.yaml", "v1");
    write_state("new.yaml", "v2");
    write(&folder, "nodes.yaml", &nodes(5));
    let roll = |more: &[&str]| {
        let args = ["rollout", "--all", "--base", "old.yaml", "-f", "new.yaml", "-f", "nodes.yaml"];
        ome(&folder, &[&args[..], &["-o", "json"], more].concat())
    };
    let own = |found: &Value, name: &str| {
        let all = found["services"].as_array().expect("services");
        let own = all.iter().find(|own| own["name"] == name).expect("it changes");
        own["components"][0]["rollout"].clone()
    };
    let plain = roll(&[]);
    assert_eq!(plain.exit, Some(0), "{plain:?}");
    let stages = |found: &Value| own(found, "pd")["stages"].as_array().expect("stages").len();
    for flag in ["--stuck", "--fail"] {
        for (name, pod) in [
            ("pd/prefill", "pd-1-prefill-0-0"),
            ("ml/pd/decode", "pd-1-decode-0-0"),
            ("pd/groups", "pd-1-decode-0-0"),
        ] {
            let done = roll(&[flag, name]);
            let found = answer(&done);
            let groups = own(&found, "pd");
            assert_eq!((done.exit, &groups["end"]), (Some(2), &json!("stuck")), "{flag} {name}");
            assert_eq!(
                groups["stuck"],
                json!({ "pod": pod, "message": "is never ready" }),
                "{flag} {name}"
            );
            // One group is missing, the other one serves as it did.
            assert_eq!(groups["lowestReady"], 1, "{flag} {name}");
            assert_eq!(own(&found, "judge")["end"], "complete", "{flag} {name}");
            // Nothing helps against pods that never get ready.
            assert_eq!(groups["fix"], Value::Null, "{flag} {name}");
        }
    }
    let slow = |name: &str| stages(&answer(&roll(&["--slow", name])));
    let before = stages(&answer(&plain));
    assert!(before < slow("pd/decode=3"), "{before}");
    assert!(slow("pd/decode=3") < slow("pd/groups=9"));
    assert_eq!(slow("pd/prefill=9"), slow("pd/groups=9"));
    // Both kinds at once.
    let found = answer(&roll(&["--stuck", "judge/predictor", "--slow", "pd/decode"]));
    assert_eq!(own(&found, "judge")["end"], "stuck");
    assert_eq!(own(&found, "pd")["end"], "complete");
    // A name that does not exist is an error.
    for (name, said) in [
        ("pd/prefil", "did you mean `pd/prefill`?"),
        ("pd/engine", "it has decode, prefill"),
        ("other/decode", "`other` is simulated"),
        ("decode", "none is named"),
        ("pod/pd-0-decode-0-0", "not known by name"),
    ] {
        let done = roll(&["--stuck", name]);
        assert_eq!(done.exit, Some(1), "{name}: {done:?}");
        assert!(done.stderr.contains(said), "{name}: {}", done.stderr);
    }
}

/// Services of KServe and OME and a ModelServing that change at once on the same nodes: a stuck one
/// proposes an edit that completes it.
#[test]
fn three_operators_roll_at_once() {
    let folder = Folder::new(&[]);
    let chat = [service("chat", "single", 2, 2), service("wide", "group", 1, 1)];
    // The service of KServe has a pool of its own.
    let objects = |image: &str| {
        let mut judge = predictor("judge", image, 1);
        judge["spec"]["predictor"]["nodeSelector"] = json!({ "pool": "judge" });
        let mut all = state(image, &chat);
        all.extend([judge, model_serving("pd", image, 2, 1, 8)]);
        all
    };
    write(&folder, "old.yaml", &objects("v1"));
    let roll = |new: &[Value], shared: usize, own: usize| {
        let mut all = nodes(shared);
        all.extend((0..own).map(|at| {
            let mut own = node(&format!("judge{at}"), 8);
            own["metadata"]["labels"]["pool"] = json!("judge");
            own
        }));
        write(&folder, "new.yaml", new);
        write(&folder, "nodes.yaml", &all);
        let args = ["rollout", "--all", "--base", "old.yaml", "-f", "new.yaml", "-f", "nodes.yaml"];
        let done = ome(&folder, &[&args[..], &["-o", "json"]].concat());
        (done.exit, answer(&done))
    };
    let own = |found: &Value, name: &str| {
        let all = found["services"].as_array().expect("services");
        let own = all.iter().find(|own| own["name"] == name).expect("it changes");
        (own["api"].clone(), own["components"][0]["rollout"].clone())
    };
    let names = [("chat", "ome"), ("wide", "ome"), ("judge", "kserve"), ("pd", "kthena")];
    // All eight shared nodes are taken: everybody goes through on what others free.
    let (exit, found) = roll(&objects("v2"), 8, 2);
    assert_eq!(exit, Some(0), "{found:#}");
    assert_eq!((&found["totals"]["services"], &found["totals"]["changed"]), (&json!(4), &json!(4)));
    for (name, api) in names {
        let (of, rollout) = own(&found, name);
        assert_eq!((of, &rollout["end"]), (json!(api), &json!("complete")), "{name}");
        let last = rollout["stages"].as_array().and_then(|all| all.last()).expect("a stage");
        assert_eq!((&last["old"]["total"], &last["new"]["pending"]), (&json!(0), &json!(0)));
    }
    // Nothing is held that no node has.
    assert!(found["totals"]["peakGpus"].as_i64().is_some_and(|peak| peak <= 80), "{found:#}");
    // Without a node to spare in its pool, the service of KServe is stuck, and nobody else.
    let (exit, found) = roll(&objects("v2"), 8, 1);
    assert_eq!((exit, &found["totals"]["stuck"]), (Some(2), &json!(1)), "{found:#}");
    for (name, _) in names.iter().filter(|(name, _)| *name != "judge") {
        assert_eq!(own(&found, name).1["end"], "complete", "{name}");
    }
    let (_, judge) = own(&found, "judge");
    let said = judge["stuck"]["message"].as_str().expect("a message");
    assert!(said.contains("1 Insufficient nvidia.com/gpu"), "{said}");
    assert!(said.contains("8 node(s) didn't match Pod's node affinity/selector"), "{said}");
    let fixes = judge["fix"].as_array().expect("edits");
    assert_eq!(fixes.len(), 3, "no surge, Recreate, a node: {fixes:#?}");
    for fix in fixes {
        // The edit is made in the object that it names, everything else stays as it was.
        let (mut edited, mut pool) = (objects("v2"), 1);
        for edit in fix["edits"].as_array().expect("a list") {
            if edit["file"].is_null() {
                assert_eq!(edit["path"], "nodes like judge0");
                let words = edit["to"].as_str().and_then(|words| words.split(' ').next());
                pool += words.and_then(|word| word.parse::<usize>().ok()).expect("a number");
                continue;
            }
            let object = edited.iter_mut().find(|own| own["metadata"]["name"] == "judge");
            apply(object.expect("the service"), edit);
        }
        let (exit, after) = roll(&edited, 8, pool);
        assert_eq!((exit, &after["totals"]["stuck"]), (Some(0), &json!(0)), "{fix:#}");
        let (_, judge) = own(&after, "judge");
        assert_eq!(judge["lowestReady"], fix["lowestReady"], "{fix:#}");
        assert_eq!(judge["peakGpus"], fix["peakGpus"], "{fix:#}");
    }
}

/// A pod that starts late, or an upgrade of the operator, changes nothing about the room beside other
/// services that are planned.
#[test]
fn stages_of_a_single_model_serving_find_nodes_beside_planned_services() {
    let folder = Folder::new(&[]);
    for (file, image) in [("old.yaml", "v1"), ("new.yaml", "v2")] {
        let mut all = state(image, &[service("chat", "single", 1, 1)]);
        all.push(model_serving("pd", image, 2, 0, 8));
        write(&folder, file, &all);
    }
    for (places, fits) in [(2, false), (3, true)] {
        write(&folder, "nodes.yaml", &nodes(places));
        for trouble in [&[][..], &["--steps"][..], &["--stagger"][..]] {
            let args =
                ["rollout", "pd", "--from", "old.yaml", "-f", "new.yaml", "-f", "nodes.yaml"];
            let done = ome(&folder, &[&args[..], &["-o", "json"], trouble].concat());
            let expected = if fits { 0 } else { 2 };
            assert_eq!(done.exit, Some(expected), "{places} {trouble:?} {:#}", answer(&done));
        }
    }
}

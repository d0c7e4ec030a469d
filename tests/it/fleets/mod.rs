//! Fleets on their nodes: all rolled out at once, stuck updates and their messages.

mod dump;
mod servings;

use super::objects::{GPU, node, runner};
use super::process::{Call, Done, Folder, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

fn ome(folder: &Folder, args: &[&str]) -> Done {
    let args = args.iter().map(|arg| (*arg).to_owned()).chain(["--no-builtin".to_owned()]);
    let (args, env) = (args.collect(), BTreeMap::new());
    let time = Duration::from_mins(1);
    let call = Call { args, stdin: "", directory: folder.path(), env: &env, time };
    run(&call).expect("it ends within a minute")
}

fn answer(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

fn write(folder: &Folder, file: &str, objects: &[Value]) {
    let text: Vec<String> = objects.iter().map(Value::to_string).collect();
    std::fs::write(folder.at(file), text.join("\n---\n")).expect("a file");
}

fn nodes(count: usize) -> Vec<Value> {
    (0..count).map(|at| node(&format!("n{at}"), 8)).collect()
}

fn runtime(name: &str, engine: &Value) -> Value {
    let format = json!({ "modelFormat": { "name": "safetensors", "version": "1.0.0" }, "modelFramework": { "name": "transformers", "version": "4.43.0" }, "modelArchitecture": "LlamaForCausalLM", "autoSelect": true });
    json!({
        "apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime", "metadata": { "name": name },
        "spec": { "supportedModelFormats": [format], "protocolVersions": ["openAI"], "engineConfig": engine },
    })
}

fn model() -> Value {
    json!({
        "apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": { "name": "llama" },
        "spec": {
            "vendor": "example", "modelFormat": { "name": "safetensors", "version": "1.0.0" },
            "modelFramework": { "name": "transformers", "version": "4.43.0" },
            "modelArchitecture": "LlamaForCausalLM", "modelParameterSize": "8B",
            "storage": { "storageUri": "hf://example/llama" },
        },
    })
}

fn service(name: &str, runtime: &str, least: i64, most: i64) -> Value {
    json!({
        "apiVersion": "ome.io/v1beta1", "kind": "InferenceService",
        "metadata": { "name": name, "namespace": "ml" },
        "spec": { "engine": { "minReplicas": least, "maxReplicas": most }, "model": { "name": "llama" }, "runtime": { "name": runtime } },
    })
}

/// A catalog of one runtime for single pods and one for groups of two, with services.
fn state(image: &str, services: &[Value]) -> Vec<Value> {
    let single = json!({ "runner": runner(image, 8) });
    let group = json!({ "leader": { "runner": runner(image, 8) }, "worker": { "size": 1, "runner": runner(image, 8) } });
    let mut all = vec![model(), runtime("single", &single), runtime("group", &group)];
    all.extend(services.iter().cloned());
    all
}

fn pod(name: &str, service: &str, node: &str, image: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "ml", "labels": { "ome.io/inferenceservice": service, "component": "engine" } },
        "spec": { "nodeName": node, "containers": [runner(image, 8)] },
        "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
    })
}

/// Takes an edit over into an object.
fn apply(object: &mut Value, edit: &Value) {
    let path = edit["path"].as_str().expect("a path");
    let (parents, last) = path.rsplit_once('.').expect("a field of a field");
    let mut at = object;
    for key in parents.split('.') {
        at = &mut at[key];
        if at.is_null() {
            *at = json!({});
        }
    }
    match &edit["to"] {
        Value::Null => drop(at.as_object_mut().expect("a mapping").remove(last)),
        to => at[last] = to.clone(),
    }
}

fn engine(answer: &Value) -> &Value {
    &answer["components"][0]["rollout"]
}

#[test]
fn a_rollout_completes_after_each_proposed_edit() {
    let cases = [
        ("single", 2, 2, vec![]),
        ("single", 1, 1, vec![("type", json!("RollingUpdate"))]),
        ("single", 3, 3, vec![("rollingUpdate", json!({ "maxSurge": 2, "maxUnavailable": 0 }))]),
        ("group", 2, 4, vec![]),
    ];
    for (runtime, replicas, places, strategy) in cases {
        let folder = Folder::new(&[]);
        let mut service = service("chat", runtime, replicas, replicas);
        for (key, value) in strategy {
            service["spec"]["engine"]["deploymentStrategy"][key] = value;
        }
        write(&folder, "old.yaml", &state("v1", std::slice::from_ref(&service)));
        write(&folder, "new.yaml", &state("v2", std::slice::from_ref(&service)));
        write(&folder, "nodes.yaml", &nodes(places));
        let roll = |new: &str, nodes: &str| {
            ome(
                &folder,
                &["rollout", "chat", "--from", "old.yaml", "-f", new, "-f", nodes, "-o", "json"],
            )
        };
        let done = roll("new.yaml", "nodes.yaml");
        assert_eq!(done.exit, Some(2), "{done:?}");
        let found = answer(&done);
        let fixes = engine(&found)["fix"].as_array().expect("edits").clone();
        assert!(fixes.len() >= 2, "{runtime}: {fixes:?}");
        for fix in &fixes {
            let mut edited = service.clone();
            let mut more = nodes(places);
            for edit in fix["edits"].as_array().expect("a list") {
                if edit["file"].is_null() {
                    let words = edit["to"].as_str().expect("a number of nodes");
                    let count: usize = words
                        .split(' ')
                        .next()
                        .and_then(|word| word.parse().ok())
                        .expect("a number");
                    more.extend((0..count).map(|at| node(&format!("more{at}"), 8)));
                } else {
                    apply(&mut edited, edit);
                }
            }
            write(&folder, "edited.yaml", &state("v2", &[edited]));
            write(&folder, "more.yaml", &more);
            let done = roll("edited.yaml", "more.yaml");
            let played = answer(&done);
            assert_eq!(
                (done.exit, &engine(&played)["end"]),
                (Some(0), &json!("complete")),
                "{fix}"
            );
            if fix["thenAsWritten"] == true {
                let args = [
                    "rollout",
                    "chat",
                    "--from",
                    "edited.yaml",
                    "-f",
                    "new.yaml",
                    "-f",
                    "more.yaml",
                ];
                assert_eq!(ome(&folder, &args).exit, Some(0), "{fix}");
            } else {
                assert_eq!(engine(&played)["lowestReady"], fix["lowestReady"], "{fix}");
                assert_eq!(engine(&played)["peakGpus"], fix["peakGpus"], "{fix}");
            }
        }
    }
}

#[test]
fn services_that_change_together_share_capacity() {
    let folder = Folder::new(&[]);
    let services =
        [service("a", "single", 1, 1), service("b", "single", 1, 1), service("c", "single", 1, 1)];
    write(&folder, "old.yaml", &state("v1", &services));
    // One stays, one goes, one is new.
    let mut after =
        state("v2", &[services[0].clone(), services[1].clone(), service("d", "single", 1, 1)]);
    after[1] = runtime("single", &json!({ "runner": runner("v2", 8) }));
    write(&folder, "new.yaml", &after);
    let all = |places: usize| {
        write(&folder, "nodes.yaml", &nodes(places));
        let args = [
            "rollout",
            "--all",
            "--base",
            "old.yaml",
            "-f",
            "new.yaml",
            "-f",
            "nodes.yaml",
            "-o",
            "json",
        ];
        ome(&folder, &args)
    };
    // In the room of the service that goes the others follow each other.
    let done = all(3);
    let found = answer(&done);
    assert_eq!((done.exit, &found["totals"]["stuck"]), (Some(0), &json!(0)), "{found:#}");
    assert_eq!(found["totals"]["services"], 4);
    assert_eq!(found["totals"]["changed"], 4);
    assert_eq!(found["totals"]["peakGpus"], 24);
    // Where nothing goes, both wait for ever.
    write(&folder, "old.yaml", &state("v1", &services[..2]));
    write(&folder, "new.yaml", &state("v2", &services[..2]));
    let done = all(2);
    assert_eq!((done.exit, &answer(&done)["totals"]["stuck"]), (Some(2), &json!(2)));
    assert_eq!(all(3).exit, Some(0));
    // Nothing changes: nothing is listed.
    let args = [
        "rollout",
        "--all",
        "--base",
        "new.yaml",
        "-f",
        "new.yaml",
        "-f",
        "nodes.yaml",
        "-o",
        "json",
    ];
    let same = answer(&ome(&folder, &args));
    assert_eq!((&same["totals"]["changed"], &same["services"]), (&json!(0), &json!([])));
}

#[test]
fn slow_stuck_and_failing_new_pods_delay_the_rollout() {
    let folder = Folder::new(&[]);
    for runtime in ["single", "group"] {
        let chat = [service("chat", runtime, 2, 2)];
        write(&folder, "old.yaml", &state("v1", &chat));
        write(&folder, "new.yaml", &state("v2", &chat));
        write(&folder, "nodes.yaml", &nodes(8));
        let roll = |flag: &str, name: &str| {
            let args = [
                "rollout",
                "chat",
                "--from",
                "old.yaml",
                "-f",
                "new.yaml",
                "-f",
                "nodes.yaml",
                "-o",
                "json",
                flag,
                name,
            ];
            ome(&folder, &args)
        };
        for flag in ["--stuck", "--fail"] {
            let done = roll(flag, "chat/engine");
            let found = answer(&done);
            assert_eq!(
                (done.exit, &engine(&found)["end"]),
                (Some(2), &json!("stuck")),
                "{runtime}"
            );
            assert_eq!(engine(&found)["lowestReady"], 2, "{runtime} {flag}");
        }
        let stages =
            |done: &Done| engine(&answer(done))["stages"].as_array().expect("stages").len();
        let (slow, slower) = (roll("--slow", "engine=2"), roll("--slow", "ml/chat/engine=9"));
        assert_eq!((slow.exit, slower.exit), (Some(0), Some(0)), "{slow:?}");
        assert!(stages(&slow) < stages(&slower), "{runtime}");
        for wrong in ["other/engine", "chat/motor", "pod/chat-engine-0", "engine=0"] {
            assert_eq!(roll("--slow", wrong).exit, Some(1), "{wrong}");
        }
    }
}

#[test]
fn a_rollout_keeps_the_replicas_set_by_the_autoscaler() {
    let folder = Folder::new(&[]);
    write(&folder, "new.yaml", &state("v2", &[service("chat", "single", 1, 4)]));
    write(&folder, "nodes.yaml", &nodes(4));
    let pods: Vec<Value> = (0..3)
        .map(|at| pod(&format!("chat-engine-1-{at}"), "chat", &format!("n{at}"), "v1"))
        .collect();
    write(&folder, "pods.yaml", &pods);
    let args =
        ["rollout", "chat", "-f", "new.yaml", "-f", "nodes.yaml", "-f", "pods.yaml", "-o", "json"];
    let found = answer(&ome(&folder, &args));
    let rolled = engine(&found);
    assert_eq!(
        (&rolled["end"], &rolled["lowestReady"]),
        (&json!("complete"), &json!(3)),
        "{rolled:#}"
    );
    let last = rolled["stages"].as_array().and_then(|all| all.last()).expect("a stage");
    assert_eq!((&last["new"]["ready"], &last["old"]["total"]), (&json!(3), &json!(0)));
    assert_eq!(found["workloads"][0]["podsRestarted"], 3);
}

#[test]
fn a_rollout_continues_from_a_half_done_update() {
    let folder = Folder::new(&[]);
    write(&folder, "new.yaml", &state("v2", &[service("chat", "single", 2, 2)]));
    write(&folder, "nodes.yaml", &nodes(3));
    // One pod of each version: the new one is as the operator makes it.
    let rendered = answer(&ome(&folder, &["render", "chat", "-f", "new.yaml", "-o", "json"]));
    let objects = rendered["items"].as_array().expect("a list");
    let made = objects.iter().find(|object| object["kind"] == "Deployment").expect("a Deployment");
    let mut new = pod("chat-engine-2-a", "chat", "n1", "v2");
    new["spec"] = made["spec"]["template"]["spec"].clone();
    new["spec"]["nodeName"] = json!("n1");
    write(&folder, "pods.yaml", &[pod("chat-engine-1-a", "chat", "n0", "v1"), new]);
    let args =
        ["rollout", "chat", "-f", "new.yaml", "-f", "nodes.yaml", "-f", "pods.yaml", "-o", "json"];
    let found = answer(&ome(&folder, &args));
    let rolled = engine(&found);
    let first = &rolled["stages"][0];
    assert_eq!(
        (&first["old"]["ready"], &first["new"]["ready"]),
        (&json!(1), &json!(1)),
        "{rolled:#}"
    );
    assert_eq!(
        (&rolled["end"], &found["workloads"][0]["podsRestarted"]),
        (&json!("complete"), &json!(1))
    );
}

#[test]
fn explain_places_a_service_together_with_all_other_pods() {
    let folder = Folder::new(&[]);
    // Of three nodes one is cordoned and one too small; the service before takes the third.
    let mut cordoned = node("cordoned", 8);
    cordoned["spec"] = json!({ "unschedulable": true });
    write(&folder, "nodes.yaml", &[cordoned, node("small", 4), node("taken", 8)]);
    write(
        &folder,
        "in.yaml",
        &state("v1", &[service("a", "single", 1, 1), service("b", "single", 1, 1)]),
    );
    let explain = |name: &str, more: &[&str]| {
        let args = [&["explain", name, "-f", "in.yaml", "-f", "nodes.yaml"], more].concat();
        ome(&folder, &args)
    };
    let waits = answer(&explain("b", &["-o", "json"]));
    let component = &waits["services"][0]["components"][0];
    assert_eq!((&component["fits"], &component["fitsAlone"]), (&json!(false), &json!(true)));
    let placement = &component["placement"];
    let filter = |name: &str| {
        let all = placement["filters"].as_array().expect("filters");
        all.iter()
            .find(|own| own["filter"] == name)
            .map(|own| (own["in"].clone(), own["out"].clone()))
    };
    assert_eq!(filter("NodeUnschedulable"), Some((json!(3), json!(2))));
    assert_eq!(filter("NodeResourcesFit"), Some((json!(2), json!(0))));
    let near =
        json!({ "node": "small", "code": "gpu", "detail": "nvidia.com/gpu: 8 requested, 4 free" });
    assert_eq!(placement["nearest"][0], near);
    let text = explain("b", &[]).stdout;
    assert!(text.contains("0/3 nodes are available") && text.contains("NEAREST NODE"), "{text}");
    let text = explain("a", &[]).stdout;
    assert!(text.contains("1 of 1 pod on taken; no more would fit"), "{text}");
}

#[test]
fn groups_that_kube_scheduler_places_by_half_are_reported() {
    let folder = Folder::new(&[]);
    write(&folder, "in.yaml", &state("v1", &[service("big", "group", 2, 2)]));
    write(&folder, "nodes.yaml", &nodes(3));
    let plan = |more: &[&str]| {
        ome(&folder, &[&["plan", "-f", "in.yaml", "-f", "nodes.yaml"], more].concat())
    };
    // Whole groups: one is placed and one waits. The scheduler places both leaders first.
    let found = answer(&plan(&["-o", "json"]));
    let pods = &found["placement"]["pods"];
    assert_eq!((&pods["placed"], &pods["pending"]), (&json!(2), &json!(2)));
    let half = json!([{ "service": "ml/big", "component": "engine", "replica": 1, "placed": 1, "pods": 2 }]);
    assert_eq!(found["placement"]["halfGroups"], half);
    assert!(plan(&[]).stdout.contains("kube-scheduler places no groups"));
    write(&folder, "nodes.yaml", &nodes(4));
    assert!(answer(&plan(&["-o", "json"]))["placement"]["halfGroups"].is_null());
}

#[test]
fn diff_reports_a_change_that_no_longer_fits() {
    let folder = Folder::new(&[]);
    let all = |image: &str, services: &[Value], places: usize| {
        [state(image, services), nodes(places)].concat()
    };
    let (a, b) = (service("a", "single", 1, 1), service("b", "single", 2, 2));
    write(&folder, "old.yaml", &all("v1", std::slice::from_ref(&a), 2));
    let diff = |new: &[Value], more: &[&str]| {
        write(&folder, "new.yaml", new);
        let done =
            ome(&folder, &[&["diff", "--base", "old.yaml", "-f", "new.yaml"], more].concat());
        let json =
            answer(&ome(&folder, &["diff", "--base", "old.yaml", "-f", "new.yaml", "-o", "json"]));
        (done, json["capacity"].clone())
    };
    // One more service than there is room.
    let (done, found) = diff(&all("v1", &[a.clone(), b], 2), &[]);
    assert_eq!((&found["before"]["pending"], &found["after"]["pending"]), (&json!(0), &json!(1)));
    assert_eq!(found["doesNotFit"][0]["service"], "ml/b");
    assert!(done.stdout.contains("does not fit: ml/b engine: 0/2 nodes"), "{done:?}");
    // Fewer nodes, and no service is another one.
    write(&folder, "old.yaml", &all("v1", std::slice::from_ref(&a), 1));
    let (done, found) = diff(&all("v1", std::slice::from_ref(&a), 0), &[]);
    assert_eq!((done.exit, found), (Some(0), Value::Null), "no node says what it has");
    let mut small = nodes(1);
    small[0]["status"]["allocatable"][GPU] = json!("4");
    let (done, found) = diff(&[state("v1", std::slice::from_ref(&a)), small].concat(), &[]);
    assert_eq!(
        (done.exit, &found["noLongerFits"][0]["service"]),
        (Some(2), &json!("ml/a")),
        "{done:?}"
    );
    // It fits, and the restart has no room for a surge.
    let (done, found) = diff(&all("v2", std::slice::from_ref(&a), 1), &[]);
    assert_eq!(
        (&found["noLongerFits"], &found["stuck"][0]["service"]),
        (&Value::Null, &json!("ml/a"))
    );
    assert!(done.stdout.contains("✗ restart gets stuck: ml/a engine"), "{done:?}");
    let (_, found) = diff(&all("v2", std::slice::from_ref(&a), 2), &[]);
    assert_eq!(found["stuck"], json!([]));
    // Of a service that is refused nothing restarts, whatever room there is.
    let mut refused = all("v2", std::slice::from_ref(&a), 1);
    let own = refused.iter_mut().find(|object| object["kind"] == "InferenceService");
    own.expect("a service")["spec"]["engine"]["maxReplica"] = json!(2);
    let (done, found) = diff(&refused, &[]);
    assert!(done.stdout.contains("✗ refused: unknown field"), "{done:?}");
    assert!(found.is_null() || found["stuck"] == json!([]), "{found}");
    // Pending pods fail the check, also if they were pending before.
    let fails = |new: &[Value]| diff(new, &["--fail-on", "does-not-fit"]).0.exit;
    let short = all("v1", &[service("a", "single", 3, 3)], 1);
    assert_eq!(fails(&short), Some(2));
    write(&folder, "old.yaml", &short);
    assert_eq!(fails(&short), Some(2));
    assert_eq!(fails(&all("v1", &[a], 1)), Some(0));
}

#[test]
fn the_order_of_the_input_changes_nothing() {
    let folder = Folder::new(&[]);
    let services = [
        service("a", "single", 1, 1),
        service("b", "group", 2, 2),
        service("c", "single", 3, 3),
        service("d", "single", 1, 2),
    ];
    let mut objects = state("v1", &services);
    objects.extend(nodes(6));
    objects.push(node("small", 4));
    objects.push(pod("c-engine-1-x", "c", "n4", "v1"));
    objects.push(pod("other", "nobody", "n2", "v1"));
    let placed = |objects: &[Value]| {
        write(&folder, "in.yaml", objects);
        let found = answer(&ome(&folder, &["plan", "-f", "in.yaml", "-o", "json"]));
        let services = found["services"].as_array().expect("services").clone();
        let mut components: Vec<(String, Value)> = services
            .iter()
            .map(|own| (own["name"].to_string(), own["components"][0]["placement"].clone()))
            .collect();
        components.sort_by(|one, other| one.0.cmp(&other.0));
        (found["placement"].clone(), components)
    };
    let first = placed(&objects);
    assert_eq!(first.0["verdict"], "does-not-fit", "{first:?}");
    for turn in [1, 3, 5, 7] {
        objects.rotate_left(turn);
        assert_eq!(placed(&objects), first);
        objects.reverse();
        assert_eq!(placed(&objects), first);
    }
}

/// Named services select the output only: their pods are placed together with all others, in `plan`
/// as in `explain`.
#[test]
fn plan_and_explain_place_named_services_with_the_whole_fleet() {
    let folder = Folder::new(&[]);
    let services = [
        service("a", "single", 2, 2),
        service("b", "group", 1, 1),
        service("c", "single", 1, 1),
        service("d", "single", 1, 1),
    ];
    write(&folder, "fleet.yaml", &state("v1", &services));
    let input = ["-f", "fleet.yaml", "-f", "nodes.yaml", "-o", "json"];
    let placements = |command: &str, names: &[&str]| -> Vec<Value> {
        let found = answer(&ome(&folder, &[&[command], names, &input[..]].concat()));
        let services = found["services"].as_array().expect("services").clone();
        let placement = |service: &Value| {
            let mut own = service["components"][0]["placement"].clone();
            // `explain` also has the verdicts of the nodes on one more pod.
            own.as_object_mut()
                .expect("a placement")
                .retain(|key, _| !["filters", "nearest"].contains(&key.as_str()));
            json!({ "name": service["name"], "placement": own })
        };
        services.iter().map(placement).collect()
    };
    let mut short = 0;
    for count in 2..7 {
        write(&folder, "nodes.yaml", &nodes(count));
        let all = placements("plan", &[]);
        assert_eq!(placements("explain", &[]), all, "{count} nodes");
        for own in &all {
            let name = own["name"].as_str().expect("a name");
            let own = std::slice::from_ref(own);
            assert_eq!(placements("plan", &[name]), own, "{count} nodes");
            assert_eq!(placements("explain", &[name]), own, "{count} nodes");
            let waits = own[0]["placement"]["pending"] != 0;
            short += usize::from(waits);
            let done = ome(&folder, &["plan", name, "-f", "fleet.yaml", "-f", "nodes.yaml"]);
            assert_eq!(done.exit, Some(if waits { 2 } else { 0 }), "{name}: {done:?}");
            assert_eq!(done.stdout.contains("1 of 1 service does not fit"), waits, "{done:?}");
        }
    }
    assert!(short > 4, "something has to wait: {short}");
}

/// A service that is in the cluster and not in the repository is left over with all its objects.
#[test]
fn drift_lists_services_that_exist_only_in_the_cluster() {
    let folder = Folder::new(&[]);
    let services = [service("chat", "single", 1, 1), service("judge", "single", 1, 1)];
    write(&folder, "both.yaml", &state("v1", &services));
    write(&folder, "repo.yaml", &state("v1", &services[..1]));
    let made = answer(&ome(&folder, &["render", "-f", "both.yaml", "-o", "json"]));
    let mut dump = state("v1", &services);
    dump.extend(made["items"].as_array().expect("objects").iter().cloned());
    write(&folder, "dump.yaml", &dump);
    let drift = |more: &[&str]| {
        let args = ["drift", "-f", "repo.yaml", "--live", "dump.yaml", "-o", "json"];
        let done = ome(&folder, &[&args[..], more].concat());
        (done.exit, answer(&done))
    };
    let (exit, found) = drift(&[]);
    assert_eq!((exit, &found["summary"]["drifted"]), (Some(2), &json!(1)), "{found:#}");
    assert_eq!(found["groups"][0]["services"], json!(["ml/judge"]));
    let objects = found["groups"][0]["objects"].as_array().expect("objects");
    assert!(objects.iter().all(|own| own["action"] == "delete"), "{objects:?}");
    let names: Vec<&str> = objects.iter().filter_map(|own| own["object"].as_str()).collect();
    assert!(names.contains(&"InferenceService/ml/judge"), "{names:?}");
    assert!(names.contains(&"Deployment/ml/judge-engine"), "{names:?}");
    assert_eq!(drift(&["chat"]).0, Some(0));
}

/// By the documents what has no place is refused: of such a service nothing is rendered, compared
/// or rolled, and the field is named once, where it is written.
#[test]
fn a_misspelled_field_is_reported_once_and_stops_its_service() {
    let folder = Folder::new(&[]);
    let good = service("chat", "single", 1, 1);
    let mut bad = good.clone();
    bad["spec"]["engine"]["maxReplica"] = json!(2);
    write(&folder, "old.yaml", &[state("v1", std::slice::from_ref(&good)), nodes(4)].concat());
    let other = service("other", "single", 1, 1);
    write(&folder, "new.yaml", &[state("v2", &[bad, other]), nodes(4)].concat());
    let changed: [(&[&str], Option<i32>); 5] = [
        (&["render"], Some(1)),
        (&["endpoints", "chat"], Some(1)),
        (&["diff", "--base", "old.yaml"], Some(2)),
        (&["rollout", "--all", "--base", "old.yaml"], Some(1)),
        (&["rollout", "chat", "--base", "old.yaml"], Some(1)),
    ];
    for (args, exit) in changed {
        let done = ome(&folder, &[args, &["-f", "new.yaml"]].concat());
        assert_eq!(done.stderr.matches("unknown-field").count(), 1, "{args:?}: {done:?}");
        assert!(done.stderr.contains("`spec.engine.maxReplica`"), "{args:?}: {done:?}");
        assert!(!done.stdout.contains("chat-engine"), "{args:?}: {done:?}");
        assert_eq!(done.exit, exit, "{args:?}: {done:?}");
    }
}

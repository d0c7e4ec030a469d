//! Tests of whole decisions: the choice, the deciding key, and the reasons of the other candidates.

use super::{Scene, asks, line, lines, model, object, runtime};
use crate::decision::{Reason, Rejection, RuntimeDecision};
use crate::operators::kserve::releases as kserve;
use crate::operators::ome::releases::{DOCUMENTED, V0_1_5};
use crate::operators::ome::select::WORDS;
use crate::policy::RankRule;
use crate::select::request::{could_serve, failure, named, named_without_model, nearest_miss};
use crate::select::{Memo, Search};

const S: &str = "modelFormat: {name: s}";

/// Returns the decision for a service, with its full trace.
fn decided(scene: &Scene, service: &str) -> Vec<String> {
    let search = Search { policy: scene.policy, runtimes: scene.runtimes(), memo: None };
    let service = scene.service(service);
    match search.best(service, &scene.request_of(service)) {
        Ok(decision) => lines(&decision),
        Err(error) => vec![format!("{}: {}", error.code.as_str(), error.message)],
    }
}

fn fleet() -> String {
    let named = |namespace: &str, name: &str| {
        let spec = format!("supportedModelFormats: [{{autoSelect: true, {S}}}]");
        object("ServingRuntime", name, &format!(", namespace: {namespace}"), &spec)
    };
    model("m", "modelFormat: {name: s}, modelParameterSize: 7B")
        + &object("InferenceService", "here", "", "model: {name: m}, engine: {}")
        + &object("InferenceService", "there", ", namespace: team", "model: {name: m}, engine: {}")
        + &object(
            "InferenceService",
            "v2",
            ", annotations: {ome.io/protocol: openInference-v2}",
            "model: {name: m}, engine: {}",
        )
        + &object(
            "InferenceService",
            "class",
            "",
            "model: {name: m}, engine: {}, acceleratorSelector: {acceleratorClass: h100}",
        )
        + &named("team", "mine")
        + &runtime("near", S, "modelSizeRange: {min: 6B, max: 8B}")
        + &runtime(
            "wide",
            S,
            "modelSizeRange: {min: 1B, max: 70B}, protocolVersions: [openInference-v2]",
        )
        + &runtime("small", S, "modelSizeRange: {min: 1B, max: 2B}")
        + &runtime("halted", S, "disabled: true, modelSizeRange: {min: 1B, max: 2B}")
        + &runtime("listed", S, "acceleratorRequirements: {acceleratorClasses: [h100, a100]}")
        + &runtime("other", "modelFormat: {name: t}", "")
}

#[test]
fn documented_selection_gives_the_reason_for_each_candidate() {
    let scene = Scene::new(&DOCUMENTED, &fleet());
    let here = [
        "auto near by size-distance, 2 eligible, 5 rejected, entry 0",
        "near chosen: protocol unconstrained",
        "listed eligible: protocol unconstrained; outranked by near: size distance unbounded > 2B",
        "mine rejected: is in namespace team, the service in default",
        "other rejected: format name mismatch (model=s, runtime=t); protocol unconstrained",
        "small rejected: 7B is outside 1B..2B; protocol unconstrained",
        "wide rejected: openAI is not in [openInference-v2]",
        "halted rejected: the runtime is disabled; 7B is outside 1B..2B; protocol unconstrained",
        "discovery 7>6, enabled 6>5, format 5>4, size 4>3, protocol 3>2, auto-selection 2>2, \
         ranking 2>2",
    ];
    assert_eq!(decided(&scene, "here"), here);
    // The documents do not define a list of classes.
    assert_eq!(decided(&scene, "class"), here);
    let there = decided(&scene, "there");
    assert_eq!(
        there[..4],
        [
            "auto mine by scope, 3 eligible, 4 rejected, entry 0",
            "mine chosen: protocol unconstrained",
            "near eligible: protocol unconstrained; outranked by mine: cluster scope comes after \
             the namespace",
            "listed eligible: protocol unconstrained; outranked by near: size distance unbounded \
             > 2B",
        ]
    );
    let v2 = decided(&scene, "v2");
    assert_eq!(
        v2[..4],
        [
            "auto near by size-distance, 3 eligible, 4 rejected, entry 0",
            "near chosen: protocol unconstrained",
            "wide eligible: outranked by near: size distance 69B > 2B",
            "listed eligible: protocol unconstrained; outranked by wide: size distance unbounded \
             > 69B",
        ]
    );
}

#[test]
fn the_controller_chooses_by_score() {
    let scene = Scene::new(&V0_1_5, &fleet());
    let here = [
        "auto listed by size-distance, 3 eligible, 4 rejected, entry 0",
        "listed chosen: ",
        "near eligible: outranked by listed: size distance 2B > 0",
        "wide eligible: outranked by near: size distance 69B > 2B",
        "mine rejected: is in namespace team, the service in default",
        "small rejected: 7B is outside 1B..2B",
        "halted rejected: the runtime is disabled; 7B is outside 1B..2B",
        "other rejected: format name mismatch (model=s, runtime=t); the score is 0",
        "discovery 7>6, enabled 6>5, accelerator 5>5, format 5>4, size 4>3, auto-selection 3>3, \
         score 3>3, ranking 3>3",
    ];
    assert_eq!(decided(&scene, "here"), here);
    // The requested protocol has no effect.
    assert_eq!(decided(&scene, "v2"), here);
    let required = "h100 is required and the runtime lists no accelerator classes";
    assert_eq!(
        decided(&scene, "class"),
        [
            "auto listed by only-candidate, 1 eligible, 6 rejected, entry 0",
            "listed chosen: ",
            "mine rejected: is in namespace team, the service in default",
            &format!("near rejected: {required}"),
            &format!("wide rejected: {required}"),
            &format!("small rejected: {required}; 7B is outside 1B..2B"),
            &format!("halted rejected: the runtime is disabled; {required}; 7B is outside 1B..2B"),
            &format!(
                "other rejected: {required}; format name mismatch (model=s, runtime=t); the score \
                 is 0"
            ),
            "discovery 7>6, enabled 6>5, accelerator 5>1, format 1>1, size 1>1, auto-selection \
             1>1, score 1>1, ranking 1>1",
        ]
    );
    let text = fleet() + &runtime("open", S, "modelSizeRange: {max: 9B}");
    assert_eq!(
        decided(&Scene::new(&V0_1_5, &text), "here"),
        ["would-panic: controller would crash on runtime open: modelSizeRange.min missing"]
    );
}

#[test]
fn the_decision_names_the_rank_key_that_decided() {
    let of = |runtimes: &[String]| {
        let text = model("m", "modelFormat: {name: s}")
            + &object("InferenceService", "here", "", "model: {name: m}, engine: {}")
            + &runtimes.concat();
        let found = decided(&Scene::new(&DOCUMENTED, &text), "here");
        found.into_iter().take_while(|line| !line.contains("chosen: ")).collect::<Vec<_>>()
    };
    let plain = |name: &str| runtime(name, S, "");
    let first = |name: &str, priority: i64, spec: &str| {
        runtime(name, &format!("{S}, priority: {priority}"), spec)
    };
    assert_eq!(of(&[])[0], "auto none by nothing, 0 eligible, 0 rejected");
    assert_eq!(
        of(&[runtime("a", "modelFormat: {name: t}", "")])[0],
        "auto none by nothing, 0 eligible, 1 rejected"
    );
    assert_eq!(of(&[plain("a")]), ["auto a by only-candidate, 1 eligible, 0 rejected, entry 0"]);
    assert_eq!(
        of(&[plain("b"), plain("a")]),
        [
            "auto a by name, 2 eligible, 0 rejected, not guaranteed, entry 0",
            "note: order not guaranteed by the documentation",
            "note: creationTimestamp unknown offline, the name decided",
        ]
    );
    assert_eq!(
        of(&[first("a", 1, ""), first("b", 2, "")]),
        ["auto b by priority, 2 eligible, 0 rejected, entry 0"]
    );
    // Built-in runtimes are not candidates when other runtimes exist.
    assert_eq!(
        of(&[plain("b"), plain("builtin-a")]),
        ["auto b by only-candidate, 1 eligible, 0 rejected, entry 0"]
    );
}

#[test]
fn kserve_chooses_among_those_that_list_the_format() {
    let service = |name: &str, spec: &str| {
        let spec = format!("predictor: {{model: {{modelFormat: {{name: s}}}}{spec}}}");
        object("KServeInferenceService", name, "", &spec)
    };
    let of = |name: &str, spec: &str| {
        let spec = format!("supportedModelFormats: [{{name: s, autoSelect: true}}], {spec}");
        object("KServeClusterServingRuntime", name, "", &spec)
    };
    let text = service("one", "")
        + &service("many", ", workerSpec: {}")
        + &of("v2", "protocolVersions: [v2, v1]")
        + &of("grpc", "protocolVersions: [grpc-v2]")
        + &of("v1", "protocolVersions: [v1]")
        + &of("mesh", "multiModel: true, protocolVersions: [v1]")
        + &of("single", "multiModel: false, protocolVersions: [v1]")
        + &of("workers", "workerSpec: {}, protocolVersions: [v1]");
    for policy in [&kserve::DOCUMENTED, &kserve::HEAD] {
        let scene = Scene::new(policy, &text);
        let mut one = decided(&scene, "one");
        one.retain(|line| !line.starts_with("note: "));
        // The controller's order includes the name; the documents guarantee no order by name.
        let promise = if policy.rank == RankRule::Priority { ", not guaranteed" } else { "" };
        assert_eq!(
            one,
            [
                &format!("auto single by name, 3 eligible, 3 rejected{promise}, entry 0"),
                "single chosen: ",
                "v1 eligible: outranked by single: name v1 after single",
                "v2 eligible: outranked by v1: name v2 after v1",
                "grpc rejected: v1 is not in [grpc-v2]",
                "mesh rejected: multiModel: true is for ModelMesh only",
                "workers rejected: the runtime has a workerSpec, the service has none",
                "discovery 6>6, enabled 6>6, multi-model 6>5, multi-node 5>4, format 4>4, \
                 protocol 4>3, auto-selection 3>3, ranking 3>3",
            ]
        );
        let alone = "the service has a workerSpec, the runtime has none";
        assert_eq!(
            decided(&scene, "many"),
            [
                "auto workers by only-candidate, 1 eligible, 5 rejected, entry 0",
                "workers chosen: ",
                &format!("single rejected: {alone}"),
                &format!("v1 rejected: {alone}"),
                &format!("v2 rejected: {alone}"),
                &format!("grpc rejected: {alone}; v1 is not in [grpc-v2]"),
                &format!("mesh rejected: multiModel: true is for ModelMesh only; {alone}"),
                "discovery 6>6, enabled 6>6, multi-model 6>5, multi-node 5>1, format 1>1, \
                 protocol 1>1, auto-selection 1>1, ranking 1>1",
            ]
        );
    }
}

#[test]
fn a_runtime_that_is_named_is_taken_or_refused() {
    const NAMES: [&str; 7] = ["near", "small", "halted", "mine", "lost", "naer", "listed"];
    let text = format!("supportedModelFormats: [{{autoSelect: false, {S}}}]");
    let naming = |name: &str| {
        let spec = format!("model: {{name: m}}, runtime: {{name: {name}}}, engine: {{}}");
        object("InferenceService", name, "", &spec)
    };
    let text = fleet()
        + &NAMES.map(naming).concat()
        + &object("ServingRuntime", "listed", ", namespace: default", &text);
    let absent =
        |name: &str| format!("runtime {name} not found in namespace default or at cluster scope");
    for policy in [&DOCUMENTED, &V0_1_5] {
        let scene = Scene::new(policy, &text);
        // Name, result with a model, result without a model.
        let found = NAMES.map(|name| {
            let service = scene.service(name);
            let request = scene.request_of(service);
            let runtime = service.runtime.as_ref().unwrap();
            let runtimes = scene.runtimes();
            let with = match named(policy, &WORDS, runtimes, &request, runtime) {
                Ok(decision) => {
                    assert_eq!(decision.candidates.len(), 1);
                    let refused =
                        failure(&WORDS, runtimes, &request, service, Some(runtime), &decision);
                    let mut found = lines(&decision);
                    found.retain(|line| !line.starts_with(name));
                    if decision.chosen.is_none() {
                        found.push(refused.unwrap().message);
                    }
                    found
                }
                Err(error) => vec![error.message, error.help.unwrap_or_default()],
            };
            let without = match named_without_model(policy, &WORDS, runtimes, service, runtime) {
                Ok(decision) => lines(&decision).remove(0),
                Err(error) => error.message,
            };
            (with, without)
        });
        let note = "note: explicit: autoSelect and priority not consulted".to_owned();
        let taken = |name: &str| format!("explicit {name} by explicit, 1 eligible, 0 rejected");
        let refused = "explicit none by nothing, 0 eligible, 1 rejected, entry 0".to_owned();
        let small = "runtime small does not support model m: 7B is outside 1B..2B".to_owned();
        let halted = "runtime halted is disabled".to_owned();
        let elsewhere = "`ServingRuntime/team/mine` belongs to another namespace".to_owned();
        let shadows = "note: shadows ClusterServingRuntime listed".to_owned();
        let expected = [
            (vec![taken("near") + ", entry 0", note.clone()], taken("near")),
            (vec![refused.clone(), note.clone(), small], taken("small")),
            (vec![refused, note.clone(), halted.clone()], halted),
            (vec![absent("mine"), elsewhere], absent("mine")),
            (vec![absent("lost"), "load the runtime with `-f`".to_owned()], absent("lost")),
            (vec![absent("naer"), "did you mean `near`?".to_owned()], absent("naer")),
            (vec![taken("listed") + ", entry 0", note, shadows], taken("listed")),
        ];
        assert_eq!(found, expected, "{}", policy.id.tag);
    }
}

#[test]
fn could_serve_and_nearest_miss_find_the_expected_runtimes() {
    let text = fleet()
        + &object("BaseModel", "own", ", namespace: team", S)
        + &object("BaseModel", "foreign", ", namespace: lab", "modelFormat: {name: u}");
    for policy in [&DOCUMENTED, &V0_1_5] {
        let scene = Scene::new(policy, &text);
        let able = |name: &str| -> Vec<&str> {
            let model = scene.model(name);
            let runtimes = scene.runtimes().iter();
            let able = runtimes.filter(|runtime| could_serve(policy, model, runtime));
            able.map(|runtime| runtime.object.id.name.as_str()).collect()
        };
        assert_eq!(able("m"), ["mine", "listed", "near", "wide"]);
        assert_eq!(able("own"), ["mine", "listed", "near", "small", "wide"]);
        assert!(able("foreign").is_empty());
        let nearest =
            |name: &str| line(&nearest_miss(policy, scene.runtimes(), scene.model(name)).unwrap());
        assert_eq!(nearest("m"), "mine eligible: ");
        // A runtime of another namespace is not a candidate; one of the same namespace comes before
        // those of the cluster.
        let foreign = nearest("foreign");
        assert_eq!(
            foreign, "listed rejected: format name mismatch (model=u, runtime=s)",
            "a score of 0 is no reason of its own"
        );
    }
    let scene = Scene::new(
        &DOCUMENTED,
        &(model("m", S)
            + &runtime("a", "modelFormat: {name: t}", "disabled: true")
            + &object(
                "ClusterServingRuntime",
                "b",
                "",
                &format!("supportedModelFormats: [{{{S}}}], modelSizeRange: {{min: 1B}}"),
            )),
    );
    let nearest = nearest_miss(&DOCUMENTED, scene.runtimes(), scene.model("m")).unwrap();
    assert_eq!(line(&nearest), "b rejected: size unknown, range not checked");
}

#[test]
fn runtimes_without_an_accelerator_class_are_rejected_last() {
    let text = model("m", S)
        + &runtime("a", S, "")
        + &runtime("b", S, "")
        + &object("InferenceService", "here", "", "model: {name: m}, engine: {}");
    let scene = Scene::new(&DOCUMENTED, &text);
    let mut request = asks(scene.model("m"));
    let reason = Reason::Unserved { component: "engine", nearest: "h100".into() };
    request.unserved.push((scene.runtime("a"), Rejection { reason, origin: None }));
    let search = Search { policy: &DOCUMENTED, runtimes: scene.runtimes(), memo: None };
    let decision = search.best(scene.service("here"), &request).unwrap();
    let found = lines(&decision);
    assert_eq!(
        found[1..],
        [
            "b chosen: ",
            "a rejected: no accelerator class meets the requirements of the engine; nearest is h100",
            "discovery 2>2, enabled 2>2, format 2>2, size 2>2, protocol 2>2, auto-selection 2>2, \
             accelerator 2>1, ranking 1>1",
        ]
    );
}

/// A cached decision equals a new one, in any order of requests.
#[test]
fn a_decision_that_is_remembered_is_the_same() {
    let ome = fleet();
    let kserve_services = ["s", "t"].map(|format| {
        ["", ", workerSpec: {}"].map(|more| {
            let spec = format!(
                "predictor: {{model: {{modelFormat: {{name: {format}, version: '1'}}}}{more}}}"
            );
            object("KServeInferenceService", &format!("{format}{}", more.len()), "", &spec)
        })
    });
    let entry = "supportedModelFormats: [{name: s, version: '1', autoSelect: true}]";
    let kserve_text = kserve_services.concat().concat()
        + &object("KServeClusterServingRuntime", "a", "", entry)
        + &object("KServeClusterServingRuntime", "b", "", &format!("{entry}, workerSpec: {{}}"));
    for (policy, text, names) in [
        (&DOCUMENTED, &ome, ["here", "there", "v2", "class"]),
        (&V0_1_5, &ome, ["here", "there", "v2", "class"]),
        (&kserve::HEAD, &kserve_text, ["s0", "s16", "t0", "t16"]),
    ] {
        let scene = Scene::new(policy, text);
        let memo = Memo::default();
        for name in names.iter().chain(names.iter().rev()) {
            let service = scene.service(name);
            let request = scene.request_of(service);
            let search = |memo| Search { policy, runtimes: scene.runtimes(), memo };
            let remembered = search(Some(&memo)).best(service, &request).unwrap();
            let found = search(None).best(service, &request).unwrap();
            let answer = |found: &RuntimeDecision<'_>| {
                let chosen = found.chosen.map(|chosen| chosen.object.id.clone());
                (chosen, found.decided_by, found.matched_entry, found.eligible)
            };
            assert_eq!(answer(&remembered), answer(&found), "{} {name}", policy.id.tag);
            assert!(remembered.candidates.is_empty());
        }
    }
}

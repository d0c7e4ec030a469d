//! Properties of every rollout, and rows of tables without a recorded case.

use super::{Action, Before, Cause, Cell, GroupStatus, Kind, Outcome, Scenario, simulate};
use crate::api::{Api, ModelServing, Object};
use crate::operators::kthena::objects::{Expanded, expand, pod_group};
use crate::operators::kthena::read as kthena;
use crate::operators::kthena::releases::{
    KTHENA_DOCUMENTED, KTHENA_HEAD, KTHENA_V0_1, KTHENA_V1_0,
};
use crate::operators::kthena::rules::KthenaRelease;
use crate::source::{SourceId, Span};
use crate::testing::object;
use crate::yaml::{Limits, parse};
use ecow::EcoString;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The values of a generated manifest.
#[derive(Clone, Debug)]
struct Shape {
    replicas: i64,
    rollout: String,
    /// Replicas, workers, image.
    roles: Vec<(i64, i64, u8)>,
}

impl Shape {
    fn read(&self, policy: &KthenaRelease) -> ModelServing {
        let mut text = format!(
            "{{metadata: {{name: s}}, spec: {{replicas: {}, {} template: {{roles: [",
            self.replicas, self.rollout
        );
        for (index, (replicas, workers, image)) in self.roles.iter().enumerate() {
            let pod = format!(
                "{{spec: {{containers: [{{name: c, image: 'i:{image}', resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}"
            );
            let _ = write!(
                text,
                "{{name: r{index}, replicas: {replicas}, workerReplicas: {workers}, entryTemplate: {pod}, workerTemplate: {pod}}}, "
            );
        }
        text.push_str("]}}}");
        read(&text, policy)
    }
}

fn read(text: &str, policy: &KthenaRelease) -> ModelServing {
    let node = parse(SourceId(0), text, 0..text.len(), &Limits::default()).value.unwrap();
    let span = Span { source: SourceId(0), start: 0, end: 1 };
    let group = (Api::Kthena, kthena::API_VERSION);
    let object = object(group, "ModelServing", (Some("default"), "s"), node);
    kthena::model_serving(Object { span, ..object }, policy)
}

fn requests(outcome: &Outcome) -> Vec<String> {
    outcome
        .trace
        .requests()
        .map(|event| {
            format!(
                "{} {} {} {}",
                event.stage,
                event.action.as_str(),
                event.kind.as_str(),
                outcome.trace.name(event)
            )
        })
        .collect()
}

fn play(
    policy: &'static KthenaRelease,
    from: &[&ModelServing],
    to: &ModelServing,
    broken: &[&str],
) -> Outcome {
    let names = |names: &[&str]| names.iter().map(|name| EcoString::from(*name)).collect();
    simulate(&Scenario {
        policy,
        upgraded_from: None,
        from: from.iter().map(|serving| Before { serving, costs: Vec::new() }).collect(),
        to,
        pending: Vec::new(),
        stuck: names(broken),
        fail: Vec::new(),
        stagger: false,
    })
}

/// Names of the pods that exist after a rollout that began with `before`.
fn pods_after(before: BTreeSet<EcoString>, outcome: &Outcome) -> BTreeSet<EcoString> {
    let mut pods = before;
    for event in outcome.trace.requests().filter(|event| event.kind == Kind::Pod) {
        let name = outcome.trace.name(event);
        // A pod is deleted before another one has its name.
        match event.action {
            Action::Create => assert!(pods.insert(name.clone()), "{name} exists"),
            _ => assert!(pods.remove(&name), "{name} does not exist"),
        }
    }
    pods
}

fn fresh_pods(policy: &KthenaRelease, serving: &ModelServing) -> BTreeSet<EcoString> {
    let objects = expand(serving, policy, &mut Vec::new());
    let name = |object: &Expanded| -> Option<EcoString> {
        let object = &object.node;
        (object.get("kind")?.as_str()? == "Pod")
            .then(|| object.at(&["metadata", "name"])?.as_str().map(EcoString::from))?
    };
    objects.iter().filter_map(name).collect()
}

fn shape(least: i64) -> impl Strategy<Value = Shape> {
    (least..5_i64, prop::collection::vec((0..4_i64, 0..3_i64, 0..3_u8), 1..4))
        .prop_map(|(replicas, roles)| Shape { replicas, rollout: String::new(), roles })
}

/// The same roles with other images and perhaps other numbers.
fn pair() -> impl Strategy<Value = (Shape, Shape)> {
    (shape(1), shape(0)).prop_map(|(old, mut new)| {
        new.roles.resize(old.roles.len(), (1, 1, 1));
        (old, new)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_rollout_with_nothing_changed_has_no_step(shape in shape(0)) {
        for policy in [&KTHENA_DOCUMENTED, &KTHENA_V0_1, &KTHENA_V1_0, &KTHENA_HEAD] {
            let serving = shape.read(policy);
            let outcome = play(policy, &[&serving], &serving, &[]);
            prop_assert_eq!(outcome.trace.requests().count(), 0);
            prop_assert!(outcome.trace.rows.is_empty() && outcome.stuck.is_none());
        }
    }

    // The document's machine reaches the state of a fresh render. The shipped ones number groups
    // otherwise when they do (v1.0 appends) and leave surplus workers until their group is replaced
    // (pkg/model-serving-controller/controller/model_serving_controller.go), so that they are held
    // to it only where nothing but images change.
    #[test]
    fn a_rollout_ends_with_the_pods_of_a_fresh_render((old, new) in pair()) {
        let (from, to) = (old.read(&KTHENA_DOCUMENTED), new.read(&KTHENA_DOCUMENTED));
        let outcome = play(&KTHENA_DOCUMENTED, &[&from], &to, &[]);
        prop_assert_eq!(pods_after(fresh_pods(&KTHENA_DOCUMENTED, &from), &outcome), fresh_pods(&KTHENA_DOCUMENTED, &to));
        prop_assert!(outcome.stuck.is_none());

        let mut images = old.clone();
        images.roles.iter_mut().zip(&new.roles).for_each(|(role, other)| role.2 = other.2);
        for policy in [&KTHENA_V0_1, &KTHENA_HEAD] {
            for rollout in ["", "rolloutStrategy: {type: RoleRollingUpdate},", "rolloutStrategy: {rollingUpdateConfiguration: {maxUnavailable: 2}},"] {
                let (mut before, mut after) = (old.clone(), images.clone());
                (before.rollout, after.rollout) = (rollout.to_owned(), rollout.to_owned());
                let (from, to) = (before.read(policy), after.read(policy));
                let outcome = play(policy, &[&from], &to, &[]);
                prop_assert_eq!(pods_after(fresh_pods(policy, &from), &outcome), fresh_pods(policy, &to), "{} {}", policy.name, rollout);
            }
        }
    }

    #[test]
    fn a_first_creation_makes_the_pods_of_a_fresh_render(shape in shape(1)) {
        for policy in [&KTHENA_DOCUMENTED, &KTHENA_V0_1, &KTHENA_V1_0, &KTHENA_HEAD] {
            let serving = shape.read(policy);
            let outcome = play(policy, &[], &serving, &[]);
            prop_assert_eq!(pods_after(BTreeSet::new(), &outcome), fresh_pods(policy, &serving));
        }
    }

    // A change of templates only: one group at a time in the document, as many as the budget in the
    // code. Groups under the partition never change.
    #[test]
    fn an_update_keeps_max_unavailable_and_the_partition(mut old in shape(1), partition in 0..6_i64, most in 1..4_i64) {
        old.roles[0].0 = old.roles[0].0.max(1);
        old.rollout = format!("rolloutStrategy: {{rollingUpdateConfiguration: {{partition: {partition}, maxUnavailable: {most}}}}},");
        let mut new = old.clone();
        new.roles[0].2 += 10;
        for (policy, budget) in [(&KTHENA_DOCUMENTED, 1), (&KTHENA_V0_1, 1), (&KTHENA_HEAD, most)] {
            let (from, to) = (old.read(policy), new.read(policy));
            let outcome = play(policy, &[&from], &to, &[]);
            for capacity in &outcome.trace.capacity {
                prop_assert!(capacity.groups >= (old.replicas - budget).max(0), "{}: {} of {} run", policy.name, capacity.groups, old.replicas);
                // There is no surge.
                prop_assert!(capacity.gpus <= outcome.gpus_before);
            }
            prop_assert!(outcome.trace.events.iter().all(|event| event.group >= partition), "{}", policy.name);
            let updated: BTreeSet<i64> =
                outcome.trace.group_steps().filter(|event| event.action == Action::Create).map(|event| event.group).collect();
            prop_assert_eq!(updated, (partition.min(old.replicas)..old.replicas).collect::<BTreeSet<i64>>());
        }
    }

    #[test]
    fn a_gang_min_member_never_exceeds_the_pods_of_its_group(mut shape in shape(0), minima in prop::collection::vec(0..6_i64, 3)) {
        let entries: Vec<String> = minima.iter().enumerate().map(|(index, minimum)| format!("r{index}: {minimum}")).collect();
        for listed in 0..=3 {
            shape.rollout = String::new();
            for policy in [&KTHENA_DOCUMENTED, &KTHENA_V0_1, &KTHENA_HEAD] {
                let mut serving = shape.read(policy);
                serving.gang = Some(crate::api::GangPolicy {
                    min_role_replicas: minima.iter().take(listed).enumerate().map(|(index, minimum)| (crate::api::Field::new(format!("r{index}").into(), serving.replicas.origin), *minimum)).collect(),
                    origin: serving.replicas.origin,
                });
                let gang = pod_group::gang(&serving, policy);
                prop_assert!(gang.min_member <= serving.pods_per_group(), "{} with {:?}", policy.name, entries);
                let members: i64 = pod_group::task_members(&serving, &gang).map(|(_, size)| size).sum();
                prop_assert_eq!(members, gang.min_member);
            }
        }
    }

    #[test]
    fn no_change_is_a_panic_or_a_hang((old, new) in (shape(0), shape(0)), stagger in any::<bool>(), group in 0..5_i64, role in 0..3_usize) {
        let pod = EcoString::from(format!("s-{group}-r{role}-0-0"));
        for policy in [&KTHENA_DOCUMENTED, &KTHENA_V0_1, &KTHENA_V1_0, &KTHENA_HEAD] {
            for recovery in ["", "recoveryPolicy: ServingGroupRecreate,", "recoveryPolicy: None,"] {
                let mut new = new.clone();
                new.rollout = recovery.to_owned();
                let (from, to) = (old.read(policy), new.read(policy));
                let before = Before { serving: &from, costs: Vec::new() };
                let outcome = simulate(&Scenario { policy, upgraded_from: None, from: vec![before], to: &to, pending: vec![pod.clone()], stuck: Vec::new(), fail: vec![pod.clone()], stagger });
                prop_assert!(outcome.trace.events.len() < 10_000);
            }
        }
    }
}

fn rows(outcome: &Outcome) -> Vec<String> {
    let sign = |cell: super::Cell| match cell {
        super::Cell::Old => 'o',
        super::Cell::Rolling => 'w',
        super::Cell::Updated => 'd',
    };
    outcome
        .trace
        .rows
        .iter()
        .map(|row| row.groups.iter().map(|(cell, _)| sign(cell)).collect())
        .collect()
}

fn four(image: u8, rollout: &str) -> Shape {
    Shape { replicas: 4, rollout: rollout.to_owned(), roles: vec![(1, 0, image)] }
}

// Kthena blog, A Deep Dive of ModelServing, Rolling Update: six rows, and two when the first group
// does not come up.
#[test]
fn the_rollout_matches_the_table_of_the_kthena_blog() {
    let (old, new) = (four(1, "").read(&KTHENA_DOCUMENTED), four(2, "").read(&KTHENA_DOCUMENTED));
    assert_eq!(
        rows(&play(&KTHENA_DOCUMENTED, &[&old], &new, &[])),
        ["oooo", "ooow", "oowd", "owdd", "wddd", "dddd"]
    );
    let stuck = play(&KTHENA_DOCUMENTED, &[&old], &new, &["s-3-r0-0-0"]);
    assert_eq!((rows(&stuck), stuck.stuck), (vec!["oooo".to_owned(), "ooow".to_owned()], Some(3)));
    assert!(stuck.proof.is_some_and(|proof| proof.contains("s-0, s-1, s-2 keep the old revision")));
}

// A group that exists waits in the row in which its new pod appeared, not in the one of its own
// creation.
#[test]
fn a_group_waits_at_the_stage_in_which_its_pod_was_created() {
    let old = four(1, "");
    let mut new = old.clone();
    new.roles[0].0 = 2;
    let outcome = play(
        &KTHENA_DOCUMENTED,
        &[&old.read(&KTHENA_DOCUMENTED)],
        &new.read(&KTHENA_DOCUMENTED),
        &["s-2-r0-1-0"],
    );
    let steps: Vec<(u32, &str, i64)> = outcome
        .trace
        .group_steps()
        .map(|event| (event.stage, event.action.as_str(), event.group))
        .collect();
    assert_eq!(
        (steps, outcome.trace.rows.len()),
        (vec![(0, "create", 3), (1, "create", 2), (1, "wait", 2)], 3)
    );
}

// v1.0 appends, so that a default update of four groups ends with the ordinals 3 to 6
// (pkg/model-serving-controller/controller/model_serving_controller.go, scaleUpServingGroups).
#[test]
fn ordinals_drift_where_a_release_appends_them() {
    for (policy, expected) in [
        (&KTHENA_V1_0, vec![3, 4, 5, 6]),
        (&KTHENA_HEAD, vec![0, 1, 2, 3]),
        (&KTHENA_V0_1, vec![0, 1, 2, 3]),
    ] {
        let (old, new) = (four(1, "").read(policy), four(2, "").read(policy));
        let pods = pods_after(fresh_pods(policy, &old), &play(policy, &[&old], &new, &[]));
        let found: Vec<EcoString> = pods.into_iter().collect();
        assert_eq!(
            found,
            expected
                .iter()
                .map(|ordinal| EcoString::from(format!("s-{ordinal}-r0-0-0")))
                .collect::<Vec<_>>(),
            "{}",
            policy.name
        );
    }
}

// pkg/model-serving-controller/controller/model_serving_controller.go, manageRollingUpdate.
#[test]
fn failed_groups_are_replaced_first_and_scaling_does_not_wait() {
    let [a, b, c] = [1, 2, 3].map(|image| four(image, "").read(&KTHENA_HEAD));
    let bad = play(&KTHENA_HEAD, &[&a], &b, &["s-3-r0-0-0"]);
    assert_eq!(rows(&bad), ["oooo", "ooow"]);
    let order = |outcome: &Outcome| -> Vec<i64> {
        outcome
            .trace
            .group_steps()
            .filter(|event| event.action == Action::Delete)
            .map(|event| event.group)
            .collect()
    };
    assert_eq!(order(&play(&KTHENA_HEAD, &[&a, &b], &c, &[])), [3, 2, 1, 0]);

    let mut two = four(2, "");
    two.replicas = 2;
    let down = play(&KTHENA_HEAD, &[&a], &two.read(&KTHENA_HEAD), &[]);
    assert_eq!(order(&down), [3, 2, 1, 0]);
    let first: Vec<(i64, Cause)> = down
        .trace
        .group_steps()
        .filter(|event| event.action == Action::Delete && event.stage == 0)
        .map(|event| (event.group, event.cause))
        .collect();
    assert_eq!(first, [(3, Cause::Groups), (2, Cause::Groups), (1, Cause::Update)]);
}

// A plugin that cannot be built: existing pods stay, missing ones are not created, and pods that
// become ready are not noticed.
#[test]
fn an_invalid_plugin_blocks_new_pods_but_not_scale_down() {
    let mut old = four(1, "schedulerName: other,");
    old.replicas = 2;
    let mut new = old.clone();
    new.rollout.push_str("plugins: [{name: nobody}],");
    new.replicas = 3;
    new.roles[0].0 = 2;
    let from = old.read(&KTHENA_HEAD);
    assert_eq!(
        requests(&play(&KTHENA_HEAD, &[&from], &new.read(&KTHENA_HEAD), &[])),
        Vec::<String>::new()
    );
    new.replicas = 1;
    let down = play(&KTHENA_HEAD, &[&from], &new.read(&KTHENA_HEAD), &[]);
    assert_eq!(requests(&down), ["0 delete Pod s-1-r0-0-0", "0 delete Service s-1-r0-0-0"]);
}

// The annotation can come from the template or from a plugin, which overrides the template.
#[test]
fn deletion_costs_come_from_templates_and_plugins() {
    let serving = |replicas: i64, costs: [&str; 2], plugins: &str| {
        let role = |name: &str, cost: &str| {
            format!(
                "{{name: {name}, replicas: {replicas}, workerReplicas: 0, entryTemplate: {{metadata: {{annotations: {{controller.kubernetes.io/pod-deletion-cost: '{cost}'}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}}}"
            )
        };
        let text = format!(
            "{{metadata: {{name: s}}, spec: {{schedulerName: other, rolloutStrategy: {{type: RoleRollingUpdate}}, {plugins} template: {{roles: [{}, {}]}}}}}}",
            role("a", costs[0]),
            role("b", costs[1])
        );
        read(&text, &KTHENA_HEAD)
    };
    // A partition keeps `a-0` and `b-0` on the old template; the new replicas are cheaper to
    // delete, or dearer.
    let to_go = |plugins: &str| -> Vec<String> {
        let mut second = serving(2, ["1", "20"], plugins);
        for role in &mut second.roles {
            role.budget.partition = Some(crate::api::Field::new(
                crate::quantity::IntOrPercent::Int(1),
                role.name.origin,
            ));
        }
        let outcome = play(
            &KTHENA_HEAD,
            &[&serving(2, ["9", "9"], ""), &second],
            &serving(1, ["1", "20"], plugins),
            &[],
        );
        requests(&outcome).into_iter().take(2).collect()
    };
    assert_eq!(to_go(""), ["0 delete Pod s-0-a-1-0", "0 delete Pod s-0-b-0-0"]);
    let plugin = "plugins: [{name: demo-pod-tweaks, config: {annotations: {controller.kubernetes.io/pod-deletion-cost: '5'}}}],";
    assert_eq!(to_go(plugin), ["0 delete Pod s-0-a-1-0", "0 delete Pod s-0-b-1-0"]);
}

/// Groups that take new ordinals have columns of their own, and the last row is the end.
#[test]
fn every_group_that_exists_is_shown_with_its_ordinal() {
    let shape = |image| Shape { replicas: 3, rollout: String::new(), roles: vec![(1, 0, image)] };
    for (policy, columns) in [(&KTHENA_V1_0, 0..5), (&KTHENA_HEAD, 0..3)] {
        let (old, new) = (shape(1).read(policy), shape(2).read(policy));
        let outcome = simulate(&Scenario::of_change(policy, &old, &new));
        let trace = &outcome.trace;
        assert_eq!(trace.columns, columns.collect::<Vec<i64>>());
        for row in &trace.rows {
            assert_eq!(row.groups.len(), trace.columns.len());
            let runs = |(_, status): &(Cell, GroupStatus)| *status == GroupStatus::Running;
            let running = row.groups.iter().filter(runs).count();
            assert_eq!(i64::try_from(running), Ok(row.available), "{:?}", row.stage);
        }
        let last = trace.rows.last().expect("rows");
        assert_eq!((last.stage, last.available), (None, 3));
    }
}

//! What the placement of a change leaves open: pods and objects that are not judged, and tolerations
//! that nothing in the input shows.
//!
//! What was open in the state before is no news of the change. No ✓ stands where something is open.

use super::{
    AssumedToleration, At, NotJudged, OpenComponents, PlacementOptions, SettledWorkload, Together,
    together_after,
};
use crate::api::Views;
use crate::pipeline::plan::Planner;
use crate::pipeline::planned::{Depth, Planned};
use crate::pipeline::roll::{ServiceRollout, changed, created_again};
use crate::pipeline::running::OwnerName;
use crate::workspace::World;
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;

/// What a placement leaves open.
#[derive(Clone, Debug, Default)]
pub struct Doubts {
    /// A part of the input was not read.
    pub incomplete: bool,
    /// What is not judged.
    pub not_judged: Vec<NotJudged>,
    /// The components whose new pods are among these.
    pub open: OpenComponents,
    /// Tolerations of pods that nothing in the input shows.
    pub assumed: Vec<AssumedToleration>,
    /// Workloads of which pods are created whose server will not start, and why.
    pub stopped: Vec<(EcoString, EcoString)>,
}

impl Doubts {
    /// Those of a placement after a change of what was placed `before`. What is open of the new pods of
    /// the change may have been open of those that they replace: only what stays open where nothing
    /// changes is no news.
    pub fn new(placed: &Together, before: Option<(&World, &Together)>, at: At) -> Self {
        let was_open =
            |one: &NotJudged| before.is_some_and(|(_, earlier)| earlier.not_judged.contains(one));
        // Placed once more only where it matters.
        let unchanged = before.filter(|_| placed.not_judged.iter().any(was_open));
        let unchanged =
            unchanged.and_then(|(world, earlier)| settle(world, at, Some(earlier), None));
        let stays_open = |one: &NotJudged| {
            unchanged.as_ref().is_some_and(|unchanged| unchanged.not_judged.contains(one))
        };
        let was_assumed = |one: &AssumedToleration| {
            let mut assumed = before.into_iter().flat_map(|(_, earlier)| &earlier.assumed);
            assumed.any(|other| other.resource == one.resource && other.decides >= one.decides)
        };
        let not_judged = placed.not_judged.iter().filter(|one| !stays_open(one));
        let assumed = placed.assumed.iter().filter(|one| !was_assumed(one));
        Self {
            incomplete: false,
            not_judged: not_judged.cloned().collect(),
            open: OpenComponents::new(),
            assumed: assumed.cloned().collect(),
            stopped: Vec::new(),
        }
    }

    /// Those of a change of which the rollouts are known, of `only` this one where one changes; none if
    /// no node reports its resources.
    pub fn of_rollout(
        before: Option<&World>,
        now: &World,
        rolled: &[ServiceRollout],
        only: Option<&ServiceRollout>,
    ) -> Self {
        let earlier =
            before.and_then(|before| Some((before, settle(before, At::Min, None, None)?)));
        let earlier = earlier.as_ref().map(|(world, placed)| (*world, placed));
        let placed = earlier.map(|(_, placed)| placed);
        let placed = settle(now, At::Min, placed, Some(&created_again(rolled)));
        let Some(placed) = placed else { return Self::default() };
        let mut doubts = Self::new(&placed, earlier, At::Min);
        doubts.stopped = stopped(now, &changed(rolled));
        if let Some(only) = only {
            // Everything else is as it was before this change: what is open of it is no news.
            let name = EcoString::from(only.full_name());
            doubts.not_judged.retain(|line| !line.is_of_others(&name));
        }
        if !doubts.not_judged.is_empty() {
            doubts.open = placed.open;
        }
        doubts
    }

    /// Whether nothing open could turn the answer.
    pub fn is_certain(&self) -> bool {
        !self.incomplete
            && self.not_judged.is_empty()
            && self.stopped.is_empty()
            && !self.assumed.iter().any(|toleration| toleration.decides)
    }
}

/// The workloads among these whose server will not start, and why.
pub fn stopped(world: &World, names: &BTreeSet<EcoString>) -> Vec<(EcoString, EcoString)> {
    if names.is_empty() {
        return Vec::new();
    }
    let (planner, catalog) = (Planner::of(world), &world.catalog);
    let services: Vec<&Views> = catalog
        .services()
        .filter(|views| {
            let service = views.followed();
            names.contains(&eco_format!("{}/{}", service.namespace, service.name()))
        })
        .collect();
    let planned = planner.plan_all(&services, Depth::Plan);
    let of_service = |planned: &Planned<'_>| {
        let why = planned.components.iter().find_map(|component| component.stopped.clone())?;
        Some((eco_format!("{}", planned.service), why))
    };
    let planned = planned.iter().filter(|planned| planned.error.is_none());
    let mut all: Vec<(EcoString, EcoString)> = planned.filter_map(of_service).collect();
    // All of them are judged, services apart, so that it is asked only where one is among the names.
    if names.iter().any(|name| OwnerName::of(name).kind.is_some()) {
        let workloads = planner.engines().of_workloads(catalog).stopped.into_iter();
        // `Deployment ml/chat`.
        let is_named = |name: &EcoString| {
            names.contains(&EcoString::from(name.as_str().replacen(' ', "/", 1)))
        };
        all.extend(workloads.filter(|(name, _)| is_named(name)));
    }
    all
}

/// Places everything of a state; what was placed `before` runs where it was placed, until its pods are
/// created `again`. `None` if no node reports its resources.
pub fn settle(
    world: &World,
    at: At,
    before: Option<&Together>,
    again: Option<&BTreeSet<EcoString>>,
) -> Option<Together> {
    let planner = Planner::of(world);
    let options = PlacementOptions { settled: true, at, again, ..PlacementOptions::default() };
    let before: &[SettledWorkload] = before.map_or(&[], |before| &before.settled);
    together_after(&planner, &mut Vec::new(), &mut Vec::new(), options, before)
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};
    use serde_json::Value;

    const POLICY: &str = "---\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  validationFailureAction: Enforce\n  rules: [{name: r, match: {any: [{resources: {kinds: [Pod]}}]}, validate: {message: no, pattern: {metadata: {labels: {x: '?*'}}}}}]\n";

    fn deployment(name: &str, template: &str) -> String {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: ml}}\nspec: {{replicas: 2, selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, image: x, {template}resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n"
        )
    }

    #[test]
    fn a_server_that_will_not_start_is_not_confirmed() {
        let of = |size: i64| {
            gpu_node("n", 8, "")
                + &deployment("a", &format!("args: [--tensor-parallel-size, '{size}'], "))
                    .replace("image: x", "image: 'vllm/vllm-openai:v0.9.0'")
        };
        for size in [1, 2] {
            let (before, after) = (of(1) + "---\n", of(size));
            let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
            for (command, path) in [
                ("rollout deploy/a", "/stopped/0/name"),
                ("rollout --all", "/stopped/0/name"),
                ("diff", "/capacity/stopped/0/name"),
            ] {
                let base = if size == 1 { "" } else { " --base {before.yaml}" };
                let base = if command == "diff" { " --base {before.yaml}" } else { base };
                let run = format!("{command} --no-builtin{base} -f {{after.yaml}}");
                let ran = ome_on(&format!("{run} -o json"), &files);
                let expected = (size == 2).then_some("Deployment ml/a");
                assert_eq!(ran.at(path), Value::from(expected), "{run}: {}", ran.out);
                let page = ome_on(&run, &files).out;
                let stops = page.contains("! the server of Deployment ml/a will not start");
                assert_eq!(stops, size == 2, "{page}");
                assert!(size == 1 || !page.contains('✓'), "{page}");
            }
        }
    }

    /// What `rollout` of one and of all, and `diff`, do not judge of a change, and whether any ✓ is left.
    fn open(before: &str, after: &str) -> (Vec<Value>, bool) {
        let nodes = gpu_node("n", 8, "") + POLICY;
        let (before, after) = (nodes.clone() + before, nodes + after);
        let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
        let run = |command: &str| {
            ome_on(
                &format!("{command} --no-builtin --base {{before.yaml}} -f {{after.yaml}}"),
                &files,
            )
        };
        let pods = |command: &str, path: &str| run(command).at(path);
        let found = vec![
            pods("rollout deploy/a -o json", "/notJudged/0/pods"),
            pods("rollout --all -o json", "/notJudged/0/pods"),
            pods("diff -o json", "/capacity/notJudged/0/pods"),
        ];
        let pages = ["rollout deploy/a", "rollout --all", "diff"].map(|command| run(command).out);
        (found, pages.iter().any(|page| page.contains('✓')))
    }

    #[test]
    fn new_pods_of_a_change_meet_what_those_met_that_they_replace() {
        let a = |template: &str| deployment("a", template);
        let env = "env: [{name: X, value: one}], ";
        for (before, after, pods) in [
            // The Deployment is new, or its template is another one, also where its requests are not.
            (String::new(), a(""), Some(2)),
            (a(""), a(env), Some(2)),
            // What runs and does not change was admitted.
            (a("") + &deployment("b", ""), a(env) + &deployment("b", ""), Some(2)),
            (a(""), a(""), None),
        ] {
            let (found, confirms) = open(&before, &after);
            assert_eq!(found, vec![Value::from(pods); 3], "{before} {after}");
            assert_eq!(confirms, pods.is_none(), "{before} {after}");
        }
    }

    #[test]
    fn the_rollout_of_one_says_its_doubts_once_and_none_of_others() {
        let of = |name: &str, scheduler: &str| {
            deployment(name, "").replacen(
                "{containers",
                &format!("{{schedulerName: {scheduler}, containers"),
                1,
            )
        };
        let text = gpu_node("n", 8, "")
            + &of("a", "hami-scheduler")
            + &of("b", "default-scheduler")
            + &of("c", "other");
        let run = |command: &str| {
            let ran =
                ome_on(&format!("{command} --no-builtin -f {{in.yaml}}"), &[("in.yaml", &text)]);
            ["schedules these pods", "hami-scheduler`", "✓"]
                .map(|word| ran.out.matches(word).count())
        };
        assert_eq!(run("rollout deploy/a"), [1, 1, 0]);
        assert_eq!(run("rollout deploy/b"), [0, 0, 1]);
        assert_eq!(run("rollout deploy/c"), [1, 0, 0]);
        assert_eq!(run("rollout --all"), [2, 1, 0]);
    }
}

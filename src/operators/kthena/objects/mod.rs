//! The objects that the Kthena controller creates for a new ModelServing.
//!
//! In: a ModelServing with its defaults. Out: PodGroups, ControllerRevisions, pods and headless
//! Services as the controller sends them, before the API server fills in its own defaults. Owner
//! references are left out: the uid is unknown offline.

pub mod names;
pub(crate) mod overrides;
pub mod plugins;
pub mod pod_group;
pub(crate) mod pods;
pub mod revision;
pub mod rules;

use super::booster;
use crate::api::ModelServing;
use crate::diag::{Code, Diagnostic};
use crate::objects::accept::judge_role_pod;
use crate::objects::build::node;
use crate::operators::kthena::rules::KthenaRelease;
use crate::schema::{self, Library};
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
pub use overrides::{Expanded, Replaced};
use plugins::Chain;
use pods::{Common, Prepared};
use std::convert::Infallible;

/// API version of a ModelServing.
pub const API_VERSION: &str = "workload.serving.volcano.sh/v1alpha1";

/// Most pods of a ModelServing that is expanded or simulated.
pub const MOST_PODS: i128 = 200_000;

/// The finding about a ModelServing that is too large to be looked at pod by pod.
pub fn too_many_pods(serving: &ModelServing) -> Option<Diagnostic> {
    let pods = serving.pods();
    // Groups without pods and roles of no group are counted out too.
    let what = if pods > MOST_PODS {
        format!("{pods} pods")
    } else {
        format!("{} pods if none of its counts were 0", serving.extent())
    };
    (serving.extent() > MOST_PODS).then(|| {
        Diagnostic::new(
            Code::TooManyPods,
            format!(
                "`{}` requests {what}; more than {MOST_PODS} are neither expanded nor simulated",
                serving.name()
            ),
        )
        .at(serving.replicas.span().unwrap_or_else(|| serving.object.name_span()))
        .path("spec.replicas")
        .object(serving.object.id.to_string())
        .help("check the replicas")
    })
}

/// The objects of [`expand_each`], as a list.
pub fn expand(
    serving: &ModelServing,
    policy: &KthenaRelease,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Expanded> {
    let mut objects = Vec::new();
    let each = &mut |object| -> Result<(), Infallible> {
        objects.push(object);
        Ok(())
    };
    match expand_each(serving, policy, diagnostics, each) {
        Ok(()) => objects,
    }
}

/// Calls `each` with every object that the controller creates for a new ModelServing, in the order
/// of its requests, with Services at the end; one at a time, because there can be many thousands.
/// Objects that are missing because of a defect of the controller are findings.
///
/// # Errors
/// The first error of `each`, which ends the loop.
pub fn expand_each<E>(
    serving: &ModelServing,
    policy: &KthenaRelease,
    diagnostics: &mut Vec<Diagnostic>,
    each: &mut dyn FnMut(Expanded) -> Result<(), E>,
) -> Result<(), E> {
    // The controller sends what the structs hold: empty fields are left out.
    let mut each = |mut object: Expanded| {
        crate::objects::prune::tidy(&mut object.node);
        each(object)
    };
    let replicas = serving.replicas.value;
    if replicas == 0 {
        if policy.controller_revisions {
            diagnostics.push(
                defect(
                    serving,
                    "with 0 replicas at creation every reconcile fails: no status is ever written",
                )
                .at(serving.replicas.span()),
            );
        }
        return Ok(());
    }
    let chain = Chain::of(serving);
    if let Err(broken) = &chain {
        let message = format!("no pod of `{}` is ever created: {}", serving.name(), broken.problem);
        diagnostics.push(
            Diagnostic::new(Code::InvalidValue, message)
                .severity(crate::diag::Severity::Warning)
                .at(broken.plugin.name.span())
                .object(serving.object.id.to_string())
                .help(format!("the plugins are {}", plugins::REGISTERED.join(", "))),
        );
    }
    let roles = serving.roles.iter().map(|role| &role.node);
    let revision = revision::of_roles(roles, policy.role_struct);
    let has_gang = pod_group::has_pod_group(serving, policy);
    let gang = pod_group::gang(serving, policy);
    // Once for all groups: the hash of a role prints its whole struct.
    let prepared: Vec<Prepared<'_>> =
        serving.roles.iter().map(|role| Prepared::new(serving, role, policy)).collect();
    let partition = serving.budget.protected(replicas);
    for group in 0..replicas {
        // The snapshot is written before the first group that the partition does not protect.
        if policy.controller_revisions && group == partition {
            each(Expanded::of(controller_revision(serving, &revision)))?;
        }
        if has_gang {
            each(Expanded::of(pod_group::pod_group(serving, &gang, group, policy)))?;
        }
        // Only a pod needs the chain.
        let chain = match &chain {
            Ok(chain) => chain,
            // A group without pods needs no chain, and the next one is created.
            Err(_) if serving.pods_per_group() == 0 => continue,
            Err(_) => break,
        };
        let common = Common { revision: &revision, chain, gang: has_gang, policy };
        for (role, prepared) in serving.roles.iter().zip(&prepared) {
            for ordinal in 0..role.replicas.value {
                let pods = pods::pods(serving, prepared, common, group, ordinal);
                pods.into_iter().try_for_each(&mut each)?;
            }
        }
    }
    // No group reached the place where the snapshot is written.
    if policy.controller_revisions && partition >= replicas && chain.is_ok() {
        let message = "a partition of all replicas at creation leaves no ControllerRevision: a protected group comes back with the new templates";
        diagnostics.push(
            defect(serving, message).at(serving
                .budget
                .partition
                .as_ref()
                .and_then(crate::api::Field::span)),
        );
    }
    let with_workers = || serving.roles.iter().filter(|role| role.worker.is_some());
    // Services come at the end of the reconcile, after all groups.
    for group in (0..replicas).filter(|_| chain.is_ok()) {
        for role in with_workers() {
            for ordinal in 0..role.replicas.value {
                each(Expanded::of(pods::service(serving, role, group, ordinal)))?;
            }
        }
    }
    Ok(())
}

/// One pod that represents all pods of a role's template.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The role, by its place.
    role: usize,
    template: &'static str,
    /// The pod.
    pub pod: Node,
}

/// Returns entry and worker of the last replica of every role in the last group: their names are
/// the longest, and pods of a template differ in names and numbers only.
pub fn samples(serving: &ModelServing, policy: &KthenaRelease) -> Vec<Sample> {
    let Ok(chain) = Chain::of(serving) else { return Vec::new() };
    if serving.replicas.value <= 0 {
        return Vec::new();
    }
    let revision = EcoString::new();
    let gang = pod_group::has_pod_group(serving, policy);
    let common = Common { revision: &revision, chain: &chain, gang, policy };
    let mut found = Vec::new();
    for (index, role) in serving.roles.iter().enumerate() {
        if role.replicas.value <= 0 {
            continue;
        }
        // One worker is enough: all are made from one template.
        let mut one = role.clone();
        one.workers.value = one.workers.value.min(1);
        let prepared = Prepared::new(serving, &one, policy);
        let (group, ordinal) = (serving.replicas.value - 1, role.replicas.value - 1);
        let pods = pods::pods(serving, &prepared, common, group, ordinal);
        let templates = ["entryTemplate", "workerTemplate"];
        found.extend(templates.into_iter().zip(pods).map(|(template, mut pod)| {
            crate::objects::prune::tidy(&mut pod.node);
            Sample { role: index, template, pod: pod.node }
        }));
    }
    found
}

/// Returns the reasons why a server rejects the pods of a ModelServing that it accepts.
pub fn refusals(serving: &ModelServing, policy: &KthenaRelease) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for sample in samples(serving, policy) {
        let place = (sample.role, sample.template);
        judge_role_pod(&serving.object.node, place, &sample.pod, &mut found);
    }
    if let Some(booster) = &serving.booster {
        for finding in &mut found {
            booster::place(finding, &booster.object);
        }
    }
    found
}

fn defect(serving: &ModelServing, message: &str) -> Diagnostic {
    Diagnostic::new(Code::KthenaDefect, format!("`{}`: {message}", serving.name()))
        .object(serving.object.id.to_string())
}

fn controller_revision(serving: &ModelServing, revision: &EcoString) -> Node {
    let rule = &rules::CONTROLLER_REVISION;
    let ty = schema::kind(API_VERSION, "ModelServing")
        .and_then(|schema| schema.root().at(&["spec", "template", "roles"]))
        .and_then(schema::Type::item);
    let roles = serving.roles.iter().map(|role| {
        let stored = ty.and_then(|item| schema::marshal(&role.node, &item.ty, Library::V0_34).ok());
        stored.unwrap_or_else(|| role.node.clone())
    });
    let roles = Node::list(roles, Origin::Derived(rule));
    node!(rule; {
        apiVersion: "apps/v1",
        kind: "ControllerRevision",
        metadata: {
            name: (eco_format!("{}-{revision}", serving.name())),
            namespace: (&serving.namespace),
            labels: {
                "modelserving.volcano.sh/name": (serving.name()),
                "modelserving.volcano.sh/revision": revision,
            },
        },
        data: { data: (roles) },
        revision: 1,
    })
    .unwrap_or_else(|| Node::map(Origin::Derived(rule)))
}

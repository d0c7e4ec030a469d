//! A controller whose pods are placed by the caller: it returns the pods to create and delete, and
//! the caller reports which are ready and which were deleted. So ModelServings share nodes with
//! other changes.
//!
//! Nothing is recorded: the caller has every step.

use super::cluster::{Address, Cluster};
use super::document::Step;
use super::group::{Group, Status};
use super::target::{Id, Target};
use super::trace::{Cause, Reason, Trace};
use crate::api::{ModelServing, serving_names};
use crate::operators::kthena::rules::KthenaRelease;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::BTreeSet;

/// A pod of a ModelServing, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrivenPod(Address);

impl DrivenPod {
    /// The ordinal of its group.
    pub fn group(self) -> i64 {
        self.0.group
    }

    /// The ordinal of its role replica.
    pub fn replica(self) -> i64 {
        self.0.ordinal
    }

    /// It is a worker; else the entry of its replica.
    pub fn is_worker(self) -> bool {
        self.0.index != 0
    }
}

/// The requests of a controller.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// Pods that are to be.
    pub created: Vec<DrivenPod>,
    /// Pods that are to end.
    pub deleted: Vec<DrivenPod>,
}

impl Requests {
    /// Whether there are no requests.
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.deleted.is_empty()
    }
}

/// A group as it is now.
#[derive(Clone, Debug)]
pub struct Groups {
    /// It is of the revision that is requested.
    pub is_new: bool,
    /// It runs.
    pub runs: bool,
    /// It is being deleted.
    pub ends: bool,
    /// Its pods, those that end among them.
    pub pods: Vec<DrivenPod>,
}

/// A ModelServing with its controller.
pub struct Driven {
    cluster: Cluster,
    /// The spec that is applied.
    applied: Option<Node>,
    /// The group that the document waits for, and whether it is to come back first.
    waits: Option<(i64, bool)>,
}

impl std::fmt::Debug for Driven {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driven")
            .field("serving", &self.cluster.trace.serving)
            .finish_non_exhaustive()
    }
}

impl Driven {
    /// A ModelServing is applied where none was.
    pub fn new(serving: &ModelServing, policy: &'static KthenaRelease) -> Self {
        let mut trace = Trace { serving: serving.name().clone(), ..Trace::default() };
        let target = Target::new(serving, policy, policy.role_struct, &mut trace.names);
        let cluster = Cluster::new(policy, target, trace);
        let mut driven = Self { cluster, applied: None, waits: None };
        driven.apply(serving, policy);
        driven
    }

    /// Another version of it is applied, or another release of the controller starts.
    pub fn apply(&mut self, serving: &ModelServing, policy: &'static KthenaRelease) {
        let cluster = &mut self.cluster;
        // A controller that starts looks at everything, changed or not.
        // A new release hashes the same templates to another revision.
        if cluster.policy.role_struct != policy.role_struct {
            self.applied = None;
        }
        cluster.policy = policy;
        let names = &mut cluster.trace.names;
        let target = Target::new(serving, policy, policy.role_struct, names);
        let spec = serving.object.node.get("spec");
        cluster.apply(target, self.applied.as_ref(), spec);
        cluster.progress = super::cluster::Progress::default();
        self.applied = spec.cloned();
    }

    /// Marks groups as made of another revision than the requested one: only their running pods are
    /// known.
    pub fn outdate(&mut self, ordinals: &BTreeSet<i64>) {
        // A revision that no template has, so that it differs from every requested one.
        let old: Id = self.cluster.trace.names.id("running");
        for group in self.cluster.groups.iter_mut() {
            if !ordinals.contains(&group.ordinal) {
                continue;
            }
            group.revision = old;
            group.settled = false;
            for replica in group.roles.iter_mut().flat_map(|role| &mut role.replicas) {
                (replica.revision, replica.hash) = (old, old);
                replica.pods.iter_mut().for_each(|pod| pod.template = old);
            }
        }
        self.cluster.progress = super::cluster::Progress::default();
        self.cluster.queued = true;
    }

    /// Runs the controller until it has to wait.
    pub fn step(&mut self) -> Requests {
        if self.cluster.policy.reconciles {
            self.cluster.reconcile_all();
        } else {
            self.follow();
        }
        let cluster = &mut self.cluster;
        let deleted = std::mem::take(&mut cluster.ending);
        let created = std::mem::take(&mut cluster.starting);
        // A pod that was created and deleted in one step is never placed.
        let created = created.into_iter().filter(|at| {
            let pod = cluster.groups.get(at.group).and_then(|group| pod(group, *at));
            pod.is_some_and(|(ready, ends)| !ready && !ends)
        });
        Requests {
            created: created.map(DrivenPod).collect(),
            deleted: deleted.into_iter().map(DrivenPod).collect(),
        }
    }

    /// The document has one group under way at a time.
    fn follow(&mut self) {
        let cluster = &mut self.cluster;
        loop {
            if let Some((ordinal, comes_back)) = self.waits {
                let is_there = cluster.groups.get(ordinal).is_some();
                // Its pods are gone: only now is its ordinal free.
                if comes_back && !is_there {
                    cluster.owed_groups.clear();
                    cluster.make_group(ordinal, Cause::Update, Reason::OutdatedOrdinal);
                    self.waits = Some((ordinal, false));
                    return;
                }
                let ends = cluster
                    .groups
                    .get(ordinal)
                    .is_some_and(|group| group.status == Status::Deleting);
                if ends || !cluster.run_if_ready(ordinal) {
                    return;
                }
            }
            let Some(step) = cluster.next_step() else {
                self.waits = None;
                return;
            };
            let (ordinal, comes_back) = match step {
                Step::End(ordinal) => {
                    cluster.delete_group(ordinal, Cause::Groups, Reason::SurplusOrdinal);
                    (ordinal, false)
                }
                Step::Make(ordinal) => {
                    cluster.make_group(ordinal, Cause::Groups, Reason::MissingOrdinal);
                    (ordinal, false)
                }
                Step::Resize(ordinal) => {
                    cluster.resize_group(ordinal);
                    (ordinal, false)
                }
                Step::Remake(ordinal) => {
                    cluster.delete_group(ordinal, Cause::Update, Reason::OutdatedOrdinal);
                    (ordinal, true)
                }
            };
            self.waits = Some((ordinal, comes_back));
            // A step without pods is complete at once: the next one follows in the same turn.
            if !cluster.ending.is_empty() || !cluster.starting.is_empty() {
                return;
            }
        }
    }

    /// Reports that a deleted pod is gone.
    pub fn gone(&mut self, pod: DrivenPod) {
        self.cluster.pod_gone(pod.0);
    }

    /// Reports the loss of a pod that the controller did not delete: it was evicted.
    pub fn lost(&mut self, pod: DrivenPod) {
        let (cluster, at) = (&mut self.cluster, pod.0);
        if cluster.policy.reconciles {
            cluster.delete_pod(at, Cause::Recovery, Reason::Crashed);
            // The pod is gone already: it must not be asked for a second time.
            cluster.ending.retain(|address| *address != at);
            cluster.pod_gone(at);
        } else {
            cluster.delete_group(at.group, Cause::Recovery, Reason::PodLost);
            cluster.ending.retain(|address| *address != at);
            cluster.pod_gone(at);
            self.waits = Some((at.group, true));
        }
    }

    /// A pod is ready.
    pub fn ready(&mut self, pod: DrivenPod) {
        self.cluster.pod_ready(pod.0);
    }

    /// The groups, in the order of their ordinals.
    pub fn groups(&self) -> impl Iterator<Item = Groups> {
        let revision = self.cluster.target.revision;
        self.cluster.groups.iter().map(move |group| Groups {
            is_new: group.revision == revision,
            runs: group.status == Status::Running,
            ends: group.status == Status::Deleting,
            pods: group
                .replicas()
                .flat_map(|(role, replica)| {
                    replica.pods.iter().map(move |pod| {
                        let (group, ordinal, index) = (group.ordinal, replica.ordinal, pod.index);
                        DrivenPod(Address { group, role, ordinal, index })
                    })
                })
                .collect(),
        })
    }

    /// As many groups as are requested run, and those that no partition protects are of the
    /// revision that is requested.
    pub fn is_complete(&self) -> bool {
        let (groups, target) = (&self.cluster.groups, &self.cluster.target);
        // The partition protects places, and the groups are in the order of places.
        let protected = usize::try_from(target.partition).unwrap_or(usize::MAX);
        i64::try_from(groups.len()) == Ok(target.replicas)
            && groups.iter().all(|group| group.status == Status::Running)
            && groups.iter().skip(protected).all(|group| group.revision == target.revision)
    }

    /// The name of a pod.
    pub fn name(&self, pod: DrivenPod) -> EcoString {
        let (trace, at) = (&self.cluster.trace, pod.0);
        let group = serving_names::group(&trace.serving, at.group);
        let role = serving_names::role_id(trace.names.text(at.role), at.ordinal);
        serving_names::pod(&group, &role, at.index)
    }

    /// The name of its role.
    pub fn role(&self, pod: DrivenPod) -> &EcoString {
        self.cluster.trace.names.text(pod.0.role)
    }

    /// The hash of the role template that a pod is made from.
    pub fn template(&self, pod: DrivenPod) -> Option<&EcoString> {
        let at = pod.0;
        let replicas = self.cluster.groups.get(at.group)?.role(at.role);
        let replica = replicas.iter().find(|replica| replica.ordinal == at.ordinal)?;
        let pod = replica.pods.iter().find(|pod| pod.index == at.index)?;
        Some(self.cluster.trace.names.text(pod.template))
    }
}

/// Whether a pod is ready, and whether it ends; none where there is none.
fn pod(group: &Group, at: Address) -> Option<(bool, bool)> {
    let replica = group.role(at.role).iter().find(|replica| replica.ordinal == at.ordinal)?;
    let pod = replica.pods.iter().find(|pod| pod.index == at.index)?;
    Some((pod.ready, pod.terminating))
}

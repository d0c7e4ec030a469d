//! A StatefulSet of the input: its template, and the claims that each of its pods has.

use super::claim_templates::ClaimTemplates;
use super::pods::{PodPhase, Pods, Start};
use super::read::{number, revision_name};
use super::replica_set::Counts;
use super::stateful_set::{Member, OrdinalTemplate, StatefulSet};
use crate::cluster::schedule::{
    Admission, InvalidPod, NewClaim, PodId, PodTemplate, PodVolume, TemplateId, label_selector,
    labels,
};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::HashMap;
use std::sync::Arc;

/// The spec of a StatefulSet.
#[derive(Clone, Debug)]
pub struct StatefulSetSpec {
    name: EcoString,
    /// `spec.replicas`.
    pub replicas: usize,
    /// `ordinals.start`.
    pub first: usize,
    partition: usize,
    ordered: bool,
    on_delete: bool,
    /// A hash of the template.
    revision: EcoString,
    /// The pods, without what differs from one to the next.
    pod: Arc<PodTemplate>,
    /// How its pods start.
    pub start: Start,
    /// `volumeClaimTemplates`.
    pub claims: ClaimTemplates,
}

impl StatefulSetSpec {
    /// Reads an `apps/v1` StatefulSet.
    ///
    /// # Errors
    /// The first field that the API server would refuse.
    pub fn read(namespace: &str, object: &Node, admission: &Admission) -> Result<Self, InvalidPod> {
        let spec = object.get("spec").cloned().unwrap_or_else(|| Node::map(object.origin));
        let text = |keys: &[&str]| spec.at(keys).and_then(Node::scalar_text).unwrap_or_default();
        let name = object.at(&["metadata", "name"]).and_then(Node::scalar_text).unwrap_or_default();
        let template = spec.get("template").cloned().unwrap_or_else(|| Node::map(spec.origin));
        let labels = labels(template.at(&["metadata", "labels"]));
        let inner = template.get("spec").cloned().unwrap_or_else(|| Node::map(template.origin));
        let mut pod = PodTemplate::read(namespace, labels, &inner, admission)?;
        pod.owner = label_selector(spec.get("selector"))?;
        let claims = spec.items_of("volumeClaimTemplates");
        Ok(Self {
            replicas: number(spec.get("replicas"), 1),
            first: number(spec.at(&["ordinals", "start"]), 0),
            partition: number(spec.at(&["updateStrategy", "rollingUpdate", "partition"]), 0),
            ordered: text(&["podManagementPolicy"]) != "Parallel",
            on_delete: text(&["updateStrategy", "type"]) == "OnDelete",
            revision: revision_name(&template),
            start: Start::Ready,
            claims: ClaimTemplates::read(namespace, claims, admission),
            pod: Arc::new(pod),
            name,
        })
    }

    /// The name of the version of its template.
    pub fn revision(&self) -> &EcoString {
        &self.revision
    }

    /// `RollingUpdate` or `OnDelete`.
    pub fn strategy(&self) -> &'static str {
        if self.on_delete { "OnDelete" } else { "RollingUpdate" }
    }

    /// The lowest ordinal that an update reaches.
    pub fn partition(&self) -> usize {
        self.partition
    }

    /// The same spec as another version: the one of pods with this template.
    #[must_use]
    pub fn version(mut self, revision: EcoString, pod: Arc<PodTemplate>) -> Self {
        (self.revision, self.pod) = (revision, pod);
        self
    }

    /// The same spec, by which no pod is replaced until another one is applied.
    #[must_use]
    pub fn resting(mut self) -> Self {
        self.on_delete = true;
        self
    }

    /// The template of the pod with an ordinal.
    pub fn member(&self, ordinal: usize) -> PodTemplate {
        let mut pod = PodTemplate::clone(&self.pod);
        pod.name = eco_format!("{}-{ordinal}", self.name);
        pod.labels.insert("statefulset.kubernetes.io/pod-name".into(), pod.name.clone());
        pod.labels.insert("apps.kubernetes.io/pod-index".into(), eco_format!("{ordinal}"));
        // Most sets have none, and their templates stay alike up to the name.
        if !self.claims.is_empty() {
            let claims: Vec<PodVolume> = self.claims.volumes(&pod.name).collect();
            pod.volumes.extend(claims);
        }
        pod
    }

    /// The template of any of its pods, where they have no claims of their own.
    pub fn any(&self) -> PodTemplate {
        let mut pod = PodTemplate::clone(&self.pod);
        pod.name = eco_format!("{}-*", self.name);
        pod
    }

    /// The template without what differs.
    pub fn pod(&self) -> &Arc<PodTemplate> {
        &self.pod
    }

    /// The template without what differs, to complete it.
    pub fn pod_mut(&mut self) -> &mut Arc<PodTemplate> {
        &mut self.pod
    }

    /// The claims that are made before the pod with an ordinal.
    pub fn claims_of(&self, ordinal: usize) -> Vec<NewClaim> {
        self.claims.of(&eco_format!("{}-{ordinal}", self.name))
    }
}

/// A StatefulSet with its pods.
#[derive(Clone, Debug)]
pub(super) struct StatefulWorkload {
    pub(super) spec: StatefulSetSpec,
    set: StatefulSet,
    /// Versions of the spec by revision.
    versions: HashMap<EcoString, StatefulSetSpec>,
    templates: HashMap<(EcoString, usize), TemplateId>,
    refused: Option<EcoString>,
}

impl StatefulWorkload {
    pub(super) fn new(spec: StatefulSetSpec) -> Self {
        let set = StatefulSet::new(spec.first, spec.replicas, spec.revision.clone());
        Self { spec, set, versions: HashMap::new(), templates: HashMap::new(), refused: None }
    }

    /// Pods that exist, by ordinal.
    pub(super) fn pods(&self) -> impl Iterator<Item = PodId> + '_ {
        self.set.members.values().map(|member| member.pod)
    }

    /// Why a pod or a claim was not created.
    pub(super) fn refused(&self) -> Option<&EcoString> {
        self.refused.as_ref()
    }

    /// Takes over pods that run before the simulation begins, each with its ordinal.
    pub(super) fn adopt(&mut self, spec: &StatefulSetSpec, pods: &[(usize, PodId)]) {
        self.versions.insert(spec.revision.clone(), spec.clone());
        for (ordinal, pod) in pods {
            self.set.adopt(*ordinal, *pod, spec.revision.clone());
        }
    }

    /// Pods of other versions than that of the template, and of this version.
    pub(super) fn counts(&self, pods: &Pods) -> (Counts, Counts) {
        let (mut old, mut new) = (Counts::default(), Counts::default());
        for member in self.set.members.values() {
            let counts = if member.revision == self.spec.revision { &mut new } else { &mut old };
            counts.see(pods.phase(member.pod));
        }
        // A pod that waits for its turn is none that anything refuses.
        let replicas = i64::try_from(self.spec.replicas).unwrap_or(i64::MAX);
        let missing = replicas - old.active() - new.active() - old.terminating - new.terminating;
        let missing = if self.refused.is_some() { missing.max(0) } else { 0 };
        (old.wanted, new.wanted) = (old.active(), new.active() + missing);
        (old, new)
    }

    /// Whether all pods that the update reaches have the version of the template, and all are ready.
    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        let done = |(ordinal, member): (&usize, &Member)| {
            // `kubectl rollout status`: "partitioned roll out complete".
            let is_reached = *ordinal >= self.spec.first + self.spec.partition;
            pods.phase(member.pod) == PodPhase::Ready
                && (self.spec.on_delete || !is_reached || member.revision == self.spec.revision)
        };
        self.set.members.len() == self.spec.replicas && self.set.members.iter().all(done)
    }

    /// Runs the controller once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        let Self { spec, set, versions, templates, refused } = self;
        versions.insert(spec.revision.clone(), spec.clone());
        (set.first, set.replicas, set.partition) = (spec.first, spec.replicas, spec.partition);
        (set.ordered, set.on_delete) = (spec.ordered, spec.on_delete);
        set.revise(spec.revision.clone());
        let mut problem = None;
        let changed = set.sync(pods, |pods, ordinal, revision| {
            // Ordinals below the partition come back from the spec of their own revision.
            let version = versions.get(revision).unwrap_or(spec);
            // Claims come first: without them the controller creates no pod.
            if let Err(why) = claim_all(pods, version, ordinal) {
                problem = Some(why);
                return None;
            }
            let entry = templates.entry((revision.clone(), ordinal));
            let template = *entry
                .or_insert_with(|| pods.scheduler.template(Arc::new(version.member(ordinal))));
            Some(OrdinalTemplate { template, start: version.start })
        });
        let name = &spec.name;
        let of_pod = set.refused.take().map(|why| {
            // The answer quotes the name of the pod that it refuses.
            let quoted = why.split('"').nth(1).unwrap_or_default();
            eco_format!("Create Pod {quoted} in StatefulSet {name} failed error: {why}")
        });
        *refused = problem.or(of_pod);
        changed
    }
}

/// Creates the claims of a pod.
fn claim_all(pods: &mut Pods, spec: &StatefulSetSpec, ordinal: usize) -> Result<(), EcoString> {
    let set = &spec.name;
    for claim in spec.claims_of(ordinal) {
        // A provisioner is part of the cluster.
        let claim = NewClaim { settles: false, ..claim };
        let name = &claim.name;
        pods.scheduler.create_claim(&claim).map_err(|why| {
            if claim.refused.is_some() {
                eco_format!(
                    "Create Pod {set}-{ordinal} in StatefulSet {set} failed error: failed to create \
                     PVC {name}: {why}"
                )
            } else {
                eco_format!(
                    "Create Claim {name} for Pod {set}-{ordinal} in StatefulSet {set} failed error: \
                     {why}"
                )
            }
        })?;
    }
    Ok(())
}

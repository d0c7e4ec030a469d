//! The claims of a cluster with their allocations, and everything else that is known of devices.

use super::objects::{DeviceSpec, Reach, Selectors, Slice, class};
use super::pools::{Numbers, Pools};
use super::{ClaimId, DeviceId};
use crate::api::was_in_cluster;
use crate::cluster::Machine;
use crate::cluster::admission::{Ledger, Receipt, Usage};
use crate::cluster::schedule::fields::{items, text};
use crate::cluster::schedule::ids::PodId;
use crate::cluster::schedule::pod::{ClaimSource, PodClaim, PodTemplate};
use crate::cluster::schedule::selectors::node_terms;
use crate::schema::is_refused_claim;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Devices of a claim.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    /// The request, the device, and whether it is used beside others.
    pub(super) devices: Vec<(EcoString, DeviceId, bool)>,
    pub(super) nodes: Vec<Reach>,
}

/// A ResourceClaim.
#[derive(Clone, Debug, Default)]
pub(super) struct Claim {
    pub(super) namespace: EcoString,
    pub(super) name: EcoString,
    /// It exists; claims that pods only name do not.
    pub(super) exists: bool,
    pub(super) spec: Arc<DeviceSpec>,
    pub(super) allocation: Option<Allocation>,
    /// The devices are chosen for a pod that waits for a volume: its object does not have them yet.
    pub(super) pending: bool,
    /// Pods that use it.
    pub(super) users: Vec<PodId>,
    /// Pods that are not known and use it.
    strangers: usize,
    pub(super) deleting: bool,
    /// It was made for a pod, and goes with it.
    of_pod: bool,
    /// It was made for a pod that is not known yet: the name of the claim in the pod.
    made_for: Option<EcoString>,
    receipt: Option<Receipt>,
}

impl Claim {
    pub(super) fn is_reserved(&self) -> bool {
        !self.users.is_empty() || self.strangers > 0
    }

    /// The devices that its object has.
    fn stated(&self) -> Option<&Allocation> {
        self.allocation.as_ref().filter(|_| !self.pending)
    }
}

/// A claim as its object shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimDevices {
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// Made for one pod.
    pub of_pod: bool,
    /// Request, pool and device, of an allocated claim.
    pub devices: Option<Vec<(EcoString, EcoString, EcoString)>>,
    /// Pods that use it.
    pub users: Vec<PodId>,
    /// It is being deleted.
    pub deleting: bool,
}

/// What is known of the devices of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Slices in the order of their names.
    slices: BTreeMap<EcoString, Slice>,
    pub(super) all: Vec<Slice>,
    pub(super) classes: BTreeMap<EcoString, Selectors>,
    /// A DeviceTaintRule keeps pods from devices, which ones is not evaluated.
    tainted: bool,
    templates: BTreeMap<(EcoString, EcoString), Arc<DeviceSpec>>,
    pub(super) claims: Vec<Claim>,
    names: HashMap<(EcoString, EcoString), ClaimId>,
    pub(super) numbers: Numbers,
    pub(super) pools: Pools,
    /// How many claims use a device.
    pub(super) used: HashMap<DeviceId, usize>,
    /// Answers of selectors, by the address of the selector and the number of the device.
    pub(super) verdicts: RefCell<HashMap<(usize, usize), Result<bool, EcoString>>>,
    /// The namespaces that were read, and whether they allow `adminAccess`.
    admin: BTreeMap<EcoString, bool>,
    /// Everything of a cluster was read: what is not there does not exist.
    complete: bool,
    /// Devices or claims of a cluster were read: all claims are.
    knows_claims: bool,
    /// Claims and templates that the server refuses.
    refused: BTreeSet<(EcoString, EcoString)>,
}

impl Devices {
    /// It is known which claims exist, even if there is none.
    pub fn complete(&mut self) {
        (self.complete, self.knows_claims) = (true, true);
    }

    /// Whether a kind is one of devices.
    pub fn reads(kind: &str) -> bool {
        matches!(
            kind,
            "ResourceSlice"
                | "DeviceClass"
                | "DeviceTaintRule"
                | "ResourceClaim"
                | "ResourceClaimTemplate"
        )
    }

    /// Adds an object, or replaces it; others than those of devices change nothing. Returns false
    /// for an object that the server refuses.
    pub fn set(&mut self, object: &Node) -> bool {
        let name = text(object.at(&["metadata", "name"]));
        let namespace = text(object.at(&["metadata", "namespace"]));
        let namespace = if namespace.is_empty() { "default".into() } else { namespace };
        match text(object.get("kind")).as_str() {
            "ResourceSlice" => {
                self.slices.insert(name, Slice::read(object));
                self.all = self.slices.values().cloned().collect();
                self.pools.forget();
            }
            // A server has the kind only where the gate DRADeviceTaintRules is on.
            "DeviceTaintRule" => {
                let effect = text(object.at(&["spec", "taint", "effect"]));
                self.tainted |= matches!(effect.as_str(), "NoSchedule" | "NoExecute");
                return true;
            }
            "DeviceClass" => match class(object) {
                Some(selectors) => _ = self.classes.insert(name, selectors),
                None => return false,
            },
            "ResourceClaimTemplate" => {
                let spec = object.at(&["spec", "spec"]).map(DeviceSpec::read).unwrap_or_default();
                if is_refused_claim(object) || self.refuses(&namespace, &spec) {
                    self.refused.insert((namespace, name));
                    return false;
                }
                self.templates.insert((namespace, name), Arc::new(spec));
            }
            "ResourceClaim" => {
                let spec = object.get("spec").map(DeviceSpec::read).unwrap_or_default();
                if is_refused_claim(object) || self.refuses(&namespace, &spec) {
                    self.refused.insert((namespace, name));
                    return false;
                }
                self.set_claim(&namespace, &name, object, spec);
            }
            "Namespace" => {
                let key = "resource.kubernetes.io/admin-access";
                let allows = text(object.at(&["metadata", "labels", key])) == "true";
                self.admin.insert(name, allows);
                return true;
            }
            _ => return true,
        }
        // Keyed by the addresses of what was replaced.
        self.verdicts.get_mut().clear();
        // Manifests have the claims of one author: a chart or another repository may make more. Only
        // drivers write slices, so that with them the devices of a cluster were read, claims included.
        let kind = text(object.get("kind"));
        self.knows_claims |= kind == "ResourceSlice" || was_in_cluster(object);
        true
    }

    fn refuses(&self, namespace: &EcoString, spec: &DeviceSpec) -> bool {
        spec.is_admin() && self.admin.get(namespace) == Some(&false)
    }

    /// Whether a claim or a template that was not read does not exist.
    fn lacks(&self, namespace: &EcoString, name: &EcoString) -> bool {
        self.knows_claims || self.refused.contains(&(namespace.clone(), name.clone()))
    }

    /// Whether devices are known: both the classes of the claims and what drivers offer.
    pub(super) fn knows_devices(&self) -> bool {
        self.complete || !(self.slices.is_empty() || self.classes.is_empty())
    }

    fn set_claim(
        &mut self,
        namespace: &EcoString,
        name: &EcoString,
        object: &Node,
        spec: DeviceSpec,
    ) {
        let id = self.claim(namespace, name);
        self.deallocate(id);
        let results = object.at(&["status", "allocation", "devices", "results"]);
        let selector = object.at(&["status", "allocation", "nodeSelector"]);
        let terms = selector.map(|selector| Reach::Terms(node_terms(selector)));
        let allocation = object.at(&["status", "allocation"]).map(|_| {
            let result = |allocated: &Node| {
                let of = |key: &str| text(allocated.get(key));
                let device = self.numbers.of(&of("driver"), &of("pool"), &of("device"));
                let admin = allocated.get("adminAccess").and_then(Node::as_bool) == Some(true);
                (of("request"), device, admin)
            };
            let devices = results.map(Node::items).unwrap_or_default().iter().map(result).collect();
            Allocation { devices, nodes: terms.into_iter().collect() }
        });
        let users = object.get("status").map(|status| items(status, "reservedFor").len());
        let resource_claim = &mut self.claims[id];
        resource_claim.exists = true;
        resource_claim.spec = Arc::new(spec);
        resource_claim.strangers = users.unwrap_or(0);
        resource_claim.deleting = object.at(&["metadata", "deletionTimestamp"]).is_some();
        let pod_claim_name = ["metadata", "annotations", "resource.kubernetes.io/pod-claim-name"];
        resource_claim.made_for = object.at(&pod_claim_name).and_then(Node::scalar_text);
        if let Some(allocation) = allocation {
            self.allocate(id, allocation);
        }
    }

    /// Deletes a claim: one that pods use stays until they are gone, and no new pod may use it.
    pub fn delete(&mut self, namespace: &EcoString, name: &EcoString) {
        let id = self.claim(namespace, name);
        let resource_claim = &mut self.claims[id];
        resource_claim.deleting = true;
        resource_claim.exists &= resource_claim.is_reserved();
    }

    pub(super) fn claim(&mut self, namespace: &EcoString, name: &EcoString) -> ClaimId {
        let next = self.claims.len();
        let key = (namespace.clone(), name.clone());
        let id = *self.names.entry(key).or_insert(next);
        if id == next {
            self.claims.push(Claim {
                namespace: namespace.clone(),
                name: name.clone(),
                ..Claim::default()
            });
        }
        id
    }

    pub(super) fn allocate(&mut self, claim: ClaimId, allocation: Allocation) {
        for (_, device, admin) in &allocation.devices {
            if !admin {
                *self.used.entry(*device).or_default() += 1;
            }
        }
        self.claims[claim].allocation = Some(allocation);
    }

    /// Takes the devices of a claim; false if it had none.
    pub(super) fn deallocate(&mut self, claim: ClaimId) -> bool {
        self.claims[claim].pending = false;
        let Some(allocation) = self.claims[claim].allocation.take() else { return false };
        for (_, device, admin) in allocation.devices {
            if !admin && let Some(count) = self.used.get_mut(&device) {
                *count = count.saturating_sub(1);
            }
        }
        true
    }

    /// Finds or makes the claims of a pod, by its name.
    ///
    /// # Errors
    /// The pod is not scheduled until they are there: the event of the pod, empty where there is
    /// none.
    pub(in crate::cluster::schedule) fn claims_of(
        &mut self,
        namespace: &EcoString,
        pod: &str,
        claims: &[PodClaim],
        claim_ids: &mut Vec<Option<ClaimId>>,
        quotas: &mut Ledger,
    ) -> Result<(), EcoString> {
        claim_ids.resize(claims.len(), None);
        let mut problem = None;
        let mut is_failed = false;
        for (claim, claim_id) in claims.iter().zip(claim_ids) {
            match &claim.source {
                ClaimSource::Claim(name) => {
                    let id = self.claim(namespace, name);
                    *claim_id = Some(id);
                    let resource_claim = &self.claims[id];
                    let is_missing = !resource_claim.exists && self.lacks(namespace, name);
                    if is_missing || resource_claim.deleting {
                        problem = problem.or_else(|| Some(EcoString::new()));
                    }
                }
                // The controller makes them in their order, and stops at the first that it cannot
                // make (pkg/controller/resourceclaim/controller.go, `syncPod`).
                ClaimSource::Template(_) if claim_id.is_some() || is_failed => {}
                ClaimSource::Template(template) => {
                    match self.create_from_template(namespace, pod, &claim.name, template, quotas) {
                        Ok(id) => *claim_id = id,
                        Err(why) => {
                            let event = eco_format!(
                                "FailedResourceClaimCreation: PodResourceClaim {}: {why}",
                                claim.name
                            );
                            (problem, is_failed) = (Some(event), true);
                        }
                    }
                }
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// The claims that were made for a pod that runs on a node: those of its namespace that have
    /// the names of its claims, and devices there.
    pub(in crate::cluster::schedule) fn adopt(
        &mut self,
        template: &PodTemplate,
        machine: &Machine,
    ) -> Vec<Option<ClaimId>> {
        let prefix = template.name.split('*').next().unwrap_or_default();
        let adopted = template.claims.iter().map(|claim| {
            let ClaimSource::Template(_) = &claim.source else { return None };
            let fits = |resource_claim: &Claim| {
                let reaches = |allocation: &Allocation| {
                    allocation.nodes.iter().all(|reach| reach.holds(machine))
                };
                resource_claim.exists
                    && resource_claim.made_for.as_ref() == Some(&claim.name)
                    && resource_claim.namespace == template.namespace
                    && resource_claim.name.starts_with(prefix)
                    && resource_claim.allocation.as_ref().is_some_and(reaches)
            };
            let id = self.claims.iter().position(fits)?;
            let resource_claim = &mut self.claims[id];
            (resource_claim.made_for, resource_claim.of_pod, resource_claim.strangers) =
                (None, true, 0);
            Some(id)
        });
        adopted.collect()
    }

    /// The claims that a pod would have, for a look at the nodes: claims of templates are made, and
    /// belong to no pod.
    pub(in crate::cluster::schedule) fn example(
        &mut self,
        namespace: &EcoString,
        pod: &str,
        claims: &[PodClaim],
    ) -> Vec<Option<ClaimId>> {
        let claim_ids = claims.iter().map(|claim| match &claim.source {
            ClaimSource::Claim(name) => Some(self.claim(namespace, name)),
            ClaimSource::Template(template) => {
                let spec = self.templates.get(&(namespace.clone(), template.clone())).cloned()?;
                let name = eco_format!("{pod}-{}", claim.name);
                // One such claim for each template is enough.
                let id = self.claim(&eco_format!("{namespace}/"), &name);
                let resource_claim = &mut self.claims[id];
                (resource_claim.spec, resource_claim.exists) = (spec, true);
                resource_claim.namespace = namespace.clone();
                resource_claim.of_pod = true;
                Some(id)
            }
        });
        claim_ids.collect()
    }

    /// Makes the claim of a pod from a template.
    fn create_from_template(
        &mut self,
        namespace: &EcoString,
        pod: &str,
        name: &EcoString,
        template: &EcoString,
        quotas: &mut Ledger,
    ) -> Result<Option<ClaimId>, EcoString> {
        let key = (namespace.clone(), template.clone());
        let Some(spec) = self.templates.get(&key).cloned() else {
            return if self.lacks(namespace, template) {
                // Of manifests: the reader sees a template that the cluster would not have.
                let refused = if self.refused.contains(&key) && !self.complete {
                    ": the API server refuses the one of the input"
                } else {
                    ""
                };
                Err(eco_format!(
                    "resource claim template \"{template}\": \
                     resourceclaimtemplate.resource.k8s.io \"{template}\" not found{refused}"
                ))
            } else {
                Ok(None)
            };
        };
        let pod = if pod.is_empty() { "*" } else { pod };
        let claim = eco_format!("{pod}-{name}");
        let receipt = if quotas.is_empty() {
            None
        } else {
            let usage = Arc::new(Usage::of_devices(&spec.counted()));
            Some(quotas.charge(namespace, &usage).map_err(|refused| {
                let why = refused.why();
                eco_format!(
                    "create ResourceClaim : resourceclaims.resource.k8s.io \"{claim}\" is \
                     forbidden: {why}"
                )
            })?)
        };
        let id = self.claims.len();
        self.claims.push(Claim {
            namespace: namespace.clone(),
            name: claim,
            exists: true,
            spec,
            of_pod: true,
            receipt,
            ..Claim::default()
        });
        Ok(Some(id))
    }

    /// A pod got a node: it uses its claims, which have devices; their objects have them when the
    /// pod is `bound`.
    pub(in crate::cluster::schedule) fn reserve(
        &mut self,
        claims: &[Option<ClaimId>],
        pod: PodId,
        bound: bool,
    ) {
        for claim in claims.iter().flatten() {
            let resource_claim = &mut self.claims[*claim];
            resource_claim.pending &= !bound;
            if !resource_claim.users.contains(&pod) {
                resource_claim.users.push(pod);
                // A running pod was counted when the claim was read.
                resource_claim.strangers = resource_claim.strangers.saturating_sub(1);
            }
        }
    }

    /// A pod is gone or has ended: its own claims go with it, and a shared one without users gives
    /// its devices back. Returns whether any were.
    pub(in crate::cluster::schedule) fn release(
        &mut self,
        claims: &[Option<ClaimId>],
        pod: PodId,
        quotas: &mut Ledger,
    ) -> bool {
        let mut freed = false;
        for claim in claims.iter().flatten() {
            let resource_claim = &mut self.claims[*claim];
            let before = resource_claim.users.len();
            resource_claim.users.retain(|user| *user != pod);
            let was_user = resource_claim.users.len() < before;
            if resource_claim.of_pod {
                resource_claim.exists = false;
                let receipt = resource_claim.receipt.take();
                freed |= self.deallocate(*claim);
                if let Some(receipt) = receipt {
                    quotas.release(&receipt);
                }
            } else if was_user && !resource_claim.is_reserved() {
                resource_claim.exists &= !resource_claim.deleting;
                freed |= self.deallocate(*claim);
            }
        }
        freed
    }

    /// A pod lost its node before it was bound.
    pub(in crate::cluster::schedule) fn unreserve(
        &mut self,
        claims: &[Option<ClaimId>],
        pod: PodId,
    ) {
        for claim in claims.iter().flatten() {
            let resource_claim = &mut self.claims[*claim];
            resource_claim.users.retain(|user| *user != pod);
            if !resource_claim.is_reserved() {
                self.deallocate(*claim);
            }
        }
    }

    /// Every claim that exists.
    pub fn status(&self) -> impl Iterator<Item = ClaimDevices> + '_ {
        self.claims.iter().filter(|resource_claim| resource_claim.exists).map(|resource_claim| {
            ClaimDevices {
                namespace: resource_claim.namespace.clone(),
                name: resource_claim.name.clone(),
                of_pod: resource_claim.of_pod,
                devices: resource_claim.stated().map(|allocation| {
                    let named = |(request, device, _): &(EcoString, DeviceId, bool)| {
                        let (_, pool, name) = &self.numbers.names[*device];
                        (request.clone(), pool.clone(), name.clone())
                    };
                    allocation.devices.iter().map(named).collect()
                }),
                users: resource_claim.users.clone(),
                deleting: resource_claim.deleting,
            }
        })
    }

    /// Why it cannot be judged whether a pod with these claims gets devices.
    pub fn unjudged(&self, namespace: &EcoString, claims: &[PodClaim]) -> Option<EcoString> {
        if claims.is_empty() {
            return None;
        }
        if !self.knows_devices() {
            let missing = match (self.slices.is_empty(), self.classes.is_empty()) {
                (true, true) => "no ResourceSlice and no DeviceClass",
                (true, false) => "no ResourceSlice",
                _ => "no DeviceClass",
            };
            return Some(eco_format!("{missing} is in the input"));
        }
        let mut specs: Vec<&DeviceSpec> = Vec::new();
        for claim in claims {
            let (kind, name, spec) = match &claim.source {
                ClaimSource::Template(name) => {
                    let spec = self.templates.get(&(namespace.clone(), name.clone()));
                    ("ResourceClaimTemplate", name, spec)
                }
                ClaimSource::Claim(name) => {
                    let id = self.names.get(&(namespace.clone(), name.clone()));
                    let claim = id.map(|id| &self.claims[*id]).filter(|claim| claim.exists);
                    ("ResourceClaim", name, claim.map(|claim| &claim.spec))
                }
            };
            match spec {
                Some(spec) => specs.push(&**spec),
                None if self.lacks(namespace, name) => {}
                None => {
                    return Some(eco_format!(
                        "the {kind} `{name}` of the pods is not in the input"
                    ));
                }
            }
        }
        let is_admin = specs.iter().any(|spec| spec.is_admin());
        if is_admin && !self.complete && !self.admin.contains_key(namespace) {
            return Some(eco_format!(
                "their `adminAccess` needs a label of Namespace `{namespace}`, which is not in the input"
            ));
        }
        let beyond = specs.iter().any(|spec| spec.is_beyond(&self.classes));
        let gated = beyond || self.tainted || self.all.iter().any(|slice| slice.beyond);
        gated.then(|| {
            "devices use features of the API that are off by default or not evaluated here".into()
        })
    }
}

//! What pods have beside a node: claims for volumes and devices, and charges in quotas.

use super::ids::{NodeId, PodId, TemplateId};
use super::pod::ZONE;
use super::queue::{Event, Place};
use super::running::{Belongings, PodState};
use super::scheduler::Scheduler;
use super::storage::objects::NewClaim;
use super::{devices, storage};
use crate::cluster::Taint;
use crate::cluster::admission::{QuotaStatus, Receipt};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;

impl Scheduler {
    /// Charges the quotas for a pod of a template.
    pub(super) fn charge(&mut self, template: TemplateId) -> Result<Option<Receipt>, EcoString> {
        let pod = &self.templates[template.index()].pod;
        if let Some(refused) = &pod.refused {
            return Err(refused.of_pod(&pod.name));
        }
        let Some(usage) = &pod.usage else { return Ok(None) };
        let charged = self.quotas.charge(&pod.namespace, usage);
        charged.map(Some).map_err(|refused| refused.of_pod(&pod.name))
    }

    /// Gives a new pod its claims and its charge.
    ///
    /// A pod that runs on a node already has the claims that were made for it.
    pub(super) fn equip(&mut self, pod: PodId, receipt: Option<Receipt>, runs_on: Option<NodeId>) {
        let template = std::sync::Arc::clone(&self.compiled(pod).pod);
        if template.usage.is_none() && template.volumes.is_empty() && template.claims.is_empty() {
            return;
        }
        let counted = template.usage.as_ref();
        let receipt =
            receipt.or_else(|| counted.map(|usage| self.quotas.take(&template.namespace, usage)));
        let name = template.name.replace("*", &format!("*{}", pod.index()));
        // Claims of pods that run are objects of the input.
        let quotas = runs_on.is_none().then_some(&mut self.quotas);
        let names = (name.as_str(), template.name.as_str());
        let (volumes, charged) =
            self.storage.own_claims(&template.namespace, names, &template.volumes, quotas);
        let devices = runs_on.filter(|_| !template.claims.is_empty()).map(|node| {
            let machine = self.nodes.machine(node);
            self.devices.adopt(&template, machine)
        });
        let devices = devices.unwrap_or_default();
        let belongings = Belongings { volumes, devices, receipt, charged, ..Belongings::default() };
        self.belongings.insert(pod, belongings);
        if !template.claims.is_empty() {
            self.claim(pod);
        }
    }

    /// Finds or makes the claims for devices; without them the pod is held.
    fn claim(&mut self, pod: PodId) -> bool {
        let template = std::sync::Arc::clone(&self.compiled(pod).pod);
        let Some(belongings) = self.belongings.get_mut(&pod) else { return true };
        let created = self.devices.claims_of(
            &template.namespace,
            &template.name,
            &template.claims,
            &mut belongings.devices,
            &mut self.quotas,
        );
        match created {
            Ok(()) => {
                belongings.event = EcoString::new();
                self.held.remove(&pod)
            }
            Err(event) => {
                belongings.event = event;
                self.held.insert(pod);
                false
            }
        }
    }

    /// Pods whose claims are there now are scheduled.
    fn release_held(&mut self) {
        let held: Vec<PodId> = self.held.iter().copied().collect();
        for pod in held {
            if self.claim(pod) {
                self.enqueue(pod, Place::Active);
            }
        }
    }

    /// A pod gets a node, from the scheduler or by its `nodeName`: volumes are bound or made. False
    /// while one is not made.
    pub(super) fn take_volumes(&mut self, pod: PodId, node: NodeId, scheduled: bool) -> bool {
        let Some(belongings) = self.belongings.get(&pod) else { return true };
        let shared = &self.templates[self.pods[pod.index()].template.index()].claims;
        let claims: Vec<_> = shared.iter().chain(&belongings.volumes).copied().collect();
        let devices = belongings.devices.clone();
        let mut complete = true;
        if !claims.is_empty() {
            let taken = self.storage.reserve(&claims, pod, self.nodes.machine(node), scheduled);
            complete = taken.complete;
            if !taken.claims.is_empty() {
                self.happens(Event::Claims(taken.claims));
            }
            if taken.bound {
                self.happens(Event::Volume { provisioned: taken.provisioned });
            }
        }
        if !devices.is_empty() {
            let bound = complete && scheduled;
            self.devices.reserve(&devices, pod, bound);
            // The objects say now who uses them.
            if bound {
                self.happens(Event::DeviceClaims(devices.into_iter().flatten().collect()));
            }
        }
        complete
    }

    pub(super) fn unreserve(&mut self, pod: PodId) {
        let Some(belongings) = self.belongings.get(&pod) else { return };
        let shared = &self.templates[self.pods[pod.index()].template.index()].claims;
        let claims: Vec<_> = shared.iter().chain(&belongings.volumes).copied().collect();
        self.storage.release(&claims, pod);
        self.devices.unreserve(&belongings.devices, pod);
    }

    /// A pod is gone; one that `stays` has ended and still exists.
    pub(super) fn leave(&mut self, pod: PodId, stays: bool) {
        let Some(mut belongings) = self.belongings.remove(&pod) else { return };
        let shared = self.templates[self.pods[pod.index()].template.index()].claims.clone();
        self.storage.release(&shared, pod);
        self.storage.release(&belongings.volumes, pod);
        self.storage.end(&belongings.volumes);
        if self.devices.release(&belongings.devices, pod, &mut self.quotas) {
            self.happens(Event::DevicesFreed);
        }
        if !belongings.devices.is_empty() {
            self.happens(Event::DeviceClaims(
                belongings.devices.iter().flatten().copied().collect(),
            ));
        }
        for receipt in &belongings.charged {
            self.quotas.release(receipt);
        }
        match &mut belongings.receipt {
            Some(receipt) if stays => self.quotas.finish(receipt),
            Some(receipt) => self.quotas.release(receipt),
            None => {}
        }
        if !belongings.devices.is_empty() || belongings.receipt.is_some() {
            self.release_held();
        }
    }

    /// An object of storage, devices or quotas is created or changed. Returns false for one that
    /// the server refuses.
    pub fn set_object(&mut self, object: &Node) -> bool {
        self.storage.set(object);
        let taken = self.devices.set(object);
        if object.get("kind").and_then(Node::as_str) == Some("ResourceQuota") {
            self.quotas.set(object);
        }
        self.happens(Event::Objects);
        self.release_held();
        taken
    }

    /// Deletes a claim for a volume or for devices.
    pub fn delete_claim(&mut self, kind: &str, namespace: &EcoString, name: &EcoString) {
        match kind {
            "PersistentVolumeClaim" => self.storage.delete(namespace, name),
            "ResourceClaim" => self.devices.delete(namespace, name),
            _ => {}
        }
        self.happens(Event::Objects);
    }

    /// Creates a claim, unless it exists.
    ///
    /// # Errors
    /// The limit or the quota that refuses it.
    pub fn create_claim(&mut self, claim: &NewClaim) -> Result<(), EcoString> {
        if self.storage.claim_from(claim, &mut self.quotas)? {
            self.happens(Event::Objects);
        }
        Ok(())
    }

    /// Binds claims that do not wait for a pod; returns whether anything changed.
    pub fn bind_claims(&mut self) -> bool {
        let changed = self.storage.bind_immediate(&self.nodes);
        if changed {
            self.happens(Event::Objects);
        }
        changed
    }

    /// The volumes and claims.
    pub fn storage(&self) -> &storage::Storage {
        &self.storage
    }

    /// The devices and claims.
    pub fn devices(&self) -> &devices::Devices {
        &self.devices
    }

    /// The quotas.
    pub fn quotas(&self) -> Vec<QuotaStatus> {
        self.quotas.status()
    }

    /// Charges an object that is no pod, such as `deployments.apps`.
    ///
    /// # Errors
    /// The quota that refuses it.
    pub fn charge_object(&mut self, namespace: &str, kind: &str) -> Result<(), EcoString> {
        self.quotas.charge_object(namespace, kind)
    }

    /// What `kubectl describe` shows of a pod whose claims for devices cannot be made.
    pub fn event(&self, pod: PodId) -> Option<&EcoString> {
        self.belongings
            .get(&pod)
            .map(|belongings| &belongings.event)
            .filter(|event| !event.is_empty())
    }

    /// Why a pod waits that the scheduler has not answered.
    pub fn unanswered(&self, pod: PodId) -> EcoString {
        match (self.state(pod), self.event(pod)) {
            (PodState::Reserved(_), _) if self.compiled(pod).pod.node.is_some() => {
                "`nodeName` passes the scheduler by, and the scheduler binds claims whose class has \
                 `volumeBindingMode: WaitForFirstConsumer`: the kubelet waits for a volume"
                    .into()
            }
            (PodState::Reserved(node), _) => {
                let node = &self.nodes.machine(node).name;
                eco_format!("waits for a volume that is made for node {node}")
            }
            (_, Some(event)) => event.clone(),
            _ if self.held.contains(&pod) => {
                "a ResourceClaim of the pod does not exist or is being deleted".into()
            }
            _ => match &self.compiled(pod).pod.node {
                Some(node) => eco_format!("`nodeName` is {node}, a node that was not read"),
                None => EcoString::new(),
            },
        }
    }

    /// Why it cannot be judged where the pods of a template go: what is not judged, and why. Pods
    /// that run already were accepted by a kubelet; `new` says that there are others.
    pub fn unjudged(&self, template: TemplateId, new: bool) -> Option<(EcoString, EcoString)> {
        let pod = &self.templates[template.index()].pod;
        let other = !matches!(pod.scheduler.as_str(), "" | "default-scheduler");
        if other {
            let why = eco_format!("`{}` schedules these pods, not kube-scheduler", pod.scheduler);
            return Some((pod.scheduler.clone(), why));
        }
        if let Some(why) = pod.refusal_unjudged.as_ref().filter(|_| new) {
            return Some((eco_format!("namespace {}", pod.namespace), why.clone()));
        }
        if let Some(open) = &pod.open {
            return Some(open.clone());
        }
        let volumes = self.storage.unjudged(&pod.namespace, &pod.volumes);
        let zoned = || {
            let why = self.storage.placed_by_driver(&pod.namespace, &pod.volumes)?;
            let zones = self.nodes.ids().filter_map(|node| self.nodes.machine(node).label(ZONE));
            (zones.collect::<BTreeSet<_>>().len() > 1).then_some(why)
        };
        let volumes = volumes.or_else(zoned);
        let volumes = volumes.map(|why| ("volumes".into(), why));
        let devices = || {
            let why = self.devices.unjudged(&pod.namespace, &pod.claims)?;
            Some(("devices".into(), why))
        };
        let kubelet = || {
            let node = self.nodes.id(pod.node.as_ref()?)?;
            Some(("nodeName".into(), self.refused_by_kubelet(template, node)?))
        };
        let machines = || self.nodes.ids().map(|node| &**self.nodes.machine(node));
        let last = || pod.refused_by_kubelets(machines()).filter(|_| new);
        volumes.or_else(devices).or_else(kubelet).or_else(last)
    }

    /// Why the kubelet of its node refuses a pod that is bound to it and that it has not taken yet.
    pub fn refused_where_bound(&self, pod: PodId) -> Option<EcoString> {
        let node = self.state(pod).node()?;
        self.refused_by_kubelet(self.template_id(pod), node)
    }

    /// Why the kubelet of the node that a template names refuses some of its pods. The scheduler
    /// does not look at them, so that the kubelet is the first that does
    /// (pkg/kubelet/lifecycle/predicate.go).
    fn refused_by_kubelet(&self, template: TemplateId, node: NodeId) -> Option<EcoString> {
        let compiled = &self.templates[template.index()];
        let (pod, requests) = (&compiled.pod, &compiled.requests);
        let machine = self.nodes.machine(node);
        let name = &machine.name;
        let none = |why: EcoString| {
            Some(eco_format!("the pods name {name}, whose kubelet refuses them: {why}"))
        };
        let selected = pod.node_selector.matches(|key| machine.label(key));
        let terms = pod.node_terms.as_ref();
        if !selected || terms.is_some_and(|terms| !terms.iter().any(|term| term.holds(machine))) {
            return none("its labels do not match `nodeSelector` or the node affinity".into());
        }
        let tolerates = |taint: &Taint| pod.tolerations.iter().any(|one| one.tolerates(taint));
        // What the node controller adds comes and goes, and every pod tolerates it for a while.
        let lasts = |taint: &Taint| !taint.key.starts_with("node.kubernetes.io/");
        let evicts =
            |taint: &&Taint| taint.effect == "NoExecute" && lasts(taint) && !tolerates(taint);
        if let Some(taint) = machine.taints.iter().find(evicts) {
            return none(eco_format!("it has the taint {taint}"));
        }
        let (resource, used, has) = requests.iter().find_map(|(resource, _)| {
            let (used, has) =
                (self.nodes.used(*resource, node), self.nodes.allocatable(*resource, node));
            (used > has).then(|| (self.nodes.resource_name(*resource), used, has))
        })?;
        let thousandths = if resource == "cpu" { "m" } else { "" };
        let all = eco_format!("{used}{thousandths} of {has}{thousandths}");
        Some(eco_format!(
            "the pods name {name}, whose kubelet refuses those beyond what it has: {all} {resource}"
        ))
    }

    /// The CSI driver that the node of a pod lacks for one of its volumes.
    pub fn lacks_driver(&self, pod: PodId) -> Option<EcoString> {
        let node = &self.nodes.machine(self.state(pod).node()?).name;
        let compiled = self.compiled(pod);
        let of_pod = self.belongings.get(&pod).into_iter().flat_map(|one| &one.volumes);
        let claims = compiled.claims.iter().chain(of_pod).copied();
        self.storage.lacks_driver(node, &compiled.pod.volumes, claims)
    }

    /// Why the scheduler has not looked at a pod that waits: its claims are missing or being
    /// deleted.
    pub fn is_held(&self, pod: PodId) -> bool {
        self.held.contains(&pod)
    }
}

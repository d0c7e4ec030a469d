//! The state of a cluster before a change: everything in an input, placed on the nodes as
//! kube-scheduler places it. Rollouts and comparisons begin with it.

use super::claims::{self, Claim};
use super::in_use::{InUse, Ran};
use super::starting::{Starting, queued};
use super::workloads::{self, PlainWorkload};
use super::{
    At, adopted, nodes, object_counts, options, quota, same_room, stated_replicas, volcano_queue,
};
use crate::api::Api;
use crate::catalog::Catalog;
use crate::cluster::Machine;
use crate::cluster::fleet::{Fleet, Manner, Other, Placed};
use crate::cluster::schedule::PodTemplate;
use crate::diag::Code;
use crate::operators::servings;
use crate::pipeline::built::PodContext;
use crate::pipeline::plan::Planner;
use crate::pipeline::planned::{Depth, Planned};
use crate::pipeline::running::{OwnerName, RunningPod, RunningPods};
use crate::pipeline::serving::plan_servings;
use crate::rollout::Keeping;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The cluster that pods are placed on: nodes and running pods of an input.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    /// The input with the nodes.
    pub(crate) catalog: &'a Catalog,
    /// Facts that are needed to read pods.
    pub(crate) context: PodContext,
    /// The running pods.
    pub(crate) running: RunningPods<'a>,
    /// Their templates.
    pub(crate) templates: Vec<Arc<PodTemplate>>,
    /// By running pod, the LocalQueue of Kueue whose quota it has; empty without queues.
    pub(crate) queued: Vec<Option<EcoString>>,
    /// The pods that have no node yet; empty without queues.
    starting: Starting<'a>,
    /// The nodes.
    pub(crate) machines: Vec<Arc<Machine>>,
    /// The workloads of no operator whose running pods are theirs, by id: they roll. Running pods of
    /// other workloads hold their nodes.
    pub(crate) rolling: BTreeSet<EcoString>,
}

impl<'a> Ground<'a> {
    /// The nodes and running pods of an input.
    pub(crate) fn new(catalog: &'a Catalog) -> Self {
        let context = PodContext::of(catalog);
        let running = RunningPods::new(catalog.others());
        let templates = running.templates(&context);
        let (machines, rolling) = (nodes(catalog), BTreeSet::new());
        let queued = queued(catalog, &running, &templates);
        let starting = Starting::of(catalog, &context);
        Self { catalog, context, running, templates, queued, starting, machines, rolling }
    }

    /// Whether a pod runs on a node of the input: a pod of another cluster, whose file is among the
    /// manifests, is no state of this one.
    pub(crate) fn runs(&self) -> bool {
        let nodes: BTreeSet<&EcoString> =
            self.machines.iter().map(|machine| &machine.name).collect();
        self.running.all.iter().any(|pod| nodes.contains(&pod.node))
    }

    /// The pods that have no node yet, in the order of their creation; none without queues.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&RunningPod<'a>, &Arc<PodTemplate>)> {
        self.starting.all()
    }

    /// The running pods with the quota of Kueue that they have.
    pub(super) fn ran(&self) -> Ran<'_> {
        let (templates, queued, starting) = (&self.templates, &self.queued, &self.starting);
        Ran { catalog: self.catalog, templates, queued, starting }
    }

    /// Whether another input has these nodes, and these pods on them or none at all.
    pub(crate) fn is_like(&self, other: &Catalog) -> bool {
        let names = |running: &RunningPods<'_>| -> Vec<(String, EcoString)> {
            running.all.iter().map(|pod| (pod.name(), pod.node.clone())).collect()
        };
        let running = RunningPods::new(other.others());
        same_room(self.catalog, other)
            // The new state of a pull request is often rendered, and has no pods at all.
            && (running.all.is_empty() || names(&self.running) == names(&running))
    }
}

/// The nodes with the workloads of claims, and the running pods that belong to none of them.
pub(super) fn fleet(
    ground: &Ground<'_>,
    claimed_pods: &BTreeSet<usize>,
    claims: &mut [Claim],
) -> Fleet {
    let others = ground.running.all.iter().zip(&ground.templates).enumerate();
    let others =
        others.filter(|(at, _)| !claimed_pods.contains(at)).map(|(number, (pod, template))| {
            Other {
                number,
                template: Arc::clone(template),
                node: pod.node.clone(),
                started: pod.started.clone(),
            }
        });
    Fleet {
        machines: ground.machines.clone(),
        options: options(ground.catalog),
        others: others.collect(),
        workloads: claims.iter_mut().map(|claim| std::mem::take(&mut claim.workload)).collect(),
        stays: false,
    }
}

/// Workloads of an input with the cluster that they are placed on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workloads {
    /// Their owners, in the order of the workloads of `fleet`.
    pub(crate) claims: Vec<Claim>,
    /// Nodes, pods of others and workloads.
    pub(crate) fleet: Fleet,
    /// Why workloads wait for quota, by their places.
    pub(crate) held: BTreeMap<usize, EcoString>,
    /// The services without claims, because they are in error or have placeholders.
    pub(crate) uncounted: Vec<EcoString>,
    /// The services that are counted without the presets of the cluster.
    pub(crate) without_presets: BTreeSet<EcoString>,
}

/// How many pods workloads have, and which running pods of others are created again.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// Replicas as an autoscaler keeps them; the pods that these workloads may evict.
    Evictable,
    /// The same; the pods of a lower priority than this one.
    Below(i32),
    /// So many replicas; all pods.
    All(At),
}

/// The identity of the owner of pods: of a workload without an operator the id in place of the name.
pub(crate) type OwnerRef<'a> = (Api, &'a EcoString, &'a EcoString);

impl Workloads {
    /// The selected services and ModelServings of `catalog` on a cluster. Autoscalers keep the pods
    /// that run.
    pub(crate) fn of(
        catalog: &Catalog,
        ground: &Ground<'_>,
        is_wanted: impl Fn(OwnerRef<'_>) -> bool,
    ) -> Self {
        Self::sized(catalog, ground, is_wanted, Size::Evictable)
    }

    /// The same with so many replicas, and with the running pods of other workloads that are to be
    /// created again.
    pub(crate) fn sized(
        catalog: &Catalog,
        ground: &Ground<'_>,
        is_wanted: impl Fn(OwnerRef<'_>) -> bool,
        size: Size,
    ) -> Self {
        let at = match size {
            Size::All(at) => Some(at),
            Size::Evictable | Size::Below(_) => None,
        };
        let planner = Planner::placing(catalog, ground.context.clone());
        let services: Vec<_> = catalog
            .services()
            .filter(|views| {
                let service = views.followed();
                is_wanted((service.object.api, &service.namespace, service.name()))
            })
            .collect();
        let servings: Vec<_> = catalog
            .model_servings()
            .iter()
            .filter(|serving| is_wanted((servings::API, &serving.namespace, serving.name())))
            .collect();
        let mut planned = planner.plan_all(&services, Depth::Plan);
        let uncounted = planned.iter().filter(|one| one.error.is_some() || one.unplanned.is_some());
        let uncounted = uncounted.map(|one| eco_format!("{}", one.service)).collect();
        let servings = plan_servings(catalog, &servings);
        let (mut claims, mut claimed_pods) =
            claims::of(&mut planned, &servings, &ground.context, &ground.running);
        object_counts::of_services(catalog, &planned, &mut claims);
        volcano_queue::refuse_servings(catalog, &servings, &mut claims);
        let services = workloads::services(catalog);
        let wanted = at.unwrap_or_default();
        let plain = workloads::read(
            &planner,
            &services,
            &ground.context,
            &ground.running,
            &claimed_pods,
            wanted,
            &[],
        );
        let mut plain: Vec<PlainWorkload> = plain.0;
        let is_wanted = |id: &EcoString| {
            let OwnerName { namespace, .. } = OwnerName::of(id);
            is_wanted((Api::Cluster, &namespace.into(), id))
        };
        plain.retain(|workload| is_wanted(&workload.id));
        let (running, templates) = (&ground.running, &ground.templates);
        let rolling = ground.rolling.iter().filter(|id| is_wanted(id)).cloned().collect();
        adopted::adopt_rolling(&rolling, &mut plain, running, templates, &mut claimed_pods);
        let jobs = adopted::Jobs::of(ground.catalog);
        match size {
            Size::All(_) => {
                adopted::adopt(&mut plain, running, templates, &mut claimed_pods, |_, _| true);
            }
            Size::Below(most) => {
                adopted::adopt_below(
                    most,
                    &jobs,
                    &mut plain,
                    running,
                    templates,
                    &mut claimed_pods,
                );
            }
            Size::Evictable => {
                let most = adopted::evicts_below(
                    claims
                        .iter()
                        .map(|claim| &claim.workload)
                        .chain(plain.iter().map(|plain| &plain.workload)),
                    true,
                );
                if let Some(most) = most {
                    adopted::adopt_below(
                        most,
                        &jobs,
                        &mut plain,
                        running,
                        templates,
                        &mut claimed_pods,
                    );
                }
            }
        }
        workloads::add_plain(&mut claims, &mut plain);
        claims::sort(&mut claims);
        let dump = at.map(|_| stated_replicas(catalog)).unwrap_or_default();
        for claim in &mut claims {
            if let (Some(at), true) = (at, claim.api.is_of_operator()) {
                claim.resize(at, &dump);
            }
            // After the number of replicas: an autoscaler's pods count within the new limits.
            claim.keep_scaled();
        }
        let mut fleet = fleet(ground, &claimed_pods, &mut claims);
        let in_use = InUse::of(ground.ran(), &planned, &claims, &fleet);
        let (held, _) = quota::hold(ground.catalog, &mut planned, &claims, &mut fleet, &in_use);
        let lacks = |one: &&Planned<'_>| {
            one.diagnostics.iter().any(|found| found.code == Code::PresetsNotRead)
        };
        let name =
            |one: &Planned<'_>| eco_format!("{}/{}", one.service.namespace, one.service.name);
        let without_presets = planned.iter().filter(lacks).map(name).collect();
        Self { claims, fleet, held, uncounted, without_presets }
    }

    /// The priority below which its pods evict others.
    pub(crate) fn evicts_below(&self) -> Option<i32> {
        adopted::evicts_below(self.fleet.workloads.iter(), true)
    }

    /// Everything on its nodes, with `more` nodes.
    pub(crate) fn settle(&self, more: &[Arc<Machine>]) -> Placed {
        // Without further nodes the fleet need not be cloned.
        if more.is_empty() {
            return self.fleet.place(Manner::default());
        }
        let machines = self.fleet.machines.iter().chain(more).cloned().collect();
        Fleet { machines, ..self.fleet.clone() }.place(Manner::default())
    }

    /// The claim of a component, or of a ModelServing; and the index of the template of a workload.
    pub(crate) fn find(
        &self,
        api: Api,
        service: &str,
        component: Option<&str>,
        workload: &str,
    ) -> Option<(usize, usize)> {
        let is_of = |claim: &Claim| {
            claim.api == api && claim.service == service && claim.component == component
        };
        let at = self.claims.iter().position(is_of)?;
        let claim = &self.claims[at];
        let template = claim.names.iter().position(|name| name == workload)?;
        claim.refused.is_none().then_some((at, template))
    }

    /// Why a queue holds all pods of the workload with this template, if it holds them.
    pub(crate) fn held_as_whole(&self, template: Option<(usize, usize)>) -> Option<EcoString> {
        let (at, _) = template?;
        let replicas = &self.fleet.workloads[at].replicas;
        let why = self.held.get(&at).filter(|_| replicas.iter().all(|replica| replica.held));
        why.filter(|_| !replicas.is_empty()).cloned()
    }

    /// Why a server creates no pods of a component, of a ModelServing or of a workload.
    pub(crate) fn refusal(
        &self,
        api: Api,
        service: &str,
        component: Option<&str>,
    ) -> Option<EcoString> {
        let is_of = |claim: &&Claim| {
            claim.api == api && claim.service == service && claim.component == component
        };
        self.claims.iter().find(is_of)?.refused.as_ref()?.by_server()
    }
}

/// How the pods of an owner are created again.
pub(crate) fn keeping(owner: &str) -> Keeping {
    let kind = OwnerName::of(owner).kind;
    Keeping {
        named: matches!(kind, Some("StatefulSet" | "LeaderWorkerSet" | "Job" | "RayCluster")),
        unsized_: kind == Some("Job"),
        ..Keeping::default()
    }
}

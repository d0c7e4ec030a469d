//! Workloads all of whose pods run with other fields that only a kubelet looks at: their controllers
//! create the pods again, and no kubelet has taken the new ones.
//!
//! In: the workloads of a dump and its running pods. Out: what their kubelets may refuse.

use super::NotJudged;
use super::workload_kinds::row;
use super::workloads::{PlainWorkload, ServiceNames, counted_objects, id_of, owners};
use crate::catalog::Catalog;
use crate::cluster::schedule::kubelet::Kubelet;
use crate::cluster::schedule::labels;
use crate::pipeline::built::PodContext;
use crate::pipeline::running::RunningPods;
use ecow::EcoString;
use std::collections::BTreeMap;

/// All of them; the pods of `placed` are judged where they are placed.
pub(super) fn found(
    catalog: &Catalog,
    services: &ServiceNames,
    running: &RunningPods<'_>,
    placed: &[PlainWorkload],
    context: &PodContext,
) -> Vec<NotJudged> {
    let mut sums: BTreeMap<(EcoString, EcoString), usize> = BTreeMap::new();
    for object in counted_objects(catalog, services).filter(|object| !catalog.is_unfilled(object)) {
        let Some(row) = row(object) else { continue };
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let templates = row.pods.templates(&object.node).into_iter();
        // What a controller completes is not what its pods have.
        for template in templates.filter(|template| !template.is_completed) {
            let Some(spec) = template.spec() else { continue };
            let kubelet = Kubelet::read(spec);
            if kubelet == Kubelet::default() {
                continue;
            }
            let id = id_of(object);
            if placed.iter().any(|workload| workload.id == id) {
                continue;
            }
            let pods = running.all.iter().filter(|pod| {
                pod.namespace() == namespace
                    && owners(pod).contains(&object.id.name)
                    && pod
                        .object
                        .node
                        .get("spec")
                        .is_some_and(|spec| Kubelet::read(spec) != kubelet)
            });
            let pods = pods.count();
            let text = template.node.at(&["metadata", "labels"]);
            let Ok(pod) = context.read(&namespace, labels(text), spec) else { continue };
            let machines = catalog.machines().iter();
            if let Some(why) = pod.refused_by_kubelets(machines).filter(|_| pods > 0) {
                *sums.entry(why).or_default() += pods;
            }
        }
    }
    NotJudged::of_sums(sums).collect()
}

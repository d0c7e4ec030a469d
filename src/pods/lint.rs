//! Faults of pods and components, each rule once: for built pods when composing, and for single
//! objects in `check`.
//!
//! Every function adds findings and makes no decisions.

use crate::api::{ComponentKind, Runtime, Service};
use crate::diag::{Code, Diagnostic, Nearby, Severity};
use crate::merge::edit::{position, text};
use crate::quantity::{Quantity, Range};
use crate::yaml::{Node, Origin, Places};
use indexmap::IndexMap;
use std::cell::OnceCell;
use std::collections::HashSet;

/// Which component of which service is looked at; names the field that a value came from.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) service: &'a Service,
    pub(crate) runtime: Option<&'a Runtime>,
    pub(crate) kind: ComponentKind,
}

impl Place<'_> {
    /// The path of a component's field in the object that wrote it.
    pub(crate) fn path(&self, origin: Origin, field: &str) -> String {
        let wrote = |span| self.runtime.is_some_and(|runtime| runtime.object.span.contains(span));
        let key = if origin.span().is_some_and(wrote) {
            self.kind.config_key()
        } else {
            self.kind.as_str()
        };
        format!("spec.{key}.{field}")
    }
}

/// Returns the path of a component's field, from its origin and the field.
pub(crate) type PathOf<'a> = &'a dyn Fn(Origin, &str) -> String;

/// A worker without `size` counts as no worker (OME docs, Serving Runtime, Multi-Node
/// Configuration).
pub(crate) fn worker_size(component: &Node, path: PathOf<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(worker) = component.get("worker").filter(|worker| worker.get("size").is_none()) else {
        return;
    };
    findings.push(
        Diagnostic::new(Code::WorkerSizeAbsent, "the worker has no size and is read as 0 workers")
            .at(worker.origin.span())
            .path(path(worker.origin, "worker.size"))
            .help("add `size` to the worker"),
    );
}

/// A metric that only a Serverless component has (OME docs, Serving Runtime, Engine Configuration).
pub(crate) fn metric(
    component: &Node,
    serverless: bool,
    path: PathOf<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(metric) = component
        .get("scaleMetric")
        .filter(|node| matches!(node.as_str(), Some("concurrency" | "rps")))
    else {
        return;
    };
    if !serverless {
        findings.push(
            Diagnostic::new(
                Code::MetricNeedsServerless,
                format!(
                    "the metric `{}` is only there in Serverless mode",
                    metric.as_str().unwrap_or("")
                ),
            )
            .at(metric.origin.span())
            .path(path(metric.origin, "scaleMetric"))
            .help("use `cpu` or `memory`, or make the component Serverless with `minReplicas: 0`"),
        );
    }
}

/// A range of replicas that no autoscaler accepts (OME docs, Serving Runtime, Engine Configuration;
/// docs/decisions.md#replicas).
pub(crate) fn replica_range(component: &Node, path: PathOf<'_>, findings: &mut Vec<Diagnostic>) {
    let (Some(min), Some(max)) = (component.get("minReplicas"), component.get("maxReplicas"))
    else {
        return;
    };
    // An invalid number of replicas is not compared.
    let count = |node: &Node| node.as_int().and_then(|number| Range::COUNT.count(number));
    if let (Some(least), Some(most)) = (count(min), count(max))
        && most < least
    {
        findings.push(
            Diagnostic::new(
                Code::ReplicaRange,
                format!("maxReplicas {most} is below minReplicas {least}"),
            )
            .at(max.origin.span())
            .label(min.origin.span(), "the lower bound")
            .path(path(max.origin, "maxReplicas"))
            .help(format!("write a maxReplicas of {least} or more")),
        );
    }
}

/// [`replica_range`] of a component of KServe, where a maximum of 0 is none.
pub(crate) fn replica_range_of(
    component: &Node,
    kind: ComponentKind,
    findings: &mut Vec<Diagnostic>,
) {
    if component.get("maxReplicas").and_then(Node::as_int) != Some(0) {
        replica_range(component, &|_, field| format!("spec.{}.{field}", kind.as_str()), findings);
    }
}

/// The flag of an argument, without its value.
pub(crate) fn flag(text: &str) -> Option<&str> {
    let word = text.split(['=', ' ']).next()?;
    // A bare `--` ends options and is no flag; short flags may be repeated, such as `-v -v`.
    (word.starts_with("--") && word.len() > 2).then_some(word)
}

/// Flags that are more than once in arguments, one finding each (KServe docs, Serving Runtimes,
/// Spec Attributes; OEP-0003, Notes/Constraints/Caveats; docs/decisions.md#argument-order).
pub(crate) fn duplicate_flags(
    args: &[Node],
    place: &Place<'_>,
    help: &str,
    findings: &mut Vec<Diagnostic>,
) {
    let flags =
        args.iter().enumerate().filter_map(|(index, node)| Some((index, flag(node.as_str()?)?)));
    // By flag: the first use, the last one, and how many there are.
    let mut uses: IndexMap<&str, (usize, usize, usize)> = IndexMap::new();
    for (index, name) in flags {
        let (_, last, times) = uses.entry(name).or_insert((index, index, 0));
        (*last, *times) = (index, *times + 1);
    }
    for (name, (first, last, times)) in uses.iter().filter(|(_, (.., times))| *times > 1) {
        let text = args[*last].as_str().unwrap_or_default();
        let value = match text.split_once('=') {
            Some((_, value)) => value,
            // The next argument is the value unless it is a flag: `--enable-x --port 8080`.
            None => args
                .get(last + 1)
                .and_then(Node::as_str)
                .filter(|next| !next.starts_with('-'))
                .unwrap_or(""),
        };
        // An argument of the service after one of its runtime is how the runtime's is overridden.
        let service = place.service.object.span;
        let is_own = |at: usize| args[at].origin.span().is_some_and(|span| service.contains(span));
        // Three uses mean that one layer alone has the flag twice, which no override explains.
        let overrides = *times == 2 && is_own(*last) && !is_own(*first);
        let severity = if overrides { Severity::Info } else { Severity::Warning };
        findings.push(
            Diagnostic::new(
                Code::DuplicateFlag,
                format!("`{name}` is {times} times in the arguments of the {}: the engine sees `{value}`", place.kind.as_str()),
            )
            .severity(severity)
            .at(args[*last].origin.span())
            .label(args[*first].origin.span(), "first here")
            .object(place.service.object.id.to_string())
            .help(help),
        );
    }
}

/// A pod whose main container (the runner over the listed container of its name, else the first
/// listed one) has no image (OME docs, Serving Runtime, Engine Configuration).
pub(crate) fn image(part: &Node, whose: &str, place: &Place<'_>, findings: &mut Vec<Diagnostic>) {
    let listed = part.get("containers").map(Node::items).unwrap_or_default();
    let runner = part.get("runner");
    let below = match runner {
        Some(runner) => position(listed, "name", text(runner, "name")).map(|index| &listed[index]),
        None => listed.first(),
    };
    if runner.into_iter().chain(below).any(|container| !text(container, "image").is_empty()) {
        return;
    }
    let written = [runner, below, Some(part), place.runtime.map(|runtime| &runtime.object.node)]
        .into_iter()
        .flatten();
    let span = written
        .into_iter()
        // A part that an operator made has no place; the nearest text that has one is shown.
        .find_map(|node| node.origin.span())
        .or_else(|| Some(place.service.object.name_span()));
    findings.push(
        Diagnostic::new(Code::MissingImage, format!("{whose} container has no image"))
            .at(span)
            .path(format!("spec.{}.runner.image", place.kind.as_str()))
            .help("set `image` in the runtime or in the service"),
    );
}

/// A worker that nothing can be built from (OME docs, Serving Runtime, Engine Configuration).
/// Answers whether it is one.
pub(crate) fn worker_container(
    component: &Node,
    path: PathOf<'_>,
    findings: &mut Vec<Diagnostic>,
) -> bool {
    let Some(worker) = component.get("worker") else { return false };
    let nothing =
        worker.get("runner").is_none() && worker.get("containers").is_none_or(Node::is_empty);
    if nothing {
        findings.push(
            Diagnostic::new(
                Code::WorkerWithoutContainer,
                "the worker has neither a runner nor containers",
            )
            .at(worker.origin.span())
            .path(path(worker.origin, "worker"))
            .help("add `worker.runner`"),
        );
    }
    nothing
}

/// Volumes that an admission webhook adds to a pod, by the annotation that requests them; a mount
/// of one needs no volume in the pod as written (pkg/webhook/admission/pod).
pub(crate) fn injected_volumes<'a>(
    annotation: impl Fn(&str) -> &'a str,
) -> &'static [&'static str] {
    if annotation("rdma.ome.io/auto-inject") == "true" { &["dshm", "devinf"] } else { &[] }
}

/// Faults of one pod: mounts, volumes and resources. `runner` is the container that is beside
/// the list in a component and is among it in a pod that was built; `injected` are names of volumes
/// that will be there although the pod does not have them yet; `path` is that of the node that
/// holds the pod's fields.
pub(crate) fn pod(
    pod: &Node,
    runner: Option<&Node>,
    injected: &[&str],
    path: &str,
    findings: &mut Vec<Diagnostic>,
) {
    volumes(pod, path, findings);
    for (container, path) in containers(pod, runner, path) {
        mounts(pod, container, injected, &path, findings);
        resources(container, &path, findings);
    }
}

/// The containers of a pod with their paths: the runner first, then the lists.
fn containers<'a>(pod: &'a Node, runner: Option<&'a Node>, path: &str) -> Vec<(&'a Node, String)> {
    let mut all: Vec<_> =
        runner.map(|runner| (runner, format!("{path}.runner"))).into_iter().collect();
    for key in ["initContainers", "containers"] {
        let list = pod.get(key).map(Node::items).unwrap_or_default();
        all.extend(
            list.iter()
                .enumerate()
                .map(|(index, container)| (container, format!("{path}.{key}[{index}]"))),
        );
    }
    all
}

/// A mount needs a volume of its name (OME docs, Serving Runtime, Engine Configuration).
fn mounts(
    pod: &Node,
    container: &Node,
    injected: &[&str],
    path: &str,
    findings: &mut Vec<Diagnostic>,
) {
    let mounts = container.get("volumeMounts").map(Node::items).unwrap_or_default();
    if mounts.is_empty() {
        return;
    }
    let names: Vec<&str> = pod
        .get("volumes")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .map(|volume| text(volume, "name"))
        .collect();
    let existing: HashSet<&str> = names.iter().copied().collect();
    let nearby = OnceCell::new();
    for (index, mount) in mounts.iter().enumerate() {
        // A mount without a name is a finding of the schema.
        let Some(name) = mount.get("name") else { continue };
        let wanted = name.as_str().unwrap_or("");
        if injected.contains(&wanted) || existing.contains(wanted) {
            continue;
        }
        // Names are indexed at the first fault only: most pods have none.
        let near = nearby.get_or_init(|| Nearby::new(names.iter().copied())).nearest(wanted);
        findings.push(
            Diagnostic::new(
                Code::MountWithoutVolume,
                format!("the pod has no volume `{wanted}` to mount"),
            )
            .at(name.origin.span())
            .path(format!("{path}.volumeMounts[{index}].name"))
            .help(near.map_or_else(
                || "add the volume, or delete the mount".to_owned(),
                |near| format!("write `{near}`, or add the volume"),
            )),
        );
    }
}

/// One volume has one source, and one name is one volume (OME docs, Serving Runtime, Engine
/// Configuration).
fn volumes(pod: &Node, path: &str, findings: &mut Vec<Diagnostic>) {
    let volumes = pod.get("volumes").map(Node::items).unwrap_or_default();
    let mut named = Places::new();
    for (index, volume) in volumes.iter().enumerate() {
        let name = text(volume, "name");
        // Volumes without a name are no twins of each other; the schema reports the missing name.
        let twin = named.insert(name, index).filter(|_| !name.is_empty());
        let path = format!("{path}.volumes[{index}]");
        let sources: Vec<_> =
            volume.entries().filter(|entry| entry.key != "name" && !entry.node.is_null()).collect();
        if let [first, second, ..] = sources[..] {
            findings.push(
                Diagnostic::new(
                    Code::VolumeTwoSources,
                    format!(
                        "the volume `{name}` has two sources: {} and {}",
                        first.key, second.key
                    ),
                )
                .at(second.key_origin.span())
                .label(first.key_origin.span(), "the other source")
                .path(path)
                .help("keep one source"),
            );
        } else if let Some(twin) = twin.map(|twin| &volumes[twin]) {
            findings.push(
                Diagnostic::new(Code::VolumeTwoSources, format!("two volumes are named `{name}`"))
                    .at(volume.origin.span())
                    .label(twin.origin.span(), "the other volume")
                    .path(path)
                    .help("rename or delete one"),
            );
        }
    }
}

/// No request may be greater than its limit (OME docs, Serving Runtime, Engine Configuration).
fn resources(container: &Node, path: &str, findings: &mut Vec<Diagnostic>) {
    let Some(limits) = container.at(&["resources", "limits"]) else { return };
    for request in container.at(&["resources", "requests"]).map(Node::entries).into_iter().flatten()
    {
        let Some(limit) = limits.get(&request.key) else { continue };
        let written = |node: &Node| node.scalar_text().unwrap_or_default();
        // Quantities, not texts: `1000m` is not more than `1`. Invalid ones are reported
        // elsewhere.
        if let (Ok(quantity), Ok(allowed)) =
            (Quantity::parse(&written(&request.node)), Quantity::parse(&written(limit)))
            && quantity > allowed
        {
            let message = format!(
                "`{}` requests `{}`, which is more than its limit `{}`",
                request.key,
                written(&request.node),
                written(limit)
            );
            findings.push(
                Diagnostic::new(Code::RequestsExceedLimits, message)
                    .at(request.node.origin.span())
                    .label(limit.origin.span(), "the limit")
                    .path(format!("{path}.resources.requests.{}", request.key))
                    .help("raise the limit or lower the request"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::node;

    #[test]
    fn pod_lint_reports_each_fault_with_its_path() {
        for (about, subject, expected) in [
            (
                "a volume for the mount",
                "{volumes: [{name: dshm, emptyDir: {}}], runner: {volumeMounts: [{name: dshm}]}}",
                vec![],
            ),
            (
                "OME docs, Serving Runtime, Engine Configuration no volume",
                "{volumes: [{name: cach, emptyDir: {}}], runner: {volumeMounts: [{name: cache}]}}",
                vec!["mount-without-volume p.runner.volumeMounts[0].name"],
            ),
            (
                "in an init container",
                "{initContainers: [{volumeMounts: [{name: a}]}]}",
                vec!["mount-without-volume p.initContainers[0].volumeMounts[0].name"],
            ),
            (
                "OME docs, Serving Runtime, Engine Configuration two sources",
                "{volumes: [{name: a, emptyDir: {}, hostPath: {path: /a}}]}",
                vec!["volume-two-sources p.volumes[0]"],
            ),
            (
                "OME docs, Serving Runtime, Engine Configuration one name twice",
                "{volumes: [{name: a, emptyDir: {}}, {name: a, hostPath: {path: /a}}]}",
                vec!["volume-two-sources p.volumes[1]"],
            ),
            (
                "OME docs, Serving Runtime, Engine Configuration 16 under 8",
                "{runner: {resources: {requests: {cpu: '16'}, limits: {cpu: 8}}}}",
                vec!["requests-exceed-limits p.runner.resources.requests.cpu"],
            ),
            (
                "OME docs, Serving Runtime, Engine Configuration the same amount",
                "{runner: {resources: {requests: {memory: 64Gi}, limits: {memory: 65536Mi}}}}",
                vec![],
            ),
            ("no limit", "{containers: [{resources: {requests: {cpu: 4}}}]}", vec![]),
        ] {
            let mut findings = Vec::new();
            let subject = node(subject);
            pod(&subject, subject.get("runner"), &[], "p", &mut findings);
            let found: Vec<_> = findings
                .iter()
                .map(|finding| {
                    format!("{} {}", finding.code.as_str(), finding.path.as_deref().unwrap_or(""))
                })
                .collect();
            assert_eq!(found, expected, "{about}");
        }
    }

    #[test]
    fn component_lint_reports_each_fault() {
        for (component, serverless, expected) in [
            ("{scaleMetric: rps}", false, vec!["metric-needs-serverless"]),
            ("{scaleMetric: concurrency}", true, vec![]),
            ("{scaleMetric: cpu}", false, vec![]),
            ("{minReplicas: 4, maxReplicas: 2}", false, vec!["replica-range"]),
            ("{minReplicas: 2, maxReplicas: 2}", false, vec![]),
            ("{maxReplicas: 2}", false, vec![]),
            ("{worker: {}}", false, vec!["worker-size-absent"]),
            ("{worker: {size: 0}}", false, vec![]),
        ] {
            let mut findings = Vec::new();
            let subject = node(component);
            let path: PathOf<'_> = &|_, field| field.into();
            metric(&subject, serverless, path, &mut findings);
            replica_range(&subject, path, &mut findings);
            worker_size(&subject, path, &mut findings);
            assert_eq!(
                findings.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(),
                expected,
                "{component} {serverless}"
            );
        }
    }
}

//! Rules about components of runtimes, and about the parts of services that do not depend on a
//! runtime. Merged components are checked after the merge, elsewhere.

use super::{View, about, graded};
use crate::api::{ComponentKind, Object};
use crate::diag::{Code, Diagnostic};
use crate::pods::lint;
use crate::yaml::{Node, Origin};

/// Volumes that admission webhooks add to a pod, with the annotation that requests them
/// (pkg/constants/constants.go).
const INJECTED: [(&str, &[&str]); 3] = [
    ("rdma.ome.io/auto-inject", &["dshm", "devinf"]),
    ("ome.io/inject-model-init", &["model-empty-dir"]),
    ("ome.io/inject-fine-tuned-adapter", &["model-empty-dir"]),
];

/// A component as one object sets it.
struct Written<'a> {
    object: &'a Object,
    path: String,
    node: &'a Node,
    /// True when no other layer is merged with it.
    whole: bool,
}

/// Calls `visit` for every component of every OME runtime and service.
fn each<'a>(view: &View<'a>, mut visit: impl FnMut(&Written<'a>)) {
    for runtime in view.catalog.all_runtimes() {
        for kind in ComponentKind::OME {
            if let Some(node) = runtime.config(kind) {
                visit(&Written {
                    object: &runtime.object,
                    path: format!("spec.{}", kind.config_key()),
                    node,
                    whole: true,
                });
            }
        }
    }
    for views in view.catalog.services() {
        let service = views.followed();
        for component in &service.components {
            // The deprecated form uses another key.
            // Findings have the path that the user wrote.
            let key =
                if service.predictor.migrated { "predictor" } else { component.kind.as_str() };
            visit(&Written {
                object: &service.object,
                path: format!("spec.{key}"),
                node: &component.node,
                whole: false,
            });
        }
    }
}

/// Adds the findings of a shared rule, with the name of the object in the message.
fn adopt(object: &Object, new: Vec<Diagnostic>, found: &mut Vec<Diagnostic>) {
    found.extend(new.into_iter().map(|finding| {
        let severity = graded(finding.severity, object);
        finding.severity(severity).object(object.id.to_string())
    }));
}

/// Checks that a worker has a container and a size (OME docs, Serving Runtime, Engine Configuration
/// and Multi-Node Configuration).
pub(crate) fn workers(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    each(view, |written| {
        let Some(worker) = written.node.get("worker").filter(|worker| worker.as_map().is_some())
        else {
            return;
        };
        let at = written
            .node
            .as_map()
            .and_then(|map| map.entry("worker"))
            .and_then(|entry| entry.key_origin.span())
            .or(worker.origin.span());
        // The runtime may supply what a service leaves out; after the merge it is checked again.
        if !written.whole {
            return;
        }
        if worker.get("runner").is_none() && worker.get("containers").is_none_or(Node::is_empty) {
            found.push(
                about(
                    Code::WorkerWithoutContainer,
                    written.object,
                    "the worker has neither a runner nor containers",
                )
                .at(at)
                .path(format!("{}.worker", written.path))
                .help("add `runner` to the worker"),
            );
        }
        let mut new = Vec::new();
        lint::worker_size(
            written.node,
            &|_: Origin, field: &str| format!("{}.{field}", written.path),
            &mut new,
        );
        adopt(written.object, new, found);
    });
}

/// Checks that maxReplicas is not below minReplicas (OME docs, Serving Runtime, Engine
/// Configuration; docs/decisions.md#replicas).
pub(crate) fn replicas(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    each(view, |written| {
        let mut new = Vec::new();
        lint::replica_range(
            written.node,
            &|_: Origin, field: &str| format!("{}.{field}", written.path),
            &mut new,
        );
        adopt(written.object, new, found);
    });
}

/// Checks mounts, volumes and resources of the pods of a runtime (OME docs, Serving Runtime, Engine
/// Configuration).
pub(crate) fn pods(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    // The operator adds a volume for the model to the pod, with the model's name.
    let models: Vec<&str> =
        view.catalog.models().map(|model| model.object.id.name.as_str()).collect();
    each(view, |written| {
        // Volumes of a service may come from its runtime.
        if !written.whole {
            return;
        }
        let mut given = injected(written.node);
        // Any model of the catalog, as a runtime does not know which one it will serve.
        given.extend(&models);
        let mut new = Vec::new();
        let mut pod = |pod: &Node, path: &str| {
            lint::pod(pod, pod.get("runner"), &given, path, &mut new);
        };
        pod(written.node, &written.path);
        for part in ["leader", "worker"] {
            if let Some(node) = written.node.get(part) {
                pod(node, &format!("{}.{part}", written.path));
            }
        }
        adopt(written.object, new, found);
    });
}

/// Returns the volumes that a webhook adds to the pods of a component because of its annotations.
fn injected(component: &Node) -> Vec<&'static str> {
    let requests = |key: &str| {
        component
            .at(&["annotations", key])
            .and_then(Node::as_str)
            .is_some_and(|value| !value.is_empty() && value != "false")
    };
    INJECTED
        .iter()
        .filter(|(key, _)| requests(key))
        .flat_map(|(_, names)| names.iter().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{codes, model, run, runtime, service};
    use crate::api::Semantics::Documented;

    #[test]
    fn engine_and_decoder_configs_of_runtimes_are_checked() {
        // OME docs, Serving Runtime, Engine Configuration and Multi-Node Configuration;
        // docs/decisions.md#replicas. Rows: an engine, and the codes of its findings.
        for (engine, expected) in [
            ("{runner: {name: a, image: i}}", &[][..]),
            ("{minReplicas: 3, maxReplicas: 1}", &["replica-range"]),
            ("{leader: {runner: {}}, worker: {size: 2}}", &["worker-without-container"]),
            ("{leader: {runner: {}}, worker: {runner: {}}}", &["worker-size-absent"]),
            ("{runner: {volumeMounts: [{name: cache, mountPath: /c}]}}", &["mount-without-volume"]),
            (
                "{leader: {runner: {volumeMounts: [{name: cache, mountPath: /c}]}}, volumes: [{name: cache, emptyDir: {}}]}",
                &["mount-without-volume"],
            ),
            (
                "{runner: {volumeMounts: [{name: dshm, mountPath: /c}]}, annotations: {rdma.ome.io/auto-inject: 'true'}}",
                &[],
            ),
            ("{volumes: [{name: a, emptyDir: {}, hostPath: {path: /a}}]}", &["volume-two-sources"]),
            (
                "{worker: {size: 1, runner: {resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}}}}",
                &["requests-exceed-limits"],
            ),
        ] {
            let text = runtime("a", &format!("  engineConfig: {engine}\n"));
            assert_eq!(codes(&run(&text, Documented)), expected, "{engine}");
            let text = runtime("a", &format!("  decoderConfig: {engine}\n"));
            assert_eq!(codes(&run(&text, Documented)), expected, "decoder {engine}");
        }
    }

    #[test]
    fn a_mount_of_the_model_volume_is_accepted() {
        let mount = "  engineConfig: {runner: {volumeMounts: [{name: tiny, mountPath: /c}]}}\n";
        let both = format!("{}---\n{}", runtime("a", mount), model("tiny", ""));
        assert_eq!(codes(&run(&both, Documented)), ["model-incomplete"]);
        assert_eq!(codes(&run(&runtime("a", mount), Documented)), ["mount-without-volume"]);
    }

    #[test]
    fn a_service_is_checked_without_its_runtime_fields() {
        let found = run(
            &service(
                "s",
                "  engine: {minReplicas: 3, maxReplicas: 1, runner: {volumeMounts: [{name: of-the-runtime, mountPath: /c}]}}\n",
            ),
            Documented,
        );
        assert_eq!(codes(&found), ["replica-range"]);
    }
}

//! What the validating webhook refuses in a ModelBooster
//! (pkg/model-booster-controller/webhook/model_validator.go, validateModel, in its order).
//!
//! The tree is pruned and has the CRD's defaults. Messages are the webhook's, after the path.

use super::backend::{Backend, Worker};
use super::network;
use crate::diag::{Code, Diagnostic};
use crate::quantity::go_quote;
use crate::yaml::Node;

/// Adds what the webhook refuses.
pub(super) fn check(backend: Backend<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut check = Check { backend, diagnostics };
    check.replicas();
    check.images();
    check.worker_types();
    check.port();
    check.claims();
    // Last, as in validateModel: the message is about both workers together.
    if let Err(message) = network::connector(backend) {
        let name = go_quote(backend.name());
        let message =
            format!("invalid value {name}: invalid kv connector configuration: {message}");
        check.report(backend.node.get("workers"), "workers", &message);
    }
}

struct Check<'a, 'd> {
    backend: Backend<'a>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Check<'_, '_> {
    fn report(&mut self, node: Option<&Node>, path: &str, message: &str) {
        let node = node.unwrap_or(self.backend.node);
        let path = format!("spec.backend.{path}");
        self.diagnostics.push(
            Diagnostic::new(Code::InvalidValue, format!("`{path}`: {message}"))
                .at(node.origin.span().or_else(|| self.backend.node.origin.span()))
                .path(path),
        );
    }

    fn replicas(&mut self) {
        const MOST: i64 = 1_000_000;
        let node = self.backend.node.get("replicas");
        // Less than 0 is refused by the CRD, before the webhook runs.
        if let Some(replicas) = node.and_then(Node::as_int).filter(|replicas| *replicas > MOST) {
            let message =
                format!("invalid value {replicas}: replicas ({replicas}) cannot exceed {MOST}");
            self.report(node, "replicas", &message);
        }
    }

    fn images(&mut self) {
        for (index, worker) in self.backend.workers().enumerate() {
            let node = worker.node.get("image");
            let image = node.and_then(Node::as_str).unwrap_or_default();
            // An empty image has no whitespace and passes.
            if image.chars().any(char::is_whitespace) {
                let what = if image.trim().is_empty() {
                    "image cannot be empty or whitespace only"
                } else {
                    "image cannot contain whitespace"
                };
                let message = format!(
                    "invalid value {}: invalid container image reference: {what}",
                    go_quote(image)
                );
                self.report(node, &format!("workers[{index}].image"), &message);
            }
        }
    }

    fn worker_types(&mut self) {
        let workers: Vec<Worker<'_>> = self.backend.workers().collect();
        let ty = |worker: &Worker<'_>| go_quote(worker.ty());
        if !self.backend.disaggregated() {
            if workers.len() != 1 {
                let message = format!(
                    "invalid value {}: If backend type is 'vLLM', there must be exactly one worker",
                    workers.len()
                );
                self.report(self.backend.node.get("workers"), "workers", &message);
            } else if workers[0].ty() != "server" {
                let message = format!(
                    "invalid value {}: If backend type is 'vLLM', the worker type must be 'server'",
                    ty(&workers[0])
                );
                self.report(Some(workers[0].node), "workers[0].type", &message);
            }
            return;
        }
        for (index, worker) in workers.iter().enumerate() {
            if !matches!(worker.ty(), "prefill" | "decode") {
                let message = format!(
                    "invalid value {}: If backend type is 'vLLMDisaggregated', all workers must be type 'prefill' or 'decode'",
                    ty(worker)
                );
                self.report(Some(worker.node), &format!("workers[{index}].type"), &message);
            }
        }
    }

    fn port(&mut self) {
        if let Err(error) = self.backend.port() {
            // The place is that of the worker whose port differs from those before it.
            let worker = self.backend.workers().nth(error.worker);
            let config = worker.and_then(|worker| worker.node.get("config"));
            let node = config.and_then(|config| config.get("port")).or(config);
            let message = format!("invalid value {}: {}", error.value, error.message);
            self.report(node, &format!("workers[{}].config.port", error.worker), &message);
        }
    }

    /// A model in a volume claim is read through the claim of the cache.
    fn claims(&mut self) {
        let (model, cache) = (self.backend.node.get("modelURI"), self.backend.node.get("cacheURI"));
        let Some(path) = self.backend.text("modelURI").strip_prefix("pvc://") else { return };
        let uri = go_quote(self.backend.text("modelURI"));
        let cache_uri = self.backend.text("cacheURI");
        let Some(claim) = cache_uri.strip_prefix("pvc://") else {
            let message = format!(
                "invalid value {}: when modelURI uses pvc://, cacheURI must also use pvc://. The downloader only has access to the volume mounted via cacheURI. Set cacheURI to the PVC that holds the model (e.g. pvc://<claimName>) and set modelURI to the path within that PVC (e.g. pvc:///<claimName>/<path-to-model>)",
                go_quote(cache_uri)
            );
            self.report(cache.or(model), "cacheURI", &message);
            return;
        };
        if path.split('/').any(|segment| segment == "..") {
            let message =
                format!("invalid value {uri}: pvc:// modelURI must not contain '..' path segments");
            self.report(model, "modelURI", &message);
            return;
        }
        let claim = claim.trim_matches('/');
        if claim.is_empty() || claim.contains('/') {
            let message = format!(
                "invalid value {}: pvc:// cacheURI must contain a single PVC claim name with no path separator (e.g. pvc://<claimName>); claim names cannot contain '/'",
                go_quote(cache_uri)
            );
            self.report(cache, "cacheURI", &message);
            return;
        }
        // Go cleans the path first: empty and `.` segments do not count.
        let segments: Vec<&str> =
            path.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
        if segments.first() != Some(&claim) {
            let message = format!(
                "invalid value {uri}: PVC source path \"/{}\" is not reachable via cacheURI mount \"/{claim}\". The downloader only has access to PVCs mounted via cacheURI. If the source model and the cache are on the same PVC, set cacheURI to the PVC name and include that name as the first path segment of modelURI. Example: cacheURI: pvc://<claimName>, modelURI: pvc:///<claimName>/<path-to-model>",
                segments.join("/")
            );
            self.report(model, "modelURI", &message);
        }
    }
}

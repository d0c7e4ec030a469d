//! Where an OME service is entered, from outside and from inside of the cluster (ome-objects.md 2.9 to 2.13, 5).
//!
//! In: the ingress settings as the service's annotations leave them, and names that others have expanded. Out: two base URLs
//! and what is to be known about them.

use crate::api::IngressConfig;
use crate::diag::{Checked, Code, Diagnostic};
use serde::Serialize;

/// What runs behind the entry: the mode of the router, else of the decoder, else of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Deployments or LeaderWorkerSets behind Services.
    Pods,
    /// RayClusters, for which there is no ingress.
    Ray,
    /// A Knative Service.
    Serverless,
    /// Nothing that the operator deploys.
    Virtual,
}

/// What is known of an OME service.
#[derive(Clone, Copy, Debug)]
pub struct OmeFacts<'a> {
    /// Name of the service.
    pub name: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// What runs behind the entry.
    pub backend: Backend,
    /// It has a router.
    pub router: bool,
    /// First port of the Service of the router, else of the engine; none when unknown, which is 8080.
    pub port: Option<u16>,
    /// The settings, annotations applied.
    pub ingress: &'a IngressConfig,
    /// The domain template, expanded for the service.
    pub host: &'a str,
    /// The path template, expanded; none without one.
    pub path: Option<&'a str>,
    /// Label `networking.knative.dev/visibility: cluster-local`.
    pub cluster_local: bool,
}

/// Domain of the cluster; the operator reads it from the resolver of its own pod, which nobody knows offline.
const CLUSTER_DOMAIN: &str = "cluster.local";

/// Port of a Service that names none.
const DEFAULT_PORT: u16 = 8080;

/// Base URLs without a slash at their end; a protocol's paths follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// From outside; none when nothing leads in.
    pub external: Option<String>,
    /// From inside.
    pub internal: Option<String>,
}

impl Entry {
    /// The base of full URLs: from outside when there is a way in, else from inside.
    pub fn base(&self) -> Option<&str> {
        self.external.as_deref().or(self.internal.as_deref())
    }
}

/// Where an OME service is entered; nowhere, with a finding that says why, when the operator makes no way in.
///
/// The status of the operator adds the Service's port to the host of an Ingress; ingresses listen on the port of the scheme,
/// so it is left out here.
pub fn ome(facts: &OmeFacts<'_>) -> Checked<Entry> {
    let OmeFacts { name, namespace, ingress, .. } = *facts;
    let port = facts.port.unwrap_or(DEFAULT_PORT);
    let service = |service: &str| format!("http://{service}.{namespace}.svc.{CLUSTER_DOMAIN}");
    let with_port = |service_name: &str| format!("{}:{port}", service(service_name));
    let scheme = if ingress.url_scheme.is_empty() { "http" } else { ingress.url_scheme.as_str() };
    let refused = |message: String, help: &str| Checked { value: Entry::default(), diagnostics: vec![Diagnostic::new(Code::InvalidInput, message).help(help)] };

    if facts.backend == Backend::Virtual {
        return Checked::clean(Entry { external: None, internal: Some(service(name)) });
    }
    if ingress.disable_ingress_creation {
        if facts.cluster_local {
            return refused(
                format!("service `{name}` has no entry: it is cluster-local, and ingress creation is disabled"),
                "delete the label `networking.knative.dev/visibility`, or allow ingress creation",
            );
        }
        return Checked::clean(Entry { external: None, internal: Some(with_port(name)) });
    }
    let component = if facts.router { "router" } else { "engine" };
    let path = facts.path.unwrap_or_default().trim_end_matches('/');
    match facts.backend {
        Backend::Ray => refused(
            format!("service `{name}` has no entry: the operator makes no ingress for MultiNodeRayVLLM"),
            "set the annotation `ome.io/ingress-disable-creation: \"true\"`",
        ),
        // Without Gateway API, paths and further domains have no effect on the Ingress of pods.
        Backend::Pods => {
            let path = if ingress.enable_gateway_api && facts.path.is_some() { format!("{}{path}", ingress.ingress_domain) } else { facts.host.to_owned() };
            Checked::clean(Entry { external: Some(format!("{scheme}://{path}")), internal: Some(with_port(&format!("{name}-{component}"))) })
        }
        Backend::Serverless | Backend::Virtual => {
            let outside = if facts.path.is_some() { format!("{}{path}", ingress.ingress_domain) } else { facts.host.to_owned() };
            let external = (!facts.cluster_local).then(|| format!("{scheme}://{outside}"));
            Checked::clean(Entry { external, internal: Some(service(name)) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::OperatorConfig;

    #[test]
    fn entries_follow_the_ingress_settings() {
        let closed = OperatorConfig::default().ingress;
        let open = IngressConfig { disable_ingress_creation: false, ingress_domain: "ml.example.com".into(), ..closed.clone() };
        let gateway = IngressConfig { enable_gateway_api: true, url_scheme: "https".into(), ..open.clone() };
        let facts = OmeFacts {
            name: "chat",
            namespace: "prod",
            backend: Backend::Pods,
            router: false,
            port: Some(8080),
            ingress: &closed,
            host: "chat.prod.ml.example.com",
            path: None,
            cluster_local: false,
        };
        for (facts, external, internal) in [
            (facts, None, "http://chat.prod.svc.cluster.local:8080"),
            (OmeFacts { port: Some(30000), ..facts }, None, "http://chat.prod.svc.cluster.local:30000"),
            (OmeFacts { port: None, ..facts }, None, "http://chat.prod.svc.cluster.local:8080"),
            (OmeFacts { backend: Backend::Virtual, ..facts }, None, "http://chat.prod.svc.cluster.local"),
            (OmeFacts { ingress: &open, ..facts }, Some("http://chat.prod.ml.example.com"), "http://chat-engine.prod.svc.cluster.local:8080"),
            (OmeFacts { ingress: &open, router: true, ..facts }, Some("http://chat.prod.ml.example.com"), "http://chat-router.prod.svc.cluster.local:8080"),
            (
                OmeFacts { ingress: &open, path: Some("/serving/chat/"), ..facts },
                Some("http://chat.prod.ml.example.com"),
                "http://chat-engine.prod.svc.cluster.local:8080",
            ),
            (
                OmeFacts { ingress: &gateway, path: Some("/serving/chat/"), ..facts },
                Some("https://ml.example.com/serving/chat"),
                "http://chat-engine.prod.svc.cluster.local:8080",
            ),
            (OmeFacts { ingress: &open, backend: Backend::Serverless, ..facts }, Some("http://chat.prod.ml.example.com"), "http://chat.prod.svc.cluster.local"),
            (OmeFacts { ingress: &open, backend: Backend::Serverless, cluster_local: true, ..facts }, None, "http://chat.prod.svc.cluster.local"),
        ] {
            let entry = ome(&facts).value;
            assert_eq!((entry.external.as_deref(), entry.internal.as_deref()), (external, Some(internal)), "{facts:?}");
        }
        for facts in [OmeFacts { cluster_local: true, ..facts }, OmeFacts { ingress: &open, backend: Backend::Ray, ..facts }] {
            let refused = ome(&facts);
            assert_eq!((refused.value, refused.diagnostics[0].code), (Entry::default(), Code::InvalidInput), "{facts:?}");
        }
    }
}

//! Istio VirtualService of a serverless service
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/ingress_reconciler.go,
//! createIngress).

use super::{View, route};
use crate::api::{ComponentKind, KnativeDomain};
use crate::objects::build::{filled, node};
use crate::objects::domain::{KNATIVE_DOMAIN, quote};
use crate::objects::metadata::{VISIBILITY, metadata, text};
use crate::objects::rules;
use crate::yaml::{Map, Node, Rule};
use ecow::{EcoString, eco_format};

const RULE: &Rule = &rules::KSERVE_VIRTUAL_SERVICE;

/// The domain that Knative gives to the route of a component: of the domains whose selectors match
/// its labels, the one with the most labels in its selector, the first by name if several are
/// equal. It is the domain of the cluster if a label makes the route cluster-local or no domain
/// matches.
fn domain(view: &View<'_>, labels: &Map) -> EcoString {
    let local = eco_format!("svc.{}", view.cluster_domain);
    if text(labels, VISIBILITY).as_deref() == Some("cluster-local") {
        return local;
    }
    // Knative's default domain, for a cluster whose ConfigMap was not read.
    let Some(domains) = &view.config.knative_domains else { return KNATIVE_DOMAIN.into() };
    let fits = |domain: &&KnativeDomain| {
        domain.selector.iter().all(|(key, value)| text(labels, key).as_ref() == Some(value))
    };
    let listed = domains.iter().filter(|domain| domain.name != EXAMPLE);
    // Only strictly more labels replace: of equal ones the first stays.
    let found = listed.filter(fits).reduce(|best, domain| {
        if domain.selector.len() > best.selector.len() { domain } else { best }
    });
    found.map_or(local, |domain| domain.name.clone())
}

/// The key of Knative's ConfigMaps that contains their documentation.
const EXAMPLE: &str = "_example";

/// The VirtualService of a service; none while one of its components is not ready.
pub(super) fn object(view: &View<'_>) -> Option<Node> {
    let ingress = &view.config.ingress;
    let namespace = view.service.namespace.as_str();
    let name = view.name();
    let internal_host = eco_format!("{name}.{namespace}.svc.{}", view.cluster_domain);
    let predictor = view.ready(ComponentKind::Predictor)?;
    let main = view.optional(ComponentKind::Transformer).ok()?.unwrap_or(predictor);
    let explainer = view.optional(ComponentKind::Explainer).ok()?;
    // Quirk: the first occurrence is removed, even if it is part of the service's name.
    let suffix =
        if main.kind == ComponentKind::Transformer { "-transformer" } else { "-predictor" };
    let host = format!("{}.{namespace}.{}", main.name, domain(view, &main.labels));
    // Quirk: `-default` anywhere in the host is treated as the former suffix of names.
    let legacy =
        if host.contains("-default") { format!("{suffix}-default") } else { suffix.to_owned() };
    let public_host = EcoString::from(host.replacen(&legacy, "", 1));
    let internal = text(&view.labels, VISIBILITY).as_deref() == Some("cluster-local")
        || public_host == internal_host;
    // If the path cannot be rendered, the controller writes no VirtualService.
    let path = view.settings.path(name, namespace).transpose().ok()?;
    // The additional domains are outside of the cluster.
    let additional = if internal {
        Vec::new()
    } else {
        let domains = view.config.knative_domains.as_ref().map_or_else(
            || vec![KNATIVE_DOMAIN],
            |domains| domains.iter().map(|domain| domain.name.as_str()).collect(),
        );
        view.settings.additional_hosts(&public_host, &domains)
    };

    let mut hosts = vec![internal_host.clone()];
    let mut gateways = vec![ingress.local_gateway.clone(), "mesh".into()];
    if !internal {
        hosts.push(public_host.clone());
        gateways.push(ingress.ingress_gateway.clone());
    }
    if path.is_some() {
        hosts.push(view.settings.domain.clone());
    }
    let new: Vec<EcoString> =
        additional.iter().filter(|host| !hosts.contains(host)).cloned().collect();
    hosts.extend(new);

    let authority = |host: &str, gateways: Vec<EcoString>, uri: Option<Node>| node!(RULE; { authority: { regex: (expression(host)) }, gateways: gateways, uri: uri });
    let outside = || vec![ingress.ingress_gateway.clone()];
    let matches = |uri: &Option<Node>| {
        let mut found = vec![authority(
            &internal_host,
            vec![ingress.local_gateway.clone(), "mesh".into()],
            uri.clone(),
        )];
        if !internal {
            found.push(authority(&public_host, outside(), uri.clone()));
            let others = additional.iter().filter(|host| **host != public_host);
            found.extend(others.map(|host| authority(host, outside(), uri.clone())));
        }
        found
    };
    let to = |component: &EcoString, found: Vec<Option<Node>>, rewrite: Option<Node>| {
        let target = eco_format!("{component}.{namespace}.svc.{}", view.cluster_domain);
        node!(RULE; {
            match: found,
            rewrite: rewrite,
            route: [{ destination: { host: (filled(&ingress.knative_local_gateway_service)), port: { number: 80 } }, weight: 100 }],
            headers: { request: { set: { Host: target, "KServe-Isvc-Namespace": (&view.namespace), "KServe-Isvc-Name": name } } },
        })
    };
    // The first match wins: the explainer's narrower paths come before all others.
    let mut routes = Vec::new();
    if let Some(explainer) = explainer {
        routes.push(to(&explainer.name, matches(&node!(RULE; { regex: (route::EXPLAIN) })), None));
    }
    routes.push(to(&main.name, matches(&None), None));
    if let Some(path) = path {
        let at = |uri| authority(&view.settings.domain, outside(), uri);
        if let Some(explainer) = explainer {
            let pattern = eco_format!(r"{path}(/v1/models/[\w-]+:explain)$");
            let rewrite = node!(RULE; { uriRegexRewrite: { match: (&pattern), rewrite: "\\1" } });
            routes.push(to(&explainer.name, vec![at(node!(RULE; { regex: (&pattern) }))], rewrite));
        }
        // The prefix ends with a slash, so that `/a/bc` does not lie below `/a/b`.
        let (prefix, exact) =
            (node!(RULE; { prefix: (eco_format!("{path}/")) }), node!(RULE; { exact: (&path) }));
        routes.push(to(&main.name, vec![at(prefix), at(exact)], node!(RULE; { uri: "/" })));
    }
    node!(RULE; {
        apiVersion: "networking.istio.io/v1beta1",
        kind: "VirtualService",
        metadata: (metadata(name.clone(), Some(&view.namespace), &view.labels, &view.allowed)),
        spec: { hosts: hosts, gateways: gateways, http: routes },
    })
}

/// A regular expression for a host with an optional port.
fn expression(host: &str) -> EcoString {
    eco_format!(r"^{}(?::\d{{1,5}})?$", quote(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_become_anchored_regular_expressions() {
        assert_eq!(
            expression("iris.default.svc.cluster.local"),
            r"^iris\.default\.svc\.cluster\.local(?::\d{1,5})?$"
        );
    }
}

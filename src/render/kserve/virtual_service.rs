//! Istio VirtualService of a serverless service (kserve.md 6.2).

use super::{View, route};
use crate::api::ComponentKind;
use crate::render::build::node;
use crate::render::kind::virtual_service::{KNATIVE_DOMAIN, quote};
use crate::render::metadata::{metadata, text};
use crate::render::rules;
use crate::yaml::{Node, Rule};
use ecow::{EcoString, eco_format};

const RULE: &Rule = &rules::KSERVE_VIRTUAL_SERVICE;

/// The VirtualService of a service.
pub(super) fn object(view: &View<'_>) -> Option<Node> {
    let ingress = &view.config.ingress;
    let namespace = view.service.namespace.as_str();
    let name = view.name();
    let internal_host = eco_format!("{name}.{namespace}.svc.{}", view.cluster_domain);
    let main = view
        .component(ComponentKind::Transformer)
        .or_else(|| view.component(ComponentKind::Predictor))?;
    let explainer = view.component(ComponentKind::Explainer);
    // Quirk: the first occurrence goes, also when it belongs to the service's own name.
    let suffix =
        if main.kind == ComponentKind::Transformer { "-transformer" } else { "-predictor" };
    let host = format!("{}.{namespace}.{KNATIVE_DOMAIN}", main.name);
    // Quirk: `-default` anywhere in the host is taken for the suffix that names once had.
    let legacy =
        if host.contains("-default") { format!("{suffix}-default") } else { suffix.to_owned() };
    let public_host = EcoString::from(host.replacen(&legacy, "", 1));
    let internal = text(&view.labels, "networking.knative.dev/visibility").as_deref()
        == Some("cluster-local")
        || public_host == internal_host;
    // Without a path that can be written neither routes nor alias are.
    let path = view.settings.path(name, namespace).transpose().ok()?;
    let additional = if internal {
        Vec::new()
    } else {
        view.settings
            .additional_hosts(&public_host, &[KNATIVE_DOMAIN, view.settings.domain.as_str()])
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
    hosts.extend(additional.iter().cloned());
    let mut seen: Vec<EcoString> = Vec::new();
    hosts.retain(|host| {
        let new = !seen.contains(host);
        seen.push(host.clone());
        new
    });

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
            found.extend(additional.iter().map(|host| authority(host, outside(), uri.clone())));
        }
        found
    };
    let to = |component: &EcoString, found: Vec<Option<Node>>, rewrite: Option<Node>| {
        let target = eco_format!("{component}.{namespace}.svc.{}", view.cluster_domain);
        node!(RULE; {
            match: found,
            rewrite: rewrite,
            route: [{ destination: { host: (&ingress.knative_local_gateway_service), port: { number: 80 } }, weight: 100 }],
            headers: { request: { set: { Host: target, "KServe-Isvc-Namespace": (&view.namespace), "KServe-Isvc-Name": name } } },
        })
    };
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
    fn hosts_become_expressions() {
        assert_eq!(
            expression("iris.default.svc.cluster.local"),
            r"^iris\.default\.svc\.cluster\.local(?::\d{1,5})?$"
        );
    }
}

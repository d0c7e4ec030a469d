//! Istio VirtualService, `networking.istio.io/v1beta1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/builders/virtualservice_builder.go,
//! BuildVirtualService).

use super::ingress::Entry;
use crate::api::{ComponentKind, OperatorConfig};
use crate::objects::build::{filled, node};
use crate::objects::domain::{KNATIVE_DOMAIN, quote};
use crate::objects::metadata::{VISIBILITY, allowed_annotations, metadata, text};
use crate::objects::rules;
use crate::yaml::{Node, Rule};
use ecow::{EcoString, eco_format};

const RULE: &Rule = &rules::VIRTUAL_SERVICE;

/// The VirtualService of a serverless service. Quirk: upstream alternates between writing and
/// deleting it (reconcilers/ingress/builders/virtualservice_builder.go).
pub(crate) fn object(
    entry: &Entry<'_>,
    config: &OperatorConfig,
    cluster_domain: &str,
) -> Option<Node> {
    let ingress = &config.ingress;
    let namespace = entry.namespace_name;
    let internal_host = eco_format!("{}.{namespace}.svc.{cluster_domain}", entry.name);
    let main = if entry.has(ComponentKind::Router) {
        ComponentKind::Router
    } else {
        ComponentKind::Engine
    };
    let public_host = public_host(entry, main);
    let internal = text(entry.labels, VISIBILITY).as_deref() == Some("cluster-local")
        || public_host == internal_host;
    // If a path template fails, only its routes are dropped.
    let path = entry.settings.path(entry.name, namespace).and_then(Result::ok);
    let additional = if internal {
        Vec::new()
    } else {
        entry.settings.additional_hosts(&public_host, &[KNATIVE_DOMAIN])
    };

    let mut hosts = vec![internal_host.clone()];
    let mut gateways = vec![ingress.local_gateway.clone(), "mesh".into()];
    let add = |hosts: &mut Vec<EcoString>, host: &EcoString| {
        if !hosts.contains(host) {
            hosts.push(host.clone());
        }
    };
    if !internal {
        add(&mut hosts, &public_host);
        gateways.push(ingress.ingress_gateway.clone());
    }
    if path.is_some() {
        add(&mut hosts, &entry.settings.domain);
    }
    for host in &additional {
        add(&mut hosts, host);
    }

    let authority = |host: &str, gateways: Vec<EcoString>, uri: Option<Node>| node!(RULE; { authority: { regex: (host_expression(host, cluster_domain)) }, gateways: gateways, uri: uri });
    let matches = |uri: &Option<Node>| {
        let mut found = vec![authority(
            &internal_host,
            vec![ingress.local_gateway.clone(), "mesh".into()],
            uri.clone(),
        )];
        if !internal {
            let outside = || vec![ingress.ingress_gateway.clone()];
            found.push(authority(&public_host, outside(), uri.clone()));
            found.extend(additional.iter().map(|host| authority(host, outside(), uri.clone())));
        }
        found
    };
    let route = |component, found: Vec<Option<Node>>, rewrite: Option<Node>| {
        let target =
            eco_format!("{}.{namespace}.svc.{cluster_domain}", entry.component_name(component));
        node!(RULE; {
            match: found,
            rewrite: rewrite,
            route: [{ destination: { host: (filled(&ingress.knative_local_gateway_service)), port: { number: 8080 } }, weight: 100 }],
            headers: { request: { set: { Host: target, "OME-Isvc-Namespace": (entry.namespace), "OMe-Isvc-Name": (entry.name) } } },
        })
    };
    let mut routes = Vec::new();
    if entry.has(ComponentKind::Decoder) {
        // The decoder's routes come first: the route without a path matches everything.
        routes.push(route(
            ComponentKind::Decoder,
            matches(&node!(RULE; { regex: "^/v1/.*$" })),
            None,
        ));
    }
    routes.push(route(main, matches(&None), None));
    if let Some(path) = path {
        let at =
            |uri| authority(&entry.settings.domain, vec![ingress.ingress_gateway.clone()], uri);
        if entry.has(ComponentKind::Decoder) {
            let expression = eco_format!("{path}(/v1/.*)$");
            let rewrite =
                node!(RULE; { uriRegexRewrite: { match: (&expression), rewrite: "\\1" } });
            routes.push(route(
                ComponentKind::Decoder,
                vec![at(node!(RULE; { regex: (&expression) }))],
                rewrite,
            ));
        }
        let (prefix, exact) =
            (node!(RULE; { prefix: (eco_format!("{path}/")) }), node!(RULE; { exact: (&path) }));
        routes.push(route(main, vec![at(prefix), at(exact)], node!(RULE; { uri: "/" })));
    }
    node!(RULE; {
        apiVersion: "networking.istio.io/v1beta1",
        kind: "VirtualService",
        metadata: (metadata(entry.name.clone(), Some(entry.namespace), entry.labels, &allowed_annotations(entry.annotations))),
        spec: { hosts: hosts, gateways: gateways, http: routes },
    })
}

/// The host that Knative gives the component, without the component's name: if the host contains
/// `-default`, the first `-engine-default` or `-router-default` is removed, else the first
/// `-engine` or `-router` (reconcilers/ingress/builders/virtualservice_builder.go).
fn public_host(entry: &Entry<'_>, main: ComponentKind) -> EcoString {
    let host =
        eco_format!("{}.{}.{KNATIVE_DOMAIN}", entry.component_name(main), entry.namespace_name);
    let suffix = if host.contains("-default") {
        eco_format!("-{}-default", main.as_str())
    } else {
        eco_format!("-{}", main.as_str())
    };
    host.replacen(suffix.as_str(), "", 1)
}

/// A regular expression for a host with an optional port; inside the cluster it also matches the
/// shorter forms of the host.
fn host_expression(host: &str, cluster_domain: &str) -> EcoString {
    const PORT: &str = r"(?::\d{1,5})?$";
    if let Some(prefix) =
        host.strip_suffix(cluster_domain).and_then(|rest| rest.strip_suffix(".svc."))
    {
        eco_format!(r"^{}(\.svc(\.{})?)?{PORT}", quote(prefix), quote(cluster_domain))
    } else {
        eco_format!("^{}{PORT}", quote(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_become_anchored_regular_expressions() {
        for (host, expected) in [
            (
                "chat.prod.svc.cluster.local",
                r"^chat\.prod(\.svc(\.cluster\.local)?)?(?::\d{1,5})?$",
            ),
            ("chat.prod.example.com", r"^chat\.prod\.example\.com(?::\d{1,5})?$"),
            ("svc.cluster.local", r"^svc\.cluster\.local(?::\d{1,5})?$"),
        ] {
            assert_eq!(host_expression(host, "cluster.local"), expected, "{host}");
        }
    }
}

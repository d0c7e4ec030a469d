//! Ingress, `networking.k8s.io/v1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/builders/ingress_builder.go).

use crate::api::{ComponentKind, OperatorConfig};
use crate::objects::build::node;
use crate::objects::domain::IngressSettings;
use crate::objects::metadata::metadata;
use crate::objects::rules;
use crate::yaml::{Map, Node, Rule};
use ecow::{EcoString, eco_format};

/// The Ingress of a service. Quirk: backends have port 8080, even if their Services expose other
/// ports.
///
/// # Errors
/// The operator's error for an invalid host.
pub(crate) fn object(entry: &Entry<'_>, config: &OperatorConfig) -> Result<Option<Node>, String> {
    const RULE: &Rule = &rules::INGRESS;
    let mut rules = Vec::new();
    for (host, backend) in targets(entry.name, entry.components) {
        let host =
            entry.settings.host(&host, entry.namespace_name, entry.labels, entry.annotations)?;
        rules.extend(node!(RULE; {
            host: host,
            http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: backend, port: { number: 8080 } } } }] },
        }));
    }
    Ok(node!(RULE; {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: (metadata(entry.name.clone(), Some(entry.namespace), &Map::new(), entry.annotations)),
        spec: { ingressClassName: (&config.ingress.ingress_class_name), rules: rules },
    }))
}

/// The service behind an Ingress, HTTPRoute or VirtualService.
pub(crate) struct Entry<'a> {
    /// Its name.
    pub(crate) name: &'a EcoString,
    /// Its namespace, with its source.
    pub(crate) namespace: &'a Node,
    /// Its namespace.
    pub(crate) namespace_name: &'a str,
    /// Its labels.
    pub(crate) labels: &'a Map,
    /// Its annotations.
    pub(crate) annotations: &'a Map,
    /// Its components.
    pub(crate) components: &'a [ComponentKind],
    /// The ingress settings in force for it.
    pub(crate) settings: &'a IngressSettings,
}

impl Entry<'_> {
    /// Whether it has a component.
    pub(crate) fn has(&self, component: ComponentKind) -> bool {
        self.components.contains(&component)
    }

    /// `SERVICE-engine` and so on.
    pub(crate) fn component_name(&self, component: ComponentKind) -> EcoString {
        eco_format!("{}-{}", self.name, component.as_str())
    }
}

/// Names that get a host, each with the name of its backend.
fn targets(name: &EcoString, components: &[ComponentKind]) -> Vec<(EcoString, EcoString)> {
    let of = |component: ComponentKind| eco_format!("{name}-{}", component.as_str());
    let names_of = |component| (of(component), of(component));
    let (decoder, router) =
        (components.contains(&ComponentKind::Decoder), components.contains(&ComponentKind::Router));
    let top = if router { ComponentKind::Router } else { ComponentKind::Engine };
    // Router first, as it receives the requests where there is one; else the engine does.
    let mut targets = vec![(name.clone(), of(top))];
    if router {
        targets.push(names_of(ComponentKind::Router));
    }
    if router || decoder {
        targets.push(names_of(ComponentKind::Engine));
    }
    if decoder {
        targets.push(names_of(ComponentKind::Decoder));
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ingress_has_a_host_per_component_and_one_for_the_service() {
        use ComponentKind::{Decoder, Engine, Router};
        for (components, expected) in [
            (&[Engine][..], &["chat->chat-engine"][..]),
            (
                &[Engine, Decoder],
                &["chat->chat-engine", "chat-engine->chat-engine", "chat-decoder->chat-decoder"],
            ),
            (
                &[Engine, Router],
                &["chat->chat-router", "chat-router->chat-router", "chat-engine->chat-engine"],
            ),
            (
                &[Engine, Decoder, Router],
                &[
                    "chat->chat-router",
                    "chat-router->chat-router",
                    "chat-engine->chat-engine",
                    "chat-decoder->chat-decoder",
                ],
            ),
        ] {
            let found: Vec<_> = targets(&"chat".into(), components)
                .into_iter()
                .map(|(host, backend)| format!("{host}->{backend}"))
                .collect();
            assert_eq!(found, expected);
        }
    }
}

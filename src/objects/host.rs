//! Host names by the template of the settings.
//!
//! In: a name, the settings of the entry, labels and annotations. Out: the host, or the operator's
//! error message. Which requests reach a host is decided elsewhere.

use crate::quantity::names;
use crate::template;
use crate::template::{DomainValues, Pairs};
use crate::yaml::{Map, Node};
use ecow::{EcoString, eco_format};

/// The template of the shipped settings of OME, which needs no template engine.
const PLAIN: &str = "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}";

/// The values of a host's template besides the name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostParts<'a> {
    /// `domainTemplate`.
    pub template: &'a str,
    /// `ingressDomain`.
    pub domain: &'a str,
    /// The namespace of the object.
    pub namespace: &'a str,
    /// Its labels.
    pub labels: &'a Map,
    /// Its annotations.
    pub annotations: &'a Map,
}

/// The host of a name.
///
/// # Errors
/// The operator's message: the template fails, or its result is not a domain name of at least two
/// labels.
pub(crate) fn host(name: &str, parts: HostParts<'_>) -> Result<EcoString, String> {
    let HostParts { template, domain, namespace, labels, annotations } = parts;
    if template == PLAIN {
        // Equal to what the engine writes for this template. A wrong result goes the long way,
        // whose error quotes the template.
        let host = eco_format!("{name}.{namespace}.{domain}");
        if names::fully_qualified_domain_name(&host).is_empty() {
            return Ok(host);
        }
    }
    let values = DomainValues {
        name,
        namespace,
        ingress_domain: domain,
        annotations: pairs(annotations),
        labels: pairs(labels),
    };
    template::domain(template, &values).map(EcoString::from).map_err(|error| error.message)
}

fn pairs(map: &Map) -> Pairs<'_> {
    map.iter().filter_map(|entry| Some((entry.key.as_str(), Node::as_str(&entry.node)?))).collect()
}

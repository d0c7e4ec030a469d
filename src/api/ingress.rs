//! Key `ingress` of the operators' ConfigMaps. The KServe and OME versions differ in two key names
//! and one default.

use crate::api::IngressConfig;
use crate::quantity::go_json_text::{boolean, list, string};
use ecow::EcoString;
use serde_json::Value as Json;

/// The name of the key in error messages.
pub(crate) const WHAT: &str = "ingress config";

/// The differences between OME and KServe.
pub(crate) struct Spelling {
    /// Key of the operator's own gateway.
    pub(crate) gateway: &'static str,
    /// Key that switches between Ingress and Gateway API.
    pub(crate) switch: &'static str,
    /// Default host template.
    pub(crate) template: &'static str,
}

/// Reads one field; ignores an unknown field, as Go does.
pub(crate) fn field(
    ingress: &mut IngressConfig,
    spelling: &Spelling,
    key: &str,
    value: &Json,
) -> Result<(), EcoString> {
    let texts = [
        ("ingressGateway", &mut ingress.ingress_gateway),
        ("localGateway", &mut ingress.local_gateway),
        ("localGatewayService", &mut ingress.local_gateway_service),
        ("knativeLocalGatewayService", &mut ingress.knative_local_gateway_service),
        (spelling.gateway, &mut ingress.ome_ingress_gateway),
        ("ingressDomain", &mut ingress.ingress_domain),
        ("domainTemplate", &mut ingress.domain_template),
        ("urlScheme", &mut ingress.url_scheme),
        ("pathTemplate", &mut ingress.path_template),
    ];
    for (name, field) in texts {
        // Go's decoder ignores the case of keys.
        if key.eq_ignore_ascii_case(name) {
            string(field, value, WHAT, &format!("IngressConfig.{name}"))?;
        }
    }
    let switches = [
        ("disableIstioVirtualHost", &mut ingress.disable_istio_virtual_host),
        ("disableIngressCreation", &mut ingress.disable_ingress_creation),
        (spelling.switch, &mut ingress.enable_gateway_api),
    ];
    for (name, field) in switches {
        if key.eq_ignore_ascii_case(name) {
            boolean(field, value, WHAT, &format!("IngressConfig.{name}"))?;
        }
    }
    if key.eq_ignore_ascii_case("ingressClassName") {
        let mut class = EcoString::new();
        string(&mut class, value, WHAT, "IngressConfig.ingressClassName")?;
        // The field is a pointer in Go: null leaves it unset, and empty text does not.
        ingress.ingress_class_name = (!value.is_null()).then_some(class);
    }
    if key.eq_ignore_ascii_case("additionalIngressDomains") {
        ingress.additional_domains = list(value, WHAT, "IngressConfig.additionalIngressDomains")?;
    }
    Ok(())
}

/// Checks that `ingressDomain` is set when `pathTemplate` is.
pub(crate) fn path_has_a_domain(ingress: &IngressConfig) -> Result<(), EcoString> {
    // The operators also parse `pathTemplate` here; in this crate, `objects::domain` parses
    // templates.
    if !ingress.path_template.is_empty() && ingress.ingress_domain.is_empty() {
        return Err(
            "invalid ingress config - ingressDomain is required if pathTemplate is given".into()
        );
    }
    Ok(())
}

/// Replaces empty values with the operators' defaults.
pub(crate) fn default_empty(ingress: &mut IngressConfig, spelling: &Spelling) {
    for (value, default) in [
        (&mut ingress.domain_template, spelling.template),
        (&mut ingress.ingress_domain, "example.com"),
        (&mut ingress.url_scheme, "http"),
    ] {
        if value.is_empty() {
            *value = default.into();
        }
    }
}

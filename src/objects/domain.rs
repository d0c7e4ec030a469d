//! Ingress settings in force for an object, host names and paths.
//!
//! In: the operator's settings, annotations that overlay them, names. Out: hosts and paths, or the
//! operator's error message
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/services). Templates themselves are
//! expanded by `compose::template`.

use super::metadata::text;
use crate::api::{IngressConfig, OperatorConfig};
use crate::objects::host::{HostParts, host};
use crate::quantity::{hash, names};
use crate::template;
use crate::yaml::Map;
use ecow::{EcoString, eco_format};

/// The ingress settings for one object: the ConfigMap with the object's annotations over it.
#[derive(Clone, Debug)]
pub(crate) struct IngressSettings {
    /// `ingressDomain`.
    pub(crate) domain: EcoString,
    /// `domainTemplate`.
    pub(crate) domain_template: EcoString,
    /// `pathTemplate`; empty means none.
    pub(crate) path_template: EcoString,
    /// `additionalIngressDomains`.
    pub(crate) additional_domains: Vec<EcoString>,
    /// `disableIstioVirtualHost`.
    pub(crate) disable_istio_virtual_host: bool,
    /// `disableIngressCreation`.
    pub(crate) disable_ingress_creation: bool,
}

impl IngressSettings {
    /// The settings without annotations.
    pub(crate) fn of(ingress: &IngressConfig) -> Self {
        Self {
            domain: ingress.ingress_domain.clone(),
            domain_template: ingress.domain_template.clone(),
            path_template: ingress.path_template.clone(),
            additional_domains: ingress.additional_domains.clone(),
            disable_istio_virtual_host: ingress.disable_istio_virtual_host,
            disable_ingress_creation: ingress.disable_ingress_creation,
        }
    }

    /// The settings under the annotations of an object. `enableGatewayAPI`, the class and the
    /// gateways have none.
    pub(crate) fn resolve(config: &OperatorConfig, annotations: &Map) -> Self {
        let ingress = Self::of(&config.ingress);
        // An empty annotation of these does not clear the setting: there is no host without a
        // domain.
        let non_empty = |key| text(annotations, key).filter(|value| !value.is_empty());
        // Any text but `true` switches the flag off, even where the ConfigMap has it on.
        let flag = |key, default| text(annotations, key).map_or(default, |value| value == "true");
        let split = |value: EcoString| {
            value.split(',').map(|domain| EcoString::from(domain.trim())).collect()
        };
        Self {
            domain: non_empty("ome.io/ingress-domain").unwrap_or_else(|| ingress.domain.clone()),
            domain_template: non_empty("ome.io/ingress-domain-template")
                .unwrap_or_else(|| ingress.domain_template.clone()),
            // An empty path template clears the setting.
            path_template: text(annotations, "ome.io/ingress-path-template")
                .unwrap_or_else(|| ingress.path_template.clone()),
            additional_domains: non_empty("ome.io/ingress-additional-domains")
                .map_or_else(|| ingress.additional_domains.clone(), split),
            disable_istio_virtual_host: flag(
                "ome.io/ingress-disable-istio-virtualhost",
                ingress.disable_istio_virtual_host,
            ),
            disable_ingress_creation: flag(
                "ome.io/ingress-disable-creation",
                ingress.disable_ingress_creation,
            ),
        }
    }

    /// The host of a name under these settings.
    ///
    /// # Errors
    /// The operator's message: the template fails, or its result is not a domain name of at least
    /// two labels.
    pub(crate) fn host(
        &self,
        name: &str,
        namespace: &str,
        labels: &Map,
        annotations: &Map,
    ) -> Result<EcoString, String> {
        // The name becomes the first label of the host, and a DNS label has at most 63 bytes.
        self.host_of(&hash::truncate63(name), namespace, labels, annotations)
    }

    /// The host of a name that is not shortened.
    ///
    /// # Errors
    /// As [`Self::host`].
    pub(crate) fn host_of(
        &self,
        name: &str,
        namespace: &str,
        labels: &Map,
        annotations: &Map,
    ) -> Result<EcoString, String> {
        host(
            name,
            HostParts {
                template: &self.domain_template,
                domain: &self.domain,
                namespace,
                labels,
                annotations,
            },
        )
    }

    /// The path under which a service answers at the ingress domain, without a trailing `/`; none
    /// without a template.
    ///
    /// # Errors
    /// The operator's message: the template fails, or its result is not an absolute path.
    pub(crate) fn path(&self, name: &str, namespace: &str) -> Option<Result<EcoString, String>> {
        if self.path_template.is_empty() {
            return None;
        }
        let path =
            template::path(&self.path_template, name, namespace).map_err(|error| error.message);
        Some(path.map(|path| EcoString::from(path.strip_suffix('/').unwrap_or(&path))))
    }

    /// The hosts a service answers on beside `host`: its part before the first of `suffixes` that
    /// fits, under every additional domain. Results that are not domain names are skipped.
    pub(crate) fn additional_hosts(&self, host: &str, suffixes: &[&str]) -> Vec<EcoString> {
        let Some(prefix) = suffixes
            .iter()
            .find_map(|suffix| host.strip_suffix(suffix).filter(|prefix| !prefix.is_empty()))
        else {
            return Vec::new();
        };
        let mut hosts: Vec<EcoString> = Vec::new();
        for domain in &self.additional_domains {
            let host = eco_format!("{prefix}{domain}");
            // Two settings can give the same host, which a route must not list twice.
            if names::dns1123_subdomain(&host).is_empty() && !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }
}

/// What is wrong with the path template of the settings themselves: the operator parses it whenever
/// it reads them.
pub(crate) fn path_template_error(config: &OperatorConfig) -> Option<String> {
    let template = &config.ingress.path_template;
    // Only errors of syntax are the settings' own: any other depends on the names of a service, for
    // which these two are examples.
    let error = template::path(template, "name", "namespace")
        .err()
        .filter(|error| !template.is_empty() && error.kind == template::ErrorKind::Syntax)?;
    Some(format!("invalid ingress config - unable to parse pathTemplate: {}", error.message))
}

/// Default domain of Knative. Knative's own settings can change it; they are not read.
pub(crate) const KNATIVE_DOMAIN: &str = "example.com";

/// Go's regexp.QuoteMeta.
pub(crate) fn quote(text: &str) -> String {
    text.chars()
        .flat_map(|c| r"\.+*?()|[]{}^$".contains(c).then_some('\\').into_iter().chain([c]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::map;

    fn settings(annotations: &str) -> IngressSettings {
        IngressSettings::resolve(&OperatorConfig::default(), &map(annotations))
    }

    #[test]
    fn annotations_overlay_the_settings() {
        let none = settings("{}");
        assert!(none.disable_ingress_creation);
        assert_eq!(none.domain, "svc.cluster.local");
        let some = settings(
            r#"{"ome.io/ingress-domain":"x.com","ome.io/ingress-domain-template":"","ome.io/ingress-additional-domains":" a.example , b.example",
                "ome.io/ingress-disable-creation":"TRUE","ome.io/ingress-path-template":""}"#,
        );
        assert_eq!(some.domain, "x.com");
        assert_eq!(some.domain_template, "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}");
        assert_eq!(some.additional_domains, ["a.example", "b.example"]);
        assert!(!some.disable_ingress_creation, "only `true` in lower case is true");
    }

    #[test]
    fn hosts_come_from_the_template_and_must_be_domain_names() {
        for (annotations, labels, expected) in [
            ("{}", "{}", Ok("chat-engine.prod.svc.cluster.local")),
            (r#"{"ome.io/ingress-domain":"x.com"}"#, "{}", Ok("chat-engine.prod.x.com")),
            (
                r#"{"ome.io/ingress-domain-template":"{{ .Labels.team }}.{{ .IngressDomain }}"}"#,
                r#"{"team":"red"}"#,
                Ok("red.svc.cluster.local"),
            ),
            (
                r#"{"ome.io/ingress-domain-template":"{{ .Labels.team }}.{{ .IngressDomain }}"}"#,
                "{}",
                Err("invalid domain name \"<no value>.svc"),
            ),
            (
                r#"{"ome.io/ingress-domain-template":"{{ .Name }}"}"#,
                "{}",
                Err("invalid domain name \"chat-engine\""),
            ),
            (r#"{"ome.io/ingress-domain":"X.com"}"#, "{}", Err("invalid domain name")),
        ] {
            let settings = settings(annotations);
            match (settings.host("chat-engine", "prod", &map(labels), &map(annotations)), expected)
            {
                (Ok(host), Ok(expected)) => assert_eq!(host, expected),
                (Err(message), Err(expected)) => {
                    assert!(message.starts_with(expected), "{message}");
                }
                (got, expected) => panic!("{annotations}: {got:?}, not {expected:?}"),
            }
        }
    }

    #[test]
    fn a_path_template_that_cannot_be_parsed_is_an_error_of_the_settings() {
        for (template, broken) in
            [("", false), ("/{{ .Name }}", false), ("/{{ .Nmae }}", false), ("/{{ .Name", true)]
        {
            let mut config = OperatorConfig::default();
            config.ingress.path_template = template.into();
            assert_eq!(path_template_error(&config).is_some(), broken, "{template}");
        }
    }

    #[test]
    fn additional_hosts_replace_the_suffix() {
        let settings =
            settings(r#"{"ome.io/ingress-additional-domains":"a.example,a.example,-b"}"#);
        assert_eq!(
            settings.additional_hosts("chat.prod.example.com", &["other.com", "example.com"]),
            ["chat.prod.a.example"]
        );
        assert!(settings.additional_hosts("chat.prod.else.com", &["example.com"]).is_empty());
    }
}

//! Connections: the Secret from which a service gets the place of its model
//! (opendatahub-io/odh-model-controller, internal/webhook/serving/v1beta1, applyConnectionsAPI).
//!
//! In: a service as its owner wrote it. Out: the service with the address or the credentials that
//! its connection adds.

use super::{Kind, value};
use crate::api::{ComponentKind, Failure, KServeConfig, Object, Service};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{field_mut, list_mut, map_mut, text};
use crate::objects::build::node;
use crate::operators::kserve::compose::names::MAIN;
use crate::operators::kserve::is_llm;
use crate::pods::rules::OPENSHIFT_CONNECTION;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

/// Annotation with the name of a Secret.
const NAME: &str = "opendatahub.io/connections";
/// Annotation with the path in an S3 bucket.
const PATH: &str = "opendatahub.io/connection-path";
/// Annotations of a Secret with its type, each with its names of S3, addresses and images; the first
/// that is set counts (internal/webhook/connectionapi/utils.go, ValidateConnectionType).
const TYPES: [(&str, [&str; 3]); 2] = [
    ("opendatahub.io/connection-type-protocol", ["s3", "uri", "oci"]),
    ("opendatahub.io/connection-type-ref", ["s3", "uri-v1", "oci-v1"]),
];
const ORIGIN: Origin = Origin::Derived(&OPENSHIFT_CONNECTION);

/// Fills a service from its connection.
///
/// # Errors
/// When the type of the connection is missing or unknown, or it has no address.
pub(super) fn apply(
    service: &mut Service,
    config: &KServeConfig,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let Some((name, named)) = named(service) else { return Ok(()) };
    let name = name.as_str();
    // Without the Secret nothing is filled in, and the service is not called wrong.
    let Some(secret) = secret(service, name, config) else {
        findings.extend(unread(service, config));
        return Ok(());
    };
    let failure = |message: String, help: &str| Failure {
        code: Code::InvalidInput,
        message,
        help: Some(help.into()),
        span: named.origin.span(),
    };
    let Some(kind) = kind(secret) else {
        return Err(failure(
            format!("connection \"{name}\" has no connection type"),
            "annotate the Secret with `opendatahub.io/connection-type-protocol: s3`, `uri` or `oci`",
        ));
    };
    if is_llm(service) {
        return super::llm::connect(service, secret, kind).map_err(|message| {
            failure(message, "give the connection what it lacks, or name another one")
        });
    }
    let Some(predictor) = service
        .components
        .iter_mut()
        .find(|component| component.kind == ComponentKind::Predictor)
        .map(|component| &mut component.node)
    else {
        return Ok(());
    };
    let path = service.object.annotation(PATH).cloned();
    match kind {
        Kind::S3 => store(predictor, name, path),
        Kind::Address => {
            let address = value(secret, "https-host").or_else(|| value(secret, "URI"));
            let Some(address) = address else {
                return Err(failure(
                    format!("connection \"{name}\" has no URI"),
                    "give its Secret the key `URI`",
                ));
            };
            // The address of the connection replaces one that the service sets.
            if let Some(model) = model(predictor).and_then(Node::as_map_mut) {
                model.insert("storageUri", address);
            }
        }
        Kind::Image => pull(predictor, name),
        Kind::Unsupported(text) => {
            return Err(failure(
                format!(
                    "connection \"{name}\" has unsupported connection type \"{text}\"; supported types are s3, uri, oci"
                ),
                "annotate the Secret with `opendatahub.io/connection-type-protocol: s3`, `uri` or `oci`",
            ));
        }
    }
    Ok(())
}

/// The type of a connection.
fn kind(secret: &Object) -> Option<Kind> {
    let (text, [s3, address, image]) = TYPES.iter().find_map(|(key, names)| {
        let text = secret.annotation(key).and_then(Node::scalar_text)?;
        (!text.is_empty()).then_some((text, names))
    })?;
    Some(match text.as_str() {
        name if name == *s3 => Kind::S3,
        name if name == *address => Kind::Address,
        name if name == *image => Kind::Image,
        _ => Kind::Unsupported(text),
    })
}

/// Whether a Secret is a connection to an S3 bucket.
pub(super) fn is_s3(secret: &Object) -> bool {
    kind(secret) == Some(Kind::S3)
}

/// The account that the connection of a service gives it.
pub(super) fn account(service: &Service, config: &KServeConfig) -> Option<EcoString> {
    let (name, _) = named(service)?;
    secret(service, &name, config).filter(|secret| is_s3(secret)).map(|_| eco_format!("{name}-sa"))
}

/// The name of the connection of a service, with its annotation.
fn named(service: &Service) -> Option<(EcoString, Node)> {
    let named = service.object.annotation(NAME)?;
    let name = named.scalar_text().filter(|name| !name.is_empty())?;
    Some((name, named.clone()))
}

/// The Secret of a connection, if it was read.
fn secret<'c>(service: &Service, name: &str, config: &'c KServeConfig) -> Option<&'c Object> {
    config.accounts.iter().find(|object| {
        object.id.kind == "Secret"
            && object.id.name == name
            && object.id.scope.namespace() == Some(&service.namespace)
    })
}

/// The finding about a Secret that was not read. It may be in the cluster, where people keep it.
pub(super) fn unread(service: &Service, config: &KServeConfig) -> Option<Diagnostic> {
    let (name, named) = named(service)?;
    if secret(service, &name, config).is_some() {
        return None;
    }
    let namespace = &service.namespace;
    let message = format!(
        "the connection {name} (Secret of namespace {namespace}) was not read: where the model is stored is not known, and a cluster without the Secret refuses the service"
    );
    Some(
        Diagnostic::new(Code::CredentialsUnresolved, message)
            .severity(Severity::Info)
            .at(named.origin.span())
            .object(service.object.id.to_string())
            .help("read the Secret with `-f`"),
    )
}

/// Credentials for S3: the account made for the connection, and its key in the joined Secret.
fn store(predictor: &mut Node, name: &str, path: Option<Node>) {
    let account = eco_format!("{name}-sa");
    if text(predictor, "serviceAccountName").is_empty()
        && let Some(map) = predictor.as_map_mut()
    {
        map.insert("serviceAccountName", Node::str(account, ORIGIN));
    }
    let Some(storage) = model(predictor).and_then(|model| map_mut(model, "storage", ORIGIN)) else {
        return;
    };
    storage.insert("key", Node::str(name, ORIGIN));
    let has_path = storage.get("path").and_then(Node::as_str).is_some_and(|path| !path.is_empty());
    // The path of the service wins over that of the annotation.
    if let Some(path) = path.filter(|_| !has_path) {
        storage.insert("path", path);
    }
}

/// The model of a predictor. Quirk: where there is none it is made, also beside a container, and the
/// validating webhook then refuses the two of them. The defaulting webhook of KServe has named that
/// container before (predictor_custom.go, Default).
fn model(predictor: &mut Node) -> Option<&mut Node> {
    if predictor.get("model").is_none()
        && let Some(containers) = field_mut(predictor, "containers").and_then(Node::as_list_mut)
    {
        let alone = containers.len() == 1;
        if let Some(first) = containers.make_mut().first_mut()
            && (alone || text(first, "name").is_empty())
            && let Some(container) = first.as_map_mut()
        {
            container.insert("name", Node::str(MAIN, ORIGIN));
        }
    }
    map_mut(predictor, "model", ORIGIN)?;
    field_mut(predictor, "model")
}

/// The Secret as one with which the image of the model is pulled.
fn pull(predictor: &mut Node, name: &str) {
    let Some(secrets) = list_mut(predictor, "imagePullSecrets", ORIGIN) else { return };
    // A service that is applied again has the Secret already.
    if !secrets.iter().any(|secret| text(secret, "name") == name) {
        let secret = node!(&OPENSHIFT_CONNECTION; { name: name });
        secrets.extend(secret);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{admitted, text};
    use serde_json::json;

    fn secret(annotation: &str, data: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: c, namespace: team, annotations: {{{annotation}}}}}\n{data}\n"
        )
    }

    #[test]
    fn each_type_fills_its_own_fields() {
        let model = "model: {modelFormat: {name: f}}";
        for (annotation, data, field, expected) in [
            (
                "opendatahub.io/connection-type-protocol: uri",
                "stringData: {URI: 'https://x/m'}",
                "/predictor/model/storageUri",
                json!("https://x/m"),
            ),
            (
                "opendatahub.io/connection-type-ref: uri-v1",
                "data: {URI: aHR0cHM6Ly94L20=}",
                "/predictor/model/storageUri",
                json!("https://x/m"),
            ),
            (
                "opendatahub.io/connection-type-protocol: s3",
                "stringData: {}",
                "/predictor/model/storage",
                json!({"key": "c", "path": "p"}),
            ),
            (
                "opendatahub.io/connection-type-protocol: s3",
                "stringData: {}",
                "/predictor/serviceAccountName",
                json!("c-sa"),
            ),
            (
                "opendatahub.io/connection-type-protocol: oci",
                "stringData: {}",
                "/predictor/imagePullSecrets",
                json!([{"name": "c"}]),
            ),
        ] {
            let annotations = "opendatahub.io/connections: c, opendatahub.io/connection-path: p";
            let (found, findings) =
                admitted(annotations, model, &secret(annotation, data)).expect("it is admitted");
            assert_eq!(found.pointer(field), Some(&expected), "{annotation}");
            assert!(findings.is_empty());
        }
    }

    #[test]
    fn a_predictor_without_a_model_gets_one_beside_its_container() {
        let named = "opendatahub.io/connections: c, opendatahub.io/connection-path: p";
        for (annotation, data, model) in [
            (
                "opendatahub.io/connection-type-protocol: s3",
                "stringData: {}",
                json!({"storage": {"key": "c", "path": "p"}}),
            ),
            (
                "opendatahub.io/connection-type-protocol: uri",
                "stringData: {URI: 'https://x/m'}",
                json!({"storageUri": "https://x/m"}),
            ),
        ] {
            for (containers, names) in [
                ("[{name: own, image: i}]", vec!["kserve-container"]),
                ("[{image: i}, {name: b, image: i}]", vec!["kserve-container", "b"]),
                ("[{name: a, image: i}, {name: b, image: i}]", vec!["a", "b"]),
            ] {
                let predictor = format!("containers: {containers}");
                let (found, _) =
                    admitted(named, &predictor, &secret(annotation, data)).expect("it is admitted");
                let predictor = &found["predictor"];
                assert_eq!(predictor["model"], model, "{annotation}");
                let listed = predictor["containers"].as_array().expect("a list");
                let found: Vec<_> = listed.iter().map(|own| own["name"].as_str()).collect();
                assert_eq!(found, names.into_iter().map(Some).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_connection_without_a_known_type_is_refused_and_one_not_read_is_not() {
        let (model, named) = ("model: {modelFormat: {name: f}}", "opendatahub.io/connections: c");
        for (annotation, data, word) in [
            ("a: b", "stringData: {}", "no connection type"),
            ("opendatahub.io/connection-type-protocol: ftp", "stringData: {}", "\"ftp\""),
            ("opendatahub.io/connection-type-protocol: uri", "stringData: {}", "no URI"),
            // Each annotation has names of its own.
            ("opendatahub.io/connection-type-protocol: uri-v1", "stringData: {}", "\"uri-v1\""),
            ("opendatahub.io/connection-type-ref: oci", "stringData: {}", "\"oci\""),
        ] {
            let refused = admitted(named, model, &secret(annotation, data)).expect_err("refused");
            assert!(text(&refused).contains(word), "{refused:?}");
        }
        let (found, findings) = admitted(named, model, "").expect("it is admitted");
        assert_eq!(found["predictor"], json!({"model": {"modelFormat": {"name": "f"}}}));
        assert!(findings.iter().any(|finding| finding.message.contains("connection c ")));
    }
}

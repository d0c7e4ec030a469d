//! Credentials of a download: what a ServiceAccount and the Secrets it lists, or the Secret that an
//! annotation names, add to the container that fetches (kserve.md 5.7).
//!
//! Values of Secrets are never printed, but for hosts, headers and switches of S3 that the webhook
//! itself writes out.

use super::Facts;
use super::other::variable;
use crate::api::Object;
use crate::compose::container::push;
use crate::compose::edit::{mapping, position, text};
use crate::compose::rules::KSERVE_CREDENTIALS;
use crate::diag::{Code, Diagnostic, Severity};
use crate::quantity::base64;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

const ORIGIN: Origin = Origin::Derived(&KSERVE_CREDENTIALS);
/// Annotation of a ServiceAccount with a role of its own in AWS.
const ROLE: &str = "eks.amazonaws.com/role-arn";
/// Switches of S3: annotation, variable and key of the Secret, key of the settings; in the order
/// they are written.
const S3: [(&str, &str, &str); 9] = [
    ("s3-usehttps", "S3_USE_HTTPS", "s3UseHttps"),
    ("s3-endpoint", "S3_ENDPOINT", "s3Endpoint"),
    ("s3-verifyssl", "S3_VERIFY_SSL", "s3VerifySSL"),
    ("s3-useanoncredential", "awsAnonymousCredential", "s3UseAnonymousCredential"),
    ("s3-region", "AWS_DEFAULT_REGION", "s3Region"),
    ("s3-usevirtualbucket", "S3_USER_VIRTUAL_BUCKET", "s3UseVirtualBucket"),
    ("s3-useaccelerate", "S3_USE_ACCELERATE", "s3UseAccelerate"),
    ("s3-cabundle", "AWS_CA_BUNDLE", "s3CABundle"),
    ("s3-cabundle-configmap", "AWS_CA_BUNDLE_CONFIGMAP", "s3CABundleConfigMap"),
];
/// Variables of Azure, each with the key it had before; those that are written although the Secret
/// lacks them come first in the second list.
const AZURE: [(&str, &str); 9] = [
    ("AZURE_SUBSCRIPTION_ID", "AZ_SUBSCRIPTION_ID"),
    ("AZURE_TENANT_ID", "AZ_TENANT_ID"),
    ("AZURE_CLIENT_ID", "AZ_CLIENT_ID"),
    ("AZURE_CLIENT_SECRET", "AZ_CLIENT_SECRET"),
    ("AZURE_STORAGE_ACCESS_KEY", ""),
    ("AZURE_ACCESS_TOKEN", ""),
    ("AZURE_ACCESS_EXPIRES_ON_SECONDS", ""),
    ("AZURE_ACCOUNT_NAME", ""),
    ("AZURE_SERVICE_URL", ""),
];
/// Of those the ones that are written in any case. Quirk: the list of those to leave out lacks
/// them.
const AZURE_ALWAYS: [&str; 2] = ["AZURE_TENANT_ID", "AZURE_ACCESS_EXPIRES_ON_SECONDS"];
/// Storages that `storage` may name.
const TYPES: [&str; 3] = ["s3", "hdfs", "webhdfs"];

/// Who looks for credentials, and who is told what is not there.
pub(super) struct Credentials<'f, 'a> {
    pub(super) facts: &'f Facts<'a>,
    /// Annotations of the pod.
    pub(super) annotations: &'f Map,
    pub(super) findings: &'f mut Vec<Diagnostic>,
}

impl Credentials<'_, '_> {
    /// Adds what the ServiceAccount `account` stands for; `default` when the pod names none.
    pub(super) fn of_account(
        &mut self,
        account: Option<&Node>,
        container: &mut Node,
        pod: &mut Node,
    ) {
        let name = account.and_then(Node::as_str).filter(|name| !name.is_empty());
        let Some(found) = self.look_up("ServiceAccount", name.unwrap_or("default")) else {
            // Without the account upstream looks no further.
            self.miss(
                "ServiceAccount",
                name.unwrap_or("default"),
                account.filter(|_| name.is_some()),
            );
            return;
        };
        if found.annotation(ROLE).is_some() {
            for (name, value) in self.s3(&found.annotations(), None) {
                push(container, "env", variable(name, value, ORIGIN));
            }
        }
        if let Some(named) = self.annotated() {
            match self.look_up("Secret", named.as_str().unwrap_or_default()) {
                Some(secret) => self.of_secret(&secret, container, pod),
                None => self.miss("Secret", named.as_str().unwrap_or_default(), Some(&named)),
            }
            return;
        }
        for listed in found.node.get("secrets").map(Node::items).unwrap_or_default() {
            match self.look_up("Secret", text(listed, "name")) {
                Some(secret) => self.of_secret(&secret, container, pod),
                None => self.miss("Secret", text(listed, "name"), listed.get("name")),
            }
        }
    }

    /// The Secret that an annotation names before those of the account.
    fn annotated(&self) -> Option<Node> {
        let key = &self.facts.config.credentials.annotation;
        if key.is_empty() { None } else { self.annotations.get(key).cloned() }
    }

    fn look_up(&self, kind: &str, name: &str) -> Option<Object> {
        let here = |object: &&Object| {
            let namespace = object.id.scope.namespace().map_or("default", EcoString::as_str);
            object.id.kind == kind
                && object.id.name == name
                && namespace == self.facts.service.namespace
        };
        self.facts.config.accounts.iter().find(here).cloned()
    }

    /// Says that an object is not among the files; louder where somebody names it.
    fn miss(&mut self, kind: &str, name: &str, named: Option<&Node>) {
        if !self.facts.config.expand {
            return;
        }
        let namespace = &self.facts.service.namespace;
        let message = format!(
            "the {kind} {name} of namespace {namespace} was not read: what it adds to the download is not shown"
        );
        self.findings.push(
            Diagnostic::new(Code::CredentialsUnresolved, message)
                .severity(if named.is_some() { Severity::Warning } else { Severity::Info })
                .at(named
                    .and_then(|node| node.origin.span())
                    .or_else(|| Some(self.facts.service.object.name_span())))
                .object(self.facts.service.object.id.to_string())
                .help("load it with `-f`"),
        );
    }

    /// Variables of S3 from annotations, else the Secret, else the settings.
    fn s3(&self, annotations: &Map, secret: Option<&Object>) -> Vec<(&'static str, EcoString)> {
        let settings = &self.facts.config.credentials.s3;
        let value = |annotation: &str, key: &str, setting: &str| -> EcoString {
            let annotated = annotations
                .get(&eco_format!("serving.kserve.io/{annotation}"))
                .and_then(Node::scalar_text);
            annotated
                .or_else(|| content(secret?, key))
                .or_else(|| settings.get(setting).cloned())
                .unwrap_or_default()
        };
        let mut found = Vec::new();
        for (annotation, name, setting) in S3 {
            let text = value(annotation, name, setting);
            if text.is_empty() {
                continue;
            }
            let plain = annotation == "s3-endpoint"
                && value("s3-usehttps", "S3_USE_HTTPS", "s3UseHttps") == "0";
            let scheme = if plain { "http" } else { "https" };
            let url = eco_format!("{scheme}://{text}");
            found.push((name, text));
            if annotation == "s3-endpoint" {
                found.push(("AWS_ENDPOINT_URL", url));
            }
        }
        found
    }

    /// What one Secret stands for: the first storage whose key it has.
    fn of_secret(&self, secret: &Object, container: &mut Node, pod: &mut Node) {
        let settings = &self.facts.config.credentials;
        let named = |key: &str, usual: &'static str| {
            settings
                .s3
                .get(key)
                .filter(|name| !name.is_empty())
                .cloned()
                .unwrap_or_else(|| usual.into())
        };
        let (id, key) = (
            named("s3AccessKeyIDName", "awsAccessKeyID"),
            named("s3SecretAccessKeyName", "awsSecretAccessKey"),
        );
        let file = if settings.gcs_file.is_empty() {
            "gcloud-application-credentials.json".into()
        } else {
            settings.gcs_file.clone()
        };
        let name = &secret.id.name;
        if holds(secret, &key) {
            merge(container, reference("AWS_ACCESS_KEY_ID", name, &id));
            merge(container, reference("AWS_SECRET_ACCESS_KEY", name, &key));
            for (name, value) in self.s3(&secret.annotations(), Some(secret)) {
                merge(container, variable(name, value, ORIGIN));
            }
        } else if holds(secret, &file) {
            mounted(container, pod, "user-gcp-sa", "/var/secrets/", name);
            push(
                container,
                "env",
                variable(
                    "GOOGLE_APPLICATION_CREDENTIALS",
                    eco_format!("/var/secrets/{file}"),
                    ORIGIN,
                ),
            );
        } else if holds(secret, "AZ_CLIENT_ID") || holds(secret, "AZURE_CLIENT_ID") {
            for (variable, before) in AZURE {
                let key =
                    if !before.is_empty() && holds(secret, before) { before } else { variable };
                if holds(secret, key) || AZURE_ALWAYS.contains(&key) {
                    push(container, "env", reference(variable, name, key));
                }
            }
        } else if holds(secret, "AZURE_STORAGE_ACCESS_KEY") {
            push(
                container,
                "env",
                reference("AZURE_STORAGE_ACCESS_KEY", name, "AZURE_STORAGE_ACCESS_KEY"),
            );
        } else if let Some(host) = content(secret, "https-host") {
            if let Some(headers) = content(secret, "headers") {
                push(container, "env", variable(&format!("{host}-headers"), headers, ORIGIN));
            }
        } else if holds(secret, "HDFS_NAMENODE") {
            mounted(container, pod, "hdfs-secrets", "/var/secrets/kserve-hdfscreds", name);
        } else if holds(secret, "HF_TOKEN") {
            push(container, "env", reference("HF_TOKEN", name, "HF_TOKEN"));
        }
    }

    /// What `storage` of a model stands for: its part of the shared Secret, and the address that it
    /// completes.
    pub(super) fn of_storage(&mut self, storage: &Node, container: &mut Node) {
        let parameters = storage.get("parameters");
        let parameter = |key: &str| {
            parameters.and_then(|map| map.get(key)).and_then(Node::scalar_text).unwrap_or_default()
        };
        let (mut kind, mut bucket) = (parameter("type"), parameter("bucket"));
        let settings = &self.facts.config.credentials;
        let usual = if settings.storage_secret.is_empty() {
            "storage-config".into()
        } else {
            settings.storage_secret.clone()
        };
        let named = self.annotated();
        let name = named.as_ref().and_then(Node::scalar_text).unwrap_or(usual);
        let written = storage.get("key").and_then(Node::scalar_text).unwrap_or_default();
        let key = match (written.is_empty(), kind.is_empty()) {
            (false, _) => written.clone(),
            (true, true) => "default".into(),
            (true, false) => eco_format!("default_{kind}"),
        };
        let secret = self.look_up("Secret", &name);
        if secret.is_none() {
            self.miss("Secret", &name, storage.get("key").or(named.as_ref()));
        }
        // A key that is written has to be there, or the pod is refused.
        if secret.as_ref().map_or(!written.is_empty(), |secret| holds(secret, &key)) {
            let said = secret.as_ref().and_then(|secret| content(secret, &key)).unwrap_or_default();
            let said: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
            if kind.is_empty() {
                kind = said["type"].as_str().unwrap_or_default().into();
                if bucket.is_empty() {
                    bucket = said["bucket"].as_str().unwrap_or_default().into();
                }
                if let Some(bundle) = said["cabundle_configmap"].as_str() {
                    push(
                        container,
                        "env",
                        variable("AWS_CA_BUNDLE_CONFIGMAP", bundle.into(), ORIGIN),
                    );
                }
            }
            push(container, "env", reference("STORAGE_CONFIG", &name, &key));
        }
        if !TYPES.contains(&kind.as_str()) {
            let message = match kind.as_str() {
                "" => "the type of the storage is not known: the address of the download is not complete".to_owned(),
                other => format!("storage type must be one of [{}]. storage type [{other}] is not supported", TYPES.join(", ")),
            };
            self.findings.push(
                Diagnostic::new(Code::CredentialsUnresolved, message)
                    .severity(Severity::Warning)
                    .at(storage.origin.span())
                    .path("spec.predictor.model.storage")
                    .object(self.facts.service.object.id.to_string())
                    .help("write `parameters: {type: s3}`, or load the Secret"),
            );
        } else if kind == "s3" && bucket.is_empty() {
            self.findings.push(
                Diagnostic::new(Code::CredentialsUnresolved, "format [s3] requires a bucket but one wasn't found in storage data or parameters")
                    .severity(Severity::Warning)
                    .at(storage.origin.span())
                    .path("spec.predictor.model.storage")
                    .object(self.facts.service.object.id.to_string())
                    .help("write `parameters: {bucket: …}`"),
            );
        } else if let Some(first) = container
            .as_map_mut()
            .and_then(|map| map.get_mut("args"))
            .and_then(Node::as_list_mut)
            .and_then(|args| args.make_mut().first_mut())
            && let Some(path) =
                first.as_str().and_then(|text| text.strip_prefix("<scheme-placeholder>://"))
        {
            let address = if kind == "s3" {
                format!("s3://{bucket}/{path}")
            } else {
                format!("{kind}://{path}")
            };
            *first = Node::str(address, first.origin);
        }
        if let Some(map) = parameters.and_then(Node::as_map).filter(|map| !map.is_empty()) {
            push(
                container,
                "env",
                variable("STORAGE_OVERRIDE_CONFIG", super::other::parameters(map).into(), ORIGIN),
            );
        }
    }
}

/// Whether a Secret has a key.
fn holds(secret: &Object, key: &str) -> bool {
    ["data", "stringData"].iter().any(|part| secret.node.at(&[part, key]).is_some())
}

/// The text under a key of a Secret.
fn content(secret: &Object, key: &str) -> Option<EcoString> {
    let plain = secret.node.at(&["stringData", key]).and_then(Node::as_str).map(EcoString::from);
    plain.or_else(|| {
        String::from_utf8(base64::decoded(secret.node.at(&["data", key])?.as_str()?)?)
            .ok()
            .map(EcoString::from)
    })
}

fn reference(name: &str, secret: &str, key: &str) -> Node {
    let selector =
        mapping([("name", Node::str(secret, ORIGIN)), ("key", Node::str(key, ORIGIN))], ORIGIN);
    mapping(
        [
            ("name", Node::str(name, ORIGIN)),
            ("valueFrom", mapping([("secretKeyRef", selector)], ORIGIN)),
        ],
        ORIGIN,
    )
}

/// Sets a variable in its place, or adds it.
fn merge(container: &mut Node, variable: Node) {
    let env = container.get("env").map(Node::items).unwrap_or_default();
    match position(env, "name", text(&variable, "name")) {
        None => push(container, "env", variable),
        Some(index) => {
            if let Some(list) = crate::compose::edit::list_mut(container, "env", ORIGIN) {
                list.make_mut()[index] = variable;
            }
        }
    }
}

/// Mounts a Secret into the container that fetches.
fn mounted(container: &mut Node, pod: &mut Node, volume: &str, path: &str, secret: &str) {
    if !crate::compose::container::has_volume(pod, volume) {
        let source = mapping([("secretName", Node::str(secret, ORIGIN))], ORIGIN);
        push(
            pod,
            "volumes",
            mapping([("name", Node::str(volume, ORIGIN)), ("secret", source)], ORIGIN),
        );
    }
    let mount = [
        ("name", Node::str(volume, ORIGIN)),
        ("mountPath", Node::str(path, ORIGIN)),
        ("readOnly", Node::bool(true, ORIGIN)),
    ];
    push(container, "volumeMounts", mapping(mount, ORIGIN));
}

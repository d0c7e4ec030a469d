//! Credentials of a download: what a ServiceAccount and the Secrets it lists, or the Secret that an
//! annotation names, add to the container that fetches
//! (pkg/webhook/admission/pod/storage_initializer_injector.go).
//!
//! Values of Secrets are never printed, except S3 hosts, headers and switches, which the webhook
//! writes into the pod as plain text.

use super::Facts;
use super::fields::{parameters as json_of, variable};
use crate::api::{Failure, Object};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{each_mut, mapping, position, text};
use crate::operators::kserve::rules::Rules as _;
use crate::pods::container::push;
use crate::pods::rules::KSERVE_CREDENTIALS;
use crate::quantity::base64;
use crate::yaml::{Map, Node, Origin, Value};
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

const ORIGIN: Origin = Origin::Derived(&KSERVE_CREDENTIALS);
/// Annotation of a ServiceAccount that assumes an AWS role.
const ROLE: &str = "eks.amazonaws.com/role-arn";
/// S3 settings besides the endpoint, in the order in which they are written: annotation, variable
/// (also the key of the Secret), key of the settings.
const S3: [(&str, &str, &str); 7] = [
    ("s3-verifyssl", "S3_VERIFY_SSL", "s3VerifySSL"),
    ("s3-useanoncredential", "awsAnonymousCredential", "s3UseAnonymousCredential"),
    ("s3-region", "AWS_DEFAULT_REGION", "s3Region"),
    ("s3-usevirtualbucket", "S3_USER_VIRTUAL_BUCKET", "s3UseVirtualBucket"),
    ("s3-useaccelerate", "S3_USE_ACCELERATE", "s3UseAccelerate"),
    ("s3-cabundle", "AWS_CA_BUNDLE", "s3CABundle"),
    ("s3-cabundle-configmap", "AWS_CA_BUNDLE_CONFIGMAP", "s3CABundleConfigMap"),
];
/// Variables of Azure, each with its former key in the Secret.
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
/// The Azure variable that is written although the Secret has no such key. Quirk: upstream's list
/// of optional keys does not contain it.
const AZURE_ALWAYS: &str = "AZURE_TENANT_ID";
/// Keys that mark a Secret as one for Azure.
const AZURE_KNOWN: [&str; 3] = ["AZ_CLIENT_ID", "AZURE_CLIENT_ID", "AZURE_ACCESS_TOKEN"];
/// Keys of hub tokens; the first one in a Secret is used.
const TOKENS: [&str; 2] = ["HF_TOKEN", MODEL_SCOPE];
const MODEL_SCOPE: &str = "MODELSCOPE_API_TOKEN";
/// Storages that the shared Secret may name.
const TYPES: [&str; 3] = ["s3", "hdfs", "webhdfs"];

/// The key of the shared Secret that is used, and the parameters set with it.
pub(super) struct StorageKey {
    pub(super) key: EcoString,
    pub(super) parameters: Map,
    /// Where it is written.
    pub(super) origin: Origin,
}

/// Looks credentials up, and reports objects that were not read.
pub(super) struct Credentials<'f, 'a> {
    pub(super) facts: &'f Facts<'a>,
    /// Annotations of the pod.
    pub(super) annotations: &'f Map,
    pub(super) findings: &'f mut Vec<Diagnostic>,
}

impl Credentials<'_, '_> {
    /// Adds the credentials of the ServiceAccount `account`; of `default` when the pod names none.
    pub(super) fn of_account(
        &mut self,
        account: Option<&Node>,
        container: &mut Node,
        pod: &mut Node,
    ) {
        let name = account.and_then(Node::as_str).filter(|name| !name.is_empty());
        let Some(found) = self.look_up("ServiceAccount", name.unwrap_or("default")) else {
            // Upstream stops here where the account does not exist.
            self.miss(
                "ServiceAccount",
                name.unwrap_or("default"),
                account.filter(|_| name.is_some()),
            );
            return;
        };
        self.of(&found, container, pod);
    }

    /// Adds the credentials of an account that was read.
    pub(super) fn of(&mut self, found: &Object, container: &mut Node, pod: &mut Node) {
        if found.annotation(ROLE).is_some() {
            // A role needs no keys: only addresses and switches are added, from annotations and
            // settings.
            for (name, value) in self.s3(&found.annotations(), None) {
                push(container, "env", variable(name, value, ORIGIN));
            }
        }
        if let Some(named) = self.annotated() {
            match self.look_up("Secret", named.as_str().unwrap_or_default()) {
                Some(secret) => self.of_secret(&secret, container, pod),
                None => self.miss("Secret", named.as_str().unwrap_or_default(), Some(&named)),
            }
            // The Secret of the annotation is used instead of those of the account, also if it is
            // missing.
            return;
        }
        for listed in found.node.get("secrets").map(Node::items).unwrap_or_default() {
            match self.look_up("Secret", text(listed, "name")) {
                Some(secret) => self.of_secret(&secret, container, pod),
                None => self.miss("Secret", text(listed, "name"), listed.get("name")),
            }
        }
    }

    /// The Secret that an annotation names; it comes before those of the account.
    fn annotated(&self) -> Option<Node> {
        let key = &self.facts.config.credentials.annotation;
        if key.is_empty() { None } else { self.annotations.get(key).cloned() }
    }

    fn look_up(&self, kind: &str, name: &str) -> Option<Object> {
        let here = |object: &&Object| {
            // A manifest without a namespace is applied to `default`.
            let namespace = object.id.scope.namespace().map_or("default", EcoString::as_str);
            object.id.kind == kind
                && object.id.name == name
                && namespace == self.facts.service.namespace
        };
        self.facts.config.accounts.iter().find(here).cloned()
    }

    /// Reports that an object was not read; a warning where the service names it.
    fn miss(&mut self, kind: &str, name: &str, named: Option<&Node>) {
        // Without the flag, an InferenceService's pods are shown as the controller writes them.
        if !self.facts.config.expand && self.facts.service.object.id.kind == "InferenceService" {
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
        // Order matters: variables are written in the order of upstream's list, the endpoint first.
        let mut found: Vec<(&'static str, EcoString)> = Vec::new();
        let endpoint = value("s3-endpoint", "S3_ENDPOINT", "s3Endpoint");
        if !endpoint.is_empty() {
            // A scheme in the address overrides the switch for https.
            let endpoint = endpoint.trim();
            let after = |scheme: &str| {
                let head = endpoint.get(..scheme.len())?;
                head.eq_ignore_ascii_case(scheme).then(|| &endpoint[scheme.len()..])
            };
            let (https, host, url) = if let Some(host) = after("https://") {
                ("1".into(), host, endpoint.into())
            } else if let Some(host) = after("http://") {
                ("0".into(), host, endpoint.into())
            } else {
                let https = value("s3-usehttps", "S3_USE_HTTPS", "s3UseHttps");
                let scheme = if https == "0" { "http" } else { "https" };
                (https, endpoint, eco_format!("{scheme}://{endpoint}"))
            };
            if !https.is_empty() {
                found.push(("S3_USE_HTTPS", https));
            }
            found.push(("S3_ENDPOINT", host.into()));
            found.push(("AWS_ENDPOINT_URL", url));
        }
        let others = S3
            .into_iter()
            .map(|(annotation, name, setting)| (name, value(annotation, name, setting)));
        found.extend(others.filter(|(_, text)| !text.is_empty()));
        found
    }

    /// The credentials of one Secret: those of the first storage whose key it has.
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
            // Merged: of several Secrets for S3 the last one sets the variables that they share.
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
        } else if AZURE_KNOWN.iter().any(|key| holds(secret, key)) {
            for (variable, before) in AZURE {
                let key =
                    if !before.is_empty() && holds(secret, before) { before } else { variable };
                if holds(secret, key) || key == AZURE_ALWAYS {
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
        } else if let Some(key) = TOKENS.into_iter().find(|key| {
            // Releases before ModelScope was supported ignore its key, even if it is the only one.
            holds(secret, key) && (*key != MODEL_SCOPE || self.facts.policy.kserve().model_scope)
        }) {
            push(container, "env", reference(key, name, key));
        }
    }

    /// The credentials of a model's `storage`: its part of the shared Secret, and the addresses
    /// that it completes.
    ///
    /// # Errors
    /// When the Secret was read and lacks a needed key. If the Secret was not read, its keys are
    /// unknown offline: that is a finding.
    pub(super) fn of_storage(
        &mut self,
        storage: &StorageKey,
        container: &mut Node,
    ) -> Result<(), Failure> {
        let parameters = &storage.parameters;
        let parameter =
            |key: &str| parameters.get(key).and_then(Node::scalar_text).unwrap_or_default();
        let (mut kind, mut bucket) = (parameter("type"), parameter("bucket"));
        let settings = &self.facts.config.credentials;
        let usual = if settings.storage_secret.is_empty() {
            "storage-config".into()
        } else {
            settings.storage_secret.clone()
        };
        let named = self.annotations.get(&settings.annotation).cloned();
        let name = named.as_ref().and_then(Node::scalar_text).unwrap_or(usual);
        let is_own = !storage.key.is_empty();
        // `CreateStorageSpecSecretEnvs`: a named key is taken as it is, a default has the type in
        // its name where one is given.
        let key = match (is_own, kind.is_empty()) {
            (true, _) => storage.key.clone(),
            (false, true) => "default".into(),
            (false, false) => eco_format!("default_{kind}"),
        };
        let secret = self.look_up("Secret", &name);
        let is_known = secret.is_some();
        let written = Node::new(Value::Null, storage.origin);
        if !is_known {
            self.miss("Secret", &name, named.as_ref().or(is_own.then_some(&written)));
        }
        let fault = |facts: &Facts<'_>, message: String| {
            Err(Failure { span: storage.origin.span(), ..facts.invalid(message) })
        };
        // Only a named key must exist: a default key is a guess of the controller.
        if let Some(secret) = secret.as_ref().filter(|_| is_own)
            && !holds(secret, &key)
        {
            let message = format!("specified storage key {key} not found in storage secret {name}");
            return fault(self.facts, message);
        }
        // A default key that the Secret lacks is no fault: the parameters may say all. In a Secret
        // that was not read a named key is taken to be there.
        if secret.as_ref().map_or(is_own, |secret| holds(secret, &key)) {
            // A type in the parameters decides, so the content of the Secret is then not even
            // parsed.
            if let Some(secret) = secret.as_ref().filter(|_| kind.is_empty()) {
                let stored = match stored(secret, &name, &key) {
                    Ok(stored) => stored,
                    Err(message) => return fault(self.facts, message),
                };
                if let Some(found) = stored.get("type") {
                    kind = found.as_str().into();
                }
                if let Some(found) = stored.get("bucket").filter(|_| bucket.is_empty()) {
                    bucket = found.as_str().into();
                }
                if let Some(bundle) = stored.get("cabundle_configmap") {
                    let variable =
                        variable("AWS_CA_BUNDLE_CONFIGMAP", bundle.as_str().into(), ORIGIN);
                    push(container, "env", variable);
                }
            }
            // The container reads the key at run time; its value never enters the manifest.
            push(container, "env", reference("STORAGE_CONFIG", &name, &key));
        }
        let buckets = kind == "s3";
        // The address was written as a placeholder while type and bucket were unknown.
        let open = container
            .get("args")
            .and_then(|args| args.items().first()?.as_str())
            .is_some_and(|first| first.starts_with(PLACEHOLDER));
        let missing = if kind.is_empty() {
            Some("unable to determine storage type".to_owned())
        } else if open && buckets && bucket.is_empty() {
            Some(format!(
                "format [{kind}] requires a bucket but one wasn't found in storage data or parameters"
            ))
        } else {
            None
        };
        match missing {
            // Proven only if the Secret was read: an unread one may have what is missing.
            Some(message) if is_known => return fault(self.facts, message),
            Some(message) => self.incomplete(storage, message),
            None if open => {
                let scheme = if buckets {
                    eco_format!("{kind}://{bucket}/")
                } else {
                    eco_format!("{kind}://")
                };
                fill_addresses(container, &scheme);
            }
            None => {}
        }
        if !parameters.is_empty() {
            let text = json_of(parameters);
            push(container, "env", variable("STORAGE_OVERRIDE_CONFIG", text.into(), ORIGIN));
        }
        Ok(())
    }

    /// Reports an address that only the unread Secret completes.
    fn incomplete(&mut self, storage: &StorageKey, message: String) {
        self.findings.push(
            Diagnostic::new(Code::CredentialsUnresolved, message)
                .severity(Severity::Warning)
                .at(storage.origin.span())
                .path("spec.predictor.model.storage")
                .object(self.facts.service.object.id.to_string())
                .help("write `parameters: {type: s3, bucket: …}`, or load the Secret with `-f`"),
        );
    }
}

/// The scheme of an address that the shared Secret completes.
const PLACEHOLDER: &str = "<scheme-placeholder>://";

/// Whether a Secret has a key.
fn holds(secret: &Object, key: &str) -> bool {
    ["data", "stringData"].iter().any(|part| secret.node.at(&[part, key]).is_some())
}

/// The text under a key of a Secret.
fn content(secret: &Object, key: &str) -> Option<EcoString> {
    // The API server writes `stringData` over `data`.
    let plain = secret.node.at(&["stringData", key]).and_then(Node::as_str).map(EcoString::from);
    plain.or_else(|| {
        String::from_utf8(base64::decoded(secret.node.at(&["data", key])?.as_str()?)?)
            .ok()
            .map(EcoString::from)
    })
}

/// What a key of the storage Secret says, or the controller's sentence about it.
fn stored(secret: &Object, name: &str, key: &str) -> Result<BTreeMap<String, String>, String> {
    let text = content(secret, key).unwrap_or_default();
    let Ok(stored) = serde_json::from_str::<BTreeMap<String, String>>(&text) else {
        return Err(format!("invalid json encountered in key {key} of storage secret {name}"));
    };
    match stored.get("type") {
        Some(kind) if !TYPES.contains(&kind.as_str()) => Err(format!(
            "storage type must be one of [{}]. storage type [{kind}] is not supported",
            TYPES.join(", ")
        )),
        _ => Ok(stored),
    }
}

/// Completes the addresses among the arguments, of which only the path is known so far.
fn fill_addresses(container: &mut Node, scheme: &str) {
    let mut first = true;
    each_mut(container, "args", |argument| {
        // The arguments alternate between addresses and paths.
        let path = argument.as_str().and_then(|text| text.strip_prefix(PLACEHOLDER));
        if let Some(path) = path.filter(|_| first) {
            *argument = Node::str(eco_format!("{scheme}{path}"), argument.origin);
        }
        first = !first;
    });
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

/// Adds a variable, or sets the value of the one that is there. Quirk: a reference to a Secret does
/// not replace a value, which is emptied.
fn merge(container: &mut Node, variable: Node) {
    let env = container.get("env").map(Node::items).unwrap_or_default();
    let Some(index) = position(env, "name", text(&variable, "name")) else {
        return push(container, "env", variable);
    };
    if let Some(list) = crate::merge::edit::list_mut(container, "env", ORIGIN)
        && let Some(map) = list.make_mut()[index].as_map_mut()
    {
        match variable.get("value") {
            Some(value) => map.insert("value", value.clone()),
            None => drop(map.remove("value")),
        }
    }
}

/// Mounts a Secret into the container that fetches.
fn mounted(container: &mut Node, pod: &mut Node, volume: &str, path: &str, secret: &str) {
    if !crate::pods::container::has_volume(pod, volume) {
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

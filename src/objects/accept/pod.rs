//! Pod specs.

use super::judge::Judge;
use super::mount::Volumes;
use super::source::{self, Of};
use super::{container, metadata, resources, scheduling, security};
use crate::quantity::names;
use crate::yaml::{At, Entry, Node};
use std::collections::HashSet;

/// Whether the spec is that of a pod or of a workload's template. Pods are validated more strictly,
/// so that templates that a server accepted once stay valid.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'n> {
    Template,
    /// The name is empty where it is not known yet.
    Pod {
        name: &'n str,
        labels: Option<&'n Node>,
    },
}

/// Judges a Pod (`ValidatePodCreate`), unless it was read from a server: a server adds fields that
/// it refuses in a new pod.
pub(super) fn object(judge: &mut Judge<'_>, at: &At<'_>, object: &Node) {
    let text = |keys: &[&str]| object.at(keys).and_then(Node::as_str).unwrap_or_default();
    // Only a server gives out uids.
    if !text(&["metadata", "uid"]).is_empty() {
        return;
    }
    let cost = "controller.kubernetes.io/pod-deletion-cost";
    if let Some(node) = object.at(&["metadata", "annotations", cost])
        // Numbers of 32 bits; an empty text is a cost of 0.
        && node.as_str().is_some_and(|text| !text.is_empty() && text.parse::<i32>().is_err())
    {
        let at = At::ROOT.field("metadata");
        let at = at.field("annotations");
        judge.invalid(&at.key(cost), node, "must be a 32bit integer", "write a number");
    }
    let metadata_at = At::ROOT.field("metadata");
    let annotations = object.at(&["metadata", "annotations"]);
    super::metadata::seccomp(judge, &metadata_at.field("annotations"), annotations);
    let annotated = (&metadata_at.field("annotations"), annotations);
    security::app_armor(judge, annotated, (at, object.get("spec")));
    let Some(found) = object.get("spec") else {
        return judge.required(&at.field("containers"), object, "");
    };
    let labels = object.at(&["metadata", "labels"]);
    spec(judge, at, found, Form::Pod { name: text(&["metadata", "name"]), labels });
}

/// Judges a pod spec.
pub(super) fn spec(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node, form: Form<'_>) {
    let (name, labels) = match form {
        Form::Template => (None, None),
        Form::Pod { name, labels } => (Some(name), labels),
    };
    judge.one_of(
        &at.field("dnsPolicy"),
        spec.get("dnsPolicy"),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    judge.one_of(
        &at.field("restartPolicy"),
        spec.get("restartPolicy"),
        &["Always", "OnFailure", "Never"],
    );
    judge.exactly_if_there(at, spec, "preemptionPolicy", &["PreemptLowerPriority", "Never"]);
    // The findings of all parts come in the order of upstream's validation.
    security::of_system(judge, at, spec);
    references(judge, at, spec);
    metadata::labels(judge, &at.field("nodeSelector"), spec.get("nodeSelector"));
    scheduling::scheduling(judge, at, spec, labels);
    network(judge, at, spec);
    security::of_pod(judge, at, spec);
    if let Some(secrets) = spec.get("imagePullSecrets") {
        judge.keyed_where_applied(&at.field("imagePullSecrets"), secrets, &[("name", "")]);
    }
    gates(judge, at, spec);
    if let Some(containers) =
        spec.get("ephemeralContainers").filter(|list| !list.items().is_empty())
    {
        // They can be added only to a running pod.
        let detail = match form {
            Form::Template => "ephemeral containers not allowed in pod template",
            Form::Pod { .. } => "cannot be set on create",
        };
        judge.forbidden(&at.field("ephemeralContainers"), containers, detail, "delete them");
    }
    judge.within(at, spec, "activeDeadlineSeconds", (1, i32::MAX.into()));
    // A workload with such a template is accepted; its pods would be refused.
    if name.is_some() {
        of_pods(judge, at, spec);
    }
    if let Some(overhead) = spec.get("overhead") {
        resources::overhead(judge, &at.field("overhead"), overhead);
    }
    // Before the containers, which may use only claims of the pod.
    let claims = claims(judge, &at.field("resourceClaims"), spec);
    if let Some(found) = spec.get("resources") {
        resources::of_pod(judge, &at.field("resources"), found, spec);
    }

    let host_network = spec.get("hostNetwork").and_then(Node::as_bool) == Some(true);
    let pod = container::Pod {
        // Volumes are judged here, before the containers that mount them.
        volumes: &volumes(judge, &at.field("volumes"), spec.get("volumes"), name),
        restarts: spec.get("restartPolicy").and_then(Node::as_str) != Some("Never"),
        claims: &claims,
        host_network,
        host_users: spec.get("hostUsers").and_then(Node::as_bool) != Some(false),
        // The server writes 1 where the number is negative.
        grace: spec
            .get("terminationGracePeriodSeconds")
            .map_or(Some(30), Node::as_int)
            .map(|seconds| if seconds < 0 { 1 } else { seconds }),
    };
    for list in ["containers", "initContainers"] {
        let at = at.field(list);
        let Some(containers) = spec.get(list) else { continue };
        judge.keyed(&at, containers, &[("name", "")]);
        // In a template the server has not set the ports of the node yet.
        host_ports(judge, &at, containers, host_network && name.is_some());
        for (index, container) in containers.items().iter().enumerate() {
            container::container(
                judge,
                &at.index(index),
                container,
                &pod,
                list == "initContainers",
            );
        }
    }
    if spec.items_of("containers").is_empty() {
        judge.required(&at.field("containers"), spec, "");
    }
    shared_names(judge, at, spec);
}

/// Judges the names of the account, the node, the classes, and of the pod on its network.
fn references(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    // The older field is used where the newer one is empty.
    let account = ["serviceAccountName", "serviceAccount"]
        .iter()
        .filter_map(|key| spec.get(key))
        .find(|node| node.as_str() != Some(""));
    if let Some(account) = account {
        judge.shaped(
            &at.field("serviceAccountName"),
            account,
            account.as_str().map(names::service_account).unwrap_or_default(),
        );
    }
    for (key, form) in [
        ("nodeName", names::dns1123_subdomain as fn(&str) -> Vec<String>),
        ("hostname", names::dns1123_label),
        ("subdomain", names::dns1123_label),
    ] {
        judge.formed(at, spec, key, form);
    }
    judge.formed(at, spec, "priorityClassName", names::dns1123_subdomain);
    if let Some(class) = spec.get("runtimeClassName") {
        judge.shaped(
            &at.field("runtimeClassName"),
            class,
            class.as_str().map(names::dns1123_subdomain).unwrap_or_default(),
        );
    }
}

/// Judges the conditions that the pod waits for.
fn gates(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    if let Some(gates) = spec.get("schedulingGates") {
        judge.keyed(&at.field("schedulingGates"), gates, &[("name", "")]);
    }
    for (list, key) in [("readinessGates", "conditionType"), ("schedulingGates", "name")] {
        for (index, gate) in spec.items_of(list).iter().enumerate() {
            let at = at.field(list);
            let at = at.index(index);
            let name = gate.get(key).and_then(Node::as_str).unwrap_or_default();
            // The server names the field of a readiness gate, and the element of a scheduling gate.
            let at = if list == "readinessGates" { at.field(key) } else { at };
            judge.shaped(&at, gate.get(key).unwrap_or(gate), names::qualified_name(name));
        }
    }
}

/// Judges the names of containers and init containers, which share one set; the server reports the
/// init container.
fn shared_names(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let mains: HashSet<&str> = spec
        .items_of("containers")
        .iter()
        .filter_map(|other| other.get("name")?.as_str())
        .collect();
    let main = |name: Option<&str>| name.is_some_and(|name| mains.contains(name));
    for (index, container) in spec.items_of("initContainers").iter().enumerate() {
        if let Some(name) = container.get("name").filter(|name| main(name.as_str())) {
            let detail = format!("Duplicate value: {}", name.to_json());
            judge.refuse(
                &at.field("initContainers").index(index).field("name"),
                name.origin.span(),
                &detail,
                "give it another name",
            );
        }
    }
}

/// Judges ports of the node: containers of a pod share them (`AccumulateUniqueHostPorts`). A pod on
/// the network of its node has all of its ports there.
fn host_ports(judge: &mut Judge<'_>, at: &At<'_>, containers: &Node, all: bool) {
    let mut seen = HashSet::new();
    for (index, container) in containers.items().iter().enumerate() {
        let at = at.index(index);
        let at = at.field("ports");
        for (index, port) in container.items_of("ports").iter().enumerate() {
            // 0 is the zero value of Go: no port.
            let number = |key: &str| port.get(key).filter(|node| node.as_int() != Some(0));
            let host = number("hostPort").or_else(|| number("containerPort").filter(|_| all));
            let text = |key: &str| port.get(key).and_then(Node::as_str).filter(|it| !it.is_empty());
            let Some(host) = host else { continue };
            // The server's key of a port; the address is part of it, so that one port serves two
            // addresses.
            let shown = format!(
                "{}/{}/{}",
                text("protocol").unwrap_or("TCP"),
                text("hostIP").unwrap_or_default(),
                host.scalar_text().unwrap_or_default()
            );
            let message = format!("Duplicate value: \"{shown}\"");
            if !seen.insert(shown) {
                let at = at.index(index);
                let help = "give one of them another port";
                judge.refuse(&at.field("hostPort"), host.origin.span(), &message, help);
            }
        }
    }
}

/// Judges by the rules that apply to pods only and not to templates.
fn of_pods(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    if let Some(node) = spec.get("nodeName").filter(|node| node.as_str() != Some(""))
        && !spec.items_of("schedulingGates").is_empty()
    {
        let detail = "cannot be set until all schedulingGates have been cleared";
        judge.forbidden(&at.field("nodeName"), node, detail, "delete one of the two");
    }
    for list in ["containers", "initContainers"] {
        let at = at.field(list);
        for (index, container) in spec.items_of(list).iter().enumerate() {
            let Some(image) = container.get("image") else { continue };
            // An empty image is reported as missing.
            if image.as_str().is_some_and(|text| !text.is_empty() && text.trim() != text) {
                let at = at.index(index);
                let message = "must not have leading or trailing whitespace";
                judge.invalid(&at.field("image"), image, message, "delete the blanks");
            }
        }
    }
}

/// Judges names and addresses of the pod's network.
fn network(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let says = |key: &str, truth: bool| spec.get(key).and_then(Node::as_bool) == Some(truth);
    let aliases_at = at.field("hostAliases");
    if let Some(aliases) = spec.get("hostAliases") {
        // A pod that a controller creates may have one address in two aliases.
        judge.keyed_where_applied(&aliases_at, aliases, &[("ip", "")]);
    }
    for (index, alias) in spec.items_of("hostAliases").iter().enumerate() {
        let at = aliases_at.index(index);
        address(judge, &at.field("ip"), alias.get("ip"), alias);
        let names_at = at.field("hostnames");
        for (index, name) in alias.items_of("hostnames").iter().enumerate() {
            judge.shaped(
                &names_at.index(index),
                name,
                names::dns1123_subdomain(name.as_str().unwrap_or_default()),
            );
        }
    }
    dns(judge, &at.field("dnsConfig"), spec);
    if let Some(node) = spec.get("shareProcessNamespace")
        // Processes are shared among the containers or with the node, not both.
        && says("shareProcessNamespace", true)
        && says("hostPID", true)
    {
        let at = at.field("securityContext");
        judge.invalid(
            &at.field("shareProcessNamespace"),
            node,
            "ShareProcessNamespace and HostPID cannot both be enabled",
            "delete one of the two",
        );
    }
    if says("hostUsers", false) {
        for (key, shown) in
            // A user namespace of its own is of no use in the other namespaces of the node. The
            // paths are spelled as the server spells them.
            [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")]
        {
            if let Some(node) = spec.get(key).filter(|_| says(key, true)) {
                judge.forbidden(
                    &at.field(shown),
                    node,
                    "when `hostUsers` is false",
                    "delete one of the two",
                );
            }
        }
    }
    if let Some(name) = spec.get("hostnameOverride") {
        let at = at.field("hostnameOverride");
        for (key, detail) in [
            ("setHostnameAsFQDN", "may not be specified when setHostnameAsFQDN is true"),
            ("hostNetwork", "may not be specified when hostNetwork is true"),
        ] {
            if says(key, true) {
                judge.forbidden(&at, name, detail, "delete one of the two");
            }
        }
        judge.shaped(&at, name, name.as_str().map(names::dns1123_subdomain).unwrap_or_default());
    }
}

/// Judges the DNS settings of the pod.
fn dns(judge: &mut Judge<'_>, dns_at: &At<'_>, spec: &Node) {
    // With this policy the pod gets no DNS settings but those of `dnsConfig`.
    let is_own = spec.get("dnsPolicy").and_then(Node::as_str) == Some("None");
    match spec.get("dnsConfig") {
        None if is_own => {
            judge.required(dns_at, spec, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        Some(config) if is_own && config.items_of("nameservers").is_empty() => {
            judge.required(
                &dns_at.field("nameservers"),
                config,
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            );
        }
        None => {}
        Some(config) => {
            let servers_at = dns_at.field("nameservers");
            let servers = config.items_of("nameservers");
            if let Some(list) = config.get("nameservers").filter(|_| servers.len() > 3) {
                judge.invalid(
                    &servers_at,
                    list,
                    // The C library reads no more than three.
                    "must not have more than 3 nameservers",
                    "keep three",
                );
            }
            for (index, server) in servers.iter().enumerate() {
                address(judge, &servers_at.index(index), Some(server), config);
            }
            let searches_at = dns_at.field("searches");
            for (index, search) in config.items_of("searches").iter().enumerate() {
                // The server accepts underscores, and the root domain.
                let text = search.as_str().unwrap_or_default();
                let plain = text.strip_suffix('.').unwrap_or(text).replace('_', "a");
                if text != "." {
                    judge.shaped(
                        &searches_at.index(index),
                        search,
                        names::dns1123_subdomain(&plain),
                    );
                }
            }
            let options_at = dns_at.field("options");
            for (index, option) in config.items_of("options").iter().enumerate() {
                if option.get("name").is_none_or(|name| name.as_str() == Some("")) {
                    judge.required(&options_at.index(index), option, "must not be empty");
                }
            }
        }
    }
}

fn address(judge: &mut Judge<'_>, at: &At<'_>, address: Option<&Node>, holder: &Node) {
    let text = address.and_then(Node::as_str).unwrap_or_default();
    if !names::ip_address(text).is_empty() {
        let node = address.cloned().unwrap_or_else(|| Node::str("", holder.origin));
        judge.invalid(
            at,
            &node,
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            "write an address such as 10.9.8.7",
        );
    }
}

/// Judges the resource claims of a pod and returns their names.
fn claims<'n>(judge: &mut Judge<'_>, at: &At<'_>, spec: &'n Node) -> Vec<&'n str> {
    let Some(list) = spec.get("resourceClaims") else { return Vec::new() };
    judge.keyed(at, list, &[("name", "")]);
    for (index, claim) in list.items().iter().enumerate() {
        let at = at.index(index);
        if judge.present(&at, claim, "name").is_some() {
            judge.formed(&at, claim, "name", names::dns1123_label);
        }
        let sources: Vec<_> = ["resourceClaimName", "resourceClaimTemplateName"]
            .iter()
            .filter(|key| claim.get(key).is_some())
            .collect();
        if sources.len() != 1 {
            let message = if sources.is_empty() {
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            } else {
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            };
            judge.invalid(&at, claim, message, "name one source");
        }
        for key in sources {
            if let Some(name) = claim.get(key) {
                judge.shaped(
                    &at.field(key),
                    name,
                    name.as_str().map(names::dns1123_subdomain).unwrap_or_default(),
                );
            }
        }
    }
    // Claims with faults are kept: containers that name them are not to blame.
    list.items().iter().filter_map(|claim| claim.get("name")?.as_str()).collect()
}

// Volumes of a pod.

/// Sources of volumes, in the order in which the server checks them (`validateVolumeSource`).
const KINDS: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// Judges the volumes of a pod and returns those without a fault: the server mounts no others. The
/// pod's name is empty where it is not known yet, and none in a template.
fn volumes<'n>(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    volumes: Option<&'n Node>,
    pod: Option<&str>,
) -> Volumes<'n> {
    let Some(list) = volumes else { return Volumes::new() };
    judge.keyed(at, list, &[("name", "")]);
    let mut found = Volumes::with_capacity(list.items().len());
    for (index, volume) in list.items().iter().enumerate() {
        let at = at.index(index);
        let before = judge.findings.len();
        let name = volume.get("name").and_then(Node::as_str).unwrap_or_default();
        let mut sources: Vec<&Entry> =
            volume.entries().filter(|entry| entry.key != "name" && !entry.node.is_null()).collect();
        // The first in upstream's order is the volume, wherever it was written.
        sources.sort_by_key(|entry| KINDS.iter().position(|kind| *kind == entry.key));
        for entry in sources.iter().skip(1) {
            judge.forbidden(
                &at.field(&entry.key),
                &entry.node,
                "may not specify more than 1 volume type",
                "keep one of them",
            );
        }
        // A volume without a source is an empty directory.
        let kind = sources.first().map_or("emptyDir", |entry| entry.key.as_str());
        if let Some(entry) = sources.first() {
            let of = Of::Pod { pod, volume };
            source::source(judge, &at.field(kind), kind, &entry.node, of);
        }
        if judge.present(&at, volume, "name").is_some() {
            judge.formed(&at, volume, "name", names::dns1123_label);
        }
        // Mounts of a wrong volume are then not found, as the server reports them.
        if judge.findings.len() == before {
            found.insert(name, kind);
        }
    }
    found
}

//! Edits that keep an OME service unchanged through an upgrade, one function per rule.
//!
//! In: a service as the running release decides and writes it. Out: sets of fields that may keep
//! it, the best set first. The caller verifies a set by deciding the service again.

use super::compose::container::{BLOCKLIST_VOLUME, PARALLELISM};
use super::read::ACCELERATOR_CLASS;
use crate::api::{Api, ComponentKind, DeploymentMode, FieldEdit, Object, ObjectRef, Scope, Today};
use crate::policy::upgrade::EditRule;
use crate::quantity::hash::model_config_name;
use crate::yaml::{FieldPath, Node, Segment};
use ecow::EcoString;
use serde_json::{Value, json};
use std::collections::BTreeSet;

type Edits = Vec<Vec<FieldEdit>>;

/// Rules without an edit, each with the reason.
pub(super) const NOTHING: EditRule = EditRule::None("objects that exist are not changed");
pub(super) const REPAIRED: EditRule =
    EditRule::None("the service fails today and works after the upgrade");
pub(super) const OF_OPERATOR: EditRule =
    EditRule::None("the operator does this in any case: no field of the input prevents it");
pub(super) const PORT: EditRule =
    EditRule::None("the operator sets the port: no field of the input changes it");
pub(super) const NO_ARGUMENTS: EditRule = EditRule::None(
    "the override is part of today's command: removing it changes the pods now, and keeping it reformats the arguments after the upgrade",
);

pub(super) const NAME_CLASS: EditRule = EditRule::Fields(name_class);
pub(super) const NO_POLICY: EditRule = EditRule::Fields(no_policy);
pub(super) const OWN_RESOURCES: EditRule = EditRule::Fields(own_resources);
pub(super) const OWN_PARALLELISM: EditRule = EditRule::Fields(own_parallelism);
pub(super) const NO_SIZES: EditRule = EditRule::Fields(no_sizes);
pub(super) const NO_UNUSED_CONFIG: EditRule = EditRule::Fields(no_unused_config);
pub(super) const NO_VARIABLE: EditRule = EditRule::Fields(no_variable);
pub(super) const OWN_BLOCKLIST: EditRule = EditRule::Fields(own_blocklist);
pub(super) const NO_MODE: EditRule = EditRule::Fields(no_mode);
pub(super) const NO_LABEL: EditRule = EditRule::Fields(no_label);
pub(super) const NO_SELECTOR: EditRule = EditRule::Fields(no_selector);
pub(super) const STABLE_SERVICE: EditRule = EditRule::Fields(stable_service);
pub(super) const SERVERLESS_SERVICE: EditRule = EditRule::Fields(serverless_service);
pub(super) const NAME_RUNTIME: EditRule = EditRule::Fields(name_runtime);
pub(super) const KEEP_INGRESS: EditRule = EditRule::Fields(shipped_settings);
pub(super) const KEEP_PROBER: EditRule = EditRule::Fields(shipped_settings);

/// Components that have accelerators, each with its key in a runtime.
const ACCELERATED: [(ComponentKind, &str); 2] =
    [(ComponentKind::Engine, "engineConfig"), (ComponentKind::Decoder, "decoderConfig")];
/// Parts of a component that have a runner: the component itself or, on several nodes, its leader
/// and its worker.
const PARTS: [&[&str]; 3] = [&[], &["leader"], &["worker"]];
/// Prefix of the node labels that the model agent sets.
const MODEL_LABEL: &str = "models.ome.io/";
const MODE: &str = DeploymentMode::ANNOTATION;

fn path(fields: &[&str]) -> FieldPath {
    fields.iter().fold(FieldPath::root(), |path, name| path.field(*name))
}

/// The path of the element of a list that has a name.
fn named(path: &FieldPath, name: &str) -> FieldPath {
    let mut path = path.clone();
    path.0.push(Segment::Keyed("name".into(), name.into()));
    path
}

/// Removes a field if it is set.
fn without(object: &Object, fields: &[&str]) -> Option<FieldEdit> {
    object.node.at(fields).map(|_| FieldEdit::remove(object, path(fields)))
}

/// One set of edits; none if it is empty.
fn one(edits: impl IntoIterator<Item = FieldEdit>) -> Edits {
    let edits: Vec<FieldEdit> = edits.into_iter().collect();
    // An empty set would seem to keep the service by doing nothing.
    if edits.is_empty() { Vec::new() } else { vec![edits] }
}

/// The fields that may name the class of a component, by precedence: annotations and the override of
/// the component where they are set, then the selector of the service.
pub(super) fn class_fields(object: &Object, component: ComponentKind) -> Vec<FieldPath> {
    let places: [&[&str]; 3] = [
        &["spec", component.as_str(), "annotations", ACCELERATOR_CLASS],
        &["metadata", "annotations", ACCELERATOR_CLASS],
        &["spec", component.as_str(), "acceleratorOverride", "acceleratorClass"],
    ];
    // A place that is not set would create a new field above the one that counts today.
    let set = places.into_iter().filter(|place| object.node.at(place).is_some());
    let selector: &[&str] = &["spec", "acceleratorSelector", "acceleratorClass"];
    set.chain([selector]).map(path).collect()
}

/// Names the class that the service has today.
fn name_class(today: &Today<'_>) -> Edits {
    let chosen: Vec<(ComponentKind, &EcoString)> = today
        .classes
        .iter()
        .filter_map(|(component, class)| Some((*component, class.as_ref()?)))
        .collect();
    let Some((_, first)) = chosen.first().copied() else { return Vec::new() };
    let by_component = |(component, class): &(ComponentKind, &EcoString)| {
        let field = path(&["spec", component.as_str(), "acceleratorOverride", "acceleratorClass"]);
        FieldEdit::set(today.service, field, class.as_str())
    };
    let mut found = Vec::new();
    // One field of the service is the smaller edit, where it means the same for all components.
    if chosen.len() == today.classes.len() && chosen.iter().all(|(_, class)| *class == first) {
        let field = path(&["spec", "acceleratorSelector", "acceleratorClass"]);
        found.push(vec![FieldEdit::set(today.service, field, first.as_str())]);
    }
    found.extend(one(chosen.iter().map(by_component)));
    found
}

/// The policy chooses nothing today: names the class that the service has, if there is one, or
/// removes the policy.
fn no_policy(today: &Today<'_>) -> Edits {
    // The policies that choose nothing today may have a class beside them.
    let mut found = name_class(today);
    let places: [&[&str]; 3] = [
        &["spec", "acceleratorSelector", "policy"],
        &["spec", "engine", "acceleratorOverride", "policy"],
        &["spec", "decoder", "acceleratorOverride", "policy"],
    ];
    found.extend(one(places.into_iter().filter_map(|place| without(today.service, place))));
    found
}

/// A part of a component with its own container, as it is written today.
struct Running<'a> {
    component: ComponentKind,
    part: &'static [&'static str],
    container: &'a Node,
}

/// The containers that run the model today.
fn running<'a>(today: &Today<'a>) -> Vec<Running<'a>> {
    let mut found = Vec::new();
    for (component, config) in ACCELERATED {
        let objects = today.objects.iter().filter(|(.., kind)| *kind == Some(component));
        for (id, object, _) in objects {
            let pods: &[(&'static [&'static str], &[&str])] = match id.kind.as_str() {
                "Deployment" | "Service" => &[(PARTS[0], &["spec", "template", "spec"])],
                "LeaderWorkerSet" => &[
                    (PARTS[1], &["spec", "leaderWorkerTemplate", "leaderTemplate", "spec"]),
                    (PARTS[2], &["spec", "leaderWorkerTemplate", "workerTemplate", "spec"]),
                ],
                _ => &[],
            };
            for (part, pod) in pods {
                let Some(pod) = object.at(pod) else { continue };
                let runner = |object: Option<&Object>, root: &str| {
                    let keys: Vec<&str> = ["spec", root]
                        .into_iter()
                        .chain(part.iter().copied())
                        .chain(["runner", "name"])
                        .collect();
                    object?.node.at(&keys).and_then(Node::as_str).map(EcoString::from)
                };
                // The service names the runner above the runtime; without a name the operator gives
                // one.
                let name = runner(Some(today.service), component.as_str())
                    .or_else(|| runner(today.runtime, config))
                    .unwrap_or_else(|| "ome-container".into());
                let is_runner = |container: &&Node| {
                    container.get("name").and_then(Node::as_str) == Some(name.as_str())
                };
                let containers = pod.get("containers").map(Node::items).unwrap_or_default();
                let container = containers.iter().find(is_runner);
                found.extend(container.map(|container| Running { component, part, container }));
            }
        }
    }
    found
}

impl Running<'_> {
    /// The path of the runner in the service.
    fn runner(&self) -> FieldPath {
        let mut path = path(&["spec", self.component.as_str()]);
        for name in self.part {
            path = path.field(*name);
        }
        path.field("runner")
    }

    /// Sets fields of the runner in the service, and its name if that is missing.
    fn edits(
        &self,
        service: &Object,
        fields: impl IntoIterator<Item = (FieldPath, Value)>,
    ) -> Vec<FieldEdit> {
        let runner = self.runner();
        // A runner without its name would be merged as another container.
        let named = service.node.select(&runner.field("name")).first().copied();
        let name = self.container.get("name").filter(|_| named.is_none()).map(Node::to_json);
        let name = name.map(|name| FieldEdit::set(service, runner.field("name"), name));
        let fields = fields.into_iter().map(|(path, to)| FieldEdit::set(service, path, to));
        name.into_iter().chain(fields).collect()
    }
}

/// Sets the resources of today's container on the service's runner.
fn own_resources(today: &Today<'_>) -> Edits {
    one(running(today).iter().flat_map(|running| {
        let resources = running.container.get("resources").map(Node::to_json);
        let field = resources.map(|to| (running.runner().field("resources"), to));
        field.map(|field| running.edits(today.service, [field])).into_iter().flatten()
    }))
}

/// Sets today's `PARALLELISM_SIZE` on the service's runner; as an alternative, which keeps the
/// order of the variables, also every variable before it that the operator sets.
fn own_parallelism(today: &Today<'_>) -> Edits {
    let written: BTreeSet<&str> = layers(today)
        .into_iter()
        .flat_map(|(object, root)| PARTS.into_iter().map(move |part| (object, root, part)))
        .flat_map(|(object, root, part)| {
            let keys: Vec<&str> =
                root.iter().chain(part).copied().chain(["runner", "env"]).collect();
            object.node.at(&keys).map(Node::items).unwrap_or_default()
        })
        .filter_map(|entry| entry.get("name").and_then(Node::as_str))
        .collect();
    let with = |others: bool| {
        one(running(today).iter().flat_map(|running| {
            let env = running.container.get("env").map(Node::items).unwrap_or_default();
            let name = |entry: &Node| {
                entry.get("name").and_then(Node::as_str).unwrap_or_default().to_owned()
            };
            let Some(last) = env.iter().position(|entry| name(entry) == PARALLELISM) else {
                return Vec::new();
            };
            let env = env[..=last].iter().filter(|entry| {
                let name = name(entry);
                name == PARALLELISM || others && !written.contains(name.as_str())
            });
            let list = running.runner().field("env");
            let fields = env.map(|entry| (named(&list, &name(entry)), entry.to_json()));
            running.edits(today.service, fields.collect::<Vec<_>>())
        }))
    };
    let (alone, all) = (with(false), with(true));
    if alone == all { alone } else { alone.into_iter().chain(all).collect() }
}

/// Entries of a runtime's formats, with their index.
fn formats(runtime: &Object) -> impl Iterator<Item = (usize, &Node)> {
    runtime.spec("supportedModelFormats").map(Node::items).unwrap_or_default().iter().enumerate()
}

/// The path of a field in an entry of a runtime's formats.
fn format_field(index: usize, fields: &[&str]) -> FieldPath {
    let formats = path(&["spec", "supportedModelFormats"]).index(index);
    fields.iter().fold(formats, |path, name| path.field(*name))
}

/// Removes the runtime's parallel sizes of the chosen classes: today they reach no argument.
fn no_sizes(today: &Today<'_>) -> Edits {
    let Some(runtime) = today.runtime else { return Vec::new() };
    let chosen: Vec<&EcoString> =
        today.classes.iter().filter_map(|(_, class)| class.as_ref()).collect();
    one(formats(runtime).flat_map(|(index, entry)| {
        let classes = entry.get("acceleratorConfig").map(Node::entries);
        let classes = classes.into_iter().flatten().filter(|class| {
            chosen.contains(&&class.key) && class.node.get("tensorParallelismOverride").is_some()
        });
        let field = |class: &str| {
            format_field(index, &["acceleratorConfig", class, "tensorParallelismOverride"])
        };
        let edits = classes.map(|class| FieldEdit::remove(runtime, field(&class.key)));
        edits.collect::<Vec<_>>()
    }))
}

/// Removes `acceleratorConfig` from entries of the runtime that are not read today.
fn no_unused_config(today: &Today<'_>) -> Edits {
    let Some(runtime) = today.runtime else { return Vec::new() };
    let unused = formats(runtime).filter(|(_, entry)| {
        entry.get("acceleratorConfig").is_some()
            // Entries with autoSelect are read today, and removing theirs would change the pods.
            && entry.get("autoSelect").and_then(Node::as_bool) != Some(true)
    });
    one(unused
        .map(|(index, _)| FieldEdit::remove(runtime, format_field(index, &["acceleratorConfig"]))))
}

/// The objects from which a component is merged, with the key of the component in each.
fn layers<'a>(today: &Today<'a>) -> Vec<(&'a Object, [&'static str; 2])> {
    ACCELERATED
        .into_iter()
        .flat_map(|(component, config)| {
            let runtime = today.runtime.map(|runtime| (runtime, ["spec", config]));
            [Some((today.service, ["spec", component.as_str()])), runtime]
        })
        .flatten()
        .collect()
}

/// Removes variables that the operator sets from the service and the runtime.
fn no_variable(today: &Today<'_>) -> Edits {
    let mut edits = Vec::new();
    for (object, root) in layers(today) {
        for part in PARTS {
            let keys: Vec<&str> =
                root.iter().chain(part).copied().chain(["runner", "env"]).collect();
            for entry in object.node.at(&keys).map(Node::items).unwrap_or_default() {
                let name = entry.get("name").and_then(Node::as_str);
                // The two variables that the operator appends over an equal one.
                if let Some(name) = name.filter(|name| ["MODEL_PATH", "TFEW_PATH"].contains(name)) {
                    edits.push(FieldEdit::remove(object, named(&path(&keys), name)));
                }
            }
        }
    }
    one(edits)
}

/// Adds the mounts of the block lists to the service.
fn own_blocklist(today: &Today<'_>) -> Edits {
    let mut edits: Vec<FieldEdit> = Vec::new();
    for running in running(today) {
        let mounts = running.container.get("volumeMounts").map(Node::items).unwrap_or_default();
        let mounts = mounts
            .iter()
            .filter(|mount| mount.get("name").and_then(Node::as_str) == Some(BLOCKLIST_VOLUME))
            .map(Node::to_json);
        let mounts: Vec<Value> = mounts.collect();
        if mounts.is_empty() {
            continue;
        }
        let runner = running.runner();
        // Lists of mounts have no keys in an edit, so that the whole list is written.
        let node = today.service.node.select(&runner.field("volumeMounts")).first().copied();
        let node = node.map(Node::items).unwrap_or_default().iter().map(Node::to_json);
        let all: Vec<Value> = node.chain(mounts).collect();
        edits.extend(running.edits(today.service, [(runner.field("volumeMounts"), all.into())]));
        let mut volumes = runner;
        // The volumes are beside the runner, in the part of the pod.
        volumes.0.pop();
        let name = model_config_name(&today.service.id.name);
        edits.push(FieldEdit::set(
            today.service,
            named(&volumes.field("volumes"), BLOCKLIST_VOLUME),
            json!({"name": BLOCKLIST_VOLUME, "configMap": {"name": name}}),
        ));
    }
    if edits.is_empty() {
        return Vec::new();
    }
    // In the same set: the annotation would mount the lists a second time.
    let annotation = path(&["metadata", "annotations", "ome.io/disable-blocklist"]);
    edits.push(FieldEdit::remove(today.service, annotation));
    vec![edits]
}

/// Removes the mode annotations of components from the service and the runtime.
fn no_mode(today: &Today<'_>) -> Edits {
    one(layers(today).into_iter().filter_map(|(object, [spec, component])| {
        without(object, &[spec, component, "annotations", MODE])
    }))
}

/// Node selectors of the runtime and of the service.
fn selectors<'a>(today: &Today<'a>) -> Vec<(&'a Object, Vec<&'static str>)> {
    let top = today.runtime.map(|runtime| (runtime, vec!["spec", "nodeSelector"]));
    let layers = layers(today).into_iter().flat_map(|(object, root)| {
        PARTS.into_iter().map(move |part| {
            (object, root.iter().chain(part).copied().chain(["nodeSelector"]).collect())
        })
    });
    top.into_iter().chain(layers).collect()
}

/// Removes node selectors by the label of a model.
fn no_label(today: &Today<'_>) -> Edits {
    one(selectors(today).into_iter().flat_map(|(object, keys)| {
        let entries = object.node.at(&keys).map(Node::entries).into_iter().flatten();
        let labels = entries.filter(|entry| entry.key.starts_with(MODEL_LABEL));
        let edits =
            labels.map(|entry| FieldEdit::remove(object, path(&keys).field(entry.key.clone())));
        edits.collect::<Vec<_>>()
    }))
}

/// Removes node selectors that do not reach all pods: only that of the runtime's spec or, as an
/// alternative, also those of the components.
fn no_selector(today: &Today<'_>) -> Edits {
    let all: Vec<FieldEdit> =
        selectors(today).into_iter().filter_map(|(object, keys)| without(object, &keys)).collect();
    let top = |edit: &FieldEdit| edit.path.is("spec.nodeSelector");
    let first: Vec<FieldEdit> = all.iter().filter(|edit| top(edit)).cloned().collect();
    let mut found = one(first.clone());
    if first.len() < all.len() {
        found.extend(one(all));
    }
    found
}

/// Sets the annotation that requests the stable Service in every release.
fn stable_service(today: &Today<'_>) -> Edits {
    let key = path(&["metadata", "annotations", "ome.io/ingress-disable-creation"]);
    one([FieldEdit::set(today.service, key, "true")])
}

/// Makes the service itself serverless, as its components are.
fn serverless_service(today: &Today<'_>) -> Edits {
    let key = path(&["metadata", "annotations", MODE]);
    one([FieldEdit::set(today.service, key, "Serverless")])
}

/// Names the runtime that the service has today.
fn name_runtime(today: &Today<'_>) -> Edits {
    let name = today.runtime.map(|runtime| {
        let field = path(&["spec", "runtime", "name"]);
        FieldEdit::set(today.service, field, runtime.id.name.as_str())
    });
    one(name)
}

/// Writes today's settings into a ConfigMap: without one, each release uses the settings that it
/// ships.
fn shipped_settings(today: &Today<'_>) -> Edits {
    let ingress = &today.config.ingress;
    let prober = today.config.multinode_prober.as_ref().map(Node::to_json);
    let deploy = json!({ "defaultDeploymentMode": today.config.default_deployment_mode.as_str() });
    // All fields, because a key of the ConfigMap is decoded as a whole: what it leaves out is
    // empty.
    let ingress = json!({
        "ingressGateway": ingress.ingress_gateway.as_str(),
        "ingressService": "istio-ingressgateway.istio-system.svc.cluster.local",
        "localGateway": ingress.local_gateway.as_str(),
        "localGatewayService": ingress.local_gateway_service.as_str(),
        "knativeLocalGatewayService": ingress.knative_local_gateway_service.as_str(),
        "omeIngressGateway": ingress.ome_ingress_gateway.as_str(),
        "ingressDomain": ingress.ingress_domain.as_str(),
        "ingressClassName": ingress.ingress_class_name.as_deref(),
        "domainTemplate": ingress.domain_template.as_str(),
        "urlScheme": ingress.url_scheme.as_str(),
        "disableIstioVirtualHost": ingress.disable_istio_virtual_host,
        "pathTemplate": ingress.path_template.as_str(),
        "disableIngressCreation": ingress.disable_ingress_creation,
        "enableGatewayAPI": ingress.enable_gateway_api,
    });
    let settings =
        [("deploy", Some(deploy)), ("ingress", Some(ingress)), ("multinodeProber", prober)];
    let edits = settings.into_iter().filter_map(|(key, value)| {
        Some(FieldEdit {
            api: Api::Cluster,
            api_version: "v1".into(),
            id: ObjectRef {
                kind: "ConfigMap".into(),
                scope: Scope::Namespace("ome".into()),
                name: "inferenceservice-config".into(),
            },
            path: path(&["data", key]),
            span: None,
            from: Value::Null,
            to: serde_json::to_string_pretty(&value?).ok()?.into(),
        })
    });
    one(edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::{parse, service};

    #[test]
    fn the_volume_of_block_lists_is_the_config_map_that_the_operator_writes() {
        const NAME: &str = "a-service-with-a-name-of-many-bytes";
        let service = service(&format!(r#"{{"metadata":{{"name":"{NAME}"}},"spec":{{}}}}"#));
        let pod = format!(
            r#"{{"containers":[{{"name":"ome-container","volumeMounts":[{{"name":"{BLOCKLIST_VOLUME}"}}]}}]}}"#
        );
        let deployment = parse(&format!(r#"{{"spec":{{"template":{{"spec":{pod}}}}}}}"#));
        let id = ObjectRef { kind: "Deployment".into(), ..service.object.id.clone() };
        let today = Today {
            service: &service.object,
            runtime: None,
            classes: &[],
            config: &crate::api::OperatorConfig::default(),
            objects: &[(id, deployment, Some(ComponentKind::Engine))],
        };
        let edits = own_blocklist(&today).concat();
        let volume = edits.iter().find(|edit| edit.to["configMap"].is_object()).expect("a volume");
        // The operator shortens the name of the service to 20 bytes.
        assert_ne!(volume.to["configMap"]["name"], format!("modelconfig-{NAME}"));
        assert_eq!(volume.to["configMap"]["name"], model_config_name(NAME));
    }
}

//! Properties of every KServe service, its settings and related objects.
//!
//! The expectations do not use the controller: objects of one service fit each other, and a change
//! without meaning changes nothing.

use super::kserve_service::{Input, inputs};
use super::{each_node, load_text, manifests, plan};
use ome::internals::api::{ComponentKind, Semantics};
use ome::internals::yaml::Node;
use ome::pipeline::{Planned, Renderer};
use ome::workspace::{ReadOptions, World};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

impl Input {
    fn world(&self, expand: bool) -> World {
        let given = ReadOptions::new(Semantics::Controller);
        load_text(&self.text(), &ReadOptions { expand, ..given })
    }

    pub(super) fn rendered(&self, expand: bool) -> Rendered {
        let world = self.world(expand);
        let renderer = Renderer::new(&world, "cluster.local");
        let views = world.catalog.services().next().expect("one service");
        let rendered = renderer.render(views, &mut ome::internals::merge::history::Recorder::off());
        Rendered {
            objects: rendered.objects.iter().map(|object| object.node.to_json()).collect(),
            error: rendered.error.map(|error| error.message),
        }
    }

    /// With an annotation of the service set, or away.
    fn annotated(&self, key: &str, value: Value) -> Self {
        let mut other = self.clone();
        other.service["metadata"]["annotations"][key] = value;
        other
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct Rendered {
    pub(super) objects: Vec<Value>,
    pub(super) error: Option<String>,
}

impl Rendered {
    pub(super) fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    /// Services of Kubernetes and of Knative by name.
    fn names(&self) -> BTreeSet<&str> {
        self.of("Service").map(|service| text(&service["metadata"]["name"])).collect()
    }

    /// Templates of pods with the annotations of each.
    fn templates(&self) -> impl Iterator<Item = (&Value, &Value)> {
        let workloads = self.objects.iter().filter(|object| object["spec"]["template"].is_object());
        workloads.map(|object| (object, &object["spec"]["template"]))
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Checks a property over drawn services; answers how many were rendered.
pub(super) fn holds(property: impl Fn(&Input) -> Result<(), TestCaseError>) {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 256 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(failure) = runner.run(&inputs(), |input| property(&input)) {
        panic!("{failure}");
    }
}

/// The plan of an input's service.
fn planned<T>(world: &World, look: impl FnOnce(&Planned<'_>) -> T) -> T {
    look(plan(world).first().expect("one service"))
}

#[test]
fn a_plan_fails_where_the_objects_fail() {
    holds(|input| {
        let rendered = input.rendered(false);
        let planned = planned(&input.world(false), |planned| {
            planned.error.as_ref().map(|error| error.message.clone())
        });
        prop_assert_eq!(planned, rendered.error);
        Ok(())
    });
}

#[test]
fn a_selected_runtime_supports_the_model_format() {
    holds(|input| {
        let chosen = planned(&input.world(false), |planned| {
            planned.resolution.chosen().map(|runtime| {
                let names = runtime.formats.iter().filter_map(|entry| entry.format.as_ref());
                names.map(|format| format.name.value.to_string()).collect::<Vec<_>>()
            })
        });
        if let Some(formats) = chosen {
            let format = text(&input.service["spec"]["predictor"]["model"]["modelFormat"]["name"]);
            prop_assert!(formats.iter().any(|name| name == format), "{} by {:?}", format, formats);
        }
        Ok(())
    });
}

/// Routes point to rendered Services, and to as many as share the traffic.
#[test]
fn routes_and_ingresses_target_rendered_services() {
    holds(|input| {
        let rendered = input.rendered(false);
        let names = rendered.names();
        let there = |name: &str| {
            prop_assert!(names.contains(name), "{} is none of {:?}", name, names);
            Ok(())
        };
        for ingress in rendered.of("Ingress") {
            for rule in items(&ingress["spec"]["rules"]) {
                for path in items(&rule["http"]["paths"]) {
                    there(text(&path["backend"]["service"]["name"]))?;
                }
            }
        }
        for route in rendered.of("HTTPRoute") {
            let mut shares = BTreeSet::new();
            for rule in items(&route["spec"]["rules"]) {
                let backends = items(&rule["backendRefs"]);
                shares.insert(backends.len());
                for backend in backends {
                    there(text(&backend["name"]))?;
                }
                let weights: i64 =
                    backends.iter().filter_map(|backend| backend["weight"].as_i64()).sum();
                prop_assert!(weights == 0 || weights == 100, "{}", rule);
            }
            prop_assert_eq!(shares.len(), 1, "rules of one route share alike: {}", route);
            let hosts = items(&route["spec"]["hostnames"]);
            let distinct: BTreeSet<&str> = hosts.iter().map(text).collect();
            prop_assert_eq!(distinct.len(), hosts.len(), "{:?}", hosts);
        }
        for service in rendered.of("VirtualService") {
            for route in items(&service["spec"]["http"]) {
                let host = text(&route["headers"]["request"]["set"]["Host"]);
                there(host.split('.').next().unwrap_or_default())?;
                let matches = items(&route["match"]);
                let distinct: BTreeSet<String> = matches.iter().map(ToString::to_string).collect();
                prop_assert_eq!(distinct.len(), matches.len(), "{:?}", matches);
            }
        }
        Ok(())
    });
}

/// A cluster-local Knative component is not published, and a published one has a domain of Knative.
#[test]
fn cluster_local_components_have_no_public_host() {
    holds(|input| {
        let rendered = input.rendered(false);
        let domains: Vec<String> = input
            .others
            .iter()
            .find(|other| other["metadata"]["name"] == "config-domain")
            .and_then(|map| map["data"].as_object())
            .map_or_else(|| vec!["example.com".into()], |data| data.keys().cloned().collect());
        // Quirk: a name with `-default` keeps a suffix, and with it a host of its own.
        let plain = !text(&input.service["metadata"]["name"]).contains("-default");
        for service in rendered.of("VirtualService").filter(|_| plain) {
            let kind = if input.service["spec"]["transformer"].is_object() {
                "transformer"
            } else {
                "predictor"
            };
            let first = rendered
                .of("Service")
                .find(|service| service["metadata"]["labels"]["component"] == kind);
            let first = first.expect("it is there, or no VirtualService would be");
            let inside =
                first["metadata"]["labels"]["networking.knative.dev/visibility"] == "cluster-local";
            let gateways = items(&service["spec"]["gateways"]);
            prop_assert!(!inside || gateways.len() == 2, "{}", service);
            let hosts = items(&service["spec"]["hosts"]);
            // The second host is that of Knative's route.
            if gateways.len() == 3 {
                let public = text(&hosts[1]);
                prop_assert!(
                    domains.iter().any(|domain| public.ends_with(&format!(".{domain}"))),
                    "{} in {:?}",
                    public,
                    domains
                );
            }
        }
        Ok(())
    });
}

/// Every Service selects the pods of a Deployment; a number of pods is settled by a Deployment, or
/// by what scales it.
#[test]
fn services_select_deployments_with_one_source_of_replicas() {
    holds(|input| {
        let rendered = input.rendered(false);
        let deployments: Vec<&Value> = rendered.of("Deployment").collect();
        for service in rendered.of("Service") {
            let Some(selector) = service["spec"]["selector"].as_object() else { continue };
            let selected = deployments.iter().any(|deployment| {
                let labels = &deployment["spec"]["template"]["metadata"]["labels"];
                selector.iter().all(|(key, value)| labels[key] == *value)
            });
            prop_assert!(selected, "{:?} selects nothing", selector);
        }
        let scaled: BTreeSet<&str> = rendered
            .of("HorizontalPodAutoscaler")
            .map(|scaler| text(&scaler["spec"]["scaleTargetRef"]["name"]))
            .collect();
        let class = &input.service["metadata"]["annotations"]["serving.kserve.io/autoscalerClass"];
        let least = &input.service["spec"]["predictor"]["minReplicas"];
        for deployment in deployments {
            let name = text(&deployment["metadata"]["name"]);
            let counted = !deployment["spec"]["replicas"].is_null();
            prop_assert!(!(counted && scaled.contains(name)), "{} is counted twice", name);
            let component = &deployment["metadata"]["labels"]["component"];
            if class == "none" && component == "predictor" && least.is_number() {
                prop_assert!(counted, "{} has no replicas", name);
            }
        }
        Ok(())
    });
}

/// Whether one value has all of another: mappings their keys, lists of named elements those of
/// their names.
fn has(larger: &Value, smaller: &Value) -> bool {
    match (larger, smaller) {
        (Value::Object(larger), Value::Object(smaller)) => smaller
            .iter()
            .all(|(key, value)| larger.get(key).is_some_and(|found| has(found, value))),
        (Value::Array(larger), Value::Array(smaller)) => smaller.iter().all(|one| {
            larger.iter().any(|other| other["name"] == one["name"] && has(other, one))
                || larger.contains(one)
        }),
        _ => larger == smaller,
    }
}

/// The pod webhook adds fields: no field of the controller is removed, except documented rewrites.
#[test]
fn the_pod_webhook_removes_nothing_the_controller_wrote() {
    holds(|input| {
        let (plain, full) = (input.rendered(false), input.rendered(true));
        if full.error.is_some() {
            return Ok(());
        }
        for ((object, before), (_, after)) in plain.templates().zip(full.templates()) {
            for container in items(&before["spec"]["containers"]) {
                let mut container = container.clone();
                // The place of a model and the user of a modelcar are rewritten.
                if let Some(env) = container.get_mut("env").and_then(Value::as_array_mut) {
                    env.retain(|variable| variable["name"] != "STORAGE_URI");
                }
                let context = container.get_mut("securityContext");
                if let Some(context) = context.and_then(Value::as_object_mut) {
                    context.remove("runAsUser");
                }
                let after = items(&after["spec"]["containers"]);
                prop_assert!(
                    after.iter().any(|other| has(other, &container)),
                    "{} of {}\n{:?}",
                    container,
                    object["metadata"]["name"],
                    after
                );
            }
            for key in ["volumes", "initContainers"] {
                let (before, after) = (&before["spec"][key], &after["spec"][key]);
                prop_assert!(before.is_null() || has(after, before), "{} of {}", key, object);
            }
        }
        Ok(())
    });
}

/// Mounts have volumes, names of volumes and containers are unique, and only containers that
/// request a storage Secret refer to it.
#[test]
fn pod_mounts_have_volumes_and_names_are_unique() {
    holds(|input| {
        for (object, template) in input.rendered(true).templates() {
            let spec = &template["spec"];
            let volumes: Vec<&str> =
                items(&spec["volumes"]).iter().map(|volume| text(&volume["name"])).collect();
            let distinct: BTreeSet<&&str> = volumes.iter().collect();
            prop_assert_eq!(distinct.len(), volumes.len(), "{:?}", volumes);
            let lists = ["containers", "initContainers"].map(|key| items(&spec[key]));
            for container in lists.into_iter().flatten() {
                for mount in items(&container["volumeMounts"]) {
                    let name = text(&mount["name"]);
                    prop_assert!(volumes.contains(&name), "{} is no volume of {}", name, object);
                }
                let told = items(&container["env"])
                    .iter()
                    .any(|variable| variable["name"] == "STORAGE_CONFIG");
                let key = "internal.serving.kserve.io/storage-spec";
                prop_assert!(
                    !told || template["metadata"]["annotations"][key] == "true",
                    "{} is told of a key that its component does not name",
                    object["metadata"]["name"]
                );
                for argument in items(&container["args"]) {
                    let images = &input.settings["storageInitializer"];
                    let off = images["enableModelcar"] == false && images["ociModelMode"].is_null();
                    let uris = &input.service["spec"]["predictor"]["storageUris"];
                    let pulls = uris.to_string().contains("oci+fetch");
                    prop_assert!(
                        !(off && uris.is_array() && !pulls && text(argument).starts_with("oci://")),
                        "{} is fetched although images are left alone",
                        argument
                    );
                }
            }
        }
        Ok(())
    });
}

/// The agent serves the path at which it probes its server, and probes a server that has probes.
#[test]
fn the_agent_probe_matches_the_server_probe() {
    holds(|input| {
        for (object, template) in input.rendered(true).templates() {
            let containers = items(&template["spec"]["containers"]);
            let Some(agent) = containers.iter().find(|container| container["name"] == "agent")
            else {
                continue;
            };
            let told = items(&agent["env"])
                .iter()
                .find(|variable| variable["name"] == "SERVING_READINESS_PROBE")
                .map(|variable| {
                    serde_json::from_str::<Value>(text(&variable["value"])).expect("JSON")
                });
            let asked = &containers[0]["readinessProbe"];
            let path = told.as_ref().map_or("", |probe| text(&probe["httpGet"]["path"]));
            let own = text(&agent["readinessProbe"]["httpGet"]["path"]);
            prop_assert_eq!(own, if path.is_empty() { "/" } else { path });
            if object["kind"] == "Deployment" {
                let asks = asked["httpGet"].is_object() || asked["tcpSocket"].is_object();
                prop_assert_eq!(told.is_some(), asks, "{}", object["metadata"]["name"]);
            }
        }
        Ok(())
    });
}

/// A stopped service keeps its ConfigMaps only, and fails where it would fail running.
#[test]
fn a_stopped_service_keeps_its_config_maps_and_its_errors() {
    holds(|input| {
        let running = input.rendered(false);
        let stopped = input.annotated("serving.kserve.io/stop", json!("true")).rendered(false);
        // A missing entry cannot fail, and an existing one can refer to a removed object.
        let entry = |error: &Option<String>| {
            error
                .as_ref()
                .is_some_and(|error| error.contains("reconcile ingress") || error.contains("url"))
        };
        if entry(&running.error) || entry(&stopped.error) {
            return Ok(());
        }
        let failed = running.error.is_some();
        prop_assert!(!failed || running.error == stopped.error || invalid_host(&running));
        if running.error.is_none() {
            prop_assert_eq!(&stopped.error, &None);
            let kept: Vec<&Value> = running.of("ConfigMap").collect();
            prop_assert_eq!(stopped.objects.iter().collect::<Vec<_>>(), kept);
        }
        Ok(())
    });
}

/// Whether the entry found no host.
fn invalid_host(rendered: &Rendered) -> bool {
    rendered.error.as_ref().is_some_and(|error| error.contains("invalid domain name"))
}

/// An annotation that is not copied decides nothing.
#[test]
fn a_disallowed_mode_annotation_is_ignored() {
    holds(|input| {
        let mut input = input.clone();
        input.settings.get_mut("inferenceService").expect("it is drawn")["serviceAnnotationDisallowedList"] =
            json!(["serving.kserve.io/deploymentMode"]);
        // Variants need the mode in the annotation itself.
        input.service["spec"]["canary"] = Value::Null;
        let mode = "serving.kserve.io/deploymentMode";
        let modes = ["Standard", "Knative"]
            .map(|word| planned(&input.annotated(mode, json!(word)).world(false), modes_of));
        prop_assert_eq!(&modes[0], &modes[1]);
        Ok(())
    });
}

fn modes_of(planned: &Planned<'_>) -> Vec<(ComponentKind, String)> {
    let mode = |component: &ome::pipeline::PlannedComponent| {
        (component.kind, format!("{:?}", component.mode))
    };
    planned.components.iter().map(mode).collect()
}

/// Of a service that another controller runs nothing is chosen and nothing fails.
#[test]
fn a_modelmesh_service_renders_nothing_and_selects_no_runtime() {
    holds(|input| {
        let mut input = input.annotated("serving.kserve.io/deploymentMode", json!("ModelMesh"));
        input.settings.get_mut("inferenceService").expect("it is drawn")["serviceAnnotationDisallowedList"] =
            Value::Null;
        for component in ["transformer", "explainer", "canary"] {
            input.service["spec"][component] = Value::Null;
        }
        let rendered = input.rendered(false);
        prop_assert_eq!(rendered, Rendered { objects: Vec::new(), error: None });
        prop_assert!(planned(&input.world(false), |planned| planned.resolution.chosen().is_none()));
        Ok(())
    });
}

/// Services that all fail would prove nothing.
#[test]
fn generated_services_render_every_kind_of_object() {
    let seen = std::cell::RefCell::new(BTreeMap::<String, usize>::new());
    holds(|input| {
        let world = input.world(true);
        let mut seen = seen.borrow_mut();
        for object in manifests(&world) {
            let kind = object.get("kind").and_then(Node::as_str).unwrap_or_default();
            *seen.entry(kind.to_owned()).or_default() += 1;
            each_node(&object, &mut |node| {
                if let Some(name @ ("agent" | "modelcar" | "storage-initializer")) = node.as_str() {
                    *seen.entry(name.to_owned()).or_default() += 1;
                }
            });
        }
        let failed = planned(&world, |planned| planned.error.is_some());
        *seen.entry(if failed { "failed" } else { "planned" }.to_owned()).or_default() += 1;
        Ok(())
    });
    let seen = seen.into_inner();
    for kind in [
        "Deployment",
        "Service",
        "HorizontalPodAutoscaler",
        "Ingress",
        "HTTPRoute",
        "VirtualService",
        "ConfigMap",
        "agent",
        "modelcar",
        "storage-initializer",
        "failed",
        "planned",
    ] {
        assert!(seen.get(kind).is_some_and(|count| *count > 7), "{kind}: {seen:?}");
    }
}

//! Merges one Go struct over another, as the controller merges a service over a runtime.
//!
//! Both sides are marshalled structs, so that zero values vanish and fields without `omitempty`
//! always win, and the merge is a strategic merge patch
//! (pkg/controller/v1beta1/inferenceservice/utils/merging.go; k8s.io/apimachinery,
//! pkg/util/strategicpatch).

use crate::api::{ComponentKind, Runtime};
use crate::merge::history::Recorder;
use crate::merge::smp;
use crate::merge::typed::decoded;
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::schema::{self, Library, Type};
use crate::yaml::Node;
use ecow::EcoString;
use std::sync::OnceLock;

/// The libraries that OME v0.1.5 is built with.
pub(super) const LIBRARY: Library = Library::V0_33;

/// The type of a component of a service.
pub(crate) fn component_type(kind: ComponentKind) -> &'static Type {
    static TYPES: OnceLock<[&Type; 3]> = OnceLock::new();
    let types = TYPES.get_or_init(|| {
        ComponentKind::OME.map(|kind| within_kind("InferenceService", kind.as_str()))
    });
    types[kind as usize]
}

/// The type of a runtime's configuration of a component.
fn config_type(kind: ComponentKind) -> &'static Type {
    static TYPES: OnceLock<[&Type; 3]> = OnceLock::new();
    let types = TYPES.get_or_init(|| {
        ComponentKind::OME.map(|kind| within_kind("ClusterServingRuntime", kind.config_key()))
    });
    types[kind as usize]
}

fn within_kind(kind: &str, field: &str) -> &'static Type {
    // A test proves that every one of them is in the tables.
    schema::kind("ome.io/v1beta1", kind)
        .and_then(|schema| schema.root().at(&["spec", field]))
        .unwrap_or(&Type::Any)
}

/// A runtime's configuration of a component as the controller's Go struct holds it, with the
/// defaults of the CRD; decoded once per runtime.
pub(crate) fn of_runtime(
    policy: &Policy,
    runtime: &Runtime,
    kind: ComponentKind,
) -> Option<Result<Node, String>> {
    let config = runtime.config(kind).filter(|config| config.as_map().is_some())?;
    let decode = || {
        // A copy with defaults: the runtime's own tree stays as written, for origins and for `why`.
        let mut layer = config.clone();
        if policy.ome().crd_defaults {
            config_type(kind).default(&mut layer);
        }
        // Quirk: upstream copies the fields one by one and omits this one
        // (pkg/controller/v1beta1/inferenceservice/utils/merging.go).
        if layer.get("acceleratorOverride").is_some()
            && let Some(map) = layer.as_map_mut()
        {
            map.remove("acceleratorOverride");
        }
        decoded(&layer, config_type(kind), LIBRARY).map_err(EcoString::from)
    };
    // A runtime is shared by many services; decoding is the slow part of merging.
    Some(runtime.decoded.get_or_decode(kind, decode).clone().map_err(String::from))
}

/// The service's part of a component over the runtime's; the service's alone when the runtime has
/// none.
///
/// # Errors
/// When a value does not fit its type or the two cannot be merged.
pub(crate) fn component(
    kind: ComponentKind,
    lower: Option<Node>,
    upper: &Node,
    rec: &mut Recorder,
) -> Result<Node, String> {
    let upper = decoded(upper, component_type(kind), LIBRARY)?;
    let Some(lower) = lower else { return Ok(upper) };
    // Upstream decodes the result once more, which only removes nulls that are not printed. The
    // type is the runtime's: the schema of a service has no ephemeralContainers.
    smp::merge(lower, &upper, Some(config_type(kind)), rec).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::typed::{container, container_type};
    use crate::operators::ome::compose::testing::node;

    #[test]
    fn every_component_type_is_in_the_schema_tables() {
        for kind in ComponentKind::OME {
            assert!(
                component_type(kind).object().is_some() && config_type(kind).object().is_some(),
                "{}",
                kind.as_str()
            );
        }
        assert!(container_type().object().is_some());
    }

    fn merged(lower: &str, upper: &str) -> Node {
        let lower = decoded(&node(lower), component_type(ComponentKind::Engine), LIBRARY).unwrap();
        component(ComponentKind::Engine, Some(lower), &node(upper), &mut Recorder::off()).unwrap()
    }

    // k8s.io/apimachinery, pkg/util/strategicpatch, the whole table.
    #[test]
    fn new_list_elements_come_before_elements_of_the_runtime() {
        let list = |names: &str| {
            let element = |name: &str| match name.split_once('=') {
                Some((name, value)) => format!("{{name: {name}, value: '{value}'}}"),
                None => format!("{{name: {name}}}"),
            };
            format!("[{}]", names.split_whitespace().map(element).collect::<Vec<_>>().join(", "))
        };
        let runner = |names: &str| {
            if names.is_empty() {
                "{runner: {name: r}}".to_owned()
            } else {
                format!("{{runner: {{name: r, env: {}}}}}", list(names))
            }
        };
        for (base, patch, expected) in [
            ("A B", "X", "X A B"),
            ("A B C", "X A", "X A B C"),
            ("A B C", "A X", "A X B C"),
            ("A B C", "B X", "A B X C"),
            ("A B C", "C X", "A B C X"),
            ("A B C", "C A", "B C A"),
            ("A B C D", "D X B", "A C D X B"),
            ("A B C D", "B X D Z", "A B X C D Z"),
            ("A", "X=1 X=2", "X=2 A"),
            ("", "X=1 X=2", "X=1 X=2"),
            ("A=1 A=2", "A=3", "A=3 A=2"),
            ("A=1 A=2", "B", "B A=1 A=2"),
            ("A B", "", "A B"),
        ] {
            let names = list(expected);
            assert_eq!(
                merged(&runner(base), &runner(patch)),
                node(&format!("{{runner: {{name: r, env: {names}, resources: {{}}}}}}")),
                "{base} + {patch}"
            );
        }
    }

    // pkg/controller/v1beta1/inferenceservice/utils/merging.go.
    #[test]
    fn zero_values_do_not_override_but_set_pointers_do() {
        for (lower, upper, expected) in [
            ("{hostNetwork: true}", "{hostNetwork: false}", "{hostNetwork: true}"),
            (
                "{automountServiceAccountToken: true}",
                "{automountServiceAccountToken: false}",
                "{automountServiceAccountToken: false}",
            ),
            (
                "{minReplicas: 2, maxReplicas: 4}",
                "{minReplicas: 0, maxReplicas: 0}",
                "{minReplicas: 0, maxReplicas: 4}",
            ),
            (
                "{nodeSelector: {a: x, b: y1}}",
                "{nodeSelector: {b: ''}}",
                "{nodeSelector: {a: x, b: ''}}",
            ),
            ("{tolerations: [{key: a}]}", "{tolerations: [{key: b}]}", "{tolerations: [{key: b}]}"),
            (
                "{imagePullSecrets: [{name: a}, {name: b}]}",
                "{imagePullSecrets: [{name: c}]}",
                "{imagePullSecrets: [{name: c}, {name: a}, {name: b}]}",
            ),
            (
                "{runner: {name: a, args: [x, z]}}",
                "{runner: {name: a, args: [w]}}",
                "{runner: {name: a, args: [w], resources: {}}}",
            ),
            (
                "{runner: {name: a, image: i}}",
                "{runner: {args: [w]}}",
                "{runner: {name: '', image: i, args: [w], resources: {}}}",
            ),
            (
                "{runner: {name: a, resources: {limits: {memory: 1.5Gi, cpu: 1000m}}}}",
                "{}",
                "{runner: {name: a, resources: {limits: {memory: 1536Mi, cpu: '1'}}}}",
            ),
            ("{unknown: 1, worker: {size: 2}}", "{worker: {size: 0}}", "{worker: {size: 0}}"),
        ] {
            assert_eq!(merged(lower, upper), node(expected), "{lower} + {upper}");
        }
    }

    // pkg/controller/v1beta1/inferenceservice/reconcilers/common/podspec_reconciler.go,
    // MergeRuntimeContainers.
    #[test]
    fn a_runner_joins_the_container_of_its_name() {
        for (listed, runner, expected) in [
            (
                Some("{name: c, args: [A], env: [{name: B0}, {name: MODEL_PATH, value: /base}]}"),
                "{name: c, args: [B], env: [{name: R0}, {name: MODEL_PATH, value: /m}, {name: P, value: '32'}]}",
                "{name: c, args: [A, B], env: [{name: R0}, {name: B0}, {name: MODEL_PATH, value: /m}, {name: P, value: '32'}], resources: {}}",
            ),
            (
                Some("{name: '', command: [a]}"),
                "{name: '', args: [B]}",
                "{name: '', command: [a], args: [B], resources: {}}",
            ),
            (None, "{name: c, args: [B]}", "{name: c, args: [B], resources: {}}"),
        ] {
            assert_eq!(
                container(listed.map(node), &node(runner), LIBRARY, &mut Recorder::off()).unwrap(),
                node(expected),
                "{listed:?} + {runner}"
            );
        }
    }

    #[test]
    fn a_value_of_a_wrong_type_is_an_error() {
        for broken in [
            "{runner: {name: a, resources: {limits: {cpu: lots}}}}",
            "{minReplicas: some}",
            "{runner: {name: a, env: [{name: A, value: 1}]}}",
        ] {
            assert!(
                component(ComponentKind::Engine, None, &node(broken), &mut Recorder::off())
                    .is_err(),
                "{broken}"
            );
        }
    }
}

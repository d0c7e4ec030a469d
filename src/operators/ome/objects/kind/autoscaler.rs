//! HorizontalPodAutoscaler, `autoscaling/v2`, and KEDA ScaledObject, `keda.sh/v1alpha1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go;
//! pkg/controller/v1beta1/inferenceservice/reconcilers/keda/keda_reconciler.go; docs/render.md).

use super::{go_int32, int32};
use crate::objects::build::{IntoNode, node, set};
use crate::objects::metadata::without;
use crate::objects::rules;
use crate::operators::ome::objects::component::Frame;
use crate::operators::ome::objects::names;
use crate::template;
use crate::yaml::{Map, Node, Origin, Rule, Value};
use ecow::EcoString;

/// The autoscaler of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A HorizontalPodAutoscaler.
    Hpa,
    /// A KEDA ScaledObject.
    Keda,
    /// An external one.
    External,
}

/// Annotations that override `kedaConfig` for a ScaledObject.
pub(crate) const KEDA_ANNOTATIONS: [&str; 4] = [
    "autoscaling.keda.sh/prometheus.query",
    "autoscaling.keda.sh/prometheus.serverAddress",
    "autoscaling.keda.sh/threshold",
    "autoscaling.keda.sh/operator",
];

/// The class that an annotation sets.
///
/// # Errors
/// The operator's error for an unknown class; the empty one and `none` are unknown too.
pub(crate) fn class(annotations: &Map) -> Result<Class, String> {
    match annotations.get("ome.io/autoscalerClass") {
        None => Ok(Class::Hpa),
        Some(node) => match node.scalar_text().as_deref() {
            Some("hpa") => Ok(Class::Hpa),
            Some("keda") => Ok(Class::Keda),
            Some("external") => Ok(Class::External),
            _ => Err("unknown autoscaler class type".into()),
        },
    }
}

/// Replicas of a Deployment that nothing has scaled yet: it is written without a number, which is 1,
/// and no autoscaler that the operator writes has a minimum of 0.
pub(crate) fn settled(annotations: &Map, least: Option<i64>) -> Option<i64> {
    match class(annotations) {
        Ok(Class::External) => Some(1),
        Ok(Class::Hpa | Class::Keda) | Err(_) => least.map(|least| least.max(1)),
    }
}

/// Smallest and largest number of replicas: the smallest is at least 1, the largest at least the
/// smallest. Both are int32; `compares` is the type in which the largest is compared
/// (reconcilers/hpa/hpa_reconciler.go and reconcilers/keda/keda_reconciler.go, calculateMaxReplicas).
fn bounds(frame: &Frame<'_>, compares: fn(i64) -> i64) -> (Option<Node>, Option<Node>) {
    let given = |key| frame.spec(key).and_then(|node| node.as_int().map(|number| (number, node)));
    let min = given("minReplicas").filter(|(number, _)| *number >= 1);
    let least = min.map_or(1, |(number, _)| go_int32(number));
    let default = || least.into_node(Origin::Default(&rules::AUTOSCALER_BOUNDS));
    // A maximum below the minimum is replaced by the minimum, which the server would refuse
    // otherwise.
    let max = given("maxReplicas").filter(|(number, _)| {
        let number = compares(*number);
        number >= least
    });
    let written = |(_, node): (i64, &Node)| int32(node);
    (min.map(written).or_else(default), max.map(written).or_else(default))
}

/// The Deployment that the autoscaler scales.
fn target(frame: &Frame<'_>, rule: &'static Rule) -> Option<Node> {
    node!(rule; { kind: "Deployment", name: (&frame.scaled), apiVersion: "apps/v1" })
}

/// The HorizontalPodAutoscaler of a component. The empty `behavior` that upstream writes is not
/// printed.
pub(crate) fn horizontal(frame: &Frame<'_>) -> Option<Node> {
    const RULE: &Rule = &rules::HPA;
    let (min, max) = bounds(frame, go_int32);
    let metric = frame
        .spec("scaleMetric")
        // In Go a metric that is not set and an empty one are the same.
        .filter(|node| node.as_str() != Some(""))
        .cloned()
        .or_else(|| "cpu".into_node(Origin::Default(&rules::HPA_METRIC)));
    node!(RULE; {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: (frame.metadata(frame.name().clone(), &frame.app_labels, &frame.annotations)),
        spec: {
            scaleTargetRef: (target(frame, RULE)),
            minReplicas: min,
            maxReplicas: max,
            metrics: [{ type: "Resource", resource: { name: metric, target: { type: "Utilization", averageUtilization: (utilization(frame)) } } }],
        },
    })
}

/// Utilization in percent of the requests: the annotation, else scaleTarget, else 80. An annotation
/// that is not a number counts as 0 upstream.
fn utilization(frame: &Frame<'_>) -> Option<Node> {
    match frame.annotations.get("ome.io/targetUtilizationPercentage") {
        Some(node) => {
            let percent = node.scalar_text().map_or(0, |text| atoi32(&text));
            Some(Node::new(Value::Int(percent.into()), node.origin))
        }
        None => frame
            .spec("scaleTarget")
            .map(int32)
            .or_else(|| 80.into_node(Origin::Default(&rules::HPA_METRIC))),
    }
}

/// A number as Go converts `strconv.Atoi` to int32 with errors ignored: 0 for text that is not a
/// number, and for a number that is too large the low 32 bits of the largest int64.
#[expect(clippy::cast_possible_truncation, reason = "as upstream does")]
fn atoi32(text: &str) -> i32 {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match text.parse::<i64>() {
        Ok(number) => number as i32,
        Err(error) => match error.kind() {
            PosOverflow => i64::MAX as i32,
            NegOverflow => i64::MIN as i32,
            _ => 0,
        },
    }
}

/// The ScaledObject of a component, and remarks about its query. Quirk: its labels lack `app` and
/// those of queues; a component's `kedaConfig` is not read, the service's applies to all
/// components.
pub(crate) fn scaled_object(frame: &Frame<'_>) -> (Option<Node>, Option<String>) {
    const RULE: &Rule = &rules::KEDA;
    const DEFAULTS: Origin = Origin::Default(&rules::KEDA_DEFAULTS);
    let config = frame.service.object.spec("kedaConfig");
    let configured = |key: &str| {
        config.and_then(|config| config.get(key)).filter(|node| node.as_str() != Some("")).cloned()
    };
    let annotated = |key: &str| frame.annotations.get(key).cloned();
    let (min, max) = bounds(frame, std::convert::identity);
    let metric = frame
        .spec("scaleMetric")
        .filter(|node| node.as_str() != Some(""))
        .cloned()
        .or_else(|| "tps".into_node(DEFAULTS));

    let mut remark = None;
    let query = annotated("autoscaling.keda.sh/prometheus.query").or_else(|| {
        let Some(custom) = configured("customPromQuery") else { return default_query(frame.name()).into_node(DEFAULTS) };
        let format = custom.as_str().unwrap_or_default();
        // Upstream passes the query to fmt.Sprintf, so that every percent sign is a verb.
        let query = match template::sprintf_text(format, frame.name()) {
            Ok(query) => query,
            Err(error) => {
                remark = Some(format!("{error}; the query is printed as it is written"));
                return Some(custom);
            }
        };
        if !names_the_component_once(format) {
            remark = Some(format!("the query is used as a format of Go with `{}` as its only argument and becomes `{query}`", frame.name()));
        }
        Some(Node::str(query, custom.origin))
    });
    let address = annotated("autoscaling.keda.sh/prometheus.serverAddress")
        .or_else(|| configured("promServerAddress"))
        .or_else(|| {
            "http://prometheus-operated.monitoring.svc.cluster.local:9090".into_node(DEFAULTS)
        });
    let threshold = annotated("autoscaling.keda.sh/threshold")
        .or_else(|| configured("scalingThreshold"))
        .or_else(|| "10".into_node(DEFAULTS));
    let operator = annotated("autoscaling.keda.sh/operator")
        .or_else(|| configured("scalingOperator"))
        .or_else(|| "LessThanOrEqual".into_node(DEFAULTS));
    let reference = config.and_then(|config| config.get("authenticationRef")).cloned();
    let modes = reference.as_ref().and_then(|_| configured("authModes"));

    let object = node!(RULE; {
        apiVersion: "keda.sh/v1alpha1",
        kind: "ScaledObject",
        metadata: (frame.metadata(names::scaled_object(frame.name()), &without(&frame.labels, |key| key == "k8slens-edit-resource-version"), &frame.annotations)),
        spec: {
            scaleTargetRef: (target(frame, RULE)),
            minReplicaCount: min,
            maxReplicaCount: max,
            triggers: [{
                type: "prometheus",
                metadata: {
                    authModes: modes, metricName: metric, operator: operator, query: query, serverAddress: address, threshold: threshold,
                },
                authenticationRef: (reference.map(authentication)),
            }],
        },
    });
    (object, remark)
}

/// A reference to credentials; its kind defaults to TriggerAuthentication.
fn authentication(mut reference: Node) -> Node {
    if let Some(map) = reference.as_map_mut()
        && map.get("kind").is_none_or(|kind| kind.is_null() || kind.as_str() == Some(""))
    {
        set(map, "kind", "TriggerAuthentication", Origin::Default(&rules::KEDA_DEFAULTS));
    }
    reference
}

/// Whether a format string has exactly one verb for its argument and no other `%`.
fn names_the_component_once(format: &str) -> bool {
    let indexed = format.matches("%[1]s").count();
    let plain = format.matches("%s").count();
    // Every percent sign must belong to a verb of these two kinds; `%%` is one too many.
    format.matches('%').count() == indexed + plain
        && ((plain == 1 && indexed == 0) || (plain == 0 && indexed >= 1))
}

/// The default query. Quirk: it selects by the component's name, but pods are labeled with the
/// service's name, so that the query finds no pods
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/keda/keda_reconciler.go,
/// getPrometheusQuery).
fn default_query(component: &EcoString) -> String {
    let lines = [
        "sum(".to_owned(),
        format!(
            "            avg_over_time(vllm:avg_generation_throughput_toks_per_s{{ome_io_inferenceservice=\"{component}\"}}[5m]) < bool 10"
        ),
        "        )".to_owned(),
        "        *".to_owned(),
        "        sum(".to_owned(),
        format!(
            "            rate(vllm:request_success_total{{ome_io_inferenceservice=\"{component}\"}}[1m]) > bool 0.50"
        ),
        "        )".to_owned(),
    ];
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::{Case, map};

    #[test]
    fn only_hpa_keda_and_external_autoscaler_classes_are_valid() {
        for (annotations, expected) in [
            ("{}", Some(Class::Hpa)),
            (r#"{"ome.io/autoscalerClass":"hpa"}"#, Some(Class::Hpa)),
            (r#"{"ome.io/autoscalerClass":"keda"}"#, Some(Class::Keda)),
            (r#"{"ome.io/autoscalerClass":"external"}"#, Some(Class::External)),
            (r#"{"ome.io/autoscalerClass":""}"#, None),
            (r#"{"ome.io/autoscalerClass":"none"}"#, None),
        ] {
            assert_eq!(class(&map(annotations)).ok(), expected, "{annotations}");
        }
    }

    #[test]
    fn what_runs_before_it_is_scaled_depends_on_the_autoscaler() {
        for (class, least, expected) in [
            ("hpa", Some(0), Some(1)),
            ("keda", Some(0), Some(1)),
            ("hpa", Some(3), Some(3)),
            ("external", Some(3), Some(1)),
            ("external", Some(0), Some(1)),
            ("hpa", None, None),
        ] {
            let annotations = map(&format!(r#"{{"ome.io/autoscalerClass":"{class}"}}"#));
            assert_eq!(settled(&annotations, least), expected, "{class} {least:?}");
        }
    }

    #[test]
    fn hpa_bounds_are_raised_to_one_and_to_min_replicas() {
        for (spec, expected) in [
            ("{}", (1, 1)),
            (r#"{"minReplicas":0,"maxReplicas":5}"#, (1, 5)),
            (r#"{"minReplicas":4,"maxReplicas":2}"#, (4, 4)),
            (r#"{"minReplicas":2,"maxReplicas":8}"#, (2, 8)),
            // Both are converted to int32.
            (r#"{"minReplicas":2147483648,"maxReplicas":5}"#, (-2_147_483_648, 5)),
            (r#"{"minReplicas":4294967298,"maxReplicas":2147483648}"#, (2, 2)),
        ] {
            let case = Case::engine(spec, "{}");
            let built = horizontal(&case.frame()).expect("an object");
            let number = |key| built.at(&["spec", key]).and_then(Node::as_int).expect(key);
            assert_eq!((number("minReplicas"), number("maxReplicas")), expected, "{spec}");
        }
    }

    #[test]
    fn keda_compares_max_replicas_before_the_conversion() {
        let case = Case::engine(r#"{"minReplicas":4294967298,"maxReplicas":2147483648}"#, "{}");
        let built = scaled_object(&case.frame()).0.expect("an object");
        let number = |key| built.at(&["spec", key]).and_then(Node::as_int).expect(key);
        assert_eq!((number("minReplicaCount"), number("maxReplicaCount")), (2, -2_147_483_648));
    }

    #[test]
    fn the_target_is_the_annotation_then_the_spec_then_80() {
        for (spec, annotations, expected) in [
            ("{}", "{}", 80),
            (r#"{"scaleTarget":60}"#, "{}", 60),
            (r#"{"scaleTarget":60}"#, r#"{"ome.io/targetUtilizationPercentage":"45"}"#, 45),
            ("{}", r#"{"ome.io/targetUtilizationPercentage":"many"}"#, 0),
            ("{}", r#"{"ome.io/targetUtilizationPercentage":"4294967376"}"#, 80),
            ("{}", r#"{"ome.io/targetUtilizationPercentage":"99999999999999999999"}"#, -1),
            ("{}", r#"{"ome.io/targetUtilizationPercentage":"-99999999999999999999"}"#, 0),
        ] {
            let case = Case::engine(spec, "{}").annotated(annotations);
            assert_eq!(
                utilization(&case.frame()).and_then(|node| node.as_int()),
                Some(expected),
                "{spec} {annotations}"
            );
        }
    }

    #[test]
    fn annotations_win_over_the_service_and_the_service_over_constants() {
        let case = Case::engine(r#"{"minReplicas":1,"maxReplicas":4,"scaleMetric":"rps"}"#, "{}")
            .annotated(r#"{"autoscaling.keda.sh/threshold":"7"}"#)
            .service(r#"{"kedaConfig":{"scalingThreshold":"3.5","authModes":"bearer","authenticationRef":{"name":"p"},"customPromQuery":"up{n=\"%s\"}"}}"#);
        let (object, remark) = scaled_object(&case.frame());
        let object = object.expect("an object").to_json();
        assert_eq!(remark, None);
        assert_eq!(object["spec"]["triggers"][0]["metadata"]["threshold"], "7");
        assert_eq!(object["spec"]["triggers"][0]["metadata"]["query"], "up{n=\"chat-engine\"}");
        assert_eq!(object["spec"]["triggers"][0]["metadata"]["metricName"], "rps");
        assert_eq!(
            object["spec"]["triggers"][0]["authenticationRef"],
            serde_json::json!({"name": "p", "kind": "TriggerAuthentication"})
        );
        assert_eq!(object["metadata"]["name"], "scaledobject-chat-engine");
        assert!(object["metadata"]["labels"].get("app").is_none());
    }

    #[test]
    fn keda_auth_modes_need_a_reference_and_bad_queries_get_a_note() {
        let case = Case::engine("{}", "{}")
            .service(r#"{"kedaConfig":{"authModes":"bearer","customPromQuery":"a % 5"}}"#);
        let (object, remark) = scaled_object(&case.frame());
        let object = object.expect("an object").to_json();
        assert!(object["spec"]["triggers"][0]["metadata"].get("authModes").is_none());
        assert_eq!(
            object["spec"]["triggers"][0]["metadata"]["query"],
            "a %!(NOVERB)%!(EXTRA string=chat-engine)"
        );
        assert!(remark.is_some());
    }
}

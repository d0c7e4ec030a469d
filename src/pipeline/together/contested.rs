//! Workloads that autoscalers of the input scale in contradiction to each other, or beyond what is
//! placed. In: planned services, ModelServings and the workloads of the input. Out: a line for each.

use super::workloads::{ServiceNames, counted_objects, id_of, shown};
use super::{At, NotJudged};
use crate::pipeline::plan::Planner;
use crate::pipeline::planned::Planned;
use crate::pipeline::serving::PlannedServing;
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;

/// All of them.
pub(super) fn found(
    planner: &Planner<'_>,
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
    services: &ServiceNames,
    at: At,
) -> Vec<NotJudged> {
    let autoscalers = &planner.autoscalers;
    if autoscalers.is_empty() {
        return Vec::new();
    }
    let line = |what: EcoString, message: EcoString, of: EcoString| NotJudged {
        what,
        message,
        of: BTreeSet::from([of]),
        ..NotJudged::default()
    };
    let mut found = Vec::new();
    for planned_service in planned.iter().filter(|planned_service| planned_service.error.is_none())
    {
        for component in &planned_service.components {
            let why = component.kept.as_ref().and_then(|kept| kept.contested.clone());
            found.extend(why.map(|why| {
                let service = eco_format!("{}", planned_service.service);
                line(eco_format!("{} of {service}", component.kind.as_str()), why, service)
            }));
        }
    }
    for planned_serving in servings {
        let (namespace, name) =
            (&planned_serving.serving.namespace, planned_serving.serving.name());
        let replicas = planned_serving.serving.replicas.value;
        let Some(kept) = autoscalers.of_serving(namespace, name, replicas) else { continue };
        let other = kept.least != replicas || at == At::Max && kept.most != replicas;
        let scaled = || {
            eco_format!(
                "an autoscaler scales it to {}..{} groups, and its own number is counted",
                kept.least,
                kept.most
            )
        };
        let why = kept.contested.clone().or_else(|| other.then(scaled));
        found.extend(why.map(|why| {
            let serving = eco_format!("{namespace}/{name}");
            line(eco_format!("ModelServing {serving}"), why, serving)
        }));
    }
    for object in counted_objects(planner.catalog(), services) {
        let why = autoscalers.kept(object).and_then(|kept| kept.contested);
        found.extend(why.map(|why| line(shown(object), why, id_of(object))));
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::testing::{Ran, catalog, gpu_node, ome_on, service, serving};

    const RAW: &str = "minReplicas: 1, maxReplicas: 4";

    fn hpa(name: &str, target: &str, least: i64, most: i64) -> String {
        format!(
            "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: {name}, namespace: ml}}\nspec: {{minReplicas: {least}, maxReplicas: {most}, scaleTargetRef: {{{target}}}}}\n"
        )
    }

    fn of_service(more: &str, at: &str) -> Ran {
        let text = catalog(1) + &service("a", RAW) + &gpu_node("n1", 8, "") + more;
        ome_on(
            &format!("plan -o json --no-builtin --at {at} -f {{in.yaml}}"),
            &[("in.yaml", &text)],
        )
    }

    const ENGINE: &str = "apiVersion: apps/v1, kind: Deployment, name: a-engine";

    #[test]
    fn an_autoscaler_of_the_user_counts_beside_that_of_the_operator() {
        let wanted = |more: &str, at: &str| {
            let ran = of_service(more, at);
            (
                ran.at("/placement/pods/wanted").as_u64(),
                ran.at("/placement/verdict").as_str().unwrap_or("").to_owned(),
            )
        };
        assert_eq!(wanted("", "min"), (Some(1), "fits".into()));
        assert_eq!(wanted("", "max"), (Some(4), "fits".into()));
        // Both keep the number within their limits.
        assert_eq!(wanted(&hpa("h", ENGINE, 2, 3), "min"), (Some(2), "unknown".into()));
        assert_eq!(wanted(&hpa("h", ENGINE, 2, 3), "max"), (Some(3), "unknown".into()));
        // The limits have no number in common: the greater one has to fit.
        assert_eq!(wanted(&hpa("h", ENGINE, 6, 7), "min"), (Some(6), "unknown".into()));
        // That of the operator, and one of another workload.
        assert_eq!(wanted(&hpa("a-engine", ENGINE, 1, 4), "min"), (Some(1), "fits".into()));
        let other = "apiVersion: apps/v1, kind: Deployment, name: b-engine";
        assert_eq!(wanted(&hpa("h", other, 6, 7), "min"), (Some(1), "fits".into()));
        let ran = of_service(&hpa("h", ENGINE, 6, 7), "min");
        let why = ran.at("/placement/notJudged/0/message").to_string();
        assert!(why.contains("set 4 and 6 replicas in turn"), "{why}");
    }

    #[test]
    fn two_autoscalers_of_a_deployment_are_named() {
        let plain = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: '1'}}}]}}}\n";
        let target = "apiVersion: apps/v1, kind: Deployment, name: a";
        let of = |more: &str| {
            let text = gpu_node("n1", 8, "") + plain + more;
            ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)])
        };
        let one = of(&hpa("h", target, 2, 3));
        assert_eq!(
            (one.at("/placement/pods/wanted"), one.at("/placement/verdict")),
            (2.into(), "fits".into())
        );
        let two = of(&(hpa("h", target, 2, 5) + &hpa("i", target, 3, 4)));
        assert_eq!(two.at("/placement/pods/wanted"), 3);
        assert_eq!(two.at("/placement/notJudged/0/what"), "Deployment ml/a");
    }

    #[test]
    fn an_autoscaler_that_is_refused_scales_nothing() {
        let plain = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: '1'}}}]}}}\n";
        let of = |more: &str| {
            let text = gpu_node("n1", 8, "") + plain + more;
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
            let wanted = ran.at("/placement/pods/wanted").as_u64();
            (wanted, ran.at("/placement/notJudged/0/message").as_str().unwrap_or("").to_owned())
        };
        let keda = |spec: &str| {
            format!(
                "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{name: s, namespace: ml}}\nspec: {{scaleTargetRef: {{name: a}}, {spec}}}\n"
            )
        };
        let target = "apiVersion: apps/v1, kind: Deployment, name: a";
        for (more, why) in [
            (hpa("h", target, 30, 10), "its maxReplicas is less"),
            (keda("minReplicaCount: 7, maxReplicaCount: 5"), "its maxReplicaCount is less"),
            (keda("triggers: [{type: cpu, metadata: {value: '5'}}]"), "cpu or memory alone"),
            (keda("idleReplicaCount: 0, triggers: [{type: cron}]"), "its idleReplicaCount is not"),
        ] {
            let (wanted, message) = of(&more);
            assert_eq!(wanted, Some(2), "{more}");
            assert!(message.contains(why), "{message}");
        }
        assert_eq!(of(&keda("triggers: [{type: cron}]")), (Some(0), String::new()));
    }

    #[test]
    fn a_scaled_object_scales_a_workload_without_pods() {
        let wanted = |replicas: &str, spec: &str, at: &str| {
            let text = gpu_node("n1", 8, "")
                + &format!(
                    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{{replicas}selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}\n---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{name: s, namespace: ml}}\nspec: {{scaleTargetRef: {{name: a}}, {spec}}}\n"
                );
            let ran =
                ome_on(&format!("plan -o json --at {at} -f {{in.yaml}}"), &[("in.yaml", &text)]);
            ran.at("/placement/pods/wanted").as_u64().unwrap()
        };
        let (none, cron) = ("replicas: 0, ", "triggers: [{type: cron}]");
        let cpu = "triggers: [{type: cpu}]";
        for (replicas, spec, trigger, at, expected) in [
            (none, "minReplicaCount: 2, maxReplicaCount: 5", cron, "min", 2),
            (none, "minReplicaCount: 2, maxReplicaCount: 5", cron, "max", 5),
            (none, "minReplicaCount: 2, maxReplicaCount: 5, idleReplicaCount: 0", cron, "min", 0),
            (none, "minReplicaCount: 2, maxReplicaCount: 5, idleReplicaCount: 0", cron, "max", 5),
            ("", "minReplicaCount: 3, maxReplicaCount: 5, idleReplicaCount: 1", cron, "min", 1),
            ("", "minReplicaCount: 3, maxReplicaCount: 5, idleReplicaCount: 1", cron, "current", 1),
            // Triggers that measure the pods are never inactive.
            (none, "minReplicaCount: 2, maxReplicaCount: 5, idleReplicaCount: 0", cpu, "min", 2),
        ] {
            let spec = format!("{spec}, {trigger}");
            assert_eq!(wanted(replicas, &spec, at), expected, "{replicas}{spec} at {at}");
        }
    }

    #[test]
    fn an_autoscaler_of_a_model_serving_is_named() {
        let target =
            "apiVersion: workload.serving.volcano.sh/v1alpha1, kind: ModelServing, name: s";
        let of = |least: i64| {
            let text =
                gpu_node("n1", 8, "") + &serving("s", "2", "1") + &hpa("h", target, least, 4);
            ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)])
        };
        assert_eq!(of(1).at("/placement/verdict"), "fits");
        assert_eq!(of(3).at("/placement/notJudged/0/what"), "ModelServing ml/s");
    }

    #[test]
    fn a_policy_of_kthena_scales_a_model_serving() {
        let of = |kind: &str, spec: &str, at: &str| {
            let text = gpu_node("n1", 8, "")
                + &serving("s", "2", "1")
                + &format!(
                    "---\napiVersion: workload.serving.volcano.sh/v1alpha1\nkind: {kind}\nmetadata: {{name: p, namespace: ml}}\nspec: {{{spec}}}\n"
                );
            let ran =
                ome_on(&format!("plan -o json --at {at} -f {{in.yaml}}"), &[("in.yaml", &text)]);
            ran.at("/placement/notJudged/0/message").as_str().unwrap_or("").to_owned()
        };
        let (policy, binding) = ("AutoscalingPolicy", "AutoscalingPolicyBinding");
        let target = "target: {targetRef: {kind: ModelServing, name: s}}";
        let one = |limits: &str| format!("homogeneousTarget: {{{target}, {limits}}}");
        assert!(of(policy, &one("minReplicas: 3, maxReplicas: 4"), "min").contains("3..4 groups"));
        assert!(of(binding, &one("minReplicas: 3, maxReplicas: 4"), "min").contains("3..4 groups"));
        assert!(of(policy, &one("minReplicas: 1, maxReplicas: 4"), "max").contains("2..4 groups"));
        assert_eq!(of(policy, &one("minReplicas: 1, maxReplicas: 4"), "min"), "");
        let several = format!(
            "heterogeneousTarget: {{params: [{{{target}, minReplicas: 3, maxReplicas: 4}}]}}"
        );
        assert!(of(policy, &several, "min").contains("3..4 groups"));
        let role = "homogeneousTarget: {target: {targetRef: {name: s}, subTarget: {kind: Role, name: r}}, minReplicas: 3, maxReplicas: 4}";
        assert!(of(policy, role, "min").contains("roles"), "{}", of(policy, role, "min"));
    }
}

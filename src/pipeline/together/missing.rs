//! Objects that the pods of new workloads and services name and that their namespace lacks.
//!
//! In: services, ModelServings and other workloads of the input that are not in a cluster yet, with their
//! claims. Out: a line for each object that their pods name and that is not among those of its kind in a
//! namespace that was read from a cluster.

use super::NotJudged;
use super::claims::{Claim, Who};
use super::not_judged::Open;
use super::workloads::{ServiceNames, counted_objects, id_of, shown};
use crate::api::Object;
use crate::cluster::fleet::Fleet;
use crate::pipeline::named_objects::{Named, SERVICE_ACCOUNT, named, retain_missing};
use crate::pipeline::plan::Planner;
use crate::pipeline::planned::Planned;
use crate::pipeline::serving::PlannedServing;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Objects by namespace, kind and name, with those whose pods name them.
type Missing = BTreeMap<(EcoString, Named), BTreeSet<EcoString>>;

/// All of them. Services and ModelServings are found at their claims, other workloads by their names.
pub(super) fn found(
    planner: &Planner<'_>,
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
    services: &ServiceNames,
    claims: &[Claim],
    fleet: &Fleet,
) -> Open {
    let (catalog, existing) = (planner.catalog(), planner.existing());
    let mut missing = Missing::new();
    let mut add = |namespace: &EcoString, one: Named, by: EcoString| {
        if existing.lacks(namespace, &one) {
            missing.entry((namespace.clone(), one)).or_default().insert(by);
        }
    };
    let mut plain: BTreeSet<&EcoString> = BTreeSet::new();
    // What has no pods needs nothing.
    let pairs = claims.iter().zip(&fleet.workloads);
    for (claim, _) in pairs.filter(|(_, workload)| !workload.replicas.is_empty()) {
        match claim.who {
            Who::Component(at, _) => {
                let service = &planned[at].service;
                for one in &planned[at].missing {
                    let by = eco_format!("{} {service}", service.kind);
                    add(&service.namespace, one.clone(), by);
                }
            }
            Who::Serving(at) => {
                let serving = servings[at].serving;
                if is_new(&serving.object) && existing.has(&serving.namespace) {
                    for one in named(&serving.object.node) {
                        add(&serving.namespace, one, shown(&serving.object));
                    }
                }
            }
            Who::Workload(_) => _ = plain.insert(&claim.service),
        }
    }
    for object in counted_objects(catalog, services) {
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let is_asked = is_new(object) && !catalog.is_unfilled(object) && existing.has(&namespace);
        if is_asked && plain.contains(&id_of(object)) {
            for one in named(&object.node) {
                add(&namespace, one, shown(object));
            }
        }
    }
    retain_missing(catalog, &mut missing);
    let mut workloads = BTreeMap::new();
    let lines = missing.iter().map(|one| {
        let mut line = line(one);
        let names_it = |claim: &Claim| one.1.iter().any(|by| is_of(claim, by));
        let of_line = claims.iter().enumerate().filter(|(_, claim)| names_it(claim));
        for (at, claim) in of_line {
            line.of.insert(claim.service.clone());
            workloads.entry(at).or_insert_with(|| line.sentence());
        }
        line
    });
    (lines.collect(), workloads)
}

/// Whether a claim is of what names an object: `Kind namespace/name`.
fn is_of(claim: &Claim, by: &EcoString) -> bool {
    let Some((kind, name)) = by.split_once(' ') else { return false };
    match claim.who {
        Who::Workload(_) => claim.service == eco_format!("{kind}/{name}"),
        Who::Component(..) | Who::Serving(_) => claim.service == name,
    }
}

/// What a cluster has is as it is there: that it waits is seen at its pods.
fn is_new(object: &Object) -> bool {
    object.metadata("uid").is_none()
}

fn line(((namespace, (kind, name)), by): (&(EcoString, Named), &BTreeSet<EcoString>)) -> NotJudged {
    let first = by.first().cloned().unwrap_or_default();
    let (names_it, whose) = match by.len() {
        1 => (eco_format!("{first} names it"), "its"),
        all => (eco_format!("{first} and {} more name it", all - 1), "their"),
    };
    let end = if *kind == SERVICE_ACCOUNT { "are not created" } else { "do not start" };
    NotJudged {
        what: eco_format!("{kind} `{namespace}/{name}`"),
        pods: None,
        message: eco_format!(
            "{names_it}, it is not among the {kind}s of the input, and {whose} pods {end} without it"
        ),
        ..NotJudged::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{catalog, gpu_node, ome_on, plan, service};

    fn whats(spec: &str, container: &str, more: &str) -> Vec<String> {
        let text = gpu_node("n1", 8, "")
            + &format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{spec}containers: [{{name: c, image: x{container}}}]}}}}}}\n"
            )
            + more;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        let all = ran.at("/placement/notJudged");
        let all = all.as_array().into_iter().flatten();
        all.filter_map(|entry| Some(entry["what"].as_str()?.to_owned())).collect()
    }

    fn object(kind: &str, name: &str, live: bool) -> String {
        let uid = if live { ", uid: u" } else { "" };
        format!(
            "---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: ml{uid}}}\n"
        )
    }

    #[test]
    fn what_a_namespace_of_a_cluster_lacks_is_not_judged() {
        for (kind, spec, container) in [
            ("ServiceAccount", "serviceAccountName: m, ", ""),
            ("ConfigMap", "volumes: [{name: v, configMap: {name: m}}], ", ""),
            ("Secret", "volumes: [{name: v, secret: {secretName: m}}], ", ""),
            ("ConfigMap", "", ", envFrom: [{configMapRef: {name: m}}]"),
            ("Secret", "", ", env: [{name: E, valueFrom: {secretKeyRef: {name: m, key: k}}}]"),
        ] {
            let of = |more: &str| whats(spec, container, more);
            assert_eq!(
                of(&object(kind, "other", true)),
                [format!("{kind} `ml/m`")],
                "{spec}{container}"
            );
            // It is there, or will be.
            for live in [true, false] {
                let both = object(kind, "other", true) + &object(kind, "m", live);
                assert!(of(&both).is_empty(), "{spec}{container}");
            }
            // Of a repository it is not known what the cluster has.
            assert!(of(&object(kind, "other", false)).is_empty(), "{spec}{container}");
        }
        let optional = "volumes: [{name: v, secret: {secretName: m, optional: true}}], ";
        assert!(whats(optional, "", &object("Secret", "other", true)).is_empty());
    }

    #[test]
    fn services_name_objects_of_their_namespaces_too() {
        let of = |uid: &str, more: &str| {
            let service = service("a", "minReplicas: 1, serviceAccountName: m");
            let service = service.replace("namespace: ml}", &format!("namespace: ml{uid}}}"));
            plan(&(catalog(1) + &service + &gpu_node("n1", 8, "") + more))
                .at("/placement/notJudged")
        };
        let account = |name: &str, live| object("ServiceAccount", name, live);
        let found = of("", &account("other", true));
        assert_eq!(found[0]["what"], "ServiceAccount `ml/m`");
        assert!(
            found[0]["message"]
                .as_str()
                .unwrap_or("")
                .starts_with("InferenceService ml/a names it"),
            "{found}"
        );
        // It will be there, or is of a repository; and pods of the cluster have what they need.
        assert!(of("", &(account("other", true) + &account("m", false))).is_null());
        assert!(of("", &account("other", false)).is_null());
        assert!(of(", uid: s", &account("other", true)).is_null());
    }

    /// What is not judged of an input, with its messages.
    fn lines(flags: &str, text: &str) -> Vec<String> {
        let text = gpu_node("n1", 8, "") + text;
        let ran = ome_on(&format!("plan -o json {flags} -f {{in.yaml}}"), &[("in.yaml", &text)]);
        let all = ran.at("/placement/notJudged");
        let all = all.as_array().into_iter().flatten();
        all.map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", text("what"), text("message"))
        })
        .collect()
    }

    fn live() -> String {
        ["ConfigMap", "Secret", "ServiceAccount"].map(|kind| object(kind, "other", true)).concat()
    }

    /// A plain workload, and services of operators, whose pods have this spec.
    fn workloads(container: &str, spec: &str) -> [(&'static str, String); 4] {
        let spec =
            |name: &str| format!("{spec}containers: [{{name: {name}, image: x{container}}}]");
        let deployment = format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{}}}}}}}\n",
            spec("c")
        );
        let service = format!(
            "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: ml, annotations: {{serving.kserve.io/deploymentMode: Standard}}}}\nspec: {{predictor: {{minReplicas: 1, {}}}}}\n",
            spec("kserve-container")
        );
        let llm = format!(
            "---\napiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {{name: a, namespace: ml}}\nspec: {{model: {{uri: 'hf://a/b', name: a}}, replicas: 1, template: {{{}}}}}\n",
            spec("main")
        );
        let serving = format!(
            "---\napiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, schedulerName: volcano, template: {{roles: [{{name: r, replicas: 1, workerReplicas: 0, entryTemplate: {{spec: {{{}}}}}}}]}}}}\n",
            spec("c")
        );
        [
            ("Deployment", deployment),
            ("InferenceService", service),
            ("LLMInferenceService", llm),
            ("ModelServing", serving),
        ]
    }

    #[test]
    fn pods_of_operators_name_them_too() {
        let container = ", envFrom: [{configMapRef: {name: f}}], env: [{name: E, valueFrom: {secretKeyRef: {name: e, key: k}}}]";
        let spec = "serviceAccountName: m, imagePullSecrets: [{name: pull}], volumes: [{name: v, projected: {sources: [{secret: {name: p}}, {configMap: {name: kube-root-ca.crt}}, {configMap: {name: o, optional: true}}]}}, {name: w, csi: {driver: d, nodePublishSecretRef: {name: q}}}], ";
        for (kind, text) in workloads(container, spec) {
            let line = |object: &str, name: &str, end: &str| {
                format!(
                    "{object} `ml/{name}`: {kind} ml/a names it, it is not among the {object}s of the input, and its pods {end} without it"
                )
            };
            let end = "do not start";
            let expected = [
                line("ConfigMap", "f", end),
                line("Secret", "e", end),
                line("Secret", "p", end),
                line("Secret", "q", end),
                line("ServiceAccount", "m", "are not created"),
            ];
            assert_eq!(lines("", &(text.clone() + &live())), expected, "{kind}");
            // Of a repository it is not known what the cluster has.
            assert_eq!(lines("", &text), [""; 0], "{kind}");
        }
        let text =
            service("a", "minReplicas: 1, serviceAccountName: m") + "---\n" + &catalog(1) + &live();
        let found = lines("--no-builtin", &text);
        assert!(found[0].starts_with("ServiceAccount `ml/m`: InferenceService ml/a "), "{found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn what_a_controller_makes_or_a_running_pod_has_is_not_missing() {
        let container = ", envFrom: [{secretRef: {name: e}}]";
        let makers = [
            "---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c, namespace: ml}\nspec: {secretName: e}\n",
            "---\napiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: e, namespace: ml}\nspec: {target: {}}\n",
            "---\napiVersion: external-secrets.io/v1\nkind: ClusterExternalSecret\nmetadata: {name: all}\nspec: {externalSecretName: e, namespaces: [ml]}\n",
            "---\napiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: e, namespace: ml}\nspec: {encryptedData: {k: x}}\n",
            "---\napiVersion: v1\nkind: Secret\nmetadata: {name: e, namespace: other, annotations: {reflector.v1.k8s.emberstack.com/reflection-auto-enabled: 'true'}}\n",
            "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: ml, annotations: {service.beta.openshift.io/serving-cert-secret-name: e}}\nspec: {ports: [{port: 80}]}\n",
            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml, uid: u}\nspec: {nodeName: n1, containers: [{name: c, image: x, envFrom: [{secretRef: {name: e}}]}]}\nstatus: {phase: Running}\n",
        ];
        let readers = [
            "---\napiVersion: keda.sh/v1alpha1\nkind: TriggerAuthentication\nmetadata: {name: c, namespace: ml}\nspec: {secretTargetRef: [{parameter: p, name: e, key: k}]}\n",
            "---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c, namespace: other}\nspec: {secretName: e}\n",
            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml, uid: u}\nspec: {nodeName: n1, containers: [{name: c, image: x, envFrom: [{secretRef: {name: e}}]}]}\nstatus: {phase: Pending}\n",
        ];
        for (kind, text) in workloads(container, "").into_iter().take(2) {
            for more in makers {
                let found = lines("", &(text.clone() + &live() + more));
                assert_eq!(found, [""; 0], "{kind} {more}");
            }
            for more in readers {
                let found = lines("", &(text.clone() + &live() + more));
                assert_eq!(found.len(), 1, "{kind} {more} {found:?}");
            }
            // It is in the cluster already.
            let live_one =
                text.replace("{name: a, namespace: ml", "{name: a, uid: u, namespace: ml");
            assert_eq!(lines("", &(live_one + &live())), [""; 0], "{kind}");
        }
        let all = workloads(container, "");
        let no_pods = all[0].1.replace("replicas: 1", "replicas: 0");
        assert_eq!(lines("", &(no_pods + &live())), [""; 0]);
        // Several need it: one line.
        let two = all[0].1.clone() + &all[1].1 + &live();
        assert!(lines("", &two)[0].contains("Deployment ml/a and 1 more name it"));
    }
}

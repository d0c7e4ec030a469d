//! What decides about pods before a scheduler sees them and is not evaluated: admission policies,
//! webhooks, autoscalers of requests, and namespaces of which it is not known that they exist.
//!
//! In: the other objects of a catalog, and the pods that are to be created. Out: a line for each with
//! the pods that it may refuse.

use super::NotJudged;
use super::claims::{Claim, Who};
use super::not_judged::{OfNamespaces, Open};
use super::policies;
use crate::api::was_in_cluster;
use crate::catalog::Catalog;
use crate::cluster::fleet::Fleet;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// A namespace that every cluster has: with it, all of them were read.
const OF_EVERY_CLUSTER: &str = "kube-system";

/// Everything that may refuse some of the pods, by kind and name.
pub(super) fn found(catalog: &Catalog, claims: &[Claim], fleet: &Fleet) -> Open {
    let mut pods: BTreeMap<EcoString, usize> = BTreeMap::new();
    let mut created: Vec<(usize, &Claim)> = Vec::new();
    for (at, (claim, workload)) in claims.iter().zip(&fleet.workloads).enumerate() {
        // Only new pods meet a policy.
        let new = workload.new_pods();
        if new > 0 {
            *pods.entry(claim.namespace().into()).or_default() += new;
            created.push((at, claim));
        }
    }
    let (mut lines, mut workloads) = resized(catalog, claims, fleet);
    let by_namespace = unread_namespaces(catalog, &pods).into_iter();
    let by_namespace = by_namespace.chain(policies::found(catalog, claims, fleet, &pods));
    for (mut line, namespaces) in by_namespace {
        let of_line = created.iter().filter(|(_, claim)| namespaces.contains(claim.namespace()));
        for (at, claim) in of_line {
            line.of.insert(claim.service.clone());
            workloads.entry(*at).or_insert_with(|| line.sentence());
        }
        lines.push(line);
    }
    (lines, workloads)
}

/// Workloads whose requests a VerticalPodAutoscaler replaces.
fn resized(catalog: &Catalog, claims: &[Claim], fleet: &Fleet) -> Open {
    let of_kind = catalog
        .others()
        .iter()
        .filter(|item| item.id.kind == "VerticalPodAutoscaler" && !catalog.is_copy(item));
    let (mut found, mut workloads) = (Vec::new(), BTreeMap::new());
    for object in of_kind {
        let text = |keys: &[&str]| object.node.at(keys).and_then(Node::scalar_text);
        // The default is `Auto`.
        if text(&["spec", "updatePolicy", "updateMode"]).as_deref() == Some("Off") {
            continue;
        }
        let kind = text(&["spec", "targetRef", "kind"]).unwrap_or_default();
        let name = text(&["spec", "targetRef", "name"]).unwrap_or_default();
        let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
        let plain = eco_format!("{kind}/{namespace}/{name}");
        let is_target = |claim: &Claim| match claim.who {
            Who::Workload(_) => claim.service == plain,
            _ => namespace == claim.namespace() && claim.names.contains(&name),
        };
        let targets = || {
            let all = claims.iter().zip(&fleet.workloads).enumerate();
            all.filter(|(_, (claim, _))| is_target(claim))
        };
        let replicas = targets().flat_map(|(_, (_, item))| &item.replicas);
        let pods: usize = replicas.map(|replica| replica.pods.len()).sum();
        if pods > 0 {
            let line = NotJudged {
                what: eco_format!("VerticalPodAutoscaler `{namespace}/{}`", object.id.name),
                pods: Some(pods),
                message: "it replaces the requests of these pods when they are created".into(),
                of: targets().map(|(_, (claim, _))| claim.service.clone()).collect(),
            };
            workloads.extend(targets().map(|(at, _)| (at, line.sentence())));
            found.push(line);
        }
    }
    (found, workloads)
}

/// Namespaces of pods that are not among those of a cluster that was read whole.
fn unread_namespaces(catalog: &Catalog, pods: &BTreeMap<EcoString, usize>) -> Vec<OfNamespaces> {
    let all = || catalog.others().iter().filter(|item| item.id.kind == "Namespace");
    // Repositories label this namespace too: only that of a cluster has an identity.
    if !all().any(|item| item.id.name == OF_EVERY_CLUSTER && was_in_cluster(&item.node)) {
        return Vec::new();
    }
    let read: BTreeSet<&EcoString> = all().map(|item| &item.id.name).collect();
    let missing = pods.iter().filter(|(name, _)| !read.contains(name));
    let one = |(name, pods): (&EcoString, &usize)| {
        let line = NotJudged {
            what: eco_format!("Namespace `{name}`"),
            pods: Some(*pods),
            message: eco_format!(
                "it is not among the Namespaces of the input, and a server creates nothing in it before \
                 `kubectl create namespace {name}`"
            ),
            ..NotJudged::default()
        };
        (line, BTreeSet::from([name.clone()]))
    };
    missing.map(one).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{Ran, gpu_node, ome_on};

    const POD: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: x}]}}}\n";

    fn plan(more: &str) -> Ran {
        let text = gpu_node("n1", 8, "") + POD + more;
        ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)])
    }

    fn whats(ran: &Ran) -> Vec<String> {
        let all = ran.at("/placement/notJudged");
        let all = all.as_array().into_iter().flatten();
        all.filter_map(|entry| Some(entry["what"].as_str()?.to_owned())).collect()
    }

    fn policy(resources: &str, selector: &str, actions: &str) -> String {
        format!(
            "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: p}}\nspec:\n  matchConstraints: {{{selector}resourceRules: [{{apiGroups: [apps, ''], apiVersions: [v1], operations: [CREATE], resources: [{resources}]}}]}}\n  validations: [{{expression: 'object.spec.replicas <= 1'}}]\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: b}}\nspec: {{policyName: p, validationActions: [{actions}]}}\n"
        )
    }

    #[test]
    fn a_policy_that_may_refuse_pods_or_their_workload_is_not_judged() {
        let one = vec!["ValidatingAdmissionPolicy `p`".to_owned()];
        let here = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ml}}, ";
        let there = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}, ";
        for (resources, selector, actions, expected) in [
            ("deployments", "", "Deny", &one),
            ("pods", "", "Deny", &one),
            ("'*'", "", "Deny", &one),
            ("services", "", "Deny", &vec![]),
            ("deployments", "", "Warn", &vec![]),
            ("deployments", here, "Deny", &one),
            ("deployments", there, "Deny", &vec![]),
        ] {
            let ran = plan(&policy(resources, selector, actions));
            assert_eq!(&whats(&ran), expected, "{resources} {selector} {actions}");
            let verdict = if expected.is_empty() { "fits" } else { "unknown" };
            assert_eq!(ran.at("/placement/verdict"), verdict);
            assert_eq!(ran.code, 0);
        }
    }

    #[test]
    fn a_webhook_is_not_judged_unless_its_rules_are_known() {
        let hook = |name: &str, resources: &str| {
            format!(
                "---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: {name}}}\nwebhooks:\n- name: x.example.com\n  rules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [{resources}]}}]\n"
            )
        };
        let of = |name: &str, resources: &str| whats(&plan(&hook(name, resources)));
        assert_eq!(of("injector", "pods"), ["MutatingWebhookConfiguration `injector`"]);
        assert!(of("injector", "nodes").is_empty());
        assert!(of("kueue-mutating-webhook-configuration", "pods").is_empty());
        let labeled = |label: &str| {
            hook("injector", "pods") + &format!("  objectSelector: {{matchLabels: {{{label}}}}}\n")
        };
        assert_eq!(whats(&plan(&labeled("app: a"))), ["MutatingWebhookConfiguration `injector`"]);
        assert!(whats(&plan(&labeled("inject: 'true'"))).is_empty());
        // What runs has passed it.
        let pod = |label: &str| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: kube-system, uid: u, labels: {{{label}}}}}\nspec: {{nodeName: n1, containers: [{{name: c, image: x}}]}}\n"
            )
        };
        assert!(whats(&plan(&(hook("injector", "pods") + &pod("")))).is_empty());
        assert!(whats(&plan(&(labeled("app: a") + &pod("app: a")))).is_empty());
        let other = whats(&plan(&(labeled("app: a") + &pod("app: b"))));
        assert_eq!(other, ["MutatingWebhookConfiguration `injector`"]);
    }

    #[test]
    fn a_vertical_autoscaler_replaces_requests() {
        let of = |target: &str, mode: &str| {
            let text = format!(
                "---\napiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {{name: v, namespace: ml}}\nspec: {{targetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}{mode}}}\n"
            );
            whats(&plan(&text))
        };
        let named = ["VerticalPodAutoscaler `ml/v`"];
        assert_eq!(of("a", ""), named);
        assert_eq!(of("a", ", updatePolicy: {updateMode: Initial}"), named);
        assert!(of("a", ", updatePolicy: {updateMode: 'Off'}").is_empty());
        assert!(of("b", "").is_empty());
    }

    #[test]
    fn a_namespace_that_a_whole_cluster_lacks_is_not_judged() {
        let of = |name: &str, more: &str| {
            format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}{more}}}\n")
        };
        let namespace = |name: &str| of(name, "");
        let cluster = of("kube-system", ", uid: u");
        assert_eq!(whats(&plan(&cluster)), ["Namespace `ml`"]);
        assert!(whats(&plan(&(cluster + &namespace("ml")))).is_empty());
        // A repository has the namespaces that it makes, not all.
        assert!(whats(&plan(&(namespace("other") + &namespace("kube-system")))).is_empty());
    }

    #[test]
    fn a_namespace_that_ends_takes_no_pods() {
        let ends = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ml, deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {phase: Terminating}\n";
        let ran = plan(ends);
        assert_eq!(ran.code, 2);
        let message = ran.at("/placement/pending/0/message").to_string();
        let expected =
            "unable to create new content in namespace ml because it is being terminated";
        assert!(message.contains(expected), "{message}");
    }

    /// A pod of a base in a namespace that enforces a level; both may be changed by a patch.
    #[test]
    fn what_a_patch_may_set_is_not_refused() {
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {pod-security.kubernetes.io/enforce: restricted}}\n";
        let base = "resources: [a.yaml, ns.yaml]\n";
        let patched =
            "resources: [../base]\npatches: [{path: p.yaml, target: {kind: Deployment}}]\n";
        let of = |files: &[(&str, &str)]| {
            let node = gpu_node("n1", 8, "");
            let node = ("nodes.yaml", node.as_str());
            let files: Vec<(&str, &str)> = files.iter().copied().chain([node]).collect();
            let ran = ome_on("plan -o json -f {.}", &files);
            (ran.code, whats(&ran))
        };
        let alone =
            [("base/kustomization.yaml", base), ("base/a.yaml", POD), ("base/ns.yaml", namespace)];
        assert_eq!(of(&alone), (2, vec![]), "nothing changes it");
        let over = [alone[0], alone[1], alone[2], ("over/kustomization.yaml", patched)];
        assert_eq!(of(&over), (0, vec!["namespace ml".to_owned()]));
        // The level of the namespace is patched, the pod is not.
        let level = "resources: [ns.yaml]\nreplacements: [{path: r.yaml}]\n";
        let apart =
            [("ns/kustomization.yaml", level), ("ns/ns.yaml", namespace), ("plain/a.yaml", POD)];
        assert_eq!(of(&apart), (0, vec!["namespace ml".to_owned()]));
        let plain = [("ns/ns.yaml", namespace), ("plain/a.yaml", POD)];
        assert_eq!(of(&plain), (2, vec![]));
    }

    /// The same of what a LimitRange and PriorityClasses refuse.
    #[test]
    fn what_a_patch_may_change_is_not_refused() {
        let limits = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: ml}\nspec: {limits: [{type: Container, max: {memory: 1Gi}}]}\n";
        let large = POD.replace("image: x", "image: x, resources: {limits: {memory: 2Gi}}");
        let class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: low}\nvalue: 1\n";
        let named = POD.replace("spec: {containers", "spec: {priorityClassName: high, containers");
        let over = "resources: [../base]\npatches: [{path: p.yaml, target: {kind: Deployment}}]\n";
        let of_limits = "resources: [b.yaml]\nreplacements: [{path: r.yaml}]\n";
        for (pod, other, patched, code) in [
            (&large, limits, "", 2),
            (&large, limits, "over", 0),
            (&large, limits, "limits", 0),
            (&named, class, "", 2),
            (&named, class, "over", 0),
        ] {
            let node = gpu_node("n1", 8, "");
            let mut files = vec![("nodes.yaml", node.as_str()), ("base/a.yaml", pod.as_str())];
            files.push(("base/kustomization.yaml", "resources: [a.yaml]\n"));
            files.push(("limits/b.yaml", other));
            if patched == "over" {
                files.push(("over/kustomization.yaml", over));
            }
            let of_limits = if patched == "limits" { of_limits } else { "resources: [b.yaml]\n" };
            files.push(("limits/kustomization.yaml", of_limits));
            let ran = ome_on("plan -o json -f {.}", &files);
            assert_eq!(ran.code, code, "{patched}: {}{}", ran.out, ran.err);
            let expected = if code == 0 { vec!["namespace ml".to_owned()] } else { vec![] };
            assert_eq!(whats(&ran), expected, "{patched}: {}", ran.out);
        }
    }

    /// The same of claims that a LimitRange refuses: those of an object, of a template, and of a pod.
    #[test]
    fn claims_that_a_patch_may_change_are_not_refused() {
        let limits = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: ml}\nspec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Gi}}]}\n";
        let class = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}\nprovisioner: x\nvolumeBindingMode: WaitForFirstConsumer\n";
        let claim = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}";
        let object = format!(
            "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: c, namespace: ml}}\n{claim}\n"
        );
        let uses = |volume: &str| {
            POD.replace(
                "spec: {containers",
                &format!("spec: {{volumes: [{{name: v, {volume}}}], containers"),
            )
        };
        let templates =
            format!("volumeClaimTemplates: [{{metadata: {{name: v}}, {claim}}}], template");
        let set =
            POD.replace("kind: Deployment", "kind: StatefulSet").replace("template", &templates);
        let over = "resources: [../base]\npatches: [{path: p.yaml}]\n";
        let of_limits = "resources: [b.yaml]\nreplacements: [{path: r.yaml}]\n";
        for text in [
            uses("persistentVolumeClaim: {claimName: c}") + &object,
            uses(&format!("ephemeral: {{volumeClaimTemplate: {{{claim}}}}}")),
            set,
        ] {
            for (patched, code) in [("", 2), ("over", 0), ("limits", 0)] {
                let node = gpu_node("n1", 8, "") + class;
                let mut files = vec![("nodes.yaml", node.as_str()), ("base/a.yaml", text.as_str())];
                files.push(("base/kustomization.yaml", "resources: [a.yaml]\n"));
                files.push(("limits/b.yaml", limits));
                if patched == "over" {
                    files.push(("over/kustomization.yaml", over));
                }
                let of_limits =
                    if patched == "limits" { of_limits } else { "resources: [b.yaml]\n" };
                files.push(("limits/kustomization.yaml", of_limits));
                for command in ["plan", "rollout --all"] {
                    let ran = ome_on(&format!("{command} -f {{.}}"), &files);
                    assert_eq!(ran.code, code, "{command} {patched}: {}{}", ran.out, ran.err);
                    let open =
                        ran.out.contains("the server refuses the claims as they are written");
                    assert_eq!(open, code == 0, "{command} {patched}: {}", ran.out);
                    assert!(!ran.out.contains('✓'), "{command} {patched}: {}", ran.out);
                }
            }
        }
    }
}

//! PriorityClasses, RuntimeClasses and StorageClasses that pods and their claims name and that the input does
//! not have: a cluster without them creates no such pod (plugin/pkg/admission/priority/admission.go,
//! plugin/pkg/admission/runtimeclass/admission.go), or makes no volume for it.
//!
//! In: objects with pods, and the classes that were read. Out: one note for each class that is only
//! taken to exist. Where a class of its kind or a cluster was read, a class that is missing is none: the pods
//! are refused, with a warning at the class that was read, or what becomes of the claims is in the placement.

use super::built::PodContext;
use crate::diag::{Code, Diagnostic, Severity};
use crate::pods::specs::each_spec;
use crate::yaml::Node;
use std::collections::BTreeMap;

/// How many objects a note names.
const NAMED: usize = 3;

impl PodContext {
    /// Notes about the classes that the pods of an object name.
    pub(crate) fn assumed_classes(&self, owner: &str, object: &Node) -> Vec<Diagnostic> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        let mut note = |kind: &'static str, name: &Node, needs: &str| {
            let text = name.scalar_text().unwrap_or_default();
            let message = format!("{kind} `{text}` is not in the input{needs}{owner}");
            let finding = Diagnostic::new(Code::ClassNotRead, message)
                .at(name.origin.span())
                .object(owner)
                .help(format!(
                    "add it with `-f`; `kubectl get {} {text}` shows whether a cluster has it",
                    kind.to_lowercase()
                ));
            found.push(finding);
        };
        each_spec(object, &mut |spec| {
            for (kind, name) in self.assumed(spec) {
                note(kind, name, NEEDS);
            }
            for (kind, name, read) in self.missing_classes(spec) {
                let text = name.scalar_text().unwrap_or_default();
                let message = format!(
                    "{kind} `{text}` is not in the input, which has `{}`: a server creates no pods of {owner}",
                    read.name
                );
                missing.push(
                    Diagnostic::new(Code::ClassNotRead, message)
                        .severity(Severity::Warning)
                        .at(read.origin.span())
                        .object(owner)
                        .help(format!(
                            "add `{text}` with `-f` if the cluster has it: of a kind that is in the input, \
                             all classes are expected there"
                        )),
                );
            }
        });
        for name in self.assumed_storage(object) {
            note("StorageClass", name, CLAIMS);
        }
        found.extend(missing);
        found
    }
}

/// Between the class and the objects whose pods name it.
const NEEDS: &str = ", and a cluster without it creates no pods of ";
const CLAIMS: &str = ", and a cluster without it makes no volumes for ";

/// Makes one note of those about a class, and of those about a runtime of a Template.
pub fn notes_together(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_note = |finding: &Diagnostic| {
        matches!(finding.code, Code::ClassNotRead | Code::TemplateNotProcessed)
    };
    let (notes, mut found): (Vec<_>, Vec<_>) = found.into_iter().partition(is_note);
    // By the sentence up to the object that it names, which is at its end.
    let mut classes: BTreeMap<String, Diagnostic> = BTreeMap::new();
    for note in notes {
        let named = note.objects.first().map_or("", String::as_str);
        let class = note.message.strip_suffix(named).unwrap_or(&note.message);
        match classes.get_mut(class) {
            None => _ = classes.insert(class.to_owned(), note),
            Some(first) => first.objects.extend(note.objects),
        }
    }
    for (class, mut note) in classes {
        note.objects.sort_unstable();
        note.objects.dedup();
        let named = note.objects.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>();
        let more = match note.objects.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        note.message = format!("{class}{}{more}", named.join(", "));
        found.push(note);
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::testing::{catalog, gpu_node, plan, service};
    use serde_json::Value;

    /// The notes of a plan: message and objects.
    fn notes(input: &str) -> Vec<(String, usize)> {
        let ran = plan(input);
        let found = ran.at("/findings");
        let all = found.as_array().cloned().unwrap_or_default();
        let notes = all.iter().filter(|finding| finding["code"] == "class-not-read");
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("").to_owned();
        notes
            .map(|finding| {
                let is_missing =
                    finding["message"].as_str().is_some_and(|text| text.contains("which has"));
                assert_eq!(finding["severity"], if is_missing { "warning" } else { "info" });
                let objects = finding["objects"].as_array().map_or(0, Vec::len);
                (text(finding, "message"), objects)
            })
            .collect()
    }

    fn fleet(field: &str) -> String {
        let services = ["a", "b"]
            .map(|name| service(name, &format!("minReplicas: 1, {field}, maxReplicas: 1")));
        catalog(1) + &services.concat()
    }

    #[test]
    fn a_class_that_was_not_read_is_one_note() {
        let input = fleet("priorityClassName: high");
        let expected = "PriorityClass `high` is not in the input, and a cluster without it creates no pods of InferenceService/ml/a, InferenceService/ml/b";
        assert_eq!(notes(&input), [(expected.to_owned(), 2)]);
        // Nodes alone are no whole cluster.
        assert_eq!(notes(&(input.clone() + &gpu_node("n", 8, ""))).len(), 1);
        let runtime = notes(&fleet("runtimeClassName: kata"));
        assert!(runtime[0].0.starts_with("RuntimeClass `kata` is not in the input"), "{runtime:?}");
    }

    #[test]
    fn classes_that_exist_or_are_known_to_be_missing_have_no_note() {
        let class = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: NAME}\nvalue: 9\n";
        let of = |field: &str, class: &str| notes(&(fleet(field) + class));
        assert!(of("priorityClassName: system-cluster-critical", "").is_empty());
        assert!(of("priorityClassName: system-node-critical", "").is_empty());
        let high = "priorityClassName: high";
        assert!(of(high, &class.replace("NAME", "high")).is_empty());
        // Another one shows that the kind was read: the server refuses the pods.
        let expected = "PriorityClass `high` is not in the input, which has `low`: a server creates no pods of InferenceService/ml/a, InferenceService/ml/b";
        assert_eq!(of(high, &class.replace("NAME", "low")), [(expected.to_owned(), 2)]);
        // Clouds and projects make theirs by themselves.
        for name in ["openshift-user-critical", "system-node-critical"] {
            let found = of(&format!("priorityClassName: {name}"), &class.replace("NAME", "low"));
            assert!(found.iter().all(|(text, _)| !text.contains("which has")), "{found:?}");
        }
        let runtime = "---\napiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: mine}\nhandler: h\n";
        let whose = |name: &str| of(&format!("runtimeClassName: {name}"), runtime)[0].0.clone();
        assert!(whose("nvidia").starts_with("RuntimeClass `nvidia` is not in the input, and a"));
        assert!(whose("other").contains("which has `mine`"));
        // All classes of a cluster were read.
        let live = class.replace("NAME}", "low, uid: u}");
        assert!(of("priorityClassName: openshift-user-critical", &live).is_empty());
        // The kinds are read one by one.
        assert_eq!(of("runtimeClassName: kata", &class.replace("NAME", "low")).len(), 1);
    }

    #[test]
    fn workloads_that_are_placed_name_classes_too() {
        let workload = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ml}\nspec: {selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {priorityClassName: high, containers: [{name: c, image: x}]}}}\n";
        let found = notes(&(gpu_node("n", 8, "") + workload));
        assert!(found[0].0.ends_with("creates no pods of Deployment/ml/d"), "{found:?}");
        // Without nodes nothing is placed, and the answer is not about them.
        assert!(notes(&(catalog(1) + &service("a", "minReplicas: 1") + workload)).is_empty());
    }

    #[test]
    fn claims_name_classes_of_storage() {
        let claim = |class: &str| {
            format!(
                "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: c, namespace: ml}}\nspec: {{storageClassName: {class}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n"
            )
        };
        let pods = |kind: &str, volume: &str, more: &str| {
            format!(
                "---\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: d, namespace: ml}}\nspec: {{{more}selector: {{matchLabels: {{app: d}}}}, template: {{metadata: {{labels: {{app: d}}}}, spec: {{{volume}containers: [{{name: c, image: x}}]}}}}}}\n"
            )
        };
        let named = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], ";
        let ephemeral = "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}], ";
        let templates = "serviceName: d, volumeClaimTemplates: [{metadata: {name: v}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], ";
        let node = gpu_node("n", 8, "");
        let expected = |kind: &str| {
            let message = format!(
                "StorageClass `fast` is not in the input, and a cluster without it makes no volumes for {kind}/ml/d"
            );
            [(message, 1)]
        };
        for (kind, text) in [
            ("Deployment", pods("Deployment", named, "") + &claim("fast")),
            ("Deployment", pods("Deployment", ephemeral, "")),
            ("StatefulSet", pods("StatefulSet", "", templates)),
        ] {
            let input = node.clone() + &text;
            assert_eq!(notes(&input), expected(kind), "{text}");
            assert_eq!(plan(&input).at("/placement/verdict"), "fits", "{text}");
            // A volume of that class is bound without the object.
            let volume = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: p}\nspec: {storageClassName: fast, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}\n";
            assert_eq!(notes(&(input.clone() + volume)), [], "{text}");
            // Another class, or another object of a cluster, is no proof that it is missing.
            for (read, uid) in [("StorageClass", ""), ("IngressClass", ", uid: u")] {
                let group = if uid.is_empty() { "storage.k8s.io" } else { "networking.k8s.io" };
                let other = format!(
                    "---\napiVersion: {group}/v1\nkind: {read}\nmetadata: {{name: other{uid}}}\nprovisioner: p\n"
                );
                let input = input.clone() + &other;
                assert_eq!(notes(&input), [], "{text}");
                let judged = plan(&input);
                assert_eq!(judged.at("/placement/verdict"), "unknown", "{text} {}", judged.out);
            }
            // The classes of a cluster are all that it has.
            let live = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: other, uid: u}\nprovisioner: p\n";
            let verdict = plan(&(input + live)).at("/placement/verdict");
            assert_eq!(verdict, "does-not-fit", "{text}");
        }
        let empty = node + &pods("Deployment", named, "") + &claim("''");
        assert_eq!(notes(&empty), []);
    }
}

//! PriorityClasses and RuntimeClasses that pods name and that the input does not have: a cluster without
//! them creates no such pod (plugin/pkg/admission/priority/admission.go,
//! plugin/pkg/admission/runtimeclass/admission.go).
//!
//! In: objects with pods, and the classes that were read. Out: one note for each class that is only
//! taken to exist. Where a class of its kind or a cluster was read, a class that is missing is none,
//! and the pods are refused.

use super::built::PodContext;
use crate::diag::{Code, Diagnostic};
use crate::pods::specs::each_spec;
use crate::yaml::Node;
use std::collections::BTreeMap;

/// How many objects a note names.
const NAMED: usize = 3;

impl PodContext {
    /// Notes about the classes that the pods of an object name.
    pub(crate) fn assumed_classes(&self, owner: &str, object: &Node) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut note = |kind: &'static str, name: &Node| {
            let text = name.scalar_text().unwrap_or_default();
            let message = format!("{kind} `{text}` is not in the input{NEEDS}{owner}");
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
                note(kind, name);
            }
        });
        found
    }
}

/// Between the class and the objects whose pods name it.
const NEEDS: &str = ", and a cluster without it creates no pods of ";

/// Makes one note of those about a class.
pub fn classes_together(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let (notes, mut found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|finding| finding.code == Code::ClassNotRead);
    let mut classes: BTreeMap<String, Diagnostic> = BTreeMap::new();
    for note in notes {
        let Some((class, _)) = note.message.split_once(NEEDS) else { continue };
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
        note.message = format!("{class}{NEEDS}{}{more}", named.join(", "));
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
                assert_eq!(finding["severity"], "info");
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
        assert!(of(high, &class.replace("NAME", "low")).is_empty());
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
}

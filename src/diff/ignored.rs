//! What the settings leave out of drift: names of injected containers and volumes, of managers, of
//! labels and annotations, and fields.

use super::drift_field::DriftField;
use crate::quantity::glob;
use crate::yaml::{FieldPath, Node, Segment, Value};

/// The entries of `drift.ignore`; `*` stands for any characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ignored<'a>(pub(crate) &'a [String]);

impl Ignored<'_> {
    /// Whether all of a difference is left out.
    pub(super) fn has(self, field: &DriftField) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let managers = field.manager.as_ref();
        let of_managers =
            // A field with one more owner, who is not left out, still counts.
            managers.is_some_and(|manager| manager.split(", ").all(|name| self.names(name)));
        // A changed value is never covered by its content: the operator wrote a part of it.
        let added = field.from.as_ref().filter(|_| field.to.is_none());
        of_managers
            || self.is_at(&field.path)
            || added.is_some_and(|value| self.covers(&field.path, value))
    }

    fn names(self, name: &str) -> bool {
        self.0.iter().any(|text| glob(text, name))
    }

    /// Whether an entry is a field, a name in its path, or a label or an annotation.
    fn is_at(self, path: &FieldPath) -> bool {
        let mut steps = FieldPath::root();
        let mut in_metadata = false;
        path.0.iter().any(|segment| {
            steps.0.push(segment.clone());
            let named = match segment {
                Segment::Field(name) if in_metadata => self.names(name),
                Segment::Keyed(key, name) => key == "name" && self.names(name),
                _ => false,
            };
            in_metadata =
                matches!(segment, Segment::Field(field) if field == "labels" || field == "annotations");
            named || self.names(&steps.to_string())
        })
    }

    /// Whether everything in an added value is left out.
    fn covers(self, path: &FieldPath, value: &Node) -> bool {
        match &value.value {
            Value::Map(map) if !map.is_empty() => map.iter().all(|entry| {
                let path = path.field(entry.key.clone());
                self.is_at(&path) || self.covers(&path, &entry.node)
            }),
            Value::List(_) if !value.items().is_empty() => value.items().iter().all(|item| {
                item.get("name").and_then(Node::as_str).is_some_and(|name| self.names(name))
            }),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ignored;
    use crate::diff::drift_field::DriftField;
    use crate::operators::ome::compose::testing::node;
    use crate::tree::changes;

    /// The added fields that stay.
    fn left(live: &str, wanted: &str, ignored: &[&str]) -> Vec<String> {
        let ignored: Vec<String> = ignored.iter().map(|ignored| (*ignored).to_owned()).collect();
        let all = changes(&node(live), &node(wanted), None).into_iter();
        let all = all.map(|change| DriftField::of(change, None, Some("kubectl-edit".into())));
        all.filter(|field| !Ignored(&ignored).has(field))
            .map(|field| field.path.to_string())
            .collect()
    }

    #[test]
    fn names_managers_labels_and_fields_are_left_out() {
        let wanted = "{spec: {a: 1}}";
        let live = "{spec: {a: 1, labels: {team/x: y, team/z: w}, hostNetwork: true, volumes: [{name: sock}]}}";
        let all = ["spec.hostNetwork", "spec.labels", "spec.volumes"];
        assert_eq!(left(live, wanted, &[]), all);
        assert_eq!(left(live, wanted, &["kubectl-*"]), Vec::<String>::new());
        assert_eq!(left(live, wanted, &["team/*"]), ["spec.hostNetwork", "spec.volumes"]);
        assert_eq!(left(live, wanted, &["team/x"]), all);
        assert_eq!(left(live, wanted, &["sock"]), ["spec.hostNetwork", "spec.labels"]);
        assert_eq!(left(live, wanted, &["spec.hostNetwork"]), ["spec.labels", "spec.volumes"]);
        assert_eq!(left(live, wanted, &["spec"]), Vec::<String>::new());
    }
}

//! Compares a wanted object with a live one. Fields that only the live object has are ignored.

use super::{Amounts, Change, compare};
use crate::schema;
use crate::yaml::{FieldPath, Node, Value};

/// The fields of `wanted` that `live` lacks or has with another value. Ignored are fields that only
/// `live` has, fields of `wanted` with an empty value (null, `""`, `false`, 0, an empty list) that
/// `live` lacks, the spelling of quantities, and the order of lists whose elements have names.
pub(crate) fn differences(
    live: &Node,
    wanted: &Node,
    ty: Option<&'static schema::Type>,
) -> Vec<Change> {
    // Amounts by meaning: the live object has the server's spelling, the wanted one the author's.
    let mut found = compare(live, wanted, ty, Amounts::Meant);
    found.retain(|change| match (&change.from, &change.to) {
        (_, None) => false,
        // Go omits empty values when it encodes, so that a live object lacks what the input sets
        // to 0.
        (None, Some(to)) => !says_nothing(to),
        (Some(from), Some(to)) => {
            // The comparison reports an order of elements as two lists of their names. A list of
            // plain texts, such as arguments, has the same form, but there the order counts.
            !(is_names(from) && is_names(to) && names_maps(wanted, &change.path))
        }
    });
    found
}

/// Whether a running pod has every value that a pod spec sets, so that it belongs to the revision
/// of that spec.
pub(crate) fn covers(wanted: &Node, live: &Node) -> bool {
    differences(live, wanted, schema::structure("PodSpec")).is_empty()
}

fn says_nothing(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().all(|entry| says_nothing(&entry.node)),
        Value::List(_) => node.items().is_empty(),
        Value::Null => true,
        Value::Str(text) => text.is_empty(),
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Float(_) | Value::Big(_) => false,
    }
}

fn is_names(node: &Node) -> bool {
    matches!(node.value, Value::List(_)) && node.items().iter().all(|item| item.as_str().is_some())
}

/// Whether a path leads to a list of mappings. If only their names differ there, the same elements
/// have another order.
fn names_maps(object: &Node, path: &FieldPath) -> bool {
    object
        .select(path)
        .first()
        .is_some_and(|list| list.items().first().is_some_and(|item| item.as_map().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::node;

    #[test]
    fn only_wanted_values_that_differ_live_count_as_drift() {
        for (live, wanted, differs) in [
            // Others write more, and the server its defaults.
            (
                "{hostNetwork: true, containers: [{name: a, image: x, imagePullPolicy: Always}]}",
                "{containers: [{name: a, image: x}]}",
                false,
            ),
            (
                "{containers: [{name: a, image: x}, {name: mesh}]}",
                "{containers: [{name: a, image: x}]}",
                false,
            ),
            ("{containers: [{name: a, image: y}]}", "{containers: [{name: a, image: x}]}", true),
            ("{containers: []}", "{containers: [{name: a, image: x}]}", true),
            // The same amount, and another order of what has names.
            (
                "{containers: [{name: a, resources: {limits: {cpu: 1000m}}}]}",
                "{containers: [{name: a, resources: {limits: {cpu: '1'}}}]}",
                false,
            ),
            (
                "{containers: [{name: a, resources: {limits: {memory: 1073741824}}}]}",
                "{containers: [{name: a, resources: {limits: {memory: 1Gi}}}]}",
                false,
            ),
            (
                "{containers: [{name: a, resources: {limits: {memory: 1G}}}]}",
                "{containers: [{name: a, resources: {limits: {memory: 1Gi}}}]}",
                true,
            ),
            (
                "{containers: [{name: a, env: [{name: B}, {name: A}]}]}",
                "{containers: [{name: a, env: [{name: A}, {name: B}]}]}",
                false,
            ),
            // An order that means something.
            (
                "{containers: [{name: a, args: [x, y]}]}",
                "{containers: [{name: a, args: [y, x]}]}",
                true,
            ),
            // A value without an effect.
            ("{}", "{securityContext: {}, hostNetwork: false, volumes: []}", false),
            ("{}", "{hostNetwork: true}", true),
        ] {
            assert_eq!(!covers(&node(wanted), &node(live)), differs, "{live} against {wanted}");
        }
    }
}

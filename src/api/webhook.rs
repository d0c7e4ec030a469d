//! What admission webhooks and policies are called for.

use crate::yaml::Node;

/// Whether a rule of a webhook or of a policy is about the creation of a resource.
pub fn is_about_creation(rule: &Node, group: &str, plural: &str) -> bool {
    let has = |key: &str, wanted: &str| {
        rule.texts(key).any(|entry| {
            entry == "*"
                || entry == wanted
                || entry == "*/*"
                || entry.strip_suffix("/*") == Some(wanted)
        })
    };
    has("operations", "CREATE") && has("apiGroups", group) && has("resources", plural)
}

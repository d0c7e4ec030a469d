//! Which value an action of a template reads: `.Spec.Model.Name` is `spec.model.name`.
//!
//! In: the text of an action, and the object that is the template's data. Out: the origin of the
//! first value that the action reads. An action that reads nothing has its value itself.

use super::exec::Ran;
use crate::yaml::{Map, Node, Origin, Rule};

/// What a template reads where a field is not set.
pub static UNSET_FIELD: Rule = Rule {
    id: "unset-field",
    text: "The field is not set: the template reads Go's zero value.",
    cite: "Go, package text/template, Arguments",
};

/// The namespace of an object that names none.
pub static REQUEST_NAMESPACE: Rule = Rule {
    id: "request-namespace",
    text: "An object without a namespace is in that of the request: the one of `-n`, else `default`.",
    cite: "Kubernetes docs, Namespaces, Setting the namespace for a request",
};

/// The data of a template, as trees with origins.
#[derive(Clone, Copy)]
pub(crate) struct Data<'a> {
    /// The metadata as they are in the file.
    pub(crate) metadata: Option<&'a Node>,
    /// The labels as the operator sees them, where they differ from those of the metadata.
    pub(crate) labels: Option<&'a Map>,
    /// The annotations as the operator sees them, where they differ.
    pub(crate) annotations: Option<&'a Map>,
    /// The specification, where the template sees it.
    pub(crate) spec: Option<&'a Node>,
    /// The origin of what is not a field of the object.
    pub(crate) setting: Option<&'a dyn Fn(&str) -> Origin>,
}

impl Data<'_> {
    /// The origin of the first value that an action reads; `text` is that of the template.
    pub(crate) fn origin_of(&self, ran: Ran<'_>, text: Origin) -> Origin {
        let action = ran.action;
        // Words are enough to find the first value that is read; the text was parsed before.
        let is_apart = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '|' | ',');
        let mut words = action.split(is_apart).filter(|word| !word.is_empty());
        let chain = words.by_ref().find_map(|word| {
            // Inside of `with` and `range` the dot is another value, while `$.` stays the root.
            let of_dot = || word.strip_prefix('.').filter(|_| ran.of_root);
            word.strip_prefix("$.").or_else(of_dot).filter(|names| !names.is_empty())
        });
        let Some(chain) = chain else { return text };
        let mut names: Vec<&str> = chain.split('.').collect();
        // `index .Labels "a.b/c"`: the key is a word of its own.
        let keyed = action.trim_start().starts_with("index").then(|| words.next()).flatten();
        names.extend(keyed.map(|key| key.trim_matches(['"', '`'])));
        // Of a pod specification the function reads one field.
        if action.contains("shutdownTimeout") {
            names.push("terminationGracePeriodSeconds");
        }
        self.origin_of_field(&names)
    }

    fn origin_of_field(&self, names: &[&str]) -> Origin {
        let below = |names| self.metadata.and_then(|metadata| origin_below(metadata, names));
        let found = match names {
            ["GlobalConfig", setting, ..] => self.setting.map(|origin| origin(setting)),
            ["Spec", rest @ ..] => self.spec.and_then(|spec| origin_below(spec, rest)),
            // Go embeds the metadata: its fields are also fields of the object.
            ["ObjectMeta", rest @ ..] if !rest.is_empty() => Some(self.origin_of_field(rest)),
            ["Labels", rest @ ..] => entry(self.labels, rest).or_else(|| below(names)),
            ["Annotations", rest @ ..] => entry(self.annotations, rest).or_else(|| below(names)),
            ["Namespace"] => below(names).or(Some(Origin::Default(&REQUEST_NAMESPACE))),
            _ => below(names),
        };
        found.unwrap_or(Origin::Default(&UNSET_FIELD))
    }
}

/// The entry that a key names, else the first one of all.
fn entry(map: Option<&Map>, names: &[&str]) -> Option<Origin> {
    match names {
        [key] => map?.get(key).map(|node| node.origin),
        _ => map?.iter().next().map(|entry| entry.node.origin),
    }
}

/// A field by the names of Go's struct, which differ from those of the manifest in their case.
fn origin_below(node: &Node, names: &[&str]) -> Option<Origin> {
    let mut node = node;
    for name in names {
        let same = |key: &str| key == *name || key.eq_ignore_ascii_case(name);
        node = &node.entries().find(|entry| same(&entry.key))?.node;
    }
    Some(node.origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span};
    use crate::yaml::Limits;

    const TEXT: &str = "metadata: {name: otter, labels: {a.b/c: blue}}
spec: {model: {name: heron}, kvCache: {}, template: {terminationGracePeriodSeconds: 90}}
";

    /// What an action reads: the text at its place, else the rule.
    fn read(action: &str, of_root: bool) -> String {
        let parsed = crate::yaml::parse(SourceId(0), TEXT, 0..TEXT.len(), &Limits::default());
        let node = parsed.value.expect("a tree");
        let data = Data {
            metadata: node.get("metadata"),
            labels: None,
            annotations: None,
            spec: node.get("spec"),
            setting: Some(&|_| Origin::Default(&REQUEST_NAMESPACE)),
        };
        let text = Origin::File(Span { source: SourceId(9), start: 0, end: 0 });
        let ran = Ran { pos: 0, action, printed: "", of_root };
        match data.origin_of(ran, text) {
            Origin::File(span) if span.source == SourceId(9) => "itself".into(),
            Origin::File(span) => TEXT[span.start as usize..span.end as usize].into(),
            other => other.rule().map_or("", |rule| rule.id).into(),
        }
    }

    #[test]
    fn an_action_reads_the_first_field_that_it_names() {
        assert_eq!(read(".Spec.Model.Name", true), "heron");
        assert_eq!(read("ChildName .ObjectMeta.Name `-x`", true), "otter");
        assert_eq!(read("if and .Spec.KVCache .Spec.Model", true), "{}");
        assert_eq!(read("index .Labels `a.b/c`", true), "blue");
        assert_eq!(read("(len $.Name)", false), "otter");
        assert_eq!(read("shutdownTimeout .Spec.Template 15", true), "90");
    }

    #[test]
    fn what_no_field_has_is_a_rule_or_the_action_itself() {
        assert_eq!(read(".Spec.Prefill.Template", true), "unset-field");
        assert_eq!(read(".Annotations.team", true), "unset-field");
        assert_eq!(read(".Namespace", true), "request-namespace");
        assert_eq!(read(".GlobalConfig.EnableTLS", true), "request-namespace");
        assert_eq!(read("`{{ m }}`", true), "itself");
        assert_eq!(read("shutdownTimeout nil 15", true), "itself");
        // Within `with` and `range` the dot is something else.
        assert_eq!(read(".Name", false), "itself");
    }
}

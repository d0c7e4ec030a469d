//! Rules that CustomResourceDefinitions state in words of their own: `x-kubernetes-validations`.
//!
//! In: objects whose schema is fulfilled, with the defaults filled in, as the API server has them
//! when it comes to these rules. Out: a finding with the definition's own message for each rule
//! that is broken. The rules are the shipped ones, word for word, in `rules.txt`, which
//! `examples/rules.rs` makes. Left out are rules that compare an object with what it was, and rules
//! about status.

mod cel;

use super::{View, about};
use crate::api::Object;
use crate::diag::{Code, Diagnostic, Severity};
use crate::schema::{self, Strictness};
use crate::source::SourceMap;
use crate::yaml::{Node, Value};
use cel::{Expr, Outcome};
use std::sync::OnceLock;

/// A rule of one place of a kind.
struct Rule {
    /// Fields from the root; `[]` stands for every element of a list, `{}` for every value of a
    /// map.
    path: Vec<&'static str>,
    test: Expr,
    message: &'static str,
}

/// The rules of one kind.
struct Kind {
    api_versions: Vec<String>,
    name: &'static str,
    rules: Vec<Rule>,
}

/// The table: a line `GROUP KIND VERSION…` for each kind, then its rules, each on a line that
/// begins with a blank: path, rule and message with tabs between them.
fn kinds() -> &'static [Kind] {
    static KINDS: OnceLock<Vec<Kind>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut kinds: Vec<Kind> = Vec::new();
        for line in include_str!("rules.txt").lines().filter(|line| !line.starts_with('#')) {
            if let Some(rule) = line.strip_prefix(' ') {
                let mut parts = rule.splitn(3, '\t');
                if let (Some(path), Some(text), Some(message), Some(kind)) =
                    (parts.next(), parts.next(), parts.next(), kinds.last_mut())
                    && let Some(test) = cel::parse(text)
                {
                    kind.rules.push(Rule {
                        path: path.split('.').filter(|step| !step.is_empty()).collect(),
                        test,
                        message,
                    });
                }
            } else {
                let mut words = line.split(' ');
                if let (Some(group), Some(name)) = (words.next(), words.next()) {
                    kinds.push(Kind {
                        api_versions: words.map(|version| format!("{group}/{version}")).collect(),
                        name,
                        rules: Vec::new(),
                    });
                }
            }
        }
        kinds
    })
}

/// Every object that breaks a rule of its definition.
pub(super) fn rules(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for object in view.catalog.objects() {
        if let Some(kind) = kinds().iter().find(|kind| {
            kind.name == object.id.kind
                && kind.api_versions.iter().any(|version| *version == object.api_version)
        }) {
            judge(object, kind, view.sources, found);
        }
    }
}

fn judge(object: &Object, kind: &Kind, sources: &SourceMap, found: &mut Vec<Diagnostic>) {
    let Some(schema) = schema::kind(&object.api_version, &object.id.kind) else { return };
    // As on the server, an object that is not of its schema is not asked further.
    let mut faults = Vec::new();
    schema.check(&object.node, Strictness::Server, sources, &mut faults);
    if faults.iter().any(|fault| fault.severity == Severity::Error) {
        return;
    }
    let mut node = object.node.clone();
    schema.default(&mut node);
    for rule in &kind.rules {
        each(&node, &rule.path, String::new(), &mut |place, path| {
            let message = match cel::evaluate(&rule.test, place) {
                Outcome::Holds => return,
                Outcome::Fails | Outcome::Error => rule.message.to_owned(),
                Outcome::TooCostly => {
                    format!("{} (not judged: it takes more than {} steps)", rule.message, cel::FUEL)
                }
            };
            let span = place.origin.span().or_else(|| Some(object.name_span()));
            found.push(
                about(Code::InvalidValue, object, format!("`{path}`: {message}"))
                    .at(span)
                    .path(path)
                    .help("the API server refuses it otherwise"),
            );
        });
    }
}

/// Calls `visit` for every value at a path.
fn each(node: &Node, path: &[&str], so_far: String, visit: &mut impl FnMut(&Node, String)) {
    let Some((step, rest)) = path.split_first() else { return visit(node, so_far) };
    match (*step, &node.value) {
        ("[]", Value::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                each(item, rest, format!("{so_far}[{index}]"), visit);
            }
        }
        ("{}", Value::Map(map)) => {
            for entry in map {
                each(&entry.node, rest, format!("{so_far}.{}", entry.key), visit);
            }
        }
        (name, Value::Map(_)) => {
            if let Some(below) = node.get(name) {
                let dot = if so_far.is_empty() { "" } else { "." };
                each(below, rest, format!("{so_far}{dot}{name}"), visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{codes, run};
    use super::*;
    use crate::policy::Semantics::{Controller, Documented};

    #[test]
    fn every_rule_of_the_table_is_understood() {
        let lines = include_str!("rules.txt").lines().filter(|line| line.starts_with(' ')).count();
        assert_eq!(kinds().iter().map(|kind| kind.rules.len()).sum::<usize>(), lines);
        for kind in kinds() {
            for version in &kind.api_versions {
                assert!(schema::kind(version, kind.name).is_some(), "{version} {}", kind.name);
            }
        }
    }

    #[test]
    fn objects_are_held_to_the_rules_of_their_definition() {
        let flavor = |spec: &str| {
            format!(
                "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\nspec: {spec}\n"
            )
        };
        let route = |rule: &str| {
            format!(
                "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r}}\nspec: {{rules: [{rule}]}}\n"
            )
        };
        for (text, broken) in [
            (flavor("{nodeLabels: {a: b}}"), 0),
            (flavor("{topologyName: t}"), 1),
            (flavor("{tolerations: [{operator: Exists, value: x, key: k}]}"), 1),
            (flavor("{tolerations: [{key: k, tolerationSeconds: 5, effect: NoSchedule}]}"), 1),
            (route("{backendRefs: [{name: s, port: 80}]}"), 0),
            // The kind has the default Service, for which a port is needed.
            (route("{backendRefs: [{name: s}]}"), 1),
            (route("{matches: [{path: {type: PathPrefix, value: /a//b}}]}"), 1),
            (route("{filters: [{type: RequestRedirect, requestRedirect: {path: {type: ReplaceFullPath}}}]}"), 1),
            ("apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s}\nspec: {scaleTargetRef: {name: d}, minReplicaCount: 3, maxReplicaCount: 2, triggers: [{type: cpu, metadata: {}}]}\n".to_owned(), 1),
        ] {
            for semantics in [Documented, Controller] {
                assert_eq!(codes(&run(&text, semantics)), vec!["invalid-value"; broken], "{text}");
            }
        }
    }
}

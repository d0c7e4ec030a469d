//! Rules that CustomResourceDefinitions state beside the types of fields:
//! `x-kubernetes-validations` and alternatives (`oneOf`).
//!
//! In: objects that match their schema, with defaults, as the API server has them at this step.
//! Out: each violated rule, with the definition's own message. The rules are the shipped ones, in
//! `tables/rules.txt`, which `examples/rules.rs` makes. Left out are rules that compare an object
//! with its previous state, and rules about status.

use super::cel::{self, Expr, Outcome};
use super::check::Strictness;
use super::types::Schema;
use crate::diag::Severity;
use crate::source::{SourceMap, Span};
use crate::yaml::{At, Node, Value};
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

/// A rule that an object breaks.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The field it is about, from the root.
    pub path: String,
    /// Where the field is written.
    pub span: Option<Span>,
    /// Its message in the definition.
    pub message: String,
}

/// The table: a line `GROUP KIND VERSION…` for each kind, then its rules, each on a line that
/// begins with a blank: path, rule and message with tabs between them.
fn kinds() -> &'static [Kind] {
    static KINDS: OnceLock<Vec<Kind>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut kinds: Vec<Kind> = Vec::new();
        for line in super::table::lines(include_str!("tables/rules.txt")) {
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

impl Schema {
    /// The rules of its definition that an object violates. As on the server, an object that does
    /// not match its schema is not checked.
    pub fn broken_rules(&self, object: &Node, sources: &SourceMap) -> Vec<Broken> {
        let Some(kind) = kinds().iter().find(|kind| {
            kind.name == self.kind
                && kind.api_versions.iter().any(|version| version == self.api_version)
        }) else {
            return Vec::new();
        };
        let mut faults = Vec::new();
        self.check(object, Strictness::Server, sources, &mut faults);
        if faults.iter().any(|fault| fault.severity == Severity::Error) {
            return Vec::new();
        }
        let mut node = object.clone();
        self.drop_nulls(&mut node);
        self.default(&mut node);
        let mut found = Vec::new();
        for rule in &kind.rules {
            each(&node, &rule.path, None, &At::ROOT, &mut |place, key, at| {
                let message = match cel::evaluate(&rule.test, place) {
                    Outcome::Holds => return,
                    Outcome::Fails | Outcome::Error => rule.message.to_owned(),
                    Outcome::TooCostly => format!(
                        "{} (not judged: it takes more than {} steps)",
                        rule.message,
                        cel::FUEL
                    ),
                };
                let span = key.or_else(|| place.origin.span());
                found.push(Broken { path: at.to_string(), span, message });
            });
        }
        found
    }
}

/// Calls `visit` for every value at a path, with the place of its key where it has one.
fn each(
    node: &Node,
    path: &[&str],
    key: Option<Span>,
    so_far: &At<'_>,
    visit: &mut impl FnMut(&Node, Option<Span>, &At<'_>),
) {
    let Some((step, rest)) = path.split_first() else { return visit(node, key, so_far) };
    match (*step, &node.value) {
        ("[]", Value::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                each(item, rest, None, &so_far.index(index), visit);
            }
        }
        ("{}", Value::Map(map)) => {
            for entry in map {
                let key = entry.key_origin.span();
                each(&entry.node, rest, key, &so_far.field(&entry.key), visit);
            }
        }
        (name, Value::Map(map)) => {
            if let Some(entry) = map.entry(name) {
                let key = entry.key_origin.span();
                each(&entry.node, rest, key, &so_far.field(name), visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_validation_rule_of_the_table_is_parsed() {
        let lines = include_str!("tables/rules.txt").lines();
        let lines = lines.filter(|line| line.starts_with(' ')).count();
        assert_eq!(kinds().iter().map(|kind| kind.rules.len()).sum::<usize>(), lines);
        for kind in kinds() {
            for version in &kind.api_versions {
                assert!(
                    super::super::kind(version, kind.name).is_some(),
                    "{version} {}",
                    kind.name
                );
            }
        }
    }
}

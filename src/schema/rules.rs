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
use ecow::EcoString;
use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

/// Most values that a thread remembers as keeping their rules.
const MAX_KEPT: usize = 1 << 12;

thread_local! {
    /// Fingerprints of values that keep all rules of their place: of a fleet, most filters and
    /// references of routes are equal.
    static KEEPING: RefCell<HashSet<u64>> = RefCell::default();
}

/// The rules of one place of a kind.
struct Group {
    /// Fields from the root; `[]` stands for every element of a list, `{}` for every value of a
    /// map.
    path: Vec<&'static str>,
    rules: Vec<Rule>,
    /// The fields that the rules read, sorted; none where they may read others.
    reads: OnceLock<Option<Vec<EcoString>>>,
}

/// A rule of one place of a kind.
struct Rule {
    test: Expr,
    message: &'static str,
}

/// The rules of one kind.
struct Kind {
    api_versions: Vec<String>,
    name: &'static str,
    /// Those of equal places stand together in the table.
    groups: Vec<Group>,
}

impl Group {
    /// Whether a value keeps every rule of this place, as an equal one did before.
    fn is_kept(&self, value: &Node) -> bool {
        let mut hasher = DefaultHasher::new();
        // Groups are static, so that the address names the place and its rules.
        std::ptr::from_ref(self).hash(&mut hasher);
        content(value, self.reads(), &mut hasher);
        let fingerprint = hasher.finish();
        if KEEPING.with_borrow(|keeping| keeping.contains(&fingerprint)) {
            return true;
        }
        // Only kept rules are remembered: a message needs the place of the value anyway.
        let holds = |rule: &Rule| cel::evaluate(&rule.test, value) == Outcome::Holds;
        let is_kept = self.rules.iter().all(holds);
        if is_kept {
            KEEPING.with_borrow_mut(|keeping| {
                if keeping.len() >= MAX_KEPT {
                    keeping.clear();
                }
                keeping.insert(fingerprint);
            });
        }
        is_kept
    }

    fn reads(&self) -> Option<&[EcoString]> {
        let reads = self.reads.get_or_init(|| {
            let mut names = Vec::new();
            let is_all = self.rules.iter().all(|rule| rule.test.reads(&mut names));
            names.sort();
            names.dedup();
            is_all.then_some(names)
        });
        reads.as_deref()
    }

    /// The rules that a value at this place breaks, each with its number.
    fn broken(&self, place: &Node, key: Option<Span>, at: &At<'_>) -> Vec<(usize, Broken)> {
        let rules = self.rules.iter().enumerate();
        let broken = rules.filter_map(|(index, rule)| {
            let message = match cel::evaluate(&rule.test, place) {
                Outcome::Holds => return None,
                Outcome::Fails | Outcome::Error => rule.message.to_owned(),
                Outcome::TooCostly => {
                    format!("{} (not judged: it takes more than {} steps)", rule.message, cel::FUEL)
                }
            };
            // A key is shorter to show than the whole mapping below it.
            let span = key.or_else(|| place.origin.span());
            Some((index, Broken { path: at.to_string(), span, message }))
        });
        broken.collect()
    }
}

/// What a value holds, without where it is written. Where only some fields are read, the values of
/// others are left out: the rules of a route read whether it has a filter, and not the paths of it.
fn content(node: &Node, reads: Option<&[EcoString]>, into: &mut DefaultHasher) {
    // `1` and `"1"` must not have the same fingerprint.
    std::mem::discriminant(&node.value).hash(into);
    match &node.value {
        Value::Null => {}
        Value::Bool(value) => value.hash(into),
        Value::Int(number) => number.hash(into),
        Value::Big(number) => number.hash(into),
        Value::Float(number) => number.to_bits().hash(into),
        Value::Str(text) => text.hash(into),
        Value::List(items) => {
            // Lengths keep `[[a], b]` apart from `[[a, b]]`.
            items.len().hash(into);
            items.iter().for_each(|item| content(item, reads, into));
        }
        Value::Map(map) => {
            map.len().hash(into);
            for entry in map {
                // Every key counts, since `has` and `size` depend on it even where the value is not
                // read.
                entry.key.hash(into);
                if reads.is_none_or(|names| names.binary_search(&entry.key).is_ok()) {
                    content(&entry.node, reads, into);
                }
            }
        }
    }
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
                    // A rule that this program cannot parse is left to the server.
                    && let Some(test) = cel::parse(text)
                {
                    let path = path.split('.').filter(|step| !step.is_empty()).collect();
                    let rule = Rule { test, message };
                    match kind.groups.last_mut().filter(|group| group.path == path) {
                        Some(group) => group.rules.push(rule),
                        None => kind.groups.push(Group {
                            path,
                            rules: vec![rule],
                            reads: OnceLock::new(),
                        }),
                    }
                }
            } else {
                let mut words = line.split(' ');
                if let (Some(group), Some(name)) = (words.next(), words.next()) {
                    kinds.push(Kind {
                        api_versions: words.map(|version| format!("{group}/{version}")).collect(),
                        name,
                        groups: Vec::new(),
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
        // Most kinds have no rules: they need no check of their types first.
        if self.rules_of_kind().is_none() {
            return Vec::new();
        }
        let mut faults = Vec::new();
        self.check(object, Strictness::Server, sources, &mut faults);
        if faults.iter().any(|fault| fault.severity == Severity::Error) {
            return Vec::new();
        }
        self.broken_rules_of_valid(object)
    }

    fn rules_of_kind(&self) -> Option<&'static Kind> {
        kinds().iter().find(|kind| {
            kind.name == self.kind
                && kind.api_versions.iter().any(|version| version == self.api_version)
        })
    }

    /// The same for an object that is known to match its schema.
    pub fn broken_rules_of_valid(&self, object: &Node) -> Vec<Broken> {
        let Some(kind) = self.rules_of_kind() else { return Vec::new() };
        let mut node = object.clone();
        // The server evaluates rules on the object with its defaults, which they may read.
        self.drop_nulls(&mut node);
        self.default(&mut node);
        let mut found = Vec::new();
        for group in &kind.groups {
            let mut broken = Vec::new();
            each(&node, &group.path, None, &At::ROOT, &mut |place, key, at| {
                if !group.is_kept(place) {
                    broken.extend(group.broken(place, key, at));
                }
            });
            // Rule by rule, as the definition lists them.
            broken.sort_by_key(|(index, _)| *index);
            found.extend(broken.into_iter().map(|(_, broken)| broken));
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
        assert_eq!(
            kinds()
                .iter()
                .flat_map(|kind| &kind.groups)
                .map(|group| group.rules.len())
                .sum::<usize>(),
            lines
        );
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

    /// A fingerprint that leaves values out is the same only where every rule has the same result.
    #[test]
    fn what_is_left_out_of_a_fingerprint_changes_no_rule() {
        let reads = |text: &str| {
            let mut names = Vec::new();
            let is_all = cel::parse(text).expect("it parses").reads(&mut names);
            (is_all, names.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let names = |name: &[&str]| name.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            reads("has(self.a) ? self.b.size() > 0 : self.c == 'x'"),
            (true, names(&["a", "b", "c"]))
        );
        assert_eq!(reads("self.all(x, x['k'] in ['y', 'z'])"), (true, names(&["k"])));
        assert!(!reads("self.a == self.b").0);
        assert!(!reads("self.all(x, self.b[x.name] == 1)").0);
        assert!(!reads("self.a in self.b").0);

        let route = |value: &str, filter: &str| {
            let rules = serde_json::json!([{
                "matches": [{"path": {"type": "PathPrefix", "value": value}}],
                "filters": [{"type": filter, "urlRewrite": {"path": {
                    "type": "ReplacePrefixMatch", "replacePrefixMatch": "/" }}}],
            }]);
            let object = serde_json::json!({
                "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
                "metadata": {"name": "r"}, "spec": {"rules": rules},
            });
            let by = crate::yaml::Origin::Default(&crate::schema::ZERO_VALUE);
            let schema = super::super::kind("gateway.networking.k8s.io/v1", "HTTPRoute");
            let broken =
                schema.expect("it is known").broken_rules_of_valid(&Node::from_json(&object, by));
            broken.into_iter().map(|broken| broken.path).collect::<Vec<_>>()
        };
        // In this order the first two fill the memory.
        assert!(route("/a", "URLRewrite").is_empty() && route("/b", "URLRewrite").is_empty());
        assert!(!route("/a", "CORS").is_empty());
        assert!(route("/a//b", "URLRewrite").iter().any(|path| path.contains("matches")));
    }
}

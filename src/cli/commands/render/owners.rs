//! One object that two services write.

use super::Written;
use crate::diag::{Code, Diagnostic, Severity};
use crate::pipeline::identity;
use crate::source::Span;
use crate::yaml::Node;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Who writes which object, over all services of one run. Two that write one object differently
/// take it from each other, as services of one name in two APIs do.
#[derive(Default)]
pub(super) struct Owners {
    seen: BTreeMap<String, (String, Option<Span>, u64)>,
}

impl Owners {
    pub(super) fn check(&mut self, written: &Written, found: &mut Vec<Diagnostic>) {
        let (owner, span) = &written.owner;
        for (object, text) in &written.objects {
            let version = object.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
            let (key, object) =
                (format!("{version} {}", identity(object)), identity(object).to_string());
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let sum = hasher.finish();
            let Some((other, first, earlier)) = self.seen.get(&key) else {
                self.seen.insert(key, (owner.clone(), *span, sum));
                continue;
            };
            if other != owner && *earlier != sum {
                found.push(
                    Diagnostic::new(Code::DuplicateObject, format!("{object} is written for {other} and, differently, for {owner}: one undoes the other"))
                        .severity(Severity::Warning)
                        .at(*span)
                        .label(*first, "the other one")
                        .object(object)
                        .help("rename one of the services"),
                );
            }
        }
    }
}

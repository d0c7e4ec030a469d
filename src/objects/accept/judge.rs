//! Findings in the words of the API server.

use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Span;
use crate::yaml::{At, Node, Places};
use std::collections::HashSet;
use std::fmt::Display;

/// Collects what a server would refuse in one object.
pub(super) struct Judge<'a> {
    /// The object.
    pub(super) object: &'a Node,
    /// Error where the server refuses the object, warning where it refuses only the pods made from
    /// it.
    pub(super) severity: Severity,
    /// The project whose admission webhook judges; `None`: the server itself.
    pub(super) webhook: Option<&'static str>,
    /// Whether the object is applied, and not created by a controller as pods are. Only an applied
    /// object is refused for two elements of a list with the same key.
    pub(super) applied: bool,
    /// What was found.
    pub(super) findings: &'a mut Vec<Diagnostic>,
}

impl<'a> Judge<'a> {
    /// A judge of an object that is applied.
    pub(super) fn of(object: &'a Node, findings: &'a mut Vec<Diagnostic>) -> Self {
        Self { object, severity: Severity::Error, webhook: None, applied: true, findings }
    }

    /// Judges as an admission webhook does. These are warnings: the server itself accepts the
    /// object.
    pub(super) fn as_webhook(&mut self, owner: &'static str, judge: impl FnOnce(&mut Self)) {
        let severity = std::mem::replace(&mut self.severity, Severity::Warning);
        // A webhook may be switched off or of another version, so that its refusal is not proven.
        self.webhook = Some(owner);
        judge(self);
        (self.severity, self.webhook) = (severity, None);
    }

    /// Reports a refused value in the server's words.
    pub(super) fn refuse(&mut self, at: &At<'_>, span: Option<Span>, detail: &str, help: &str) {
        let text = |keys: &[&str]| self.object.at(keys).and_then(Node::as_str).unwrap_or_default();
        let (kind, name, namespace) =
            (text(&["kind"]), text(&["metadata", "name"]), text(&["metadata", "namespace"]));
        // The core group has no name, and the server prints the kind without a dot.
        let group = text(&["apiVersion"])
            .split_once('/')
            .map_or(String::new(), |(group, _)| format!(".{group}"));
        let message = match (self.webhook, self.severity) {
            (Some(owner), _) => {
                format!("the webhook of {owner} refuses {kind}{group} \"{name}\": {at}: {detail}")
            }
            (None, Severity::Error) => {
                format!("{kind}{group} \"{name}\" is invalid: {at}: {detail}")
            }
            (None, _) => {
                format!("pods of {kind}{group} \"{name}\" would be refused: {at}: {detail}")
            }
        };
        let id = if namespace.is_empty() {
            format!("{kind}/{name}")
        } else {
            format!("{kind}/{namespace}/{name}")
        };
        let finding = Diagnostic::new(Code::ServerRefuses, message)
            .severity(self.severity)
            .at(span)
            .path(at.to_string())
            .object(id)
            .help(help);
        self.findings.push(finding);
    }

    /// A value is absent or empty; the place is the key of what holds it.
    pub(super) fn required(&mut self, at: &At<'_>, holder: &Node, detail: &str) {
        let detail = if detail.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {detail}")
        };
        // An absent field has no place; the key that would hold it is where it has to be added.
        let key = at.parent().and_then(|above| above.written_in(self.object));
        self.refuse(at, key.or_else(|| holder.origin.span()), &detail, "add it");
    }

    /// A value names something that does not exist (`NotFound`).
    pub(super) fn not_found(&mut self, at: &At<'_>, node: &Node, help: &str) {
        self.refuse(at, node.origin.span(), &format!("Not found: {}", node.to_json()), help);
    }

    /// A value is invalid (`Invalid`).
    pub(super) fn invalid(&mut self, at: &At<'_>, node: &Node, detail: &str, help: &str) {
        self.refuse(
            at,
            node.origin.span(),
            &format!("Invalid value: {}: {detail}", node.to_json()),
            help,
        );
    }

    /// A value is not allowed in this place (`Forbidden`).
    pub(super) fn forbidden(&mut self, at: &At<'_>, node: &Node, detail: &str, help: &str) {
        self.refuse(at, node.origin.span(), &format!("Forbidden: {detail}"), help);
    }

    /// A text, if it is set, has to be one of these; returns whether it is.
    pub(super) fn one_of(&mut self, at: &At<'_>, node: Option<&Node>, accepted: &[&str]) -> bool {
        // Absent and empty are the same to Go: the server fills in the default of such a field.
        let Some(node) = node else { return true };
        let fits = node.as_str().is_some_and(|text| text.is_empty() || accepted.contains(&text));
        if !fits {
            self.unsupported(at, node, accepted);
        }
        fits
    }

    /// A value is not one of the supported ones (`NotSupported`).
    pub(super) fn unsupported(&mut self, at: &At<'_>, node: &Node, accepted: &[&str]) {
        let list =
            accepted.iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(", ");
        let message = format!("Unsupported value: {}: supported values: {list}", node.to_json());
        self.refuse(at, node.origin.span(), &message, "write one of the supported values");
    }

    /// A field that has to be set to one of these, so that its zero value is refused too; returns
    /// whether it is.
    pub(super) fn exactly(
        &mut self,
        at: &At<'_>,
        holder: &Node,
        key: &str,
        accepted: &[&str],
    ) -> bool {
        let empty = Node::str("", holder.origin);
        let node = holder.get(key).unwrap_or(&empty);
        let fits = node.as_str().is_some_and(|text| accepted.contains(&text));
        if !fits {
            self.unsupported(&at.field(key), node, accepted);
        }
        fits
    }

    /// The same for a field that may be absent.
    pub(super) fn exactly_if_there(
        &mut self,
        at: &At<'_>,
        holder: &Node,
        key: &str,
        accepted: &[&str],
    ) -> bool {
        holder.get(key).is_none_or(Node::is_null) || self.exactly(at, holder, key, accepted)
    }

    /// A required text, which must not be empty.
    pub(super) fn present<'n>(
        &mut self,
        at: &At<'_>,
        holder: &'n Node,
        key: &str,
    ) -> Option<&'n Node> {
        // All three decode to the zero value of a text.
        let found = holder.get(key).filter(|node| !node.is_null() && node.as_str() != Some(""));
        if found.is_none() {
            self.required(&at.field(key), holder, "");
        }
        found
    }

    /// A text, unless it is absent or empty, has to have this form.
    pub(super) fn formed<T: Display>(
        &mut self,
        at: &At<'_>,
        holder: &Node,
        key: &str,
        form: impl Fn(&str) -> Vec<T>,
    ) {
        if let Some(node) = holder.get(key).filter(|node| node.as_str() != Some("")) {
            self.shaped(&at.field(key), node, node.as_str().map(form).unwrap_or_default());
        }
    }

    /// A number, if it is set, has to be between two others.
    pub(super) fn within(
        &mut self,
        at: &At<'_>,
        holder: &Node,
        key: &str,
        (least, most): (i64, i64),
    ) {
        if let Some(node) = holder
            .get(key)
            .filter(|node| node.as_int().is_some_and(|number| !(least..=most).contains(&number)))
        {
            let message = format!("must be between {least} and {most}, inclusive");
            self.invalid(
                &at.field(key),
                node,
                &message,
                &format!("write a number from {least} to {most}"),
            );
        }
    }

    /// The objections of a validation function to a text.
    ///
    /// A placeholder that was not expanded is skipped: `variable-outside-container` reports it
    /// (OME docs, Serving Runtime, Multi-Node Configuration).
    pub(super) fn shaped(&mut self, at: &At<'_>, node: &Node, objections: Vec<impl Display>) {
        if objections.is_empty() || node.as_str().is_some_and(|text| text.contains("{{")) {
            return;
        }
        for objection in objections {
            self.invalid(at, node, &objection.to_string(), "correct it as the message describes");
        }
    }

    /// The same for a list whose keys count only when the object is applied.
    pub(super) fn keyed_where_applied(&mut self, at: &At<'_>, list: &Node, keys: &[(&str, &str)]) {
        if self.applied {
            self.keyed(at, list, keys);
        }
    }

    /// Elements of a list have to differ in these fields; `defaults` replace absent ones. A
    /// repeated element is refused once.
    pub(super) fn keyed(&mut self, at: &At<'_>, list: &Node, keys: &[(&str, &str)]) {
        let items = list.items();
        if items.len() < 2 {
            return;
        }
        // Defaults are set before keys are compared: `protocol: TCP` equals no protocol.
        let value = |item: &Node, (key, default): (&str, &str)| {
            item.get(key).and_then(Node::scalar_text).unwrap_or_else(|| default.into())
        };
        let mut seen = Places::new();
        let mut set = HashSet::new();
        for (place, item) in items.iter().enumerate() {
            let text: Vec<_> = keys.iter().map(|key| value(item, *key)).collect();
            // `insert` gives the first place of an equal element: the third of its kind finds it
            // reported.
            if seen.insert(text, place).is_some_and(|first| set.insert(first)) {
                let words: Vec<String> = keys
                    .iter()
                    .map(|(key, default)| {
                        let text = value(item, (*key, *default));
                        // Server-side apply prints texts of a key in quotes and numbers without.
                        let number = item.get(key).is_some_and(|node| node.as_int().is_some());
                        if number {
                            format!("{key}={text}")
                        } else {
                            format!("{key}={}", serde_json::Value::from(text.as_str()))
                        }
                    })
                    .collect();
                let named = keys.iter().find_map(|(key, _)| item.get(key)).unwrap_or(item);
                self.refuse(
                    at,
                    named.origin.span(),
                    &format!("duplicate entries for key [{}]", words.join(",")),
                    "keep one of them",
                );
            }
        }
    }
}

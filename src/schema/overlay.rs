//! Differences of the documents from the shipped schemas: fields of OEP-0003, and requirements that
//! the documents do not have.
//!
//! The table `tables/overlay.txt` is written by hand, in the grammar of the others. A field of the
//! same name replaces the shipped one under the documents; every other field is added. Types with
//! the prefix `oep3/` exist only there.

use super::table;
use super::types::{Definition, Object, Type};
use std::sync::OnceLock;

static OVERLAY: OnceLock<Vec<Definition>> = OnceLock::new();

fn definitions() -> &'static [Definition] {
    OVERLAY.get_or_init(|| table::index(include_str!("tables/overlay.txt")))
}

/// A type of the overlay by its name.
pub(super) fn definition(name: &str) -> Option<&'static Definition> {
    definitions().iter().find(|definition| definition.name == name)
}

/// Names that were proposed or removed, and the fields in their place.
const HINTS: &[(&str, &str)] = &[
    // OEP-0003, Alternatives: rejected alternatives of OEP-0003.
    ("supportedGPUTypes", "write `acceleratorRequirements`"),
    ("gpuConfigurations", "write `acceleratorConfigurations`"),
    ("nodeSelectorTemplate", "describe the nodes in an AcceleratorClass"),
    // OEP-0003, Test Plan: a runtime cannot choose it.
    ("strategy", "services choose one: `acceleratorSelector.strategy`"),
    // KServe 0.10 docs, Data Plane and Serving Runtimes, attributes;
    // docs/decisions.md#kserve-spellings.
    ("feast", "run Feast in a custom container: `transformer.containers`"),
];

/// The next step for a name that is not a field, where the documents give one.
pub(super) fn hint(name: &str) -> Option<&'static str> {
    HINTS.iter().find(|(other, _)| *other == name).map(|(_, hint)| *hint)
}

/// Name of the block whose rules are for fields of every type.
const EVERY_TYPE: &str = "*";

/// The fields of a type in the documents, if they differ from the shipped ones.
pub(super) fn apply(name: &str, body: &'static str, open: bool) -> Option<Object> {
    let overlay = definition(name);
    let everywhere =
        definition(EVERY_TYPE).map_or(&[][..], |definition| &definition.server().fields);
    let mut rules = everywhere
        .iter()
        .filter(|rule| {
            // A look at the lines, before the fields are parsed: most types have none of these
            // names.
            body.lines().any(|line| line.trim_start().split(' ').next() == Some(rule.name))
        })
        .peekable();
    if overlay.is_none() && rules.peek().is_none() {
        return None;
    }
    let mut object = table::object(body, open || overlay.is_some_and(Definition::open));
    for rule in rules {
        if let Some(field) = object.fields.iter_mut().find(|field| field.name == rule.name) {
            restrict(&mut field.ty, &rule.ty);
        }
    }
    for mut field in
        overlay.map_or_else(Vec::new, |overlay| table::object(overlay.body(), open).fields)
    {
        if let Some(existing) = object.fields.iter_mut().find(|other| other.name == field.name) {
            // The properties of the Go struct stay, and the server's requirement becomes a lenient
            // one.
            field.lenient = existing.required && !field.required;
            field.patch = existing.patch;
            (field.always, field.formerly_always, field.pointer, field.recent) =
                (existing.always, existing.formerly_always, existing.pointer, existing.recent);
            field.default = field.default.or(existing.default);
            *existing = field;
        } else {
            field.documented = true;
            object.fields.push(field);
        }
    }
    Some(Object::new(object.fields, object.open))
}

/// Gives a type the rules of another one of its kind, if it has none.
fn restrict(ty: &mut Type, rule: &Type) {
    match (ty, rule) {
        (Type::Str(rules), Type::Str(wanted))
        | (Type::Int(rules), Type::Int(wanted))
        | (Type::IntOrString(rules), Type::IntOrString(wanted))
            if rules.is_none() =>
        {
            rules.clone_from(wanted);
        }
        _ => {}
    }
}

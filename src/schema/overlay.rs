//! What the documents know beyond the shipped schemas: fields of OEP-0003, and requirements that the documents do not
//! make.
//!
//! The table `tables/overlay.txt` is written by hand, in the grammar of the others. A field of the same name replaces
//! the shipped one where the documents are asked; every other field is added. Types whose name begins with `oep3/` are
//! its own.

use super::table;
use super::types::{Definition, Object};
use std::sync::OnceLock;

static OVERLAY: OnceLock<Vec<Definition>> = OnceLock::new();

fn definitions() -> &'static [Definition] {
    OVERLAY.get_or_init(|| table::index(include_str!("tables/overlay.txt")))
}

/// A type of the overlay by its name.
pub(super) fn definition(name: &str) -> Option<&'static Definition> {
    definitions().iter().find(|definition| definition.name == name)
}

/// Names that were proposed, or were fields once, and what stands in their place.
const HINTS: &[(&str, &str)] = &[
    // S2-135: rejected alternatives of OEP-0003.
    ("supportedGPUTypes", "write `acceleratorRequirements`"),
    ("gpuConfigurations", "write `acceleratorConfigurations`"),
    ("nodeSelectorTemplate", "describe the nodes in an AcceleratorClass"),
    // S3-016, S3-049.
    ("feast", "run Feast in a custom container: `transformer.containers`"),
];

/// What to do about a name that is no field, where the documents say so.
pub(super) fn hint(name: &str) -> Option<&'static str> {
    HINTS.iter().find(|(known, _)| *known == name).map(|(_, hint)| *hint)
}

/// The fields of a type as the documents know it, if they differ from the shipped ones.
pub(super) fn apply(name: &str, body: &'static str, open: bool) -> Option<Object> {
    let overlay = definition(name)?;
    let mut object = table::object(body, open);
    for mut field in table::object(overlay.body(), open).fields {
        if let Some(known) = object.fields.iter_mut().find(|known| known.name == field.name) {
            // Keeps what the Go struct says about the field, and the requirement of the server as a lenient one.
            field.lenient |= known.required && !field.required;
            field.patch = known.patch;
            (field.always, field.formerly_always, field.pointer, field.recent) = (known.always, known.formerly_always, known.pointer, known.recent);
            field.default = field.default.or(known.default);
            *known = field;
        } else {
            field.documented = true;
            object.fields.push(field);
        }
    }
    Some(object)
}

//! Descriptions of kinds and fields, a sentence each.
//!
//! In: the table `tables/descriptions.txt`. Out: a sentence by the name of a type and a field. The
//! table is read when the first sentence is requested; no plan requests one.

use super::table::lines;
use super::types::{Definition, Field, Schema, Type};
use crate::yaml::{FieldPath, Segment};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The name under which a type itself is described.
const WHOLE: &str = ".";

static SENTENCES: OnceLock<HashMap<(&str, &str), &str>> = OnceLock::new();

fn sentence(of: &str, field: &str) -> Option<&'static str> {
    SENTENCES.get_or_init(|| entries().collect()).get(&(of, field)).copied()
}

/// Type, field and sentence of every entry.
pub(super) fn entries() -> impl Iterator<Item = ((&'static str, &'static str), &'static str)> {
    let (mut group, mut is_open) = (Vec::new(), false);
    lines(include_str!("tables/descriptions.txt")).flat_map(move |line| {
        // Several types in a row share the sentences that follow them.
        let Some(field) = line.strip_prefix(' ') else {
            if !is_open {
                group.clear();
            }
            is_open = true;
            group.extend(line.split(' '));
            return Vec::new();
        };
        is_open = false;
        let (name, sentence) = field.split_once(' ').unwrap_or((field, ""));
        group.iter().map(|of| ((*of, name), sentence)).collect()
    })
}

impl Definition {
    /// The description of a type.
    pub fn description(&self) -> Option<&'static str> {
        sentence(self.name, WHOLE)
    }

    /// The description of a type's field.
    pub fn describe(&self, field: &Field) -> Option<&'static str> {
        // A field without a sentence of its own is described by its type.
        sentence(self.name, field.name).or_else(|| description(&field.ty))
    }
}

impl Schema {
    /// The description of the field at a path, or of the kind.
    pub fn describe(&self, path: &FieldPath) -> Option<&'static str> {
        if let Some((Segment::Field(name), above)) = path.0.split_last() {
            let holder = self.root().select(&FieldPath(above.to_vec()))?;
            // A list may be passed through without a step for its elements; a map may not.
            let holder = match holder {
                Type::List(item) => &item.ty,
                holder => holder,
            };
            if let Type::Object(definition) = holder {
                return definition.describe(holder.field(name)?);
            }
        }
        description(self.root().select(path)?)
    }
}

fn description(ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Object(definition) => definition.description(),
        _ => None,
    }
}

//! Fixes for scalars that YAML parsers interpret differently.
//!
//! The YAML reader has no field types, so its fix quotes every such scalar. In a boolean or number
//! field, quotes would turn the value that kubectl reads into text, which the server rejects. There
//! the fix writes the value explicitly.

use crate::api::Object;
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic};
use crate::schema::{self, Type};
use crate::source::{SourceId, Span};
use crate::yaml::{Node, Value};
use std::collections::HashMap;

/// Sets the fix of findings about ambiguous scalars to match the type of the field.
pub fn spell_out(found: &mut [Diagnostic], catalog: &Catalog) {
    let mut wanted = found
        .iter_mut()
        .filter(|finding| finding.code == Code::AmbiguousScalar && !finding.fix.is_empty())
        .peekable();
    // Nearly all inputs have none: then no object is sorted or walked.
    if wanted.peek().is_none() {
        return;
    }
    let mut objects: HashMap<SourceId, Vec<&Object>> = HashMap::new();
    for object in catalog.objects() {
        objects.entry(object.span.source).or_default().push(object);
    }
    for in_file in objects.values_mut() {
        in_file.sort_by_key(|object| object.span.start);
    }
    // The scalars of the last object: findings are sorted by place.
    let mut by_key: Option<(Span, Scalars<'_>)> = None;
    for finding in wanted {
        let Some(span) = finding.span() else { continue };
        let Some(in_file) = objects.get(&span.source) else { continue };
        // Objects of a file do not overlap: the last one that begins before the scalar holds it.
        let after = in_file.partition_point(|object| object.span.start <= span.start);
        let Some(object) = after
            .checked_sub(1)
            .map(|index| in_file[index])
            .filter(|object| object.span.contains(span))
        else {
            continue;
        };
        let Some(schema) = schema::kind(&object.api_version, &object.id.kind) else { continue };
        if by_key.as_ref().is_none_or(|(span, _)| *span != object.span) {
            let mut scalars = Scalars::new();
            gather(&object.node, schema.root(), &mut scalars);
            by_key = Some((object.span, scalars));
        }
        let Some((node, ty)) = by_key.as_ref().and_then(|(_, types)| types.get(&span)) else {
            continue;
        };
        if let (Some(text), [edit]) = (spelled(node, ty), finding.fix.as_mut_slice())
            // Another edit than quotes at this place is left alone.
            && edit.span == span
        {
            finding.help = Some(format!("write `{text}`"));
            edit.insert = text;
        }
    }
}

/// Scalars by their places, with their types.
type Scalars<'n> = HashMap<Span, (&'n Node, &'n Type)>;

/// Gathers the scalars of an object whose types are known.
fn gather<'n>(node: &'n Node, ty: &'n Type, found: &mut Scalars<'n>) {
    match &node.value {
        Value::Map(map) => {
            for entry in map {
                let below = match ty {
                    Type::Map(item) => Some(&item.ty),
                    _ => ty.field(&entry.key).map(|field| &field.ty),
                };
                if let Some(below) = below {
                    gather(&entry.node, below, found);
                }
            }
        }
        Value::List(items) => {
            if let Some(item) = ty.item() {
                items.iter().for_each(|node| gather(node, &item.ty, found));
            }
        }
        _ => {
            if let Some(span) = node.origin.span() {
                // An alias has the scalar's place a second time, maybe as another type: the first
                // one stays.
                found.entry(span).or_insert((node, ty));
            }
        }
    }
}

/// Returns the value in a form that every parser reads the same way, if the field is not text.
fn spelled(node: &Node, ty: &Type) -> Option<String> {
    match (ty, &node.value) {
        (Type::Bool, Value::Bool(_))
        | (
            Type::Int(_)
            | Type::Int32(_)
            | Type::Number(_)
            | Type::IntOrString(_)
            | Type::Quantity
            | Type::Loose,
            Value::Int(_) | Value::Big(_) | Value::Float(_),
        ) => node.scalar_text().map(Into::into),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::catalog;
    use super::*;
    use crate::api::Semantics::Documented;

    #[test]
    fn ambiguous_scalars_become_values_or_quoted_text_by_field_type() {
        let text = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: a, annotations: {b: on}}\nspec:\n  disabled: on\n  engineConfig: {minReplicas: 017, runner: {resources: {limits: {cpu: 0o10}}}}\n";
        let catalog = catalog(text, Documented, |_| ());
        let source = SourceId(0);
        for (word, nth, expected) in
            [("on", 1, "true"), ("on", 0, "\"on\""), ("017", 0, "15"), ("0o10", 0, "8")]
        {
            let words: Vec<usize> =
                text.match_indices(&format!(": {word}")).map(|(at, _)| at + 2).collect();
            let start = u32::try_from(words[nth]).unwrap();
            let span = Span { source, start, end: start + u32::try_from(word.len()).unwrap() };
            let mut found = [Diagnostic::new(Code::AmbiguousScalar, "x")
                .at(span)
                .fix(span, format!("\"{word}\""))];
            spell_out(&mut found, &catalog);
            assert_eq!(found[0].fix[0].insert, expected, "{word}");
        }
    }
}

//! Fixes for scalars that YAML parsers interpret differently.
//!
//! The YAML reader has no field types, so its fix quotes every such scalar. In a boolean or number
//! field, quotes would turn the value that kubectl reads into text, which the server rejects. There
//! the fix writes the value explicitly; where the type of the field is unknown, nothing is safe.

use crate::diag::{Code, Diagnostic};
use crate::schema::{self, Type};
use crate::source::{SourceId, SourceMap, Span};
use crate::yaml::{Limits, Node, Part, Value, parse, split};
use std::collections::HashMap;

/// Sets the fix of findings about ambiguous scalars to match the type of the field, and removes it
/// where no type is known.
pub fn spell_out(found: &mut [Diagnostic], sources: &SourceMap) {
    let wanted = found
        .iter_mut()
        .filter(|finding| finding.code == Code::AmbiguousScalar && !finding.fix.is_empty());
    let mut by_source: HashMap<SourceId, Vec<&mut Diagnostic>> = HashMap::new();
    for finding in wanted {
        if let Some(span) = finding.span() {
            by_source.entry(span.source).or_default().push(finding);
        }
    }
    for (id, wanted) in by_source {
        // Read again: a catalog has no copies of an object and no kinds that nothing reads, and both
        // are repaired.
        let text = &*sources.get(id).text;
        let mut places: Vec<u32> =
            wanted.iter().filter_map(|finding| Some(finding.span()?.start)).collect();
        places.sort_unstable();
        let is_wanted = |part: &Part| {
            let first = places.partition_point(|at| (*at as usize) < part.range.start);
            places.get(first).is_some_and(|at| (*at as usize) < part.range.end)
        };
        let documents: Vec<Node> = split(id, text)
            .value
            .into_iter()
            .filter(is_wanted)
            .filter_map(|part| parse(id, text, part, &Limits::default()).value)
            .collect();
        let mut scalars = Scalars::new();
        for document in &documents {
            gather_object(document, &mut scalars);
        }
        for finding in wanted {
            // Keys are text to every server, so quotes are right; they are no values.
            let place = finding.span().and_then(|span| Some((span, scalars.get(&span)?)));
            let Some((span, (node, ty))) = place else { continue };
            let [edit] = finding.fix.as_mut_slice() else { continue };
            // Another edit than quotes at this place is left alone.
            if edit.span != span || matches!(node.value, Value::Str(_)) {
                continue;
            }
            match ty {
                // Quotes change what kubectl sends, and a value what was perhaps meant.
                Some(Type::Any) | None => finding.fix.clear(),
                Some(Type::Str(_)) => finding.help = Some("quote it".to_owned()),
                Some(ty) => {
                    if let Some(text) = spelled(node, ty) {
                        finding.help = Some(format!("write `{text}`"));
                        edit.insert = text;
                    }
                }
            }
        }
    }
}

/// Scalars by their places, with their types where they are known.
type Scalars<'n> = HashMap<Span, (&'n Node, Option<&'static Type>)>;

/// Gathers the scalars of an object, or of the objects of a list.
fn gather_object<'n>(object: &'n Node, found: &mut Scalars<'n>) {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let schema = schema::kind(api_version, kind);
    match object.get("items").map(|items| &items.value) {
        Some(Value::List(items)) if schema.is_none() && kind.ends_with("List") => {
            items.iter().for_each(|item| gather_object(item, found));
        }
        _ => gather(object, schema.map(schema::Schema::root), found),
    }
}

/// Gathers the scalars of a tree.
fn gather<'n>(node: &'n Node, ty: Option<&'static Type>, found: &mut Scalars<'n>) {
    match &node.value {
        Value::Map(map) => {
            for entry in map {
                let below = match ty {
                    Some(Type::Map(item)) => Some(&item.ty),
                    _ => ty.and_then(|ty| ty.field(&entry.key)).map(|field| &field.ty),
                };
                gather(&entry.node, below, found);
            }
        }
        Value::List(items) => {
            let item = ty.and_then(Type::item).map(|item| &item.ty);
            items.iter().for_each(|node| gather(node, item, found));
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
    use super::*;
    use crate::source::{Source, SourceKind};

    /// The repairs of the places of a word, in order.
    fn repairs(text: &str, words: &[(&str, usize)]) -> Vec<Option<String>> {
        let mut sources = SourceMap::new();
        let source = sources.add(Source::new("a.yaml", SourceKind::File, text));
        let repair = |(word, nth): &(&str, usize)| {
            let (at, _) = text.match_indices(&format!(": {word}")).nth(*nth).unwrap();
            let start = u32::try_from(at + 2).unwrap();
            let span = Span { source, start, end: start + u32::try_from(word.len()).unwrap() };
            let mut found = [Diagnostic::new(Code::AmbiguousScalar, "x")
                .at(span)
                .fix(span, format!("\"{word}\""))];
            spell_out(&mut found, &sources);
            found[0].fix.first().map(|edit| edit.insert.clone())
        };
        words.iter().map(repair).collect()
    }

    #[test]
    fn ambiguous_scalars_become_values_or_quoted_text_by_field_type() {
        let text = "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: a, annotations: {b: on}}\nspec:\n  disabled: on\n  engineConfig: {minReplicas: 017, runner: {resources: {limits: {cpu: 0o10}}}}\n";
        let expected = ["true", "\"on\"", "15", "8"].map(|text| Some(text.to_owned()));
        let words = [("on", 1), ("on", 0), ("017", 0), ("0o10", 0)];
        assert_eq!(repairs(text, &words), expected);
        // Copies and items of lists are repaired alike.
        let item = text.replace('\n', "\n  ");
        let list = format!("apiVersion: v1\nkind: List\nitems:\n- {item}\n");
        assert_eq!(repairs(&format!("{text}---\n{text}"), &[("on", 3)]), [Some("true".to_owned())]);
        assert_eq!(repairs(&list, &words), expected);
    }

    #[test]
    fn nothing_is_repaired_where_the_type_is_unknown() {
        let text = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: a}\nspec: {mode: 0777, other: 12e4567}\n";
        // Text stays text in quotes.
        let quoted = Some("\"12e4567\"".to_owned());
        assert_eq!(repairs(text, &[("0777", 0), ("12e4567", 0)]), [None, quoted]);
    }
}

//! Puts imported values into the YAML of a model, and keeps the rest of the file unchanged.
//!
//! In: the text of a file, the tree of the model in it, and the values. Out: replacements, applied
//! and verified. The new text is parsed and must be the old tree with the new values; otherwise
//! nothing is changed.

use crate::diag::{Checked, Code, Diagnostic, Replacement, edited};
use crate::facts::models::{FACTS, Facts};
use crate::quantity::ParamCount;
use crate::source::{SourceId, Span};
use crate::yaml::{self, Entry, FieldPath, Limits, Map, Node, Origin, Value};

/// The replacements that put the values into a file.
#[derive(Clone, Debug)]
pub struct Patched {
    /// The replacements.
    pub edits: Vec<Replacement>,
    /// Fields that were added or changed, below `spec`.
    pub changed: Vec<FieldPath>,
}

/// Keys of a model's spec that by convention follow the imported ones.
const BEHIND: [&str; 4] = ["storage", "servingMode", "modelConfiguration", "additionalMetadata"];

/// Patches the model `model`, which was read from `text`.
///
/// A field with another value is kept, with a finding, unless `overwrite` is set. A file that needs
/// no change is returned unchanged; `None` is returned if the layout cannot be kept.
pub fn patch(
    source: SourceId,
    text: &str,
    model: &Node,
    facts: &Facts,
    overwrite: bool,
    limits: &Limits,
) -> Checked<Option<Patched>> {
    let mut patch = Patch {
        source,
        text,
        edits: Vec::new(),
        changed: Vec::new(),
        found: Vec::new(),
        overwrite,
    };
    let wanted = patch.spec(model, &facts.spec());
    let Patch { edits, changed, mut found, .. } = patch;
    let patched = wanted.and_then(|wanted| {
        let new = edited(text, &edits);
        // Edits of text can go wrong on unusual layouts; only a proved result is returned.
        is_proved(source, text, &new, model, &wanted, limits).then_some(Patched { edits, changed })
    });
    if patched.is_none() {
        found.push(
            Diagnostic::new(
                Code::ImportRefused,
                "the file cannot be patched without other changes than the new values",
            )
            .at(model.origin.span())
            .help("run `ome import` without `--into`, and copy the fields it prints"),
        );
    }
    Checked { value: patched, diagnostics: found }
}

/// Whether the new text is the old one with the values in it, compared as trees.
fn is_proved(
    source: SourceId,
    old: &str,
    new: &str,
    model: &Node,
    wanted: &Node,
    limits: &Limits,
) -> bool {
    let Some(start) = model.origin.span().map(|span| span.start as usize) else { return false };
    let position = |part: &yaml::Part| part.range.contains(&start);
    // The file may have several documents: the model's is found by its place in the old text.
    let (old_parts, new_parts) = (yaml::split(source, old).value, yaml::split(source, new).value);
    let Some(index) =
        old_parts.iter().position(position).filter(|_| old_parts.len() == new_parts.len())
    else {
        return false;
    };
    yaml::parse(source, new, new_parts[index].clone(), limits)
        .value
        .is_some_and(|node| node == *wanted)
}

struct Patch<'a> {
    source: SourceId,
    text: &'a str,
    edits: Vec<Replacement>,
    changed: Vec<FieldPath>,
    found: Vec<Diagnostic>,
    overwrite: bool,
}

impl Patch<'_> {
    /// Plans the changes of a model; returns the changed tree.
    fn spec(&mut self, model: &Node, values: &Map) -> Option<Node> {
        let mut wanted = model.clone();
        let root = model.as_map()?;
        let whole = Node::new(Value::Map(values.clone()), Origin::Derived(&FACTS));
        match root.entry("spec") {
            // An empty spec has no lines whose style could be followed: it is replaced as a whole.
            Some(entry) if !entry.node.is_empty() => {
                let mut spec = entry.node.clone();
                self.fields(entry.node.as_map()?, &entry.node, values, spec.as_map_mut()?)?;
                wanted.as_map_mut()?.insert("spec", spec);
            }
            Some(entry) => {
                self.fill(entry, &whole)?;
                self.changed
                    .extend(values.iter().map(|value| FieldPath::root().field(value.key.clone())));
                wanted.as_map_mut()?.insert("spec", whole);
            }
            None => {
                let entry = Entry {
                    key: "spec".into(),
                    key_origin: Origin::Derived(&FACTS),
                    node: whole.clone(),
                };
                self.insert(root, model, &[entry])?;
                self.changed
                    .extend(values.iter().map(|value| FieldPath::root().field(value.key.clone())));
                wanted.as_map_mut()?.insert("spec", whole);
            }
        }
        Some(wanted)
    }

    fn fields(&mut self, spec: &Map, node: &Node, values: &Map, wanted: &mut Map) -> Option<()> {
        let mut absent = Vec::new();
        for value in values {
            let path = FieldPath::root().field(value.key.clone());
            match spec.entry(&value.key) {
                None => {
                    absent.push(value.clone());
                    self.changed.push(path);
                    wanted.insert(value.key.clone(), value.node.clone());
                }
                Some(entry) if is_unset(&entry.node) => {
                    self.fill(entry, &value.node)?;
                    self.changed.push(path);
                    wanted.insert(value.key.clone(), value.node.clone());
                }
                Some(entry) => {
                    self.compare(&entry.node, &value.node, &path, wanted.get_mut(&value.key)?);
                }
            }
        }
        // All at once, so that they stand together and in the order of the facts.
        if absent.is_empty() { Some(()) } else { self.insert(spec, node, &absent) }
    }

    /// Compares existing values with imported ones. Parts that the file does not set are not added.
    fn compare(&mut self, written: &Node, value: &Node, path: &FieldPath, wanted: &mut Node) {
        if let (Value::Map(inner), Some(map)) = (&value.value, written.as_map()) {
            for entry in inner {
                if let (Some(written), Some(wanted)) = (
                    map.get(&entry.key),
                    wanted.as_map_mut().and_then(|map| map.get_mut(&entry.key)),
                ) {
                    self.compare(written, &entry.node, &path.field(entry.key.clone()), wanted);
                }
            }
            return;
        }
        if written == value || is_same_size(path, written, value) {
            return;
        }
        let (Some(span), Some(new)) = (written.origin.span(), value.scalar_text()) else { return };
        // Replacing a whole block could remove comments inside it.
        if self.overwrite && written.as_map().is_none() && written.items().is_empty() {
            self.edits.push(Replacement { span, insert: flow(value) });
            self.changed.push(path.clone());
            *wanted = value.clone();
            return;
        }
        let old = written
            .scalar_text()
            .map_or_else(|| written.kind_name().to_owned(), |text| format!("`{text}`"));
        self.found.push(
            Diagnostic::new(
                Code::ImportConflict,
                format!("`spec.{path}` is {old}, the config makes `{new}`"),
            )
            .at(span)
            .path(format!("spec.{path}"))
            .help("it is kept; `--overwrite` replaces it"),
        );
    }

    /// Sets the value of a key without a value, on the line of the key.
    fn fill(&mut self, entry: &Entry, value: &Node) -> Option<()> {
        let key = entry.key_origin.span()?;
        // A quoted key ends before its colon, and spaces may be between them.
        let colon = key.end as usize + self.text.get(key.end as usize..)?.find(':')?;
        // `null`, `~`, `{}` or `""` is replaced; a missing value has no text to replace.
        let written = entry
            .node
            .origin
            .span()
            .filter(|span| span.start as usize > colon && !self.slice(*span).trim().is_empty());
        let edit = match written {
            Some(span) => Replacement { span, insert: flow(value) },
            None => Replacement { span: self.at(colon + 1), insert: format!(" {}", flow(value)) },
        };
        self.edits.push(edit);
        Some(())
    }

    /// Adds entries to a mapping, in the style of the mapping.
    fn insert(&mut self, map: &Map, node: &Node, entries: &[Entry]) -> Option<()> {
        let span = node.origin.span()?;
        let last = map.iter().last();
        if self.slice(span).starts_with('{') {
            return self.insert_flow(last, span, entries);
        }
        let first = map.iter().next()?;
        let (_, indent) = self.line_of(first.key_origin.span()?)?;
        // New lines end as the lines of the file do.
        let ending = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let block = block(entries, &indent, ending);
        if let Some(behind) = map.iter().find(|entry| {
            BEHIND.contains(&entry.key.as_str()) && !std::ptr::eq(*entry, first)
                || entry.key == "storage"
        }) {
            let (line, _) = self.line_of(behind.key_origin.span()?)?;
            let at = self.before_comments(line, &indent);
            self.edits.push(Replacement { span: self.at(at), insert: block });
            return Some(());
        }
        let end = self.end_of(&last?.node, last?.key_origin.span()?)?;
        // After the rest of the line, which may be a comment to the value.
        let (at, lead) = match self.text[end..].find('\n') {
            Some(feed) => (end + feed + 1, ""),
            None => (self.text.len(), ending),
        };
        let block = if lead.is_empty() { block } else { block.trim_end().to_owned() };
        self.edits.push(Replacement { span: self.at(at), insert: format!("{lead}{block}") });
        Some(())
    }

    fn insert_flow(&mut self, last: Option<&Entry>, span: Span, entries: &[Entry]) -> Option<()> {
        let members: Vec<String> = entries
            .iter()
            .map(|entry| format!("{}: {}", json(&entry.key), flow(&entry.node)))
            .collect();
        let Some(last) = last else {
            self.edits.push(Replacement { span, insert: format!("{{{}}}", members.join(", ")) });
            return Some(());
        };
        // Behind the last member: a trailing comma or comment stays where it is.
        let end = last.node.origin.span()?.end as usize;
        let separator = match self.line_of(last.key_origin.span()?) {
            Some((_, indent)) => format!(",\n{indent}"),
            None => ", ".to_owned(),
        };
        let insert = members.iter().fold(String::new(), |out, member| out + &separator + member);
        self.edits.push(Replacement { span: self.at(end), insert });
        Some(())
    }

    /// Start and indentation of the line of a key, if the key is the first text on the line.
    fn line_of(&self, key: Span) -> Option<(usize, String)> {
        let before = self.text.get(..key.start as usize)?;
        let line = before.rfind('\n').map_or(0, |feed| feed + 1);
        let indent = &before[line..];
        indent.chars().all(|c| c == ' ').then(|| (line, indent.to_owned()))
    }

    /// Start of the comments with the same indentation directly above a line: they belong to it.
    fn before_comments(&self, mut line: usize, indent: &str) -> usize {
        while line > 0 {
            let above = self.text[..line - 1].rfind('\n').map_or(0, |feed| feed + 1);
            let is_comment = self.text[above..line]
                .strip_prefix(indent)
                .is_some_and(|rest| rest.starts_with('#'));
            if !is_comment {
                break;
            }
            line = above;
        }
        line
    }

    /// End of the text of a value, without trailing white space.
    fn end_of(&self, node: &Node, key: Span) -> Option<usize> {
        let inner = match &node.value {
            Value::Map(map) => {
                map.iter().last().map(|entry| (&entry.node, entry.key_origin.span().unwrap_or(key)))
            }
            Value::List(items) => items.last().map(|item| (item, key)),
            _ => None,
        };
        let span = node.origin.span().unwrap_or(key);
        let is_flow = self.slice(span).starts_with(['{', '[']);
        match inner {
            // The last value inside ends a block; the span of a flow ends with its bracket.
            Some((inner, key)) if !is_flow => self.end_of(inner, key),
            _ => {
                let end = (span.end.max(key.end) as usize).min(self.text.len());
                Some(self.text.get(..end)?.trim_end().len())
            }
        }
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn at(&self, offset: usize) -> Span {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        Span { source: self.source, start: offset, end: offset }
    }
}

/// Whether a value is unset: null, empty, or a format without a name, which upstream's model agent
/// fills in too.
fn is_unset(node: &Node) -> bool {
    node.is_empty()
        || node.as_str() == Some("")
        || node
            .as_map()
            .is_some_and(|map| map.get("name").is_some_and(|name| name.as_str() == Some("")))
}

/// Rounded sizes are equal if they differ by at most a tenth.
fn is_same_size(path: &FieldPath, written: &Node, value: &Node) -> bool {
    let size = |node: &Node| node.as_str().and_then(|text| ParamCount::parse(text).ok());
    path.to_string() == "modelParameterSize"
        && size(written)
            .zip(size(value))
            .is_some_and(|(written, value)| written.0.abs_diff(value.0) <= value.0 / 10)
}

/// A value on one line as JSON, which is valid YAML.
fn flow(node: &Node) -> String {
    node.to_json().to_string()
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Entries as lines of a block mapping.
fn block(entries: &[Entry], indent: &str, ending: &str) -> String {
    let map: Map = entries.iter().cloned().collect();
    let mut text = String::new();
    yaml::write(&mut text, &Node::new(Value::Map(map), Origin::Derived(&FACTS)));
    text.lines().fold(String::new(), |out, line| out + indent + line + ending)
}

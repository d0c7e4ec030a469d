//! The errors of a tree by its schema: unknown fields, wrong types, absent fields, values out of
//! range.
//!
//! Messages use the API server's words; each names the field in the user's spelling, the value and
//! the accepted ones. A null counts as absent if the server drops it: in fields and maps, not in
//! lists ([`Schema::drop_nulls`]).

mod scalars;

use crate::diag::{Code, Diagnostic, Severity};
use crate::quantity::{Quantity, Range};
use crate::schema::hint;
use crate::schema::newer::{self, Newer};
use crate::schema::older::{self, Older};
use crate::schema::types::{Definition, Field, Item, Object, Schema, Type};
use crate::source::{SourceMap, Span};
use crate::yaml::{Entry, FieldPath, Node, Segment, Value};
use scalars::{is_base64, is_time};

/// The mode: documents or controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The documents: the shipped schemas with the changes of the overlay.
    Documented,
    /// The API server with the shipped CRDs.
    Server,
}

impl Strictness {
    /// The fields of an object type.
    pub(super) fn fields(self, definition: &'static Definition) -> &'static Object {
        match self {
            Self::Documented => definition.documented(),
            Self::Server => definition.server(),
        }
    }
}

impl Schema {
    /// Adds a finding for everything in the object that the schema does not allow. The texts are
    /// those the object was read from: messages quote a value as it is written there.
    pub fn check(
        &self,
        object: &Node,
        strictness: Strictness,
        sources: &SourceMap,
        findings: &mut Vec<Diagnostic>,
    ) {
        self.root().check(object, strictness, sources, findings);
    }
}

impl Type {
    /// Adds a finding for everything in the tree that the type does not allow; paths begin at the
    /// tree.
    pub fn check(
        &'static self,
        tree: &Node,
        strictness: Strictness,
        sources: &SourceMap,
        findings: &mut Vec<Diagnostic>,
    ) {
        let leaves_out_built_in_lists = false;
        Check { strictness, sources, findings, built_in: false, leaves_out_built_in_lists }.value(
            tree,
            self,
            &Place::ROOT,
        );
    }

    /// The same for a server, but for repeated elements in lists of built-in kinds: which of them
    /// it refuses depends on more than the type, and `objects::accept` judges them.
    pub fn check_fields(
        &'static self,
        tree: &Node,
        sources: &SourceMap,
        findings: &mut Vec<Diagnostic>,
    ) {
        self.check_fields_at(&[], tree, sources, findings);
    }

    /// The same for a part of an object, at its path.
    pub fn check_fields_at(
        &'static self,
        path: &[Segment],
        tree: &Node,
        sources: &SourceMap,
        findings: &mut Vec<Diagnostic>,
    ) {
        fn descend(place: &Place<'_>, path: &[Segment], then: &mut dyn FnMut(&Place<'_>)) {
            let below = |step| Place { above: Some(place), step, key: None };
            match path.split_first() {
                // A path to one place has no choice of elements.
                None | Some((Segment::Keyed(..) | Segment::All, _)) => then(place),
                Some((Segment::Field(name), rest)) => descend(&below(Step::Key(name)), rest, then),
                Some((Segment::Index(at), rest)) => descend(&below(Step::Index(*at)), rest, then),
            }
        }
        let (strictness, leaves_out_built_in_lists) = (Strictness::Server, true);
        let mut check =
            Check { strictness, sources, findings, built_in: false, leaves_out_built_in_lists };
        descend(&Place::ROOT, path, &mut |place| check.value(tree, self, place));
    }
}

/// Where a value is, as a chain up to the root; becomes a path when something is found.
struct Place<'a> {
    above: Option<&'a Place<'a>>,
    step: Step<'a>,
    /// Where its key is written.
    key: Option<Span>,
}

enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl Place<'_> {
    const ROOT: Place<'static> = Place { above: None, step: Step::Root, key: None };

    fn path(&self) -> String {
        let mut segments = Vec::new();
        let mut place = Some(self);
        while let Some(here) = place {
            match here.step {
                Step::Root => {}
                Step::Key(name) => segments.push(Segment::Field(name.into())),
                Step::Index(index) => segments.push(Segment::Index(index)),
            }
            place = here.above;
        }
        segments.reverse();
        FieldPath(segments).to_string()
    }

    /// Whether the place is a field of the root, or below it.
    fn is_in(&self, field: &str) -> bool {
        match self.above {
            Some(Place { step: Step::Root, .. }) => {
                matches!(self.step, Step::Key(key) if key == field)
            }
            Some(above) => above.is_in(field),
            None => false,
        }
    }

    fn key<'a>(&'a self, entry: &'a Entry) -> Place<'a> {
        Place { above: Some(self), step: Step::Key(&entry.key), key: entry.key_origin.span() }
    }
}

struct Check<'f> {
    strictness: Strictness,
    /// Whether the value belongs to a Go struct of Kubernetes, and not to a schema of a
    /// CustomResourceDefinition.
    built_in: bool,
    /// Whether repeated elements in lists of such structs are reported elsewhere.
    leaves_out_built_in_lists: bool,
    sources: &'f SourceMap,
    findings: &'f mut Vec<Diagnostic>,
}

impl Check<'_> {
    /// A finding about a value.
    fn report(
        &mut self,
        code: Code,
        node: &Node,
        place: &Place<'_>,
        message_of: impl FnOnce(&str) -> String,
    ) -> &mut Diagnostic {
        let path = place.path();
        let finding = Diagnostic::new(code, message_of(&path))
            .at(node.origin.span().or(place.key))
            .path(path);
        self.findings.push(finding);
        self.findings.last_mut().expect("it was just added")
    }

    fn value(&mut self, node: &Node, ty: &'static Type, place: &Place<'_>) {
        match (ty, &node.value) {
            // In a schema an amount is an integer or a text; for a Go struct any number is one.
            (Type::Quantity, Value::Float(number))
                if self.strictness == Strictness::Server
                    && !self.built_in
                    && number.fract() != 0.0 =>
            {
                self.mistyped(node, ty, place);
            }
            (Type::Any, _)
            | (Type::Bool, Value::Bool(_))
            | (Type::Quantity, Value::Int(_) | Value::Big(_) | Value::Float(_))
            | (Type::IntOrString(_), Value::Str(_))
            | (Type::Loose, Value::Str(_) | Value::Int(_) | Value::Big(_) | Value::Float(_)) => {}
            (Type::Object(definition), Value::Map(_)) => self.object(node, definition, place),
            (Type::Map(item), Value::Map(map)) => {
                self.length(node, map.len(), &item.rules, ("entry", "entries"), place);
                for entry in map {
                    // A null in a map is dropped, like one in a field.
                    if !entry.node.is_null() {
                        self.value(&entry.node, &item.ty, &place.key(entry));
                    }
                    // A map of amounts is a list of resources.
                    if matches!(item.ty, Type::Quantity) {
                        let range = Range::of_resource(&entry.key);
                        self.amount(&entry.node, range, &place.key(entry));
                    }
                }
            }
            (Type::List(item), Value::List(_)) => self.list(node, item, place),
            (Type::Str(rules), Value::Str(text)) => {
                if let Some(rules) = rules {
                    self.text(node, text, rules, place);
                }
            }
            (
                Type::Int(rules) | Type::Int32(rules) | Type::IntOrString(rules),
                Value::Int(number),
            ) => {
                let has_32_bits = match ty {
                    // The Go type holds 32 bits; a schema has no such bound.
                    Type::IntOrString(_) => self.built_in,
                    _ => matches!(ty, Type::Int32(_)),
                };
                let range = if has_32_bits {
                    (i32::MIN.into(), i32::MAX.into())
                } else {
                    (i64::MIN, i64::MAX)
                };
                self.integer(node, *number, range, rules.as_deref(), place);
            }
            (Type::Int(_) | Type::Int32(_), Value::Big(number)) => {
                self.report(Code::InvalidValue, node, place, |path| {
                    format!("`{path}` must be at most {}, not {number}", i64::MAX)
                });
            }
            // JSON has one kind of number: 3.0 is an integer.
            (Type::Int(_) | Type::Int32(_) | Type::IntOrString(_), Value::Float(number))
                if number.fract() == 0.0 && node.as_int().is_some() =>
            {
                self.value(
                    &Node::new(Value::Int(node.as_int().unwrap_or_default()), node.origin),
                    ty,
                    place,
                );
            }
            // So is 99999999999999999999, although no integer type holds it.
            (Type::Int(_) | Type::Int32(_), Value::Float(number)) if number.fract() == 0.0 => {
                let text = self.written(node).unwrap_or_default();
                let bound = if *number < 0.0 { "least" } else { "most" };
                // The least number of two's complement is one further from 0 than the greatest.
                let most = if matches!(ty, Type::Int(_)) { i64::MAX } else { i32::MAX.into() };
                let limit = if *number < 0.0 { -most - 1 } else { most };
                self.report(Code::InvalidValue, node, place, |path| {
                    format!("`{path}` must be at {bound} {limit}, not {text}")
                });
            }
            (Type::Number(rules), Value::Int(_) | Value::Big(_) | Value::Float(_)) => {
                self.number(node, rules.as_deref(), place);
            }
            (Type::Quantity, Value::Str(text)) => self.quantity(node, text, place),
            (Type::Time, Value::Str(text)) => {
                if !is_time(text) {
                    self.report(Code::InvalidValue, node, place, |path| {
                        format!("`{path}`: `{text}` is not a time of RFC 3339")
                    })
                    .help
                    .replace("write a time such as `2026-01-31T12:00:00Z`".into());
                }
            }
            (Type::Bytes, Value::Str(text)) => {
                if !is_base64(text) {
                    // In a repository the value of a Secret is often a stand-in.
                    let stands_in = matches!(self.strictness, Strictness::Documented);
                    let finding = self.report(Code::InvalidValue, node, place, |path| {
                        format!("`{path}` is not base64")
                    });
                    if stands_in {
                        finding.severity = Severity::Warning;
                    }
                }
            }
            _ => self.mistyped(node, ty, place),
        }
    }

    fn object(&mut self, node: &Node, definition: &'static Definition, place: &Place<'_>) {
        let object = self.strictness.fields(definition);
        // A CRD may embed a struct of Kubernetes, such as a PodSpec, and is read on after it.
        let outside = std::mem::replace(&mut self.built_in, definition.is_built_in());
        self.fields(node, object, definition, place);
        self.built_in = outside;
    }

    fn fields(
        &mut self,
        node: &Node,
        object: &'static Object,
        definition: &'static Definition,
        place: &Place<'_>,
    ) {
        let Value::Map(map) = &node.value else { return };
        let mut present = 0;
        for entry in map {
            match object.fields.iter().find(|field| field.name == entry.key) {
                // Elsewhere a null is no value: the server drops it.
                Some(field) if entry.node.is_null() => {
                    present += usize::from(field.nullable && field.needed());
                }
                Some(field) => {
                    present += usize::from(field.needed());
                    self.value(&entry.node, &field.ty, &place.key(entry));
                    self.range(entry, node, field, place);
                }
                None if object.open => {}
                None => {
                    let newer = newer::field(definition.name, &entry.key);
                    let older = older::field(definition.name, &entry.key);
                    match (newer, older) {
                        (Some(newer), _) => self.newer(entry, newer, place),
                        (None, Some(older)) => self.older(entry, older, place),
                        (None, None) => self.unknown(entry, node, object, place),
                    }
                }
            }
        }
        // A Go struct of Kubernetes has the zero value for an absent field; the server checks
        // required ones later.
        let zero = self.strictness == Strictness::Server && definition.is_built_in();
        if present < object.needed && !zero {
            let holds = |name: &str, nullable: bool| {
                map.get(name).is_some_and(|node| nullable || !node.is_null())
            };
            let missing = |field: &&Field| {
                field.needed()
                    && !holds(field.name, field.nullable)
                    && field.or.is_none_or(|other| !holds(other, false))
                    && !older::names(definition.name, field.name).any(|name| holds(name, false))
            };
            // Of a status no server requires anything: it is what controllers have written so far.
            if !place.is_in("status") {
                for field in object.fields.iter().filter(missing) {
                    self.absent(node, field, place);
                }
            }
        }
    }

    /// A number of something that is counted, outside the range of such numbers.
    fn range(&mut self, entry: &Entry, parent: &Node, field: &Field, place: &Place<'_>) {
        match &field.ty {
            Type::Quantity => {
                // `{name: nvidia.com/gpu, quantity: 1}` of an AcceleratorClass.
                let resource = parent.get("name").filter(|_| field.name == "quantity");
                let range =
                    resource.and_then(Node::as_str).map_or(Range::AMOUNT, Range::of_resource);
                self.amount(&entry.node, range, &place.key(entry));
            }
            Type::Int(None) | Type::Int32(None) if COUNTS.contains(&field.name) => {
                let Some(number) = entry.node.as_int() else { return };
                // A number outside of 32 bits is not a value of such a field.
                let reported = matches!(field.ty, Type::Int32(_)) && number > i32::MAX.into();
                if !Range::COUNT.holds(number) && !reported {
                    self.outside(Code::InvalidValue, &entry.node, Range::COUNT, &place.key(entry));
                }
            }
            _ => {}
        }
    }

    /// An amount outside its range. An invalid quantity has its finding already.
    fn amount(&mut self, node: &Node, range: Range, place: &Place<'_>) {
        let text = node.scalar_text().unwrap_or_default();
        if Quantity::parse_field(&text).is_ok_and(|amount| !range.holds_amount(&amount)) {
            self.outside(Code::InvalidQuantity, node, range, place);
        }
    }

    /// A number that is counted nowhere. The schemas of the server have no such bound: it stores
    /// the value, and what comes of it is for others to refuse.
    fn outside(&mut self, code: Code, node: &Node, range: Range, place: &Place<'_>) {
        let text = self
            .written(node)
            .or_else(|| node.scalar_text().map(|text| text.chars().take(20).chain(['…']).collect()))
            .unwrap_or_default();
        let finding = self.report(code, node, place, |path| {
            format!("`{path}` must be {range}, not `{text}`: it is not counted")
        });
        finding.help = Some(format!("write {range}"));
        if self.strictness == Strictness::Server {
            self.findings.last_mut().expect("it was just added").severity = Severity::Warning;
        }
    }

    fn newer(&mut self, entry: &Entry, newer: Newer, place: &Place<'_>) {
        let path = place.key(entry).path();
        let Newer { project, since, .. } = newer;
        let place = entry.key_origin.span().or_else(|| entry.node.origin.span());
        let finding = if newer.is_experimental() {
            // Which CRDs a cluster has is in none of its objects.
            Diagnostic::new(
                Code::NewerThanKnown,
                format!("`{path}` is a field of the experimental channel of {project}"),
            )
            .severity(Severity::Info)
            .help("nothing here reads it; a cluster with the standard channel refuses it")
        } else {
            Diagnostic::new(
                Code::NewerThanKnown,
                format!("`{path}` is a field of {project} {since} and later"),
            )
            .help("nothing here reads it; an older release drops or refuses it")
        };
        self.findings.push(finding.at(place).path(path));
    }

    fn older(&mut self, entry: &Entry, older: Older, place: &Place<'_>) {
        let path = place.key(entry).path();
        let Older { project, until, now, field, .. } = older;
        let message = format!("`{path}` is a field of {project} up to {until}");
        let (message, help) = match now {
            Some(now) => (
                format!("{message}, `{now}` since then"),
                format!("write `{now}` instead of `{field}` for a later release"),
            ),
            None => (message, "delete it: a later release drops or refuses it".to_owned()),
        };
        let mut finding = Diagnostic::new(Code::RemovedField, message)
            .severity(Severity::Warning)
            .at(entry.key_origin.span().or_else(|| entry.node.origin.span()))
            .path(path)
            .help(help);
        if let Some((span, now)) = entry.key_origin.span().zip(now) {
            finding = finding.fix(span, now);
        }
        self.findings.push(finding);
    }

    fn unknown(
        &mut self,
        entry: &Entry,
        parent: &Node,
        object: &'static Object,
        place: &Place<'_>,
    ) {
        let path = place.key(entry).path();
        let help = hint::unknown_field(&entry.key, parent, object);
        let span = entry.key_origin.span().or_else(|| entry.node.origin.span());
        let mut finding = Diagnostic::new(Code::UnknownField, format!("unknown field `{path}`"))
            .at(span)
            .path(path)
            .maybe_help(help);
        if let (Some(span), Some(meant)) =
            (entry.key_origin.span(), hint::slip(&entry.key, parent, object))
        {
            let mut faults = Vec::new();
            meant.ty.check(&entry.node, self.strictness, self.sources, &mut faults);
            // A rename is offered only where the value is right under the new name.
            if faults.is_empty() {
                finding = finding.fix(span, meant.name);
            }
        }
        self.findings.push(finding);
    }

    fn absent(&mut self, parent: &Node, field: &Field, place: &Place<'_>) {
        let path = place.path();
        let dot = if path.is_empty() { "" } else { "." };
        // A null is no value. Where the parent has no key of its own, its first key shows which one
        // is meant.
        let null = parent.as_map().and_then(|map| map.get(field.name)?.origin.span());
        let first = parent.entries().next().and_then(|entry| entry.key_origin.span());
        let span = null.or(place.key).or(first).or_else(|| parent.origin.span());
        let path = format!("{path}{dot}{}", field.name);
        self.findings.push(
            Diagnostic::new(Code::RequiredField, format!("`{path}` is required"))
                .at(span)
                .path(path)
                .help(hint::absent_field(field)),
        );
    }

    fn list(&mut self, node: &Node, item: &'static Item, place: &Place<'_>) {
        let items = node.items();
        self.length(node, items.len(), &item.rules, ("element", "elements"), place);
        for (index, element) in items.iter().enumerate() {
            let place = Place { above: Some(place), step: Step::Index(index), key: None };
            let before = self.findings.len();
            self.value(element, &item.ty, &place);
            // Go reads a null as nothing at all: an empty text, an empty struct.
            if let Some(finding) = self.findings.get_mut(before)
                && self.built_in
                && element.is_null()
            {
                finding.severity = Severity::Warning;
                finding.help.get_or_insert_with(|| {
                    "a server reads it as an empty value: write one, or delete the line".into()
                });
            }
        }
        let is_left_out = self.leaves_out_built_in_lists && self.built_in;
        if !is_left_out && (item.rules.set || !item.rules.keys.is_empty()) {
            self.duplicates(items, item, place);
        }
    }

    /// Elements that one key identifies twice. Keys that an element lacks have their default.
    fn duplicates(&mut self, items: &[Node], item: &Item, place: &Place<'_>) {
        let identity = |element: &Node| -> Option<Vec<Value>> {
            if item.rules.set {
                return Some(vec![element.value.clone()]);
            }
            let keys = item.rules.keys.iter().map(|key| match element.get(key) {
                Some(found) => Some(found.value.clone()),
                None => match item.ty.field(key)?.default? {
                    text if text.starts_with('"') => {
                        Some(Value::Str(text.trim_matches('"').into()))
                    }
                    text => text.parse().ok().map(Value::Int),
                },
            });
            keys.collect()
        };
        let mut seen: Vec<Vec<Value>> = Vec::with_capacity(items.len());
        // Comparing each with each would take quadratic time on long lists.
        let mut table = std::collections::HashMap::new();
        for (index, element) in items.iter().enumerate() {
            let Some(identity) = identity(element) else { continue };
            let text = format!("{identity:?}");
            // The place of the first one stays, for a third and a fourth.
            let first = *table.entry(text).or_insert(seen.len());
            if first == seen.len() {
                seen.push(identity);
                continue;
            }
            let message = if item.rules.set {
                format!("`{}`", element.scalar_text().unwrap_or_default())
            } else {
                let pairs = item.rules.keys.iter().zip(&seen[first]).map(|(key, value)| {
                    format!("{key}: {}", Node::new(value.clone(), element.origin).to_json())
                });
                format!("`{}`", pairs.collect::<Vec<_>>().join(", "))
            };
            // The key of the repeated element is what has to change.
            let shown = item.rules.keys.iter().find_map(|key| element.get(key)).unwrap_or(element);
            let here = Place { above: Some(place), step: Step::Index(index), key: None };
            let list = place.path();
            // Those of containers: a Service cannot have a port twice.
            let is_port = item.rules.keys.contains(&"containerPort");
            let is_warning = self.built_in && (is_port || matches!(place.step, Step::Key("env")));
            let finding = self.report(Code::InvalidValue, shown, &here, |_| {
                format!("`{list}` has {message} twice")
            });
            finding.help = Some("delete one of the two, or give it another key".into());
            // Of variables the last one counts, and ports of containers only inform: the server of a
            // kind of Kubernetes warns (pkg/api/pod/warnings.go).
            if is_warning {
                finding.severity = Severity::Warning;
            }
        }
    }
}

/// Fields that count pods: the schemas give them no bounds, some of them 64 bits, and the
/// controllers pass them on as 32.
const COUNTS: [&str; 3] = ["minReplicas", "maxReplicas", "size"];

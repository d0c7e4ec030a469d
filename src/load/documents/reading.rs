//! One text as documents: split, parsed, and sorted by kind.
//!
//! In: a source and how it was named. Out: its objects, and a finding for whatever is none.

use super::long_list;
use crate::api::Template;
use crate::diag::{Checked, Code, Diagnostic, Severity, nearest, quoted};
use crate::load::documents::Document;
use crate::load::embedded;
use crate::load::encrypted;
use crate::load::files;
use crate::load::find::{Input, is_expectation};
use crate::load::fragments;
use crate::load::helm::{self, Charts};
use crate::load::kinds::{self, Whose};
use crate::load::kustomize;
use crate::load::listed::NAMES;
use crate::load::openshift;
use crate::load::placeholders::{self, Placeholder};
use crate::load::verbatim::{self, Item};
use crate::load::ytt;
use crate::source::long_list::{LongList, items};
use crate::source::{Source, SourceId, SourceKind, Span};
use crate::yaml::{Limits, Node, Origin, Part, parse, split};
use ecow::EcoString;
use rayon::prelude::*;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The result of one text.
#[derive(Clone, Default)]
pub(in crate::load) struct Outcome {
    pub(super) documents: Vec<Document>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// It is a Helm template, and the rest means nothing.
    pub(super) helm: bool,
}

/// From this size on, the documents of one text are parsed in parallel.
pub(super) const LARGE: usize = 64 << 10;

/// One text on its way into documents.
pub(super) struct Reading<'a> {
    pub(super) id: SourceId,
    pub(super) source: &'a Source,
    /// The input file; `None` for built-in texts.
    pub(super) input: Option<&'a Input>,
    pub(super) limits: &'a Limits,
    charts: &'a Charts<'a>,
    pub(super) outcome: Outcome,
    /// Documents that are no objects.
    pub(super) plain: Vec<Span>,
    /// Objects of unknown groups, and of kinds that are not read.
    pub(super) foreign: Vec<(Span, String)>,
    pub(super) elsewhere: Vec<(Span, String)>,
    /// The text has signs of placeholders.
    may_hold: bool,
    /// The text has the word that patches have.
    has_patches: bool,
    /// Services that are YAML only without their placeholders.
    guessed: Vec<Span>,
    /// Lines of objects that stand for others.
    lines: Vec<Range<usize>>,
    /// It holds a Template of OpenShift.
    is_template: bool,
}

/// The items of one List among the documents.
struct Items {
    /// Their places among the documents.
    range: Range<usize>,
    /// `apiVersion` and kind that they may leave out.
    typed: Option<(EcoString, EcoString)>,
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Whether a file that was found in a directory belongs to a chart.
fn is_of_chart(found_at: Option<&Path>, charts: &Charts<'_>, text: &str) -> bool {
    found_at.is_some_and(|path| charts.hold(path, text) || helm::is_template(text))
}

/// The release since which no release serves a version of a kind that earlier ones served (Kueue,
/// CHANGELOG-0.2.md and CHANGELOG-0.3.md).
fn not_served_since(api_version: &str) -> Option<&'static str> {
    match api_version {
        "kueue.x-k8s.io/v1alpha1" => Some("Kueue v0.2.0"),
        "kueue.x-k8s.io/v1alpha2" => Some("Kueue v0.3.0"),
        _ => None,
    }
}

/// Whether nothing is read of a file that was found in a directory.
pub(super) fn is_left_out(found_at: Option<&Path>, charts: &Charts<'_>, text: &str) -> bool {
    found_at.is_some_and(is_expectation) || is_of_chart(found_at, charts, text)
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        id: SourceId,
        source: &'a Source,
        input: Option<&'a Input>,
        limits: &'a Limits,
        charts: &'a Charts<'a>,
    ) -> Self {
        Self {
            id,
            source,
            input,
            limits,
            charts,
            outcome: Outcome::default(),
            plain: Vec::new(),
            foreign: Vec::new(),
            elsewhere: Vec::new(),
            may_hold: false,
            has_patches: false,
            guessed: Vec::new(),
            lines: Vec::new(),
            is_template: false,
        }
    }

    /// Reads the text; of documents whose `spec` begins at a place in `skimmed`, what is before it.
    pub(super) fn read(mut self, skimmed: Option<&HashSet<usize>>) -> Outcome {
        let text = &*self.source.text;
        let found_at =
            self.input.filter(|input| !input.named).and_then(|input| input.path.as_deref());
        // An expectation file has no manifests, and is stored beside them.
        if found_at.is_some_and(is_expectation) {
            return Outcome::default();
        }
        if is_of_chart(found_at, self.charts, text) {
            return Outcome { helm: true, ..Outcome::default() };
        }
        let (mut parts, lists) = self.parts(text);
        for part in parts.iter_mut().filter(|_| skimmed.is_some()) {
            let inner = skimmed.and_then(|all| all.iter().find(|at| part.range.contains(at)));
            part.range.end = inner.copied().unwrap_or(part.range.end);
        }
        let list_of = |index: usize| lists.iter().find(|list| list.range.contains(&index));
        // Values of ytt are read from the covered text.
        let is_code = self.input.is_some() && ytt::is_in(text);
        let parse = |(index, part): (usize, Part)| {
            if !is_code && part.is_plain(self.limits) {
                let (start, end) = (offset(part.range.start), offset(part.range.end));
                let span = Span { source: self.id, start, end };
                return Checked::clean(Some(Node::map(Origin::File(span))));
            }
            let is_json = part.json;
            let mut parsed = parse(self.id, text, part, self.limits);
            // In JSON the parser has skipped these fields already; an item in YAML is trimmed as a
            // tree.
            let is_item = !is_json && list_of(index).is_some();
            if let Some(item) = parsed.value.as_mut().filter(|_| is_item) {
                long_list::trim(item);
            }
            parsed
        };
        // Threads cost more than a small text.
        let mut parsed: Vec<_> = if text.len() < LARGE {
            parts.iter().cloned().enumerate().map(parse).collect()
        } else {
            parts.clone().into_par_iter().enumerate().map(parse).collect()
        };
        self.covered(&parts, &mut parsed, is_code);
        self.may_hold =
            placeholders::may_hold(text) || placeholders::is_template_file(&self.source.name);
        self.has_patches = self.input.is_some() && text.contains("$patch");
        let (mut broken, mut limited) = (false, false);
        for (index, document) in parsed.into_iter().enumerate() {
            // Other findings, such as a duplicate key, leave a tree that can be read.
            broken |= document.diagnostics.iter().any(|finding| {
                finding.code == Code::YamlSyntax && finding.severity == Severity::Error
            });
            limited |= document.diagnostics.iter().any(|finding| is_limit(finding.code));
            let found = document.diagnostics;
            match document.value {
                Some(node) if list_of(index).is_some() => {
                    self.outcome.diagnostics.extend(found);
                    let typed = list_of(index).and_then(|list| list.typed.clone());
                    // In YAML the item is a list of one.
                    let inner: Vec<Node> = match node.items() {
                        [] => vec![node],
                        items => items.to_vec(),
                    };
                    for node in inner {
                        self.objects(verbatim::items_of(node, typed.clone()), false);
                    }
                }
                Some(node) => {
                    // A document that is not an object has no findings, such as `on:` of a
                    // workflow.
                    if !verbatim::items(node.clone()).all(|item| item.is_plain()) {
                        self.outcome.diagnostics.extend(of_strangers(found, &node));
                    }
                    self.document(node, false);
                }
                None => self.outcome.diagnostics.extend(found),
            }
        }
        // The checks go from the surest to the vaguest, and each of them ends the reading.
        if broken && found_at.is_some() && fragments::is_template(text) {
            return self.template();
        }
        if broken && text.contains("{{") && helm::has_actions(text) {
            if found_at.is_some() {
                return Outcome { helm: true, ..Outcome::default() };
            }
            for finding in self
                .outcome
                .diagnostics
                .iter_mut()
                .filter(|finding| finding.code == Code::YamlSyntax)
            {
                finding.help = Some("the file is a Helm template: render the chart first with `helm template`, and read its output with `-f -`".to_owned());
            }
        }
        // Data of a program has as many values as it likes.
        if (broken || limited) && found_at.is_some() && !fragments::names_object(text) {
            return self.no_manifest();
        }
        self.count(broken);
        self.lines();
        self.placeholders();
        if !self.source.reported {
            self.outcome.diagnostics.clear();
        }
        self.outcome
    }

    /// Reads documents that are no YAML again with their placeholders covered; those that are YAML
    /// then replace what was read. So do those whose values are comments to YAML.
    fn covered(&mut self, parts: &[Part], parsed: &mut [Checked<Option<Node>>], is_code: bool) {
        let text = &*self.source.text;
        let is_broken = |document: &Checked<Option<Node>>| {
            document.diagnostics.iter().any(|found| found.code == Code::YamlSyntax)
        };
        if !is_code && !parsed.iter().any(is_broken) {
            return;
        }
        let Some(covered) = placeholders::covered(text) else { return };
        for (part, document) in parts.iter().zip(parsed) {
            let document_text = &text[part.range.clone()];
            let is_code = is_code && ytt::is_in(document_text);
            if !is_code && !is_broken(document) {
                continue;
            }
            // Go templates of a runtime are filled in by its controller: without quotes they are a
            // mistake.
            let is_templated =
                kinds::named(document_text).next().is_some_and(placeholders::is_templated);
            if is_templated && !is_code {
                continue;
            }
            let mut again = parse(self.id, &covered.text, part.clone(), self.limits);
            if is_broken(&again) {
                // What is wrong is not the placeholder before it.
                if !document_text.contains("{{") {
                    document.diagnostics = again.diagnostics;
                }
                continue;
            }
            let is_inner = |place: &&Range<usize>| part.range.contains(&place.start);
            let values = covered.values.iter().filter(is_inner);
            let kind = again.value.as_ref().and_then(|node| node.get("kind")?.as_str());
            // What is YAML only by a guess is no service.
            let is_guess = !document_text.contains("{{") && !is_code && values.count() > 0;
            if is_guess && kind.is_some_and(kinds::is_rendered_kind) {
                document.diagnostics.clear();
                document.value = None;
                let (start, end) = (offset(part.range.start), offset(part.range.end));
                self.guessed.push(Span { source: self.id, start, end });
                continue;
            }
            if is_code || document_text.contains("{{") {
                // Both branches of a condition are in the text, and actions that are keys are not
                // compared: each is filled in with another name.
                again.diagnostics.retain(|found| found.code != Code::DuplicateKey);
            }
            self.lines.extend(covered.lines.iter().filter(is_inner).cloned());
            *document = again;
            if let Some(node) = &mut document.value {
                placeholders::uncover(node, text, &covered.values);
            }
        }
    }

    /// Lines that stand for others are placeholders of the object that they are written in.
    fn lines(&mut self) {
        for line in std::mem::take(&mut self.lines) {
            let (start, end) = (offset(line.start), offset(line.end));
            let documents = self.outcome.documents.iter_mut();
            // Of the objects that begin above a line, the last one has it.
            let above = documents.filter(|object| !object.embedded && object.span.start <= start);
            let text = self.source.text[line].to_owned();
            if let Some(owner) = above.max_by_key(|object| object.span.start) {
                let span = Span { source: self.id, start, end };
                owner.placeholders.push(Placeholder { span, text });
            }
        }
    }

    /// A file that holds no object: whatever its syntax, it is none of an error. One that is named
    /// as YAML and is none is said to be so.
    fn no_manifest(mut self) -> Outcome {
        let found = std::mem::take(&mut self.outcome.diagnostics);
        self.outcome.documents.clear();
        if self.source.reported {
            let start = Span { source: self.id, start: 0, end: 0 };
            let is_yaml = !self.source.name.ends_with(".json");
            let broken =
                found.into_iter().find(|finding| is_yaml && finding.code == Code::YamlSyntax);
            let finding = broken.unwrap_or_else(|| {
                Diagnostic::new(Code::NotKubernetes, "the file holds no Kubernetes object")
                    .at(start)
            });
            self.outcome.diagnostics.push(finding.severity(Severity::Info));
        }
        self.outcome
    }

    /// A file that is YAML only when the statements in it were run.
    fn template(mut self) -> Outcome {
        self.outcome.documents.clear();
        self.outcome.diagnostics.clear();
        if self.source.reported {
            let start = Span { source: self.id, start: 0, end: 0 };
            let message =
                "the file is a template with statements: nothing is read before they are run";
            let help = "read the output of the tool that it is written for with `-f -`";
            let finding = Diagnostic::new(Code::Placeholders, message).at(start).help(help);
            self.outcome.diagnostics.push(finding);
        }
        self.outcome
    }

    /// One finding for the placeholders of the file.
    fn placeholders(&mut self) {
        let all: Vec<Placeholder> = self
            .outcome
            .documents
            .iter()
            .flat_map(|object| object.placeholders.iter().cloned())
            .collect();
        if let Some(first) = self.guessed.first() {
            let what = match self.guessed.len() {
                1 => "a document is".to_owned(),
                many => format!("{many} documents are"),
            };
            let message =
                format!("{what} no YAML before the placeholders are filled in: not planned");
            let finding = Diagnostic::new(Code::Placeholders, message).at(*first);
            self.outcome.diagnostics.push(finding.help("replace them with values"));
            return;
        }
        let Some(first) = all.first() else { return };
        let mut texts: Vec<&str> =
            all.iter().map(|placeholder| placeholder.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        let more = match texts.len() {
            0..=3 => String::new(),
            many => format!(" and {} more", many - 3),
        };
        let shown: Vec<String> = texts.iter().take(3).map(|text| format!("`{text}`")).collect();
        let message = format!("not filled in: {}{more}", shown.join(", "));
        let finding = Diagnostic::new(Code::Placeholders, message)
            .at(first.span)
            .help(placeholders::command(&self.source.name, &all, self.is_template));
        self.outcome.diagnostics.push(finding);
    }

    /// The documents, those that are too long as the items of the Lists that they are. One that is
    /// no List is not read.
    fn parts(&mut self, text: &str) -> (Vec<Part>, Vec<Items>) {
        let most = self.limits.document_size;
        let is_long = |part: &Part| part.range.len() as u64 > most;
        let list = |part: &Part| is_long(part).then(|| items(text, part.range.clone())).flatten();
        // A dump is one List, and is not passed over once more to be split.
        let whole = Part::from(0..text.len());
        let one = text.starts_with('{').then(|| list(&whole)).flatten();
        let found: Vec<(Part, Option<LongList>)> = if one.is_some() {
            vec![(whole, one)]
        } else {
            let parts = split(self.id, text);
            self.outcome.diagnostics = parts.diagnostics;
            if !parts.value.iter().any(is_long) {
                return (parts.value, Vec::new());
            }
            parts.value.into_iter().map(|part| (part.clone(), list(&part))).collect()
        };
        let (mut all, mut lists) = (Vec::new(), Vec::new());
        for (part, list) in found {
            let is_list = list.is_some();
            let (items, typed) = match list {
                Some(list) => (long_list::parts(text, &list), list.typed),
                None => (vec![part], None),
            };
            // An item alone may be too long as well, and the others are read all the same.
            let (long, short): (Vec<Part>, Vec<Part>) = items.into_iter().partition(is_long);
            if is_list {
                lists.push(Items { range: all.len()..all.len() + short.len(), typed });
            }
            all.extend(short);
            for item in long {
                let start = offset(item.range.start);
                let span = Span { source: self.id, start, end: start };
                self.outcome.diagnostics.push(files::too_large_document(self.limits).at(span));
            }
        }
        (all, lists)
    }

    /// Splits a document into objects.
    pub(super) fn document(&mut self, root: Node, embedded: bool) {
        self.objects(verbatim::items(root), embedded);
    }

    fn objects(&mut self, items: impl Iterator<Item = Item>, embedded: bool) {
        for Item { node, api_version, kind } in items {
            let span = node.origin.span().unwrap_or(Span { source: self.id, start: 0, end: 0 });
            // Of this document only: a file of many would be searched once for each.
            let document_text = self.source.text.get(span.start as usize..span.end as usize);
            if self.has_patches && fragments::is_patch(&node, document_text.unwrap_or_default()) {
                self.plain.push(span);
                continue;
            }
            let node = encrypted::without_keys(node);
            match (api_version, kind) {
                (Some(api_version), Some(kind)) => {
                    self.object(node, span, (api_version, kind), embedded);
                }
                (api_version, kind) => {
                    self.no_object(&node, span, api_version.as_deref(), kind.as_deref());
                }
            }
        }
    }

    /// A document that lacks `apiVersion` or `kind`.
    fn no_object(
        &mut self,
        node: &Node,
        span: Span,
        api_version: Option<&str>,
        kind: Option<&str>,
    ) {
        let place = |key: &str| node.get(key).and_then(|node| node.origin.span()).or(Some(span));
        let known_group = |name: &str| {
            kinds::group(name).filter(|group| !group.name.is_empty() || is_of_core(node))
        };
        let missing = match (api_version, kind) {
            (Some(api_version), None)
                if known_group(api_version.split_once('/').map_or("", |(group, _)| group))
                    .is_some() =>
            {
                Some((
                    "kind",
                    place("apiVersion"),
                    format!("the object of `{api_version}` has no `kind`"),
                    "add `kind`".to_owned(),
                ))
            }
            // Without metadata, `kind` is a common word of other formats.
            (None, Some(kind)) if node.get("metadata").is_some() => {
                // OME has kinds of the names of KServe's.
                let groups = kinds::GROUPS.iter().filter(|group| group.kinds.contains(&kind));
                let lines: Vec<String> = groups
                    .map(|group| format!("`apiVersion: {}`", group.api_version_of(kind)))
                    .collect();
                (!lines.is_empty()).then(|| {
                    (
                        "apiVersion",
                        place("kind"),
                        format!("the `{kind}` has no `apiVersion`"),
                        format!("add {}", lines.join(" or ")),
                    )
                })
            }
            _ => None,
        };
        match missing {
            Some((field, place, message, help)) => {
                self.outcome.diagnostics.push(
                    Diagnostic::new(Code::RequiredField, message).at(place).path(field).help(help),
                );
            }
            None => self.plain.push(span),
        }
    }

    pub(super) fn object(
        &mut self,
        node: Node,
        span: Span,
        (api_version, kind): (EcoString, EcoString),
        embedded: bool,
    ) {
        let Some(is_listed) = self.is_listed(&node, span, &api_version, &kind) else { return };
        let is_config_map = kind == "ConfigMap" && api_version == "v1";
        let builtin = self.source.kind == SourceKind::Builtin;
        // A cluster has taken the values of an object as they are.
        let is_live = node.at(&["metadata", "uid"]).is_some();
        let placeholders = if self.may_hold && !is_live {
            placeholders::of(&node, &kind, self.source)
        } else {
            Vec::new()
        };
        let inner_of_template = if openshift::is_template(&api_version, &kind) {
            openshift::objects(&node)
        } else {
            Vec::new()
        };
        let document = Document {
            // Those of a Template are those of its objects.
            placeholders: if inner_of_template.is_empty() { placeholders } else { Vec::new() },
            source: self.id,
            span,
            node,
            api_version,
            kind,
            builtin,
            reported: self.source.reported,
            embedded,
            template: None,
            is_listed,
        };

        let inner = if is_config_map {
            embedded::objects(self.id, &self.source.text, &document.node, self.limits)
        } else {
            Vec::new()
        };
        let template_name = document.node.at(&["metadata", "name"]).and_then(Node::scalar_text);
        let template_name = template_name.unwrap_or_default();
        self.outcome.documents.push(document);
        if !inner_of_template.is_empty() {
            self.is_template = true;
            // Objects of the Template are appended, so that all from here on are its own.
            let first = self.outcome.documents.len();
            for node in inner_of_template {
                self.document(node, embedded);
            }
            let template =
                Arc::new(Template { name: template_name, file: Arc::clone(&self.source.name) });
            for document in &mut self.outcome.documents[first..] {
                document.template = Some(Arc::clone(&template));
            }
        }
        for (node, findings) in inner {
            self.outcome.diagnostics.extend(findings);
            self.document(node, true);
        }
    }

    /// Whether the kind of an object is one that is listed; `None` for a document that is dropped,
    /// with its finding.
    fn is_listed(
        &mut self,
        node: &Node,
        span: Span,
        api_version: &EcoString,
        kind: &EcoString,
    ) -> Option<bool> {
        let place = |key: &str| node.get(key).and_then(|node| node.origin.span()).or(Some(span));
        Some(match kinds::whose(api_version, kind) {
            Whose::Known(_) => true,
            Whose::Elsewhere => {
                if !kinds::is_read(api_version, kind) {
                    self.elsewhere.push((span, format!("{api_version} {kind}")));
                }
                false
            }
            Whose::Foreign => {
                // One of another project with the same kind is no mistake, unless the names are
                // alike.
                if let Some(group) = kinds::misspelled(api_version, kind) {
                    let finding = Diagnostic::new(
                        Code::UnknownKind,
                        format!("the group of `{api_version}` with the kind `{kind}` is unknown"),
                    )
                    .at(place("apiVersion"))
                    .path("apiVersion")
                    .help(format!("did you mean `{}`?", group.api_version_of(kind)));
                    self.outcome.diagnostics.push(finding);
                    return None;
                }
                if !kinds::is_read(api_version, kind) && !kinds::is_older(api_version, kind) {
                    self.foreign.push((span, format!("{api_version} {kind}")));
                }
                false
            }
            Whose::NoObject => {
                self.plain.push(span);
                return None;
            }
            Whose::UnknownKind(group) => {
                let finding = unknown_kind(group, kind).at(place("kind")).path("kind");
                // A kind of a later release is kept, so that the rest of the input is judged as
                // ever.
                let is_newer = finding.code == Code::NewerThanKnown;
                self.outcome.diagnostics.push(finding);
                if !is_newer {
                    return None;
                }
                false
            }
            Whose::UnknownVersion(group) => {
                let versions: Vec<String> = group
                    .versions_of(kind)
                    .iter()
                    .map(|version| format!("`{}/{version}`", group.name))
                    .collect();
                let message = match not_served_since(api_version) {
                    Some(since) => {
                        format!("`{kind}` of `{api_version}` is not served since {since}")
                    }
                    None => format!("there is no `{kind}` in version `{api_version}`"),
                };
                let finding = Diagnostic::new(Code::UnknownKind, message)
                    .at(place("apiVersion"))
                    .path("apiVersion")
                    .help(format!("write {}", versions.join(" or ")));
                self.outcome.diagnostics.push(finding);
                return None;
            }
        })
    }

    /// Reports ignored documents, once for a file. A named file with nothing else is an error.
    pub(super) fn count(&mut self, broken: bool) {
        let Some(input) = self.input else { return };
        // Of a built tree the kinds are named by the command that reads it.
        let nothing_else = input.named
            && !kustomize::is_built(&input.name)
            && !broken
            && self.elsewhere.is_empty()
            && !self.outcome.documents.iter().any(|document| {
                // A workload of another project is placed, although nothing else is known of it.
                document.is_listed || kinds::is_read(&document.api_version, &document.kind)
            });
        let nothing_else = nothing_else
            // An error tells more than that nothing was found.
            && !self.outcome.diagnostics.iter().any(|finding| finding.severity == Severity::Error);
        let severity = if nothing_else { Severity::Error } else { Severity::Info };
        if let Some(first) = self.plain.first() {
            let message = match self.plain.len() {
                1 => "the document is no Kubernetes object".to_owned(),
                count => format!("{count} documents are not Kubernetes objects"),
            };
            let finding =
                Diagnostic::new(Code::NotKubernetes, message).severity(severity).at(*first);
            self.outcome.diagnostics.push(if nothing_else {
                finding.help(instead_of(&input.name))
            } else {
                finding
            });
        }
        for (objects, severity) in [(&self.foreign, severity), (&self.elsewhere, Severity::Info)] {
            let Some((first, what)) = objects.first() else { continue };
            let message = match objects.len() {
                1 => format!("`{what}` is not supported"),
                count => format!("`{what}` and {} more are not supported", count - 1),
            };
            let finding = Diagnostic::new(Code::OtherKind, message).severity(severity).at(*first);
            self.outcome.diagnostics.push(if severity == Severity::Error {
                finding.help("name files that hold objects read here")
            } else {
                finding
            });
        }
    }
}

/// What to name instead of a file that holds no objects: of a kustomization and of a chart, what is
/// built from it.
fn instead_of(file: &str) -> String {
    let path = Path::new(file);
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    let directory = quoted(&above.to_string_lossy());
    match path.file_name().and_then(OsStr::to_str) {
        Some(name) if NAMES.contains(&name) => {
            format!(
                "it lists the objects of a kustomization: `-k {directory}` in the place of `-f` builds it"
            )
        }
        _ if above.join("Chart.yaml").is_file() => {
            format!("render the chart: `helm template {directory} | ome plan -f -`")
        }
        _ => "name files that hold Kubernetes objects".to_owned(),
    }
}

/// The findings about a document; a key that is set twice in kinds that nothing here reads is no
/// error: whether a server ever gets them is not known, and each program reads its own files in its
/// own way.
fn of_strangers(mut found: Vec<Diagnostic>, node: &Node) -> Vec<Diagnostic> {
    let is_twice = |finding: &&mut Diagnostic| finding.code == Code::DuplicateKey;
    if !found.iter().any(|finding| finding.code == Code::DuplicateKey) {
        return found;
    }
    let mut least = Severity::Info;
    for item in verbatim::items(node.clone()) {
        let (Some(api_version), Some(kind)) = (item.api_version, item.kind) else { return found };
        if kinds::is_of_client(&api_version) {
            continue;
        }
        if !kinds::is_stranger(&api_version, &kind) {
            return found;
        }
        least = Severity::Warning;
    }
    found.iter_mut().filter(is_twice).for_each(|finding| finding.severity = least);
    found
}

/// Whether a document without a kind may be an object of the core group: installers and packages
/// write `apiVersion: v1` and `metadata` too, beside fields that no object has.
fn is_of_core(node: &Node) -> bool {
    const FIELDS: [&str; 18] = [
        "apiVersion",
        "automountServiceAccountToken",
        "binaryData",
        "conditions",
        "data",
        "endpoints",
        "imagePullSecrets",
        "immutable",
        "items",
        "metadata",
        "secrets",
        "spec",
        "status",
        "stringData",
        "subsets",
        "target",
        "template",
        "type",
    ];
    node.get("metadata").is_some()
        && node.entries().all(|entry| FIELDS.contains(&entry.key.as_str()))
}

/// Whether a finding with this code means that a text is larger than what is read.
fn is_limit(code: Code) -> bool {
    matches!(code, Code::NodeLimit | Code::DepthLimit | Code::ExpansionLimit)
}

pub(super) fn unknown_kind(group: &kinds::Group, kind: &str) -> Diagnostic {
    let name = if group.name.is_empty() { "the core group" } else { group.name };
    let finding = Diagnostic::new(Code::UnknownKind, format!("`{name}` has no kind `{kind}`"));
    if let Some(help) = kinds::instead(group.name, kind) {
        return finding.help(help);
    }
    if let Some(near) = nearest(kind, group.kinds.iter().copied()) {
        return finding.help(format!("did you mean `{near}`?"));
    }
    // It may be that only the group was confused.
    if let Some(other) = kinds::GROUPS.iter().find(|other| other.kinds.contains(&kind)) {
        return finding.help(format!("`{kind}` is a kind of `{}`", other.api_version_of(kind)));
    }
    if !group.ours {
        return finding.help(format!("its kinds are {}", group.kinds.join(", ")));
    }
    let of_group = format!("the known kinds are {}", group.kinds.join(", "));
    Diagnostic::new(
        Code::NewerThanKnown,
        format!("no known release of `{name}` has the kind `{kind}`: its objects are left out"),
    )
    .help(format!("nothing, if the cluster has it; {of_group}"))
}

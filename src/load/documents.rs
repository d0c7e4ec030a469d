//! Texts become documents: read, split, parsed, told apart.

use super::embedded;
use super::files::{self, Unread};
use super::find::{Input, find};
use super::helm;
use super::kinds::{self, Whose};
use super::kustomize;
use super::parts::{self, Item};
use super::revision;
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::source::{Source, SourceId, SourceKind, SourceMap, Span};
use crate::yaml::{Limits, Node, parse, split};
use ecow::EcoString;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a run reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The arguments of `-f`; none means the current directory.
    pub paths: &'a [PathBuf],
    /// Directories and files that are read but not reported on.
    pub context: &'a [PathBuf],
    /// The arguments of `-k`: Kustomize trees that are built.
    pub kustomize: &'a [PathBuf],
    /// The program that builds them, with its arguments; by default the first one on PATH.
    pub kustomize_command: Option<&'a str>,
    /// Name and text of what is built into the binary.
    pub builtin: &'a [(&'a str, &'a str)],
}

impl Request<'_> {
    /// The paths, or the current directory.
    fn paths_or_here(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() && self.kustomize.is_empty() {
            vec![PathBuf::from(".")]
        } else {
            self.paths.to_vec()
        }
    }
}

/// A Kubernetes object as it was read.
#[derive(Clone, Debug)]
pub struct Document {
    /// The text that holds it.
    pub source: SourceId,
    /// Where in the text it stands.
    pub span: Span,
    /// The object.
    pub node: Node,
    /// Its `apiVersion`; an item of a typed list has that of the list.
    pub api_version: EcoString,
    /// Its kind.
    pub kind: EcoString,
    /// It is built into the binary.
    pub builtin: bool,
    /// False for context: nothing is reported on it.
    pub reported: bool,
    /// It is text in a ConfigMap: no server reads it as an object.
    pub embedded: bool,
    /// Its group and kind are known here; others are kept for whoever looks for them.
    pub known: bool,
}

impl Document {
    /// The group of its `apiVersion`; empty for the core.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The version of its `apiVersion`.
    pub fn version(&self) -> &str {
        self.api_version.split_once('/').map_or(&self.api_version, |(_, version)| version)
    }
}

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// All texts; ids follow the order of names, what is built in comes last.
    pub sources: SourceMap,
    /// All objects, in the order of sources and places. Lists are taken apart.
    pub documents: Vec<Document>,
    /// What was found, in the order of files and places; those without a file first.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads everything. The result does not depend on the number of threads.
pub fn load(request: &Request<'_>, stdin: &mut dyn Read, limits: &Limits) -> Loaded {
    let mut found = find(&request.paths_or_here(), request.context);
    if found.missing {
        // A plan of the rest would look like a plan of everything.
        found.inputs.clear();
        found.diagnostics.retain(|finding| finding.severity == Severity::Error);
        return Loaded { diagnostics: found.diagnostics, ..Loaded::default() };
    }
    let mut built = Vec::new();
    for directory in request.kustomize {
        match kustomize::build(directory, request.kustomize_command, limits) {
            Ok(text) => built.push((
                Input {
                    path: Some(directory.clone()),
                    name: format!("kustomize:{}", directory.display()),
                    named: true,
                    reported: true,
                    size: text.len() as u64,
                },
                Some(Ok(text)),
            )),
            Err(finding) => return Loaded { diagnostics: vec![*finding], ..Loaded::default() },
        }
    }
    if built.is_empty()
        && found.inputs.iter().all(|input| !input.reported)
        && found.diagnostics.is_empty()
    {
        let finding = Diagnostic::new(Code::NoFiles, "no file to read was found")
            .help("name files or directories with `-f`, or standard input with `-f -`");
        found.diagnostics.push(finding);
    }
    // Of several files, or of one beside its context, each may be of another tool, as those that a
    // hook names; only one alone must hold what is looked for.
    let alone = found.inputs.iter().filter(|input| input.named && input.reported).count() == 1
        && request.context.is_empty();
    found.inputs.iter_mut().for_each(|input| input.named &= alone);
    // Standard input first: it is one stream and cannot be shared.
    let mut from_stdin =
        found.inputs.iter().any(|input| input.path.is_none()).then(|| read_stdin(stdin, limits));
    let texts: Vec<Option<Result<String, Unread>>> = found
        .inputs
        .par_iter()
        .map(|input| input.path.as_ref().map(|path| read(path, input, limits)))
        .collect();
    let texts = texts.into_iter().map(|text| text.or_else(|| from_stdin.take()));
    let inputs = std::mem::take(&mut found.inputs).into_iter().zip(texts).chain(built).collect();
    documents(inputs, found.diagnostics, request.builtin, limits)
}

/// Reads the same at a revision of the repository that holds the paths; context is left out.
///
/// # Errors
/// A finding without a place: there is no such revision, no repository, no git.
pub fn load_revision(
    request: &Request<'_>,
    revision: &str,
    limits: &Limits,
) -> Result<Loaded, Box<Diagnostic>> {
    if let Some(directory) = request.kustomize.first() {
        let why = format!(
            "the base `{revision}` was not read: `-k {}` builds what is on disk",
            directory.display()
        );
        return Err(Box::new(Diagnostic::new(Code::BaseNotRead, why).help(
            "check the revision out (`git worktree add DIR REV`) and compare with `--base DIR`",
        )));
    }
    let (found, texts) = revision::texts(&request.paths_or_here(), revision, limits)?;
    let inputs = found.inputs.into_iter().zip(texts.into_iter().map(Some)).collect();
    Ok(documents(inputs, found.diagnostics, request.builtin, limits))
}

/// Texts become documents.
fn documents(
    mut inputs: Vec<(Input, Option<Result<String, Unread>>)>,
    diagnostics: Vec<Diagnostic>,
    builtin: &[(&str, &str)],
    limits: &Limits,
) -> Loaded {
    let mut loaded = Loaded { diagnostics, ..Loaded::default() };
    loaded.diagnostics.extend(kustomize::set_aside(&mut inputs, limits));
    let mut readable = Vec::new();
    for (input, text) in inputs {
        let Some(text) = text else { continue };
        let kind = if input.path.is_none() { SourceKind::Stdin } else { SourceKind::File };
        let mut add = |text: String| {
            let mut source = Source::new(input.name.as_str(), kind, text);
            source.reported = input.reported;
            loaded.sources.add(source)
        };
        match text {
            Ok(text) => {
                let id = add(text);
                readable.push((id, Some(input)));
            }
            Err(Unread::Finding(finding)) if input.reported => {
                loaded.diagnostics.push(finding.in_file(input.name));
            }
            Err(Unread::NotUtf8(text, at)) if input.reported => {
                let source = add(text);
                let start = u32::try_from(at).unwrap_or(u32::MAX);
                loaded.diagnostics.push(
                    files::not_utf8()
                        .at(Span { source, start, end: start + 3 })
                        .in_file(input.name)
                        .help("save the file as UTF-8"),
                );
            }
            Err(_) => {}
        }
    }
    for (name, text) in builtin {
        let id =
            loaded.sources.add(Source::new(format!("builtin:{name}"), SourceKind::Builtin, *text));
        readable.push((id, None));
    }

    let sources = &loaded.sources;
    // What is built in is not the input that limits are about.
    let usual = Limits::default();
    let limits = |input: &Option<Input>| if input.is_some() { limits } else { &usual };
    let outcomes: Vec<Outcome> = readable
        .par_iter()
        .map(|(id, input)| {
            Reading::new(*id, sources.get(*id), input.as_ref(), limits(input)).read()
        })
        .collect();
    let mut charts: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, input), outcome) in readable.iter().zip(outcomes) {
        if outcome.helm {
            let folder = input
                .as_ref()
                .and_then(|input| input.name.rsplit_once('/'))
                .map_or(".", |(folder, _)| folder);
            *charts.entry(folder.to_owned()).or_default() += 1;
            continue;
        }
        loaded.documents.extend(outcome.documents);
        loaded.diagnostics.extend(outcome.diagnostics);
    }
    if charts.is_empty() && loaded.diagnostics.is_empty() {
        loaded.diagnostics.extend(nothing_in(
            &loaded,
            readable.iter().filter_map(|(id, input)| {
                Some((*id, input.as_ref().filter(|input| input.reported)?))
            }),
        ));
    }
    for (folder, count) in charts {
        let what = if count == 1 {
            "1 file is a Helm template and was".to_owned()
        } else {
            format!("{count} files are Helm templates and were")
        };
        let finding = Diagnostic::new(Code::HelmTemplate, format!("{what} left alone"))
            .in_file(folder.clone())
            .help(format!(
                "render the chart first: `helm template {} | ome … -f -`",
                folder.strip_suffix("/templates").unwrap_or(&folder)
            ));
        loaded.diagnostics.push(finding);
    }
    let sources = &loaded.sources;
    loaded.diagnostics.sort_by_cached_key(|finding| match finding.span() {
        Some(span) => {
            (sources.get(span.source).name.to_string(), Some(span.source), span.start, finding.code)
        }
        None => (finding.file.clone().unwrap_or_default(), None, 0, finding.code),
    });
    loaded
}

/// Says that an input holds no object at all: the first of its texts, and what is in it instead.
fn nothing_in<'a>(
    loaded: &Loaded,
    mut inputs: impl Iterator<Item = (SourceId, &'a Input)>,
) -> Option<Diagnostic> {
    if loaded.documents.iter().any(|document| !document.builtin) {
        return None;
    }
    let (id, input) = inputs.next()?;
    let text = &loaded.sources.get(id).text;
    let is_content = |line: &str| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with('#') || ["---", "...", "~", "null"].contains(&line))
    };
    let (message, help) = match (text.lines().any(is_content), input.path.is_none()) {
        (true, true) => ("standard input is a List without items".to_owned(), "put objects in it"),
        (true, false) => {
            (format!("`{}` is a List without items", input.name), "put objects under `items`")
        }
        (false, true) => ("standard input is empty".to_owned(), "pass Kubernetes objects"),
        // A file may wait for its first object.
        (false, false) => return None,
    };
    Some(Diagnostic::new(Code::EmptyInput, message).in_file(input.name.as_str()).help(help))
}

fn read_stdin(stdin: &mut dyn Read, limits: &Limits) -> Result<String, Unread> {
    match files::read_from(stdin, limits) {
        Ok(text) => text,
        Err(error) => {
            Err(Unread::Finding(Box::new(files::not_read("<stdin>", &files::reason(&error)))))
        }
    }
}

fn read(path: &Path, input: &Input, limits: &Limits) -> Result<String, Unread> {
    if input.size > limits.file_size {
        return Err(Unread::Finding(Box::new(files::too_large(limits))));
    }
    files::read(path, limits)
}

/// What one text came to.
#[derive(Default)]
struct Outcome {
    documents: Vec<Document>,
    diagnostics: Vec<Diagnostic>,
    /// It is a Helm template, and the rest means nothing.
    helm: bool,
}

/// From this size on, the documents of one text are parsed in parallel.
const LARGE: usize = 64 << 10;

/// One text on its way into documents.
struct Reading<'a> {
    id: SourceId,
    source: &'a Source,
    /// What was found; none for what is built in.
    input: Option<&'a Input>,
    limits: &'a Limits,
    outcome: Outcome,
    /// Documents that are no objects.
    plain: Vec<Span>,
    /// Objects of groups that nobody here knows, and of kinds that nobody here reads.
    foreign: Vec<(Span, String)>,
    elsewhere: Vec<(Span, String)>,
}

impl<'a> Reading<'a> {
    fn new(id: SourceId, source: &'a Source, input: Option<&'a Input>, limits: &'a Limits) -> Self {
        Self {
            id,
            source,
            input,
            limits,
            outcome: Outcome::default(),
            plain: Vec::new(),
            foreign: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    fn read(mut self) -> Outcome {
        let text = &*self.source.text;
        let found_at =
            self.input.filter(|input| !input.named).and_then(|input| input.path.as_deref());
        if text.contains("{{") && found_at.is_some_and(helm::in_chart) {
            return Outcome { helm: true, ..Outcome::default() };
        }
        let parts = split(self.id, text);
        let parse = |part| parse(self.id, text, part, self.limits);
        let parsed: Vec<_> = if text.len() < LARGE {
            parts.value.into_iter().map(parse).collect()
        } else {
            parts.value.into_par_iter().map(parse).collect()
        };
        self.outcome.diagnostics = parts.diagnostics;
        let mut broken = false;
        for document in parsed {
            broken |= document.diagnostics.iter().any(|finding| {
                finding.code == Code::YamlSyntax && finding.severity == Severity::Error
            });
            let found = document.diagnostics;
            match document.value {
                Some(node) => {
                    // Of what is no object nothing is worth saying, `on:` of a workflow for one.
                    if !parts::items(node.clone()).all(|item| item.is_plain()) {
                        self.outcome.diagnostics.extend(found);
                    }
                    self.document(node, false);
                }
                None => self.outcome.diagnostics.extend(found),
            }
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
                finding.help = Some("the file is a Helm template: render the chart first, `helm template … | ome … -f -`".to_owned());
            }
        }
        self.count(broken);
        if !self.source.reported {
            self.outcome.diagnostics.clear();
        }
        self.outcome
    }

    /// Takes a document apart into objects.
    fn document(&mut self, root: Node, embedded: bool) {
        for Item { node, api_version, kind } in parts::items(root) {
            let span = node.origin.span().unwrap_or(Span { source: self.id, start: 0, end: 0 });
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
            kinds::group(name)
                .filter(|group| !group.name.is_empty() || node.get("metadata").is_some())
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
            (None, Some(kind)) if node.get("metadata").is_some() => {
                kinds::GROUPS.iter().find(|group| group.kinds.contains(&kind)).map(|group| {
                    let version = group.versions.last().copied().unwrap_or("v1");
                    let full = if group.name.is_empty() {
                        version.to_owned()
                    } else {
                        format!("{}/{version}", group.name)
                    };
                    (
                        "apiVersion",
                        place("kind"),
                        format!("the `{kind}` has no `apiVersion`"),
                        format!("add `apiVersion: {full}`"),
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

    fn object(
        &mut self,
        node: Node,
        span: Span,
        (api_version, kind): (EcoString, EcoString),
        embedded: bool,
    ) {
        let place = |key: &str| node.get(key).and_then(|node| node.origin.span()).or(Some(span));
        let known = match kinds::whose(&api_version, &kind) {
            Whose::Known(_) => true,
            Whose::Elsewhere => {
                self.elsewhere.push((span, format!("{api_version} {kind}")));
                false
            }
            Whose::Foreign => {
                self.foreign.push((span, format!("{api_version} {kind}")));
                false
            }
            Whose::NoObject => {
                self.plain.push(span);
                return;
            }
            Whose::UnknownKind(group) => {
                let finding = unknown_kind(group, &kind).at(place("kind")).path("kind");
                self.outcome.diagnostics.push(finding);
                return;
            }
            Whose::UnknownVersion(group) => {
                let versions: Vec<String> = group
                    .versions
                    .iter()
                    .map(|version| format!("`{}/{version}`", group.name))
                    .collect();
                let finding = Diagnostic::new(
                    Code::UnknownKind,
                    format!("there is no `{kind}` in version `{api_version}`"),
                )
                .at(place("apiVersion"))
                .path("apiVersion")
                .help(format!("write {}", versions.join(" or ")));
                self.outcome.diagnostics.push(finding);
                return;
            }
        };
        let is_config_map = kind == "ConfigMap" && api_version == "v1";
        let builtin = self.source.kind == SourceKind::Builtin;
        let document = Document {
            source: self.id,
            span,
            node,
            api_version,
            kind,
            builtin,
            reported: self.source.reported,
            embedded,
            known,
        };
        let inner = if is_config_map {
            embedded::objects(self.id, &self.source.text, &document.node, self.limits)
        } else {
            Vec::new()
        };
        self.outcome.documents.push(document);
        for (node, findings) in inner {
            self.outcome.diagnostics.extend(findings);
            self.document(node, true);
        }
    }

    /// Says what was left alone: once for a file. A file that was named and holds nothing else is
    /// an error.
    fn count(&mut self, broken: bool) {
        let Some(input) = self.input else { return };
        let nothing_else = input.named
            && !broken
            && self.outcome.documents.iter().all(|document| !document.known)
            && self.elsewhere.is_empty();
        let nothing_else = nothing_else
            && !self.outcome.diagnostics.iter().any(|finding| finding.severity == Severity::Error);
        let severity = if nothing_else { Severity::Error } else { Severity::Info };
        if let Some(first) = self.plain.first() {
            let message = match self.plain.len() {
                1 => "the document is no Kubernetes object".to_owned(),
                count => format!("{count} documents are no Kubernetes objects"),
            };
            let finding =
                Diagnostic::new(Code::NotKubernetes, message).severity(severity).at(*first);
            self.outcome.diagnostics.push(if nothing_else {
                finding.help("name files that hold Kubernetes objects")
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

fn unknown_kind(group: &kinds::Group, kind: &str) -> Diagnostic {
    let name = if group.name.is_empty() { "the core group" } else { group.name };
    let finding = Diagnostic::new(Code::UnknownKind, format!("`{name}` has no kind `{kind}`"));
    if let Some(help) = kinds::instead(group.name, kind) {
        return finding.help(help);
    }
    if let Some(near) = nearest(kind, group.kinds.iter().copied()) {
        return finding.help(format!("did you mean `{near}`?"));
    }
    if let Some(other) = kinds::GROUPS.iter().find(|other| other.kinds.contains(&kind)) {
        let version = other.versions.last().copied().unwrap_or("v1");
        return finding.help(format!("`{kind}` is a kind of `{}/{version}`", other.name));
    }
    finding.help(format!("its kinds are {}", group.kinds.join(", ")))
}

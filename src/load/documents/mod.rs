//! Texts become documents: read, split, parsed, sorted by kind.

mod definitions;
mod long_list;
pub(super) mod reading;

use super::checkout::{self, checkout};
use super::exclude::{self, Exclude};
use super::files::{self, Unread};
use super::find::{Input, find, is_expectation};
use super::fragments;
use super::kustomize::{self, Tree};
use super::listed::Listed;
use super::memory::Memory;
use super::origins;
use super::overlays::{self, Disk};
use super::placeholders::Placeholder;
use super::revision;
use crate::api::Template;
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::documents::reading::{Outcome, Reading};
use crate::load::helm::Charts;
use crate::source::{FileText, Source, SourceId, SourceKind, SourceMap, Span};
use crate::yaml::{Limits, Node};
use ecow::EcoString;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The input of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The arguments of `-f`; none means the current directory.
    pub paths: &'a [PathBuf],
    /// Those among them that were named as presets.
    pub presets: &'a [PathBuf],
    /// Directories and files that are read but not reported on.
    pub context: &'a [PathBuf],
    /// The arguments of `-k`: Kustomize trees that are built.
    pub kustomize: &'a [PathBuf],
    /// The program that builds them, with its arguments; by default the first one on PATH.
    pub kustomize_command: Option<&'a str>,
    /// Overlays below the paths are built, too.
    pub overlays: bool,
    /// Links that lead out of the paths are followed.
    pub follow_outside: bool,
    /// What is not read below directories; `None` excludes nothing.
    pub exclude: Option<&'a Exclude>,
    /// Texts that are built into the binary.
    pub builtin: &'a [Builtin],
    /// Those of them that no document of the input wants are left out.
    pub skips_builtin: bool,
    /// Of several definitions of a kind below one path, only the head is read where another one
    /// counts.
    pub skims: bool,
}

/// A text that is built into the binary.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
    /// Whether a document of an input may need its objects.
    pub is_wanted: fn(&Document) -> bool,
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
    /// Its text.
    pub source: SourceId,
    /// Where in the text it is.
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
    /// The OpenShift Template that it is an object of: a template makes objects, and they are none of
    /// the cluster's before.
    pub template: Option<Arc<Template>>,
    /// Its group and kind are in the lists; other objects are kept for lookups.
    pub is_listed: bool,
    /// Values that are not filled in yet.
    pub placeholders: Vec<Placeholder>,
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
    /// All texts; ids follow the order of names, with built-in texts last.
    pub sources: SourceMap,
    /// All objects, in the order of sources and places. Lists are taken apart.
    pub documents: Vec<Document>,
    /// Findings, in the order of files and positions; those without a file first.
    pub diagnostics: Vec<Diagnostic>,
}

/// The text of a file or stream, or the reason why it was not read.
type Text = Result<FileText, Unread>;

/// Reads everything. The result does not depend on the number of threads.
pub fn load(request: &Request<'_>, stdin: &mut dyn Read, limits: &Limits) -> Loaded {
    read_all(request, stdin, limits, None)
}

/// Reads the input again, except the cached parts; open texts replace their files. There is no
/// standard input.
pub fn load_again(request: &Request<'_>, limits: &Limits, memory: &mut Memory) -> Loaded {
    memory.begin(limits);
    read_all(request, &mut std::io::empty(), limits, Some(memory))
}

fn read_all(
    request: &Request<'_>,
    stdin: &mut dyn Read,
    limits: &Limits,
    mut memory: Option<&mut Memory>,
) -> Loaded {
    let paths = request.paths_or_here();
    let find = || find(&paths, request.context, request.follow_outside, limits.files);
    let (mut found, stamps) = match memory.as_deref_mut() {
        Some(memory) => memory.find(&paths, find),
        None => (find(), Vec::new()),
    };
    if let Some(exclude) = request.exclude {
        exclude::retain(&mut found.inputs, |input| input, exclude);
    }
    if found.missing {
        // A plan of the rest would look like a plan of everything.
        found.inputs.clear();
        found.diagnostics.retain(|finding| finding.severity == Severity::Error);
        return Loaded { diagnostics: found.diagnostics, ..Loaded::default() };
    }
    let trees: Vec<Tree> = request.kustomize.iter().map(|path| Tree::on_disk(path)).collect();
    // One tree that fails ends the run, since the others are a part of the answer only.
    let built = match build(&trees, request, limits) {
        Ok(built) => built,
        Err(finding) => return Loaded { diagnostics: vec![*finding], ..Loaded::default() },
    };
    if built.is_empty()
        && found.inputs.iter().all(|input| !input.reported)
        && found.diagnostics.is_empty()
    {
        let finding = Diagnostic::new(Code::NoFiles, "no file to read was found")
            .help("name files or directories with `-f`, or standard input with `-f -`; a hidden directory, such as `.tekton`, is read if it is named");
        found.diagnostics.push(finding);
    }
    // With several files, or with context, a file can belong to another tool, as in hooks; a single
    // file must contain objects.
    let alone = found.inputs.iter().filter(|input| input.named && input.reported).count() == 1
        && request.context.is_empty();
    found.inputs.iter_mut().for_each(|input| input.named &= alone);
    // Standard input first: it is one stream and cannot be shared.
    let mut from_stdin =
        found.inputs.iter().any(|input| input.path.is_none()).then(|| read_stdin(stdin, limits));
    let existing = memory.as_deref();
    let texts: Vec<Option<Text>> = found
        .inputs
        .par_iter()
        .enumerate()
        .map(|(index, input)| {
            let path = input.path.as_ref()?;
            let read = || read(path, input, limits);
            Some(match existing {
                Some(memory) => memory.text(path, limits, stamps[index], read),
                None => read(),
            })
        })
        .collect();
    if let Some(memory) = memory.as_deref_mut() {
        memory.keep_texts(found.inputs.iter().zip(&texts), &stamps);
    }
    let texts = texts.into_iter().map(|text| text.or_else(|| from_stdin.take()));
    let inputs = std::mem::take(&mut found.inputs).into_iter().zip(texts).chain(built).collect();
    let loaded = documents(inputs, found.diagnostics, request, &Disk::Here, limits, memory);
    at_home(loaded, &trees, limits)
}

/// Builds trees with Kustomize.
fn build(
    trees: &[Tree],
    request: &Request<'_>,
    limits: &Limits,
) -> Result<Vec<(Input, Option<Text>)>, Box<Diagnostic>> {
    let build = |tree: &Tree| {
        let text = kustomize::build(tree, request.kustomize_command, limits)?;
        let input = Input {
            path: Some(tree.directory()),
            name: tree.name(),
            named: true,
            reported: true,
            outside: false,
            size: text.len() as u64,
            root: None,
            overlay: None,
        };
        Ok((input, Some(Ok(text.into()))))
    };
    trees.iter().map(build).collect()
}

/// Sets the origins of the objects of built trees to their files.
fn at_home(mut loaded: Loaded, trees: &[Tree], limits: &Limits) -> Loaded {
    let objects = loaded.documents.iter_mut();
    let objects =
        objects.map(|document| (&mut document.source, &mut document.span, &mut document.node));
    origins::restore(&mut loaded.sources, objects, trees, limits);
    loaded
}

/// Reads the input at a revision of the repository that contains the paths, without context.
///
/// # Errors
/// A finding without a place: there is no such revision, no repository, no git.
pub fn load_revision(
    request: &Request<'_>,
    revision: &str,
    limits: &Limits,
) -> Result<Loaded, Box<Diagnostic>> {
    let (found, texts) = revision::texts(&request.paths_or_here(), revision, limits)?;
    let mut read: Vec<_> = found.inputs.into_iter().zip(texts).collect();
    if let Some(exclude) = request.exclude {
        exclude::retain(&mut read, |(input, _)| input, exclude);
    }
    let checkout = checkout(request.kustomize, revision)?;
    let built = build(&checkout.trees, request, limits)?;
    let read = read.into_iter().map(|(input, text)| (input, Some(text.map(Into::into))));
    let inputs: Vec<_> = read.chain(built).collect();
    let missing = checkout.missing.iter().cloned();
    let diagnostics = found.diagnostics.into_iter().chain(missing).collect();
    let whole;
    let disk = if request.overlays {
        let kustomizations = overlays::directories(&inputs);
        whole = checkout::checkout(&kustomizations, revision)?;
        Disk::Revision(revision, &whole)
    } else {
        Disk::Here
    };
    let loaded = documents(inputs, diagnostics, request, &disk, limits, None);
    Ok(at_home(loaded, &checkout.trees, limits))
}

/// Texts become documents.
fn documents(
    mut inputs: Vec<(Input, Option<Text>)>,
    diagnostics: Vec<Diagnostic>,
    request: &Request<'_>,
    disk: &Disk<'_>,
    limits: &Limits,
    memory: Option<&mut Memory>,
) -> Loaded {
    let mut loaded = Loaded { diagnostics, ..Loaded::default() };
    // Before anything is parsed: patches and generators in trees are no objects, and would be
    // errors.
    let (aside, listed, trees) = kustomize::set_aside(&mut inputs, limits);
    loaded.diagnostics.extend(aside);
    if request.overlays {
        let found =
            overlays::build(trees, &mut inputs, disk, request.kustomize_command, limits, &listed);
        loaded.diagnostics.extend(found);
    } else {
        loaded.diagnostics.extend(trees.iter().map(|tree| tree.not_built(None)));
    }
    let mut readable = add_texts(&mut loaded, inputs, &listed);
    if !request.skips_builtin {
        readable.extend(add_builtin(&mut loaded, request.builtin.iter()));
    }

    let sources = &loaded.sources;
    // Limits do not apply to built-in texts.
    let usual = Limits::default();
    let limits = |input: &Option<Input>| if input.is_some() { limits } else { &usual };
    let found = readable.iter().filter_map(|(_, input)| input.as_ref());
    let charts =
        Charts::of(found.filter(|input| !input.named).filter_map(|input| input.path.as_deref()))
            .with_presets(request.presets);
    // An editor needs every place, and its memory keeps what was read anyway.
    let skimmed = if request.skims && memory.is_none() {
        definitions::skimmed(&readable, sources, &charts)
    } else {
        definitions::Skimmed::new()
    };
    let outcomes: Vec<Outcome> = readable
        // In parallel and collected in order, so that the threads decide nothing.
        .par_iter()
        .map(|(id, input)| {
            let source = sources.get(*id);
            let outcome = memory
                .as_deref()
                .and_then(|memory| memory.outcome(*id, source, input.as_ref(), &charts));
            outcome.unwrap_or_else(|| {
                Reading::new(*id, source, input.as_ref(), limits(input), &charts)
                    .read(skimmed.get(id))
            })
        })
        .collect();
    if let Some(memory) = memory {
        memory.keep_outcomes(&readable, &outcomes, sources, &charts);
    }
    let mut of_charts: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, input), outcome) in readable.iter().zip(outcomes) {
        if outcome.helm {
            let folder =
                input.as_ref().map_or_else(|| ".".to_owned(), |input| chart_of(input, &charts));
            *of_charts.entry(folder).or_default() += 1;
            continue;
        }
        loaded.documents.extend(outcome.documents);
        loaded.diagnostics.extend(outcome.diagnostics);
    }
    let is_asked = |input: &&Input| {
        input.reported && (input.named || !input.path.as_deref().is_some_and(is_expectation))
    };
    // Where there is a finding, that one tells why nothing was read.
    if of_charts.is_empty() && loaded.diagnostics.is_empty() {
        loaded.diagnostics.extend(nothing_in(
            &loaded,
            readable.iter().filter_map(|(id, input)| {
                Some((*id, input.as_ref().filter(|input| is_asked(input))?))
            }),
        ));
    }
    loaded
        .diagnostics
        .extend(of_charts.into_iter().map(|(chart, count)| left_alone(&chart, count)));
    if request.skips_builtin {
        let is_wanted = |builtin: &&Builtin| loaded.documents.iter().any(builtin.is_wanted);
        let wanted: Vec<&Builtin> = request.builtin.iter().filter(is_wanted).collect();
        let added = add_builtin(&mut loaded, wanted.into_iter());
        let sources = &loaded.sources;
        let read = |(id, input): &(SourceId, Option<Input>)| {
            let limits = Limits::default();
            Reading::new(*id, sources.get(*id), input.as_ref(), &limits, &charts).read(None)
        };
        let outcomes: Vec<Outcome> = added.par_iter().map(read).collect();
        for outcome in outcomes {
            loaded.documents.extend(outcome.documents);
            loaded.diagnostics.extend(outcome.diagnostics);
        }
    }
    let sources = &loaded.sources;
    // Names are computed once for each finding: a sort of thousands compares each several times.
    loaded.diagnostics.sort_by_cached_key(|finding| match finding.span() {
        Some(span) => {
            (sources.get(span.source).name.to_string(), Some(span.source), span.start, finding.code)
        }
        None => (finding.file.clone().unwrap_or_default(), None, 0, finding.code),
    });
    loaded
}

/// Adds texts that are built in to the sources.
fn add_builtin<'b>(
    loaded: &mut Loaded,
    builtin: impl Iterator<Item = &'b Builtin>,
) -> Vec<(SourceId, Option<Input>)> {
    let add = |Builtin { name, text, .. }: &Builtin| {
        let source = Source::new(format!("builtin:{name}"), SourceKind::Builtin, *text);
        (loaded.sources.add(source), None)
    };
    builtin.map(add).collect()
}

/// Adds the texts of an input to the sources, and findings about those that cannot be read. Returns
/// those that can.
fn add_texts(
    loaded: &mut Loaded,
    inputs: Vec<(Input, Option<Text>)>,
    listed: &Listed,
) -> Vec<(SourceId, Option<Input>)> {
    let mut readable = Vec::new();
    for (input, text) in inputs {
        let Some(text) = text else { continue };
        let kind = if input.path.is_none() { SourceKind::Stdin } else { SourceKind::File };
        let mut add = |text: FileText| {
            let mut source = Source::new(input.name.as_str(), kind, text);
            source.reported = input.reported;
            source.outside = input.outside;
            source.root.clone_from(&input.root);
            source.overlay.clone_from(&input.overlay);
            // The output of a build is complete, and nothing is filled in behind it.
            let path = input.path.as_deref().filter(|_| input.overlay.is_none());
            source.kustomized = path.and_then(|path| listed.of(path));
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
            // Encrypted or compressed: no manifest, whatever its name.
            Err(Unread::NotUtf8(text, _)) if !input.named && !fragments::names_object(&text) => {
                if input.reported {
                    loaded.diagnostics.push(
                        Diagnostic::new(Code::NotUtf8, "the file is no text, and no manifest")
                            .severity(Severity::Info)
                            .in_file(input.name),
                    );
                }
            }
            Err(Unread::NotUtf8(text, at)) if input.reported => {
                let source = add(text.into());
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
    readable
}

/// The finding about the templates of a chart.
fn left_alone(chart: &str, count: usize) -> Diagnostic {
    let what = if count == 1 {
        "1 file is a Helm template and was".to_owned()
    } else {
        format!("{count} files are Helm templates and were")
    };
    Diagnostic::new(Code::HelmTemplate, format!("{what} left alone")).in_file(chart).help(format!(
        "render the chart first: `helm template {} | ome plan -f -`",
        chart.strip_suffix("/templates").unwrap_or(chart)
    ))
}

/// The name of the chart that a file is a part of; its directory, if it is of none.
fn chart_of(input: &Input, charts: &Charts<'_>) -> String {
    let path = input.path.as_deref().unwrap_or(Path::new(""));
    let chart = charts.around(path);
    if let (None, Some(above)) = (chart, charts.above(path)) {
        return above;
    }
    let depth = path.ancestors().skip(1).position(|folder| Some(folder) == chart);
    let name = Path::new(&input.name);
    let folder = name.ancestors().nth(depth.unwrap_or(0) + 1).unwrap_or(Path::new(""));
    if folder.as_os_str().is_empty() { ".".to_owned() } else { folder.display().to_string() }
}

/// The finding about an input without objects: its first text, and the contents of that text.
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

fn read_stdin(stdin: &mut dyn Read, limits: &Limits) -> Text {
    match files::read_from(stdin, limits) {
        Ok(text) => text.map(Into::into),
        Err(error) => {
            Err(Unread::Finding(Box::new(files::not_read("<stdin>", &files::reason(&error)))))
        }
    }
}

fn read(path: &Path, input: &Input, limits: &Limits) -> Text {
    // The size is known without opening the file.
    if input.size > limits.file_size {
        return Err(Unread::Finding(Box::new(files::too_large(limits))));
    }
    files::read(path, limits).map(Into::into)
}

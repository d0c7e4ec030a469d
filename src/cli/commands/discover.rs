//! `ome discover`: AcceleratorClasses from Nodes.

use crate::api::Api;
use crate::cli::args::InputArgs;
use crate::cli::input::Session;
use crate::cli::relevant_findings::of_kinds;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome};
use crate::diag::{Code, Diagnostic, Severity};
use crate::emit::{self, Flat, Placed, stream};
use crate::exchange::class::Action;
use crate::exchange::discover::{self, Discovered, Options, Proposal};
use crate::load::{self, settings::Settings};
use crate::report::discover as view;
use crate::source::{SourceKind, Span};
use crate::yaml::{self, Limits, Node, Origin};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What classes are discovered from.
const KINDS: [&str; 4] = ["Node", "ResourceSlice", "Pod", "AcceleratorClass"];

/// The help text after the flags.
const HELP: &str = "\
Reads Nodes, AcceleratorClasses and Pods. One class per product, named after its label. Memory is the lowest value of its \
nodes, features are those that all of them have, other figures come from data sheets; prices are never set. A class labeled \
`ome.io/auto-discovered: \"true\"` is updated from the nodes; any other is kept and covers its product. Built-in classes are \
ignored.

Units: labels have MiB (81559), classes nominal GiB (80Gi), bandwidth is GB/s, figures are dense TFLOPS.

Actions: create, update, unchanged; kept (written by hand); orphan (its nodes no longer exist: delete it).

Examples:
  kubectl get nodes -o yaml | ome discover -f -             what the cluster has
  ome discover -f nodes.yaml -f classes/                    what changes in the classes
  ome discover -f nodes.yaml -o dir=classes --update        and change it
  ome discover -f nodes.yaml -f pods.yaml --status -o json  devices, all and free
  ome discover --from-values values.yaml -o yaml            classes of Helm values

Exit codes: 0 done, 1 invalid input, or a file that could not be written.";

/// Generate AcceleratorClasses from Nodes: what to create, to update and to keep, with the evidence
/// for each value.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// `table`, `yaml` (classes to create and update), `json`, or `dir=PATH`: a file per new
    /// class, PATH/NAME.yaml. Classes in PATH are read, too.
    #[arg(short, long, default_value = "table", value_name = "FORMAT")]
    output: Output,
    /// Rewrite classes on disk that follow the nodes and differ; with `-o dir=PATH`. Fields that
    /// only the class has are kept, comments in it are not.
    #[arg(long)]
    update: bool,
    /// Write memory as labels report it (`81559Mi`), not the nominal size (`80Gi`).
    #[arg(long)]
    measured: bool,
    /// Compare memory bounds of classes with nominal sizes (80Gi), not with labels (81559 MiB).
    #[arg(long)]
    nominal_memory: bool,
    /// With `-o json`: nodes and devices of each class, all and free after the Pods that were
    /// read.
    #[arg(long)]
    status: bool,
    /// Generate classes from Helm values instead: `acceleratorClasses: {VENDOR: [{model, memory,
    /// variants}]}`. Only this file is read unless `-f` names more.
    #[arg(long, value_name = "FILE")]
    from_values: Option<PathBuf>,
}

/// Where classes go.
#[derive(Clone, Debug)]
enum Output {
    Table,
    Json,
    Yaml,
    Directory(PathBuf),
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "table" => Ok(Self::Table),
            None if text == "json" => Ok(Self::Json),
            None if text == "yaml" => Ok(Self::Yaml),
            Some(("dir", path)) if !path.is_empty() => Ok(Self::Directory(path.into())),
            _ => Err("accepted are table, yaml, json and dir=PATH".into()),
        }
    }
}

/// Discovers, and prints or writes.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    if args.update && !matches!(args.output, Output::Directory(_)) {
        return Err(Failure::Usage(
            "`--update` rewrites files: name their directory with `-o dir=PATH`".into(),
        ));
    }
    let mut session = Session::open(&input(args), &SessionOptions::default())?;
    let options = Options {
        measured: args.measured,
        nominal_memory: args.nominal_memory,
        semantics: session.readings().mode(Api::Ome),
    };
    let checked = match &args.from_values {
        None => discover::discover(&session.world.catalog, &session.world.sources, options),
        Some(file) => {
            let values = values(args, file, &mut session);
            match &values {
                Some(values) => discover::from_values(
                    values,
                    &session.world.catalog,
                    &session.world.sources,
                    options,
                ),
                None => crate::diag::Checked::clean(Discovered::default()),
            }
        }
    };
    let discovered = checked.value;
    let mut failed = false;
    match &args.output {
        Output::Json => {}
        Output::Table => {
            let style = io.style();
            io.print(&view::table(
                &discovered,
                session.world.catalog.machines().len(),
                &session.world.sources,
                style,
            ))?;
        }
        Output::Yaml => {
            let mut out = String::new();
            let mut stream = stream::Stream::new(stream::Format::Yaml);
            for class in discovered.classes.iter().filter(|class| class.action.writes()) {
                stream.push_text(&mut out, &text(class, &session));
            }
            stream.end(&mut out);
            io.print(&out)?;
        }
        Output::Directory(path) => {
            let mut writer = Writer {
                flat: Flat::new(path),
                update: args.update,
                session: &session,
                failed: false,
            };
            for class in &discovered.classes {
                let line = writer.write(class)?;
                io.print_line(&line)?;
            }
            failed = writer.failed;
        }
    }
    let mut found = session.settle(checked.diagnostics);
    if args.from_values.is_none() {
        // Services and everything else are left to `validate`.
        found = of_kinds(&session, found, |kind| KINDS.contains(&kind));
    }
    if matches!(args.output, Output::Json) {
        io.print_json(&view::json(&discovered, args.status, &found, &session.world.sources))?;
    } else {
        session.say(&found, io);
    }
    Ok(session.outcome(&found, failed))
}

/// The input: files of the flags, the values file, and classes that an earlier run wrote.
fn input(args: &Args) -> InputArgs {
    let mut input = args.input.clone();
    if let Output::Directory(path) = &args.output
        && path.is_dir()
    {
        // Naming the target must not replace the default input.
        if input.files.is_empty() && args.from_values.is_none() {
            input.files.push(".".into());
        }
        input.files.push(path.clone());
    }
    input.files.extend(args.from_values.iter().cloned());
    input
}

/// The tree of the values; none, with a finding, when they cannot be read. That they are no object
/// of Kubernetes is as it should be.
fn values(args: &Args, file: &Path, session: &mut Session) -> Option<Node> {
    let name = if load::is_stdin(file) { "<stdin>".into() } else { file.to_string_lossy() };
    let world = &mut session.world;
    let (id, _) = world.sources.iter().find(|(_, source)| *source.name == *name)?;
    // Helm values are no object, and need not be one here.
    world.diagnostics.retain(|finding| {
        !matches!(finding.code, Code::NotKubernetes | Code::HelmTemplate)
            || finding.span().is_some_and(|span| span.source != id)
    });
    session.gaps.retain(|gap| gap.span().is_some_and(|span| span.source != id));
    let world = &mut session.world;
    let text = world.sources.get(id).text.clone();
    let limits = args.input.limits.limits(&Settings::default());
    let mut trees = Vec::new();
    for part in yaml::split(id, &text).value {
        let checked = yaml::parse(id, &text, part, &limits);
        trees.extend(checked.value);
        // Findings of reading are reported once.
        world.diagnostics.extend(checked.diagnostics);
    }
    if trees.is_empty()
        // A file that cannot be read at all has no values to take.
        && world.diagnostics.iter().any(|finding| {
            finding.severity == Severity::Error
                && finding.span().is_some_and(|span| span.source == id)
        })
    {
        return None;
    }
    let nothing = || Node::map(Origin::File(Span { source: id, start: 0, end: 0 }));
    Some(
        trees
            .iter()
            .find(|tree| tree.get("acceleratorClasses").is_some())
            .or(trees.first())
            .cloned()
            .unwrap_or_else(nothing),
    )
}

/// A class as YAML, each value with its evidence.
fn text(class: &Proposal, session: &Session) -> String {
    view::yaml(&class.object, &class.facts, &session.world.sources)
}

/// Puts classes into a directory.
struct Writer<'s> {
    flat: Flat,
    update: bool,
    session: &'s Session,
    failed: bool,
}

impl Writer<'_> {
    /// Writes one class; returns a message about it.
    fn write(&mut self, class: &Proposal) -> Result<String, Failure> {
        let place = class.written.map(|span| self.session.world.sources.locate(span).to_string());
        let written = || place.clone().unwrap_or_default();
        Ok(match class.action {
            Action::Create => self.create(class)?,
            Action::Update if !self.update => {
                format!("differs    {}: not changed; `--update` rewrites it", written())
            }
            Action::Update => self.update(class, &written())?,
            other => format!("{:<9}  {}", other.as_str(), written()),
        })
    }

    fn create(&mut self, class: &Proposal) -> Result<String, Failure> {
        let file = self.flat.place(&class.name);
        let placed = self.flat.create(&class.name, &text(class, self.session))?;
        Ok(match placed {
            Placed::New => format!("created    {}", file.display()),
            Placed::Same => format!("unchanged  {}", file.display()),
            Placed::Taken => {
                self.failed = true;
                format!(
                    "in the way {}: it holds something other than class `{}` and was not changed",
                    file.display(),
                    class.name
                )
            }
        })
    }

    /// Replaces the document of a class in its file, or writes a new file if the class is defined
    /// outside the directory.
    fn update(&mut self, class: &Proposal, place: &str) -> Result<String, Failure> {
        let Some(span) = class.written else { return self.create(class) };
        let sources = &self.session.world.sources;
        let source = sources.get(span.source);
        // Only files of the directory are rewritten; for a class elsewhere a file is created.
        if source.kind != SourceKind::File || !self.flat.holds(Path::new(&*source.name)) {
            let line = self.create(class)?;
            return Ok(format!("{line} (the old class is in {place}: delete it there)"));
        }
        if !stands_alone(span, &source.text, &class.name) {
            self.failed = true;
            return Ok(format!(
                "left       {place}: the class is part of a larger object, change it by hand"
            ));
        }
        let mut repair = Diagnostic::new(Code::ClassDrift, "the class follows its nodes")
            .fix(span, text(class, self.session));
        repair.severity = Severity::Info;
        match emit::fix::fix(&[repair], sources).left.into_iter().next() {
            None => Ok(format!("updated    {place}")),
            Some((_, left)) => {
                self.failed = true;
                Ok(format!("left       {place}: {left}"))
            }
        }
    }
}

/// Whether a place is the whole document of a class, and not an item of a list or a text in a
/// ConfigMap.
fn stands_alone(span: Span, text: &str, name: &str) -> bool {
    let (start, end) = (span.start as usize, span.end as usize);
    let documents = yaml::split(span.source, text).value;
    let whole = documents.iter().any(|part| {
        part.range.start <= start
            && end <= part.range.end
            && text.get(part.range.start..start).is_some_and(|before| {
                before.lines().all(|line| {
                    line.trim().is_empty() || line.starts_with('#') || line.starts_with("---")
                })
            })
    });
    let tree = text
        .get(start..end)
        .and_then(|_| yaml::parse(span.source, text, start..end, &Limits::default()).value);
    whole
        && tree.is_some_and(|tree| {
            let is =
                |keys: &[&str], wanted: &str| tree.at(keys).and_then(Node::as_str) == Some(wanted);
            is(&["kind"], "AcceleratorClass") && is(&["metadata", "name"], name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_rewritten_only_where_it_is_a_document_of_its_own() {
        let class = "kind: AcceleratorClass\nmetadata: {name: a}\n";
        let of = |before: &str, after: &str| {
            let text = format!("{before}{class}{after}");
            let start = u32::try_from(before.len()).expect("short");
            let end = start + u32::try_from(class.len()).expect("short");
            let span = Span { source: crate::source::SourceId(0), start, end };
            stands_alone(span, &text, "a")
        };
        for (before, after, expected) in [
            ("", "", true),
            ("# of the team\n", "", true),
            ("---\n", "---\nkind: Node\n", true),
            ("kind: Node\n---\n", "", true),
            ("a: b\n", "", false),
        ] {
            assert_eq!(of(before, after), expected, "{before:?} {after:?}");
        }
    }
}

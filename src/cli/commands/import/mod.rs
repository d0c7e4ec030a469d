//! `ome import`: the config.json of a model as the fields that selection needs.

mod catalog;
mod origin;

use crate::api::{ObjectRef, Scope};
use crate::cli::args::LimitArgs;
use crate::cli::jsonpath::FormatParser;
use crate::cli::{Failure, Io, Outcome};
use crate::diag::{Code, Diagnostic, Severity};
use crate::emit;
use crate::exchange::import;
use crate::facts::models::{Facts, HubId, of_config};
use crate::load::{self, settings::Settings};
use crate::quantity::ParamCount;
use crate::report::{findings, import as view};
use crate::secret::Secrets;
use crate::source::{Source, SourceId, SourceKind, SourceMap};
use crate::yaml::{self, Limits, Node};
use origin::{Files, Origins};
use std::path::{Path, PathBuf};

/// Read from a model's config.json what selection needs: format, framework, architecture, size,
/// quantization, context.
///
/// Prints a ClusterBaseModel with the evidence for each value, or puts the values into the YAML of
/// a model with `--into`, or into every model of a catalog with `--all`. In a cluster the model
/// agent fills in the same fields after it has downloaded the model.
///
/// `hf://ORG/NAME` is fetched from the Hugging Face Hub: config.json and the safetensors index, at
/// HF_ENDPOINT, with HF_TOKEN, through HTTPS_PROXY. No other command opens a connection.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The config.json of a model, the model_index.json of a diffusion pipeline, the directory that
    /// holds one, or `hf://ORG/NAME[@REVISION]`.
    #[arg(required_unless_present = "all")]
    config: Option<PathBuf>,
    /// Complete every model of the files in place whose storageUri is `hf://…`: from
    /// `--model-configs`, the cache of the Hub, then the Hub.
    #[arg(long, group = "target", conflicts_with_all = ["config", "index", "name", "size", "storage_uri"])]
    all: bool,
    /// Files or directories of the models, for `--all`. Without it, the current directory.
    #[arg(short = 'f', long = "filename", value_name = "PATH", requires = "all")]
    files: Vec<PathBuf>,
    /// Open no connection: `hf://…` is read from `--model-configs` and the cache of the Hub. Also
    /// with HF_HUB_OFFLINE=1.
    #[arg(long)]
    offline: bool,
    /// Look for `hf://…` in this directory first: ORG/NAME/config.json or ORG--NAME.json.
    #[arg(long, env = "OME_MODEL_CONFIGS", value_name = "DIR")]
    model_configs: Option<PathBuf>,
    /// Look for `hf://…` in the cache of the Hugging Face Hub first; `--all` and `--offline` do so
    /// anyway [default directory: HF_HUB_CACHE, or hub in HF_HOME].
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "absent, without a value, with one")]
    hf_cache: Option<Option<PathBuf>>,
    /// Seconds that one file of the Hub may take [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// The model.safetensors.index.json; one beside the config is read by default.
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// Put the values into the BaseModel or ClusterBaseModel of this file; comments and layout
    /// stay.
    #[arg(long, value_name = "FILE", group = "target")]
    into: Option<PathBuf>,
    /// Which model, when the file has several; without `--into`, the name of the printed one.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Replace values that differ; without it they are kept and reported.
    #[arg(long, requires = "target")]
    overwrite: bool,
    /// Parameters of the model, such as 7B, instead of counting them.
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| ParamCount::parse(text))]
    size: Option<ParamCount>,
    /// Where the model is stored, for the printed one [default: the argument, when it is
    /// `hf://…`].
    #[arg(long, value_name = "URI", conflicts_with = "into")]
    storage_uri: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<Format>::new(), default_value_t)]
    output: Format,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The model, or with `--into` the fields that changed.
    #[default]
    Yaml,
    /// One JSON document; its schema has a version.
    Json,
}

const EXAMPLES: &str = "\
Examples:
  ome import hf://Qwen/Qwen3-8B                       print the model
  ome import hf://Qwen/Qwen3-8B --into models.yaml    fill in what models.yaml leaves out
  ome import --all -f models                          complete every model of a directory
  ome import config.json --storage-uri hf://me/mine   from a file";

/// Imports, and prints or patches.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    if args.all {
        return catalog::run(args, io);
    }
    let mut run = Run::new(args);
    let given = args.config.as_deref().unwrap_or(Path::new(""));
    let hub = hub(given)?;
    let given = &origin::config_of(given);
    let files = match hub {
        Some(id) => Origins::of(args, run.limits)?.files(id),
        None => origin::local(given, SourceKind::File, &run.limits),
    };
    let facts = match files {
        Ok(files) => run.facts(files, args.index.as_deref(), args.size),
        Err(finding) => {
            run.found.push(*finding);
            None
        }
    };
    let facts = facts.unwrap_or_default();
    let into = match &args.into {
        Some(file) if !run.failed() => run.patch(file, args, &facts)?,
        _ => None,
    };
    let name = args.name.clone().unwrap_or_else(|| run.name(hub, given));
    let storage = args.storage_uri.clone().or_else(|| hub.map(|hub| hub.to_string()));
    let model = import::model(&facts, &name, storage.as_deref());
    run.sort();
    match (args.output, &into) {
        (Format::Json, into) => {
            io.print_json(&view::json(&model, &facts, into.as_ref(), &run.found, &run.sources))?;
        }
        (Format::Yaml, Some(into)) => io.print(&view::changes(into, &facts, &run.sources))?,
        // After a failure there is nothing to print but its findings.
        (Format::Yaml, None) if args.into.is_some() || facts.values.is_empty() => {}
        (Format::Yaml, None) => io.print(&view::yaml(&model, &facts, &run.sources))?,
    }
    if args.output == Format::Yaml {
        run.say(io);
    }
    Ok(run.outcome())
}

/// The repository of the Hub that an argument names; `None` for a path.
fn hub(given: &Path) -> Result<Option<HubId<'_>>, Failure> {
    let Some(text) = given.to_str().filter(|text| text.starts_with("hf://")) else {
        return Ok(None);
    };
    HubId::parse(text).map(Some).ok_or_else(|| {
        Failure::Usage(format!(
            "`{text}` names no model; write hf://ORG/NAME or hf://ORG/NAME@REVISION"
        ))
    })
}

struct Run {
    limits: Limits,
    sources: SourceMap,
    found: Vec<Diagnostic>,
    /// The name in the config.
    own_name: Option<String>,
}

impl Run {
    fn new(args: &Args) -> Self {
        Self {
            limits: args.limits.limits(&Settings::default()),
            sources: SourceMap::new(),
            found: Vec::new(),
            own_name: None,
        }
    }

    fn failed(&self) -> bool {
        self.found.iter().any(|finding| finding.severity == Severity::Error)
    }

    fn outcome(&self) -> Outcome {
        if self.failed() {
            Outcome::CouldNot
        } else if self.found.iter().any(|finding| finding.code == Code::ImportConflict) {
            Outcome::No
        } else {
            Outcome::Done
        }
    }

    fn sort(&mut self) {
        findings::settle(&mut self.found, &self.sources, &Secrets::new(&self.sources));
    }

    /// Prints the findings.
    fn say(&self, io: &mut Io<'_>) {
        if !self.found.is_empty() {
            let style = io.err_style();
            io.say(&findings::human(&self.found, &self.sources, style));
        }
    }

    /// Reads a file into the sources; none, with a finding, when it cannot be read.
    fn add(&mut self, file: &Path) -> Option<SourceId> {
        match load::read_text(file, &self.limits) {
            Ok(text) => Some(self.sources.add(Source::new(
                file.display().to_string(),
                SourceKind::File,
                text,
            ))),
            Err(finding) => {
                self.found.push(*finding);
                None
            }
        }
    }

    /// Reads a text as JSON; `None`, with findings, if it is not valid JSON.
    fn json(&mut self, source: SourceId) -> Option<Node> {
        let text = self.sources.get(source).text.clone();
        let checked = yaml::parse(source, &text, 0..text.len(), &self.limits);
        // Warnings about how kubectl reads scalars do not apply to a config.
        self.found.extend(
            checked.diagnostics.into_iter().filter(|finding| finding.severity == Severity::Error),
        );
        checked.value
    }

    /// The facts of a model's files; `index` overrides the index in the directory of the config.
    fn facts(
        &mut self,
        files: Files,
        index: Option<&Path>,
        size: Option<ParamCount>,
    ) -> Option<Facts> {
        let config = self.sources.add(files.config);
        let config = self.json(config);
        let index = match (index, files.index) {
            (Some(file), _) => self.add(file).and_then(|source| self.json(source)),
            (None, Some(index)) => self.index_beside(index),
            (None, None) => None,
        };
        let config = config?;
        self.own_name = config.get("_name_or_path").and_then(Node::as_str).map(str::to_owned);
        let checked = of_config(&config, index.as_ref(), size);
        self.found.extend(checked.diagnostics);
        Some(checked.value)
    }

    /// The index in the directory of a config. The user did not name it, so if it cannot be read,
    /// that is only a note.
    fn index_beside(&mut self, index: Result<Source, Box<Diagnostic>>) -> Option<Node> {
        let before = self.found.len();
        let index = match index {
            Ok(source) => {
                let source = self.sources.add(source);
                self.json(source)
            }
            Err(finding) => {
                self.found.push(*finding);
                None
            }
        };
        // Without the index only the size stays unknown.
        self.found[before..].iter_mut().for_each(|finding| finding.severity = Severity::Info);
        index
    }

    /// A name for the printed model: that of the repository, else of the config, else of its
    /// directory.
    fn name(&self, hub: Option<HubId<'_>>, file: &Path) -> String {
        let last = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let directory = || {
            file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned())
        };
        let named = [
            hub.and_then(|hub| last(hub.id)),
            self.own_name.as_deref().and_then(last),
            directory(),
        ];
        named
            .into_iter()
            .flatten()
            .map(|name| {
                // The name of an object takes these characters, and 63 of them at most.
                let plain: String = name
                    .to_lowercase()
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
                    .collect();
                plain.trim_matches(['-', '.']).chars().take(63).collect::<String>()
            })
            .find(|name| !name.is_empty())
            .unwrap_or_else(|| "model".into())
    }

    /// Patches the model of a file.
    fn patch(
        &mut self,
        file: &Path,
        args: &Args,
        facts: &Facts,
    ) -> Result<Option<view::Into>, Failure> {
        let Some(source) = self.add(file) else { return Ok(None) };
        let text = self.sources.get(source).text.clone();
        let models: Vec<Node> = yaml::split(source, &text)
            .value
            .into_iter()
            .filter_map(|part| {
                let checked = yaml::parse(source, &text, part, &self.limits);
                self.found.extend(
                    checked
                        .diagnostics
                        .into_iter()
                        .filter(|finding| finding.severity == Severity::Error),
                );
                checked.value
            })
            .filter(is_model)
            .collect();
        let named: Vec<&Node> = models
            .iter()
            .filter(|model| args.name.as_deref().is_none_or(|name| name_of(model) == Some(name)))
            .collect();
        let [model] = named.as_slice() else {
            let names: Vec<&str> = models.iter().filter_map(name_of).collect();
            let message = match (&args.name, names.is_empty()) {
                (_, true) => format!("{} holds no BaseModel or ClusterBaseModel", file.display()),
                (Some(name), false) => {
                    format!("{} holds not exactly one model `{name}`", file.display())
                }
                (None, false) => format!("{} holds {} models", file.display(), names.len()),
            };
            let help = (!names.is_empty())
                .then(|| format!("choose one with `--name`: {}", names.join(", ")));
            return Err(Failure::NotFound { message, help });
        };
        let checked = import::patch(source, &text, model, facts, args.overwrite, &self.limits);
        self.found.extend(checked.diagnostics);
        let Some(patched) = checked.value.filter(|_| !self.failed()) else { return Ok(None) };
        let mut repair =
            Diagnostic::new(Code::ModelIncomplete, "fields of the model are filled in");
        repair.fix = patched.edits;
        if !repair.fix.is_empty()
            && let Some((_, left)) =
                emit::fix::fix(&[repair], &self.sources).left.into_iter().next()
        {
            return Err(Failure::Usage(format!("cannot write {}: {left}", file.display())));
        }
        let kind = model.get("kind").and_then(Node::as_str).unwrap_or_default();
        let id = ObjectRef {
            kind: kind.into(),
            scope: Scope::Cluster,
            name: name_of(model).unwrap_or_default().into(),
        };
        Ok(Some(view::Into {
            file: file.display().to_string(),
            model: id.to_string(),
            changed: patched.changed,
        }))
    }
}

fn is_model(node: &Node) -> bool {
    let is = |key: &str, accepted: &[&str]| {
        node.get(key).and_then(Node::as_str).is_some_and(|value| accepted.contains(&value))
    };
    is("kind", &["BaseModel", "ClusterBaseModel"]) && is("apiVersion", &["ome.io/v1beta1"])
}

fn name_of(model: &Node) -> Option<&str> {
    model.at(&["metadata", "name"])?.as_str()
}

//! `ome import`: the config.json of a model as the fields that selection needs.

use crate::api::{ObjectRef, Scope};
use crate::cli::args::LimitArgs;
use crate::cli::{Failure, Io, Outcome};
use crate::diag::{Code, Diagnostic, Severity};
use crate::emit;
use crate::exchange::import;
use crate::facts::models::{Facts, of_config};
use crate::load::{self, settings::Settings};
use crate::quantity::ParamCount;
use crate::report::{findings, import as view};
use crate::secret::Secrets;
use crate::source::{Source, SourceId, SourceKind, SourceMap};
use crate::yaml::{self, Limits, Node};
use std::path::{Path, PathBuf};

/// Read from a model's config.json what selection needs: format, framework, architecture, size,
/// quantization, context.
///
/// Prints a ClusterBaseModel with the evidence for each value, or puts the values into the YAML of
/// a model with `--into`. Upstream's model agent fills in the same fields after it has downloaded
/// the model; offline nobody does.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The config.json of a model, or the model_index.json of a diffusion pipeline.
    config: PathBuf,
    /// The model.safetensors.index.json; one that stands beside the config is read by itself.
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// Put the values into the BaseModel or ClusterBaseModel of this file; comments and layout
    /// stay.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Which model, when the file holds several; the name of the printed one without `--into`.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Replace values that say something else; without it they are kept and reported.
    #[arg(long, requires = "into")]
    overwrite: bool,
    /// Parameters of the model, such as 7B, instead of counting them.
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| ParamCount::parse(text))]
    size: Option<ParamCount>,
    /// Where the model is stored, for the printed one: `hf://org/name`.
    #[arg(long, value_name = "URI", conflicts_with = "into")]
    storage_uri: Option<String>,
    /// Shape of the output.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Shape of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The model, or with `--into` the fields that changed.
    #[default]
    Yaml,
    /// One JSON document with a versioned shape.
    Json,
}

/// Name of the index that stands beside a config.
const INDEX: &str = "model.safetensors.index.json";

/// Imports, and prints or patches.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let mut run = Run {
        limits: args.limits.limits(&Settings::default()),
        sources: SourceMap::new(),
        found: Vec::new(),
    };
    let config = run.json(&args.config);
    let index = match &args.index {
        Some(file) => run.json(file),
        None => run.index_beside(&args.config),
    };
    let mut facts = Facts::default();
    if let Some(config) = &config {
        let checked = of_config(config, index.as_ref(), args.size);
        facts = checked.value;
        run.found.extend(checked.diagnostics);
    }
    let into = match &args.into {
        Some(file) if !run.failed() => run.patch(file, args, &facts)?,
        _ => None,
    };
    let name = args.name.clone().unwrap_or_else(|| name(config.as_ref(), &args.config));
    let model = import::model(&facts, &name, args.storage_uri.as_deref());
    findings::settle(&mut run.found, &run.sources, &Secrets::new(&run.sources));
    match (args.output, &into) {
        (Format::Json, into) => {
            io.print_json(&view::json(&model, &facts, into.as_ref(), &run.found, &run.sources))?;
        }
        (Format::Yaml, Some(into)) => io.print(&view::changes(into, &facts, &run.sources))?,
        (Format::Yaml, None) if args.into.is_some() || facts.values.is_empty() => {}
        (Format::Yaml, None) => io.print(&view::yaml(&model, &facts, &run.sources))?,
    }
    if args.output == Format::Yaml && !run.found.is_empty() {
        let color = io.err_color();
        io.say(&findings::human(&run.found, &run.sources, color));
    }
    let conflict = run.found.iter().any(|finding| finding.code == Code::ImportConflict);
    Ok(if run.failed() {
        Outcome::CouldNot
    } else if conflict {
        Outcome::No
    } else {
        Outcome::Done
    })
}

struct Run {
    limits: Limits,
    sources: SourceMap,
    found: Vec<Diagnostic>,
}

impl Run {
    fn failed(&self) -> bool {
        self.found.iter().any(|finding| finding.severity == Severity::Error)
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

    /// Reads a JSON file; none, with findings, when it cannot be read.
    fn json(&mut self, file: &Path) -> Option<Node> {
        let source = self.add(file)?;
        let text = self.sources.get(source).text.clone();
        let checked = yaml::parse(source, &text, 0..text.len(), &self.limits);
        // How kubectl would read the scalars of a config does not matter.
        self.found.extend(
            checked.diagnostics.into_iter().filter(|finding| finding.severity == Severity::Error),
        );
        checked.value
    }

    /// The index beside a config, if there is one. Nobody named it, so one that cannot be read is
    /// worth no more than a note.
    fn index_beside(&mut self, config: &Path) -> Option<Node> {
        let file = config.with_file_name(INDEX);
        if !file.is_file() {
            return None;
        }
        let before = self.found.len();
        let index = self.json(&file);
        self.found[before..].iter_mut().for_each(|finding| finding.severity = Severity::Info);
        index
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
                .then(|| format!("say which with `--name`: {}", names.join(", ")));
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

/// A name for the printed model: that of the config, else of its directory.
fn name(config: Option<&Node>, file: &Path) -> String {
    let named = config
        .and_then(|config| config.get("_name_or_path"))
        .and_then(Node::as_str)
        .and_then(|path| path.rsplit('/').next())
        .map(str::to_owned);
    let directory =
        file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    [named, directory]
        .into_iter()
        .flatten()
        .map(|name| {
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

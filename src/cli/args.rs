//! Arguments that several verbs share, exactly as they were typed; what they mean comes later.

use super::incomplete::{self, Gap};
use super::proposals::{Proposals, Typed};
use super::session_options::SessionOptions;
use super::{Failure, Io};
use crate::load::settings::{self, Settings, Trust};
use crate::load::{ModelFiles, default_cache};
use crate::operators;
use crate::operators::ome::accelerators::condition::tokens;
use crate::operators::ome::objects::workload::Workload;
use crate::pipeline::{At, Each, Lost};
use crate::policy::{AcceleratorOptions, ArgsOrder, BuiltinMode};
use crate::report::answer::Answer;
use crate::report::markdown;
use crate::source::SourceId;
use crate::workspace::complete::ModelFacts;
use crate::yaml::Limits;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What is read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// File, directory or `-`; repeatable [default: the current directory].
    ///
    /// Directories are read recursively, `-` is standard input.
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    pub files: Vec<PathBuf>,
    /// File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the
    /// input; repeatable.
    #[arg(long, value_name = "FILE|DIR")]
    pub presets: Vec<PathBuf>,
    /// Kustomize directory, which is built; repeatable.
    ///
    /// Built with `kustomize build` or `kubectl kustomize`.
    #[arg(short = 'k', long = "kustomize", value_name = "DIR")]
    pub kustomize: Vec<PathBuf>,
    /// Program that builds the directories of `-k`, with its arguments [default: the first of
    /// `kustomize build` and `kubectl kustomize` on PATH].
    #[arg(long, env = "OME_KUSTOMIZE_COMMAND", value_name = "COMMAND")]
    pub kustomize_command: Option<String>,
    /// Whether overlays below `-f` are built [default: never].
    ///
    /// `auto` builds each kustomization that no other one includes, if all of its files are in the
    /// repository and it has no plugins and no charts. Not by validate, test and lsp.
    #[arg(long, value_enum, env = "OME_KUSTOMIZE", value_name = "WHEN")]
    pub overlays: Option<OverlaysArg>,
    /// Read what links and `paths` of ome.toml lead to outside of the named paths.
    #[arg(long)]
    pub follow_outside: bool,
    /// Directories are always read recursively; accepted because kubectl requires it.
    #[arg(short = 'R', long, hide = true)]
    pub recursive: bool,
    /// Only the services of a namespace.
    ///
    /// It is also the namespace of documents without one.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Services of all namespaces (the default without `-n`).
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub all_namespaces: bool,
    /// Only services whose labels match the selector, as kubectl's.
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// When the built-in catalog is used [default: auto].
    ///
    /// The catalog has runtimes and accelerator classes.
    #[arg(long, value_enum, env = "OME_BUILTIN", value_name = "WHEN")]
    pub builtin: Option<BuiltinArg>,
    /// The same as `--builtin never`.
    #[arg(long, env = "OME_NO_BUILTIN", value_parser = clap::builder::BoolishValueParser::new(), num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub no_builtin: Option<bool>,
    /// Follow the published documents, or the code of the controllers.
    #[arg(long, value_enum, env = "OME_SEMANTICS", value_name = "MODE")]
    pub semantics: Option<SemanticsArg>,
    /// Follow a release of an operator, as `ome=v0.1.4`; repeatable.
    ///
    /// It means `--semantics controller` for that operator alone.
    #[arg(long, env = "OME_RELEASE", hide_possible_values = true, value_name = "OPERATOR=TAG", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(release_names()))]
    pub release: Vec<String>,
    /// A release of Kthena whose behavior ModelServings follow instead of the document's; manifests
    /// are read as the documents read them.
    #[arg(long, value_enum, env = "OME_KTHENA_PROFILE", value_name = "RELEASE")]
    pub kthena_profile: Option<KthenaProfileArg>,
    /// Default deployment mode for KServe InferenceServices without the annotation.
    #[arg(long, value_name = "MODE", value_parser = ["RawDeployment", "Serverless", "Standard", "Knative"])]
    pub deployment_mode: Option<String>,
    #[command(flatten)]
    pub models: ModelArgs,
    /// Whether pods tolerate the taints of the devices that they request, as the admission plugin
    /// ExtendedResourceToleration makes them [default: assume].
    #[arg(long, value_enum, env = "OME_DEVICE_TOLERATIONS", value_name = "WHEN")]
    pub device_tolerations: Option<DeviceTolerationsArg>,
    /// Do not report references to objects that were not loaded.
    #[arg(long)]
    pub partial: bool,
    /// Settings file; by default `ome.toml` is searched upward from the working directory, and
    /// `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out.
    #[arg(long, env = "OME_CONFIG", value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Read no settings file.
    #[arg(long)]
    pub no_config: bool,
    /// Files and directories below `-f` that are not read, as in `.gitignore`; repeatable.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Use the definitions of this directory where there are several.
    #[arg(long = "in", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub within: Option<String>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Threads, at most 4 per core; the output does not depend on it [default: one per core].
    #[arg(long, env = "OME_JOBS", value_name = "N")]
    pub jobs: Option<usize>,
    /// Findings of level warning count as errors.
    #[arg(long)]
    pub strict: bool,
    /// The command line that they are from.
    #[arg(skip)]
    pub typed: Typed,
}

/// Whether overlays are built that were not named with `-k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OverlaysArg {
    /// Those whose files are all in the repository.
    Auto,
    /// None.
    Never,
}

/// Where facts about models come from that their manifests leave out.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ModelArgs {
    /// Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this
    /// directory.
    #[arg(long, env = "OME_MODEL_CONFIGS", value_name = "DIR")]
    pub model_configs: Option<PathBuf>,
    /// Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or
    /// hub in HF_HOME].
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "absent, without a value, with one")]
    pub hf_cache: Option<Option<PathBuf>>,
    /// Whether models are completed from the built-in table of published models [default: auto].
    #[arg(long, value_enum, env = "OME_MODEL_FACTS", value_name = "WHEN")]
    pub model_facts: Option<ModelFactsArg>,
}

/// Refuses directories of model files that are not there: models would silently lack facts.
pub(crate) fn require_directories(files: &ModelFiles) -> Result<(), Failure> {
    let given = [("--model-configs", &files.directory), ("--hf-cache", &files.cache)];
    for (flag, directory) in given {
        if let Some(directory) = directory.as_ref().filter(|directory| !directory.is_dir()) {
            let directory = directory.display();
            return Err(Failure::Usage(format!("`{directory}` of `{flag}` is not a directory")));
        }
    }
    Ok(())
}

/// Whether the table of published models is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelFactsArg {
    /// For what manifests and config.json files leave out. Not with `--semantics controller
    /// --no-builtin`, which decides as the controller does on the objects that are read, before
    /// the model agent has completed any.
    Auto,
    /// For values that manifests and config.json files do not set, in every mode.
    Always,
    /// Not at all.
    Never,
}

impl ModelFactsArg {
    /// Its name in flags and settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

impl ModelArgs {
    /// Whether the table of published models is used: the flag, then settings.
    pub(crate) fn when(&self, settings: &Settings) -> ModelFactsArg {
        match (self.model_facts, settings.model_facts.as_deref()) {
            (Some(when), _) => when,
            (None, Some("always")) => ModelFactsArg::Always,
            (None, Some("never")) => ModelFactsArg::Never,
            (None, _) => ModelFactsArg::Auto,
        }
    }

    /// Where facts come from: flags, then settings, then defaults.
    pub(crate) fn facts(&self, settings: &Settings, limits: Limits) -> ModelFacts {
        let cache = match &self.hf_cache {
            Some(Some(directory)) => Some(directory.clone()),
            // A flag without a value means the cache that the tools of the Hub use.
            Some(None) => default_cache(),
            None => None,
        };
        let directory = self.model_configs.clone().or_else(|| settings.model_configs.clone());
        let table = match self.when(settings) {
            ModelFactsArg::Auto | ModelFactsArg::Always => true,
            ModelFactsArg::Never => false,
        };
        ModelFacts { files: ModelFiles { directory, cache }, table, limits }
    }
}

/// How much is read.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the flags are called so")]
pub(crate) struct LimitArgs {
    /// Largest file that is read [default: 512MiB, of which one object has at most 8MiB].
    #[arg(long, env = "OME_MAX_FILE_SIZE", value_name = "SIZE")]
    pub max_file_size: Option<bytesize::ByteSize>,
    /// Deepest nesting of a document [default: 64].
    #[arg(long, env = "OME_MAX_DEPTH", value_name = "N")]
    pub max_depth: Option<usize>,
    /// Most nodes of a document, aliases expanded [default: 1000000].
    #[arg(long, env = "OME_MAX_NODES", value_name = "N")]
    pub max_nodes: Option<usize>,
    /// Most files that are read below the paths of `-f` [default: 50000].
    #[arg(long, env = "OME_MAX_FILES", value_name = "N")]
    pub max_files: Option<usize>,
}

impl LimitArgs {
    /// The limits of a run: flags, then settings, then defaults.
    pub(crate) fn limits(&self, settings: &Settings) -> Limits {
        let defaults = Limits::default();
        let size = self.max_file_size.map(|size| size.as_u64()).or(settings.max_file_size);
        Limits {
            file_size: size.unwrap_or(defaults.file_size),
            // A file of one document is as large as the document.
            document_size: size.unwrap_or(defaults.document_size),
            files: self.max_files.or(settings.max_files).unwrap_or(defaults.files),
            depth: self.max_depth.or(settings.max_depth).unwrap_or(defaults.depth),
            nodes: self.max_nodes.or(settings.max_nodes).unwrap_or(defaults.nodes),
        }
    }
}

/// Flags that change the decisions for services.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DecisionArgs {
    /// The requested protocol of every service; overrides the services.
    #[arg(long, value_name = "NAME")]
    pub protocol: Option<String>,
    #[command(flatten)]
    pub accelerators: AcceleratorArgs,
}

impl DecisionArgs {
    /// The session options of the flags.
    ///
    /// # Errors
    /// As [`AcceleratorArgs::options`].
    pub(crate) fn ask(&self) -> Result<SessionOptions<'_>, Failure> {
        Ok(SessionOptions {
            protocol: self.protocol.as_deref(),
            accelerators: self.accelerators.options()?,
            builds: true,
            ..SessionOptions::default()
        })
    }
}

/// Flags for the choice of accelerators.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AcceleratorArgs {
    /// Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default
    /// true).
    #[arg(long, value_name = "GATES", value_delimiter = ',')]
    pub feature_gates: Vec<String>,
    /// Fail if no preferred class is eligible.
    #[arg(long)]
    pub strict_preferred: bool,
    /// A preferred class passes although its capabilities are unknown.
    #[arg(long)]
    pub allow_unknown: bool,
    /// Size of requests in tokens (`k` = 1000), for conditions of preferences; over the
    /// annotation.
    #[arg(long, value_name = "TOKENS")]
    pub request_size: Option<String>,
    /// Fail if no class is under the cost threshold.
    #[arg(long)]
    pub strict_cost: bool,
    /// Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime,
    /// accelerator, service.
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    pub args_order: ArgsOrderArg,
    /// Drop duplicate flags: the service's value wins, otherwise the last one.
    #[arg(long)]
    pub dedupe_args: bool,
}

/// Order of arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArgsOrderArg {
    /// Runtime, service, accelerator.
    #[default]
    Default,
    /// Accelerator, runtime, service.
    AcceleratorFirst,
    /// Runtime, accelerator, service.
    Hierarchy,
}

impl AcceleratorArgs {
    /// The options of the flags.
    ///
    /// # Errors
    /// An unknown gate, a size that is none.
    pub(crate) fn options(&self) -> Result<AcceleratorOptions, Failure> {
        let mut off = false;
        // The last mention of the gate counts.
        for gate in &self.feature_gates {
            match gate.split_once('=') {
                Some(("AcceleratorAwareScheduling", "true")) => off = false,
                Some(("AcceleratorAwareScheduling", "false")) => off = true,
                _ => {
                    return Err(Failure::Usage(format!(
                        "`{gate}` is no feature gate: write `AcceleratorAwareScheduling=true` or `=false`"
                    )));
                }
            }
        }
        let request_size = match &self.request_size {
            None => None,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "tokens are whole and not negative"
            )]
            Some(text) => Some(
                tokens(text)
                    .ok_or_else(|| Failure::Usage(format!("`{text}` is not a number of tokens")))?
                    as u64,
            ),
        };
        Ok(AcceleratorOptions {
            off,
            strict_preferred: self.strict_preferred,
            allow_unknown: self.allow_unknown,
            request_size,
            strict_cost: self.strict_cost,
            args_order: match self.args_order {
                ArgsOrderArg::Default => ArgsOrder::Default,
                ArgsOrderArg::AcceleratorFirst => ArgsOrder::AcceleratorFirst,
                ArgsOrderArg::Hierarchy => ArgsOrder::Hierarchy,
            },
            dedupe_args: self.dedupe_args,
        })
    }
}

/// Whether pods get tolerations for the devices that they request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceTolerationsArg {
    /// They do, unless pods of the input show that they do not.
    Assume,
    /// They have only the tolerations that they state.
    Never,
}

/// When the built-in catalog is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BuiltinArg {
    /// Runtimes where the input has none of that API, accelerator classes where it has none and has
    /// Nodes of the class, and objects that the input names. None for a live cluster, an input with
    /// `metadata.uid`.
    Auto,
    /// Beside the runtimes and classes of the input.
    Always,
    /// Not at all, not by name either.
    Never,
}

/// Every release that can be named, as `--release` takes it, by operator and oldest first.
pub(crate) fn release_names() -> Vec<String> {
    let of = |(operator, tags): (&str, Vec<&str>)| -> Vec<String> {
        tags.into_iter().map(|tag| format!("{operator}={tag}")).collect()
    };
    operators::release_tags().into_iter().flat_map(of).collect()
}

impl InputArgs {
    /// Whether overlays are built that were not named: the flag, then settings.
    pub(crate) fn builds_overlays(&self, settings: &Settings) -> bool {
        let flag = self.overlays.map(|when| when == OverlaysArg::Auto);
        flag.or(settings.builds_overlays).unwrap_or(false)
    }

    /// What proposals need to know of the run.
    pub(crate) fn proposals(&self) -> Proposals {
        Proposals::new([("-f", &self.files), ("-k", &self.kustomize)], self.typed.clone())
    }

    /// A text with its proposals complete; see [`Proposals::complete`].
    pub(crate) fn complete(&self, text: &str) -> Option<String> {
        self.proposals().complete(text)
    }

    /// The paths that `--watch` watches: the input, and the settings with their paths.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let files = self.settings_files();
        // A file that cannot be read adds no paths; the run reports it.
        let read = |(file, trust): &(PathBuf, Trust)| {
            let tags = operators::release_tags();
            settings::read(file, SourceId(u32::MAX), &tags, *trust, self.follow_outside).ok()
        };
        let (mut added, mut presets) = (Vec::new(), Vec::new());
        for (settings, ..) in files.iter().filter_map(read) {
            added.extend(settings.paths);
            presets.extend(settings.presets);
        }
        let mut paths = [self.files.clone(), self.kustomize.clone(), added].concat();
        // Without paths the run reads this directory.
        if paths.is_empty() {
            paths.push(PathBuf::from("."));
        }
        paths.extend(presets.into_iter().chain(self.presets.iter().cloned()));
        paths.extend(files.into_iter().map(|(file, _)| file));
        paths
    }

    /// The settings files of a run, the one that wins first: the one that is named, else the one
    /// that is found and the user's own.
    pub(crate) fn settings_files(&self) -> Vec<(PathBuf, Trust)> {
        if let Some(file) = &self.config {
            return vec![(file.clone(), Trust::Chosen)];
        }
        if self.no_config {
            return Vec::new();
        }
        let found = std::env::current_dir().ok().and_then(|here| settings::find(&here));
        let found = found.map(|file| (file, Trust::Found));
        let user = settings::of_user().map(|file| (file, Trust::Chosen));
        found.into_iter().chain(user).collect()
    }

    /// Whether pods get tolerations for the devices that they request: the flag, then settings.
    pub(crate) fn tolerates_devices(&self, settings: &Settings) -> bool {
        match self.device_tolerations {
            Some(when) => when == DeviceTolerationsArg::Assume,
            None => settings.device_tolerations.unwrap_or(true),
        }
    }

    /// When the built-in catalog is used: `--builtin`, then `--no-builtin`, then settings.
    pub(crate) fn builtin(&self, settings: &Settings) -> BuiltinMode {
        // A flag wins over the variable of the other one.
        let of_variable = self.typed.is_typed("--no-builtin") && !self.typed.is_typed("--builtin");
        match (self.builtin.filter(|_| !of_variable), self.no_builtin) {
            (Some(BuiltinArg::Auto), _) | (None, Some(false)) => BuiltinMode::Auto,
            (Some(BuiltinArg::Always), _) => BuiltinMode::Always,
            (Some(BuiltinArg::Never), _) | (None, Some(true)) => BuiltinMode::Never,
            (None, None) => settings.builtin.unwrap_or_default(),
        }
    }
}

/// The mode: documents or controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SemanticsArg {
    /// The documents as written.
    Documented,
    /// As the code of the operators decides.
    Controller,
}

/// The workload around the pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkloadArg {
    /// The kind that the operator writes in the deployment mode.
    #[default]
    Auto,
    /// Deployments.
    Deployment,
    /// LeaderWorkerSets.
    Lws,
    /// One ModelServing of Kthena.
    Modelserving,
}

impl WorkloadArg {
    /// The workload that is meant.
    pub(crate) fn workload(self) -> Workload {
        match self {
            Self::Auto => Workload::Auto,
            Self::Deployment => Workload::Deployment,
            Self::Lws => Workload::LeaderWorkerSet,
            Self::Modelserving => Workload::ModelServing,
        }
    }
}

/// A release of Kthena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KthenaProfileArg {
    /// v0.1.0 of 2025-10.
    #[value(name = "v0.1")]
    V0_1,
    /// v1.0.0 of 2026-07.
    #[value(name = "v1.0")]
    V1_0,
    /// volcano-sh/kthena @3cc0572, as under controller semantics.
    Head,
}

impl KthenaProfileArg {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V0_1 => "v0.1",
            Self::V1_0 => "v1.0",
            Self::Head => "head",
        }
    }
}

/// Output format of commands that report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Tables.
    #[default]
    Table,
    /// One JSON document; its schema has a version.
    Json,
    /// The same document as YAML.
    Yaml,
}

/// Output format of commands whose answer is shown to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// Tables.
    #[default]
    Table,
    /// One JSON document; its schema has a version.
    Json,
    /// The same document as YAML.
    Yaml,
    /// Markdown that fits a pull request comment.
    Markdown,
    /// A single HTML page.
    Html,
}

impl PageFormat {
    /// Whether the output is one document for programs.
    pub(crate) fn is_data(self) -> bool {
        matches!(self, Self::Json | Self::Yaml)
    }

    /// Begins a page with a line about all of it; a document for programs has a field instead.
    pub(super) fn begin(self, line: &str, io: &mut Io<'_>) -> std::io::Result<()> {
        match self {
            Self::Table => io.print_line(line),
            Self::Markdown => io.print(&format!("{}\n", markdown::lines(&format!("{line}\n")))),
            Self::Html => {
                io.insert_in_page(line);
                Ok(())
            }
            Self::Json | Self::Yaml => Ok(()),
        }
    }

    /// Prints an answer, and for programs the gaps of the inputs.
    pub(super) fn print(
        self,
        answer: &impl Answer,
        gaps: &[Gap],
        io: &mut Io<'_>,
    ) -> Result<(), Failure> {
        match self {
            Self::Json | Self::Yaml => incomplete::print_json(&answer.json(), gaps, io)?,
            Self::Table => answer.text(io.style(), &mut |piece| io.print(piece))?,
            Self::Markdown => io.print(&answer.markdown().map_err(Failure::Usage)?)?,
            Self::Html => io.print(&answer.html().map_err(Failure::Usage)?)?,
        }
        Ok(())
    }
}

/// `--at`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AtArg {
    /// minReplicas.
    #[default]
    Min,
    /// maxReplicas of everything at once.
    Max,
    /// As running pods and `spec.replicas` in the input have it.
    Current,
}

/// `--each`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum EachArg {
    /// Every node.
    Node,
    /// Every zone.
    Zone,
    /// Every accelerator class with nodes.
    Class,
}

impl From<EachArg> for Each {
    fn from(each: EachArg) -> Self {
        match each {
            EachArg::Node => Self::Node,
            EachArg::Zone => Self::Zone,
            EachArg::Class => Self::Class,
        }
    }
}

/// A value of `--without`: `node=NAME`, `zone=NAME`, `class=NAME` or a label; `/` may stand for the
/// first `=` of the first three.
pub(crate) fn lost(text: &str) -> Result<Lost, String> {
    let is_known = |word: &str, name: &str| match word {
        "node" => Some(Lost::Node(name.into())),
        "zone" => Some(Lost::Zone(name.into())),
        "class" => Some(Lost::Class(name.into())),
        _ => None,
    };
    let found = match (text.split_once('='), text.split_once('/')) {
        (Some((key, value)), slashed) => {
            // A `/` before the first `=` separates: `node/a=b` is the node `a=b`.
            let by_slash = slashed
                .filter(|(word, _)| word.len() < key.len())
                .and_then(|(word, name)| is_known(word, name));
            by_slash
                .or_else(|| is_known(key, value))
                .or_else(|| (!key.is_empty()).then(|| Lost::Label(key.into(), value.into())))
        }
        (None, Some((word, name))) => is_known(word, name),
        (None, None) => None,
    };
    found.ok_or_else(|| "write node=NAME, zone=NAME, class=NAME or the label KEY=VALUE".to_owned())
}

impl From<AtArg> for At {
    fn from(at: AtArg) -> Self {
        match at {
            AtArg::Min => Self::Min,
            AtArg::Max => Self::Max,
            AtArg::Current => Self::Current,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_a_node_a_zone_a_class_or_a_label() {
        let name = |lost: Lost| match lost {
            Lost::Node(name) => format!("node {name}"),
            Lost::Zone(name) => format!("zone {name}"),
            Lost::Class(name) => format!("class {name}"),
            Lost::Label(key, value) => format!("label {key} {value}"),
        };
        for (text, expected) in [
            ("node=n1", Some("node n1")),
            ("node/n1", Some("node n1")),
            ("zone=eu-1", Some("zone eu-1")),
            ("class/h100", Some("class h100")),
            ("pool=a", Some("label pool a")),
            ("pool=", Some("label pool ")),
            ("topology.kubernetes.io/zone=eu-1", Some("label topology.kubernetes.io/zone eu-1")),
            ("node/a=b", Some("node a=b")),
            ("node=a/b", Some("node a/b")),
            ("=a", None),
            ("n1", None),
            ("pool/a", None),
            ("", None),
        ] {
            assert_eq!(lost(text).ok().map(name).as_deref(), expected, "{text}");
        }
    }
}

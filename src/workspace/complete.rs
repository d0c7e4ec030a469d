//! Completes models that omit fields of the selection, once and before any decision.
//!
//! In: the documents of models, and the sources of facts. Out: per document a [`Completion`], whose
//! values have their source as origin, and findings. A value in the manifest is never changed; of
//! several sources the first one with a value is used: a config.json, then the table of published
//! models.

use crate::api::{Completed, Completion, Evidence, Field};
use crate::diag::{Code, Diagnostic, Severity};
use crate::facts::models::{self, Basis, Fact, Facts, HubId};
use crate::load::{Document, ModelFiles, read_text};
use crate::source::{Source, SourceId, SourceKind, SourceMap};
use crate::yaml::{self, Limits, Node, Origin, Segment};
use ecow::EcoString;
use std::collections::HashMap;

/// Where facts about models may come from.
#[derive(Clone, Debug)]
pub struct ModelFacts {
    /// config.json files on this machine.
    pub files: ModelFiles,
    /// The table of published models.
    pub table: bool,
    /// How much of a file is read.
    pub limits: Limits,
}

impl Default for ModelFacts {
    /// The table only.
    fn default() -> Self {
        Self { files: ModelFiles::default(), table: true, limits: Limits::default() }
    }
}

/// The facts of one repository, in the order of precedence.
type Layers = Vec<(Evidence, Facts)>;

/// Returns the missing values of models, by position of the document.
pub(crate) fn completions(
    documents: &[Document],
    given: &ModelFacts,
    sources: &mut SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> HashMap<usize, Completion> {
    let mut run = Run {
        given,
        sources,
        diagnostics,
        cached: HashMap::new(),
        names: HashMap::new(),
        matched: false,
    };
    // Only OME has an agent that reads the files of a model (pkg/modelagent).
    let models = documents.iter().enumerate().filter(|(_, document)| {
        matches!(document.kind.as_str(), "BaseModel" | "ClusterBaseModel")
            && document.group() == "ome.io"
    });
    let found: HashMap<usize, Completion> =
        models.map(|(index, document)| (index, run.complete(document))).collect();
    run.unused(found.len());
    found
}

struct Run<'a> {
    given: &'a ModelFacts,
    sources: &'a mut SourceMap,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// By id and revision, so that a repository is read once.
    cached: HashMap<(EcoString, Option<EcoString>), std::rc::Rc<Layers>>,
    /// Sources that are a name only, by their name.
    names: HashMap<String, SourceId>,
    /// A config of the directory was read.
    matched: bool,
}

impl Run<'_> {
    fn complete(&mut self, document: &Document) -> Completion {
        let hub = HubId::of_model(&document.node);
        let mut completion =
            // The command is kept even where nothing is completed: a finding names it.
            Completion { import: Some(self.command(document, hub)), ..Completion::default() };
        if models::keeps_agent_out(&document.node) {
            return completion;
        }
        let layers = if let Some(hub) = hub {
            self.layers(hub, document)
        } else {
            let named = self.named(document).into_iter();
            std::rc::Rc::new(named.map(|facts| (Evidence::Config, facts)).collect())
        };
        if layers.is_empty() && hub.is_none() {
            return completion;
        }
        let spec = document.node.get("spec");
        // In order of precedence, so that a value that is there is never replaced.
        for (evidence, facts) in layers.iter() {
            completion.parameters = completion.parameters.or(facts.parameters);
            completion.stored = completion.stored.or(facts.stored);
            if completion.cache.is_none() {
                completion.cache = facts.cache.clone().map(std::sync::Arc::new);
            }
            if completion.dimensions.is_none() {
                completion.dimensions = facts.dimensions.map(Box::new);
            }
            // What the manifest sets is never refined, although the agent would name it otherwise.
            if completion.finest_quantization.is_none()
                && is_open(spec, "quantization")
                && let Some(fact) = &facts.quantization
            {
                let (node, evidence) = self.value(fact, *evidence);
                completion.finest_quantization =
                    node.as_str().map(|name| (Field::new(name.into(), node.origin), evidence));
            }
            for fact in &facts.values {
                let Some(Segment::Field(group)) = fact.path.0.first() else { continue };
                let is_known = completion.fields.iter().any(|field| field.path == fact.path);
                if is_known || !is_open(spec, group) {
                    continue;
                }
                let (value, evidence) = self.value(fact, *evidence);
                completion.fields.push(Completed { path: fact.path.clone(), value, evidence });
            }
        }
        self.report(document, hub.map_or("its files", |hub| hub.id), &completion);
        completion
    }

    /// The value of a fact with its origin, and its evidence.
    fn value(&mut self, fact: &Fact, layer: Evidence) -> (Node, Evidence) {
        // A config on the machine is evidence by itself; the basis grades the table alone.
        let evidence = match (layer, fact.evidence.basis) {
            (Evidence::Config, _) => Evidence::Config,
            (_, Basis::Assumed) => Evidence::Assumed,
            _ => Evidence::Known,
        };
        let origin = fact.evidence.span.map_or_else(
            || Origin::Fact(self.name(format!("{}: {}", evidence.as_str(), fact.evidence.text))),
            Origin::File,
        );
        let mut value = fact.value.clone();
        value.origin = origin;
        (value, evidence)
    }

    /// The source with a name and no text.
    fn name(&mut self, name: String) -> SourceId {
        *self.names.entry(name).or_insert_with_key(|name| {
            self.sources.add(Source::new(name.as_str(), SourceKind::Known, ""))
        })
    }

    fn layers(&mut self, hub: HubId<'_>, document: &Document) -> std::rc::Rc<Layers> {
        let key = (hub.id.into(), hub.revision.map(EcoString::from));
        // Many manifests may name one repository, and a config with its index may be large.
        if let Some(existing) = self.cached.get(&key) {
            return existing.clone();
        }
        // An id is surer than a name, which models of several owners may have.
        let config = self.config(hub).or_else(|| self.named(document));
        let config = config.map(|facts| (Evidence::Config, facts));
        let table = models::published(hub.id)
            .filter(|_| self.given.table)
            .map(|row| (Evidence::Known, row.facts()));
        let layers = std::rc::Rc::new(config.into_iter().chain(table).collect::<Layers>());
        self.cached.insert(key, layers.clone());
        layers
    }

    /// The facts in the config.json of a repository, if it is on this machine.
    fn config(&mut self, hub: HubId<'_>) -> Option<Facts> {
        let path = self.given.files.find(hub.id, hub.revision)?;
        self.read(&path)
    }

    /// The facts in the config.json of a model that the directory holds by its name: that of the
    /// object, or the last part of where it is stored.
    fn named(&mut self, document: &Document) -> Option<Facts> {
        let text = |path: &[&str]| document.node.at(path).and_then(Node::as_str);
        let stored = text(&["spec", "storage", "storageUri"])
            .and_then(|uri| uri.trim_end_matches('/').rsplit('/').next());
        let mut names = text(&["metadata", "name"]).into_iter().chain(stored);
        let path = names.find_map(|name| self.given.files.find_named(name))?;
        self.read(&path)
    }

    /// Reports a directory of configs that holds none of the models.
    fn unused(&mut self, models: usize) {
        let Some(directory) = self.given.files.directory.as_deref() else { return };
        if self.matched || models == 0 {
            return;
        }
        self.diagnostics.push(
            Diagnostic::new(
                Code::ConfigsUnused,
                format!(
                    "`--model-configs {}` has the config.json of none of the models",
                    directory.display()
                ),
            )
            .help("a model is found as ORG/NAME/config.json, ORG--NAME.json or NAME/config.json"),
        );
    }

    fn read(&mut self, path: &std::path::Path) -> Option<Facts> {
        let is_in = |directory: &std::path::PathBuf| path.starts_with(directory);
        self.matched |= self.given.files.directory.as_ref().is_some_and(is_in);
        let config = self.json(path)?;
        // The index has the sizes of the weights, which count where the config has no number.
        let path = path.with_file_name("model.safetensors.index.json");
        let index = if path.is_file() { self.json(&path) } else { None };
        let checked = models::of_config(&config, index.as_ref(), None);
        // If counting fails, the size comes from the table; without it there, the model is
        // incomplete.
        self.diagnostics.extend(
            // Notes about the config itself would repeat in each run.
            checked.diagnostics.into_iter().filter(|found| found.severity > Severity::Info).map(
                |found| match found.code {
                    Code::ParameterCountUnknown => found.severity(Severity::Warning),
                    _ => found,
                },
            ),
        );
        let mut facts = checked.value;
        // A value without a line of its own has the whole file as origin.
        let whole = config.origin.span();
        for fact in &mut facts.values {
            fact.evidence.span = fact.evidence.span.or(whole);
        }
        Some(facts)
    }

    fn json(&mut self, path: &std::path::Path) -> Option<Node> {
        let text = match read_text(path, &self.given.limits) {
            Ok(text) => text,
            Err(finding) => {
                self.diagnostics.push(*finding);
                return None;
            }
        };
        let name = path.display().to_string();
        let source = self.sources.add(Source::new(name, SourceKind::ModelConfig, text));
        let text = self.sources.get(source).text.clone();
        let checked = yaml::parse(source, &text, 0..text.len(), &self.given.limits);
        // How kubectl would read the scalars of a config does not matter.
        self.diagnostics.extend(
            checked.diagnostics.into_iter().filter(|found| found.severity == Severity::Error),
        );
        checked.value
    }

    /// The command that adds the missing values of a model.
    fn command(&self, document: &Document, hub: Option<HubId<'_>>) -> EcoString {
        let from = hub.map_or_else(|| "config.json".to_owned(), |hub| hub.to_string());
        let source = self.sources.get(document.source);
        let into = match source.kind {
            SourceKind::File => format!(" --into {}", source.name),
            _ => String::new(),
        };
        format!("ome import {from}{into}").into()
    }

    /// Reports that a model was completed, if the selection compares an added value.
    fn report(&mut self, document: &Document, id: &str, completion: &Completion) {
        let compared: Vec<&Completed> = completion.compared().collect();
        if compared.is_empty() {
            return;
        }
        let name = document.node.at(&["metadata", "name"]);
        let shown = name.and_then(Node::as_str).unwrap_or_default();
        let paths: Vec<String> = compared.iter().map(|field| field.path.to_string()).collect();
        let config = compared.iter().find_map(|field| field.value.origin.span());
        let from = match config {
            Some(span) => self.sources.get(span.source).name.to_string(),
            None => format!("what is known of {id}"),
        };
        self.diagnostics.push(
            Diagnostic::new(
                Code::ModelCompleted,
                format!("model `{shown}` is completed from {from}: {}", paths.join(", ")),
            )
            .at(name.and_then(|name| name.origin.span()).unwrap_or(document.span))
            .object(format!("{}/{shown}", document.kind))
            .help(format!(
                "run `{}` to write the values into the manifest",
                completion.import.as_deref().unwrap_or_default()
            )),
        );
    }
}

/// Whether the model agent fills in a field. The agent fills in format and framework as a whole,
/// and a format if it has no name (pkg/modelagent/config_parser.go, updateModelSpec).
fn is_open(spec: Option<&Node>, field: &str) -> bool {
    let Some(node) = spec.and_then(|spec| spec.get(field)) else { return true };
    match field {
        "modelFormat" => node.get("name").and_then(Node::as_str).is_none_or(str::is_empty),
        "modelCapabilities" => node.items().is_empty(),
        _ => false,
    }
}

//! Documents become typed objects, objects a catalog.

mod boosters;
mod built;
mod cache;
mod copies;
mod definitions;
pub(super) mod dispatch;
mod homeless;
mod identity;
mod inherited;
mod live;
mod mutating;
mod newer;
mod related;
mod stock;
#[cfg(test)]
mod tests;

use crate::api::{Api, Completion, Object, OperatorConfig, Semantics, Service, Views};
use crate::catalog::{self, Builder, Built, Catalog, Item, Options, Place, Standing, View};
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::{Document, Loaded, has_sign, kinds};
use crate::operators;
use crate::operators::kserve::read as kserve;
use crate::operators::ome::rules::Rules as _;
use crate::operators::servings;
use crate::policy::{BuiltinMode, Platform, Policy, Readings};
use crate::source::{Source, SourceMap, Span};
use crate::workspace::accounting::{self, Accounting, InputRow};
use crate::workspace::complete::{ModelFacts, completions};
use crate::workspace::in_cluster::{self, ClusterRelease, Evidence};
use crate::workspace::pruning::ReleaseSchema;
use crate::workspace::read::cache::{ReadDocument, places};
use crate::workspace::read::copies::Copies;
use crate::workspace::read::definitions::Definitions;
use crate::workspace::read::dispatch::{Read, typed};
use crate::workspace::read::related::{RelatedObjects, Settings};
pub(crate) use built::{is_filled_by_labels, is_part, leave_to_overlay};
pub use cache::Kept;
use ecow::EcoString;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Flags and settings for reading.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// By which rules each operator is read.
    pub readings: Readings,
    /// Namespace of documents that name none.
    pub namespace: EcoString,
    /// Protocol requested, over every service.
    pub protocol: Option<EcoString>,
    /// The releases beneath the operators.
    pub platform: Platform,
    /// Whether a flag or a setting names the release of LeaderWorkerSets.
    pub groups_named: bool,
    /// Whether fields that no known release has are errors.
    pub checks_fields: bool,
    /// Operators that the documents show in a cluster are followed by the release that runs there.
    pub follows_cluster: bool,
    /// Operators whose release is set by a flag or a setting; for the others a live cluster
    /// decides.
    pub named: Vec<Api>,
    /// Deployment mode of KServe services without one of their own.
    pub deployment_mode: Option<EcoString>,
    /// Whether KServe pods are rendered with the additions of webhooks.
    pub expand: bool,
    /// Probes of the V2 protocol are wanted.
    pub v2_probes: bool,
    /// Where facts about models come from that their manifests leave out.
    pub models: ModelFacts,
    /// When objects of the built-in catalog are used.
    pub builtin: BuiltinMode,
    /// Built-in objects replace those of the input that have their names.
    pub shipped: bool,
    /// The directory whose definitions go before others of the same name.
    pub within: Option<String>,
}

impl ReadOptions {
    /// The options without flags, in one mode for every operator.
    pub fn new(mode: Semantics) -> Self {
        Self {
            readings: operators::newest().with_modes(mode),
            namespace: "default".into(),
            protocol: None,
            platform: operators::platform::default(),
            groups_named: false,
            checks_fields: true,
            follows_cluster: false,
            named: Vec::new(),
            deployment_mode: None,
            expand: false,
            v2_probes: false,
            models: ModelFacts::default(),
            builtin: BuiltinMode::Auto,
            shipped: false,
            within: None,
        }
    }

    /// The options with other rules in the mode of an operator.
    #[must_use]
    pub fn following(mut self, policy: &'static Policy) -> Self {
        self.readings.follow(policy);
        self
    }

    /// The options of the catalog.
    fn of_catalog(&self) -> Options {
        Options {
            all_builtin: self.builtin == BuiltinMode::Always,
            shipped: self.shipped,
            readings: self.readings,
            platform: Some(self.platform),
            within: self.within.clone(),
            compared: Some(kinds::is_compared),
        }
    }

    /// The same for a document without a namespace that belongs to one.
    fn in_namespace(&self, namespace: &EcoString) -> Self {
        Self { namespace: namespace.clone(), ..self.clone() }
    }
}

/// Everything that was read, frozen.
#[derive(Debug)]
pub struct World {
    /// The texts.
    pub sources: SourceMap,
    /// The objects.
    pub catalog: Catalog,
    /// What services see that have nearer definitions of some objects than the catalog, or are
    /// further definitions themselves.
    pub views: Vec<View>,
    /// Everything found on the way.
    pub diagnostics: Vec<Diagnostic>,
    /// Reasons why parts of the input are not in the catalog: unread files and documents,
    /// independent of severity settings.
    pub unread: Vec<Diagnostic>,
    /// What becomes of each object of the input.
    pub input: Vec<InputRow>,
    /// The releases of the cluster that was read, where it is a live one.
    pub in_cluster: Vec<ClusterRelease>,
    /// The input is a cluster: what it lacks is not there.
    pub is_live: bool,
    /// The day on which the newest object of a live cluster was created.
    pub newest_object: Option<EcoString>,
    /// The options it was read with.
    pub(super) given: ReadOptions,
}

/// Types and indexes everything that was loaded.
pub fn read(loaded: Loaded, given: &ReadOptions) -> World {
    read_all(loaded, given, None)
}

/// The same, but for documents that a reading before had, too.
pub fn read_again(loaded: Loaded, given: &ReadOptions, kept: &mut Kept) -> World {
    read_all(loaded, given, Some(kept))
}

fn read_all(loaded: Loaded, given: &ReadOptions, kept: Option<&mut Kept>) -> World {
    let Loaded { mut sources, mut documents, mut diagnostics, .. } = loaded;
    // Objects of a server have a uid: objects that such an input lacks are not in the cluster.
    let is_live = live::is_live(&documents, &sources, given.within.as_deref());
    if is_live && given.builtin == BuiltinMode::Auto {
        // A cluster has its own runtimes: one that is missing there is missing.
        documents.retain(|document| !document.builtin);
    }
    stock::leave_out(&mut documents, &sources);
    let mut given = given.clone();
    let evidence = if is_live { Evidence::Cluster } else { Evidence::Files };
    let in_cluster = running(&documents, evidence, &mut given, &mut diagnostics);
    diagnostics.extend(in_cluster.iter().filter_map(in_cluster::newer));
    let newest_object = if is_live { newest_object(&documents) } else { None };
    let given = &given;
    let ome = given.readings.policy(Api::Ome);
    // Before completion and typing, which read the merged spec.
    if ome.is_some_and(|release| release.ome().inherits) {
        inherited::merge(&mut documents, &given.namespace, &mut diagnostics);
    }
    let standings = Standings::of(&documents);
    // Before severities are set: a finding that is switched off still leaves out objects.
    let mut unread: Vec<Diagnostic> =
        diagnostics.iter().filter(|finding| leaves_out(finding)).cloned().collect();
    let completed = completions(&documents, &given.models, &mut sources, &mut diagnostics);
    let listed: Vec<_> = documents.iter().map(listed).collect();
    let definitions = Definitions::of(&documents, &sources, given.within.as_deref());
    let webhooks = mutating::Webhooks::of(&documents);
    let homes = homeless::namespaces(&documents, &sources);
    let reading = Reading {
        given,
        sources: &sources,
        completed: &completed,
        definitions: &definitions,
        webhooks: &webhooks,
        homes: &homes,
        is_live,
    };
    let mut typed = reading.all(documents, kept);
    boosters::unite(&mut typed);
    let mut collected = Collected::default();
    let mut builder = Builder::new(given.of_catalog());
    let place = |object: &Object| standings.place(object, &sources);
    // Built-in objects are reported only where the builder uses them.
    let mut found_builtin = Vec::new();
    let mut accounting = Accounting::default();
    let mut copies = Copies::default();
    for (ReadDocument { typed, builtin, found }, (api_version, kind, is_context)) in
        typed.into_iter().zip(&listed)
    {
        if !is_context {
            // Context is input of others, and is not counted as a part of this one.
            accounting.note(api_version, kind, typed.as_ref());
        }
        unread.extend(found.iter().filter(|finding| finding.code == Code::MissingName).cloned());
        if builtin { &mut found_builtin } else { &mut diagnostics }.extend(found);
        let within = given.within.as_deref();
        if typed.as_ref().is_some_and(|object| copies.take(object, &sources, within)) {
            continue;
        }
        if let Some(read) = typed {
            collected.take(read, place, &sources, given, &mut builder);
        }
    }
    diagnostics.extend(copies.findings());
    let mut config = chosen_settings(collected.settings, given, is_live);
    collected.related.into_settings(&mut config.kserve);
    complete_settings(&mut config, given, &sources, is_live);
    // Services come last, since all settings must be known.
    for mut views in collected.services {
        admit(&mut views.controller, given, &config, &mut diagnostics);
        let place = place(&views.documented.object);
        builder.add_at(Item::Service(Box::new(views)), place);
    }
    builder.config(config);
    builder.unfilled(standings.unfilled);
    builder.copies(sources.copies(given.within.as_deref()));
    builder.patched(sources.patched());
    let Built { catalog, views, diagnostics: found } = builder.finish(found_builtin);
    diagnostics.extend(found);
    let input = accounting.finish(&sources);
    diagnostics.extend(accounting::findings(&input));
    World {
        input,
        sources,
        catalog,
        views,
        diagnostics,
        unread,
        in_cluster,
        is_live,
        newest_object,
        given: given.clone(),
    }
}

/// The documents whose objects are not applied as they are.
struct Standings {
    /// They have placeholders.
    unfilled: HashSet<Span>,
    /// They are made from a template.
    of_templates: HashSet<Span>,
}

impl Standings {
    fn of(documents: &[Document]) -> Self {
        let spans = |is_one: fn(&Document) -> bool| {
            let found = documents.iter().filter(|document| is_one(document));
            found.map(|document| document.span).collect()
        };
        Self {
            unfilled: spans(|document| !document.placeholders.is_empty()),
            of_templates: spans(|document| document.template.is_some()),
        }
    }

    fn place(&self, object: &Object, sources: &SourceMap) -> Place {
        let standing = match object.span {
            span if self.unfilled.contains(&span) => Standing::Unfilled,
            span if self.of_templates.contains(&span) => Standing::OfTemplate,
            _ => Standing::Applied,
        };
        Place::of(sources.get(object.span.source)).standing(standing)
    }
}

/// What the catalog gets after all settings are known.
#[derive(Default)]
struct Collected {
    services: Vec<Views>,
    /// Settings of operators, of which one is chosen.
    settings: Vec<(Settings, Place)>,
    /// Objects that change how others are read.
    related: RelatedObjects,
}

impl Collected {
    /// Takes a typed document; what depends on no settings goes into the catalog.
    fn take(
        &mut self,
        read: Read,
        place: impl Fn(&Object) -> Place,
        sources: &SourceMap,
        given: &ReadOptions,
        builder: &mut Builder,
    ) {
        match read {
            Read::Item(Item::Service(views)) => self.services.push(*views),
            Read::Item(Item::Other(object)) => {
                self.related.note(&object, given.readings.mode(Api::KServe));
                if object.id.kind == "ConfigMap" {
                    let id = object.span.source;
                    builder.text(id, sources.get(id));
                }
                let place = place(&object);
                builder.add_at(Item::Other(object), place);
            }
            Read::Item(item) => {
                let place = place(item.object());
                builder.add_at(item, place);
            }
            Read::Settings(settings, object) => {
                let place = place(&object);
                self.settings.push((settings, place.clone()));
                builder.add_at(Item::Other(object), place);
            }
        }
    }
}

/// What the whole input says about each of its documents.
struct Reading<'r> {
    given: &'r ReadOptions,
    sources: &'r SourceMap,
    completed: &'r HashMap<usize, Completion>,
    definitions: &'r Definitions,
    webhooks: &'r mutating::Webhooks,
    /// Namespaces of documents that name none, by index.
    homes: &'r HashMap<usize, EcoString>,
    is_live: bool,
}

impl Reading<'_> {
    /// All documents; those are not read again that are kept from a reading before.
    fn all(&self, documents: Vec<Document>, kept: Option<&mut Kept>) -> Vec<ReadDocument> {
        // What was kept was checked with the definitions of an earlier input.
        let kept = kept.filter(|_| self.definitions.is_empty());
        let places = kept.as_ref().map_or_else(Vec::new, |_| places(&documents));
        let same = kept.as_deref().map(|kept| kept.same(self.given, self.sources));
        // Values from outside the manifest refer to sources whose ids depend on other documents.
        let is_own = |index: usize| {
            self.completed.get(&index).is_none_or(|completion| !completion.is_known())
                && !self.homes.contains_key(&index)
        };
        let typed: Vec<ReadDocument> = documents
            .into_par_iter()
            .enumerate()
            .map(|(index, document)| {
                let same_document = || same.as_ref().and_then(|same| same.get(*places.get(index)?));
                match same_document().filter(|_| is_own(index)) {
                    Some(document) => document.clone(),
                    None => self.read(index, document),
                }
            })
            .collect();
        // It borrows what is kept, which is replaced now.
        drop(same);
        if let Some(kept) = kept {
            // Documents that were completed depend on files outside, and are read each time.
            let read = places.into_iter().zip(&typed).enumerate();
            let read = read.filter(|(index, _)| is_own(*index)).map(|(_, document)| document);
            *kept = Kept::new(self.given, self.sources, read);
        }
        typed
    }

    /// One document as a typed object, with its findings.
    fn read(&self, index: usize, mut document: Document) -> ReadDocument {
        let (builtin, mut found) = (document.builtin, Vec::new());
        let completed = || self.completed.get(&index).cloned().unwrap_or_default();
        // The document is moved, and its placeholders are needed after its check.
        let holes = std::mem::take(&mut document.placeholders);
        let is_decided = kinds::is_rendered_kind(&document.kind)
            || kinds::runs_pods(document.group(), &document.kind);
        let source = self.sources.get(document.source);
        let is_copy = source.copies(self.given.within.as_deref()).is_some();
        let nearest = self.definitions.nearest(&document, source);
        let definitions = dispatch::Schemas {
            unread: nearest.is_empty() && !self.definitions.is_empty(),
            judged: self.definitions.judge(&document, is_copy),
            webhook: self.webhooks.of_document(&document),
            definitions: nearest,
        };
        let options = self.homes.get(&index).map(|namespace| self.given.in_namespace(namespace));
        let given = options.as_ref().unwrap_or(self.given);
        let is_serving = document.kind == "ModelServing";
        let typed = typed(document, given, self.sources, definitions, completed, &mut found);
        of_source(&mut found, source, is_serving);
        template_numbers(&mut found, self.sources);
        // Values that are not there yet cannot be wrong.
        if !holes.is_empty() {
            found.retain(|finding| !holes.iter().any(|hole| hole.causes(finding)));
        }
        if !self.is_live && !is_decided {
            let unfilled = found.iter_mut().filter(|finding| is_about_sign(finding, self.sources));
            unfilled.for_each(|finding| finding.severity = Severity::Info);
        }
        ReadDocument { typed, builtin, found }
    }
}

/// Grades findings by where their document is from: a tree, a kustomization, an overlay.
fn of_source(found: &mut Vec<Diagnostic>, source: &Source, is_serving: bool) {
    let is_in_tree = source.root.is_some();
    let is_part = built::is_part(&source.name)
        || (source.kustomized.is_none() && built::is_of_builder(&source.name));
    if is_in_tree && is_part {
        built::allow_parts(found);
    }
    // A tree has examples of several releases of Kthena.
    if is_in_tree && is_serving {
        let of_release = |finding: &&mut Diagnostic| {
            finding.code == Code::InvalidValue
                && finding.path.as_deref() == Some("spec.rolloutStrategy.type")
        };
        let of_releases = found.iter_mut().filter(of_release);
        of_releases.for_each(|finding| finding.severity = Severity::Warning);
    }
    if let Some(kustomized) = &source.kustomized {
        built::complete(found, kustomized);
    }
    if source.overlay.is_some() {
        built::allow_namespaces(found);
    }
}

/// How a document is counted: API version, kind, and whether it is context or built in.
fn listed(document: &Document) -> (EcoString, EcoString, bool) {
    let is_context = document.builtin || !document.reported;
    (document.api_version.clone(), document.kind.clone(), is_context)
}

/// Adds to the settings of the cluster what flags and values files say.
fn complete_settings(
    config: &mut OperatorConfig,
    given: &ReadOptions,
    sources: &SourceMap,
    is_live: bool,
) {
    (config.kserve.expand, config.kserve.v2_probes) = (given.expand, given.v2_probes);
    config.kserve.mode_flag.clone_from(&given.deployment_mode);
    operators::prepare(&given.readings, config);
    if config.kserve.default_mode.is_none() && !is_live {
        config.kserve.default_mode = kserve::default_mode(sources);
        config.kserve.mode_is_in_values = config.kserve.default_mode.is_some();
    }
}

/// What a webhook rejects of a service. It depends on the settings, which can be in any file.
fn admit(
    service: &mut Service,
    given: &ReadOptions,
    config: &OperatorConfig,
    found: &mut Vec<Diagnostic>,
) {
    let api = service.object.api;
    let Some(operator) = operators::services(api) else { return };
    let Some(policy) = given.readings.policy_by(api, Semantics::Controller) else { return };
    // A service that could not be read is refused already.
    if service.refusal.is_some() {
        return;
    }
    let refusal = match operator.admit(policy, service, config) {
        Ok(warnings) => {
            found.extend(warnings);
            operator.refuse(policy, service, config)
        }
        Err(refusal) => Some(refusal),
    };
    service.refusal = refusal.map(Box::new);
}

impl World {
    /// The view that a service is decided on, by the place of its name, of those that see other objects
    /// than the catalog has.
    pub(crate) fn seen_by(&self) -> HashMap<Span, usize> {
        let views = self.views.iter().enumerate();
        let seen = views.flat_map(|(at, view)| {
            let services = view.catalog.services().map(|views| &views.documented.object);
            services.map(move |object| (object.name_span(), at))
        });
        seen.collect()
    }

    /// The directory of copies that holds a place (tests, old documentation, vendored projects), if no
    /// directory was asked for.
    pub fn copies(&self, place: Span) -> Option<String> {
        self.sources.get(place.source).copies(self.given.within.as_deref())
    }
}

/// The settings of the operators. Of several, those of `--in` are used, else the first by path.
fn chosen_settings(
    mut found: Vec<(Settings, Place)>,
    given: &ReadOptions,
    is_live: bool,
) -> OperatorConfig {
    let mut config = operators::shipped_config(&given.readings);
    // In a tree, settings of the upstream project are the base of overlays, and a patch adds the
    // container that only OpenShift AI has.
    let proxy = config.kserve.proxy.take();
    for (settings, place) in &mut found {
        if let Settings::KServe(config) = settings
            && place.is_in_tree()
            && !is_live
        {
            config.proxy = config.proxy.take().or_else(|| proxy.clone());
        }
    }
    config.kserve.proxy = proxy;
    for is_ome in [true, false] {
        let (std, others): (Vec<_>, Vec<_>) = std::mem::take(&mut found)
            .into_iter()
            .partition(|(settings, _)| matches!(settings, Settings::Ome(_)) == is_ome);
        found = others;
        let places: Vec<Place> = std.iter().map(|(_, place)| place.clone()).collect();
        let Some(at) = catalog::preferred(&places, given.within.as_deref()) else { continue };
        match std.into_iter().nth(at) {
            Some((Settings::Ome(operator_config), _)) => {
                config = OperatorConfig {
                    kserve: std::mem::take(&mut config.kserve),
                    ..*operator_config
                };
            }
            Some((Settings::KServe(kserve_config), _)) => config.kserve = *kserve_config,
            None => {}
        }
    }
    config
}

/// The releases that a live cluster runs; those that no flag and no setting names are followed where
/// a release is.
fn running(
    documents: &[Document],
    evidence: Evidence,
    given: &mut ReadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ClusterRelease> {
    let mut found = Vec::new();
    for operator in operators::OPERATORS {
        let (api, group) = (operator.api(), operator.group());
        // A release that was named is followed whatever runs.
        if given.named.contains(&api) {
            continue;
        }
        let releases = operators::releases(api);
        let release = in_cluster::release(documents, api, &releases, evidence).or_else(|| {
            // Files may have the CRDs of a release and no controller: a schema for an editor.
            if evidence == Evidence::Files {
                return None;
            }
            in_cluster::by_definitions(documents, api, group, &operators::definitions(api))
        });
        let Some(release) = release else { continue };
        if let Some(policy) = operators::release(api, release.followed) {
            given.readings.set_release(policy);
        }
        if given.follows_cluster {
            given.readings.set_mode(api, Semantics::Controller);
        }
        found.push(release);
    }
    if !given.groups_named
        && let Some((tag, newer)) = in_cluster::leader_worker_set(documents, evidence)
    {
        given.platform.leader_worker_set = tag;
        diagnostics.extend(newer);
    }
    found
}

/// The day on which the newest object was created.
fn newest_object(documents: &[Document]) -> Option<EcoString> {
    let created = |document: &Document| {
        let text = document.node.at(&["metadata", "creationTimestamp"])?.as_str()?;
        text.get(..10).map(EcoString::from)
    };
    documents.iter().filter_map(created).max()
}

/// A parameter of a Template that stands where no text may: `${D}` is a text whatever its value, and
/// `${{D}}` is the value itself (OpenShift docs, Using templates, Writing templates).
fn template_numbers(found: &mut [Diagnostic], sources: &SourceMap) {
    for finding in found.iter_mut().filter(|finding| finding.code == Code::InvalidType) {
        let Some(span) = finding.span() else { continue };
        let text = &sources.get(span.source).text;
        let span = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let inner = span.trim_matches(['"', '\'']);
        let name = inner.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) = name.filter(|name| !name.contains(['{', '}', '$'])) {
            finding.help = Some(format!(
                "write `${{{{{name}}}}}`, which stands for the value itself: `${{{name}}}` is always a string"
            ));
        }
    }
}

/// Whether a finding is about the form of a value with a placeholder that is written with signs,
/// where nothing else shows that it is one.
fn is_about_sign(finding: &Diagnostic, sources: &SourceMap) -> bool {
    let is_of_form = matches!(
        finding.code,
        Code::InvalidValue | Code::InvalidName | Code::InvalidQuantity | Code::InvalidType
    );
    let is_value = |text: &str| !text.contains('\n') && has_sign(text);
    is_of_form && finding.span().is_some_and(|span| is_value(sources.text(span)))
}

/// Whether a finding of loading means that a file or a document was not read.
fn leaves_out(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error
        || matches!(finding.code, Code::FileNotRead | Code::HelmTemplate | Code::NotUtf8)
}

/// The kinds and fields of the release that decides about services of an API; `None` under the
/// documents.
fn followed(api: Api, given: &ReadOptions) -> Option<ReleaseSchema> {
    if operators::services(api).is_none() {
        let rules = servings::followed(&given.readings);
        return (!rules.ended.is_empty()).then(|| ReleaseSchema {
            operator: api.title(),
            tag: given.readings.policy(api).map_or("", |policy| policy.id.tag),
            unknown: rules.ended,
            retired: &[],
        });
    }
    let policy = given.readings.policy(api)?;
    let Policy { unknown, retired, .. } = *policy;
    (policy.semantics == Semantics::Controller).then(|| ReleaseSchema {
        operator: api.title(),
        tag: policy.id.tag,
        unknown,
        retired,
    })
}

/// The operator of a group.
fn api_of(group: &str) -> Api {
    let operator = operators::OPERATORS.iter().find(|operator| operator.group() == group);
    operator.map_or(Api::Cluster, |operator| operator.api())
}

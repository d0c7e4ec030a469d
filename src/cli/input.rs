//! A session: everything that was read, under the arguments, variables and settings of a run.

use super::args::{self, InputArgs, PageFormat};
use super::incomplete::Gap;
use super::proposals::Proposals;
use super::releases::{self, Followed};
use super::session_options::SessionOptions;
use super::settings::Read as SettingsRead;
use super::{Failure, Io, Outcome, incomplete, threads, verbose, waiting};
use crate::api::{Api, Runtime, Semantics};
use crate::builtin;
use crate::check;
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::kinds;
use crate::load::settings::Settings;
use crate::load::{self, Builtin, Exclude, Loaded, Request};
use crate::operators;
use crate::operators::servings::{self, ServingRules};
use crate::policy::{BuiltinMode, Platform, Readings};
use crate::quantity::Selector;
use crate::report::answer::Answer;
use crate::report::findings;
use crate::report::phrases::plural;
use crate::secret::Secrets;
use crate::source::{Source, Span};
use crate::workspace::{self, Distribution, ReadOptions, World};
use crate::yaml::Limits;
use ecow::EcoString;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// The paths of the arguments and of the settings.
struct Paths {
    all: Vec<PathBuf>,
    presets: Vec<PathBuf>,
    exclude: Exclude,
}

impl Paths {
    fn of(args: &InputArgs, settings: &Settings) -> Self {
        let mut all = args.files.clone();
        all.extend(settings.paths.iter().cloned());
        let presets: Vec<PathBuf> = settings.presets.iter().chain(&args.presets).cloned().collect();
        // Presets alone are no input: the directory is read with them.
        if all.is_empty() && args.kustomize.is_empty() && !presets.is_empty() {
            all.push(PathBuf::from("."));
        }
        all.extend(presets.iter().cloned());
        let exclude = Exclude { flags: args.exclude.clone(), settings: settings.exclude.clone() };
        Self { all, presets, exclude }
    }

    fn request<'r>(
        &'r self,
        args: &'r InputArgs,
        settings: &'r Settings,
        ask: &SessionOptions<'r>,
        builtin: &'r [Builtin],
    ) -> Request<'r> {
        let command = args.kustomize_command.as_deref();
        Request {
            exclude: Some(&self.exclude),
            paths: &self.all,
            presets: &self.presets,
            context: ask.context,
            kustomize: &args.kustomize,
            kustomize_command: command.or(settings.kustomize_command.as_deref()),
            overlays: ask.builds && args.builds_overlays(settings),
            follow_outside: args.follow_outside,
            skims: !ask.checks_fields && args.within.is_none(),
            builtin,
            skips_builtin: ask.skips_builtin,
        }
    }
}

/// A file of settings with its text and the findings about it.
type SettingsFile = (Settings, Source, Vec<Diagnostic>);

/// Says under `--verbose` which settings hold, and which files were read.
fn note_what_is_read(
    settings: &[SettingsFile],
    loaded: &Loaded,
    readings: &Readings,
    builtin: BuiltinMode,
) {
    verbose::note(|| {
        let names = settings.iter().filter_map(|(settings, ..)| settings.file.as_ref());
        let names = names.map(|file| file.display().to_string());
        let from = names.reduce(|a, b| format!("{a}, {b}")).unwrap_or("none".to_owned());
        format!(
            "settings: {from}; semantics {readings}, builtin {}; `ome config` has the origin of each",
            builtin.name()
        )
    });
    for (_, source) in loaded.sources.iter().filter(|(_, source)| source.is_input()) {
        verbose::note(|| format!("read {} ({} bytes)", source.name, source.text.len()));
    }
}

/// Adds the texts of settings, which come after the input, and the findings about them.
fn add_settings(world: &mut World, files: Vec<SettingsFile>) {
    for (_, source, found) in files {
        let id = world.sources.add(source);
        for mut diagnostic in found {
            diagnostic.labels.iter_mut().for_each(|label| label.span.source = id);
            // A path that is not read leaves a part of the input out.
            if diagnostic.code == Code::FileNotRead {
                world.unread.push(diagnostic.clone());
            }
            world.diagnostics.push(diagnostic);
        }
    }
}

/// Everything a command works on.
pub(crate) struct Session {
    /// The objects of the input.
    pub(crate) world: World,
    /// The releases that were requested.
    releases: Vec<String>,
    /// The distributions that the input is written for.
    pub(crate) distributions: Vec<Distribution>,
    /// Secret values, which are kept out of findings.
    pub(super) secrets: OnceLock<Secrets>,
    /// Findings about single objects, kept for the next session if there is one.
    pub(super) about_objects: Option<Mutex<HashMap<Span, Vec<Diagnostic>>>>,
    settings: Settings,
    /// The namespace of `-n`.
    pub(super) namespace: Option<EcoString>,
    /// The label selector of `-l`.
    pub(super) selector: Option<Selector>,
    partial: bool,
    /// States are compared or played.
    compares: bool,
    strict: bool,
    /// How much is read.
    pub(super) limits: Limits,
    all_builtin: bool,
    /// The built-in catalog is left out because the input is a live cluster.
    leaves_builtin_out: bool,
    /// Findings about documents that became no object and may matter to an answer.
    pub(super) gaps: Vec<Diagnostic>,
    /// The arguments of the input, for the commands that findings propose.
    proposals: Proposals,
}

impl Session {
    /// The gaps of the input, by code and place.
    pub(super) fn gap_places(&self) -> HashSet<(Code, Option<Span>)> {
        self.gaps.iter().map(|gap| (gap.code, gap.span())).collect()
    }

    /// Reads settings and input.
    pub(crate) fn open(args: &InputArgs, ask: &SessionOptions<'_>) -> Result<Self, Failure> {
        Self::open_reading(args, ask, &mut std::io::stdin())
    }

    /// The same with another standard input.
    pub(super) fn open_reading(
        args: &InputArgs,
        ask: &SessionOptions<'_>,
        stdin: &mut dyn Read,
    ) -> Result<Self, Failure> {
        let read = |request: &Request<'_>, limits: &Limits| load::load(request, stdin, limits);
        Self::open_from(args, ask, read, workspace::read)
    }

    /// Reads other paths in the place of those that are given: the state before. Beside a tree that
    /// is built, a tree is built.
    pub(super) fn open_paths(
        args: &InputArgs,
        ask: &SessionOptions<'_>,
        paths: Vec<PathBuf>,
    ) -> Result<Self, Failure> {
        let is_built = |path: &PathBuf| !args.kustomize.is_empty() && load::is_kustomization(path);
        let (kustomize, files) = paths.into_iter().partition(is_built);
        Self::open(&InputArgs { files, kustomize, ..args.clone() }, ask)
    }

    /// Reads settings as they are, and the input as it was at a revision of the repository that
    /// holds it; the finding when that cannot be read.
    pub(super) fn open_revision(
        args: &InputArgs,
        ask: &SessionOptions<'_>,
        revision: &str,
    ) -> Result<Result<Self, Box<Diagnostic>>, Failure> {
        // Loading itself cannot fail, so the problem leaves by this variable.
        let mut problem = None;
        let read = |request: &Request<'_>, limits: &Limits| match load::load_revision(
            request, revision, limits,
        ) {
            Ok(loaded) => loaded,
            Err(finding) => {
                problem = Some(finding);
                Loaded::default()
            }
        };
        let session = Self::open_from(args, ask, read, workspace::read)?;
        Ok(problem.map_or(Ok(session), Err))
    }

    pub(super) fn open_from(
        args: &InputArgs,
        ask: &SessionOptions<'_>,
        load: impl FnOnce(&Request<'_>, &Limits) -> Loaded,
        read: impl FnOnce(Loaded, &ReadOptions) -> World,
    ) -> Result<Self, Failure> {
        let begun = Instant::now();
        waiting::PROCESS.doing("reading the input");
        let SettingsRead { settings, files: settings_files } = super::settings::read(args)?;
        let selector = args.selector.as_deref().map(Selector::parse).transpose();
        let selector =
            selector.map_err(|error| Failure::Usage(format!("invalid selector: {error}")))?;
        threads::start(args.jobs)?;
        let Followed { mut readings, platform, groups_named, documented, named } =
            releases::followed(args, &settings, ask.admitted)?;
        let device_tolerations = args.tolerates_devices(&settings);
        let platform = Platform { device_tolerations, ..platform };
        let limits = args.limits.limits(&settings);
        let builtin = if ask.shipped { BuiltinMode::Always } else { args.builtin(&settings) };
        let builtin_files = match (builtin, readings.policy_by(Api::Ome, Semantics::Controller)) {
            (_, Some(release)) if ask.shipped => {
                releases::builtin(builtin::shipped("ome", release.id.tag))
            }
            (_, None) if ask.shipped => Vec::new(),
            (BuiltinMode::Never, _) => Vec::new(),
            _ => releases::builtin_files(&readings),
        };
        let paths = Paths::of(args, &settings);
        let mut loaded = load(&paths.request(args, &settings, ask, &builtin_files), &limits);
        let mut apis = releases::operators(&named);
        // Marks of a distribution decide nothing where documents or the shipped catalog are
        // followed.
        let mut distributions = Vec::new();
        if !documented && !ask.shipped {
            distributions =
                workspace::distributions(&loaded.documents, &apis, ask.other_distributions);
        }
        for distribution in &distributions {
            let policy = distribution.policy;
            readings.set_release(policy);
            readings.set_mode(policy.api, Semantics::Controller);
            apis.push(policy.api);
            workspace::without_runtimes(&mut loaded.documents, distribution);
        }
        let namespace = args.namespace.as_deref().map(EcoString::from);
        let models = args.models.facts(&settings, limits);
        args::require_directories(&models.files)?;
        let given = ReadOptions {
            protocol: ask.protocol.map(EcoString::from),
            expand: ask.expand,
            v2_probes: ask.v2_probes,
            deployment_mode: args.deployment_mode.as_deref().map(EcoString::from),
            models,
            builtin,
            shipped: ask.shipped,
            within: args.within.clone(),
            readings,
            platform,
            groups_named,
            checks_fields: ask.checks_fields,
            follows_cluster: ask.follows_cluster,
            named: apis.into_iter().chain(args.kthena_profile.map(|_| servings::API)).collect(),
            ..ReadOptions::new(Semantics::default())
        };
        let given = match &namespace {
            Some(namespace) => ReadOptions { namespace: namespace.clone(), ..given },
            None => given,
        };
        note_what_is_read(&settings_files, &loaded, &readings, builtin);
        let mut world = read(loaded, &given);
        check::spell_out(&mut world.diagnostics, &world.sources);
        verbose::note(|| format!("input read in {:.1?}", begun.elapsed()));
        waiting::PROCESS.doing("deciding");
        world.catalog.set_accelerator_options(ask.accelerators.clone());
        for view in &mut world.views {
            view.catalog.set_accelerator_options(ask.accelerators.clone());
        }
        add_settings(&mut world, settings_files);
        let gaps = incomplete::gaps(&world, ask.follows_cluster);
        let mut proposals = args.proposals();
        proposals.detect(distributions.iter().map(Distribution::name));
        let leaves_builtin_out = builtin == BuiltinMode::Auto && world.is_live;
        let mut session = Self {
            world,
            releases: named,
            distributions,
            secrets: OnceLock::new(),
            about_objects: None,
            settings,
            namespace,
            selector,
            partial: args.partial,
            compares: ask.compares,
            strict: args.strict,
            limits,
            all_builtin: builtin == BuiltinMode::Always,
            leaves_builtin_out,
            gaps,
            proposals,
        };
        session.refuse();
        Ok(session)
    }

    /// What proposals of further commands need to know.
    pub(super) fn proposals(&self) -> &Proposals {
        &self.proposals
    }

    /// What the settings leave out of `drift`.
    pub(super) fn drift_ignore(&self) -> &[String] {
        &self.settings.drift_ignore
    }

    /// All findings of the run: those of reading and those that came later, graded by the settings,
    /// sorted, once each.
    pub(crate) fn settle(&self, later: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
        self.grade(self.world.diagnostics.iter().cloned().chain(later))
    }

    /// Findings as the settings and `--partial` grade them, those on context left out, sorted, once
    /// each.
    pub(crate) fn grade(&self, found: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
        let sources = &self.world.sources;
        let mut graded: Vec<Diagnostic> = found
            .into_iter()
            .filter(|diagnostic| {
                diagnostic.span().is_none_or(|span| sources.get(span.source).reported)
            })
            .map(|diagnostic| self.partial_reference(diagnostic))
            .map(|diagnostic| self.open_presets(diagnostic))
            .map(|mut diagnostic| {
                // A proposal of the page that is shown is left out.
                diagnostic.help = diagnostic.help.and_then(|help| self.proposals.complete(&help));
                diagnostic
            })
            .filter_map(|diagnostic| match self.settings.severity.get(diagnostic.code.as_str()) {
                None => Some(diagnostic),
                Some(None) => None,
                Some(Some(severity)) => Some(diagnostic.severity(*severity)),
            })
            .collect();
        findings::settle(&mut graded, sources, self.secrets());
        graded
    }

    pub(super) fn secrets(&self) -> &Secrets {
        self.secrets.get_or_init(|| Secrets::new(&self.world.sources))
    }

    /// With `--partial`, objects that are not loaded may exist elsewhere.
    fn partial_reference(&self, diagnostic: Diagnostic) -> Diagnostic {
        let dangling = matches!(
            diagnostic.code,
            Code::ModelNotFound
                | Code::RuntimeNotFound
                | Code::AcceleratorNotFound
                | Code::KueueNotFound
                | Code::RouteTargetNotFound
                | Code::ServiceNotFound
                | Code::NoCompatibleRuntime
                | Code::NoRuntimeForModel
        );
        if self.partial && dangling { diagnostic.severity(Severity::Info) } else { diagnostic }
    }

    /// A comparison goes on without presets that were not read.
    fn open_presets(&self, diagnostic: Diagnostic) -> Diagnostic {
        let most = diagnostic.severity.min(Severity::Warning);
        let is_open = self.compares && diagnostic.code == Code::PresetsNotRead;
        if is_open { diagnostic.severity(most) } else { diagnostic }
    }

    /// Prints an answer; findings go beside it, but for JSON, which holds its own.
    pub(super) fn show(
        &self,
        answer: &impl Answer,
        format: PageFormat,
        found: &[Diagnostic],
        io: &mut Io<'_>,
    ) -> Result<(), Failure> {
        Self::show_of(&[self], answer, format, found, io)
    }

    /// The same for an answer about several inputs; the findings are of the first.
    pub(super) fn show_of(
        read: &[&Self],
        answer: &impl Answer,
        format: PageFormat,
        found: &[Diagnostic],
        io: &mut Io<'_>,
    ) -> Result<(), Failure> {
        // A document for programs has its findings inside.
        if !format.is_data()
            && let [first, ..] = read
        {
            first.say(found, io);
        }
        let mut gaps = Vec::new();
        let mut lines: Vec<Option<String>> = Vec::new();
        for side in read {
            // Of one file on both sides the same is missing.
            let line = side.incomplete_line();
            if !lines.contains(&line) {
                side.begin_page(format, io)?;
                lines.push(line);
            }
            for gap in side.incomplete() {
                if !gaps.contains(&gap) {
                    gaps.push(gap);
                }
            }
        }
        format.print(answer, &gaps, io)
    }

    /// Prints errors and warnings on stderr; informative findings are only in `validate` and JSON.
    pub(crate) fn say(&self, found: &[Diagnostic], io: &mut Io<'_>) {
        let shown: Vec<Diagnostic> = found
            .iter()
            .filter(|diagnostic| diagnostic.severity > Severity::Info)
            .filter(|diagnostic| !io.is_quiet() || diagnostic.severity == Severity::Error)
            .cloned()
            .collect();
        if !shown.is_empty() {
            let drawn = if verbose::is_on() { findings::human } else { findings::shortened };
            io.say(&drawn(&shown, &self.world.sources, io.err_style()));
        }
    }

    /// How the run ended: could not, when something is in error; no, when a server refuses a workload,
    /// or what an operator writes.
    pub(crate) fn outcome(&self, found: &[Diagnostic], failed: bool) -> Outcome {
        let mut counted = found.iter().filter(|found| found.severity >= self.least());
        // A quota or a claim that cannot be read is no answer about pods.
        let is_state = |found: &Diagnostic| {
            let kind = found.span().and_then(|span| self.world.catalog.owner_kind(span));
            kind.is_some_and(|kind| kinds::is_decisive(kind, ""))
        };
        let is_refused = |found: &Diagnostic| found.code == Code::ServerRefuses && !is_state(found);
        // A part of the input is not enough for a `no`.
        if failed || self.is_incomplete() || counted.clone().any(|found| !is_refused(found)) {
            Outcome::CouldNot
        } else if counted.next().is_some() {
            Outcome::No
        } else {
            Outcome::Done
        }
    }

    /// Why the input was not read as a whole, in words: a file or a document was left out, a
    /// finding is one too many, or a service is in error (`left_out`).
    pub(crate) fn unread(&self, found: &[Diagnostic], left_out: &[String]) -> Option<String> {
        let refused = |finding: &&Diagnostic| finding.code == Code::ServerRefuses;
        let grave = found.iter().filter(|finding| !refused(finding));
        // Text that was not read comes first: it may explain the other errors.
        let finding = self
            .world
            .unread
            .first()
            .or_else(|| grave.clone().find(|finding| finding.severity >= self.least()));
        let place = |span| format!("{}: ", self.world.sources.locate(span));
        let why = finding.map(|finding| {
            format!("{}{}", finding.span().map_or(String::new(), place), finding.message)
        });
        why.or_else(|| left_out.first().map(|service| format!("{service} is in error")))
    }

    /// Whether a part of the input that may matter to an answer was not read.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.grade(self.gaps.iter().cloned())
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// Whether a path that the command line names could not be read at all, so that there is no
    /// answer; the findings name it.
    pub(crate) fn is_missing(&self) -> bool {
        let is_missing = |code| matches!(code, Code::FileNotRead | Code::NoFiles);
        let mut unread = self.world.unread.iter();
        unread.any(|finding| is_missing(finding.code) && finding.severity == Severity::Error)
    }

    /// Whether the settings switch a finding off.
    pub(crate) fn is_off(&self, code: Code) -> bool {
        self.settings.severity.get(code.as_str()).is_some_and(Option::is_none)
    }

    /// The least severity that counts.
    pub(crate) fn least(&self) -> Severity {
        if self.strict { Severity::Warning } else { Severity::Error }
    }

    /// By which rules each operator was read.
    pub(crate) fn readings(&self) -> &Readings {
        self.world.catalog.readings()
    }

    /// The readings for output; operators that the input does not use are left out.
    pub(crate) fn named_readings(&self) -> Readings {
        let catalog = &self.world.catalog;
        let services = catalog.services().map(|views| views.followed().object.api);
        catalog
            .readings()
            .among(services.chain(catalog.model_servings().iter().map(|_| servings::API)))
    }

    /// The rules of ModelServings.
    pub(crate) fn serving_rules(&self) -> &'static ServingRules {
        servings::rules(&self.world.catalog)
    }

    /// The profile of ModelServings; with `alone`, also the release that the cluster runs, because
    /// no other header names it.
    pub(crate) fn serving_header(&self, alone: bool) -> String {
        let cluster = self.in_cluster(|api| alone && api == servings::API);
        format!("kthena: {}{cluster}", self.serving_rules().name)
    }

    /// The releases that the live cluster runs.
    fn in_cluster(&self, wanted: impl Fn(Api) -> bool) -> String {
        let mut out = String::new();
        for release in self.world.in_cluster.iter().filter(|release| wanted(release.api)) {
            let (api, seen, followed) = (release.api.as_str(), &release.seen, release.followed);
            // A newer release may have other rules, so the distance is shown.
            if release.newer {
                let name = release.knowledge.as_str();
                let _ = write!(
                    out,
                    " · rules of {api} {followed} ({name}), cluster runs {seen} ({})",
                    release.place
                );
                continue;
            }
            let _ = write!(out, " · cluster: {api}={seen} ({})", release.place);
            if !release.is_known() {
                let _ = write!(out, ", nearest known {api}={followed}");
            }
        }
        out
    }

    /// The releases that are followed because the cluster runs them, as `--release` takes them.
    pub(crate) fn followed_releases(&self) -> Vec<String> {
        let running = self.world.in_cluster.iter();
        let running =
            running.map(|release| format!("{}={}", release.api.as_str(), release.followed));
        running
            .chain(self.distributions.iter().map(|distribution| distribution.name().to_string()))
            .collect()
    }

    /// The dates of rules that are more than six months older than the newest object of a cluster.
    fn age(&self) -> String {
        let mut out = String::new();
        let Some(newest) = &self.world.newest_object else { return out };
        let months = |date: &str| {
            let (year, rest) = date.split_once('-')?;
            let month = rest.split('-').next()?;
            Some(year.parse::<i64>().ok()? * 12 + month.parse::<i64>().ok()?)
        };
        let catalog = &self.world.catalog;
        for api in operators::deciding() {
            let services = catalog.services().any(|views| views.followed().object.api == api);
            let Some(policy) = catalog.policy(api).filter(|_| services) else {
                continue;
            };
            let date = policy.id.date;
            // Within half a year the rules count as current.
            if let (Some(now), Some(then)) = (months(newest), months(date))
                && now - then > 6
            {
                let (name, tag) = (api.as_str(), policy.id.tag);
                let _ = write!(
                    out,
                    " · rules of {name} {tag} are of {date}, the newest object of {newest}"
                );
            }
        }
        out
    }

    /// The settings in the header of plan and explain.
    pub(crate) fn header(&self) -> String {
        let catalog = &self.world.catalog;
        let read = catalog.all_runtimes().filter(|runtime| !runtime.object.builtin).count();
        let mut out = match self.releases.as_slice() {
            [] => String::new(),
            named => format!(" · release: {}", named.join(", ")),
        };
        for distribution in &self.distributions {
            let _ = write!(out, " · release: {} ({})", distribution.name(), distribution.seen);
        }
        out.push_str(&self.in_cluster(|_| true));
        out.push_str(&self.age());
        match self.world.sources.iter().filter(|(_, source)| source.overlay.is_some()).count() {
            0 => {}
            1 => out.push_str(" · 1 overlay built with kustomize (auto)"),
            many => {
                let _ = write!(out, " · {many} overlays built with kustomize (auto)");
            }
        }
        let _ = write!(out, " · runtimes: {read} read");
        for api in operators::deciding() {
            let services = catalog.services().any(|views| views.followed().object.api == api);
            let builtin = catalog
                .runtimes(api)
                .candidates()
                .filter(|runtime| services && runtime.object.builtin)
                .count();
            let why = if self.all_builtin { "--builtin always" } else { "the input has none" };
            if builtin > 0 {
                let _ = write!(out, ", {builtin} built-in for {} ({why})", api.title());
            }
        }
        let is_without = |api: Api| {
            catalog.services().any(|views| views.followed().object.api == api)
                && catalog.runtimes(api).candidates().next().is_none()
        };
        if self.leaves_builtin_out && operators::deciding().any(is_without) {
            out.push_str(", built-in ones left out (a live cluster; `--builtin always` adds them)");
        }
        // Built-in classes are named only if a service or a runtime mentions accelerators.
        let is_requested =
            catalog.services().any(|views| !views.followed().accelerators.key.is_empty())
                || catalog.candidate_runtimes().any(Runtime::mentions_accelerators);
        let classes = catalog
            .classes()
            .filter(|class| {
                is_requested && class.object.builtin && catalog.is_candidate_class(class)
            })
            .count();
        if classes > 0 {
            let why = if self.all_builtin {
                "--builtin always"
            } else {
                "the input has none, and its Nodes match these"
            };
            let _ = write!(out, " · accelerator classes: {classes} built-in ({why})");
        }
        let models = self.world.catalog.models();
        match models.filter(|model| model.completion.completes_selection()).count() {
            0 => {}
            1 => out.push_str(" · 1 model completed"),
            many => {
                let _ = write!(out, " · {many} models completed");
            }
        }
        let mut services: BTreeMap<Api, usize> = BTreeMap::new();
        for views in self.world.catalog.services() {
            *services.entry(views.followed().object.api).or_default() += 1;
        }
        let counts: Vec<(Api, usize)> = services.into_iter().collect();
        match counts.as_slice() {
            [] => {}
            // Services of the default operator are not named.
            [(api, _)] if api.behind_name().is_empty() => {}
            [(api, _)] => {
                let _ = write!(out, " · services: all of {}", api.title());
            }
            several => {
                let each = several.iter().map(|(api, count)| format!("{count} of {}", api.title()));
                let _ = write!(out, " · services: {}", each.collect::<Vec<_>>().join(", "));
            }
        }
        if let Some(file) = &self.settings.file {
            let _ = write!(out, " · settings: {}", file.display());
        }
        out
    }
}

impl Session {
    /// The gaps of the input, for JSON.
    pub(super) fn incomplete(&self) -> Vec<Gap> {
        let gap = |finding: &Diagnostic| {
            let place = finding.span().map(|span| self.world.sources.locate(span));
            Gap {
                file: match (&place, &finding.file) {
                    (Some(place), _) => place.file.to_string(),
                    (None, Some(file)) => file.clone(),
                    (None, None) => String::new(),
                },
                line: place.map(|place| place.line),
                code: finding.code.as_str(),
            }
        };
        self.grade(self.gaps.iter().cloned()).iter().map(gap).collect()
    }

    /// The first line of an answer about an input that was not read as a whole.
    fn incomplete_line(&self) -> Option<String> {
        let gaps = self.incomplete();
        let first = gaps.first()?;
        let line = first.line.map_or(String::new(), |line| format!(":{line}"));
        let more = match gaps.len() {
            1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        let what = plural(gaps.len(), "part");
        let was = if gaps.len() == 1 { "was" } else { "were" };
        Some(format!(
            "incomplete: {what} of the input {was} not read: {}{line} ({}){more}",
            first.file, first.code
        ))
    }

    /// Prints an answer as JSON, with the gaps of the input.
    pub(super) fn print_json(
        &self,
        answer: &impl Serialize,
        io: &mut Io<'_>,
    ) -> std::io::Result<()> {
        incomplete::print_json(answer, &self.incomplete(), io)
    }

    /// Begins a page: of an input that was not read as a whole, its first line says so, and nothing
    /// on it is confirmed.
    pub(super) fn begin_page(&self, format: PageFormat, io: &mut Io<'_>) -> std::io::Result<()> {
        let Some(line) = self.incomplete_line() else { return Ok(()) };
        // A ✓ would promise more than a part of the input can show.
        io.confirm_nothing();
        format.begin(&line, io)
    }
}

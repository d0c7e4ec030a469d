//! `ome render`: the manifests.

pub(super) mod krm;
mod merged;
mod pass;
mod sink;

use self::pass::{Pass, PassThrough};
use self::sink::{Output, Sink, Target};

use crate::api::{ModelServing, Views};
use crate::cli::args::{DecisionArgs, InputArgs, WorkloadArg};
use crate::cli::input::Session;
use crate::cli::relevant_findings::About;
use crate::cli::session_options::SessionOptions;
use crate::cli::until_exit::UntilExit;
use crate::cli::{Failure, Io, Outcome, complete, copies, unfilled};
use crate::diag::{Code, Diagnostic, Severity};
use crate::diff::waves::wave;
use crate::emit::{self, Layout, Prune, stream};
use crate::load;
use crate::load::settings::Settings;
use crate::merge::history::Recorder;
use crate::objects::RenderedObject;
use crate::objects::accept::accept_rendered;
use crate::operators::servings::objects as servings;
use crate::pipeline::owners::{Owner, Owners};
use crate::pipeline::{Layers, Overrides, Rendered, Renderer, ServingHistory, is_unfilled, leaf};
use crate::report::why::remark;
use crate::source::Span;
use crate::workspace::World;
use crate::yaml::{FieldPath, Node};
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

/// Print the manifests that the operator would create.
///
/// Exit codes: 0 done, 1 a service is in error or the input is invalid, 2 stale (`--check`) or the
/// API server would refuse an object.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// InferenceServices and ModelServings, as NAME or NAMESPACE/NAME; without any, all of them.
    #[arg(value_name = "SERVICE", add = complete::services())]
    services: Vec<String>,
    /// `yaml`, `json`, `name` (a line per object: KIND/NAMESPACE/NAME), or `dir=PATH`: one file per
    /// object under PATH/NAMESPACE/SERVICE/.
    #[arg(short, long, default_value = "yaml", value_name = "FORMAT")]
    output: Output,
    /// Compare with a directory that `-o dir=` wrote, and write nothing.
    #[arg(long, value_name = "PATH", conflicts_with = "output")]
    check: Option<PathBuf>,
    /// Show the lines of files that differ.
    #[arg(long, requires = "check")]
    diff: bool,
    /// With `-o dir=`: overwrite and remove files that were edited by hand, and remove all files if
    /// the input has no service. Files that ome did not write stay in any case.
    #[arg(long, conflicts_with = "check")]
    force: bool,
    /// With `-o dir=` or `--check`: also `kustomization.yaml`, which lists the files.
    #[arg(long)]
    kustomization: bool,
    /// Where `kustomization.yaml` is: one at the root, or one in each namespace and one at the root
    /// that lists the namespaces.
    #[arg(long, value_enum, requires = "kustomization", value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// Print the documents of the input too, byte for byte and in their order, with the rendered
    /// objects in the place of each service: documents that `ome` does not use, or with `all` every
    /// document. Always on for a ResourceList.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "foreign", value_name = "WHICH", conflicts_with_all = ["check", "stage", "force", "kustomization"])]
    pass_through: Option<PassThrough>,
    /// The output: the objects, or the components after every merge and before any object.
    #[arg(long, value_enum, default_value_t, value_name = "STAGE", conflicts_with_all = ["check", "annotate", "expand", "argocd_waves"])]
    stage: Stage,
    /// Add a comment with the source of each field and the value it overrode.
    #[arg(long)]
    annotate: bool,
    /// Annotate objects with Argo CD's sync waves, in the order of `ome rollout`: 0 for objects
    /// that pods need, 1 workloads, 2 router and Ingress, HTTPRoute or VirtualService, 3 autoscaler
    /// and PodDisruptionBudget.
    #[arg(long)]
    argocd_waves: bool,
    /// The workload around the pods of engine and decoder. With `deployment` or `lws` and a
    /// Volcano queue, a PodGroup too.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    workload: WorkloadArg,
    /// Print the objects that the controller creates for a ModelServing in its place (PodGroups,
    /// pods, Services), and the containers that webhooks add to pods of KServe (storage
    /// initializer, agent). A preview, not to be applied.
    #[arg(long)]
    expand: bool,
    /// Add V2 probes to KServe servers that support the V2 protocol and have no probes.
    #[arg(long)]
    v2_probes: bool,
    /// The cluster's DNS domain.
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    cluster_domain: String,
    #[command(flatten)]
    decision: DecisionArgs,
}

/// The stage whose result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// Objects.
    #[default]
    Objects,
    /// Merged components.
    Merged,
}

/// A service's objects as text.
struct Written {
    namespace: String,
    service: String,
    failed: bool,
    /// Values are not filled in yet, so that nothing is rendered.
    is_unfilled: bool,
    objects: Vec<(Node, String)>,
    diagnostics: Vec<Diagnostic>,
    /// The service, if others may write the same objects.
    owner: Option<Owner>,
    /// Where the service is.
    span: Span,
}

/// How many services to render between two progress updates.
const SHOWN: usize = 100;

/// Renders and writes; a ResourceList makes the run a KRM function. `typed` is the command line as
/// it was typed.
pub(crate) fn run(args: &Args, typed: &[OsString], io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let streams = matches!(args.output, Output::Stream(_))
        && args.check.is_none()
        && args.stage == Stage::Objects;
    if !streams {
        return write(args, Mode::Manifests, typed, &mut std::io::stdin(), io);
    }
    // What is on standard input decides whether this is a call as a function.
    let limits = args.input.limits.limits(&Settings::default());
    let peeked = load::peek(&args.input.files, &mut std::io::stdin(), &limits);
    if let Some(list) = peeked.list {
        return krm::run(&list, typed, peeked.stdin, io);
    }
    let mode = args.pass_through.map_or(Mode::Manifests, Mode::PassThrough);
    write(args, mode, typed, &mut peeked.stdin.unwrap_or_default().as_slice(), io)
}

/// Answers a ResourceList, with the flags that it and the command line set.
pub(super) fn function(
    args: &Args,
    stdin: Option<Vec<u8>>,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let keep = args.pass_through.unwrap_or(PassThrough::Foreign);
    write(args, Mode::Function(keep), &[], &mut stdin.unwrap_or_default().as_slice(), io)
}

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Manifests.
    Manifests,
    /// The input, with manifests in it.
    PassThrough(PassThrough),
    /// A ResourceList.
    Function(PassThrough),
}

/// Reads the input, renders what is selected, and says what was not.
fn write(
    args: &Args,
    mode: Mode,
    typed: &[OsString],
    stdin: &mut dyn Read,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    // Files are the same whoever writes and checks them: what is not named is not built for them.
    let is_printed = !matches!(args.output, Output::Directory(_)) && args.check.is_none();
    let ask = SessionOptions {
        expand: args.expand,
        v2_probes: args.v2_probes,
        builds: is_printed && matches!(mode, Mode::Manifests),
        ..args.decision.ask()?
    };
    let session = UntilExit::new(Session::open_reading(&args.input, &ask, stdin)?, false);
    let mut all = Rendering::new(&session.world, args.services.is_empty());
    let (selected, servings) = selected(args, mode, &session, &mut all.found)?;
    if mode == Mode::Manifests && is_printed {
        session.require_objects(&args.input.files)?;
        if selected.is_empty()
            && servings.is_empty()
            && let Some(line) = session.no_services()
        {
            io.say_line(&line);
        }
    }
    let renderer = Renderer::new(&session.world, &args.cluster_domain)
        .with_workload(args.workload.workload(), session.serving_rules().features());
    if args.stage == Stage::Merged {
        return merged::merged(&args.output, &renderer, &selected, &session, io);
    }
    let format = match (&args.output, &args.check) {
        (Output::Stream(format), None) => *format,
        _ => stream::Format::Yaml,
    };
    // Remarks name the origin of a leaf; only YAML can contain them.
    let layers = (args.annotate && format == stream::Format::Yaml)
        .then(|| Layers::new(&session.world.catalog));
    let make = |views| {
        let mut history = Recorder::new();
        let rendered = if args.annotate {
            renderer.render(views, &mut history)
        } else {
            renderer.render(views, &mut Recorder::off())
        };
        let annotate = layers.as_ref().map(|layers| (layers, Overrides::new(&history)));
        written(rendered, args, format, &session, annotate.as_ref())
    };
    let options = emit::Options {
        prune: prune(args, &selected, &servings),
        force: args.force,
        kustomization: args.kustomization.then(|| args.layout.unwrap_or_default()),
    };
    let mut sink = open(args, mode, &session, format, options, io)?;
    let mut owners = Owners::default();
    let mut done = 0;
    renderer.in_windows(&selected, make, |written: Written| -> Result<(), Failure> {
        if written.is_unfilled {
            all.unfilled.push(format!("{}/{}", written.namespace, written.service));
        }
        if let Some(owner) = &written.owner {
            let objects = written.objects.iter().map(|(object, text)| (object, text.as_str()));
            owners.add(owner, objects, &mut all.found);
        }
        all.take(written, &mut sink, io)?;
        done += 1;
        if done % SHOWN == 0 || done == selected.len() {
            io.progress(done, selected.len(), "services rendered");
        }
        Ok(())
    })?;
    let view = Serving { args, format, session: &session, layers: layers.as_ref() };
    let mut take = |written: Written| all.take(written, &mut sink, io);
    if args.expand {
        servings.iter().try_for_each(|serving| view.expanded(serving, &mut take))?;
    } else {
        renderer.in_windows(&servings, |serving| view.whole(serving), &mut take)?;
    }
    let Rendering { found, failed, left_out, unfilled: not_filled, .. } = all;
    let found = settled(&session, found, &sink);
    let about =
        About::selected(&session, &selected, &servings, &found).every(args.services.is_empty());
    let mut found = about.of(&session, found);
    if let Sink::Pass { pass, function: true } = &sink {
        found.extend(session.grade(pass.config_problems()));
    }
    let is_empty = selected.is_empty() && servings.is_empty() && !args.force;
    let unread = session
        .unread(&found, &left_out)
        .or_else(|| is_empty.then(|| "the input has no service".to_owned()));
    let stale = sink.finish(unread.as_deref(), &mut found, io)?;
    session.say(&found, io);
    if stale {
        io.say_line(&format!("to write the files: `{}`", sink::renewal(typed)));
    }
    say_left_out(&session, (&selected, &servings), (&not_filled, &left_out), io);
    Ok(outcome(&session, mode, found, failed, stale))
}

/// Says what has no place in the output: other definitions of what is rendered, services that are
/// not filled in, and those that could not be rendered.
fn say_left_out(
    session: &Session,
    (selected, servings): (&[&Views], &[&ModelServing]),
    (not_filled, left_out): (&[String], &[String]),
    io: &mut Io<'_>,
) {
    let objects = selected.iter().map(|views| &views.followed().object);
    let objects = objects.chain(servings.iter().map(|serving| &serving.object));
    if let Some(line) = session.other_definitions(objects, "rendered") {
        io.say_line(&line);
    }
    if let Some(line) = unfilled::line("rendered", not_filled) {
        io.say_line(&line);
    }
    if !left_out.is_empty() {
        io.say_line(&format!("not rendered: {}", left_out.join(", ")));
    }
}

/// The services and ModelServings to render.
fn selected<'s>(
    args: &Args,
    mode: Mode,
    session: &'s Session,
    found: &mut Vec<Diagnostic>,
) -> Result<(Vec<&'s Views>, Vec<&'s ModelServing>), Failure> {
    let all = session.select_all(&args.services).and_then(|(selected, servings)| {
        session.require_any(selected.len() + servings.len())?;
        Ok((selected, servings))
    });
    match (all, mode) {
        // The list is answered all the same, with the error among its results.
        (Err(Failure::NotFound { message, help }), Mode::Function(_)) => {
            let message = format!("the functionConfig: {message}");
            found.push(Diagnostic { help, ..Diagnostic::new(Code::InvalidValue, message) });
            Ok((Vec::new(), Vec::new()))
        }
        (all, _) => all,
    }
}

/// The files that may be removed: what was selected alone must not remove the files of others.
fn prune(args: &Args, selected: &[&Views], servings: &[&ModelServing]) -> Prune {
    if args.services.is_empty() && args.input.namespace.is_none() && args.input.selector.is_none() {
        return Prune::Everything;
    }
    let service = |views: &&Views| {
        let service = views.followed();
        (service.namespace.to_string(), service.name().to_string())
    };
    let serving =
        |serving: &&ModelServing| (serving.namespace.to_string(), serving.name().to_string());
    Prune::Services(selected.iter().map(service).chain(servings.iter().map(serving)).collect())
}

/// Opens where the texts go.
fn open<'s>(
    args: &'s Args,
    mode: Mode,
    session: &'s Session,
    format: stream::Format,
    options: emit::Options,
    io: &mut Io<'_>,
) -> Result<Sink<'s>, Failure> {
    match mode {
        Mode::Manifests => Sink::open(
            &Target { output: &args.output, check: args.check.as_deref(), lines: args.diff },
            options,
            io,
        ),
        Mode::PassThrough(_) | Mode::Function(_) if !matches!(args.output, Output::Stream(_)) => {
            Err(Failure::Usage(
                "`--pass-through` prints one text: use `-o yaml` or `-o json`".into(),
            ))
        }
        Mode::PassThrough(keep) | Mode::Function(keep) => {
            let pass = Pass::new(&session.world.sources, &session.limits, keep, format);
            let function = matches!(mode, Mode::Function(_));
            Ok(Sink::Pass { pass: Box::new(pass), function })
        }
    }
}

/// What came of the services so far.
struct Rendering<'s> {
    world: &'s World,
    /// Nothing was asked for by name.
    whole: bool,
    found: Vec<Diagnostic>,
    /// An error fails the run.
    failed: bool,
    /// Services in error, which have no objects.
    left_out: Vec<String>,
    /// Services with placeholders.
    unfilled: Vec<String>,
}

impl<'s> Rendering<'s> {
    fn new(world: &'s World, whole: bool) -> Self {
        let (left_out, unfilled) = (Vec::new(), Vec::new());
        Self { world, whole, found: Vec::new(), failed: false, left_out, unfilled }
    }

    fn take(
        &mut self,
        written: Written,
        sink: &mut Sink<'_>,
        io: &mut Io<'_>,
    ) -> Result<(), Failure> {
        if written.failed {
            self.failed |= copies::fails(self.world, written.span, self.whole);
            self.left_out.push(format!("{}/{}", written.namespace, written.service));
        }
        self.found.extend(sink.take(written, io)?);
        Ok(())
    }
}

/// The findings of the run that concern the output.
fn settled(session: &Session, found: Vec<Diagnostic>, sink: &Sink<'_>) -> Vec<Diagnostic> {
    let mut found = session.settle(found);
    for finding in &mut found {
        // The API server drops unknown fields unless a client asks it to refuse them.
        let kind = finding.span().and_then(|span| session.world.catalog.owner_kind(span));
        if finding.code == Code::UnknownField && kind.is_some_and(crate::operators::is_lenient) {
            finding.severity = Severity::Warning;
        }
    }
    if let Sink::Pass { pass, function } = sink {
        // Kustomize's `namespace:` sets one on every unknown kind.
        found.retain(|finding| {
            pass.concerns(finding) && !(*function && finding.code == Code::NamespaceOnClusterObject)
        });
    }
    found
}

/// Objects that a server would reject are printed as the operator writes them, with a finding.
fn outcome(
    session: &Session,
    mode: Mode,
    found: Vec<Diagnostic>,
    failed: bool,
    stale: bool,
) -> Outcome {
    let (refusals, found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|diagnostic| diagnostic.code == Code::ServerRefuses);
    let refused = session.outcome(&refusals, false) != Outcome::Done;
    let mut outcome = session.outcome(&found, failed);
    if refused && matches!(mode, Mode::Function(_)) {
        // A function has no other way to answer no.
        outcome = Outcome::CouldNot;
    }
    if stale || (refused && outcome == Outcome::Done) { outcome.and(Outcome::No) } else { outcome }
}

/// Turns a ModelServing, or what its controller makes of it, into text.
#[derive(Clone, Copy)]
struct Serving<'a> {
    args: &'a Args,
    format: stream::Format,
    session: &'a Session,
    layers: Option<&'a Layers<'a>>,
}

/// Objects of a controller that are written together.
const TOGETHER: usize = 256;

impl Serving<'_> {
    /// The ModelServing itself, or what the controller writes for its ModelBooster.
    fn whole(self, serving: &ModelServing) -> Written {
        let mut written = Self::nothing(serving, self.session.is_broken(serving));
        if !written.failed {
            written.diagnostics = servings::refusals(serving, self.session.serving_rules());
            let history = self.history(serving);
            let slice = std::slice::from_ref(&serving.object.node);
            for node in serving.booster.as_ref().map_or(slice, |booster| &booster.objects) {
                let replaced = servings::Replaced::default();
                let expanded = servings::Expanded { node: node.clone(), replaced };
                written.objects.push(self.text(expanded, &history));
            }
        }
        written
    }

    /// The objects of its controller. There can be many thousand pods, so they are written one by
    /// one.
    fn expanded(
        self,
        serving: &ModelServing,
        take: &mut impl FnMut(Written) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = self.session.is_broken(serving) || servings::too_many_pods(serving).is_some();
        let mut written = Self::nothing(serving, failed);
        let mut diagnostics = Vec::new();
        if !failed {
            let history = self.history(serving);
            let each = &mut |object| {
                written.objects.push(self.text(object, &history));
                // A serving may have very many pods: their texts are not held all at once.
                if written.objects.len() < TOGETHER {
                    return Ok(());
                }
                take(std::mem::replace(&mut written, Self::nothing(serving, failed)))
            };
            servings::expand_each(serving, self.session.serving_rules(), &mut diagnostics, each)?;
            let sources = &self.session.world.sources;
            let semantics = self.session.readings().mode(serving.object.api);
            for sample in servings::samples(serving, self.session.serving_rules()) {
                accept_rendered(&sample.pod, semantics, sources, &mut diagnostics);
            }
        }
        take(Written { diagnostics, ..written })
    }

    fn history(self, serving: &ModelServing) -> ServingHistory {
        self.layers.map(|_| ServingHistory::new(serving)).unwrap_or_default()
    }

    fn nothing(serving: &ModelServing, failed: bool) -> Written {
        Written {
            namespace: serving.namespace.to_string(),
            service: serving.name().to_string(),
            failed,
            is_unfilled: false,
            objects: Vec::new(),
            diagnostics: Vec::new(),
            owner: None,
            span: serving.object.span,
        }
    }

    fn text(self, expanded: servings::Expanded, history: &ServingHistory) -> (Node, String) {
        let servings::Expanded { node, replaced } = expanded;
        let mut object = RenderedObject { node, component: None, wave: 1, has_gaps: false };
        if self.args.argocd_waves && !self.args.expand {
            object.annotate_wave(wave(&object));
        }
        let mut text = String::new();
        if let Some(layers) = self.layers {
            let losers = history.of(&replaced);
            crate::yaml::write_with(
                &mut text,
                &object.node,
                &mut |path: &FieldPath, node: &Node| {
                    Some(remark(
                        &leaf(layers, &object.node, node, path, &losers),
                        &self.session.world.sources,
                    ))
                },
            );
        } else {
            text = stream::text(&object.node, self.format);
        }
        if self.args.expand && self.format == stream::Format::Yaml {
            text.insert_str(0, "# preview: created by the Kthena controller, do not apply\n");
        }
        (object.node, text)
    }
}

/// Turns a service's objects into text, on the thread that rendered them.
fn written(
    rendered: Rendered<'_>,
    args: &Args,
    format: stream::Format,
    session: &Session,
    annotate: Option<&(&Layers<'_>, Overrides<'_>)>,
) -> Written {
    // A refused service is not printed; a finding of error level explains it.
    let catalog = &session.world.catalog;
    let is_unfilled = is_unfilled(catalog, &rendered.service.object, &rendered.resolution);
    let failed = rendered.refusal().is_some() && !is_unfilled;
    let objects = if failed || is_unfilled {
        Vec::new()
    } else {
        rendered
            .objects
            .into_iter()
            .map(|mut object| {
                if args.argocd_waves {
                    object.annotate_wave(wave(&object));
                }
                let text = if let Some((layers, overrides)) = annotate {
                    let mut text = String::new();
                    crate::yaml::write_with(
                        &mut text,
                        &object.node,
                        &mut |path: &FieldPath, node: &Node| {
                            Some(remark(
                                &leaf(layers, &object.node, node, path, overrides),
                                &session.world.sources,
                            ))
                        },
                    );
                    text
                } else {
                    stream::text(&object.node, format)
                };
                (object.node, text)
            })
            .collect()
    };
    Written {
        namespace: rendered.service.namespace.to_string(),
        service: rendered.service.name().to_string(),
        failed,
        objects,
        diagnostics: if is_unfilled { Vec::new() } else { rendered.diagnostics },
        is_unfilled,
        owner: Some(Owner::of(&rendered.service.object)),
        span: rendered.service.object.span,
    }
}

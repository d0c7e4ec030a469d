//! `ome convert`: deprecated forms to current ones and back; services and runtimes of KServe to
//! OME.

use crate::api::{Api, Object, Runtime, Scope, Service, Views};
use crate::cli::args::InputArgs;
use crate::cli::input::Session;
use crate::cli::relevant_findings::of_kinds;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome};
use crate::diag::{Code, Diagnostic};
use crate::emit::stream;
use crate::exchange::accelerator_shape::{Reshaped, to_proposed, to_shipped};
use crate::exchange::from_kserve;
use crate::load::kinds;
use crate::operators::kserve::read as kserve;
use crate::operators::ome::read as ome;
use crate::report::conversion;
use crate::source::Span;
use crate::yaml::{Entry, Node};

/// Convert objects: deprecated fields, KServe to OME, accelerator fields of the CRDs to those of
/// OEP-0003 and back.
///
/// Without `--to`, deprecated fields are replaced by the current ones: in services of OME
/// `spec.predictor` by `model`, `runtime` and `engine`; in services of KServe keys such as
/// `predictor.sklearn` by `predictor.model`, and versions that are no longer served
/// (`serving.kubeflow.org`, v1alpha2) by `serving.kserve.io/v1beta1`; in runtimes of OME
/// `supportedModelFormats[].name` by `modelFormat`.
///
/// Only objects that change are printed. What was converted and which fields were lost goes to
/// stderr.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// The form to convert to, instead of the current one.
    #[arg(long, value_enum, value_name = "FORM")]
    to: Option<Form>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: stream::Format,
}

/// The target of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Services and runtimes of KServe become objects of OME; the model that a service describes
    /// becomes a BaseModel.
    Ome,
    /// Objects of OME that a server with the CRDs of OME v0.1.5 accepts: accelerator fields of
    /// OEP-0003 become those of the CRDs, and other fields that it refuses are corrected or
    /// reported as lost.
    #[value(alias = "controller")]
    Shipped,
    /// Accelerator fields of the CRDs become those that OEP-0003 proposes.
    #[value(alias = "documented")]
    Oep,
    /// Current fields become deprecated ones, for older operators: `predictor.sklearn` of KServe,
    /// `supportedModelFormats[].name` of OME.
    Previous,
}

/// Converted documents, and the fields that were lost.
#[derive(Default)]
struct Converted {
    objects: Vec<Node>,
    losses: Vec<Diagnostic>,
    notes: Vec<String>,
    failed: bool,
}

impl Converted {
    /// Adds an object with another spec.
    fn add(&mut self, object: &Object, spec: Node, from: &str, losses: Vec<Diagnostic>) {
        let mut node = object.node.clone();
        if let Some(map) = node.as_map_mut() {
            map.insert_entry(Entry { key: "spec".into(), key_origin: spec.origin, node: spec });
        }
        self.add_whole(object, node, from, losses);
    }

    /// Adds an object as it was converted.
    fn add_whole(&mut self, object: &Object, node: Node, from: &str, losses: Vec<Diagnostic>) {
        self.note(object, from);
        self.objects.push(node);
        self.losses.extend(losses.into_iter().map(|loss| loss.object(object.id.to_string())));
    }

    fn note(&mut self, object: &Object, from: &str) {
        self.notes.push(format!("{}: converted from {from}", object.id));
    }
}

/// Converts and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &SessionOptions::default())?;
    let mut found = of_kinds(&session, session.settle([]), kinds::is_rendered_kind);
    if args.to.is_none() {
        // Older versions are what is converted here, and no fault.
        let older: Vec<Span> = older(&session).map(|object| object.span).collect();
        let is_of_older = |span: Span| older.iter().any(|other| other.contains(span));
        found.retain(|finding| {
            finding.code != Code::UnknownKind || !finding.span().is_some_and(is_of_older)
        });
    }
    session.say(&found, io);
    let mut converted = Converted::default();
    match args.to {
        None => current(&session, &mut converted)?,
        Some(Form::Previous) => previous(&session, &mut converted)?,
        Some(Form::Shipped) => {
            let from = "fields that the CRDs of OME v0.1.5 refuse";
            reshaped(&session, &mut converted, to_shipped, from)?;
        }
        Some(Form::Oep) => {
            reshaped(&session, &mut converted, to_proposed, "accelerator fields of the CRDs")?;
        }
        Some(Form::Ome) => to_ome(&session, &mut converted)?,
    }
    converted.notes.iter().for_each(|note| io.say_line(note));
    if converted.notes.is_empty() && !converted.failed {
        io.say_line("nothing to convert: the objects that were read have this form already");
    }
    let losses = session.grade(converted.losses);
    io.say(&conversion::losses(&losses, &session.world.sources));
    io.print(&stream::render(&converted.objects, args.output))?;
    let all: Vec<Diagnostic> = found.into_iter().chain(losses).collect();
    Ok(session.outcome(&all, converted.failed))
}

/// Services of a version that is no longer served.
fn older(session: &Session) -> impl Iterator<Item = &Object> {
    let catalog = &session.world.catalog;
    let services = catalog.services().map(|views| &views.followed().object);
    let all = catalog.others().iter().chain(services);
    all.filter(|object| session.is_selected(object) && is_older(object))
}

fn is_older(object: &Object) -> bool {
    kserve::not_served(&object.api_version, &object.id.kind).is_some()
}

/// Deprecated forms in the current one.
fn current(session: &Session, converted: &mut Converted) -> Result<(), Failure> {
    for runtime in runtimes_of(session, Api::Ome) {
        if let Some(spec) = ome::current_formats(&runtime.object.node) {
            converted.add(&runtime.object, spec, "supportedModelFormats[].name", Vec::new());
        }
    }
    for object in older(session) {
        let Some((mut node, losses)) = kserve::served(&object.node) else { continue };
        // A served version may still use an old form of the predictor.
        if let Ok(Some(found)) = kserve::convert(&node, session.readings().mode(Api::KServe))
            && let Some(map) = node.as_map_mut()
        {
            map.insert("spec", found.spec);
        }
        converted.add_whole(object, node, &object.api_version, losses);
    }
    for views in session.select(&[])? {
        let object = &views.followed().object;
        match object.api {
            // It was converted above.
            Api::KServe if is_older(object) => {}
            Api::KServe => match kserve::convert(&object.node, session.readings().mode(object.api))
            {
                Ok(Some(found)) => converted.add(
                    object,
                    found.spec,
                    &format!("spec.predictor.{}", found.framework.key),
                    Vec::new(),
                ),
                Ok(None) => {}
                // Reported while it was read.
                Err(_) => converted.failed = true,
            },
            _ => {
                if let Some(migration) =
                    ome::migrate(&object.node, session.readings().mode(object.api))
                {
                    converted.add(object, migration.spec, "spec.predictor", Vec::new());
                }
            }
        }
    }
    Ok(())
}

/// The current form in the deprecated one, where there is one.
fn previous(session: &Session, converted: &mut Converted) -> Result<(), Failure> {
    for runtime in runtimes_of(session, Api::Ome) {
        if let Some((spec, losses)) = ome::previous_formats(&runtime.object.node) {
            converted.add(&runtime.object, spec, "supportedModelFormats[].modelFormat", losses);
        }
    }
    for service in services_of(session, Api::KServe)? {
        let object = &service.object;
        if let Some((spec, losses)) =
            kserve::previous(&object.node, session.readings().mode(object.api))
        {
            converted.add(object, spec, "spec.predictor.model", losses);
        }
    }
    Ok(())
}

/// Objects of OME with their accelerator fields in another form; objects that stay as they are, are
/// not printed.
fn reshaped(
    session: &Session,
    converted: &mut Converted,
    reshape: fn(&Object) -> Reshaped,
    from: &str,
) -> Result<(), Failure> {
    let catalog = &session.world.catalog;
    let classes = catalog
        .accelerator_classes()
        .filter(|object| !object.builtin && session.is_selected(object));
    let of_ome = runtimes_of(session, Api::Ome).map(|runtime| &runtime.object);
    let services = services_of(session, Api::Ome)?.into_iter().map(|service| &service.object);
    let models = catalog
        .models()
        .map(|model| &model.object)
        .filter(|object| !object.builtin && session.is_selected(object));
    for object in classes.chain(models).chain(of_ome).chain(services) {
        let found = reshape(object);
        converted.losses.extend(found.losses);
        if found.changed {
            converted.note(object, from);
            converted.objects.push(found.node);
        }
    }
    Ok(())
}

/// Objects of KServe as objects of OME: the runtimes that were read, built-in ones that a service
/// names, and the services.
fn to_ome(session: &Session, converted: &mut Converted) -> Result<(), Failure> {
    let runtimes = session.world.catalog.runtimes(Api::KServe);
    let services = services_of(session, Api::KServe)?;
    let named = |service: &crate::api::Service| {
        let name = &service.runtime.as_ref()?.name.value;
        // A runtime of the namespace hides one of the cluster.
        runtimes
            .get(&Scope::Namespace(service.namespace.clone()), name)
            .or_else(|| runtimes.get(&Scope::Cluster, name))
    };
    // Built-in runtimes are written only where a service names one.
    let builtin = runtimes.iter().filter(|runtime| {
        runtime.object.builtin
            && services
                .iter()
                .any(|service| named(service).is_some_and(|one| one.object.id == runtime.object.id))
    });
    for runtime in runtimes_of(session, Api::KServe).chain(builtin) {
        let translation = from_kserve::runtime(&runtime.object);
        converted.note(&runtime.object, "KServe");
        converted.objects.extend(translation.objects);
        converted.losses.extend(translation.losses);
    }
    for object in session
        .world
        .catalog
        .others()
        .iter()
        .filter(|object| object.api == Api::KServe && session.is_selected(object))
    {
        converted.losses.push(from_kserve::nothing(object));
    }
    for service in services {
        let object = &service.object;
        let Ok(found) = kserve::convert(&object.node, session.readings().mode(object.api)) else {
            converted.failed = true;
            continue;
        };
        let spec = found.map(|found| found.spec).or_else(|| object.node.get("spec").cloned());
        let Some(spec) = spec else { continue };
        let translation = from_kserve::service(object, &spec, named(service));
        converted.note(object, "KServe");
        converted.objects.extend(translation.objects);
        converted.losses.extend(translation.losses);
    }
    Ok(())
}

/// The selected services of an operator.
fn services_of(session: &Session, api: Api) -> Result<Vec<&Service>, Failure> {
    let selected = session.select(&[])?.into_iter();
    let services = selected.map(Views::followed);
    Ok(services.filter(|service| service.object.api == api).collect())
}

/// The runtimes of an operator that were read and that namespace and selector leave.
fn runtimes_of(session: &Session, api: Api) -> impl Iterator<Item = &Runtime> {
    runtimes(session).filter(move |runtime| runtime.object.api == api)
}

/// The runtimes that were read and that namespace and selector leave.
fn runtimes(session: &Session) -> impl Iterator<Item = &Runtime> {
    session
        .world
        .catalog
        .all_runtimes()
        .filter(|runtime| !runtime.object.builtin && session.is_selected(&runtime.object))
}

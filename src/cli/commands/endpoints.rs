//! `ome endpoints`: the URLs services answer on.

use crate::api::{Api, ComponentKind};
use crate::cli::args::{DecisionArgs, InputArgs, PageFormat, ReportFormat};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::relevant_findings::About;
use crate::cli::{Failure, Io, Outcome, complete, copies, unfilled};
use crate::diag::Diagnostic;
use crate::engine;
use crate::merge::history::Recorder;
use crate::operators;
use crate::pipeline::{Rendered, Renderer, is_unfilled};
use crate::protocol::{self, Entrance, Entry, Facts, Protocol};
use crate::report::endpoints::{self as view, ServiceEndpoints};
use crate::yaml::Node;
use std::collections::BTreeSet;

/// Show the URLs services answer on, per protocol: inference, health and metadata.
///
/// Exit codes: 0 done, 1 a service is in error or the input is invalid.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// InferenceServices, as NAME or NAMESPACE/NAME; without any, all of them.
    #[arg(value_name = "SERVICE", add = complete::services())]
    services: Vec<String>,
    /// Add skeletons of requests, responses and errors.
    #[arg(long)]
    payload: bool,
    /// Add the messages of the gRPC service with the numbers of their fields.
    #[arg(long)]
    proto: bool,
    /// Version of the model in paths, where the protocol has versions.
    #[arg(long, value_name = "VERSION")]
    model_version: Option<String>,
    /// DNS domain of the cluster.
    #[arg(long, value_name = "DOMAIN", default_value = "cluster.local")]
    cluster_domain: String,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<ReportFormat>::new(), default_value_t)]
    output: ReportFormat,
    #[command(flatten)]
    decision: DecisionArgs,
}

/// Finds and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, &args.decision.ask()?)?;
    let selected = session.select(&args.services)?;
    let catalog = &session.world.catalog;
    let renderer = Renderer::new(&session.world, &args.cluster_domain);
    let config = catalog.config();
    let scheme = |api| match (api, config.ingress.url_scheme.as_str()) {
        (Api::KServe, _) => config.kserve.ingress.url_scheme.as_str(),
        (_, "") => "http",
        (_, scheme) => scheme,
    };
    if args.services.is_empty() && !catalog.model_servings().is_empty() {
        io.say_line(
            "ModelServings have no endpoints of their own: ModelServers and ModelRoutes do",
        );
    }
    if session.world.catalog.services().len() + session.world.catalog.model_servings().len() == 0
        && args.output == ReportFormat::Table
        && let Some(line) = session.no_services()
    {
        io.say_line(&line);
    }
    let mut services = Vec::new();
    let mut later: Vec<Diagnostic> = Vec::new();
    let mut failed = false;
    let mut not_filled = BTreeSet::new();
    let whole = args.services.is_empty();
    let make = |views| renderer.render(views, &mut Recorder::off());
    renderer.in_windows(&selected, make, |rendered| {
        let service = rendered.service;
        if is_unfilled(catalog, &service.object, &rendered.resolution) {
            not_filled.insert(format!("{}/{}", service.namespace, service.name()));
            return Ok(());
        }
        failed |= rendered.refusal().is_some()
            && copies::fails(&session.world, service.object.span, whole);
        services.push(endpoints(args, scheme(rendered.service.object.api), &rendered));
        later.extend(rendered.diagnostics);
        Ok::<(), Failure>(())
    })?;
    let found = session.settle(later);
    let found = About::selected(&session, &selected, &[], &found).every(whole).of(&session, found);
    let proto = args.proto.then(protocol::proto);
    match args.output {
        ReportFormat::Json | ReportFormat::Yaml => {
            let answer = view::json(&services, proto, &found, &session.world.sources);
            session.print_json(&answer, io)?;
        }
        ReportFormat::Table => {
            session.say(&found, io);
            session.begin_page(PageFormat::Table, io)?;
            let style = io.style();
            io.print(&view::text(&services, proto, style))?;
        }
    }
    if let Some(line) = unfilled::line("shown", &not_filled) {
        io.say_line(&line);
    }
    Ok(session.outcome(&found, failed))
}

/// The endpoints of one service; none of one in error.
fn endpoints(args: &Args, scheme: &str, rendered: &Rendered<'_>) -> ServiceEndpoints {
    let service = rendered.service;
    let api = service.object.api;
    let mut out = ServiceEndpoints {
        name: service.name().to_string(),
        namespace: service.namespace.to_string(),
        api: api.as_str(),
        protocol: None,
        model: None,
        entry: Entry::default(),
        endpoints: Vec::new(),
        grpc: None,
    };
    // A refused service has no objects to read addresses from.
    if rendered.refusal().is_some() {
        return out;
    }
    let objects: Vec<&Node> = rendered.objects.iter().map(|object| &object.node).collect();
    let entrance = Entrance {
        name: service.name(),
        namespace: &service.namespace,
        scheme,
        cluster_domain: &args.cluster_domain,
        components: operators::operator(api).map_or(&[], |operator| operator.entrance()),
    };
    out.entry = protocol::entry(&objects, &entrance);
    let workloads = rendered.objects.iter().filter(|object| {
        matches!(object.component, Some(ComponentKind::Engine | ComponentKind::Predictor))
    });
    // The flags of a transformer override those of the server.
    let model = service
        .component(ComponentKind::Transformer)
        .and_then(protocol::served_model)
        .or_else(|| workloads.into_iter().find_map(|object| protocol::served_model(&object.node)))
        .or_else(|| rendered.resolution.model.map(|model| model.object.id.name.to_string()))
        .or_else(|| Some(service.object.spec("model")?.get("name")?.as_str()?.to_owned()))
        .unwrap_or_else(|| service.name().to_string());
    let name = if serves_openai(rendered) {
        Protocol::OpenAi.kserve_name().to_owned()
    } else {
        protocol_of(rendered)
    };
    if let Some(protocol) = Protocol::named(&name) {
        let version = args.model_version.as_deref();
        let facts = Facts {
            model: &model,
            version,
            base: out.entry.base(),
            explainer: service.component(ComponentKind::Explainer).is_some(),
            prefix: "",
            payload: args.payload,
        };
        out.endpoints = protocol::endpoints(protocol, &facts);
    }
    if api == Api::KServe && name == Protocol::GrpcV2.kserve_name() {
        let base =
            out.entry.external.as_deref().or(out.entry.internal.as_deref()).unwrap_or_default();
        let host = base.split_once("://").map_or(base, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or_default();
        let (host, port) = host.split_once(':').unwrap_or((host, ""));
        // A Service may have a port of its own for gRPC; without a port it is that of the scheme.
        let inner = out.entry.grpc_port.filter(|_| out.entry.external.is_none());
        let default = if base.starts_with("https") { 443 } else { 80 };
        let port = inner.and_then(|port| u16::try_from(port).ok()).or_else(|| port.parse().ok());
        out.grpc = Some(protocol::grpc(host, port.unwrap_or(default)));
    }
    out.protocol = Some(name);
    out.model = Some(model);
    out
}

/// Whether the pods run the own server of an engine, which answers the paths of OpenAI whatever
/// protocol selected its runtime.
fn serves_openai(rendered: &Rendered<'_>) -> bool {
    // Pods of Deployments, LeaderWorkerSets and RayClusters.
    const PODS: [&[&str]; 3] = [
        &["spec", "template", "spec"],
        &["spec", "leaderWorkerTemplate", "leaderTemplate", "spec"],
        &["spec", "headGroupSpec", "template", "spec"],
    ];
    let workloads = rendered.objects.iter().filter(|object| {
        matches!(object.component, Some(ComponentKind::Engine | ComponentKind::Predictor))
    });
    let mut pods = workloads.flat_map(|object| PODS.iter().filter_map(|path| object.node.at(path)));
    pods.any(|pod| {
        let containers = pod.get("containers").map(Node::items).unwrap_or_default();
        containers.iter().any(engine::is_own_server)
    })
}

/// The protocol of a service: the one it requests; else the default one, if its runtime lists
/// it or lists none, else the first of the runtime.
fn protocol_of(rendered: &Rendered<'_>) -> String {
    let decided = &rendered.resolution;
    let requested = &decided.runtime.protocol;
    let listed = decided.chosen().map(|runtime| runtime.protocols.as_slice()).unwrap_or_default();
    // A protocol that nobody chose gives way to the first that the runtime lists.
    match listed.first() {
        Some(first)
            if requested.default
                && listed.iter().all(|protocol| protocol.value != requested.name) =>
        {
            first.value.to_string()
        }
        _ => requested.name.to_string(),
    }
}

//! `ome why`: which layer wrote a field of a rendered object, and what it overrode.

use crate::cli::args::{AcceleratorArgs, InputArgs, ReportFormat};
use crate::cli::input::Session;
use crate::cli::{Failure, Io, Outcome};
use crate::compose::history::History;
use crate::diag::nearest;
use crate::pipeline::{Renderer, identity, why};
use crate::report::table::Style;
use crate::report::why as view;
use crate::yaml::FieldPath;

/// Show which layer wrote a field of a rendered object, and what it overrode.
///
/// OBJECT is `Kind/name` or `Kind/namespace/name`; FIELD is a path such as
/// `spec.template.spec.containers[name=ome-container].image`, a part of the object (one row per leaf), or `*`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The object, as `Kind/name` or `Kind/namespace/name`.
    object: String,
    /// The field; a dot within a key is written `\.`.
    field: String,
    /// Shape of the output.
    #[arg(short, long, value_enum, default_value_t)]
    output: ReportFormat,
    /// The protocol asked for, over every service.
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// The cluster's DNS domain.
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    cluster_domain: String,
    #[command(flatten)]
    accelerators: AcceleratorArgs,
    #[command(flatten)]
    input: InputArgs,
}

/// Finds the object, then the field.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let path = FieldPath::parse(&args.field).map_err(|problem| Failure::Usage(format!("the path `{}` {problem}", args.field)))?;
    let (kind, rest) = args.object.split_once('/').ok_or_else(|| Failure::Usage(format!("`{}` is not Kind/name", args.object)))?;
    let (namespace, name) = match rest.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (args.input.namespace.as_deref(), rest),
    };
    let mut session = Session::open(&args.input, args.protocol.as_deref())?;
    session.world.catalog.set_accelerator_options(args.accelerators.options()?);
    let renderer = Renderer::new(&session.world.catalog, session.semantics, &args.cluster_domain);
    let mut findings = Vec::new();
    let mut names = Vec::new();
    for views in session.select_in(namespace) {
        let mut history = History::new();
        let rendered = renderer.render(views, &mut history);
        findings.extend(rendered.diagnostics);
        for object in &rendered.objects {
            let id = identity(object);
            if id.kind.eq_ignore_ascii_case(kind)
                && id.name == name
                && namespace.is_none_or(|namespace| id.scope.namespace().is_some_and(|own| own == namespace))
            {
                let leaves = why(&session.world.catalog, &object.node, &path, &history);
                if leaves.is_empty() {
                    return Err(Failure::NotFound {
                        message: format!("{id} has no field `{path}`"),
                        help: Some(format!("`ome why {} '*'` lists every field", args.object)),
                    });
                }
                match args.output {
                    ReportFormat::Json => io.print_json(&view::json(&id, &path, &leaves, &session.world.sources))?,
                    ReportFormat::Table | ReportFormat::Markdown => {
                        let style = Style { color: io.out_color(), width: io.width() };
                        io.print(&view::text(&leaves, &session.world.sources, style))?;
                    }
                }
                return Ok(Outcome::Done);
            }
            names.push(id.to_string());
        }
    }
    session.say(&session.settle(findings), io);
    let near = nearest(&args.object, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
    Err(Failure::NotFound { message: format!("no rendered object is `{}`", args.object), help: near.or_else(|| Some("`ome render` prints them all".into())) })
}

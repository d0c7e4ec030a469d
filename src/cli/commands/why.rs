//! `ome why`: the source of each field of a rendered object, and the values that it overrides.

use crate::api::{ModelServing, ObjectRef, Scope};
use crate::cli::args::{DecisionArgs, InputArgs, PageFormat, ReportFormat, WorkloadArg};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::{Failure, Io, Outcome, complete};
use crate::diag::{Diagnostic, Severity, nearest, quoted};
use crate::merge::history::Recorder;
use crate::operators::servings::objects as servings;
use crate::operators::servings::objects::{Expanded, Replaced, pod_group};
use crate::pipeline::{Layers, Leaf, Losers, Overrides, Renderer, ServingHistory, identity, why};
use crate::report::why as view;
use crate::schema::{self, names_kind};
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;
use std::collections::BTreeSet;

/// Show the source of each field of a rendered object, and the values that it overrides.
///
/// FIELD is a path such as `spec.template.spec.containers[name=ome-container].image`, a part of the
/// object (one row per leaf), or `*`. Objects that Kthena's controller makes of a ModelServing are
/// found as `render --expand` prints them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// The object and the field: `KIND/NAME FIELD`, `KIND/NAMESPACE/NAME FIELD` or `KIND NAME
    /// FIELD`; without a field, every field. A kind is written as for kubectl (`deploy`,
    /// `deployments.apps`); a dot within a key of the field is written `\.`.
    #[arg(num_args = 1..=3, required = true, value_names = ["KIND/NAME", "FIELD"], add = complete::rendered())]
    words: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<ReportFormat>::new(), default_value_t)]
    output: ReportFormat,
    /// The workload around the pods of engine and decoder.
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    workload: WorkloadArg,
    /// The cluster's DNS domain.
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    cluster_domain: String,
    #[command(flatten)]
    decision: DecisionArgs,
}

/// The object in question.
struct Wanted<'a> {
    kind: &'a str,
    namespace: Option<&'a str>,
    name: &'a str,
    path: FieldPath,
    /// Whether the namespace is part of the name that was given.
    qualified: bool,
    /// Objects that were met and are others.
    others: Vec<Other>,
}

/// An object that is rendered, and is not the wanted one.
struct Other {
    /// As it is named on the command line.
    name: String,
    id: ObjectRef,
    api_version: EcoString,
    /// The name of the service that it is rendered for.
    owner: EcoString,
}

/// The object, and the leaves at the path.
struct Found {
    id: ObjectRef,
    api_version: EcoString,
    leaves: Vec<Leaf>,
    /// The name of the service that it is rendered for.
    owner: EcoString,
}

impl Found {
    /// Why there is no leaf: the kind has no such field, or the object does not set it.
    fn without(
        &self,
        requested: &str,
        path: &FieldPath,
        near: impl FnOnce() -> Option<String>,
    ) -> Failure {
        let kind = &self.id.kind;
        let schema = schema::kind(&self.api_version, kind);
        // The kind has such a field: this object leaves it out.
        if schema.is_none_or(|schema| schema.root().select(path).is_some()) {
            return Failure::NotFound {
                message: format!("{} does not set `{path}`", self.id),
                help: Some(format!("`ome why {requested} '*'` lists every field that it sets")),
            };
        }
        let (field, reason) = pod_group::NOT_RENDERED;
        let help = if kind == "PodGroup" && path.to_string() == field {
            reason.to_owned()
        } else if let Some(near) = near() {
            format!("did you mean `ome why {requested} {}`?", quoted(&near))
        } else {
            let root = schema.map(schema::Schema::root);
            let is_field =
                |above: &FieldPath| root.is_some_and(|root| root.select(above).is_some());
            // The nearest field above that exists is the best start.
            let above = (1..path.0.len()).rev().map(|depth| FieldPath(path.0[..depth].to_vec()));
            let above = above.into_iter().find(is_field);
            let above = above.map_or(String::new(), |above| format!(" {above}"));
            format!("`ome schema {kind}{above}` lists the fields")
        };
        Failure::NotFound {
            message: format!("`{path}` is not a field of {kind}"),
            help: Some(help),
        }
    }
}

impl Wanted<'_> {
    fn is(&self, id: &ObjectRef, api_version: &str) -> bool {
        names_kind(self.kind, api_version, &id.kind)
            && id.name == self.name
            && self.namespace.is_none_or(|namespace| {
                id.scope.namespace().is_some_and(|scope| scope == namespace)
            })
    }

    /// What was probably meant: of a service, the object of the kind, or the first one; else the
    /// object of this name, where the kind was left out, or a near one.
    fn meant(&self, words: &str) -> Option<(&Other, bool)> {
        let is_kind = |other: &&Other| names_kind(self.kind, &other.api_version, &other.id.kind);
        // The kind or the name alone may be right.
        let is_name = |other: &&Other| [self.kind, self.name].contains(&other.id.name.as_str());
        let of_service = |name: &str| {
            let of_service = || self.others.iter().filter(|other| other.owner == name);
            // Fields in question are those of pods.
            let holds_pods = |other: &&Other| other.id.kind != "ConfigMap";
            of_service().find(is_kind).or_else(|| of_service().find(holds_pods))
        };
        let service = [self.name, self.kind].into_iter().find_map(of_service);
        let exact =
            |other: &&Other| is_name(other) && Some(&other.owner) != service.map(|of| &of.owner);
        if let Some(other) = self.others.iter().find(exact) {
            return Some((other, false));
        }
        if let Some(other) = service {
            return Some((other, true));
        }
        let near = nearest(words, self.others.iter().map(|other| other.name.as_str()))?;
        self.others.iter().find(|other| other.name == near).map(|other| (other, false))
    }

    /// The leaves, if this is the object.
    fn ask(
        &mut self,
        session: &Session,
        (owner, object): (&EcoString, &Node),
        losers: &impl Losers,
    ) -> Option<Found> {
        let id = identity(object);
        let api_version = object.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        if self.is(&id, api_version) {
            let layers = Layers::new(&session.world.catalog);
            return Some(Found {
                id,
                api_version: api_version.into(),
                leaves: why(&layers, object, &self.path, losers),
                owner: owner.clone(),
            });
        }
        let name = if self.qualified { id.to_string() } else { format!("{}/{}", id.kind, id.name) };
        self.others.push(Other { name, id, api_version: api_version.into(), owner: owner.clone() });
        None
    }
}

/// Finds the object, then the field.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let every = "*".to_owned();
    let (words, field) = match args.words.as_slice() {
        [kind, name, field] => (format!("{kind}/{name}"), field),
        [kind, name] if !kind.contains('/') => (format!("{kind}/{name}"), &every),
        [object, field] => (object.clone(), field),
        [object] => (object.clone(), &every),
        _ => return Err(Failure::Usage("name an object and a field".into())),
    };
    let path = FieldPath::parse(field)
        .map_err(|problem| Failure::Usage(format!("the path `{field}` {problem}")))?;
    // Without a kind nothing is found, and the answer says what was probably meant.
    let (kind, rest) = words.split_once('/').unwrap_or(("", &words));
    let (namespace, name) = match rest.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (args.input.namespace.as_deref(), rest),
    };
    let mut wanted =
        Wanted { kind, namespace, name, path, qualified: rest.contains('/'), others: Vec::new() };
    let session = Session::open(&args.input, &args.decision.ask()?)?;
    let mut findings = Vec::new();
    let Some(object) = of_services(args, &session, &mut wanted, &mut findings)
        .or_else(|| of_servings(&session, &mut wanted, &mut findings))
    else {
        // Only an error explains that an object is not rendered.
        findings.retain(|finding| finding.severity == Severity::Error);
        session.say(&session.grade(findings), io);
        return Err(not_rendered(args, &session, &wanted, &words));
    };
    let path = wanted.path;
    let namespaces: BTreeSet<&str> = session
        .known_services(true)
        .filter(|(_, name)| *name == object.owner)
        .map(|(namespace, _)| namespace)
        .collect();
    if let (None, Scope::Namespace(text), 2..) =
        (wanted.namespace, &object.id.scope, namespaces.len())
    {
        let namespaces: Vec<&str> = namespaces.into_iter().collect();
        return Err(Failure::NotFound {
            message: format!(
                "`{}` is in the namespaces {}: which one?",
                object.owner,
                namespaces.join(", ")
            ),
            help: Some(format!("write `{kind}/{text}/{name}`, or name a namespace with `-n`")),
        });
    }
    if object.leaves.is_empty() {
        let near = || {
            let paths = paths_of(args, &session, &object.owner, &object.id);
            ending(&paths, &path.to_string())
        };
        return Err(object.without(&words, &path, near));
    }
    let Found { id, leaves, .. } = object;
    match args.output {
        ReportFormat::Json | ReportFormat::Yaml => {
            let answer = view::json(&id, &path, &leaves, &session.world.sources);
            session.print_json(&answer, io)?;
        }
        ReportFormat::Table => {
            session.begin_page(PageFormat::Table, io)?;
            let style = io.style();
            io.print(&view::text(&leaves, &session.world.sources, style))?;
        }
    }
    session.say(&session.grade(session.gaps.iter().cloned()), io);
    Ok(session.outcome(&[], false))
}

/// Why no object is found, with the command that was probably meant.
fn not_rendered(args: &Args, session: &Session, wanted: &Wanted<'_>, words: &str) -> Failure {
    let typed = args.words.join(" ");
    let message = match args.words.as_slice() {
        [_, _] if !typed.contains('/') => format!("no rendered object is `{typed}`"),
        _ => format!("no rendered object is `{words}`"),
    };
    let Some((other, of_service)) = wanted.meant(words) else {
        let first = wanted.others.first().map(|other| format!(", such as `{}`", other.name));
        let help = format!(
            "name an object as KIND/NAME{}: `ome render` and `ome render --expand` print them all",
            first.unwrap_or_default()
        );
        return session.not_found(message, Some(help));
    };
    // `why chat image`: the second word is a field if the first one is a name.
    let is_name = |word: &str| word == other.id.name || word == other.owner;
    let field = match args.words.as_slice() {
        [_, _, field] => Some(field),
        [first, field] if first.contains('/') || is_name(first) => Some(field),
        _ => None,
    };
    let field =
        field.and_then(|field| ending(&paths_of(args, session, &other.owner, &other.id), field));
    let mut command = format!("ome why {}", other.name);
    if let Some(field) = field {
        command.push(' ');
        command.push_str(&quoted(&field));
    }
    let help = if of_service {
        format!("`{}` is a service, for which objects are rendered: `{command}`", other.owner)
    } else {
        format!("did you mean `{command}`?")
    };
    session.not_found(message, Some(help))
}

/// The paths of the fields that an object of a service sets.
fn paths_of(args: &Args, session: &Session, owner: &str, id: &ObjectRef) -> Vec<FieldPath> {
    let mut wanted = Wanted {
        kind: &id.kind,
        namespace: id.scope.namespace().map(EcoString::as_str),
        name: &id.name,
        path: FieldPath::root(),
        qualified: false,
        others: Vec::new(),
    };
    let found = of_services(args, session, &mut wanted, &mut Vec::new())
        .or_else(|| of_servings(session, &mut wanted, &mut Vec::new()))
        .filter(|found| found.owner == owner);
    found.map_or(Vec::new(), |found| found.leaves.into_iter().map(|leaf| leaf.path).collect())
}

/// The shortest path, of fields that are set or are above one, that ends with the words of a field.
fn ending(paths: &[FieldPath], field: &str) -> Option<String> {
    let end = format!(".{field}");
    paths
        .iter()
        .flat_map(|path| (1..=path.0.len()).map(|depth| FieldPath(path.0[..depth].to_vec())))
        .map(|path| path.to_string())
        .filter(|path| path == field || path.ends_with(&end))
        .min_by_key(String::len)
}

/// Objects of the operators.
fn of_services(
    args: &Args,
    session: &Session,
    wanted: &mut Wanted<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<Found> {
    let renderer = Renderer::new(&session.world, &args.cluster_domain)
        .with_workload(args.workload.workload(), session.serving_rules().features());
    session.select_in(wanted.namespace).into_iter().find_map(|views| {
        let mut history = Recorder::new();
        let rendered = renderer.render(views, &mut history);
        findings.extend(rendered.diagnostics);
        let overrides = Overrides::new(&history);
        rendered.objects.iter().find_map(|object| {
            wanted.ask(session, (rendered.service.name(), &object.node), &overrides)
        })
    })
}

/// ModelServings and what their controller makes of them.
fn of_servings(
    session: &Session,
    wanted: &mut Wanted<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<Found> {
    let in_namespace = |serving: &&ModelServing| {
        wanted.namespace.is_none_or(|namespace| serving.namespace == namespace)
    };
    let servings: Vec<&ModelServing> = session
        .world
        .catalog
        .model_servings()
        .iter()
        .filter(in_namespace)
        .filter(|serving| !session.is_broken(serving))
        .collect();
    servings.into_iter().find_map(|serving| {
        let history = ServingHistory::new(serving);
        if let Some(found) = wanted.ask(
            session,
            (serving.name(), &serving.object.node),
            &history.of(&Replaced::default()),
        ) {
            return Some(found);
        }
        // Pods beyond the limit are not made.
        if servings::too_many_pods(serving).is_some() {
            return None;
        }
        let expanded = servings::expand(serving, session.serving_rules(), findings);
        expanded.iter().find_map(|Expanded { node, replaced }| {
            wanted.ask(session, (serving.name(), node), &history.of(replaced))
        })
    })
}

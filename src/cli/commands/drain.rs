//! `ome drain`: nodes are given back.

use crate::cli::args::{AtArg, DecisionArgs, InputArgs, PageFormat};
use crate::cli::input::Session;
use crate::cli::jsonpath::FormatParser;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome, complete, what_if};
use crate::pipeline::{Drained, drain};
use crate::report::drain as view;
use ecow::EcoString;

/// Show what happens when nodes are drained: which pods are evicted, where their controllers create
/// them again, and what blocks them; or which nodes can be given back.
///
/// Plays `kubectl drain --ignore-daemonsets --delete-emptydir-data` with the running pods, their
/// controllers, PodDisruptionBudgets and the scheduler. Exit codes: 0 every node is drained and
/// every pod that had a node has one, 1 the input is invalid, 2 the drain is blocked, or fewer nodes can go.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "ome drain [OPTIONS] <NODE>...\n       ome drain [OPTIONS] --nodes <N>\n       ome drain [OPTIONS] --max"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Nodes, in the order in which they are drained.
    #[arg(value_name = "NODE", add = complete::nodes(), required_unless_present_any = ["nodes", "max"], conflicts_with_all = ["nodes", "max"])]
    names: Vec<String>,
    /// Find so many nodes that can be drained with the fewest pods to move.
    #[arg(long, value_name = "N", conflicts_with = "max", value_parser = at_least_one)]
    nodes: Option<usize>,
    /// Find as many nodes as can be drained.
    #[arg(long)]
    max: bool,
    /// Choose among the nodes of an accelerator class.
    #[arg(long, value_name = "CLASS", conflicts_with = "names", add = complete::classes())]
    class: Option<String>,
    /// Place minReplicas, maxReplicas of everything at once, or what the input says runs.
    #[arg(long, value_enum, default_value_t)]
    at: AtArg,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<PageFormat>::new(), default_value_t)]
    output: PageFormat,
    #[command(flatten)]
    decision: DecisionArgs,
}

/// A number of nodes.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err("a whole number is needed".to_owned()),
    }
}

/// Plays and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let ask = SessionOptions { skips_builtin: true, ..args.decision.ask()? };
    let session = Session::open(&args.input, &ask)?;
    let drained = match args.nodes {
        Some(wanted) => Drained::Count(wanted),
        None if args.max => Drained::Most,
        None => Drained::Named(names(&session, &args.names)?),
    };
    let within = args.class.as_ref().map(|class| what_if::of_class(&session, class)).transpose()?;
    let catalog = &session.world.catalog;
    let answer = drain(catalog, args.at.into(), &drained, within.as_ref());
    let answer = answer.ok_or_else(|| what_if::no_nodes(&session))?;
    // Only what was not read touches the answer.
    let found = session.grade(session.gaps.iter().cloned());
    let outcome = session.outcome(&found, false);
    let view = view::View {
        drain: &answer,
        readings: session.named_readings(),
        found: &found,
        sources: &session.world.sources,
        fails: outcome == Outcome::CouldNot,
    };
    session.show(&view, args.output, &found, io)?;
    Ok(if answer.is_complete() { outcome } else { outcome.and(Outcome::No) })
}

/// The nodes that are named; each once.
fn names(session: &Session, names: &[String]) -> Result<Vec<EcoString>, Failure> {
    let mut all: Vec<EcoString> = Vec::new();
    for name in names {
        // kubectl prints nodes as `node/NAME`.
        let name: EcoString = name.strip_prefix("node/").unwrap_or(name).into();
        what_if::node(session, &name)?;
        if !all.contains(&name) {
            all.push(name);
        }
    }
    Ok(all)
}

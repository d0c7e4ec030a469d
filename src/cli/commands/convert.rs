//! `ome convert`: deprecated forms rewritten in the current one.

use crate::api::Api;
use crate::cli::args::InputArgs;
use crate::cli::input::Session;
use crate::cli::{Failure, Io, Outcome};
use crate::dialect::{kserve, ome};
use crate::emit::stream;
use crate::yaml::{Entry, Node};

/// Rewrite deprecated forms: `spec.predictor` of an InferenceService as `model`, `runtime` and `engine`, and
/// framework keys of a predictor of KServe as `model`.
///
/// Prints the converted documents and nothing else; notes go to stderr.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Shape of the output.
    #[arg(short, long, value_enum, default_value_t)]
    output: stream::Format,
    #[command(flatten)]
    input: InputArgs,
}

/// Converts and prints.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let session = Session::open(&args.input, None)?;
    let found = session.settle([]);
    session.say(&found, io);
    let mut converted: Vec<Node> = Vec::new();
    let mut failed = false;
    for views in session.select(&[])? {
        let object = &views.of(session.semantics).object;
        let (spec, from) = match object.api {
            Api::KServe => match kserve::convert(&object.node, session.semantics) {
                Ok(Some(converted)) => (converted.spec, format!("spec.predictor.{}", converted.framework.key)),
                Ok(None) => continue,
                // Said while it was read.
                Err(_) => {
                    failed = true;
                    continue;
                }
            },
            _ => match ome::migrate(&object.node, session.semantics) {
                Some(migration) => (migration.spec, "spec.predictor".to_owned()),
                None => continue,
            },
        };
        let mut node = object.node.clone();
        if let Some(map) = node.as_map_mut() {
            map.insert_entry(Entry { key: "spec".into(), key_origin: spec.origin, node: spec });
        }
        io.say(&format!("{}: converted from {from}\n", object.id));
        converted.push(node);
    }
    io.print(&stream::render(&converted, args.output))?;
    Ok(session.outcome(&found, failed))
}

//! `ome payload check`: checks requests and responses by the inference protocols.

use crate::cli::args::LimitArgs;
use crate::cli::jsonpath::FormatParser;
use crate::cli::{Failure, Io, Outcome};
use crate::diag::{Diagnostic, Severity};
use crate::load::{self, settings::Settings};
use crate::protocol::payload::{self, Body, Form, Kind};
use crate::report::{SCHEMA_VERSION, findings};
use crate::secret::Secrets;
use crate::source::{Source, SourceId, SourceKind, SourceMap};
use crate::yaml::Limits;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Check requests and responses of the inference protocols V1, V2 and V2 over gRPC.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: PayloadCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PayloadCommand {
    /// Check a body against its protocol: members, types, shapes, datatypes, ranges, raw contents.
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// File with the body: JSON, for gRPC the JSON form of the message.
    file: PathBuf,
    /// Protocol of the body.
    #[arg(long, value_parser = PossibleValuesParser::new(Form::ALL.map(Form::as_str)).map(|word| form(&word)))]
    protocol: Form,
    /// The kind of the body.
    #[arg(long, value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)).map(|word| kind(&word)))]
    kind: Kind,
    /// The request that an inference response answers: both must have the same id.
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<Format>::new(), default_value_t)]
    output: Format,
    /// Findings of level warning count as errors.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Findings with the text they are about.
    #[default]
    Human,
    /// One JSON document; its schema has a version.
    Json,
}

fn form(word: &str) -> Form {
    Form::ALL
        .into_iter()
        .find(|form| form.as_str() == word)
        .expect("the parser admits the words of forms only")
}

fn kind(word: &str) -> Kind {
    Kind::ALL
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .expect("the parser admits the words of kinds only")
}

/// Checks and prints.
pub(crate) fn run(args: Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let PayloadCommand::Check(args) = args.command;
    let kinds = args.protocol.kinds();
    if !kinds.contains(&args.kind) {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        return Err(Failure::Usage(format!(
            "{} has no {}; it has {}",
            args.protocol.as_str(),
            args.kind.as_str(),
            kinds.join(", ")
        )));
    }
    if args.request.is_some() && args.kind != Kind::InferResponse {
        return Err(Failure::Usage("`--request` goes with `--kind infer-response`".into()));
    }
    let limits = args.limits.limits(&Settings::default());
    let mut sources = SourceMap::new();
    let mut found = Vec::new();
    let body = add(&args.file, &limits, &mut sources, &mut found);
    let request = args.request.as_deref().map(|file| add(file, &limits, &mut sources, &mut found));
    // A request that was not read would make its response look wrong.
    let unread = !found.is_empty();
    if let (Some(body), false) = (body, unread) {
        let text = |source: SourceId| Body { source, text: &sources.get(source).text };
        found = payload::examine(
            args.protocol,
            args.kind,
            text(body),
            request.flatten().map(text),
            &limits,
        );
    }
    findings::settle(&mut found, &sources, &Secrets::new(&sources));
    let valid = payload::is_valid(&found);
    match args.output {
        Format::Json => {
            let listed: Vec<Value> =
                found.iter().map(|finding| findings::json(finding, &sources)).collect();
            io.print_json(
                &json!({ "schemaVersion": SCHEMA_VERSION, "valid": valid, "findings": listed }),
            )?;
        }
        Format::Human => {
            let style = io.style();
            io.print(&findings::human(&found, &sources, style))?;
            let verdict = if valid { "valid" } else { "not valid" };
            let summary = findings::summary(&found);
            let counted = if summary.is_empty() { String::new() } else { format!(" ({summary})") };
            io.print_line(&format!(
                "{}: {verdict} {} {}{counted}",
                args.file.display(),
                args.protocol.as_str(),
                args.kind.as_str()
            ))?;
        }
    }
    let least = if args.strict { Severity::Warning } else { Severity::Error };
    Ok(match (unread, found.iter().any(|finding| finding.severity >= least)) {
        (true, _) => Outcome::CouldNot,
        (false, true) => Outcome::No,
        (false, false) => Outcome::Done,
    })
}

/// Reads a file into the sources; none, with a finding, when it cannot be read.
fn add(
    file: &Path,
    limits: &Limits,
    sources: &mut SourceMap,
    found: &mut Vec<Diagnostic>,
) -> Option<SourceId> {
    match load::read_text(file, limits) {
        Ok(text) => {
            Some(sources.add(Source::new(file.display().to_string(), SourceKind::File, text)))
        }
        Err(finding) => {
            found.push(*finding);
            None
        }
    }
}

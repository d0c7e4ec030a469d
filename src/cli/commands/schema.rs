//! `ome schema`: the fields of a kind.

use crate::cli::{Failure, Io, Outcome};
use crate::diag::nearest;
use crate::report::schema as view;
use crate::schema;
use crate::yaml::FieldPath;

/// Show the fields of a kind, as `kubectl explain` does: types, defaults, what is required.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The kind; without it all kinds are listed.
    #[arg(value_name = "KIND")]
    kind: Option<String>,
    /// A field below it, such as `spec.engineConfig.runner`.
    #[arg(value_name = "FIELD")]
    field: Option<String>,
    /// Group and version, when several groups have the kind.
    #[arg(long, value_name = "GROUP/VERSION")]
    api_version: Option<String>,
}

/// Prints fields, or the list of kinds.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let kinds = schema::kinds();
    let Some(wanted) = &args.kind else {
        for schema in kinds {
            io.print(&format!("{:<32} {}\n", schema.kind, schema.api_version))?;
        }
        return Ok(Outcome::Done);
    };
    let found: Vec<_> = kinds
        .iter()
        .filter(|schema| {
            schema.kind.eq_ignore_ascii_case(wanted)
                && args.api_version.as_deref().is_none_or(|version| version == schema.api_version)
        })
        .collect();
    if found.is_empty() {
        return Err(Failure::NotFound {
            message: format!("no kind `{wanted}` is known"),
            help: nearest(wanted, kinds.iter().map(|schema| schema.kind))
                .map(|near| format!("did you mean `{near}`? `ome schema` lists them all")),
        });
    }
    let path = args
        .field
        .as_deref()
        .map(FieldPath::parse)
        .transpose()
        .map_err(|problem| Failure::Usage(format!("the path {problem}")))?
        .unwrap_or_default();
    let texts: Vec<String> =
        found.iter().filter_map(|schema| view::fields(schema, &path)).collect();
    if texts.is_empty() {
        return Err(Failure::NotFound {
            message: format!("{} has no field `{path}`", found[0].kind),
            help: Some(format!("`ome schema {}` lists the fields", found[0].kind)),
        });
    }
    io.print(&texts.join("\n"))?;
    Ok(Outcome::Done)
}

//! `ome schema`: the fields of a kind, for people, validators, editors and Kustomize.

use crate::cli::{Failure, Io, Outcome, complete};
use crate::diag::nearest;
use crate::emit;
use crate::report::{expect, json_schema, schema as view, schemas};
use crate::schema::{self, Schema};
use crate::yaml::{FieldPath, Segment};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Show the fields of a kind, as `kubectl explain` does: what each is for, its type, its default.
///
/// `-o json-schema` prints a JSON Schema of the kind or field as an API server has it. `--all -o
/// dir=DIR` writes one for every kind, for `kubeconform -schema-location
/// 'DIR/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'`, with `all.json` for editors.
/// `ome schema output COMMAND` prints a JSON Schema of what a command prints with `-o json`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The kind as for kubectl: `isvc`, `clusterservingruntimes`, `inferenceservice.ome.io`, or
    /// `ome-test` for files of `ome test`, or `output` for what commands print; without it all
    /// kinds are listed.
    #[arg(value_name = "KIND", add = complete::kinds())]
    kind: Option<String>,
    /// A field below it, such as `spec.engineConfig.runner`, also written as one word with the
    /// kind, `isvc.spec.engine`; of `output` a command, such as `plan`.
    #[arg(value_name = "FIELD", add = complete::fields())]
    field: Option<String>,
    /// Group and version, when several groups have the kind.
    #[arg(long, value_name = "GROUP/VERSION")]
    api_version: Option<String>,
    /// `table`, `json-schema`, or with `--all` `dir=DIR`.
    #[arg(short, long, default_value = "table", value_name = "FORMAT")]
    output: Output,
    /// Write the schemas of all kinds into a directory.
    #[arg(long, conflicts_with_all = ["kind", "field", "kustomize_openapi"])]
    all: bool,
    /// Print OpenAPI definitions with the merge keys of lists, for the field `openapi` of a
    /// kustomization; without KIND those of all kinds.
    #[arg(long, conflicts_with = "field")]
    kustomize_openapi: bool,
}

/// `-o`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Output {
    Table,
    JsonSchema,
    Directory(PathBuf),
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "table" => Ok(Self::Table),
            None if text == "json-schema" => Ok(Self::JsonSchema),
            Some(("dir", path)) if !path.is_empty() => Ok(Self::Directory(path.into())),
            _ => Err("accepted are table, json-schema and, with `--all`, dir=DIR".into()),
        }
    }
}

/// Prints fields, schemas, or the list of kinds.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    match (&args.output, args.all) {
        (Output::Directory(directory), true) => return write_all(directory, io),
        (Output::Directory(_), false) | (_, true) => {
            return Err(Failure::Usage(
                "all schemas are files of a directory: `ome schema --all -o dir=DIR`".into(),
            ));
        }
        _ => {}
    }
    let kinds = schema::kinds();
    let Some(wanted) = &args.kind else {
        if args.kustomize_openapi {
            return print(&json_schema::openapi(kinds), io);
        }
        for schema in kinds {
            io.print(&format!("{:<32} {}\n", schema.kind, schema.api_version))?;
        }
        return Ok(Outcome::Done);
    };
    if wanted.eq_ignore_ascii_case("ome-test") {
        return print(&expect::schema(), io);
    }
    if wanted == schemas::WORD {
        return output(args.field.as_deref(), io);
    }
    let of_version = |schema: &&Schema| {
        args.api_version.as_deref().is_none_or(|version| version == schema.api_version)
    };
    let (kind, field) = split(wanted, args.field.as_deref());
    let mut found: Vec<&Schema> = schema::named(kind).filter(of_version).collect();
    // One word may name kinds of several groups: those of OME first, then Kubernetes' own.
    found.sort_by_key(|schema| match schema.group() {
        "ome.io" => 0,
        "" => 1,
        _ => 2,
    });
    let Some(first) = found.first().copied() else {
        return Err(Failure::NotFound {
            message: format!("no kind `{wanted}` is known"),
            help: nearest(wanted, schema::words())
                .or_else(|| nearest(wanted.split('.').next()?, schema::words()))
                .map(|near| format!("did you mean `{near}`? `ome schema` lists them all")),
        });
    };
    let path = field
        .map(FieldPath::parse)
        .transpose()
        .map_err(|problem| Failure::Usage(format!("the path {problem}")))?
        .unwrap_or_default();
    let no_field = || Failure::NotFound {
        message: format!("{} has no field `{path}`", first.kind),
        help: Some(match near_field(first, &path) {
            Some(near) => format!("did you mean `ome schema {} {near}`?", first.kind),
            None => format!("`ome schema {}` lists the fields", first.kind),
        }),
    };
    if args.kustomize_openapi {
        return print(&json_schema::openapi(found), io);
    }
    if args.output == Output::JsonSchema {
        if let Some(other) = found.get(1) {
            io.say_line(&format!(
                "{} {}; `--api-version {}` is another one",
                first.api_version, first.kind, other.api_version
            ));
        }
        let document = if path.0.is_empty() {
            json_schema::kind(first)
        } else {
            json_schema::field(first, &path).ok_or_else(no_field)?
        };
        return print(&document, io);
    }
    let style = io.style();
    let pages = found.iter().filter_map(|schema| view::page(schema, &path));
    let texts: Vec<String> = pages.map(|page| page.text(style)).collect();
    if texts.is_empty() {
        return Err(no_field());
    }
    io.print(&texts.join("\n"))?;
    Ok(Outcome::Done)
}

/// The field that was probably meant: the nearest one beside it, else the shortest path that ends so.
fn near_field(schema: &Schema, path: &FieldPath) -> Option<FieldPath> {
    /// Fields below are those of pods, which every kind has.
    const DEEPEST: usize = 5;
    let (Segment::Field(last), above) = path.0.split_last()? else { return None };
    let fields = |at: &FieldPath| {
        let ty = schema.root().select(at)?;
        let ty = ty.item().map_or(ty, |item| &item.ty);
        Some(ty.object()?.fields.iter().map(|field| field.name))
    };
    let above = FieldPath(above.to_vec());
    if let Some(near) = fields(&above).and_then(|names| nearest(last, names)) {
        return Some(above.field(near));
    }
    let mut level = vec![FieldPath::root()];
    for _ in 0..DEEPEST {
        let below = |at: &FieldPath| -> Vec<FieldPath> {
            let names = fields(at).into_iter().flatten();
            names.map(|name| at.field(name)).collect()
        };
        level = level.iter().flat_map(below).collect();
        // Of a pod, its containers are meant before its volumes.
        let is_other = |found: &&FieldPath| !found.0.contains(&Segment::Field("containers".into()));
        let found = level.iter().filter(|found| found.0.ends_with(&path.0));
        if let Some(found) = found.min_by_key(is_other) {
            return Some(found.clone());
        }
    }
    None
}

/// Kind and field: kubectl writes both as one word, `isvc.spec.engine`.
fn split<'a>(word: &'a str, field: Option<&'a str>) -> (&'a str, Option<&'a str>) {
    if field.is_some() || schema::named(word).next().is_some() {
        return (word, field);
    }
    // The word of a kind may have dots itself: the longest that is known counts.
    let mut parts = word.rmatch_indices('.').map(|(at, _)| (&word[..at], &word[at + 1..]));
    let parts = parts.find(|(kind, _)| schema::named(kind).next().is_some());
    parts.map_or((word, None), |(kind, field)| (kind, Some(field)))
}

fn print(document: &Value, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    io.print_json(document)?;
    Ok(Outcome::Done)
}

/// The schema of a document that a command prints, or all of their names.
fn output(name: Option<&str>, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let Some(name) = name else {
        for document in schemas::documents() {
            io.print_line(&format!("{:<18} {}", document.name, document.text))?;
        }
        return Ok(Outcome::Done);
    };
    let Some(document) = schemas::documents().find(|document| document.name == name) else {
        return Err(Failure::NotFound {
            message: format!("no document `{name}` is known"),
            help: nearest(name, schemas::documents().map(|document| document.name))
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`ome schema output` lists them".into())),
        });
    };
    print(&document.schema(), io)
}

/// A mark in every written file; files without it are never replaced.
const MARK: &str = "written by `ome schema --all`";

/// Writes a schema for every kind, one for all of them, and a catalog.
fn write_all(directory: &Path, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let kinds = schema::kinds();
    let mut files: Vec<(String, Value)> =
        kinds.iter().map(|schema| (json_schema::file(schema), json_schema::kind(schema))).collect();
    files.push(("all.json".to_owned(), json_schema::all(kinds)));
    files.push(("catalog.json".to_owned(), json_schema::catalog(kinds)));
    for (name, document) in &mut files {
        document["$comment"] = MARK.into();
        emit::generate(&directory.join(name), &format!("{document:#}\n"), MARK)?;
    }
    // Two of the files list the others.
    io.say_line(&format!("{}: {} schemas written", directory.display(), files.len() - 2));
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_field_are_one_word_or_two() {
        for (word, field, expected) in [
            ("isvc", None, ("isvc", None)),
            ("isvc.spec.engine", None, ("isvc", Some("spec.engine"))),
            ("isvc", Some("spec"), ("isvc", Some("spec"))),
            ("isvc.spec", Some("engine"), ("isvc.spec", Some("engine"))),
            ("nothing.spec", None, ("nothing.spec", None)),
            ("inferenceservices.ome.io", None, ("inferenceservices.ome.io", None)),
        ] {
            assert_eq!(split(word, field), expected, "{word} {field:?}");
        }
    }
}

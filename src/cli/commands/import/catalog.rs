//! `ome import --all`: every model of a catalog is completed in place.
//!
//! In: the files of `-f`. Out: the files with the values that their models left out, and what
//! became of each model. A model is completed as a whole or not at all, and what becomes of one is
//! nothing to its neighbors.

use super::origin::Origins;
use super::{Args, Format, Run, is_model, name_of};
use crate::cli::{Failure, Io, Outcome};
use crate::diag::{Code, Diagnostic};
use crate::emit;
use crate::exchange::import;
use crate::facts::models::{Facts, HubId, keeps_agent_out};
use crate::load::{self, Document, Request};
use crate::report::import::{self as view, Completed, State};
use crate::yaml::Node;
use std::collections::BTreeMap;

pub(super) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let mut run = Run::new(args);
    let request = Request {
        exclude: None,
        paths: &args.files,
        kustomize: &[],
        kustomize_command: None,
        overlays: false,
        context: &[],
        follow_outside: false,
        builtin: &[],
        ..Request::default()
    };
    let loaded = load::load(&request, &mut std::io::stdin(), &run.limits);
    run.sources = loaded.sources;
    run.found = loaded.diagnostics;
    let models: Vec<&Document> =
        loaded.documents.iter().filter(|document| is_model(&document.node)).collect();
    if models.is_empty() && !run.failed() {
        return Err(Failure::NotFound {
            message: "no BaseModel or ClusterBaseModel was read".into(),
            help: Some("name the files of the models with `-f`".into()),
        });
    }
    let facts = facts(&models, args, &mut run)?;
    let mut completed: Vec<Completed> = Vec::new();
    let mut repairs: Vec<(usize, Diagnostic)> = Vec::new();
    for document in models {
        let place = run.sources.locate(document.span);
        let mut row = Completed {
            file: place.file.to_string(),
            line: place.line,
            model: format!("{}/{}", document.kind, name_of(&document.node).unwrap_or_default()),
            uri: HubId::of_model(&document.node).map(|id| id.to_string()),
            state: State::Skipped,
            changed: Vec::new(),
        };
        if let Some(hub) = hub(&document.node) {
            row.state = State::Failed;
            if let Some(facts) = facts.get(&hub.to_string()).and_then(Option::as_ref) {
                let text = run.sources.get(document.source).text.clone();
                let checked = import::patch(
                    document.source,
                    &text,
                    &document.node,
                    facts,
                    args.overwrite,
                    &run.limits,
                );
                run.found.extend(checked.diagnostics);
                if let Some(patched) = checked.value {
                    row.state =
                        if patched.changed.is_empty() { State::Complete } else { State::Completed };
                    row.changed = view::changed(facts, &patched.changed, &run.sources);
                    if !patched.edits.is_empty() {
                        let mut repair =
                            Diagnostic::new(Code::ModelIncomplete, "fields are filled in")
                                .at(document.node.origin.span());
                        repair.fix = patched.edits;
                        repairs.push((completed.len(), repair));
                    }
                }
            }
        }
        completed.push(row);
    }
    write(&repairs, &mut completed, &mut run);
    finish(args, io, run, &completed)
}

/// The repository of a model, unless its manifest keeps the model agent from reading configs.
fn hub(model: &Node) -> Option<HubId<'_>> {
    HubId::of_model(model).filter(|_| !keeps_agent_out(model))
}

/// Returns the facts of each repository by its address; `None` for one that cannot be read, which
/// is reported.
fn facts(
    models: &[&Document],
    args: &Args,
    run: &mut Run,
) -> Result<BTreeMap<String, Option<Facts>>, Failure> {
    // A model is fetched once, however many documents name it.
    let mut ids: Vec<HubId<'_>> = Vec::new();
    for id in models.iter().filter_map(|document| hub(&document.node)) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let files = Origins::of(args, run.limits)?.all(&ids);
    let mut by_key = BTreeMap::new();
    for (id, files) in ids.into_iter().zip(files) {
        let place =
            models.iter().find(|document| hub(&document.node) == Some(id)).and_then(|document| {
                document.node.at(&["spec", "storage", "storageUri"])?.origin.span()
            });
        let facts = match files {
            Ok(files) => run.facts(files, None, None),
            Err(finding) => {
                run.found.push(finding.at(place));
                None
            }
        };
        by_key.insert(id.to_string(), facts);
    }
    Ok(by_key)
}

/// Writes the files; what could not be written is a finding, and its models have failed.
fn write(repairs: &[(usize, Diagnostic)], completed: &mut [Completed], run: &mut Run) {
    let findings: Vec<Diagnostic> = repairs.iter().map(|(_, repair)| repair.clone()).collect();
    let outcome = emit::fix::fix(&findings, &run.sources);
    for (at, (row, repair)) in repairs.iter().enumerate() {
        if outcome.repaired.contains(&at) {
            continue;
        }
        completed[*row].state = State::Failed;
        let source = repair.fix.first().map(|edit| edit.span.source);
        let why = outcome.left.iter().find(|(left, _)| Some(*left) == source);
        let why = why.map_or_else(
            || "only files can be written, one change at a place".to_owned(),
            |(_, left)| left.to_string(),
        );
        let message = format!("{} is not completed: {why}", completed[*row].model);
        run.found.push(Diagnostic::new(Code::ImportRefused, message).at(repair.span()));
    }
}

fn finish(
    args: &Args,
    io: &mut Io<'_>,
    mut run: Run,
    completed: &[Completed],
) -> Result<Outcome, Failure> {
    run.sort();
    match args.output {
        Format::Json => io.print_json(&view::all_json(completed, &run.found, &run.sources))?,
        Format::Yaml => {
            io.print(&view::all(completed))?;
            run.say(io);
        }
    }
    Ok(run.outcome())
}

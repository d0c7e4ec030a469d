//! Values that a shell completes: services, runtimes and kinds of the input, codes, fields.
//!
//! In: the word that is typed, and the `-f` before it. Out: candidates. Nothing is reported and
//! nothing fails: an input that cannot be read has no names.

use super::args::InputArgs;
use super::input::Session;
use super::session_options::SessionOptions;
use crate::api::{ComponentKind, ObjectRef};
use crate::diag::{CODES, Topic};
use crate::objects::RenderedObject;
use crate::pipeline::{Each, Recorder, Renderer, identity};
use crate::report::{catalog, schemas};
use crate::schema::{self, Schema, names_kind};
use crate::yaml::{FieldPath, Node, Segment};
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Words of the command line that is being completed: those behind `--`.
fn words() -> Vec<String> {
    let typed = std::env::args_os().skip_while(|word| word != "--").skip(1);
    typed.map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The words before the one that is completed.
fn before() -> Vec<String> {
    let mut words = words();
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|text| text.parse().ok());
    words.truncate(index.unwrap_or_else(|| words.len().saturating_sub(1)));
    words
}

/// The kind that is a word of its own, with its place; the value of a flag is none.
fn lone_kind(before: &[String]) -> Option<(usize, &'static Schema)> {
    before.iter().enumerate().find_map(|(place, word)| {
        let is_value = place > 0 && before[place - 1].starts_with('-');
        if is_value { None } else { known_kind(word).map(|schema| (place, schema)) }
    })
}

/// A command line of which a word is completed: flags are offered when the word begins as one, or
/// where nothing else may follow, as kubectl offers them.
pub(super) fn for_completion(command: Command) -> Command {
    let words = words();
    // Shells set the index of the word; without it, it is the last one.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|text| text.parse().ok());
    let word = index.map_or(words.last(), |index: usize| words.get(index));
    if word.is_some_and(|word| word.starts_with('-')) {
        own_flags_first(command)
    } else {
        without_flags(command)
    }
}

/// The flags of the command itself come before those that all commands share.
fn own_flags_first(command: Command) -> Command {
    let mut place = 0;
    let command = command.mut_args(|arg| {
        place += 1;
        let shared = arg.is_global_set()
            || arg.get_help_heading().is_some_and(|heading| heading != "Output");
        // No command has as many as 1000 flags.
        arg.help_heading(None).display_order(if shared { 1000 + place } else { place })
    });
    command.mut_subcommands(own_flags_first)
}

fn without_flags(command: Command) -> Command {
    command
        .disable_help_flag(true)
        .mut_args(|arg| {
            let arg = with_namespaces(arg);
            if arg.is_positional() { arg } else { arg.hide(true) }
        })
        .mut_subcommands(without_flags)
}

/// `-n` completes the namespaces of the input. The definition of the argument cannot say so, because
/// what reads the input for it is built from these arguments.
fn with_namespaces(arg: Arg) -> Arg {
    if arg.get_id() == "namespace" { arg.add(namespaces()) } else { arg }
}

/// The input that the words name.
fn files(words: &[String]) -> Vec<PathBuf> {
    let mut words = words.iter();
    let mut files = Vec::new();
    while let Some(word) = words.next() {
        let value = match word.as_str() {
            "-f" | "--filename" => words.next().map(String::as_str),
            // `-fFILE` is one word.
            word => word.strip_prefix("--filename=").or_else(|| word.strip_prefix("-f")),
        };
        // Standard input belongs to the command, not to its completion.
        files.extend(value.filter(|value| *value != "-").map(PathBuf::from));
    }
    files
}

fn session() -> Option<Session> {
    let input = InputArgs { files: files(&words()), ..InputArgs::default() };
    Session::open(&input, &SessionOptions::default()).ok()
}

fn candidates(names: impl IntoIterator<Item = String>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let names: BTreeSet<String> =
        names.into_iter().filter(|name| name.starts_with(&*typed)).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// Services and ModelServings: the name, or namespace and name, or kind and name.
pub(super) fn services() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(session) = session() else { return Vec::new() };
        let catalog = &session.world.catalog;
        let services = catalog.services().map(|views| {
            let service = views.followed();
            (service.namespace.as_str(), &service.object)
        });
        let servings = catalog.model_servings().iter();
        let servings = servings.map(|serving| (serving.namespace.as_str(), &serving.object));
        let text = typed.to_string_lossy();
        let kind = text.split_once('/').map(|(kind, _)| kind);
        let names = services.chain(servings).flat_map(|(namespace, object)| {
            let name = &object.id.name;
            // With nothing typed, the short form is enough.
            let qualified = (!typed.is_empty()).then(|| format!("{namespace}/{name}"));
            let is_kind = |kind: &&str| names_kind(kind, &object.api_version, &object.id.kind);
            let of_kind = kind.filter(is_kind).map(|kind| format!("{kind}/{name}"));
            [Some(name.to_string()), qualified, of_kind]
        });
        candidates(names.flatten(), typed)
    })
}

/// SERVICE/COMPONENT: components of InferenceServices, roles of ModelServings.
pub(super) fn components() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(session) = session() else { return Vec::new() };
        let catalog = &session.world.catalog;
        let services = catalog.services().flat_map(|views| {
            let service = views.followed();
            let kinds = ComponentKind::every();
            let kinds = kinds.filter(|kind| service.component(*kind).is_some());
            kinds.map(|kind| format!("{}/{}", service.name(), kind.as_str()))
        });
        let servings = catalog.model_servings().iter().flat_map(|serving| {
            let roles = serving.roles.iter().map(|role| role.name.value.as_str());
            roles.chain(["groups"]).map(|role| format!("{}/{role}", serving.name()))
        });
        candidates(services.chain(servings), typed)
    })
}

/// Nodes of the input.
pub(super) fn nodes() -> ArgValueCompleter {
    of_losses(&[Each::Node], false)
}

/// Accelerator classes that nodes of the input have.
pub(super) fn classes() -> ArgValueCompleter {
    of_losses(&[Each::Class], false)
}

/// What `--without` takes: nodes, zones and classes of the input.
pub(super) fn losses() -> ArgValueCompleter {
    of_losses(&Each::ALL, true)
}

fn of_losses(each: &'static [Each], with_word: bool) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let Some(session) = session() else { return Vec::new() };
        let losses = |each: &Each| each.losses(&session.world.catalog);
        let names = each.iter().flat_map(losses).map(|lost| lost.to_string());
        let name = |text: String| match text.split_once('=') {
            Some((_, name)) if !with_word => name.to_owned(),
            _ => text,
        };
        candidates(names.map(name), typed)
    })
}

/// For how many services objects are rendered to complete their names.
const RENDERED: usize = 200;

/// KIND/NAME of rendered objects, or the name behind a KIND, then a field of the kind.
pub(super) fn rendered() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let before = before();
        let lone = lone_kind(&before);
        let named = |word: &String| known_kind(word.split_once('/')?.0);
        // The name behind a kind is there if another word follows it.
        let complete = lone.filter(|(place, _)| before.len() > place + 1);
        if let Some(schema) = before.iter().find_map(named).or(complete.map(|(_, schema)| schema)) {
            return field_candidates(schema, "", typed);
        }
        let Some(session) = session() else { return Vec::new() };
        let renderer = Renderer::new(&session.world, "cluster.local");
        let services = session.select_in(None).into_iter().take(RENDERED);
        let text = typed.to_string_lossy();
        let name = |id: &ObjectRef, api_version: &str| {
            let is_kind = |word: &str| names_kind(word, api_version, &id.kind);
            match (lone, text.split_once('/')) {
                (Some((place, _)), _) => is_kind(&before[place]).then(|| id.name.to_string()),
                // A short name stays as it is typed.
                (None, Some((word, _))) if is_kind(word) => Some(format!("{word}/{}", id.name)),
                (None, _) => Some(format!("{}/{}", id.kind, id.name)),
            }
        };
        let rendered = services.flat_map(|views| {
            let rendered = renderer.render(views, &mut Recorder::off());
            let name = |object: &RenderedObject| {
                let api_version = object.node.get("apiVersion").and_then(Node::as_str);
                name(&identity(&object.node), api_version.unwrap_or_default())
            };
            rendered.objects.iter().map(name).collect::<Vec<_>>()
        });
        let servings = session.world.catalog.model_servings().iter();
        let servings =
            servings.map(|serving| name(&serving.object.id, &serving.object.api_version));
        candidates(rendered.chain(servings).flatten(), typed)
    })
}

/// The schema of a kind as it is typed.
fn known_kind(word: &str) -> Option<&'static Schema> {
    schema::kinds().iter().find(|schema| names_kind(word, schema.api_version, schema.kind))
}

/// The next keys of a path of fields that is typed behind some text.
fn field_candidates(schema: &Schema, before: &str, typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let path = text.strip_prefix(before).unwrap_or(&text);
    let (above, _) = path.rsplit_once('.').unwrap_or_default();
    let keys = above.split('.').filter(|key| !key.is_empty());
    let keys = FieldPath(keys.map(|key| Segment::Field(key.into())).collect());
    let Some(ty) = schema.root().select(&keys) else { return Vec::new() };
    let ty = ty.item().map_or(ty, |item| &item.ty);
    let fields = ty.object().map(|object| object.fields.iter()).into_iter().flatten();
    let name = |field: &schema::Field| match above {
        "" => format!("{before}{}", field.name),
        above => format!("{before}{above}.{}", field.name),
    };
    candidates(fields.map(name), typed)
}

/// Runtimes of the input, else those that are built in.
pub(super) fn runtimes() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(session) = session() else { return Vec::new() };
        let runtimes = || session.world.catalog.all_runtimes();
        // Built-in names are offered only where the input has no runtime.
        let is_own = runtimes().any(|runtime| !runtime.object.builtin);
        let names = runtimes().filter(|runtime| !is_own || !runtime.object.builtin);
        candidates(names.map(|runtime| runtime.object.id.name.to_string()), typed)
    })
}

/// The subjects of `explain`: services, and `runtime/NAME` and `model/NAME` after their first word
/// is typed.
pub(super) fn subjects() -> ArgValueCompleter {
    let services = services();
    ArgValueCompleter::new(move |typed: &OsStr| {
        let mut found = services.complete(typed);
        let text = typed.to_string_lossy();
        let words = ["runtime/", "model/"].into_iter();
        // With nothing typed, the services are enough.
        let begun = words.filter(|word| !text.is_empty() && word.starts_with(&*text));
        found.extend(begun.map(CompletionCandidate::new));
        let Some((word, _)) = text.split_once('/') else { return found };
        let Some(session) = session() else { return found };
        let catalog = &session.world.catalog;
        let names: Vec<String> = match word {
            "runtime" => {
                catalog.all_runtimes().map(|runtime| runtime.object.id.name.to_string()).collect()
            }
            "model" => catalog.models().map(|model| model.object.id.name.to_string()).collect(),
            _ => Vec::new(),
        };
        found.extend(candidates(names.into_iter().map(|name| format!("{word}/{name}")), typed));
        found
    })
}

/// Runtimes, models and accelerator classes, of the input and built in.
pub(super) fn items() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(session) = session() else { return Vec::new() };
        let before = before();
        let kind = lone_kind(&before).map(|(place, _)| before[place].as_str());
        let mut all = catalog::items(&session.world, |_| true);
        all.retain(|item| {
            let object = item.object();
            kind.is_none_or(|kind| names_kind(kind, &object.api_version, &object.id.kind))
        });
        candidates(all.iter().map(|item| item.object().id.name.to_string()), typed)
    })
}

/// Namespaces of the services and ModelServings.
fn namespaces() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(session) = session() else { return Vec::new() };
        let names = session.known_services(true).map(|(namespace, _)| namespace.to_owned());
        candidates(names, typed)
    })
}

/// Codes of findings, reasons and notes.
pub(super) fn codes() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        candidates(CODES.iter().map(|doc| doc.id.to_owned()), typed)
    })
}

/// Codes of findings.
pub(super) fn rules() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let findings = CODES.iter().filter(|doc| doc.topic == Topic::Finding);
        candidates(findings.map(|doc| doc.id.to_owned()), typed)
    })
}

/// Kinds that have a schema, in small letters as kubectl takes them unless a capital is typed, and
/// fields in one word with the kind.
pub(super) fn kinds() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let text = typed.to_string_lossy();
        // Behind a kind and a dot come its fields.
        if let Some((kind, _)) = text.split_once('.')
            && let Some(schema) = known_kind(kind)
        {
            return field_candidates(schema, &format!("{kind}."), typed);
        }
        let as_written = text.starts_with(|letter: char| letter.is_ascii_uppercase());
        let kinds = schema::kinds().iter().map(|schema| {
            if as_written { schema.kind.to_owned() } else { schema.kind.to_ascii_lowercase() }
        });
        let others = ["ome-test", schemas::WORD].map(str::to_owned);
        candidates(kinds.chain(others), typed)
    })
}

/// Paths of fields of the kind that is named before: the next key.
pub(super) fn fields() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let words = words();
        if words.iter().any(|word| word == schemas::WORD) {
            return candidates(
                schemas::documents().map(|document| document.name.to_owned()),
                typed,
            );
        }
        let schema = words.iter().find_map(|word| known_kind(word));
        schema.map(|schema| field_candidates(schema, "", typed)).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_finds_the_input_files_in_the_command_line() {
        let words = ["ome", "plan", "-f", "a", "--filename=b", "-fc", "-f", "-", "-o", "json"];
        let words = words.map(str::to_owned);
        assert_eq!(files(&words), ["a", "b", "c"].map(PathBuf::from));
    }
}

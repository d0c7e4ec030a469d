//! Settings of an engine in a YAML file that its command line names.
//!
//! In: the tree of the file. Out: its values, as if they were flags; the caller places them before
//! those of the command line or after them.
//!
//! | engine | flag | source | what counts |
//! | --- | --- | --- | --- |
//! | vLLM | `--config FILE` | `vllm/utils/argparse_utils.py`, `_pull_args_from_config` | the command line |
//! | SGLang | `--config FILE` | `server_args_config_parser.py`, `merge_config_with_args` | the command line |
//! | TensorRT-LLM | `--config`, `--extra_llm_api_options` | `tensorrt_llm/llmapi/llm_args.py`, `update_llm_args_with_extra_dict` | the file |

use super::flags::{self, Field, Flag, Form, Named as Name};
use super::identity::Engine;
use super::setting::Setting;
use crate::yaml::{Entry, Node, Value};
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// A value of a file: nothing where it is not known what the engine makes of it.
pub(super) type FileValue = (&'static Flag, Option<Setting<EcoString>>);

/// Whether the engine reads the file that a flag names so: vLLM and SGLang look for the word
/// `--config` alone, and read files of two extensions only.
fn is_read(engine: Engine, path: &str, is_joined: bool) -> bool {
    match engine {
        Engine::VLlm | Engine::SGLang => {
            let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
            !is_joined && matches!(extension, "yaml" | "yml")
        }
        Engine::TensorRtLlm => true,
        Engine::LmDeploy | Engine::Tgi | Engine::LlamaCpp => false,
    }
}

/// The file that a command line names.
pub(super) struct Named {
    /// Its path.
    pub(super) path: Setting<EcoString>,
    /// The path is in the word of the flag.
    pub(super) is_joined: bool,
}

impl Named {
    /// Adds what the file sets to what flags set; reports whether the file could be read.
    pub(super) fn add_to(
        &self,
        engine: Engine,
        file: impl FnOnce(&str) -> Option<Arc<Node>>,
        set: &mut Vec<FileValue>,
    ) -> bool {
        let path = self.path.value.as_str();
        let is_read = is_read(engine, path, self.is_joined);
        let Some(file) = is_read.then(|| file(path)).flatten() else { return false };
        // An empty file sets nothing and is valid; a list or a scalar is no settings file.
        let Some(map) = file.as_map() else { return file.is_null() };
        let mut found = Vec::new();
        if engine == Engine::TensorRtLlm {
            // The fields that flags set, before the file adds any: only those can be replaced.
            let flags: Vec<Field> = set.iter().map(|(flag, _)| flag.field).collect();
            map.iter().for_each(|entry| of_fields(entry, "", &flags, &mut found));
            set.append(&mut found);
        } else {
            // Values of the file go in front, so that those of the command line, which come later,
            // count.
            found.extend(map.iter().filter_map(|entry| of_flag(engine, entry)));
            found.append(set);
            *set = found;
        }
        true
    }
}

fn setting(entry: &Entry, name: EcoString, value: EcoString) -> Setting<EcoString> {
    Setting { value, from: name, origin: Some(entry.node.origin) }
}

/// A scalar as Python's `str` has it: a number with a point or an exponent is no whole one.
fn text(node: &Node) -> Option<EcoString> {
    match node.value {
        Value::Float(number) => Some(eco_format!("{number:?}")),
        _ => node.scalar_text(),
    }
}

/// A key that is the long form of a flag.
fn of_flag(engine: Engine, entry: &Entry) -> Option<FileValue> {
    let flag = match flags::named(engine, &format!("--{}", entry.key)) {
        Name::Flag(flag) => flag,
        Name::Ambiguous | Name::Other => {
            // Whether a key with `_` is read depends on the release.
            let dashed = format!("--{}", entry.key.replace("_", "-"));
            let Name::Flag(flag) = flags::named(engine, &dashed) else { return None };
            return Some((flag, None));
        }
    };
    let set = |value: EcoString| Some((flag, Some(setting(entry, entry.key.clone(), value))));
    match (&entry.node.value, flag.form) {
        (Value::Bool(true), Form::Switch | Form::Off) => set(EcoString::new()),
        // Left out, or in later releases `--no-…`.
        (Value::Bool(false), Form::Switch | Form::Off) => {
            let has_opposite = flags::of(engine)
                .iter()
                .any(|other| other.field == flag.field && other.form == Form::Off);
            (has_opposite && flag.field != Field::Eager).then_some((flag, None))
        }
        (_, Form::Switch | Form::Off) => Some((flag, None)),
        (Value::Map(_), Form::Text) => set(EcoString::inline("{}")),
        (_, _) => match text(&entry.node) {
            Some(text) => set(text),
            None => Some((flag, None)),
        },
    }
}

/// A field of TensorRT-LLM's arguments; those of a mapping are `kv_cache_config.dtype`.
fn of_fields(entry: &Entry, outer: &str, flags: &[Field], found: &mut Vec<FileValue>) {
    let name = eco_format!("{outer}{}", entry.key);
    let in_file = || flags::in_files().iter().find(|flag| flag.names.contains(&name.as_str()));
    if let Some(map) = entry.node.as_map() {
        if let Some(flag) = in_file() {
            found.push((flag, Some(setting(entry, name.clone(), EcoString::inline("{}")))));
        }
        // Mappings are read one level deep, as the names in the table are.
        if !outer.is_empty() {
            return;
        }
        let outer = eco_format!("{name}.");
        // The mapping replaces what flags set of it, or is merged with it.
        let is_inner =
            |flag: &&Flag| flag.names.iter().any(|name| name.starts_with(outer.as_str()));
        let replaced =
            flags::in_files().iter().filter(is_inner).filter(|flag| flags.contains(&flag.field));
        found.extend(replaced.map(|flag| (flag, None)));
        map.iter().for_each(|inner| of_fields(inner, &outer, flags, found));
        return;
    }
    // A null leaves the default of the field.
    let (Some(flag), false) = (in_file(), entry.node.is_null()) else { return };
    // Bytes or tokens of the cache: what is left beside them is not used.
    let value = text(&entry.node).filter(|_| flag.field != Field::CacheBytes);
    found.push((flag, value.map(|value| setting(entry, name, value))));
}

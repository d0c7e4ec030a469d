//! The values of a command line, before they are numbers.
//!
//! In: the words after the program. Out: flags in order with their texts, and the file that they
//! name.

use super::command::Started;
use super::file;
use super::flags::{self, Field, Flag, Form, Named};
use super::identity::{Engine, EngineVersion};
use super::setting::{Fault, Known, Setting};
use super::variables::UNKNOWN;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use std::sync::Arc;

impl Known<EcoString> {
    /// The first word where no flag names the model, for engines that take it so.
    pub(super) fn or_first(self, started: &Started) -> Self {
        let takes = matches!(
            started.identity.engine,
            Engine::VLlm | Engine::TensorRtLlm | Engine::LmDeploy
        );
        // A file may name one too, which the word replaces.
        let is_flag = |definitions: &Self| {
            definitions.set().is_some_and(|setting| setting.from.starts_with('-'))
        };
        match (self, started.words.first()) {
            (definitions, Some(word))
                if takes && !is_flag(&definitions) && !word.text.starts_with(['-', UNKNOWN]) =>
            {
                Self::Set(Setting {
                    value: word.text.clone(),
                    from: "argument".into(),
                    origin: Some(word.origin),
                })
            }
            (definitions, _) => definitions,
        }
    }
}

/// The values of a command line, before they are numbers.
#[derive(Default)]
pub(super) struct Values {
    pub(super) set: Vec<(&'static Flag, Option<Setting<EcoString>>)>,
    /// A file with more of them; of several, or of one whose path is not known, nothing is read.
    files: Vec<Option<file::Named>>,
    /// A word may be any flag: what is not set after it is unknown.
    pub(super) open: bool,
}

impl Values {
    /// Flags and values in one element: what else they set is not known.
    fn joined(&mut self, text: &str, origin: Origin, stops: bool, faults: &mut Vec<Fault>) {
        self.open = true;
        faults.push(Fault::Joined { text: text.into(), words: split(text), stops, origin });
    }

    /// Adds the values of the file that is named.
    ///
    /// # Errors
    /// The path of a file that was not read, as far as it is known.
    pub(super) fn add_file(
        &mut self,
        engine: Engine,
        read: impl FnOnce(&str) -> Option<Arc<Node>>,
    ) -> Result<(), Option<Setting<EcoString>>> {
        let is_read = match self.files.as_slice() {
            [] => true,
            // With open words a later flag may name another file.
            [Some(named)] if !self.open => named.add_to(engine, read, &mut self.set),
            _ => false,
        };
        if is_read { Ok(()) } else { Err(self.files.pop().flatten().map(|named| named.path)) }
    }
}

/// The flags of a command line in order; the last of a field counts, as in the engines.
pub(super) fn values(
    started: &Started,
    release: Option<&EngineVersion>,
    faults: &mut Vec<Fault>,
) -> Values {
    let engine = started.identity.engine;
    let mut out = Values::default();
    let mut words = started.words.iter().enumerate().peekable();
    let mut takes_value = false;
    while let Some((at, word)) = words.next() {
        let text = word.text.as_str();
        let is_value = std::mem::take(&mut takes_value);
        // A minus before digits is a negative value, such as `--max-model-len -1`.
        let is_flag = text.starts_with('-') && text.len() > 1 && !is_number(text);
        if !is_flag {
            // A word without a value can be a flag, but for the value of another flag and for the
            // model, which comes first.
            if text.starts_with(UNKNOWN) && !is_value && at > 0 {
                out.open = true;
                // Earlier values may be replaced by what the unknown word sets.
                out.set.clear();
            }
            // Nothing else has both a blank and a flag: the name of a model has no blank.
            if !is_value && !started.in_script && has_flag(engine, text) {
                out.joined(text, word.origin, true, faults);
            }
            continue;
        }
        let (name, joined) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        if name.contains(UNKNOWN) {
            out.open = true;
            out.set.clear();
            continue;
        }
        if !started.in_script
            && joined.is_none()
            && let Some((head, rest)) = name.split_once(char::is_whitespace)
            && !rest.trim().is_empty()
            && is_name(head)
        {
            out.joined(text, word.origin, true, faults);
            continue;
        }
        // A script is split by the shell, so an element with blanks there is quoted on purpose.
        if !started.in_script && joined.is_some_and(|value| has_flag(engine, value)) {
            let is_known = matches!(flags::named(engine, name), Named::Flag(_));
            out.joined(text, word.origin, is_known, faults);
            continue;
        }
        let (name, field) = object_field(engine, name);
        let named = flags::named(engine, name);
        if let (Named::Flag(flag), Some(release)) = (named, release)
            && flag.is_absent(release.numbers)
        {
            faults.push(Fault::Unknown {
                flag: name.into(),
                release: eco_format!("{engine} {}", release.text),
                origin: word.origin,
            });
        }
        match named {
            Named::Flag(flag) if matches!(flag.form, Form::Switch | Form::Off) => {
                // Earlier releases take a value, as the next word too.
                let is_truth = |word: &str| matches!(word, "true" | "false" | "True" | "False");
                let mut next = || words.next_if(|(_, next)| is_truth(&next.text));
                let value = joined.or_else(|| next().map(|(_, next)| next.text.as_str()));
                out.set.push((flag, Some(setting(value.unwrap_or_default(), name, word.origin))));
            }
            Named::Flag(flag) => {
                let value = match joined {
                    Some(value) => Some((value, word.origin)),
                    None => words.next().map(|(_, next)| (next.text.as_str(), next.origin)),
                };
                // A flag at the end has no value: the engine's parser reports it, and nothing is
                // set.
                let Some((value, origin)) = value else { continue };
                if !started.in_script && joined.is_none() && has_flag(engine, value) {
                    out.joined(value, origin, true, faults);
                    continue;
                }
                let is_known = !value.contains(UNKNOWN);
                // Fields add up over several flags: the next one starts from the object so far.
                if let Some(field) = field {
                    let before = out.set.iter().rev().find(|(other, _)| other.field == flag.field);
                    let before = before
                        .and_then(|(_, setting)| setting.as_ref())
                        .map(|setting| &setting.value);
                    let value = with_field(before, field, value);
                    out.set.push((flag, is_known.then(|| setting(&value, name, origin))));
                    continue;
                }
                if flag.field == Field::File {
                    let is_joined = joined.is_some();
                    let named = || file::Named { path: setting(value, name, origin), is_joined };
                    out.files.push(is_known.then(named));
                    continue;
                }
                out.set.push((flag, is_known.then(|| setting(value, name, origin))));
            }
            Named::Ambiguous => {
                out.open = true;
                out.set.clear();
            }
            // The next word is probably the value of this flag, so it is not a word without a flag.
            Named::Other => takes_value = joined.is_none(),
        }
    }
    out
}

/// Whether a flag of the engine is among the words behind the first of a text.
fn has_flag(engine: Engine, text: &str) -> bool {
    // JSON and templates have blanks and dashes of their own.
    if text.trim_start().starts_with(['{', '[', '<']) {
        return false;
    }
    text.split_whitespace().skip(1).any(|word| {
        let name = word.split('=').next().unwrap_or(word);
        // One letter after one dash is too common in texts to be a flag.
        (name.starts_with("--") || name.starts_with('-') && name.len() > "-q".len())
            && matches!(flags::named(engine, name), Named::Flag(_))
    })
}

/// The words of an element, without the quotes around them.
fn split(text: &str) -> Vec<EcoString> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut is_open) = (String::new(), None, false);
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => (quote, is_open) = (Some(c), true),
            None if c.is_whitespace() => {
                // Two quotes with nothing between them are a word, two blanks are none.
                if is_open {
                    words.push(EcoString::from(std::mem::take(&mut word)));
                }
                is_open = false;
            }
            _ => {
                word.push(c);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(word.into());
    }
    words
}

/// A flag, and the field of its value that `--flag.field` sets (vllm/utils/argparse_utils.py,
/// `FlexibleArgumentParser.parse_args`).
fn object_field(engine: Engine, name: &str) -> (&str, Option<&str>) {
    let whole = (name, None);
    if engine != Engine::VLlm || !name.starts_with("--") {
        return whole;
    }
    let Some((head, field)) = name.split_once('.') else { return whole };
    match flags::named(engine, head) {
        Named::Flag(flag) if flag.is_object() => (head, Some(field)),
        _ => whole,
    }
}

/// An object of JSON with one more field.
fn with_field(object: Option<&EcoString>, path: &str, value: &str) -> EcoString {
    use serde_json::{Map, Value};
    let text = object.map_or("{}", EcoString::as_str);
    // A value that is no object is replaced, as a field cannot be set in it.
    let mut whole = serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let mut inner = &mut whole;
    let mut keys = path.split('.').peekable();
    while let Some(key) = keys.next() {
        if keys.peek().is_none() {
            // vLLM reads numbers and booleans where the text is JSON, and keeps other texts.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            inner.insert(key.to_owned(), value);
            break;
        }
        let next = inner.entry(key).or_insert_with(|| Value::Object(Map::new()));
        if !next.is_object() {
            *next = Value::Object(Map::new());
        }
        let Value::Object(next) = next else { break };
        inner = next;
    }
    Value::Object(whole).to_string().into()
}

fn setting(value: &str, name: &str, origin: Origin) -> Setting<EcoString> {
    Setting { value: value.into(), from: name.into(), origin: Some(origin) }
}

/// A word that begins with a minus and is a value.
fn is_number(text: &str) -> bool {
    text[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

/// `--name` or `-n`.
fn is_name(text: &str) -> bool {
    let name = text.trim_start_matches('-');
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

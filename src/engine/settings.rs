//! What a container sets of its engine, each value with the leaf that set it.

use super::command::{self, Command, Started};
use super::flags::{self, Field, Flag, Form};
use super::identity::{self, Engine, EngineVersion};
use super::setting::{Fault, Known, Setting};
use super::values::{Values, values};
use crate::yaml::Node;
use ecow::EcoString;
use std::sync::Arc;

/// The settings of an engine in a container.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The engine.
    pub engine: Engine,
    /// Its release, from the tag of the project's own image.
    pub version: Option<EngineVersion>,
    /// It is the project's own server, which speaks the protocol of OpenAI.
    pub is_own_server: bool,
    /// A word without a value, or a file that was not read, may set any flag.
    pub may_set_more: bool,
    /// The path of a file with settings that was not read.
    pub unread_file: Option<Setting<EcoString>>,
    /// Devices that split each layer.
    pub tensor: Known<u64>,
    /// Devices that split the layers among them.
    pub pipeline: Known<u64>,
    /// Copies of the model.
    pub data: Known<u64>,
    /// The copies of this pod.
    pub data_local: Known<u64>,
    /// The number of the one copy of this pod.
    pub data_rank: Known<u64>,
    /// What runs the copies: `mp`, `ray`.
    pub data_backend: Known<EcoString>,
    /// Devices that split the context.
    pub context_parallel: Known<u64>,
    /// What starts the ranks: `mp`, `ray`.
    pub executor: Known<EcoString>,
    /// Nodes of one server.
    pub nodes: Known<u64>,
    /// Experts are split over all ranks.
    pub expert: Known<bool>,
    /// Requests are split within the tensor-parallel group.
    pub data_attention: Known<bool>,
    /// The pod has ranks and no API.
    pub headless: Known<bool>,
    /// Tokens of a request of full length.
    pub context: Known<u64>,
    /// Concurrent requests.
    pub sequences: Known<u64>,
    /// Tokens of one step.
    pub batched_tokens: Known<u64>,
    /// Share of the memory of a device.
    pub share: Known<f64>,
    /// Bytes of the cache, in place of a share.
    pub cache_bytes: Known<u64>,
    /// Type of an element of the cache.
    pub kv_dtype: Known<EcoString>,
    /// How the weights are quantized.
    pub quantization: Known<EcoString>,
    /// Type of an element of the weights that are not quantized.
    pub weights_dtype: Known<EcoString>,
    /// Adapters are served beside the model.
    pub lora: Known<bool>,
    /// No graphs are captured.
    pub eager: Known<bool>,
    /// Prompts are computed in parts.
    pub chunked: Known<bool>,
    /// A second model proposes tokens.
    pub speculative: Known<EcoString>,
    /// GiB of weights that stay in the memory of the host.
    pub offload: Known<f64>,
    /// The model: a path, or a repository of the Hub.
    pub model: Known<EcoString>,
    /// Values that replace those of the model's config.
    pub overrides: Known<EcoString>,
    /// The format of the files that are loaded.
    pub load_format: Known<EcoString>,
    /// Blocks of the cache, in place of those that fit.
    pub blocks: Known<u64>,
    /// Tokens of a block of the cache.
    pub block_size: Known<u64>,
    /// Tokens of the cache at most.
    pub cache_tokens: Known<u64>,
    /// Adapters on the devices at once.
    pub adapters: Known<u64>,
    /// The largest rank of an adapter.
    pub adapter_rank: Known<u64>,
    /// The command starts a Ray cluster first.
    pub with_ray: bool,
    /// Parts that the engine cannot read.
    pub faults: Vec<Fault>,
    /// Variables that the container sets itself.
    variables: Vec<(EcoString, EcoString)>,
}

/// The variables that change what an engine needs.
const VARIABLES: [&str; 3] =
    ["VLLM_USE_V1", "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"];

/// What a container starts, as far as engines are known.
#[derive(Clone, Debug)]
pub enum Container {
    /// An engine with its settings.
    Engine(Box<EngineSettings>),
    /// A member of a Ray cluster whose head runs the engine.
    RayMember,
    /// A command line that cannot start.
    Fault(Fault),
    /// Something of which nothing is assumed.
    Other,
}

impl EngineSettings {
    /// Reads a container; nothing when it starts no engine that is known.
    pub fn of(container: &Node) -> Option<Self> {
        match Self::container(container) {
            Container::Engine(settings) => Some(*settings),
            Container::RayMember | Container::Fault(_) | Container::Other => None,
        }
    }

    /// Reads what a container starts.
    pub fn container(container: &Node) -> Container {
        Self::container_with(container, |_| None)
    }

    /// The same with the files of the container that are known, as trees by their paths.
    pub fn container_with(
        container: &Node,
        file: impl FnOnce(&str) -> Option<Arc<Node>>,
    ) -> Container {
        match command::of(container) {
            Command::Engine(started) => {
                let image = container.get("image").and_then(Node::as_str).unwrap_or_default();
                Container::Engine(Box::new(read(&started, image, file)))
            }
            Command::RayMember => Container::RayMember,
            Command::OneElement(text, origin) => {
                Container::Fault(Fault::CommandLine { text, origin })
            }
            Command::Other => Container::Other,
        }
    }

    /// The value of a variable that the container sets.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .iter()
            .find(|(variable, _)| variable == name)
            .map(|(_, value)| value.as_str())
    }
}

fn read(
    started: &Started,
    image: &str,
    file: impl FnOnce(&str) -> Option<Arc<Node>>,
) -> EngineSettings {
    let identity = started.identity;
    let engine = identity.engine;
    let mut faults = Vec::new();
    let version = identity::version(image, engine);
    // A candidate may have what the release has not.
    let release = version.as_ref().filter(|version| version.is_final());
    let mut values = values(started, release, &mut faults);
    // A variable counts only where no flag sets the field: the flag has precedence.
    for flag in flags::of(engine).iter().filter(|flag| !flag.variable.is_empty()) {
        let is_set = values.set.iter().any(|(other, _)| other.field == flag.field);
        if !is_set && started.variables.is_set(flag.variable) {
            let value = started.variables.get(flag.variable).map(|value| Setting {
                value: value.clone(),
                from: flag.variable.into(),
                origin: started.variables.origin(flag.variable),
            });
            values.set.push((flag, value));
        }
    }
    // After flags and variables, because only the file's own rule knows what comes before what.
    let unread_file = values.add_file(engine, file);
    // A file that was not read may set any field, so that no default holds.
    let has_file = unread_file.is_err();
    // Three things make a default sure: the own server, no word that may be any flag, no file.
    // vLLM-Omni starts an engine for each stage of a model, with the devices and the flags of a file
    // of its own (vllm-project/vllm-omni, vllm_omni/entrypoints/cli/serve.py).
    let has_stages =
        engine == Engine::VLlm && started.words.iter().any(|word| word.text == "--omni");
    let rest_is_default = identity.is_plain && !values.open && !has_file && !has_stages;
    let release = release.map(|version| version.numbers);
    let mut reader = Reader { values: &values, rest_is_default, release, faults: &mut faults };
    let cache_tokens = reader.number(Field::CacheTokens);
    // SGLang takes the lesser of its share and the tokens that are set.
    reader.limits(if cache_tokens.is_default() { &[] } else { &[Field::Share] });
    let (sequences, batched_tokens) =
        (reader.number(Field::Sequences), reader.number(Field::BatchedTokens));
    if engine == Engine::VLlm {
        few_tokens(&sequences, &batched_tokens, reader.faults);
    }
    EngineSettings {
        engine,
        version: version.clone(),
        is_own_server: identity.is_plain,
        may_set_more: values.open || has_file,
        unread_file: unread_file.err().flatten(),
        tensor: reader.number(Field::Tensor),
        pipeline: reader.number(Field::Pipeline),
        data: reader.number(Field::Data),
        data_local: reader.number(Field::DataLocal),
        data_rank: reader.count_from_zero(Field::DataRank),
        data_backend: reader.text(Field::DataBackend),
        context_parallel: reader.number(Field::ContextParallel),
        executor: reader.text(Field::Executor),
        nodes: reader.number(Field::Nodes),
        expert: reader.switch(Field::Expert),
        data_attention: reader.switch(Field::DataAttention),
        headless: reader.switch(Field::Headless),
        context: reader.number(Field::Context),
        sequences,
        batched_tokens,
        cache_tokens,
        load_format: reader.text(Field::LoadFormat),
        blocks: reader.number(Field::Blocks),
        block_size: reader.number(Field::BlockSize),
        adapters: reader.number(Field::Adapters),
        adapter_rank: reader.number(Field::AdapterRank),
        share: reader.float(Field::Share),
        cache_bytes: reader.number(Field::CacheBytes),
        kv_dtype: reader.text(Field::CacheType),
        quantization: reader.text(Field::Quantization),
        weights_dtype: reader.text(Field::WeightsType),
        lora: reader.switch(Field::Lora),
        eager: reader.switch(Field::Eager),
        chunked: reader.switch(Field::Chunked),
        speculative: reader.text(Field::Speculative),
        offload: reader.float(Field::Offload),
        model: reader.text(Field::Model).or_first(started),
        overrides: reader.text(Field::Overrides),
        with_ray: started.with_ray,
        variables: VARIABLES
            .into_iter()
            .filter_map(|name| Some((name.into(), started.variables.get(name)?.clone())))
            .collect(),
        faults,
    }
}

/// vLLM refuses a step with fewer tokens than requests (vllm/config/scheduler.py,
/// `SchedulerConfig`); in place of what is not set it takes numbers that go together.
fn few_tokens(requests: &Known<u64>, tokens: &Known<u64>, faults: &mut Vec<Fault>) {
    if let (Some(requests), Some(tokens)) = (requests.set(), tokens.set())
        && tokens.value < requests.value
        && let Some(origin) = tokens.origin
    {
        faults.push(Fault::FewTokens {
            tokens: (tokens.from.clone(), tokens.value),
            requests: (requests.from.clone(), requests.value),
            origin,
        });
    }
}

struct Reader<'a> {
    values: &'a Values,
    rest_is_default: bool,
    release: Option<flags::Release>,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn found<T>(&self, field: Field) -> Result<(&'static Flag, Setting<EcoString>), Known<T>> {
        // From the end, because the last value of a field counts.
        let found = self.values.set.iter().rev().find(|(flag, _)| flag.field == field);
        match found {
            Some((flag, Some(setting))) => Ok((*flag, setting.clone())),
            None if self.rest_is_default => Err(Known::Default),
            Some((_, None)) | None => Err(Known::Unknown),
        }
    }

    fn text(&self, field: Field) -> Known<EcoString> {
        match self.found(field) {
            Ok((_, setting)) => Known::Set(setting),
            Err(definitions) => definitions,
        }
    }

    fn switch(&self, field: Field) -> Known<bool> {
        match self.found(field) {
            Ok((flag, setting)) => {
                let text = setting.value.to_ascii_lowercase();
                let is_on = match flag.form {
                    Form::Off => false,
                    // Older releases take a value after a switch.
                    Form::Switch | Form::Text => !matches!(text.as_str(), "false" | "0"),
                    // Expert parallelism of some engines is a number.
                    _ => int(&text).is_some_and(|number| number > 1),
                };
                Known::Set(Setting { value: is_on, from: setting.from, origin: setting.origin })
            }
            Err(definitions) => definitions,
        }
    }

    /// Numbers that the engine refuses, but for these fields.
    fn limits(&mut self, except: &[Field]) {
        let mut fields: Vec<Field> = Vec::new();
        for (flag, setting) in self.values.set.iter().rev() {
            // The last one of a field counts.
            if fields.contains(&flag.field) || except.contains(&flag.field) {
                continue;
            }
            fields.push(flag.field);
            // A default is never refused, and without a place there is nothing to point at.
            let Some(Setting { value, from, origin: Some(origin) }) = setting else { continue };
            #[expect(clippy::cast_precision_loss, reason = "compared with small numbers")]
            let number = match flag.form {
                Form::Int => int(value).map(|number| number as f64),
                Form::Tokens => human(value).map(|number| number as f64),
                Form::Float => float(value),
                Form::Switch | Form::Off | Form::Text => None,
            };
            if let Some(expected) = number.and_then(|given| flag.refuses(given, self.release)) {
                self.faults.push(Fault::Range {
                    flag: from.clone(),
                    text: value.clone(),
                    expected,
                    origin: *origin,
                });
            }
        }
    }

    fn fault(&mut self, setting: Setting<EcoString>, expected: &'static str) {
        if let Some(origin) = setting.origin {
            let Setting { value: text, from: flag, .. } = setting;
            self.faults.push(Fault::Number { flag, text, expected, origin });
        }
    }

    /// A positive number; other ones have a meaning of their own, such as "derive it".
    fn number(&mut self, field: Field) -> Known<u64> {
        self.at_least(field, 1)
    }

    fn count_from_zero(&mut self, field: Field) -> Known<u64> {
        self.at_least(field, 0)
    }

    fn at_least(&mut self, field: Field, least: i64) -> Known<u64> {
        let (flag, setting) = match self.found(field) {
            Ok(found) => found,
            Err(definitions) => return definitions,
        };
        let read = match flag.form {
            Form::Tokens if self.release.is_some_and(|release| flag.is_digits(release)) => {
                int(&setting.value)
            }
            // `auto` is derived from the memory that is left: the number exists only at start-up.
            Form::Tokens if setting.value == "auto" => return Known::Unknown,
            Form::Tokens => human(&setting.value),
            _ => int(&setting.value),
        };
        match read {
            None => {
                self.fault(setting, "a whole number");
                Known::Unknown
            }
            // Zero and less mean "derive it" in some engines: no number, and no fault either.
            Some(number) if number < least => Known::Unknown,
            Some(number) => Known::Set(Setting {
                value: number.unsigned_abs(),
                from: setting.from,
                origin: setting.origin,
            }),
        }
    }

    fn float(&mut self, field: Field) -> Known<f64> {
        let (_, setting) = match self.found(field) {
            Ok(found) => found,
            Err(definitions) => return definitions,
        };
        match float(&setting.value) {
            None => {
                self.fault(setting, "a number");
                Known::Unknown
            }
            Some(value) => {
                Known::Set(Setting { value, from: setting.from, origin: setting.origin })
            }
        }
    }
}

/// Whether a container runs the own server of an engine: it answers /v1/chat/completions and
/// /health, and no path of the Open Inference Protocol.
pub(crate) fn is_own_server(container: &Node) -> bool {
    EngineSettings::of(container).is_some_and(|settings| settings.is_own_server)
}

// Numbers as the engines parse them.

/// A whole number of Python's `int`: a sign, underscores between digits, blanks around.
fn int(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_int = digits
        .split('_')
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_int {
        return None;
    }
    // Rust's `parse` takes no underscores; a sign in front was checked above, so each `+` is one.
    text.replace(['_', '+'], "").parse().ok()
}

/// A number of tokens of vLLM (vllm/engine/arg_utils.py, human_readable_int): `8192`, `8k`, `1.5k`
/// (thousands), `8K` (times 1024).
fn human(text: &str) -> Option<i64> {
    let text = text.trim();
    let Some((at, unit)) = text.char_indices().last().filter(|(_, c)| c.is_ascii_alphabetic())
    else {
        return int(text);
    };
    let (decimal, binary) = match unit.to_ascii_lowercase() {
        'k' => (1_000, 1 << 10),
        'm' => (1_000_000, 1 << 20),
        'g' => (1_000_000_000, 1 << 30),
        't' => (1_000_000_000_000, 1_i64 << 40),
        _ => return None,
    };
    let digits = &text[..at];
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Only the decimal units take a point: vLLM refuses `1.5K`.
    if unit.is_ascii_uppercase() {
        return is_plain(digits).then(|| digits.parse::<i64>().ok()?.checked_mul(binary))?;
    }
    match digits.split_once('.') {
        None => is_plain(digits).then(|| digits.parse::<i64>().ok()?.checked_mul(decimal))?,
        Some((whole, part)) if is_plain(whole) && is_plain(part) => {
            let value = digits.parse::<f64>().ok()?;
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "vLLM multiplies floats too"
            )]
            let tokens = (value * decimal as f64) as i64;
            Some(tokens)
        }
        Some(_) => None,
    }
}

/// A number of Python's `float`; no infinity.
fn float(text: &str) -> Option<f64> {
    let text = text.trim().replace('_', "");
    // Python and Rust both take `inf` and `nan`, which are no settings.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|value: &f64| plain && value.is_finite())
}

#[cfg(test)]
mod number_tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_engines() {
        for (text, expected) in [
            ("8192", Some(8192)),
            ("8k", Some(8000)),
            ("1.5k", Some(1500)),
            ("8K", Some(8192)),
            ("2M", Some(2 << 20)),
            ("1.5K", None),
            ("-1", Some(-1)),
            ("32_768", Some(32_768)),
            ("1e+06", None),
            ("2.56e+02", None),
            ("1.0", None),
            ("", None),
            ("k", None),
            ("many", None),
            ("99999999999999999999K", None),
        ] {
            assert_eq!(human(text), expected, "{text}");
        }
        assert_eq!(
            (int("8k"), int(" 4 "), int("+4"), int("4_"), int("0x4")),
            (None, Some(4), Some(4), None, None)
        );
        assert_eq!(
            (float("0.9"), float("9e-1"), float("inf"), float("90%")),
            (Some(0.9), Some(0.9), None, None)
        );
    }
}

#[cfg(test)]
mod tests;

//! How many requests of full length a component serves at once.
//!
//! In: the KV cache that a model keeps per request, the engine container and its accelerator. Out:
//! every operand with its source. An argument of the engine takes precedence; without it, the
//! engine's default or the model's config applies.
//!
//! Flags and defaults: vLLM, `vllm/engine/arg_utils.py` (EngineArgs); SGLang,
//! `python/sglang/srt/server_args.py` (ServerArgs, `mem_fraction_static`).

use super::PlannedComponent;
use crate::api::{ComponentKind, Model, Runtime, Service};
use crate::decision::{CacheFit, Operand, Resolution};
use crate::diag::{Code, Diagnostic};
use crate::operators::Selector;
use crate::operators::ome::accelerators::fit::weights;
use crate::pods::built::Component;
use crate::policy::Policy;
use crate::quantity::{Count, Memory};
use crate::source::Span;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};

/// Names of the engine container in OME and KServe.
const RUNNERS: [&str; 2] = ["ome-container", "kserve-container"];

const CONTEXT: [&str; 2] = ["--max-model-len", "--context-length"];
const SHARE: [&str; 2] = ["--gpu-memory-utilization", "--mem-fraction-static"];
const MOST: [&str; 2] = ["--max-num-seqs", "--max-running-requests"];
const WIDTH: [&str; 1] = ["--kv-cache-dtype"];
const TENSOR: [&str; 4] = ["--tensor-parallel-size", "--tp-size", "--tp", "-tp"];
const PIPELINE: [&str; 4] = ["--pipeline-parallel-size", "--pp-size", "--pp", "-pp"];
const DATA: [&str; 4] = ["--data-parallel-size", "--dp-size", "--dp", "-dp"];
const DATA_ATTENTION: &str = "--enable-dp-attention";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    VLlm,
    SGLang,
    Other,
}

/// The words of a container's command line, and the container, which declares its variables.
struct CommandLine<'a> {
    words: Vec<(&'a str, Option<Span>)>,
    container: &'a Node,
}

impl<'a> CommandLine<'a> {
    fn of(container: &'a Node) -> Self {
        let lists = ["command", "args"].into_iter().filter_map(|key| container.get(key));
        // A shell script is one argument of many words.
        let words = lists.flat_map(Node::items).flat_map(|node| {
            let span = node.origin.span();
            let words = node.as_str().unwrap_or_default().split_whitespace();
            words.map(move |word| (word.trim_matches(['"', '\'']), span))
        });
        Self { words: words.filter(|(word, _)| *word != "\\").collect(), container }
    }

    /// The value of a flag; the last occurrence wins, as in the engines.
    fn value(&self, flags: &[&str]) -> Option<(EcoString, &'a str, Option<Span>)> {
        let found = self.words.iter().enumerate().rev().find_map(|(at, (word, span))| {
            match word.split_once('=') {
                Some((flag, value)) if flags.contains(&flag) => Some((flag, value, *span)),
                None if flags.contains(word) => {
                    let (value, span) = self.words.get(at + 1)?;
                    Some((*word, *value, *span))
                }
                _ => None,
            }
        });
        let (flag, value, span) = found?;
        Some((self.expanded(value), flag, span))
    }

    /// Replaces a reference to a variable of the container with the value of the variable.
    fn expanded(&self, value: &str) -> EcoString {
        let name = value
            .strip_prefix("$(")
            .and_then(|rest| rest.strip_suffix(')'))
            .or_else(|| value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')))
            .or_else(|| value.strip_prefix('$'));
        let Some(name) = name else { return value.into() };
        let variables = self.container.get("env").map(Node::items).unwrap_or_default();
        let variable = variables
            .iter()
            .rev()
            .find(|variable| variable.get("name").and_then(Node::as_str) == Some(name));
        let text = variable.and_then(|variable| variable.get("value")?.scalar_text());
        text.map_or_else(|| value.into(), |text| EcoString::from(&*text))
    }

    fn number(&self, flags: &[&str]) -> Option<Operand<u64>> {
        let (text, flag, span) = self.value(flags)?;
        let value = tokens(&text).filter(|value| *value > 0)?;
        Some(Operand { value, from: flag.into(), span })
    }

    fn engine(&self) -> Engine {
        let image = self.container.get("image").and_then(Node::as_str).unwrap_or_default();
        let is = |name: &str| {
            self.words.iter().any(|(word, _)| !word.starts_with('-') && word.contains(name))
        };
        if is("vllm") {
            Engine::VLlm
        } else if is("sglang") {
            Engine::SGLang
        } else if image.contains("vllm") {
            Engine::VLlm
        } else if image.contains("sglang") {
            Engine::SGLang
        } else {
            Engine::Other
        }
    }
}

/// A number as the engines parse it: `32768`, `32k` (thousands), `32K` (times 1024).
fn tokens(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'k') => (&text[..at], 1000),
        (at, 'K') => (&text[..at], 1 << 10),
        (at, 'm') => (&text[..at], 1_000_000),
        (at, 'M') => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Default share of GPU memory that SGLang uses, by the size of a tensor-parallel group.
fn share_of_sglang(ways: u64) -> f64 {
    match ways {
        16.. => 0.79,
        8.. => 0.81,
        4.. => 0.85,
        2.. => 0.87,
        _ => 0.88,
    }
}

/// The container of a pod, or of a component of a runtime, that runs the engine.
fn engine_of(pod: &Node) -> Option<&Node> {
    if let Some(runner) = pod.get("runner") {
        return Some(runner);
    }
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    let named = |container: &&Node| {
        container.get("name").and_then(Node::as_str).is_some_and(|name| RUNNERS.contains(&name))
    };
    containers.iter().find(named).or_else(|| containers.first())
}

/// Sets the KV cache of each component, if the layers of the model are known, and reports
/// components without memory for even one request of full length.
pub(crate) fn fill(
    selector: &Selector<'_>,
    service: &Service,
    resolution: &Resolution<'_>,
    built: &[Component],
    components: &mut [PlannedComponent],
) -> Vec<Diagnostic> {
    let Some(model) = resolution.model.filter(|model| model.known.cache.is_some()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for component in components.iter_mut().filter(|one| one.kind != ComponentKind::Router) {
        let decision = resolution.accelerators.iter().find(|own| own.component == component.kind);
        let memory = decision
            .and_then(|decision| decision.chosen)
            .and_then(|class| Some((class.name().clone(), selector.memory_of(class.name())?)));
        let engine = built
            .iter()
            .find(|built| built.kind == component.kind)
            .and_then(|built| engine_of(&built.pod));
        let fit = engine
            .and_then(|engine| fit(selector.policy(), model, engine, component.gpus(), memory));
        found.extend(fit.as_ref().and_then(|fit| exceeded(fit, component.kind, service)));
        component.cache = fit.map(Box::new);
    }
    found
}

/// The KV cache of a component; `None` if the cache of the model is unknown.
fn fit(
    policy: &Policy,
    model: &Model,
    container: &Node,
    gpus: Count,
    memory: Option<(EcoString, Memory)>,
) -> Option<CacheFit> {
    let cache = model.known.cache.clone()?;
    let words = CommandLine::of(container);
    let engine = words.engine();
    let (tensor, pipeline) = (words.number(&TENSOR), words.number(&PIPELINE));
    let group = tensor.as_ref().map_or(1, |tensor| tensor.value);
    let copies = words.number(&DATA).map_or(1, |data| data.value);
    // Data-parallel attention splits requests instead of heads, within one tensor-parallel group.
    let is_split = words.words.iter().any(|(word, _)| *word == DATA_ATTENTION);
    let (ways, copies) =
        if is_split { ((group / copies.min(group)).max(1), 1) } else { (group, copies) };
    let accelerators = match (&tensor, &pipeline, engine, gpus.known()) {
        (None, None, Engine::Other, Some(gpus @ 1..)) => Operand {
            value: gpus.unsigned_abs(),
            from: "the container's requests".into(),
            span: None,
        },
        (None, None, ..) => Operand { value: 1, from: "no parallelism is set".into(), span: None },
        (tensor, pipeline, ..) => {
            let stages = pipeline.as_ref().map_or(1, |pipeline| pipeline.value);
            let said: Vec<&str> =
                [tensor, pipeline].into_iter().flatten().map(|found| found.from.as_str()).collect();
            let span = tensor.as_ref().or(pipeline.as_ref()).and_then(|found| found.span);
            Operand { value: group.saturating_mul(stages), from: said.join(", ").into(), span }
        }
    };
    let context = words.number(&CONTEXT).or_else(|| {
        let node = model.object.node.at(&["spec", "maxTokens"])?;
        let value = node.as_int().and_then(|tokens| u64::try_from(tokens).ok())?;
        let span = node.origin.span();
        (value > 0).then(|| Operand { value, from: "maxTokens of the model".into(), span })
    });
    let stated = words.value(&SHARE).and_then(|(text, flag, span)| {
        let value: f64 = text.parse().ok()?;
        (value > 0.0 && value <= 1.0).then(|| Operand { value, from: flag.into(), span })
    });
    let share = stated.unwrap_or_else(|| {
        let (value, from) = match engine {
            Engine::VLlm => (0.9, "default of vLLM"),
            Engine::SGLang => (share_of_sglang(group), "default of SGLang"),
            Engine::Other => (0.9, "taken for granted"),
        };
        Operand { value, from: from.into(), span: None }
    });
    let of_config = || {
        if cache.in_8_bits {
            Operand { value: 1, from: "8 bits by the model's quantization".into(), span: None }
        } else {
            Operand { value: cache.width, from: "as the model computes".into(), span: None }
        }
    };
    let width = match words.value(&WIDTH) {
        Some((text, flag, span)) if text != "auto" => {
            let value = match text.as_str() {
                text if text.starts_with("fp8") || text.starts_with("int8") => 1,
                _ => 2,
            };
            Operand { value, from: eco_format!("{flag} {text}"), span }
        }
        _ => of_config(),
    };
    Some(CacheFit {
        width,
        ways,
        accelerators,
        copies,
        context,
        memory: memory.map(|(class, value)| Operand { value, from: class, span: None }),
        share,
        weights: weights(policy, model).map(|(value, from)| Operand {
            value,
            from: from.into(),
            span: None,
        }),
        most: words.number(&MOST),
        cache,
    })
}

/// Reports a component without memory for even one request of full length.
fn exceeded(fit: &CacheFit, kind: ComponentKind, service: &Service) -> Option<Diagnostic> {
    let (context, memory) = (fit.context.as_ref()?, fit.memory.as_ref()?);
    let (usable, weights) = (fit.usable()?, fit.weights.as_ref()?.value);
    if fit.request()? <= fit.left()? {
        return None;
    }
    let (accelerators, class) = (fit.accelerators.value, &memory.from);
    let (message, help) = if weights >= usable {
        (
            format!(
                "the weights of the {}, {}, are more than the {} that {accelerators} × {class} give",
                kind.as_str(),
                Memory(weights).short(),
                Memory(usable).short()
            ),
            "take more accelerators by `--tensor-parallel-size`, or a class with more memory"
                .to_owned(),
        )
    } else {
        (
            format!(
                "one request of {} tokens needs {} of KV cache in the {}; {accelerators} × {class} have {} left beside the weights",
                context.value,
                Memory(fit.request()?).short(),
                kind.as_str(),
                Memory(fit.left()?).short()
            ),
            format!(
                "state a context of at most {} tokens, keep the cache in 8 bits by `--kv-cache-dtype fp8`, or take more accelerators or a class with more memory",
                fit.longest()?
            ),
        )
    };
    Some(
        Diagnostic::new(Code::ContextExceedsMemory, message)
            .at(context.span.or_else(|| Some(service.object.name_span())))
            .object(service.object.id.to_string())
            .help(help),
    )
}

/// The KV cache of a runtime that serves a model on accelerators of a class.
pub(crate) fn of_runtime(
    policy: &Policy,
    model: &Model,
    runtime: &Runtime,
    class: EcoString,
    memory: Memory,
) -> Option<CacheFit> {
    let part = runtime.object.node.at(&["spec", "engineConfig"])?;
    let part = part.get("leader").unwrap_or(part);
    let gpus = crate::pods::gpus::of_part(part).map(|found| found.values().sum::<i64>());
    fit(policy, model, engine_of(part)?, gpus.into(), Some((class, memory)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};

    static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

    fn container(json: &str) -> Node {
        Node::from_json(
            &serde_json::from_str(json).expect("a container of a test is JSON"),
            Origin::Default(&TEST),
        )
    }

    #[test]
    fn flags_are_read_in_every_spelling() {
        for (args, expected) in [
            (r#"["--max-model-len", "8192"]"#, Some(8192)),
            (r#"["--max-model-len=8k"]"#, Some(8000)),
            (r#"["--max-model-len 8K"]"#, Some(8192)),
            (r#"["-c", "vllm serve \\\n  --max-model-len 16 \\\n --port 1"]"#, Some(16)),
            (r#"["--context-length", "$(LEN)"]"#, Some(77)),
            (r#"["--context-length=${LEN}"]"#, Some(77)),
            (r#"["--max-model-len", "1", "--max-model-len", "2"]"#, Some(2)),
            (r#"["--max-model-len", "many"]"#, None),
            (r#"["--max-model-len"]"#, None),
            (r#"["--max-model-len", "0"]"#, None),
            (r#"["--max-model-len", "99999999999999999999K"]"#, None),
        ] {
            let text = format!(r#"{{"args": {args}, "env": [{{"name": "LEN", "value": "77"}}]}}"#);
            let container = container(&text);
            let found = CommandLine::of(&container).number(&CONTEXT).map(|found| found.value);
            assert_eq!(found, expected, "{args}");
        }
    }

    #[test]
    fn the_engine_is_recognized_by_command_before_image() {
        for (text, expected) in [
            (r#"{"image": "x/sglang:1", "command": ["vllm", "serve"]}"#, Engine::VLlm),
            (r#"{"image": "x/sglang:1"}"#, Engine::SGLang),
            (r#"{"args": ["python3 -m sglang.launch_server"]}"#, Engine::SGLang),
            (r#"{"image": "x", "args": ["--model", "m"]}"#, Engine::Other),
        ] {
            assert_eq!(CommandLine::of(&container(text)).engine(), expected, "{text}");
        }
    }
}

//! Right runtimes, each changed in some respects, against an oracle that computes from the choices,
//! not from the command line, what must be found. A fifth of them has a settings file in a ConfigMap.

use super::*;
use crate::pipeline::testing::world_of;

/// A source of choices, the same in every run.
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.next()).expect("31 bits") % of.len()]
    }

    fn in_ten(&mut self, times: u64) -> bool {
        self.next() % 10 < times
    }
}

/// A published model, from its config.json.
struct Shape {
    id: &'static str,
    parameters: f64,
    layers: u64,
    heads: u64,
    kv_heads: u64,
    vocabulary: u64,
    positions: u64,
}

const fn shape(
    id: &'static str,
    parameters: f64,
    [layers, heads, kv_heads, vocabulary, positions]: [u64; 5],
) -> Shape {
    Shape { id, parameters, layers, heads, kv_heads, vocabulary, positions }
}

/// All with heads of 128.
static MODELS: [Shape; 4] = [
    shape("Qwen/Qwen2.5-7B-Instruct", 7.62e9, [28, 28, 4, 152_064, 32_768]),
    shape("Qwen/Qwen3-8B", 8.19e9, [36, 32, 8, 151_936, 40_960]),
    shape("Qwen/Qwen3-32B", 32.8e9, [64, 64, 8, 151_936, 40_960]),
    shape("Qwen/Qwen2.5-72B-Instruct", 72.7e9, [80, 64, 8, 152_064, 32_768]),
];

/// How one engine is started and what its flags are called.
struct Server {
    engine: Engine,
    image: &'static str,
    program: &'static str,
    tensor: &'static [&'static str],
    pipeline: &'static [&'static str],
    data: &'static [&'static str],
    context: &'static [&'static str],
    share: &'static [&'static str],
}

static SERVERS: [Server; 3] = [
    Server {
        engine: Engine::VLlm,
        image: "vllm/vllm-openai:v0.11.0",
        program: "vllm serve m",
        tensor: &["-tp", "--tensor-parallel-size", "--tensor_parallel_size"],
        pipeline: &["-pp", "--pipeline-parallel-size"],
        data: &["-dp", "--data-parallel-size"],
        context: &["--max-model-len", "--max_model_len"],
        share: &["--gpu-memory-utilization", "--gpu_memory_utilization"],
    },
    Server {
        engine: Engine::SGLang,
        image: "lmsysorg/sglang:v0.5.5",
        program: "python3 -m sglang.launch_server",
        tensor: &["--tp", "--tp-size", "--tensor-parallel-size"],
        pipeline: &["--pp-size", "--pp"],
        data: &["--dp", "--dp-size"],
        context: &["--context-length"],
        share: &["--mem-fraction-static"],
    },
    Server {
        engine: Engine::TensorRtLlm,
        image: "nvcr.io/nvidia/tensorrt-llm/release:1.1.0",
        program: "trtllm-serve serve m",
        tensor: &["--tp_size"],
        pipeline: &["--pp_size"],
        data: &[],
        context: &["--max_seq_len"],
        share: &["--kv_cache_free_gpu_memory_fraction"],
    },
];

/// A flag with the text of its value.
type Words = Vec<(&'static str, String)>;

/// A runtime, and what must be found of it.
struct Runtime {
    container: Value,
    /// A settings file, which a ConfigMap holds.
    file: Option<String>,
    model: &'static Shape,
    memory: u64,
    found: Vec<Code>,
    /// What the oracle leaves open.
    open: Vec<Code>,
}

/// A number in a form that Python's `int` reads.
fn whole(number: u64, choices: &mut Choices) -> String {
    match choices.next() % 5 {
        0 => format!("+{number}"),
        1 => format!("0{number}"),
        _ => number.to_string(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn runtime(choices: &mut Choices) -> Runtime {
    const GIB: f64 = 1_073_741_824.0;
    let server = &SERVERS[choices.one(&[0, 0, 1, 1, 2])];
    let model = &MODELS[choices.one(&[0, 1, 2, 3])];
    // Right: enough devices of 80 GiB for the model, a power of two.
    let mut tensor = if model.parameters > 4e10 { 4 } else { choices.one(&[1, 2, 4]) };
    let mut pipeline = choices.one(&[1, 1, 1, 2]);
    let mut data = if server.data.is_empty() { 1 } else { choices.one(&[1, 1, 2]) };
    let (mut memory, mut share, mut context) = (80, 0.9, 8_192);
    let attention = server.engine == Engine::SGLang && data > 1 && choices.in_ten(3);
    if attention {
        data = tensor.min(2);
    }
    let mut devices = tensor * pipeline * if attention { 1 } else { data };
    let mut bad: Option<(&str, &str)> = None;
    for _ in 0..=choices.next() % 2 {
        match choices.next() % 9 {
            0 => devices = choices.one(&[1, 2, 3, 4, 6, 8, 16]),
            1 => tensor = choices.one(&[1, 2, 3, 4, 5, 6, 7, 8, 14, 16]),
            2 => pipeline = choices.one(&[1, 2, 3]),
            3 if !attention && !server.data.is_empty() => data = choices.one(&[1, 2, 3, 4]),
            4 => memory = choices.one(&[16, 24, 40, 141]),
            5 => share = choices.one(&[0.5, 0.8, 0.95]),
            6 => context = choices.one(&[1_024, 16_384, 32_768, 40_960, 131_072, 1_000_000]),
            7 => {
                let text = choices.one(&["4.0", "four", "1e+01", "2k", "0x4", ""]);
                bad = Some((server.tensor[0], text));
            }
            8 => {
                let text = choices.one(&["1e+06", "16,384", "16 384", "8192.0", "long"]);
                bad = Some((server.context[0], text));
            }
            _ => {}
        }
    }
    let bad_tensor = bad.is_some_and(|(flag, _)| flag == server.tensor[0]);
    let bad_context = bad.is_some_and(|(flag, _)| flag == server.context[0]);

    // The command line.
    let mut words: Words = Vec::new();
    let mut add = |names: &[&'static str], number: u64, default: u64, choices: &mut Choices| {
        if number != default || choices.in_ten(2) {
            if choices.in_ten(2) {
                words.push((choices.one(names), "7".to_owned())); // the last one counts
            }
            words.push((choices.one(names), whole(number, choices)));
        }
    };
    if !bad_tensor {
        add(server.tensor, tensor, 1, choices);
    }
    add(server.pipeline, pipeline, 1, choices);
    if !server.data.is_empty() {
        add(server.data, data, 1, choices);
    }
    let is_context_set = bad_context || choices.in_ten(9) || context != 8_192;
    if is_context_set && !bad_context {
        let text = match context {
            8_192 if server.engine == Engine::VLlm && choices.in_ten(5) => "8K".to_owned(),
            16_384 if server.engine == Engine::VLlm && choices.in_ten(5) => "16K".to_owned(),
            1_000_000 if server.engine == Engine::VLlm => choices.one(&["1m", "1000k"]).to_owned(),
            _ => whole(context, choices),
        };
        words.push((choices.one(server.context), text));
    }
    words.push((
        choices.one(server.share),
        match choices.next() % 3 {
            0 => format!("{share:e}"),
            1 => format!("{share}0"),
            _ => share.to_string(),
        },
    ));
    if let Some((flag, text)) = bad {
        words.push((flag, text.to_owned()));
    }
    let resources = json!({ "limits": { "nvidia.com/gpu": devices.to_string() } });
    let file = choices.in_ten(2).then(|| in_file(server, &mut words));
    let mut container = written(server, &words, attention, &resources, choices);
    if file.is_some() {
        container["volumeMounts"] = json!([{ "name": "settings", "mountPath": "/settings" }]);
    }

    // The oracle.
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let known_tensor = if bad_tensor { 1 } else { tensor };
    let copies = if attention { 1 } else { data };
    let ranks = known_tensor * pipeline * copies;
    if bad.is_some() {
        found.push(Code::ArgumentForm);
    }
    let differs = if bad_tensor { ranks > devices } else { ranks != devices };
    if differs {
        found.push(Code::GpuCountMismatch);
    }
    if ranks > 1 {
        open.push(Code::ShmTooSmall);
    }
    let ways = if attention { tensor / data.min(tensor) } else { tensor };
    let divides = |number: u64| number.is_multiple_of(ways);
    let by_groups = !divides(model.kv_heads) && !ways.is_multiple_of(model.kv_heads);
    let refuses = match server.engine {
        Engine::VLlm => !divides(model.heads) || by_groups,
        Engine::SGLang => {
            !divides(model.heads) || by_groups || !divides(model.vocabulary.div_ceil(64) * 64)
        }
        _ => !divides(model.heads),
    };
    // A default of 1 divides everything.
    if refuses && !bad_tensor {
        found.push(Code::HeadsNotDivisible);
    }
    if is_context_set
        && !bad_context
        && context > model.positions
        && server.engine != Engine::TensorRtLlm
    {
        // Of that model the built-in table has no config.json.
        let is_known = model.layers != 80;
        if is_known { &mut found } else { &mut open }.push(Code::ContextExceedsModel);
    }
    let copy = if bad_tensor { devices } else { tensor * pipeline };
    let weights = model.parameters * 2.0 / GIB;
    let usable = memory as f64
        * copy as f64
        * if server.engine == Engine::TensorRtLlm { 1.0 } else { share };
    let is_misfit = weights > usable;
    if (weights / usable - 1.0).abs() < 0.03 {
        open.push(Code::GpuMisfit);
    } else if is_misfit {
        found.push(Code::GpuMisfit);
    }
    let tokens = if is_context_set { context } else { model.positions };
    let request = (model.layers * model.kv_heads.max(ways) * 256 * 2 * tokens) as f64 / GIB;
    let whole = memory as f64 * copy as f64;
    let cannot = weights + request > whole;
    if bad.is_some() || is_misfit || refuses || attention {
        open.push(Code::ContextExceedsMemory);
    } else if cannot {
        found.push(Code::ContextExceedsMemory);
    } else if weights + request > 0.7 * share * whole - 4.0 * copy as f64 {
        open.push(Code::ContextExceedsMemory);
    }
    Runtime { container, file, model, memory, found, open }
}

/// Moves flags to a file that the command line names: of each setting the last long one.
fn in_file(server: &Server, words: &mut Words) -> String {
    let all = [server.tensor, server.pipeline, server.data, server.context, server.share];
    let mut lines = Vec::new();
    for names in all {
        let count: Vec<usize> =
            (0..words.len()).filter(|at| names.contains(&words[*at].0)).collect();
        let Some((last, before)) = count.split_last() else { continue };
        let (flag, value) = words[*last].clone();
        if flag.starts_with("--") {
            lines.push(match (server.engine, flag) {
                (Engine::TensorRtLlm, "--tp_size") => format!("tensor_parallel_size: '{value}'"),
                (Engine::TensorRtLlm, "--pp_size") => format!("pipeline_parallel_size: '{value}'"),
                (Engine::TensorRtLlm, "--kv_cache_free_gpu_memory_fraction") => {
                    format!("kv_cache_config: {{free_gpu_memory_fraction: '{value}'}}")
                }
                _ => format!("{}: '{value}'", flag.trim_start_matches('-')),
            });
            words.remove(*last);
        }
        for at in before.iter().rev() {
            words.remove(*at);
        }
    }
    words.push(("--config", "/settings/server.yaml".to_owned()));
    lines.join("\n    ")
}

/// The container in one of the forms in which command lines are written.
fn written(
    server: &Server,
    words: &Words,
    attention: bool,
    resources: &Value,
    choices: &mut Choices,
) -> Value {
    let one = |(flag, value): &(&str, String), joined: bool| {
        let joined = joined || value.is_empty();
        if joined {
            vec![format!("{flag}={value}")]
        } else {
            vec![(*flag).to_owned(), value.clone()]
        }
    };
    let joined: Vec<bool> =
        words.iter().map(|(flag, _)| *flag != "--config" && choices.in_ten(5)).collect();
    let mut args: Vec<String> =
        words.iter().zip(&joined).flat_map(|(word, joined)| one(word, *joined)).collect();
    if attention {
        args.push("--enable-dp-attention".into());
    }
    let quoted =
        |args: &[String]| -> Vec<String> { args.iter().map(|word| format!("'{word}'")).collect() };
    match choices.next() % 5 {
        0 if server.engine != Engine::TensorRtLlm => {
            json!({ "image": server.image, "args": args, "resources": resources })
        }
        1 => json!({
            "image": "registry.example/own:1",
            "command": ["/bin/bash", "-c"],
            "args": [format!("set -euo pipefail\nexec {} \\\n  {}", server.program, quoted(&args).join(" \\\n  "))],
            "resources": resources,
        }),
        2 => json!({
            "image": server.image,
            "command": ["sh", "-c", format!("{} \"$@\"", server.program), "sh"],
            "args": args,
            "resources": resources,
        }),
        3 => {
            // Every value through a variable of the container.
            let env: Vec<Value> = words
                .iter()
                .enumerate()
                .map(|(at, (_, value))| json!({ "name": format!("V{at}"), "value": value }))
                .collect();
            let mut args: Vec<String> = words
                .iter()
                .zip(&joined)
                .enumerate()
                .flat_map(|(at, ((flag, _), joined))| one(&(flag, format!("$(V{at})")), *joined))
                .collect();
            if attention {
                args.push("--enable-dp-attention".into());
            }
            let command: Vec<&str> = server.program.split(' ').collect();
            json!({ "image": server.image, "command": command, "args": args, "env": env, "resources": resources })
        }
        _ => {
            let mut command: Vec<String> = server.program.split(' ').map(str::to_owned).collect();
            command.extend(args);
            json!({ "image": server.image, "command": command, "resources": resources })
        }
    }
}

#[test]
fn what_is_found_of_mutated_runtimes_is_what_must_be_found() {
    let mut choices = Choices(0x9E37_79B9_7F4A_7C15);
    let catalog = Catalog::default();
    let engines = Engines::new(&catalog);
    let (mut wrong, mut right, mut accused, mut files) = (Vec::new(), 0, 0, 0);
    for number in 0..600 {
        let runtime = runtime(&mut choices);
        let pod = node(&json!({
            "containers": [runtime.container],
            "volumes": [{ "name": "settings", "configMap": { "name": "settings" } }],
        }));
        let with_file = runtime.file.as_ref().map(|file| {
            world_of(&format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings, namespace: default}}\ndata:\n  server.yaml: |\n    seed: 1\n    {file}\n"
            ))
        });
        let with_file = with_file.as_ref().map(|world| Engines::new(&world.catalog));
        let engines = with_file.as_ref().unwrap_or(&engines);
        files += usize::from(runtime.file.is_some());
        let judged = judge(engines, &pod, Some(runtime.model.id), Some(runtime.memory));
        let codes = codes(&judged);
        let missed: Vec<&Code> =
            runtime.found.iter().filter(|code| !codes.contains(code)).collect();
        let is_wrong = |code: &&Code| !runtime.found.contains(code) && !runtime.open.contains(code);
        let false_ones: Vec<&Code> = codes.iter().filter(is_wrong).collect();
        if !missed.is_empty() || !false_ones.is_empty() {
            wrong.push(format!(
                "{number}: missed {missed:?}, false {false_ones:?}: {} with {} GiB: {} {:?}\n{:?}",
                runtime.model.id,
                runtime.memory,
                runtime.container,
                runtime.file,
                judged.findings.iter().map(|finding| &finding.message).collect::<Vec<_>>()
            ));
        }
        right += usize::from(runtime.found.is_empty());
        accused += runtime.found.len();
    }
    assert!(right >= 60 && accused >= 400 && files >= 80, "{right} {accused} {files}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

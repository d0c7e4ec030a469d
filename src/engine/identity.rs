//! Which engine a command or an image starts.

use ecow::EcoString;
use std::fmt;

/// An inference engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// vLLM's server.
    VLlm,
    /// SGLang's server.
    SGLang,
    /// `trtllm-serve` of TensorRT-LLM.
    TensorRtLlm,
    /// LMDeploy's `api_server`.
    LmDeploy,
    /// Text Generation Inference.
    Tgi,
    /// The server of llama.cpp.
    LlamaCpp,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::VLlm, Self::SGLang, Self::TensorRtLlm, Self::LmDeploy, Self::Tgi, Self::LlamaCpp];

    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::VLlm => "vLLM",
            Self::SGLang => "SGLang",
            Self::TensorRtLlm => "TensorRT-LLM",
            Self::LmDeploy => "LMDeploy",
            Self::Tgi => "TGI",
            Self::LlamaCpp => "llama.cpp",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A release of an engine, from the tag of its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineVersion {
    /// Major, minor and patch number.
    pub numbers: [u32; 3],
    /// As the tag has it.
    pub text: EcoString,
}

impl EngineVersion {
    /// Reads `v0.11.0`, `0.5.2.post1-cu126`, `v0.19.0rc1`; at least two numbers.
    pub fn parse(tag: &str) -> Option<Self> {
        let text = tag.strip_prefix('v').unwrap_or(tag);
        let mut numbers = [0; 3];
        let mut read = 0;
        for (at, part) in text.split('.').take(3).enumerate() {
            // A part such as `2rc1` gives its digits and ends the number: what follows is no
            // number.
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let Ok(number) = part[..end].parse() else { break };
            numbers[at] = number;
            read += 1;
            if end < part.len() {
                break;
            }
        }
        // A tag of one number, `12` or a date, is seldom the release of an engine.
        (read >= 2).then(|| Self { numbers, text: text.into() })
    }

    /// Whether it is a release, and no candidate or development build.
    pub fn is_final(&self) -> bool {
        !["rc", "dev", "nightly", "alpha", "beta"].iter().any(|part| self.text.contains(part))
    }
}

/// An engine, as far as a container shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) engine: Engine,
    /// The engine's own server with the engine's own defaults, and no program around it.
    pub(super) is_plain: bool,
}

/// Repositories of images by the last part of their name: the projects' own images, whose
/// entry point is the server.
const IMAGES: [(&str, Engine); 14] = [
    ("vllm-openai", Engine::VLlm),
    ("vllm-openai-rocm", Engine::VLlm),
    ("vllm-openai-cpu", Engine::VLlm),
    ("vllm-cuda-rhel9", Engine::VLlm),
    ("vllm-rocm-rhel9", Engine::VLlm),
    ("vllm-gaudi-rhel9", Engine::VLlm),
    ("vllm-spyre-rhel9", Engine::VLlm),
    ("vllm-tpu", Engine::VLlm),
    ("sglang", Engine::SGLang),
    ("sglang-rocm", Engine::SGLang),
    ("lmdeploy", Engine::LmDeploy),
    ("text-generation-inference", Engine::Tgi),
    ("huggingface-text-generation-inference", Engine::Tgi),
    ("llama.cpp", Engine::LlamaCpp),
];

/// Parts of names of images that serve no model.
const NO_SERVER: [&str; 12] = [
    "router",
    "proxy",
    "gateway",
    "sim",
    "simulator",
    "bench",
    "benchmark",
    "exporter",
    "operator",
    "controller",
    "client",
    "test",
];

/// The engine of an image: certain for the projects' own images, else by a part of its name.
pub(super) fn of_image(image: &str) -> Option<Identity> {
    let repository = repository(image);
    let name = repository.rsplit('/').next()?;
    if let Some((_, engine)) = IMAGES.iter().find(|(text, _)| *text == name) {
        return Some(Identity { engine: *engine, is_plain: true });
    }
    // Whole parts of the name: `vllm` is not found in `vllmx`, nor `sim` in `simple`.
    let parts = || name.split(['-', '_', '.']);
    if parts().any(|part| NO_SERVER.contains(&part)) {
        return None;
    }
    let engine = parts().find_map(|part| match part {
        "vllm" => Some(Engine::VLlm),
        "sglang" => Some(Engine::SGLang),
        "lmdeploy" => Some(Engine::LmDeploy),
        "trtllm" => Some(Engine::TensorRtLlm),
        "tgi" => Some(Engine::Tgi),
        _ => None,
    })?;
    Some(Identity { engine, is_plain: false })
}

/// The release of an engine in the tag of one of the project's own images.
pub(super) fn version(image: &str, engine: Engine) -> Option<EngineVersion> {
    let name = repository(image).rsplit('/').next()?;
    // Red Hat's images have releases of their own.
    let counts = IMAGES.iter().any(|(text, of)| *text == name && *of == engine);
    if !counts || name.ends_with("-rhel9") {
        return None;
    }
    EngineVersion::parse(tag(image)?)
}

/// The image without tag and digest.
fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        // A colon before a slash belongs to the port of the registry.
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}

fn tag(image: &str) -> Option<&str> {
    let (_, tag) = image.split('@').next()?.rsplit_once(':')?;
    (!tag.contains('/')).then_some(tag)
}

/// Programs that start the program in their arguments.
const WRAPPERS: [&str; 16] = [
    "exec",
    "env",
    "nohup",
    "numactl",
    "taskset",
    "nice",
    "tini",
    "dumb-init",
    "catatonit",
    "mpirun",
    "mpiexec",
    "trtllm-llmapi-launch",
    "nsys",
    "timeout",
    "stdbuf",
    "nvidia_entrypoint.sh",
];

/// The engine that a command starts, and the index of its first argument.
pub(super) fn of_command(words: &[EcoString]) -> Option<(Identity, usize)> {
    let mut at = 0;
    let first = base(words.first()?);
    if WRAPPERS.contains(&first) {
        // Options of a wrapper vary too much to be read: the first known program after it counts.
        at = words.iter().position(|word| program(base(word)).is_some() || is_python(word))?;
    }
    let word = words.get(at)?;
    let (server, next) =
        if is_python(word) { python(words, at + 1)? } else { (program(base(word))?, at + 1) };
    let plain = |engine| Identity { engine, is_plain: true };
    let sub = |at: usize| words.get(at).map(EcoString::as_str);
    Some(match server {
        Server::VLlm => (plain(Engine::VLlm), next),
        // Other subcommands, `bench` or `run-batch`, serve nothing.
        Server::VLlmCommand => {
            (plain(Engine::VLlm), (sub(next) == Some("serve")).then_some(next + 1)?)
        }
        Server::SGLang => (plain(Engine::SGLang), next),
        Server::SGLangCommand => {
            (plain(Engine::SGLang), (sub(next) == Some("serve")).then_some(next + 1)?)
        }
        Server::TensorRtLlm => {
            // Without a subcommand `trtllm-serve` serves, too.
            let is_other = matches!(sub(next), Some("disaggregated" | "mm_embedding_serve"));
            let count = usize::from(sub(next) == Some("serve"));
            (!is_other).then_some((plain(Engine::TensorRtLlm), next + count))?
        }
        Server::LmDeploy => {
            let is_server = sub(next) == Some("serve") && sub(next + 1) == Some("api_server");
            (plain(Engine::LmDeploy), is_server.then_some(next + 2)?)
        }
        Server::Tgi => (plain(Engine::Tgi), next),
        Server::LlamaCpp => (plain(Engine::LlamaCpp), next),
        // It passes flags of vLLM on, and has defaults of its own.
        Server::HuggingFace => (Identity { engine: Engine::VLlm, is_plain: false }, next),
    })
}

/// Whether a command joins or starts a Ray cluster, whose head runs the engine.
pub(super) fn is_ray(words: &[EcoString]) -> bool {
    // Anywhere in the words: a wrapper or `&&` may stand before it.
    let is_start = |pair: &[EcoString]| base(&pair[0]) == "ray" && pair[1] == "start";
    words.windows(2).any(is_start) || words.iter().any(|word| base(word) == "multi-node-serving.sh")
}

#[derive(Clone, Copy)]
enum Server {
    VLlm,
    VLlmCommand,
    SGLang,
    SGLangCommand,
    TensorRtLlm,
    LmDeploy,
    Tgi,
    LlamaCpp,
    HuggingFace,
}

fn program(name: &str) -> Option<Server> {
    Some(match name {
        "vllm" => Server::VLlmCommand,
        "sglang" => Server::SGLangCommand,
        "trtllm-serve" => Server::TensorRtLlm,
        "lmdeploy" => Server::LmDeploy,
        "text-generation-launcher" => Server::Tgi,
        "llama-server" => Server::LlamaCpp,
        _ => return None,
    })
}

/// The module or script that a Python starts.
fn python(words: &[EcoString], mut at: usize) -> Option<(Server, usize)> {
    loop {
        let word = words.get(at)?.as_str();
        match word {
            "-m" => {
                let server = match words.get(at + 1)?.as_str() {
                    "vllm.entrypoints.openai.api_server" | "vllm.entrypoints.api_server" => {
                        Server::VLlm
                    }
                    "vllm.entrypoints.cli.main" | "vllm" => Server::VLlmCommand,
                    "sglang.launch_server" => Server::SGLang,
                    "tensorrt_llm.commands.serve" => Server::TensorRtLlm,
                    "lmdeploy" => Server::LmDeploy,
                    "huggingfaceserver" => Server::HuggingFace,
                    _ => return None,
                };
                return Some((server, at + 2));
            }
            // These two options of Python have their value in the next word.
            "-X" | "-W" => at += 2,
            _ if word.starts_with('-') => at += 1,
            _ => {
                let server = match word.strip_suffix(".py") {
                    Some(path) if path.ends_with("vllm/entrypoints/openai/api_server") => {
                        Server::VLlm
                    }
                    Some(path) if path.ends_with("sglang/launch_server") => Server::SGLang,
                    // `python /usr/local/bin/vllm serve` starts an entry point as a script.
                    _ => program(base(word))?,
                };
                return Some((server, at + 1));
            }
        }
    }
}

fn is_python(word: &EcoString) -> bool {
    let name = base(word);
    // `python`, `python3` and `python3.12`, but not `python-config`.
    name.strip_prefix("python")
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// The last part of a path.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Option<(Engine, bool, String)> {
        let words: Vec<EcoString> = text.split(' ').map(EcoString::from).collect();
        let (found, next) = of_command(&words)?;
        Some((found.engine, found.is_plain, words[next..].join(" ")))
    }

    #[test]
    fn programs_are_recognized_behind_wrappers() {
        for (text, expected) in [
            ("vllm serve m --x", Some((Engine::VLlm, true, "m --x"))),
            (
                "/usr/bin/python3 -u -m vllm.entrypoints.openai.api_server --x",
                Some((Engine::VLlm, true, "--x")),
            ),
            ("env A=1 numactl --all vllm serve m", Some((Engine::VLlm, true, "m"))),
            ("python3 -m sglang.launch_server --tp 2", Some((Engine::SGLang, true, "--tp 2"))),
            ("mpirun -n 8 trtllm-serve serve m", Some((Engine::TensorRtLlm, true, "m"))),
            ("lmdeploy serve api_server m --tp 2", Some((Engine::LmDeploy, true, "m --tp 2"))),
            ("/app/llama-server -c 4096", Some((Engine::LlamaCpp, true, "-c 4096"))),
            ("python -m huggingfaceserver --x", Some((Engine::VLlm, false, "--x"))),
            ("vllm bench serve", None),
            ("lmdeploy chat m", None),
            ("pip install vllm serve", None),
            ("/start.sh vllm serve", None),
            ("python3 -m mlserver", None),
        ] {
            let expected = expected.map(|(engine, plain, rest)| (engine, plain, rest.to_owned()));
            assert_eq!(command(text), expected, "{text}");
        }
    }

    #[test]
    fn images_are_recognized_by_the_last_part_of_their_repository() {
        let found = |image| of_image(image).map(|identity| (identity.engine, identity.is_plain));
        assert_eq!(found("docker.io/vllm/vllm-openai:v0.11.0"), Some((Engine::VLlm, true)));
        assert_eq!(found("registry:5000/mirror/vllm-openai@sha256:1"), Some((Engine::VLlm, true)));
        assert_eq!(found("registry:5000/team/my-vllm"), Some((Engine::VLlm, false)));
        assert_eq!(found("ghcr.io/llm-d/llm-d-inference-sim:v1"), None);
        assert_eq!(found("lmcache/vllm-router:1"), None);
        assert_eq!(found("x/vllmish"), None);
        let version = |image| version(image, Engine::VLlm).map(|version| version.numbers);
        assert_eq!(version("vllm/vllm-openai:v0.10.1.1"), Some([0, 10, 1]));
        assert_eq!(version("vllm/vllm-openai:v0.8.5.post1"), Some([0, 8, 5]));
        assert_eq!(version("vllm/vllm-openai:latest"), None);
        assert_eq!(version("vllm/vllm-openai@sha256:00"), None);
        assert_eq!(version("x/rhaiis/vllm-cuda-rhel9:3.2.1"), None);
    }
}

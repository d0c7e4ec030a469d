//! Judges one pod: the form of its arguments, ranks against devices, heads, context and memory.

use super::devices::{self, Devices, Nodes, Sharing};
use super::model::ServedModel;
use super::{Engines, Judged, Pods, at, files, surroundings};
use crate::diag::{Code, Diagnostic};
use crate::engine::{Container, Engine, EngineSettings, Fault, Known, Ranks, Setting};
use crate::facts;
use crate::quantity::Dimensions;
use crate::yaml::Node;
use std::sync::Arc;

impl Judged {
    pub(super) fn add(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// Adds a finding after which the server does not run.
    pub(super) fn stop(&mut self, finding: Diagnostic) {
        // The first finding says why: what comes after it may follow from it.
        self.stop.get_or_insert_with(|| finding.message.as_str().into());
        self.findings.push(finding);
    }
}

/// What belongs to one container.
pub(super) struct Server<'s, 'p> {
    pub(super) pods: &'s Pods<'p>,
    pub(super) container: &'s Node,
    pub(super) settings: &'s EngineSettings,
    pub(super) ranks: Option<&'s Ranks>,
    pub(super) devices: Option<&'s Devices>,
    pub(super) nodes: Option<Arc<Nodes>>,
    pub(super) model: Option<Arc<ServedModel>>,
}

fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("{count} {one}") } else { format!("{count} {one}s") }
}

impl Engines<'_> {
    pub(super) fn judge(&self, pods: &Pods<'_>) -> Judged {
        let mut out = Judged::default();
        let containers = pods.main.get("containers").map(Node::items).unwrap_or_default();
        for (index, container) in containers.iter().enumerate() {
            let devices = self.devices_of(pods.namespace, pods.main, container);
            two_vendors(pods, &devices, &mut out);
            // Without a main container any with devices may be the engine; a sidecar requests
            // none.
            let is_server = match pods.container {
                Some(main) => main == index,
                None => !devices.is_empty(),
            };
            if is_server {
                self.container(pods, container, &devices, &mut out);
            }
        }
        out
    }

    fn container(&self, pods: &Pods<'_>, container: &Node, all: &[Devices], out: &mut Judged) {
        let file = |path: &str| self.file(pods.namespace, pods.main, container, path);
        let settings = match EngineSettings::container_with(container, file) {
            Container::Engine(settings) => settings,
            Container::Fault(fault) => {
                // The command is in the preset, which was not read: its shell takes a script as argument.
                let is_open = pods.object.id.kind == "LLMInferenceService"
                    && container.get("command").is_none();
                if !is_open {
                    form(pods, &fault, out);
                }
                return;
            }
            Container::RayMember | Container::Other => return,
        };
        for fault in &settings.faults {
            form(pods, fault, out);
        }
        let ranks = Ranks::of(&settings);
        // Of two resources it is not known which one the ranks use.
        let devices = match all {
            [one] => Some(one),
            _ => None,
        };
        let nodes = devices.map(|devices| self.nodes(pods.main, devices));
        let server = Server {
            pods,
            container,
            settings: &settings,
            ranks: ranks.as_ref(),
            devices,
            nodes,
            model: self.served(pods, &settings),
        };
        server.unread(out);
        server.clash(self, out);
        server.devices(out);
        server.heads(out);
        server.positions(out);
        server.memory(self, out);
    }
}

/// A container that requests devices of two vendors.
fn two_vendors(pods: &Pods<'_>, devices: &[Devices], out: &mut Judged) {
    let Some((first, rest)) = devices.split_first() else { return };
    let vendor = facts::vendor_of(&first.resource);
    let Some(other) = rest.iter().find(|devices| facts::vendor_of(&devices.resource) != vendor)
    else {
        return;
    };
    out.add(
        Diagnostic::new(
            Code::TwoVendors,
            format!(
                "a container of the {} requests {} of {} and {} of {}: no node has both",
                pods.what, first.count, first.resource, other.count, other.resource
            ),
        )
        .at(at(other.origin.span(), pods.object))
        .label(first.origin.span(), "the other resource")
        .object(pods.object.id.to_string())
        .help(format!(
            "remove {} or {} where it is set: resources of runtime and service add up",
            first.resource, other.resource
        )),
    );
}

/// An argument that the engine cannot read.
fn form(pods: &Pods<'_>, fault: &Fault, out: &mut Judged) {
    let (message, help, origin) = match fault {
        Fault::Joined { text, words, origin, .. } => {
            let help = match words.as_slice() {
                [flag, value] if flag.starts_with('-') && !flag.contains('=') => {
                    format!("write `{flag}={value}`, or two elements `{flag}` and `{value}`")
                }
                words => {
                    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                    format!("write one element per word: {}", words.join(", "))
                }
            };
            let reads = match text.split_once(char::is_whitespace) {
                Some((head, _)) if head.starts_with('-') && head.contains('=') => {
                    "the server takes all behind `=` as the value"
                }
                Some((head, _)) if head.starts_with('-') => "the server knows no such flag",
                _ => "the server takes it as one value",
            };
            (format!("`{text}` of the {} is one argument: {reads}", pods.what), help, origin)
        }
        Fault::Range { flag, text, expected, origin } => (
            format!(
                "`{flag}` of the {} is `{text}`, and the engine takes {expected}: the server does not start",
                pods.what
            ),
            match text.parse::<f64>() {
                // The reader meant percent: `90` is 0.9.
                Ok(percent) if (10.0..=100.0).contains(&percent) && expected.ends_with("at most 1") => {
                    format!("set a share such as `{flag}={}`", (percent / 100.0).min(0.95))
                }
                _ => format!("set {expected}"),
            },
            origin,
        ),
        Fault::FewTokens { tokens, requests, origin } => (
            format!(
                "`{}` of the {} is {}, less than the {} of `{}`: the server does not start",
                tokens.0, pods.what, tokens.1, requests.1, requests.0
            ),
            format!(
                "set `{}` to at least {}, or `{}` to at most {}",
                tokens.0, requests.1, requests.0, tokens.1
            ),
            origin,
        ),
        Fault::CommandLine { text, origin } => (
            format!("`{text}` of the {} is one word: there is no program of this name", pods.what),
            "write one element per word, or run it with `sh -c`".to_owned(),
            origin,
        ),
        Fault::Unknown { flag, release, origin } => (
            format!("`{flag}` of the {} is no flag of {release}: the server does not start", pods.what),
            format!("remove `{flag}`, or take an image of a release that has it"),
            origin,
        ),
        Fault::Number { flag, text, expected, origin } => (
            format!("`{flag}` of the {} is `{text}`, and the server reads {expected}", pods.what),
            "write digits; in a Helm template `{{ int .Values.x }}`, as Helm prints large numbers as 1e+06"
                .to_owned(),
            origin,
        ),
    };
    let finding = Diagnostic::new(Code::ArgumentForm, message)
        .at(at(origin.span(), pods.object))
        .object(pods.object.id.to_string())
        .help(help);
    match fault {
        Fault::Joined { stops: false, .. } => out.add(finding),
        _ => out.stop(finding),
    }
}

impl Server<'_, '_> {
    pub(super) fn finding(&self, code: Code, message: String) -> Diagnostic {
        Diagnostic::new(code, message).object(self.pods.object.id.to_string())
    }

    pub(super) fn engine(&self) -> Engine {
        self.settings.engine
    }

    fn place<T>(&self, setting: &Setting<T>) -> Option<crate::source::Span> {
        at(setting.origin.and_then(crate::yaml::Origin::span), self.pods.object)
    }

    /// A file with settings that was not read: what depends on them is not judged.
    fn unread(&self, out: &mut Judged) {
        let Some(path) = &self.settings.unread_file else { return };
        out.unread = Some(path.value.clone());
        let config_map = files::config_map_at(self.pods.main, self.container, path.value.as_str());
        let (why, help) = match config_map {
            Some(name) => (
                format!("ConfigMap `{name}` of the input does not have it"),
                format!("load ConfigMap `{name}` of namespace {} with `-f`", self.pods.namespace),
            ),
            None => (
                "it is in no ConfigMap".to_owned(),
                "mount the file from a ConfigMap and load that with `-f`".to_owned(),
            ),
        };
        out.add(
            self.finding(
                Code::EngineConfigNotRead,
                format!(
                    "the settings of the {} in `{}` are not judged: {why}",
                    self.pods.what, path.value
                ),
            )
            .at(self.place(path))
            .help(help),
        );
    }

    /// A Service whose variable the engine reads as its own.
    fn clash(&self, engines: &Engines<'_>, out: &mut Judged) {
        let links = self.pods.main.get("enableServiceLinks").and_then(Node::as_bool);
        if links == Some(false) {
            return;
        }
        let Some((service, variable)) = engines.links.clash(self.pods.namespace, self.engine())
        else {
            return;
        };
        let env = self.container.get("env").map(Node::items).unwrap_or_default();
        let sets = |entry: &Node| entry.get("name").and_then(Node::as_str) == Some(variable);
        // What the container sets itself wins over the variables of Services.
        if env.iter().any(sets) {
            return;
        }
        out.stop(
            self.finding(
                Code::EngineEnvClash,
                format!(
                    "Service `{service}` of namespace {} sets {variable}=tcp://… in the {}, and {} reads it as a port",
                    self.pods.namespace,
                    self.pods.what,
                    self.engine()
                ),
            )
            .at(self.pods.object.name_span())
            .help("rename the Service, or set `enableServiceLinks: false` in the pods"),
        );
    }

    /// Ranks against devices, shared memory, shares.
    fn devices(&self, out: &mut Judged) {
        let Some(devices) = self.devices else { return };
        let sharing = self.nodes.as_ref().and_then(|nodes| nodes.sharing);
        let count = devices.count.unsigned_abs();
        if let Some((how, shares)) = sharing.filter(|_| count > 1) {
            let message = format!(
                "the {} requests {count} of {}, and each is one of {shares} shares of a device",
                self.pods.what, devices.resource
            );
            let at_place = at(devices.origin.span(), self.pods.object);
            match how {
                Sharing::Mps => out.stop(
                    self.finding(
                        Code::SharedDevices,
                        format!("{message}: the device plugin refuses more than one with MPS"),
                    )
                    .at(at_place)
                    .help("request 1"),
                ),
                Sharing::TimeSlicing => out.add(
                    self.finding(
                        Code::SharedDevices,
                        format!("{message}: shares of one device give no more memory or time"),
                    )
                    .at(at_place)
                    .help("request 1, or use nodes whose devices are not shared"),
                ),
            }
        }
        let Some(ranks) = self.ranks else { return };
        // A node that the input lacks says by the label of its product that it shares devices.
        let product = self.nodes.as_ref().map(|nodes| nodes.product.as_str());
        let is_shared = sharing.is_some() || product.is_some_and(|name| name.ends_with("-SHARED"));
        // The device plugin takes shares of different devices first (`distributedAlloc` of
        // NVIDIA/k8s-device-plugin), so that ranks may find a device each, and a share is no device
        // that stays idle.
        if is_shared && count > 1 && ranks.all <= count {
            self.shared_memory(ranks, out);
            return;
        }
        let is_part = sharing.is_some() || devices.is_slice();
        // Shares and slices cannot talk to each other: NCCL refuses two ranks on one device.
        if is_part && ranks.all > 1 && count > 1 {
            let span = ranks.origin().and_then(crate::yaml::Origin::span);
            out.stop(
                self.finding(
                    Code::GpuCountMismatch,
                    format!(
                        "{} of the {} needs {} whole devices, and {} is a part of one",
                        ranks.arithmetic(),
                        self.pods.what,
                        ranks.all,
                        devices.resource
                    ),
                )
                .at(at(span, self.pods.object))
                .help("use one share without parallelism, or whole devices"),
            );
            return;
        }
        if devices.is_one_rank(product.unwrap_or_default()) {
            self.count(ranks, devices, out);
        }
        self.shared_memory(ranks, out);
    }

    fn count(&self, ranks: &Ranks, devices: &Devices, out: &mut Judged) {
        let count = devices.count.unsigned_abs();
        let is_ray = self.settings.with_ray
            || self.settings.executor.set().is_some_and(|executor| executor.value == "ray");
        let worker = self.pods.worker.and_then(|(pod, workers)| {
            let containers = pod.get("containers").map(Node::items).unwrap_or_default();
            let of = |container: &Node| devices::of_container(container);
            let each: i64 = containers
                .iter()
                .flat_map(of)
                .filter(|other| other.resource == devices.resource)
                .map(|devices| devices.count)
                .sum();
            // Without Ray or ranks of its own a worker pod may be anything; its devices then count
            // as possible only.
            let joins = containers.iter().any(|container| {
                matches!(EngineSettings::container(container), Container::RayMember)
            });
            Some((each.checked_mul(workers)?.unsigned_abs(), joins))
        });
        // Ranks of one pod, or of all pods of a group, against the same devices.
        let (needed, given, scope, is_exact) = if let Some(nodes) = &ranks.nodes {
            // The engine refuses it for another reason, which is not about devices.
            if !ranks.all.is_multiple_of(nodes.value) {
                return;
            }
            (ranks.all / nodes.value, count, format!(" on each of {} nodes", nodes.value), true)
        } else if ranks.is_local || self.pods.size == 1 {
            (ranks.all, count, String::new(), true)
        } else {
            let (others, joins) = match worker {
                Some(worker) => worker,
                None => (count.saturating_mul(self.pods.size.unsigned_abs() - 1), false),
            };
            let scope = format!(" in {} pods", self.pods.size);
            (ranks.all, count.saturating_add(others), scope, joins || is_ray)
        };
        // Ranks of Ray run wherever its cluster has devices, which may be other pods.
        let is_elsewhere = is_ray && self.pods.size == 1;
        let subject = format!(
            "the {} requests {} ({}){scope}",
            self.pods.what,
            plural(given, "accelerator"),
            devices.resource
        );
        let place = at(
            ranks.origin().or(Some(devices.origin)).and_then(crate::yaml::Origin::span),
            self.pods.object,
        );
        let defaults = if ranks.origin().is_none() {
            format!(" (default of {})", self.engine())
        } else {
            String::new()
        };
        let arithmetic = ranks.arithmetic();
        if needed > given && !is_elsewhere {
            let least = if ranks.is_least { "at least " } else { "" };
            out.stop(
                self.finding(
                    Code::GpuCountMismatch,
                    format!("{subject}, and {arithmetic} needs {least}{needed}: the server does not start"),
                )
                .at(place)
                .help(format!("request {needed}, or lower the parallelism to {given}")),
            );
        } else if needed < given
            && is_exact
            && !ranks.is_least
            && !is_elsewhere
            && !self.is_masked()
        {
            let idle = given - needed;
            let stay = if idle == 1 { "stays" } else { "stay" };
            out.add(
                self.finding(
                    Code::GpuCountMismatch,
                    format!(
                        "{subject}, and {arithmetic}{defaults} uses {needed}: {idle} {stay} idle"
                    ),
                )
                .at(place)
                .help(match self.engine() {
                    Engine::VLlm => {
                        format!("set `--tensor-parallel-size={given}`, or request {needed}")
                    }
                    Engine::SGLang => format!("set `--tp-size={given}`, or request {needed}"),
                    Engine::TensorRtLlm => format!("set `--tp_size={given}`, or request {needed}"),
                    Engine::LmDeploy => format!("set `--tp={given}`, or request {needed}"),
                    Engine::Tgi | Engine::LlamaCpp => format!("request {needed}"),
                }),
            );
        }
    }

    /// Whether the container hides devices from the server on purpose.
    fn is_masked(&self) -> bool {
        const MASKS: [&str; 5] = [
            "CUDA_VISIBLE_DEVICES",
            "HIP_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            "HABANA_VISIBLE_DEVICES",
            "ASCEND_RT_VISIBLE_DEVICES",
        ];
        let env = self.container.get("env").map(Node::items).unwrap_or_default();
        env.iter().any(|entry| {
            entry.get("name").and_then(Node::as_str).is_some_and(|name| MASKS.contains(&name))
        })
    }

    fn shared_memory(&self, ranks: &Ranks, out: &mut Judged) {
        let here = ranks.all / ranks.nodes.as_ref().map_or(1, |nodes| nodes.value).max(1);
        if here <= 1 || surroundings::has_shared_memory(self.pods.main, self.container) {
            return;
        }
        out.add(
            self.finding(
                Code::ShmTooSmall,
                format!(
                    "{here} ranks of the {} share a /dev/shm of 64 MiB: NCCL can need more",
                    self.pods.what
                ),
            )
            .at(at(ranks.origin().and_then(crate::yaml::Origin::span), self.pods.object))
            .help("mount an `emptyDir` with `medium: Memory` at /dev/shm"),
        );
    }

    pub(super) fn dimensions(&self) -> Option<&Dimensions> {
        self.model.as_ref()?.dimensions.as_ref()
    }

    /// Whether the tensor parallelism divides the heads, as the engine requires.
    fn heads(&self, out: &mut Judged) {
        let (Some(dimensions), Some(tensor)) = (self.dimensions(), self.settings.tensor.set())
        else {
            return;
        };
        let ways = match self.engine() {
            Engine::VLlm | Engine::TensorRtLlm | Engine::Tgi => tensor.value,
            Engine::SGLang => {
                let Some(divides) = self.settings.data_attention.or(false, Engine::SGLang) else {
                    return;
                };
                let Some(data) = self.settings.data.or(1, Engine::SGLang) else { return };
                if divides.value { (tensor.value / data.value.max(1)).max(1) } else { tensor.value }
            }
            Engine::LmDeploy | Engine::LlamaCpp => return,
        };
        let name = self.model.as_ref().map(|model| model.name.clone()).unwrap_or_default();
        // These two replicate heads of keys and values or divide them, and refuse anything
        // between.
        let groups = dimensions
            .kv_heads
            .filter(|_| self.engine() == Engine::VLlm || self.engine() == Engine::SGLang);
        let misfit = if dimensions.heads % ways != 0 {
            Some(("attention heads", dimensions.heads))
        } else if let Some(groups) =
            groups.filter(|groups| *groups > 0 && groups % ways != 0 && ways % groups != 0)
        {
            Some(("heads of keys and values", groups))
        } else if self.engine() == Engine::SGLang
            // SGLang pads the vocabulary to a multiple of 64 before it divides it.
            && dimensions.vocabulary.div_ceil(64) * 64 % ways != 0
        {
            Some(("tokens of the vocabulary", dimensions.vocabulary))
        } else {
            None
        };
        let Some((what, number)) = misfit else { return };
        let divisors: Vec<String> = (1..=dimensions.heads.min(16))
            .filter(|ways| dimensions.heads % ways == 0)
            .filter(|ways| {
                groups.is_none_or(|groups| groups == 0 || groups % ways == 0 || ways % groups == 0)
            })
            .map(|ways| ways.to_string())
            .collect();
        out.stop(
            self.finding(
                Code::HeadsNotDivisible,
                format!(
                    "`{}` of the {} is {}, which does not divide the {number} {what} of `{name}`: {} does not start",
                    tensor.from,
                    self.pods.what,
                    tensor.value,
                    self.engine()
                ),
            )
            .at(self.place(tensor))
            .help(format!("set one of {}", divisors.join(", "))),
        );
    }

    /// Whether the model has positions for the context that is set.
    fn positions(&self, out: &mut Judged) {
        let Some(context) = self.settings.context.set() else { return };
        let allows =
            |name: &str| matches!(self.settings.variable(name), Some("1" | "true" | "True"));
        let counts = match self.engine() {
            Engine::VLlm => !allows("VLLM_ALLOW_LONG_MAX_MODEL_LEN"),
            Engine::SGLang => !allows("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"),
            _ => false,
        };
        let Some(most) = self.dimensions().and_then(|dimensions| dimensions.positions) else {
            return;
        };
        // Overrides may change the positions, so that nothing is certain then.
        if !counts || context.value <= most || !matches!(self.settings.overrides, Known::Default) {
            return;
        }
        let name = self.model.as_ref().map(|model| model.name.clone()).unwrap_or_default();
        out.stop(
            self.finding(
                Code::ContextExceedsModel,
                format!(
                    "`{}` of the {} is {}, and `{name}` has {most} positions: {} does not start",
                    context.from,
                    self.pods.what,
                    context.value,
                    self.engine()
                ),
            )
            .at(self.place(context))
            .help(format!("set at most {most}")),
        );
    }
}

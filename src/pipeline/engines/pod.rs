//! Judges one pod: the form of its arguments, ranks against devices, heads, context and memory.

use super::devices::{self, DeviceMemory, Devices, Nodes, Sharing, gib};
use super::model::ServedModel;
use super::{Engines, Judged, Pods, at, surroundings};
use crate::decision::{CacheFit, Operand};
use crate::diag::{Code, Diagnostic};
use crate::engine::{Container, Engine, EngineSettings, Fault, Known, Load, Ranks, Setting};
use crate::facts;
use crate::quantity::{Dimensions, Memory};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

impl Judged {
    fn add(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// Adds a finding after which the server does not run.
    fn stop(&mut self, finding: Diagnostic) {
        self.stop.get_or_insert_with(|| finding.message.as_str().into());
        self.findings.push(finding);
    }
}

/// What belongs to one container.
struct Server<'s, 'p> {
    pods: &'s Pods<'p>,
    container: &'s Node,
    settings: &'s EngineSettings,
    ranks: Option<&'s Ranks>,
    devices: Option<&'s Devices>,
    nodes: Option<Arc<Nodes>>,
    model: Option<Arc<ServedModel>>,
}

fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("{count} {one}") } else { format!("{count} {one}s") }
}

impl Engines<'_> {
    pub(super) fn judge(&self, pods: &Pods<'_>) -> Judged {
        let mut out = Judged::default();
        let containers = pods.main.get("containers").map(Node::items).unwrap_or_default();
        for (index, container) in containers.iter().enumerate() {
            let devices = devices::of_container(container);
            two_vendors(pods, &devices, &mut out);
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
        let settings = match EngineSettings::container(container) {
            Container::Engine(settings) => settings,
            Container::Fault(fault) => return form(pods, &fault, out),
            Container::RayMember | Container::Other => return,
        };
        for fault in &settings.faults {
            form(pods, fault, out);
        }
        let ranks = Ranks::of(&settings);
        let devices = match all {
            [one] => Some(one),
            _ => None,
        };
        let nodes = devices.map(|devices| self.nodes(pods.main, &devices.resource));
        let named = || self.named(&settings.model.set()?.value);
        let server = Server {
            pods,
            container,
            settings: &settings,
            ranks: ranks.as_ref(),
            devices,
            nodes,
            model: pods.model.clone().or_else(named),
        };
        server.clash(self, out);
        server.devices(out);
        server.heads(out);
        server.positions(out);
        server.memory(out);
    }
}

/// A container that requests devices of two vendors.
fn two_vendors(pods: &Pods<'_>, devices: &[Devices], out: &mut Judged) {
    let Some((first, rest)) = devices.split_first() else { return };
    let vendor = facts::vendor_of(&first.resource);
    let Some(other) = rest.iter().find(|own| facts::vendor_of(&own.resource) != vendor) else {
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
        Fault::FlagAndValue { text, origin } => {
            let (flag, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            let value = value.trim();
            (
                format!("`{text}` of the {} is one argument: the server knows no such flag", pods.what),
                format!("write `{flag}={value}`, or two elements `{flag}` and `{value}`"),
                origin,
            )
        }
        Fault::CommandLine { text, origin } => (
            format!("`{text}` of the {} is one word: there is no program of this name", pods.what),
            "write one element per word, or run it with `sh -c`".to_owned(),
            origin,
        ),
        Fault::Number { flag, text, expected, origin } => (
            format!("`{flag}` of the {} is `{text}`, and the server reads {expected}", pods.what),
            "write digits; in a Helm template `{{ int .Values.x }}`, as Helm prints large numbers as 1e+06"
                .to_owned(),
            origin,
        ),
    };
    out.stop(
        Diagnostic::new(Code::ArgumentForm, message)
            .at(at(origin.span(), pods.object))
            .object(pods.object.id.to_string())
            .help(help),
    );
}

impl Server<'_, '_> {
    fn finding(&self, code: Code, message: String) -> Diagnostic {
        Diagnostic::new(code, message).object(self.pods.object.id.to_string())
    }

    fn engine(&self) -> Engine {
        self.settings.engine
    }

    fn place<T>(&self, setting: &Setting<T>) -> Option<crate::source::Span> {
        at(setting.origin.and_then(crate::yaml::Origin::span), self.pods.object)
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
                        format!("{message}: more shares give no more memory or time"),
                    )
                    .at(at_place)
                    .help("request 1, or use nodes whose devices are not shared"),
                ),
            }
        }
        let Some(ranks) = self.ranks else { return };
        let is_part = sharing.is_some() || devices.is_slice();
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
        if devices.is_one_rank() {
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
                .filter(|own| own.resource == devices.resource)
                .map(|own| own.count)
                .sum();
            let joins = containers.iter().any(|container| {
                matches!(EngineSettings::container(container), Container::RayMember)
            });
            Some((each.checked_mul(workers)?.unsigned_abs(), joins))
        });
        // Ranks of one pod, or of all pods of a group, against the same devices.
        let (needed, given, scope, is_exact) = if let Some(nodes) = &ranks.nodes {
            if ranks.all % nodes.value != 0 {
                return;
            }
            (ranks.all / nodes.value, count, format!(" on each of {} nodes", nodes.value), true)
        } else if ranks.is_local || self.pods.pods == 1 {
            (ranks.all, count, String::new(), true)
        } else {
            let (others, joins) = match worker {
                Some(worker) => worker,
                None => (count.saturating_mul(self.pods.pods.unsigned_abs() - 1), false),
            };
            let scope = format!(" in {} pods", self.pods.pods);
            (ranks.all, count.saturating_add(others), scope, joins || is_ray)
        };
        let is_elsewhere = is_ray && self.pods.pods == 1;
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
            out.add(
                self.finding(
                    Code::GpuCountMismatch,
                    format!(
                        "{subject}, and {arithmetic}{defaults} uses {needed}: {idle} stay idle"
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

    fn dimensions(&self) -> Option<&Dimensions> {
        self.model.as_ref()?.dimensions.as_ref()
    }

    /// Whether the tensor parallelism divides the heads, as the engine requires.
    fn heads(&self, out: &mut Judged) {
        let (Some(own), Some(tensor)) = (self.dimensions(), self.settings.tensor.set()) else {
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
        let groups = own
            .kv_heads
            .filter(|_| self.engine() == Engine::VLlm || self.engine() == Engine::SGLang);
        let misfit = if own.heads % ways != 0 {
            Some(("attention heads", own.heads))
        } else if let Some(groups) =
            groups.filter(|groups| *groups > 0 && groups % ways != 0 && ways % groups != 0)
        {
            Some(("heads of keys and values", groups))
        } else if self.engine() == Engine::SGLang && own.vocabulary.div_ceil(64) * 64 % ways != 0 {
            Some(("tokens of the vocabulary", own.vocabulary))
        } else {
            None
        };
        let Some((what, number)) = misfit else { return };
        let divisors: Vec<String> = (1..=own.heads.min(16))
            .filter(|ways| own.heads % ways == 0)
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
        let Some(most) = self.dimensions().and_then(|own| own.positions) else { return };
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

    /// Memory of one device of the server.
    fn device_memory(&self) -> Option<DeviceMemory> {
        let nodes = self.nodes.as_deref();
        let is_part = nodes.is_some_and(|nodes| nodes.sharing.is_some())
            || self.devices.is_some_and(Devices::is_slice);
        let of_nodes = || nodes.and_then(|nodes| nodes.memory.clone());
        match &self.pods.class {
            Some((class, memory)) if !is_part => Some(DeviceMemory {
                least: *memory,
                most: *memory,
                from: class.clone(),
                is_measured: of_nodes()
                    .is_some_and(|nodes| nodes.is_measured && nodes.least == *memory),
            }),
            _ => of_nodes(),
        }
    }

    /// Weights, cache and context against the memory of the devices.
    fn memory(&self, out: &mut Judged) {
        let Some(model) = &self.model else { return };
        let memory = self.device_memory();
        let copy = match (self.ranks, self.devices) {
            (Some(ranks), devices) if !ranks.is_least || devices.is_none() => ranks.copy,
            (_, Some(devices)) => {
                devices.count.unsigned_abs().saturating_mul(self.pods.pods.unsigned_abs())
            }
            (ranks, None) => ranks.map_or(1, |ranks| ranks.copy),
        };
        let quantization = self.settings.quantization.set().map(|own| own.value.as_str());
        // Weights on the host, experts on all ranks, and settings that are unknown change what one
        // device holds.
        let spreads = self.settings.expert.set().is_some_and(|expert| expert.value)
            && self.settings.data.set().is_some_and(|data| data.value > 1);
        let is_whole = self.settings.offload.set().is_none()
            && !spreads
            && self.engine() != Engine::LlamaCpp
            && !matches!(self.settings.quantization, Known::Unknown if self.settings.may_set_more);
        let weights = model.weights_as(quantization).filter(|_| is_whole);
        let estimate = |memory: &DeviceMemory, bytes: Memory| {
            let load = self.load(memory, bytes, weights.as_ref()?.value, copy)?;
            let dimensions = self.dimensions()?;
            let mut found = load.estimate(dimensions)?;
            if !memory.is_measured && gib(bytes.0) < 70.0 {
                // Nominal sizes of cards with error correction are up to a sixteenth too large.
                found.low -= found.share * gib(bytes.0) / 16.0;
            }
            if self.settings.speculative.set().is_some() {
                found.low -= 2.0;
            }
            Some(found)
        };
        let least = memory.as_ref().and_then(|memory| estimate(memory, memory.least));
        let most = memory.as_ref().and_then(|memory| estimate(memory, memory.most));
        let share = self.share(least.as_ref().map(|found| found.share));
        let fit = model.cache.as_ref().map(|cache| {
            self.fit(cache.clone(), copy, memory.as_ref(), weights.clone(), share.clone())
        });
        if let (Some(memory), Some(weights)) = (&memory, &weights) {
            self.misfit(memory, weights, copy, share.as_ref(), out);
        }
        let is_misfit = out.findings.iter().any(|finding| finding.code == Code::GpuMisfit);
        if let Some(mut fit) = fit {
            if let Some(most) = most.filter(|_| !is_misfit) {
                fit.estimate = Some(most);
                self.context(&fit, out);
            }
            fit.estimate = least;
            out.cache = Some(fit);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn load(&self, memory: &DeviceMemory, bytes: Memory, weights: u64, copy: u64) -> Option<Load> {
        let own = self.settings;
        let value = |known: &Known<u64>| match known {
            Known::Set(setting) => Some(Some(setting.value)),
            Known::Default => Some(None),
            Known::Unknown => None,
        };
        let is_on = |known: &Known<bool>| known.set().is_some_and(|on| on.value);
        let product = self.nodes.as_ref().map(|nodes| nodes.product.to_string());
        let product = product.filter(|product| !product.is_empty());
        Some(Load {
            engine: own.engine,
            version: own.version.as_ref().map(|version| version.numbers),
            product: product.unwrap_or_else(|| {
                let name = memory.from.to_uppercase();
                let known = ["A100", "H100", "H200", "H800", "B200", "GB10"];
                known.into_iter().find(|known| name.contains(known)).unwrap_or_default().to_owned()
            }),
            memory: gib(bytes.0),
            tensor: own.tensor.or(1, own.engine)?.value,
            weights: gib(weights) / copy.max(1) as f64,
            share: match &own.share {
                Known::Set(share) => Some(share.value),
                Known::Default => None,
                Known::Unknown => return None,
            },
            sequences: value(&own.sequences)?,
            tokens: value(&own.batched_tokens)?,
            context: self.context_of().map(|context| context.value),
            chunked: own.chunked.set().map(|chunked| chunked.value),
            eager: is_on(&own.eager),
            sampler: None,
            first_generation: match own.variable("VLLM_USE_V1") {
                Some("0") => Some(true),
                Some("1") => Some(false),
                _ => None,
            },
            images: 8192,
            fixed: own.cache_bytes.set().map(|bytes| gib(bytes.value)),
        })
    }

    /// Tokens of a request of full length: as set, else as the model has them.
    fn context_of(&self) -> Option<Operand<u64>> {
        match &self.settings.context {
            Known::Set(context) => Some(operand(context)),
            Known::Default => self.model.as_ref()?.longest.clone(),
            Known::Unknown => None,
        }
    }

    fn share(&self, used: Option<f64>) -> Option<Operand<f64>> {
        let engine = self.engine();
        match &self.settings.share {
            Known::Set(share) if share.value > 0.0 && share.value <= 1.0 => Some(operand(share)),
            Known::Set(_) | Known::Unknown => None,
            Known::Default => used.map(|value| Operand {
                value,
                from: eco_format!("default of {engine}"),
                span: None,
            }),
        }
    }

    fn fit(
        &self,
        cache: Arc<crate::quantity::KvCache>,
        copy: u64,
        memory: Option<&DeviceMemory>,
        weights: Option<Operand<u64>>,
        share: Option<Operand<f64>>,
    ) -> CacheFit {
        let own = self.settings;
        let number = |known: &Known<u64>| known.set().map_or(1, |setting| setting.value);
        let (group, data) = (number(&own.tensor), number(&own.data));
        let divides = own.data_attention.set().is_some_and(|divides| divides.value);
        // Data-parallel attention splits requests instead of heads, within one tensor-parallel group.
        let (ways, copies) =
            if divides { ((group / data.min(group)).max(1), 1) } else { (group, data) };
        let width = match own.kv_dtype.set() {
            Some(setting) if setting.value != "auto" && setting.value != "0" => {
                let text = setting.value.as_str();
                let is_8_bits = text.starts_with("fp8") || text.starts_with("int8") || text == "8";
                let value = if is_8_bits { 1 } else { 2 };
                Operand {
                    value,
                    from: eco_format!("{} {text}", setting.from),
                    ..operand_of(setting, value)
                }
            }
            _ if cache.in_8_bits => {
                Operand { value: 1, from: "8 bits by the model's quantization".into(), span: None }
            }
            _ => Operand { value: cache.width, from: "as the model computes".into(), span: None },
        };
        let accelerators = match self.ranks {
            Some(ranks) => Operand {
                value: copy,
                from: if ranks.origin().is_some() {
                    let flags: Vec<&str> = ranks
                        .factors
                        .iter()
                        .filter(|factor| !factor.what.contains("data"))
                        .map(|factor| factor.setting.from.as_str())
                        .collect();
                    flags.join(", ").into()
                } else {
                    "no parallelism is set".into()
                },
                span: ranks.origin().and_then(crate::yaml::Origin::span),
            },
            None => Operand { value: copy, from: "the container's requests".into(), span: None },
        };
        CacheFit {
            cache,
            width,
            ways,
            accelerators,
            copies,
            context: self.context_of(),
            memory: memory.map(|memory| Operand {
                value: memory.least,
                from: memory.from.clone(),
                span: None,
            }),
            share,
            weights,
            most: own.sequences.set().map(operand),
            engine: Some(own.engine),
            estimate: None,
        }
    }

    /// Weights that are larger than what the server may use of its devices.
    fn misfit(
        &self,
        memory: &DeviceMemory,
        weights: &Operand<u64>,
        copy: u64,
        share: Option<&Operand<f64>>,
        out: &mut Judged,
    ) {
        let share = match (self.engine(), share, &self.settings.share) {
            (Engine::VLlm | Engine::SGLang, Some(share), _) => share.value,
            (Engine::VLlm, None, Known::Default) => 0.92,
            _ => 1.0,
        };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let usable = gib(memory.most.0) * copy as f64 * share;
        if gib(weights.value) <= usable {
            return;
        }
        let name = self.model.as_ref().map(|model| model.name.clone()).unwrap_or_default();
        let per_device = gib(memory.most.0) * share;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number of devices"
        )]
        let needed = (gib(weights.value) * 1.05 / per_device.max(0.01)).ceil() as u64;
        out.stop(
            self.finding(
                Code::GpuMisfit,
                format!(
                    "the weights of `{name}`, {} ({}), do not fit the {}: {} × {} ({}) × {share} = {}",
                    Memory(weights.value).short(),
                    weights.from,
                    self.pods.what,
                    copy,
                    memory.most.short(),
                    memory.from,
                    format_args!("{usable:.1} GiB"),
                ),
            )
            .at(self.pods.object.name_span())
            .help(format!(
                "split the model over {} of them, or take devices with more memory",
                needed.next_power_of_two()
            )),
        );
    }

    /// A request of full length that is larger than the cache.
    fn context(&self, fit: &CacheFit, out: &mut Judged) {
        let (Some(context), Some(request), Some(left)) =
            (fit.context.as_ref(), fit.request(), fit.left())
        else {
            return;
        };
        // SGLang shortens requests, and vLLM derives a context that is not set only when asked.
        let refuses = matches!(self.engine(), Engine::VLlm | Engine::TensorRtLlm | Engine::SGLang);
        if !refuses || fit.estimate.as_ref().is_none_or(|found| found.logs == 0) || request <= left
        {
            return;
        }
        let longest = fit.longest().unwrap_or(0);
        let flag = match self.engine() {
            Engine::SGLang => "--context-length",
            Engine::TensorRtLlm => "--max_seq_len",
            _ => "--max-model-len",
        };
        let by_context = if longest >= 16 {
            format!("set `{flag}={}`, ", longest / 16 * 16)
        } else {
            String::new()
        };
        let fewer = match (self.engine(), self.settings.sequences.is_default()) {
            (Engine::VLlm, true) => ", lower `--max-num-seqs`",
            _ => "",
        };
        out.stop(
            self.finding(
                Code::ContextExceedsMemory,
                format!(
                    "one request of {} tokens needs {} of KV cache in the {}, and {} has about {} left: the server does not start",
                    context.value,
                    Memory(request).short(),
                    self.pods.what,
                    self.engine(),
                    Memory(left).short(),
                ),
            )
            .at(at(context.span, self.pods.object))
            .help(format!(
                "{by_context}keep the cache in 8 bits by `--kv-cache-dtype fp8`{fewer}, or take more or larger accelerators"
            )),
        );
    }
}

fn operand<T: Clone>(setting: &Setting<T>) -> Operand<T> {
    operand_of(setting, setting.value.clone())
}

fn operand_of<S, T>(setting: &Setting<S>, value: T) -> Operand<T> {
    Operand {
        value,
        from: EcoString::clone(&setting.from),
        span: setting.origin.and_then(crate::yaml::Origin::span),
    }
}

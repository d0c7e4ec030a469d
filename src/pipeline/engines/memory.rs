//! Judges the memory of one server: weights and context against its devices, and the KV cache with
//! every operand.

use super::devices::{DeviceMemory, Devices, gib};
use super::model::{ServedModel, is_32_bits};
use super::pod::Server;
use super::{Engines, Judged, at};
use crate::decision::{CacheFit, Operand};
use crate::diag::Code;
use crate::engine::{
    Adapters, Engine, Estimate, Known, Load, Setting, Term, draft_model, holds_unquantized,
    largest_share,
};
use crate::quantity::Memory;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

impl Server<'_, '_> {
    /// Memory of one device of the server.
    fn device_memory(&self) -> Option<DeviceMemory> {
        let nodes = self.nodes.as_deref();
        // The memory of a class is that of a whole device.
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
    pub(super) fn memory(&self, engines: &Engines<'_>, out: &mut Judged) {
        let Some(model) = &self.model else { return };
        let memory = self.device_memory();
        let copy = match (self.ranks, self.devices) {
            (Some(ranks), devices) if !ranks.is_least || devices.is_none() => ranks.copy,
            (_, Some(devices)) => {
                devices.count.unsigned_abs().saturating_mul(self.pods.size.unsigned_abs())
            }
            (ranks, None) => ranks.map_or(1, |ranks| ranks.copy),
        };
        let quantization = self.settings.quantization.set().map(|setting| setting.value.as_str());
        // Weights on the host, experts on all ranks, and settings that are unknown change what one
        // device holds.
        let spreads = self.settings.expert.set().is_some_and(|expert| expert.value)
            && self.settings.data.set().is_some_and(|data| data.value > 1);
        let is_whole = self.settings.offload.set().is_none()
            && !spreads
            && self.engine() != Engine::LlamaCpp
            && self
                .settings
                .load_format
                .set()
                .is_none_or(|setting| setting.value != "bitsandbytes")
            && !matches!(self.settings.quantization, Known::Unknown if self.settings.may_set_more);
        let dtype = self.settings.weights_dtype.set().map(|setting| setting.value.as_str());
        let mut weights = model.weights_as(quantization, dtype).filter(|_| is_whole);
        if weights.is_some() && model.is_quantized_by(quantization) {
            self.loading(model, memory.as_ref(), copy, &mut weights, out);
        }
        let draft = self.draft(engines);
        if let (Some(operand), Some(draft)) = (&mut weights, &draft) {
            // The model that proposes tokens is loaded beside the served one.
            operand.value = operand.value.saturating_add(draft.value);
            operand.from = eco_format!("{}; {}", operand.from, draft.from);
        }
        let estimate = |memory: &DeviceMemory, bytes: Memory| {
            let load = self.load(memory, bytes, weights.as_ref()?.value, copy)?;
            let dimensions = self.dimensions()?;
            let mut found = load.estimate(dimensions)?;
            if !memory.is_measured && gib(bytes.0) < 70.0 {
                // Nominal sizes of cards with error correction are up to a sixteenth too large.
                found.low -= found.share * gib(bytes.0) / 16.0;
            }
            // Weights of an unknown draft model: what is left may be less by as much as they take.
            if self.settings.speculative.set().is_some() && draft.is_none() {
                found.low -= 2.0;
            }
            if self.has_adapters() {
                self.adapters(&mut found);
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
        // Where the weights do not fit nothing is left for a cache, and one finding says so.
        let is_misfit = out.findings.iter().any(|finding| finding.code == Code::GpuMisfit);
        if let Some(mut fit) = fit {
            // Judged by the largest node first: a finding for it holds for all the others.
            if let Some(most) = most.filter(|_| !is_misfit) {
                fit.estimate = Some(most);
                let cheaper = memory.as_ref().zip(weights.as_ref());
                let cheaper = cheaper.and_then(|(memory, weights)| {
                    let load = self.load(memory, memory.most, weights.value, copy)?;
                    self.cheaper(&load, &fit)
                });
                let found = self.context(&fit, cheaper, None, out);
                // On the smallest of the nodes alone.
                let smallest =
                    memory.as_ref().filter(|memory| !found && memory.least < memory.most);
                if let (Some(smallest), Some(least)) = (smallest, least.clone()) {
                    fit.estimate = Some(least);
                    self.context(&fit, None, Some(smallest), out);
                }
            }
            // What is shown is the estimate of the smallest node, which a pod may get.
            fit.estimate = least;
            out.cache = Some(fit);
        }
    }

    /// Weights that an engine quantizes when it loads them: where it has all of them on the devices
    /// before, they must fit as they are stored. Where that is not known of its release and decides,
    /// nothing is known of the weights.
    fn loading(
        &self,
        model: &ServedModel,
        memory: Option<&DeviceMemory>,
        copy: u64,
        weights: &mut Option<Operand<u64>>,
        out: &mut Judged,
    ) {
        let (Some(memory), Some(stored)) = (memory, &model.weights) else { return };
        let release = self.settings.version.as_ref().map(|version| version.numbers);
        let fits = |one: Memory| stored.value <= one.0.saturating_mul(copy);
        let holds = holds_unquantized(self.engine(), release);
        if holds == Some(false) || fits(memory.least) {
            return;
        }
        *weights = None;
        if holds == Some(true) && !fits(memory.most) {
            out.stop(
                self.finding(
                    Code::GpuMisfit,
                    format!(
                        "{} has the weights of `{}` on the devices of the {} as they are stored, {} ({}), before it quantizes them: {} × {} ({}) are less",
                        self.engine(),
                        model.name,
                        self.pods.what,
                        Memory(stored.value).short(),
                        stored.from,
                        copy,
                        memory.most.short(),
                        memory.from,
                    ),
                )
                .at(self.pods.object.name_span())
                .help("serve a repository whose weights are in fp8, or take devices with more memory"),
            );
        }
    }

    /// The weights of the model that proposes tokens, where it is a known one.
    fn draft(&self, engines: &Engines<'_>) -> Option<Operand<u64>> {
        let setting = self.settings.speculative.set()?;
        let name = draft_model(setting).filter(|_| self.engine() == Engine::VLlm)?;
        let weights = engines.named(&name)?.weights.clone()?;
        Some(Operand { from: eco_format!("draft model `{name}`: {}", weights.from), ..weights })
    }

    /// Whether adapters are served.
    fn has_adapters(&self) -> bool {
        self.settings.lora.set().is_some_and(|lora| lora.value)
    }

    /// Takes the buffers of adapters from what is left; where they are not known, more is open.
    fn adapters(&self, found: &mut Estimate) {
        let settings = self.settings;
        // A cache of so many bytes is what it is.
        if settings.cache_bytes.set().is_some() {
            return;
        }
        let adapters = || {
            let count = settings.adapters.or(1, settings.engine)?.value;
            let rank = settings.adapter_rank.or(16, settings.engine)?.value;
            let model = self.model.as_ref()?;
            let tensor = settings.tensor.or(1, settings.engine)?.value;
            let adapters = Adapters { count, rank };
            adapters.bytes(model.dimensions.as_ref()?, model.cache.as_ref()?, tensor)
        };
        let Some((least, most)) = adapters().filter(|_| settings.engine == Engine::VLlm) else {
            found.low -= 2.0;
            return;
        };
        let (least, most) = (gib(least), gib(most));
        found.middle -= most;
        found.at_least -= most;
        found.low -= most;
        found.at_most -= least;
        found.high -= least;
        found.terms.push(Term { what: "adapters", gib: most });
    }

    /// Tokens that the cache of one copy holds at most.
    fn held(&self, cache: &crate::quantity::KvCache) -> Option<Operand<u64>> {
        use crate::quantity::Kept;
        if let Some(tokens) = self.settings.cache_tokens.set() {
            return Some(operand(tokens));
        }
        let blocks = self.settings.blocks.set()?;
        // Other kernels than those of grouped heads take blocks of their own.
        let is_plain = matches!(
            cache.layers.as_slice(),
            [one] if matches!(one.kept, Kept::Grouped { window: None, .. })
        );
        let size = match &self.settings.block_size {
            Known::Set(size) => size.value,
            Known::Default if is_plain => 16,
            Known::Default | Known::Unknown => return None,
        };
        let value = blocks.value.saturating_mul(size);
        let from = eco_format!("{} × {size}", blocks.from);
        Some(Operand { from, ..operand_of(blocks, value) })
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn load(&self, memory: &DeviceMemory, bytes: Memory, weights: u64, copy: u64) -> Option<Load> {
        let settings = self.settings;
        let value = |definitions: &Known<u64>| match definitions {
            Known::Set(setting) => Some(Some(setting.value)),
            Known::Default => Some(None),
            Known::Unknown => None,
        };
        let is_on = |definitions: &Known<bool>| definitions.set().is_some_and(|on| on.value);
        let product = self.nodes.as_ref().map(|nodes| nodes.product.to_string());
        let product = product.filter(|product| !product.is_empty());
        Some(Load {
            engine: settings.engine,
            version: settings.version.as_ref().map(|version| version.numbers),
            product: product.unwrap_or_else(|| {
                let name = memory.from.to_uppercase();
                let existing = ["A100", "H100", "H200", "H800", "B200", "GB10"];
                existing
                    .into_iter()
                    .find(|other| name.contains(other))
                    .unwrap_or_default()
                    .to_owned()
            }),
            memory: gib(bytes.0),
            tensor: settings.tensor.or(1, settings.engine)?.value,
            weights: gib(weights) / copy.max(1) as f64,
            share: match &settings.share {
                Known::Set(share) => Some(share.value),
                Known::Default => None,
                Known::Unknown => return None,
            },
            sequences: value(&settings.sequences)?,
            tokens: value(&settings.batched_tokens)?,
            context: self.context_of().map(|context| context.value),
            chunked: settings.chunked.set().map(|chunked| chunked.value),
            eager: is_on(&settings.eager),
            sampler: None,
            first_generation: match settings.variable("VLLM_USE_V1") {
                Some("0") => Some(true),
                Some("1") => Some(false),
                _ => None,
            },
            images: 8192,
            fixed: value(&settings.cache_bytes)?.map(gib),
        })
    }

    /// Tokens of a request of full length: as set, else as the model has them.
    fn context_of(&self) -> Option<Operand<u64>> {
        match &self.settings.context {
            Known::Set(context) => Some(operand(context)),
            Known::Default if self.settings.overrides.set().is_none() => {
                self.model.as_ref()?.longest.clone()
            }
            // Other values may set another one.
            Known::Default | Known::Unknown => None,
        }
    }

    fn share(&self, used: Option<f64>) -> Option<Operand<f64>> {
        let engine = self.engine();
        match &self.settings.share {
            Known::Set(share) if share.value > 0.0 && share.value <= 1.0 => Some(operand(share)),
            // A share out of range is a finding of its form; nothing is computed with it.
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
        let settings = self.settings;
        let held = self.held(&cache);
        let number =
            |definitions: &Known<u64>| definitions.set().map_or(1, |setting| setting.value);
        let (group, data) = (number(&settings.tensor), number(&settings.data));
        let divides = settings.data_attention.set().is_some_and(|divides| divides.value);
        // Data-parallel attention splits requests instead of heads, within one tensor-parallel group.
        let (ways, copies) =
            if divides { ((group / data.min(group)).max(1), 1) } else { (group, data) };
        let width = match settings.kv_dtype.set() {
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
            // A flag wins over the model, and the model over the type of the weights.
            _ if cache.in_8_bits => {
                Operand { value: 1, from: "8 bits by the model's quantization".into(), span: None }
            }
            _ => match settings.weights_dtype.set() {
                Some(setting) if is_32_bits(&setting.value) => {
                    let from = eco_format!("{} {}", setting.from, setting.value);
                    Operand { value: 4, from, ..operand_of(setting, 4) }
                }
                _ => {
                    Operand { value: cache.width, from: "as the model computes".into(), span: None }
                }
            },
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
            most: settings.sequences.set().map(operand),
            held,
            engine: Some(settings.engine),
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
            (engine @ Engine::VLlm, None, Known::Default) => {
                largest_share(engine, self.settings.version.as_ref().map(|version| version.numbers))
            }
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
        // A twentieth more for what a device needs besides weights.
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
                    if memory.least < memory.most { "the largest of the nodes" } else { memory.from.as_str() },
                    format_args!("{usable:.1} GiB"),
                ),
            )
            .at(self.pods.object.name_span())
            .help(format!(
                "split the model over {} of them, or take devices with more memory",
                // Tensor parallelism has to divide the heads, which powers of two do.
                needed.next_power_of_two()
            )),
        );
    }

    /// Settings under which a request of full length fits, each tried alone: fewer concurrent
    /// requests, a larger share.
    fn cheaper(&self, load: &Load, fit: &CacheFit) -> Option<String> {
        /// Beyond it the driver and other processes have no room.
        const MOST: f64 = 0.95;
        let dimensions = self.dimensions()?;
        let now = load.estimate(dimensions)?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let part = gib(fit.request()?) / fit.accelerators.value.max(1) as f64;
        // How much more is left where a request fits in the worst case.
        let frees = |load: &Load| {
            let mut found = load.estimate(dimensions)?;
            if self.has_adapters() {
                self.adapters(&mut found);
            }
            (found.at_least >= part).then_some(found.middle - now.middle)
        };
        let mut found = Vec::new();
        if self.engine() == Engine::VLlm {
            // From many to few: the first that is enough costs the least throughput.
            let fewer = [256, 128, 64, 32, 16].into_iter().find_map(|sequences| {
                let gained = frees(&Load { sequences: Some(sequences), ..load.clone() })?;
                Some(format!("`--max-num-seqs={sequences}` (frees {gained:.1} GiB on each device)"))
            });
            found.extend(fewer);
        }
        let flag = match self.engine() {
            Engine::VLlm => Some("--gpu-memory-utilization"),
            Engine::SGLang => Some("--mem-fraction-static"),
            _ => None,
        };
        if let Some(flag) = flag.filter(|_| now.share < MOST)
            && frees(&Load { share: Some(MOST), ..load.clone() }).is_some()
        {
            found.push(format!("`{flag}={MOST}`"));
        }
        (!found.is_empty()).then(|| found.join(" or "))
    }

    /// A request of full length that is larger than the cache, on all nodes or on the smallest; true
    /// when it is.
    fn context(
        &self,
        fit: &CacheFit,
        cheaper: Option<String>,
        smallest: Option<&DeviceMemory>,
        out: &mut Judged,
    ) -> bool {
        let (Some(context), Some(request), Some(left)) =
            (fit.context.as_ref(), fit.request(), fit.refused_beyond())
        else {
            return false;
        };
        // vLLM refuses it. SGLang and TensorRT-LLM start and shorten requests (srt/managers/tp_worker.py,
        // `max_req_len`; _torch/pyexecutor/resource_manager.py, `_validate_and_adjust_attention_windows`).
        let refuses = match self.engine() {
            Engine::VLlm => true,
            Engine::SGLang | Engine::TensorRtLlm => false,
            Engine::LmDeploy | Engine::Tgi | Engine::LlamaCpp => return false,
        };
        if fit.estimate.as_ref().is_none_or(|found| found.logs == 0) || request <= left {
            return smallest.is_none() && self.limited(fit, context, out);
        }
        let longest = fit.longest().unwrap_or(0);
        let positions = self.dimensions().and_then(|dimensions| dimensions.positions);
        // More positions than the model has are refused for another reason.
        let longest = positions.map_or(longest, |most| longest.min(most));
        let end = match (refuses, smallest) {
            (true, None) => "the server does not start".to_owned(),
            (true, Some(memory)) => {
                format!("the server does not start on {} ({})", memory.from, memory.least.short())
            }
            (false, _) => format!("requests have at most about {longest} tokens"),
        };
        let mut ways = Vec::new();
        if longest >= 16 {
            let flag = match self.engine() {
                Engine::SGLang => "--context-length",
                Engine::TensorRtLlm => "--max_seq_len",
                _ => "--max-model-len",
            };
            // Blocks of the cache have 16 tokens: a multiple wastes none.
            ways.push(format!("set `{flag}={}`", longest / 16 * 16));
        }
        ways.extend(cheaper.map(|cheaper| format!("set {cheaper}")));
        ways.extend(self.in_8_bits(fit));
        ways.push(match smallest {
            Some(_) => "select the nodes with more memory".to_owned(),
            None => "take more or larger accelerators".to_owned(),
        });
        let last = ways.pop().unwrap_or_default();
        let help = if ways.is_empty() { last } else { format!("{}, or {last}", ways.join(", ")) };
        let finding = self
            .finding(
                Code::ContextExceedsMemory,
                format!(
                    "one request of {} tokens needs {} of KV cache in the {}, and {} has {} left: {end}",
                    context.value,
                    Memory(request).short(),
                    self.pods.what,
                    self.engine(),
                    if left == 0 { "nothing".into() } else { eco_format!("about {}", Memory(left).short()) },
                ),
            )
            .at(at(context.span, self.pods.object))
            .help(help);
        if refuses && smallest.is_none() {
            out.stop(finding);
        } else {
            out.add(finding);
        }
        true
    }

    /// A request of full length that is longer than what a flag lets the cache hold; the server starts
    /// (vllm/v1/core/kv_cache_utils.py, `check_enough_kv_cache_memory`; srt/managers/tp_worker.py).
    fn limited(&self, fit: &CacheFit, context: &Operand<u64>, out: &mut Judged) -> bool {
        let Some(held) = fit.held.as_ref().filter(|held| held.value < context.value) else {
            return false;
        };
        out.add(
            self.finding(
                Code::ContextExceedsMemory,
                format!(
                    "the KV cache of the {} holds {} tokens ({}), and a request has up to {}: longer ones are not served",
                    self.pods.what, held.value, held.from, context.value
                ),
            )
            .at(at(held.span, self.pods.object))
            .help("leave the flag out, or set a shorter context"),
        );
        true
    }

    /// How the engine keeps the cache in 8 bits, where a request of full length fits then.
    fn in_8_bits(&self, fit: &CacheFit) -> Option<String> {
        let halved = CacheFit { width: Operand { value: 1, ..fit.width.clone() }, ..fit.clone() };
        if fit.width.value <= 1 || halved.request()? > fit.promised()? {
            return None;
        }
        let how = match self.engine() {
            Engine::VLlm => "`--kv-cache-dtype=fp8`",
            Engine::SGLang => "`--kv-cache-dtype=fp8_e5m2`",
            Engine::TensorRtLlm => {
                "`kv_cache_config: {dtype: fp8}` in the file of `--extra_llm_api_options`"
            }
            Engine::LmDeploy | Engine::Tgi | Engine::LlamaCpp => return None,
        };
        Some(format!("keep the cache in 8 bits by {how}"))
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

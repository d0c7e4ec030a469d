//! Judges the memory of one server: weights and context against its devices, and the KV cache with
//! every operand.

use super::devices::{DeviceMemory, Devices, gib};
use super::model::is_32_bits;
use super::pod::Server;
use super::{Judged, at};
use crate::decision::{CacheFit, Operand};
use crate::diag::Code;
use crate::engine::{Engine, Known, Load, Setting};
use crate::quantity::Memory;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

impl Server<'_, '_> {
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
    pub(super) fn memory(&self, out: &mut Judged) {
        let Some(model) = &self.model else { return };
        let memory = self.device_memory();
        let copy = match (self.ranks, self.devices) {
            (Some(ranks), devices) if !ranks.is_least || devices.is_none() => ranks.copy,
            (_, Some(devices)) => {
                devices.count.unsigned_abs().saturating_mul(self.pods.size.unsigned_abs())
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
        let dtype = self.settings.weights_dtype.set().map(|own| own.value.as_str());
        let weights = model.weights_as(quantization, dtype).filter(|_| is_whole);
        let estimate = |memory: &DeviceMemory, bytes: Memory| {
            let load = self.load(memory, bytes, weights.as_ref()?.value, copy)?;
            let dimensions = self.dimensions()?;
            let mut found = load.estimate(dimensions)?;
            if !memory.is_measured && gib(bytes.0) < 70.0 {
                // Nominal sizes of cards with error correction are up to a sixteenth too large.
                found.low -= found.share * gib(bytes.0) / 16.0;
            }
            if self.settings.speculative.set().is_some() || self.has_adapters() {
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
                let cheaper = memory.as_ref().zip(weights.as_ref());
                let cheaper = cheaper.and_then(|(memory, weights)| {
                    let load = self.load(memory, memory.most, weights.value, copy)?;
                    self.cheaper(&load, &fit)
                });
                self.context(&fit, cheaper, out);
            }
            fit.estimate = least;
            out.cache = Some(fit);
        }
    }

    /// Whether adapters are served, for which the engine keeps buffers that were not measured.
    fn has_adapters(&self) -> bool {
        self.settings.lora.set().is_some_and(|lora| lora.value)
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
            fixed: value(&own.cache_bytes)?.map(gib),
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
            _ => match own.weights_dtype.set() {
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
            let found = load.estimate(dimensions)?;
            (found.at_least >= part).then_some(found.middle - now.middle)
        };
        let mut found = Vec::new();
        if self.engine() == Engine::VLlm {
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

    /// A request of full length that is larger than the cache.
    fn context(&self, fit: &CacheFit, cheaper: Option<String>, out: &mut Judged) {
        let (Some(context), Some(request), Some(left)) =
            (fit.context.as_ref(), fit.request(), fit.refused_beyond())
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
        let cheaper = cheaper.map_or_else(String::new, |cheaper| format!("set {cheaper}, "));
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
                "{by_context}{cheaper}keep the cache in 8 bits by `--kv-cache-dtype fp8`, or take more or larger accelerators"
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

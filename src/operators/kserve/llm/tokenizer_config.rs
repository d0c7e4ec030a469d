//! Settings of a tokenizer in the pod of the scheduler
//! (pkg/controller/v1alpha2/llmisvc/scheduler.go, WithUdsTokenizerConfig).

use super::rules::SCHEDULER_CONFIG;
use super::scene::{at_mut, put};
use super::transform::{PRECISE_SCORER, PREFIX_SCORER, each_plugin, mutate};
use crate::merge::edit::map_mut;
use crate::yaml::{Node, Origin};

const BY: Origin = Origin::Derived(&SCHEDULER_CONFIG);

/// Settings of a tokenizer that runs beside the scheduler.
pub(super) fn write(pod: &mut Node) {
    mutate(pod, &mut |config| {
        each_plugin(config, &[PRECISE_SCORER], |plugin| {
            if map_mut(plugin, "parameters", BY).is_none() {
                return;
            }
            let Some(parameters) = at_mut(plugin, &["parameters"]) else { return };
            _ = map_mut(parameters, "indexerConfig", BY);
            let Some(indexer) = at_mut(parameters, &["indexerConfig"]) else { return };
            _ = map_mut(indexer, "tokenizersPoolConfig", BY);
            if let Some(pool) = at_mut(indexer, &["tokenizersPoolConfig"]) {
                put(pool, "modelName", Node::str("base", BY));
                if let Some(uds) = map_mut(pool, "uds", BY) {
                    let socket = "/tmp/tokenizer/tokenizer-uds.socket";
                    uds.insert("socketFile", Node::str(socket, BY));
                }
            }
            let processor = indexer.get("tokenProcessorConfig").cloned();
            if let Some(processor) = processor
                && parameters.get("tokenProcessorConfig").is_none()
            {
                put(parameters, "tokenProcessorConfig", processor);
            }
        });
        each_plugin(config, &[PREFIX_SCORER], |plugin| {
            let Some(parameters) = at_mut(plugin, &["parameters"]) else { return };
            if let Some(size) = parameters.get("blockSize").cloned()
                && parameters.get("blockSizeTokens").is_none()
            {
                put(parameters, "blockSizeTokens", size);
            }
        });
    });
}

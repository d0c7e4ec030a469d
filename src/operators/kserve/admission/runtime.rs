//! Rules about a single runtime (pkg/webhook/admission/servingruntime/servingruntime_webhook.go).
//! `check` has the rules about two runtimes.

use super::nodes::{SIZES, sizes, unknown_gpu};
use super::{containers, items, python_path, text, variable};
use crate::api::{KServeConfig, Runtime};
use crate::check::refusals::{Refusals, Violation};
use crate::operators::kserve::compose::names;
use crate::yaml::Node;

/// Everything that the webhook would reject in a runtime. It does not check a disabled runtime.
pub(crate) fn refused(runtime: &Runtime, config: &KServeConfig) -> Vec<Violation> {
    let object = &runtime.object;
    let mut judge = Refusals::new(object);
    if runtime.disabled.as_ref().is_some_and(|disabled| disabled.value) {
        return Vec::new();
    }
    let prefix = format!("the {} {} is invalid: ", object.id.kind, object.id.name);
    let spec = object.node.get("spec");
    if let Some(worker) = object.spec("workerSpec") {
        let path = "spec.workerSpec";
        if items(worker, "containers").len() > 1 {
            let message =
                format!("{prefix}setting multiple containers in workerSpec is not allowed");
            judge.value(
                format!("{path}.containers"),
                worker.get("containers"),
                message,
                "keep one container",
            );
        }
        // Not those of the workers: the webhook looks only at the head's containers.
        for (container, path) in containers(spec, "spec") {
            for name in SIZES {
                if let Some(found) = variable(container, name) {
                    let message =
                        format!("{prefix}setting {name} in environment variables is not allowed");
                    judge.value(
                        format!("{path}.env"),
                        Some(found),
                        message,
                        "write the size in `workerSpec`",
                    );
                }
            }
        }
        for (container, path) in
            containers(spec, "spec").into_iter().chain(containers(Some(worker), path))
        {
            let name = text(container, "name");
            // Sidecars may request devices of any name.
            if let Some(node) = unknown_gpu(container, None, config)
                .filter(|_| matches!(name, names::MAIN | names::WORKER))
            {
                let message = format!("{prefix}unknown GPU resource type in a container({name})");
                judge.value(
                    format!("{path}.resources"),
                    Some(node),
                    message,
                    "name the resource in `multiNode.customGPUResourceTypeList` of the ConfigMap",
                );
            }
        }
        sizes(&mut judge, worker, path, |word, size| {
            format!("{prefix}the WorkerSpec.{word} cannot be less than 1({size})")
        });
    }
    let worker = containers(object.spec("workerSpec"), "spec.workerSpec");
    let all: Vec<(&Node, String)> = containers(spec, "spec").into_iter().chain(worker).collect();
    python_path(&mut judge, &object.id.kind, &all);
    judge.into_found()
}

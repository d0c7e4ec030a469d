//! New pods of services whose runtime a webhook refuses, where documents are followed that name no
//! webhook: there the service is not in error, and a cluster without that runtime makes no such pods.

use super::claims::{Claim, Who};
use super::not_judged::{Counted, Open};
use crate::cluster::fleet::Fleet;
use crate::pipeline::planned::Planned;
use ecow::eco_format;

/// A line for each runtime.
pub(super) fn refused(planned: &[Planned<'_>], claims: &[Claim], fleet: &Fleet) -> Open {
    let mut counted = Counted::default();
    for (at, (claim, workload)) in claims.iter().zip(&fleet.workloads).enumerate() {
        let Who::Component(service, _) = claim.who else { continue };
        let Some(runtime) = &planned[service].refused_runtime else { continue };
        let new = workload.new_pods();
        if new > 0 {
            counted.add_of((at, claim), (eco_format!("{runtime}"), WHY.into()), new);
        }
    }
    counted.done()
}

const WHY: &str = "a webhook refuses it as it is written: these pods come only where a cluster has it already, and \
     else of another runtime or not at all";

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    const RUNTIME: &str = "---\napiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: r, namespace: ml}\nspec:\n  supportedModelFormats: [{name: f, autoSelect: true}]\n  containers: [{name: kserve-container, image: i, env: [{name: PYTHONPATH, value: /a}]}]\n";
    const SERVICE: &str = "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a, namespace: ml, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}\nspec: {predictor: {model: {modelFormat: {name: f}, storageUri: 'hf://a/b'}}}\n";

    /// Without its runtime a service has no pods: it is in error where the controller is followed, and
    /// not judged where documents are.
    #[test]
    fn a_service_of_a_refused_runtime_is_confirmed_by_no_command() {
        let live = RUNTIME.replace("name: r,", "name: r, uid: u,");
        for (semantics, runtime, code) in [
            ("controller", RUNTIME, 1),
            ("documented", RUNTIME, 0),
            ("controller", &live, 0),
            ("documented", &live, 0),
        ] {
            let text = gpu_node("n1", 8, "") + runtime + SERVICE;
            let before = gpu_node("n1", 8, "");
            let files = [("in.yaml", text.as_str()), ("before.yaml", before.as_str())];
            for command in ["plan", "explain a", "rollout --all", "rollout a", "diff"] {
                let base = if command == "diff" { " --base {before.yaml}" } else { "" };
                let run =
                    format!("{command} --no-builtin --semantics {semantics}{base} -f {{in.yaml}}");
                let ran = ome_on(&run, &files);
                let expected = if command == "diff" { 2 } else { code };
                assert_eq!(ran.code, expected, "{run}: {}{}", ran.out, ran.err);
                let is_refused = runtime == RUNTIME;
                let fits = ran.out.contains("✓ 1 of 1") || ran.out.contains("✓ complete");
                assert_eq!(fits, !is_refused && command != "diff", "{run}: {}", ran.out);
                let last = ran.out.lines().last().unwrap_or_default();
                assert!(!is_refused || !last.starts_with('✓'), "{run}: {}", ran.out);
                let page = ran.out.clone() + &ran.err;
                let says =
                    page.contains("setting PYTHONPATH") || page.contains("a webhook refuses it");
                assert_eq!(is_refused, says, "{run}: {page}");
            }
            let ran = ome_on(
                &format!("render a --no-builtin --semantics {semantics} -f {{in.yaml}}"),
                &files,
            );
            assert_eq!(ran.code, 0, "the recorded controller writes them: {}", ran.err);
        }
    }
}

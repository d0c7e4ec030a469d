//! `ome dump`: the command that writes what is read of a cluster.

use crate::cli::{Failure, Io, Outcome};

/// Print the kubectl command that dumps what `ome` reads of a cluster.
///
/// The program itself opens no connection. The command lists the kinds that the cluster has, keeps
/// those that change an answer, and leaves Secrets out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the command.
    #[arg(long, required = true)]
    print_command: bool,
}

/// Kinds of Kubernetes that change answers, as `kubectl api-resources -o name` lists them.
const KINDS: [&str; 42] = [
    "configmaps",
    "limitranges",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "serviceaccounts",
    "services",
    "customresourcedefinitions.apiextensions.k8s.io",
    "daemonsets.apps",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "rollouts.argoproj.io",
    "horizontalpodautoscalers.autoscaling",
    "cronjobs.batch",
    "jobs.batch",
    "datascienceclusters.datasciencecluster.opendatahub.io",
    "dscinitializations.dscinitialization.opendatahub.io",
    // Its group has reports, too, of which there may be thousands.
    "clusterpolicies.kyverno.io",
    "policies.kyverno.io",
    "leaderworkersets.leaderworkerset.x-k8s.io",
    "ingresses.networking.k8s.io",
    "runtimeclasses.node.k8s.io",
    "dynamographdeployments.nvidia.com",
    "poddisruptionbudgets.policy",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "deviceclasses.resource.k8s.io",
    "devicetaintrules.resource.k8s.io",
    "resourceclaims.resource.k8s.io",
    "resourceclaimtemplates.resource.k8s.io",
    "resourceslices.resource.k8s.io",
    "priorityclasses.scheduling.k8s.io",
    "csidrivers.storage.k8s.io",
    "csinodes.storage.k8s.io",
    "csistoragecapacities.storage.k8s.io",
    "storageclasses.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
];

/// Groups of which every kind is read: those of the operators, and of what they write.
const GROUPS: [&str; 25] = [
    "ome.io",
    "serving.kserve.io",
    "workload.serving.volcano.sh",
    "networking.serving.volcano.sh",
    "kueue.x-k8s.io",
    "jobset.x-k8s.io",
    "keda.sh",
    "admissionregistration.k8s.io",
    "policies.kyverno.io",
    "constraints.gatekeeper.sh",
    "mutations.gatekeeper.sh",
    "policies.kubewarden.io",
    "autoscaling.k8s.io",
    "serving.knative.dev",
    "gateway.networking.k8s.io",
    "inference.networking.k8s.io",
    "inference.networking.x-k8s.io",
    "networking.istio.io",
    "ray.io",
    "batch.volcano.sh",
    "scheduling.volcano.sh",
    "infrastructure.opendatahub.io",
    "kubeflow.org",
    "grove.io",
    "kaito.sh",
];

/// The command, for a shell.
pub(crate) fn command() -> String {
    // A dot in a pattern is any character.
    let escaped = |name: &str| name.replace('.', "\\.");
    let kinds: Vec<String> = KINDS.iter().map(|kind| escaped(kind)).collect();
    let groups: Vec<String> = GROUPS.iter().map(|group| escaped(group)).collect();
    let pattern = format!("^(({})|[a-z0-9]+\\.({}))$", kinds.join("|"), groups.join("|"));
    format!(
        "kubectl get --all-namespaces --output=yaml --show-managed-fields \\\n  \
         \"$(kubectl api-resources --verbs=list --output=name |\n    \
         grep -E '{pattern}' |\n    paste -sd, -)\" > cluster.yaml\n"
    )
}

/// Prints the command.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    debug_assert!(args.print_command, "the parser requires it");
    io.print(&command())?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::command;
    use crate::load::kinds;
    use fancy_regex::Regex;

    #[test]
    fn the_dump_has_every_group_that_is_read_and_no_secrets() {
        let text = command();
        let pattern = text.split('\'').nth(1).expect("a pattern in quotes");
        let pattern = Regex::new(pattern).expect("a pattern");
        for (name, is_read) in [
            ("nodes", true),
            ("secrets", false),
            ("deployments.apps", true),
            ("inferenceservices.ome.io", true),
            ("inferenceservices.serving.kserve.io", true),
            ("llminferenceservices.serving.kserve.io", true),
            ("modelservings.workload.serving.volcano.sh", true),
            ("clusterqueues.kueue.x-k8s.io", true),
            ("inferenceservices.example.com", false),
            ("nodesxapps", false),
            ("volumeattachments.storage.k8s.io", true),
            ("cronjobs.batch", true),
        ] {
            assert_eq!(pattern.is_match(name).expect("it ends"), is_read, "{name}");
        }
    }

    #[test]
    fn the_dump_has_every_kind_that_is_counted_or_used() {
        let text = command();
        let pattern = text.split('\'').nth(1).expect("a pattern in quotes");
        let pattern = Regex::new(pattern).expect("a pattern");
        for (group, kinds) in kinds::PODS.iter().chain(kinds::USED) {
            for kind in kinds.iter().filter(|kind| **kind != "Secret") {
                let kind = if *kind == kinds::EVERY_KIND { "K8sRequiredLabels" } else { kind };
                let plural = match kind.to_lowercase() {
                    name if name.ends_with("ss") => format!("{name}es"),
                    name if name.ends_with('y') => format!("{}ies", &name[..name.len() - 1]),
                    name => format!("{name}s"),
                };
                let name = if group.is_empty() { plural } else { format!("{plural}.{group}") };
                assert!(pattern.is_match(&name).expect("it ends"), "{name}");
            }
        }
    }
}

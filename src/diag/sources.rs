//! Addresses of the documents that rules and codes cite.
//!
//! In: a citation as rules and entries of codes write it, parts separated by `; `. Out: one address
//! for each part that is published elsewhere. Nothing here opens an address.

/// A document, or a folder of source code, and its address. The longest matching name counts.
struct Document {
    /// How citations begin; a name that ends in `/` is a folder, and the rest of the path follows.
    name: &'static str,
    address: &'static str,
}

macro_rules! documents {
    ($($name:literal $address:literal)*) => {
        &[$(Document { name: $name, address: $address },)*]
    };
}

static DOCUMENTS: &[Document] = documents! {
    "OEP-0003"
        "https://github.com/sgl-project/ome/blob/main/oeps/0003-accelerator-aware-runtime-selection/README.md"
    "OME docs, Serving Runtime"
        "https://github.com/sgl-project/ome/blob/v0.1.5/site/content/en/docs/concepts/serving_runtime.md"
    "OME docs, Base Models"
        "https://github.com/sgl-project/ome/blob/v0.1.5/site/content/en/docs/concepts/base_model.md"
    "pkg/" "https://github.com/sgl-project/ome/blob/v0.1.5/pkg/"
    "sgl-project/ome, config/crd/full" "https://github.com/sgl-project/ome/tree/v0.1.5/config/crd/full"
    "KServe 0.10 docs, Open Inference Protocol"
        "https://kserve.github.io/website/0.10/modelserving/data_plane/v2_protocol/"
    "KServe 0.10 docs, Data Plane"
        "https://kserve.github.io/website/0.10/modelserving/data_plane/data_plane/"
    "KServe 0.10 docs, Data Plane V1"
        "https://kserve.github.io/website/0.10/modelserving/data_plane/v1_protocol/"
    "KServe 0.10 docs, Control Plane" "https://kserve.github.io/website/0.10/modelserving/control_plane/"
    "KServe 0.10 docs, Serving Runtimes"
        "https://kserve.github.io/website/0.10/modelserving/servingruntimes/"
    "KServe docs, Serving Runtimes"
        "https://kserve.github.io/website/docs/concepts/resources/servingruntime"
    "KServe docs, Data Plane" "https://kserve.github.io/website/docs/concepts/architecture/data-plane"
    "KServe docs, Storage" "https://kserve.github.io/website/docs/model-serving/storage/overview"
    "kserve/kserve, pkg/" "https://github.com/kserve/kserve/blob/master/pkg/"
    "Kthena blog, A Deep Dive of ModelServing"
        "https://kthena.volcano.sh/blog/modelserving-blog-post"
    "volcano-sh/kthena @3cc0572, pkg/" "https://github.com/volcano-sh/kthena/blob/3cc0572/pkg/"
    "Kueue docs, Cluster Queue" "https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/"
    "Kueue docs, Local Queue" "https://kueue.sigs.k8s.io/docs/concepts/local_queue/"
    "Kubernetes docs, Kubernetes API Concepts"
        "https://kubernetes.io/docs/reference/using-api/api-concepts/"
    "Kubernetes docs, CustomResourceDefinitions"
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/"
    "Kubernetes docs, Objects In Kubernetes"
        "https://kubernetes.io/docs/concepts/overview/working-with-objects/"
    "Kubernetes docs, Object Names and IDs"
        "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"
    "Kubernetes docs, Labels and Selectors"
        "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/"
    "Kubernetes docs, Deployments"
        "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/"
    "Kubernetes docs, Schedule GPUs"
        "https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/"
    "Kubernetes docs, Good practices for Kubernetes Secrets"
        "https://kubernetes.io/docs/concepts/security/secrets-good-practices/"
    "Kubernetes docs, Quantity" "https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#Quantity"
    "kubernetes/kubernetes v1.35, pkg/"
        "https://github.com/kubernetes/kubernetes/blob/release-1.35/pkg/"
    "kubernetes/kubernetes v1.35, plugin/"
        "https://github.com/kubernetes/kubernetes/blob/release-1.35/plugin/"
    "sigs.k8s.io/yaml" "https://pkg.go.dev/sigs.k8s.io/yaml"
    "YAML 1.2.2" "https://yaml.org/spec/1.2.2/"
    "YAML 1.1, Boolean" "https://yaml.org/type/bool.html"
    "Helm docs, Chart Template Guide" "https://helm.sh/docs/chart_template_guide/"
    "Kustomize docs, kustomize build"
        "https://kubectl.docs.kubernetes.io/references/kustomize/cmd/build/"
    "Kustomize docs, kustomization.yaml"
        "https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/"
    "Kubernetes docs, Custom Resources"
        "https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/custom-resources/"
    "Kubernetes docs, Define a Command and Arguments for a Container"
        "https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/"
    "Kubernetes docs, Service, Environment variables"
        "https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables"
    "ome-projects/ome, pull requests 771 and 804" "https://github.com/ome-projects/ome/pulls"
    "ome-projects/ome, pull request 647" "https://github.com/ome-projects/ome/pull/647"
    "GNU gettext manual, envsubst"
        "https://www.gnu.org/software/gettext/manual/html_node/envsubst-Invocation.html"
    "Helm docs, helm template" "https://helm.sh/docs/helm/helm_template/"
    "OpenShift docs, Using templates"
        "https://docs.openshift.com/container-platform/latest/openshift_images/using-templates.html"
    "Kustomize docs, Bases and overlays"
        "https://kubernetes.io/docs/tasks/manage-kubernetes-objects/kustomization/#bases-and-overlays"
    "vllm/" "https://github.com/vllm-project/vllm/blob/v0.11.0/vllm/"
    "tensorrt_llm/" "https://github.com/NVIDIA/TensorRT-LLM/blob/v1.1.0/tensorrt_llm/"
    "vLLM docs, Server Arguments" "https://docs.vllm.ai/en/latest/configuration/serve_args.html"
    "sglang/" "https://github.com/sgl-project/sglang/blob/v0.5.5/python/sglang/"
    "NCCL docs, Troubleshooting, Shared memory"
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory"
    "vLLM docs, Using Docker, --ipc=host or --shm-size"
        "https://docs.vllm.ai/en/latest/deployment/docker.html"
    "NVIDIA k8s-device-plugin, README, Shared Access to GPUs, failRequestsGreaterThanOne"
        "https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus"
    "Kthena, pkg/" "https://github.com/volcano-sh/kthena/blob/main/pkg/"
    "the CRDs and API types of the releases"
        "https://github.com/sgl-project/ome/tree/main/config/crd/full"
    "Hugging Face docs, Gated models" "https://huggingface.co/docs/hub/models-gated"
    "Hugging Face docs, Transformers, Configuration"
        "https://huggingface.co/docs/transformers/main_classes/configuration"
    "vLLM docs, Engine Arguments" "https://docs.vllm.ai/en/latest/configuration/engine_args.html"
    "SGLang docs, Server Arguments"
        "https://docs.sglang.ai/advanced_features/server_arguments.html"
};

/// The addresses of the parts of a citation, each once, in their order. A page of this repository
/// (`docs/…`) has none.
pub fn addresses(citation: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in citation.trim_end_matches('.').split("; ") {
        if let Some(address) = address(part)
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

/// The address of one part.
fn address(part: &str) -> Option<String> {
    let document = DOCUMENTS
        .iter()
        .filter(|document| part.starts_with(document.name))
        // Titles begin alike: `Data Plane` is also the beginning of `Data Plane V1`.
        .max_by_key(|document| document.name.len())?;
    let mut address = document.address.to_owned();
    if document.name.ends_with('/') {
        let path = &part[document.name.len()..];
        // A function behind the path is no part of the address.
        address.push_str(path.split_once(", ").map_or(path, |(path, _)| path));
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::{DOCUMENTS, addresses};
    use crate::diag::CODES;

    #[test]
    fn a_source_with_a_function_links_to_its_file() {
        assert_eq!(
            addresses("docs/limits.md; pkg/runtimeselector/scorer.go, CalculateScore."),
            ["https://github.com/sgl-project/ome/blob/v0.1.5/pkg/runtimeselector/scorer.go"]
        );
    }

    /// A part of a source is a page of this repository or has an address, and no document is left
    /// over.
    #[test]
    fn every_source_of_a_code_can_be_opened() {
        let parts: Vec<&str> = CODES
            .iter()
            .flat_map(|doc| doc.entry().source.trim_end_matches('.').split("; "))
            .collect();
        let closed: Vec<&&str> = parts
            .iter()
            .filter(|part| !part.starts_with("docs/") && addresses(part).is_empty())
            .collect();
        assert!(closed.is_empty(), "{closed:?}");
        for document in DOCUMENTS {
            let used = parts.iter().any(|part| part.starts_with(document.name));
            assert!(used, "{} is not cited", document.name);
        }
    }
}

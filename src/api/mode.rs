//! Deployment modes of components, and their names.

/// How a component is deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeploymentMode {
    /// A Deployment.
    RawDeployment,
    /// A Knative Service.
    Serverless,
    /// A LeaderWorkerSet.
    MultiNode,
    /// RayClusters with vLLM.
    MultiNodeRayVllm,
    /// No workload: the model is deployed elsewhere.
    VirtualDeployment,
    /// No workload: ModelMesh deploys the model (KServe).
    ModelMesh,
    /// An InferenceReplica, whose pods OME makes itself.
    OmeNative,
}

impl DeploymentMode {
    /// Returns the annotation value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RawDeployment => "RawDeployment",
            Self::Serverless => "Serverless",
            Self::MultiNode => "MultiNode",
            Self::MultiNodeRayVllm => "MultiNodeRayVLLM",
            Self::VirtualDeployment => "VirtualDeployment",
            Self::ModelMesh => "ModelMesh",
            Self::OmeNative => "OMENative",
        }
    }

    /// The annotation that requests a mode.
    pub const ANNOTATION: &str = "ome.io/deploymentMode";

    /// Returns the mode for an annotation value; `None` for `PDDisaggregated` and any other value.
    pub fn from_annotation(text: &str) -> Option<Self> {
        [
            Self::RawDeployment,
            Self::Serverless,
            Self::MultiNode,
            Self::MultiNodeRayVllm,
            Self::VirtualDeployment,
        ]
        .into_iter()
        .find(|mode| mode.as_str() == text)
    }
}

//! Kinds of other projects that become pods without saying which.

/// Kinds whose operators make pods of what the object names, a model, a runtime or a preset, by group: how
/// many there are, and with which devices, is not in the object.
///
/// Sources: the CRDs of Kubeflow Trainer, NIM operator, production-stack, llmaz, KAITO, KubeAI, Seldon
/// Core, KServe (the router of a graph), `AIBrix`, Dynamo, Arks, Modelplane, Foundry Local, `GPUStack`,
/// Ollama operator, Llama Stack operator, Run:ai, Yatai and the inference operator of SageMaker
/// `HyperPod`.
pub static OPERATED: &[(&str, &[&str])] = &[
    ("serving.kserve.io", &["InferenceGraph"]),
    ("trainer.kubeflow.org", &["TrainJob", "OptimizationJob"]),
    (
        "apps.nvidia.com",
        &[
            "NIMService",
            "NIMPipeline",
            "NIMCache",
            "NIMBuild",
            "NemoCustomizer",
            "NemoDatastore",
            "NemoEntitystore",
            "NemoEvaluator",
            "NemoGuardrail",
        ],
    ),
    ("production-stack.vllm.ai", &["VLLMRuntime", "VLLMRouter", "CacheServer"]),
    ("inference.llmaz.io", &["Playground", "Service"]),
    ("kaito.sh", &["InferenceSet", "MultiRoleInference", "RAGEngine"]),
    ("kubeai.org", &["Model"]),
    ("machinelearning.seldon.io", &["SeldonDeployment"]),
    ("mlops.seldon.io", &["Server", "SeldonRuntime"]),
    ("orchestration.aibrix.ai", &["KVCache"]),
    ("nvidia.com", &["DynamoComponentDeployment", "DynamoGraphDeploymentRequest"]),
    ("arks.ai", &["ArksApplication", "ArksDisaggregatedApplication", "ArksModel"]),
    ("modelplane.ai", &["ModelDeployment"]),
    ("foundrylocal.azure.com", &["ModelDeployment"]),
    ("worker.gpustack.ai", &["ModelDeployment"]),
    ("ollama.ayaka.io", &["Model"]),
    ("llamastack.io", &["LlamaStackDistribution"]),
    ("run.ai", &["InferenceWorkload", "TrainingWorkload", "InteractiveWorkload"]),
    ("serving.yatai.ai", &["BentoDeployment"]),
    ("inference.sagemaker.aws.amazon.com", &["InferenceEndpointConfig", "JumpStartModel"]),
];

/// Whether an operator makes pods of objects of the kind that are not counted.
pub fn makes_pods(group: &str, kind: &str) -> bool {
    OPERATED.iter().any(|(name, kinds)| *name == group && kinds.contains(&kind))
}

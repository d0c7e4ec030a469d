//! The one list of all codes: findings, errors of a service, reasons of rejected candidates, notes
//! on a decision.
//!
//! `ome code CODE` and the reference page are made of it. A code is stable: it is never renamed and
//! never means something else.

use super::{Entry, Severity};

/// What kind of statement a code makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A finding about input, catalog or output; may also be the error of a service.
    Finding,
    /// Why a candidate was rejected.
    Reason,
    /// A remark on a decision or a candidate.
    Note,
}

/// What a code means.
#[derive(Clone, Copy, Debug)]
pub struct CodeDoc {
    /// Kebab-case identifier.
    pub id: &'static str,
    /// Kind of statement.
    pub topic: Topic,
    /// Default severity; `Info` for reasons and notes.
    pub severity: Severity,
    /// One sentence: when it is reported.
    pub summary: &'static str,
    /// The entry of the reference, `codes/CODE.txt`.
    text: &'static str,
}

impl CodeDoc {
    /// Why it matters, an example, what to do and the source.
    pub fn entry(&self) -> Entry<'static> {
        Entry::read(self.text)
    }
}

macro_rules! codes {
    ($($variant:ident $id:literal $topic:ident $severity:ident $summary:literal)*) => {
        /// A stable identifier of a finding, reason or note.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each is documented by its row in CODES")]
        pub enum Code { $($variant,)* }

        /// Every code with its documentation, in declaration order.
        pub static CODES: &[CodeDoc] = &[$(CodeDoc {
            id: $id, topic: Topic::$topic, severity: Severity::$severity, summary: $summary,
            // A code without an entry does not compile.
            text: include_str!(concat!("codes/", $id, ".txt")),
        },)*];

        /// Every code, in declaration order.
        static ALL: &[Code] = &[$(Code::$variant,)*];
    };
}

impl Code {
    /// The finding with this identifier.
    pub fn finding(id: &str) -> Option<Self> {
        ALL.iter().copied().find(|code| code.doc().topic == Topic::Finding && code.doc().id == id)
    }

    /// Its documentation.
    pub fn doc(self) -> &'static CodeDoc {
        // The macro makes both from the same rows, so the places agree.
        &CODES[self as usize]
    }

    /// Its kebab-case identifier.
    pub fn as_str(self) -> &'static str {
        self.doc().id
    }
}

// variant, id, topic, severity, when
codes! {
    YamlSyntax "yaml-syntax" Finding Error "the text is not YAML"
    NotUtf8 "not-utf8" Finding Error "the file holds bytes that are not UTF-8"
    DuplicateKey "duplicate-key" Finding Error "a mapping holds one key twice"
    UndefinedAlias "undefined-alias" Finding Error
        "an alias names an anchor that the document does not have before it"
    AliasCycle "alias-cycle" Finding Error "an alias is inside the value of its own anchor"
    ExpansionLimit "expansion-limit" Finding Error
        "aliases and merge keys expand to more nodes than the limit"
    FileSizeLimit "file-size-limit" Finding Error "the file is larger than the limit"
    DepthLimit "depth-limit" Finding Error "values are nested deeper than the limit"
    NodeLimit "node-limit" Finding Error "the document has more nodes than the limit"
    AmbiguousScalar "ambiguous-scalar" Finding Warning
        "kubectl, kustomize and readers of YAML 1.2 do not all read the scalar alike"
    NotKubernetes "not-kubernetes" Finding Info "the document is not a Kubernetes object"
    NoEffect "no-effect" Finding Warning "the field has no effect in the mode of the service"
    KindNotRead "kind-not-read" Finding Info "nothing is made of objects of this kind"
    DevicesNotCounted "devices-not-counted" Finding Warning
        "an object requests devices, and no answer counts them"
    NewerThanKnown "newer-than-known" Finding Warning "no known release has the kind or field"
    OtherKind "other-kind" Finding Info "the API group of the object is not supported"
    UnknownKind "unknown-kind" Finding Error "the kind does not exist in its API group"
    FileNotRead "file-not-read" Finding Error
        "the file was not read: a device, a FIFO that is never written, no permission, a link that leads nowhere or out of the named paths"
    HelmTemplate "helm-template" Finding Info
        "the directory holds Helm templates, which are not YAML before they are rendered"
    FileInTheWay "file-in-the-way" Finding Error
        "a file that ome did not write has a name that is needed, or replacing it would part its hard links"
    FileEdited "file-edited" Finding Error "a file that ome wrote was edited by hand since"
    NothingRemoved "nothing-removed" Finding Error
        "files of earlier runs stay, because the input was not read as a whole"
    KustomizeFailed "kustomize-failed" Finding Error "the tree of `-k` was not built"
    NotDeployed "not-deployed" Finding Info
        "a manifest beside a kustomization is listed by none, and was not read"
    CopiesLeftOut "copies-left-out" Finding Info
        "findings about files of tests, old documentation or vendored projects are counted, not shown"
    KustomizeNotBuilt "kustomize-not-built" Finding Info
        "the directory holds a kustomization, whose files were read one by one"
    EmptyInput "empty-input" Finding Error "the input holds no object at all"
    NoFiles "no-files" Finding Error "nothing to read was found"
    BaseNotRead "base-not-read" Finding Error
        "the base of a diff was not read: it is neither a path nor a revision, or git was not found"
    ImmutableField "immutable-field" Finding Warning
        "the change touches a field that may not change once the object exists"
    FieldOfAnotherRelease "field-of-another-release" Finding Warning
        "the selected release does not have a field or a kind of another release"
    ReleaseNewer "release-newer" Finding Warning "the cluster runs a newer release"
    RuleNotRead "rule-not-read" Finding Warning "a rule of the release is not known whole"
    UnknownField "unknown-field" Finding Error "the key is not a field of the object"
    InvalidType "invalid-type" Finding Error "the value is of the wrong type"
    RequiredField "required-field" Finding Error "a required field is absent"
    InvalidValue "invalid-value" Finding Error "the value is outside its set or range"
    InvalidName "invalid-name" Finding Error
        "the name, namespace, label or annotation is not one Kubernetes accepts"
    InvalidQuantity "invalid-quantity" Finding Error
        "the value is not a Kubernetes quantity, or outside the range of one"
    NotCounted "not-counted" Finding Warning
        "pods or GPUs of a component are not counted: a number they follow from is outside its range"
    MissingName "missing-name" Finding Error "the object has no metadata.name"
    Placeholders "placeholders" Finding Info "values of the file are not filled in yet, so that what holds them is not planned"
    Variants "variants" Finding Info "objects have a definition in several directories, and each service uses the nearest ones"
    DuplicateObject "duplicate-object" Finding Error "an object with the same kind, namespace and name is defined twice"
    NamespaceOnClusterObject "namespace-on-cluster-object" Finding Warning
        "a cluster-scoped kind carries metadata.namespace"
    OverridesBuiltin "overrides-builtin" Finding Info
        "a user's object replaces a built-in one of the same kind and name"
    BuiltInUsed "built-in-used" Finding Info
        "the input names a built-in runtime or accelerator class that it does not define"
    DeprecatedField "deprecated-field" Finding Warning "the field still works but is deprecated"
    ConflictingFields "conflicting-fields" Finding Error "a field and its deprecated spelling have different values"
    InvalidVersion "invalid-version" Finding Error
        "the version is not numbers and dots, with an optional suffix"
    SimilarName "similar-name" Finding Info
        "a framework name that no other object uses, close to one of the catalog"
    UnknownQuantization "unknown-quantization" Finding Info
        "the quantization is none of fp8, fbgemm_fp8, int4"
    InvalidPriority "invalid-priority" Finding Error "the priority is not above 0"
    PriorityWithoutAutoSelect "priority-without-auto-select" Finding Warning
        "a priority on an entry whose autoSelect is absent or false"
    UnknownProtocol "unknown-protocol" Finding Warning
        "the protocol is none of openAI, cohere, openInference-v1, openInference-v2"
    InvalidSize "invalid-size" Finding Error
        "the size is not a number with an optional suffix K, M, B or T"
    OneSidedRange "one-sided-range" Finding Warning "only one of modelSizeRange.min and max is set"
    SizeRangeAndName "size-range-and-name" Finding Warning
        "the runtime's name states a size that its modelSizeRange is far from"
    MissingImage "missing-image" Finding Error "a container has no image"
    RequestsExceedLimits "requests-exceed-limits" Finding Error
        "a resource's request is greater than its limit"
    MinReplicasRaised "min-replicas-raised" Finding Warning "minReplicas 0 was raised to 1"
    ReplicaRange "replica-range" Finding Error "maxReplicas is below minReplicas"
    MetricNeedsServerless "metric-needs-serverless" Finding Error
        "the metric concurrency or rps exists in Serverless mode only"
    InlineSecret "inline-secret" Finding Warning "a secret is written in the file"
    MountWithoutVolume "mount-without-volume" Finding Error
        "a volumeMount names a volume that the pod does not have"
    VolumeTwoSources "volume-two-sources" Finding Error "one volume has two sources"
    WorkerWithoutContainer "worker-without-container" Finding Error
        "the worker has neither a runner nor containers"
    ShorthandResources "shorthand-resources" Finding Info
        "`router.resources` was read as the router container's"
    WorkerSizeAbsent "worker-size-absent" Finding Warning "the worker has no size"
    DecoderWithoutEngine "decoder-without-engine" Finding Error
        "the service has a decoder and no engine"
    UnknownVariable "unknown-variable" Finding Error
        "a template variable in a container maps to no field of the service's metadata"
    VariableOutsideContainer "variable-outside-container" Finding Warning
        "a template variable outside the engine container stays as it is"
    SamePriority "same-priority" Finding Error
        "two runtimes of one scope can match one model with equal priority"
    AmbiguousAutoSelection "ambiguous-auto-selection" Finding Warning
        "two runtimes of one scope can match one model and neither sets a priority"
    DifferentPriorities "different-priorities" Finding Error
        "versions of one format in one runtime have different priorities"
    AutoselectOverlap "autoselect-overlap" Finding Info
        "a group of auto-selectable runtimes can match one model"
    UnusedAllow "unused-allow" Finding Warning "a comment `# ome: allow CODE` allows nothing"
    UnknownSetting "unknown-setting" Finding Error "the key of ome.toml is not a setting"
    InvalidSetting "invalid-setting" Finding Error "the value of a setting is not one it accepts"
    PayloadJsonSyntax "payload-json-syntax" Finding Error "the payload is not JSON"
    PayloadMissingField "payload-missing-field" Finding Error
        "a required member of the payload is absent"
    PayloadType "payload-type" Finding Error "a member of the payload is of another JSON type"
    PayloadShape "payload-shape" Finding Error
        "a dimension is not a whole number that an unsigned 64-bit integer holds"
    PayloadDatatype "payload-datatype" Finding Error
        "the datatype is none of the thirteen of the protocol"
    PayloadElementCount "payload-element-count" Finding Error
        "the number or nesting of the elements does not fit the shape"
    PayloadValueRange "payload-value-range" Finding Error
        "an element is outside the range of its datatype"
    PayloadFp16Json "payload-fp16-json" Finding Warning "16-bit floats are written as JSON numbers"
    PayloadParameterType "payload-parameter-type" Finding Error
        "the protocol has no parameter of this kind"
    PayloadIdMismatch "payload-id-mismatch" Finding Error
        "the response does not return the id of its request"
    PayloadInstancesMissing "payload-instances-missing" Finding Info "a V1 request has no instances"
    PayloadPlatformTypo "payload-platform-typo" Finding Warning
        "the platform is written as in a known misprint"
    PayloadPlatformUnknown "payload-platform-unknown" Finding Info
        "the platform is none of the seven of the document"
    PayloadRawAndContents "payload-raw-and-contents" Finding Error
        "the message has raw contents and typed contents"
    PayloadRawCount "payload-raw-count" Finding Error "raw entries and tensors differ in number"
    PayloadRawSize "payload-raw-size" Finding Error "the raw bytes do not fit shape and datatype"
    PayloadFp16Contents "payload-fp16-contents" Finding Error "an FP16 tensor has typed contents"
    PayloadContentsField "payload-contents-field" Finding Error
        "values are in the contents field of another datatype"
    DuplicateName "duplicate-name" Finding Error "two roles have the same name"
    GangNeedsVolcano "gang-needs-volcano" Finding Warning
        "the scheduler is not volcano, so no PodGroup is created"
    GpuLimitsOnly "gpu-limits-only" Finding Warning "a GPU is in the limits and not in the requests"
    RoleWithoutGangMinimum "role-without-gang-minimum" Finding Info
        "minRoleReplicas leaves the role out"
    GangUnknownRole "gang-unknown-role" Finding Error
        "minRoleReplicas names a role that does not exist"
    FullOutage "full-outage" Finding Warning
        "the only group is rebuilt, and nothing serves until it is ready"
    RolloutAllProtected "rollout-all-protected" Finding Info "the partition protects every group"
    GroupLevelRollout "group-level-rollout" Finding Info
        "only some roles changed, and the others restart too"
    RoleScalingOnePass "role-scaling-one-pass" Finding Info
        "all groups change their role replicas in one pass"
    TooManyPods "too-many-pods" Finding Warning
        "the ModelServing has more pods than are expanded or simulated"
    WorkloadUnsupported "workload-unsupported" Finding Warning
        "a property of the service has no place in a ModelServing"
    KthenaDefect "kthena-defect" Finding Warning
        "the controller of Kthena has a known defect here"
    NotModelConfig "not-model-config" Finding Error "the file is not the config.json of a model"
    ParameterCountUnknown "parameter-count-unknown" Finding Error
        "the parameters of the model cannot be counted"
    ParameterCountPartial "parameter-count-partial" Finding Warning
        "a part of the model is not counted"
    ParameterCountDiffers "parameter-count-differs" Finding Warning
        "config.json and the safetensors index lead to different parameter counts"
    ImportConflict "import-conflict" Finding Warning
        "the manifest of the model and its config.json differ"
    ImportRefused "import-refused" Finding Error
        "values cannot be written into the file without other changes"
    HubUnreachable "hub-unreachable" Finding Error "the Hub gives no usable answer"
    HubRefused "hub-refused" Finding Error "the Hub does not allow access to the repository"
    HubNotFound "hub-not-found" Finding Error "there is no such repository, revision or config.json"

    ModelNotFound "model-not-found" Finding Error "the model of the service is not loaded"
    ModelDisabled "model-disabled" Finding Error "the model of the service is disabled"
    ModelIncomplete "model-incomplete" Finding Warning
        "the model does not set modelFormat.name, so no runtime can be selected"
    ModelCompleted "model-completed" Finding Info
        "fields that the manifest of the model leaves out were completed"
    ModelAssumed "model-assumed" Finding Warning
        "the decision depends on a value of the model that only one source states"
    ContextExceedsMemory "context-exceeds-memory" Finding Warning
        "not even one request of full length fits beside the weights"
    ConfigsUnused "configs-unused" Finding Warning
        "the directory of `--model-configs` has the config.json of no model"
    ContextExceedsModel "context-exceeds-model" Finding Warning
        "the context that is set is longer than the model allows"
    HeadsNotDivisible "heads-not-divisible" Finding Warning
        "the tensor parallelism does not divide the heads of the model"
    ArgumentForm "argument-form" Finding Warning
        "the engine cannot read an argument as it is written"
    ShmTooSmall "shm-too-small" Finding Info
        "several ranks share a /dev/shm of 64 MiB"
    EngineConfigNotRead "engine-config-not-read" Finding Info
        "a file with settings of the engine is not in the input"
    EngineEnvClash "engine-env-clash" Finding Warning
        "a Service sets a variable that the engine reads as its own"
    TwoVendors "two-vendors" Finding Warning
        "a container requests devices of two vendors"
    SharedDevices "shared-devices" Finding Warning
        "a pod requests several shares of shared devices"
    RuntimeNotFound "runtime-not-found" Finding Error
        "the runtime named by the service is not loaded"
    RuntimeDisabled "runtime-disabled" Finding Error "the runtime named by the service is disabled"
    RuntimeIncompatible "runtime-incompatible" Finding Error
        "the runtime named by the service cannot serve the model"
    NoCompatibleRuntime "no-compatible-runtime" Finding Error
        "no runtime can serve the model of the service"
    AcceleratorNotFound "accelerator-not-found" Finding Error
        "the accelerator class named is not loaded"
    KueueNotFound "kueue-not-found" Finding Warning
        "a queue or flavor of Kueue that another one names is not loaded"
    ServiceNotFound "service-not-found" Finding Warning
        "an object belongs to a service that is not loaded"
    RouteTargetNotFound "route-target-not-found" Finding Warning "a route leads to nothing loaded"
    NoCompatibleAccelerator "no-compatible-accelerator" Finding Error
        "no accelerator class meets the requirements"
    WouldPanic "would-panic" Finding Error "the controller would crash here"
    InvalidInput "invalid-input" Finding Error "the service cannot be planned as written"
    AcceleratorNotConsidered "accelerator-not-considered" Finding Info
        "accelerator classes were not considered"
    AvailabilityNotChecked "availability-not-checked" Finding Info
        "whether nodes of the class are there was not checked"
    DivisibleResourceSkipped "divisible-resource-skipped" Finding Info
        "a resource of the class is a share of a device and is not requested"
    NoPrice "no-price" Finding Info "a class has no price, and the selection compares prices"
    NoAcceleratorConfiguration "no-accelerator-configuration" Finding Info
        "the runtime configures accelerators, but not the chosen class"
    PreferredNotEligible "preferred-not-eligible" Finding Warning
        "no preferred class is eligible; another class was chosen"
    CostThresholdExceeded "cost-threshold-exceeded" Finding Warning
        "no class costs less than the threshold; the cheapest was taken"
    GpuCountMismatch "gpu-count-mismatch" Finding Warning
        "the pod requests another number of GPUs than its parallelism uses"
    GpuMisfit "gpu-misfit" Finding Warning "the configured GPUs are too few for the model"
    MultiNodeNeeded "multi-node-needed" Finding Warning
        "a replica needs more GPUs than one node has"
    ParallelismExceedsNode "parallelism-exceeds-node" Finding Warning
        "one pod requests more accelerators than any node of its class has"
    AcceleratorArgsSkipped "accelerator-args-skipped" Finding Info
        "arguments of the accelerator are not applied because the service sets a command"
    NoModel "no-model" Finding Warning
        "the service names a runtime and no model: format, size and MODEL_PATH are unchecked"
    DuplicateFlag "duplicate-flag" Finding Warning "a flag is more than once in the arguments"
    ResourceRaised "resource-raised" Finding Warning
        "a value of the service was raised to the accelerator's"
    NodeSelectorConflict "node-selector-conflict" Finding Warning
        "runtime and accelerator class disagree on a node selector key"
    NodeSelectorEscape "node-selector-escape" Finding Warning
        "the service overrides a node selector key of the accelerator class"
    TooManyAffinityTerms "too-many-affinity-terms" Finding Warning
        "more than 32 node selector terms after the merge"
    RouterRequestsGpu "router-requests-gpu" Finding Warning "a container of the router requests a GPU"
    RouterCpuNodes "router-cpu-nodes" Finding Info
        "how many nodes without accelerators a router without node selector may run on"
    NoKueueFlavor "no-kueue-flavor" Finding Warning
        "no flavor of the queue fits the pods, or the queue admits nothing"
    KueueNotChecked "kueue-not-checked" Finding Info "a queue is named and no Kueue object was read"
    LooseFlavor "loose-flavor" Finding Warning
        "the flavor has none of the labels that the pods select nodes by"
    QuotaTooSmall "quota-too-small" Finding Warning
        "the quota of the queue admits fewer replicas than the component starts with"
    KueueConflict "kueue-conflict" Finding Warning
        "an AcceleratorClass and its Kueue flavor disagree, and neither may follow the other"
    NotExpressible "not-expressible" Finding Error
        "the node selector of the class cannot be expressed with nodeLabels"
    TooManyLabels "too-many-labels" Finding Error
        "the class selects nodes by more labels than a flavor can have"
    UnknownStrategy "unknown-strategy" Finding Error "the selection strategy is not performance, cost or balanced"
    FieldAlias "field-alias" Finding Warning "another spelling of a field was read"
    UnitlessMemory "unitless-memory" Finding Warning "memory without a unit was read as GiB"
    MatchesEveryNode "matches-every-node" Finding Warning
        "the class describes no nodes and matches all of them"
    MatchesNoNode "matches-no-node" Finding Warning "a node selector term that no node can match"
    NodeInTwoClasses "node-in-two-classes" Finding Info
        "two classes claim one node: its accelerators are counted in both"
    UnknownTier "unknown-tier" Finding Warning "the cost tier is none of low, medium, high"
    InvalidPciId "invalid-pci-id" Finding Error "a PCI id is not four hexadecimal digits"
    PciVendorMismatch "pci-vendor-mismatch" Finding Warning
        "the PCI vendor id belongs to another vendor"
    UnknownCapability "unknown-capability" Finding Warning "an unknown capability"
    DeviceIdMismatch "device-id-mismatch" Finding Warning "a device id belongs to another product"
    Tf32Figure "tf32-figure" Finding Info "the fp32 figure is the one of TF32"
    SparseFigure "sparse-figure" Finding Info
        "a figure is the one with sparsity, twice the dense one"
    CountedPerDie "counted-per-die" Finding Info "the schedulable device is one die of the board"
    CatalogueMismatch "catalogue-mismatch" Finding Warning
        "a capability contradicts the facts about the product"
    CatalogueUnknown "catalogue-unknown" Finding Info "the product of the class is unknown"
    UnknownProduct "unknown-product" Finding Warning
        "nodes or a flavor name an accelerator product that is unknown"
    UnknownModel "unknown-model" Finding Warning
        "values name a model or a variant of an accelerator that is unknown"
    NodesDiffer "nodes-differ" Finding Warning
        "nodes of one product, or of one class, report different devices"
    TierBoundary "tier-boundary" Finding Warning
        "a memory bound is slightly above what the nodes it should include report"
    ClassDrift "class-drift" Finding Warning
        "a class written by hand differs from the labels of its nodes"
    DiscoveryOverridden "discovery-overridden" Finding Info
        "a class written by hand covers a product that was discovered"
    UnreadableLabel "unreadable-label" Finding Warning
        "the value of an accelerator label is not in the form that its tool writes"
    DeviceCountDiffers "device-count-differs" Finding Warning
        "a node is labeled with another number of devices than it offers"
    NoDevicePlugin "no-device-plugin" Finding Info
        "labels name an accelerator and no node offers a resource for it"
    ScoreRange "score-range" Finding Error "a preference score is outside 0..100"
    InvalidCondition "invalid-condition" Finding Error
        "the value of a preference condition does not parse"
    UnknownCondition "unknown-condition" Finding Error "an unknown preference condition"
    CommandInAcceleratorRunner "command-in-accelerator-runner" Finding Error
        "a configuration for an accelerator sets a command"
    OperatorNotKubernetes "operator-not-kubernetes" Finding Warning
        "an operator or a value that Kubernetes does not have"
    NoRuntimeForModel "no-runtime-for-model" Finding Warning
        "no loaded runtime can serve the loaded model"
    RuntimeForNoModel "runtime-for-no-model" Finding Info "the runtime serves no loaded model"
    ControllerDiffers "controller-differs" Finding Info
        "the controller would decide differently from the documents"
    MultiModelRuntime "multi-model-runtime" Finding Warning
        "a runtime for many models at once is named for a single one"
    ModelmeshOnlyField "modelmesh-only-field" Finding Info
        "the chosen runtime sets a field that only ModelMesh reads"
    MetricNeedsRaw "metric-needs-raw" Finding Error
        "the metric cpu or memory exists in RawDeployment mode only"
    NeedsKnativeActivator "needs-knative-activator" Finding Info
        "the component scales to zero and the activator of Knative brings it back"
    NeedsClusterStatus "needs-cluster-status" Finding Info
        "the effect of the field depends on the state of the cluster, which is unknown offline"
    ExplainV1Only "explain-v1-only" Finding Warning
        "an explainer with a protocol that has no explain call"
    AlsoServesV2 "also-serves-v2" Finding Info "the runtime of a v1 service also serves v2"
    GrpcPortMissing "grpc-port-missing" Finding Warning
        "protocol grpc-v2 is requested and no port is named h2c or grpc"
    V2Probes "v2-probes" Finding Info
        "the server uses protocol v2, and its container has no readiness or liveness probe"
    ProbeTwoHandlers "probe-two-handlers" Finding Warning "a merged probe has two handlers"
    StorageUriScheme "storage-uri-scheme" Finding Error
        "the scheme of the storageUri is not supported"
    PreferMajorVersion "prefer-major-version" Finding Info
        "a format version has more than a major part"
    PredictorsConfigIgnored "predictors-config-ignored" Finding Warning
        "the ConfigMap has the key `predictors`"
    RemovedField "removed-field" Finding Error "the field was removed from the API"
    CredentialsUnresolved "credentials-unresolved" Finding Info
        "a ServiceAccount, Secret or CA bundle that a download needs was not read"
    ReferenceNotRead "reference-not-read" Finding Info
        "an object that a service refers to was not read"
    ClassNotRead "class-not-read" Finding Info
        "a PriorityClass, RuntimeClass or StorageClass that pods name is not in the input"
    TemplateNotProcessed "template-not-processed" Finding Warning
        "the chosen runtime is an object of an OpenShift Template"
    PresetsNotRead "presets-not-read" Finding Error
        "a configuration that KServe ships and merges into the service was not read"
    CanaryRuntime "canary-runtime" Finding Warning
        "a variant sets another runtime or format than the stable predictor"
    ConversionLoss "conversion-loss" Finding Warning
        "a field has no equivalent in the other API, or another meaning there"
    NonAsciiDash "non-ascii-dash" Finding Warning "an argument begins with a dash that is not ASCII"
    ServerRefuses "server-refuses" Finding Error "the API server would refuse the object"
    OperatorDefect "operator-defect" Finding Warning
        "an object that the operator writes does not work as intended"
    TemplateInvalid "template-invalid" Finding Error "the template cannot be expanded"
    ProtocolAnnotation "protocol-annotation" Finding Info
        "the annotation ome.io/protocol was read as the requested protocol"

    ReasonDisabled "disabled" Reason Info "the runtime is disabled"
    ReasonNoFormats "no-formats" Reason Info "the runtime lists no supported model formats"
    ReasonFormatName "format-name" Reason Info "the model format's name differs"
    ReasonFormatVersion "format-version" Reason Info "the model format's version does not match"
    ReasonFrameworkName "framework-name" Reason Info "the framework's name differs"
    ReasonFrameworkVersion "framework-version" Reason Info "the framework's version does not match"
    ReasonArchitecture "architecture" Reason Info "the architecture differs"
    ReasonQuantization "quantization" Reason Info "the quantization differs"
    ReasonSizeRange "size-range" Reason Info "the model's size is outside the runtime's range"
    ReasonAutoSelectOff "auto-select-off" Reason Info "automatic selection is off"
    ReasonProtocol "protocol" Reason Info "the runtime does not list the requested protocol"
    ReasonAccelerator "accelerator" Reason Info
        "the runtime does not list the required accelerator class, or no class meets its requirements"
    ReasonScoreZero "score-zero" Reason Info "the score is not above 0"
    ReasonDeploymentMode "deployment-mode" Reason Info "the components' deployment modes differ"
    ReasonMultiModel "multi-model" Reason Info "the runtime is made for many models at once"
    ReasonMultinodeMismatch "multinode-mismatch" Reason Info
        "one of runtime and service has a workerSpec, the other has none"
    ReasonWrongNamespace "wrong-namespace" Reason Info "the runtime belongs to another namespace"
    ReasonDiffusion "diffusion" Reason Info "the diffusion pipeline does not match"
    ReasonNotListed "not-listed" Reason Info "the runtime does not list the class"
    ReasonExcluded "excluded" Reason Info "the service excludes the class"
    ReasonMinMemory "min-memory" Reason Info
        "the class has too little memory, or its memory is unknown"
    ReasonMaxMemory "max-memory" Reason Info "the class has more memory than allowed"
    ReasonMinCompute "min-compute" Reason Info "the class computes too slowly"
    ReasonMinArchitecture "min-architecture" Reason Info
        "the compute capability is too low, unknown or not comparable"
    ReasonArchitectureFamily "architecture-family" Reason Info
        "the family is not among those allowed"
    ReasonFeature "feature" Reason Info "the class lacks a required feature"
    ReasonMinBandwidth "min-bandwidth" Reason Info "the memory bandwidth is too low or unknown"
    ReasonMinClock "min-clock" Reason Info "the clock speed is too low or unknown"
    ReasonQuantity "quantity" Reason Info
        "the runtime requests another kind of accelerator than the class offers"
    ReasonOutOfNodes "out-of-nodes" Reason Info "no usable node of the class"
    ReasonCost "cost" Reason Info "a replica costs more than the threshold"
    ReasonNodeAffinity "node-affinity" Reason Info
        "labels of the flavor are not those that the pods select nodes by"
    ReasonTaint "taint" Reason Info "a taint of the flavor is not tolerated"
    ReasonQuota "quota" Reason Info "the pods request more than the queue has of the flavor"
    ReasonNotCovered "not-covered" Reason Info
        "no resource group of the queue covers a resource of the pods"

    NoteNotConsulted "not-consulted" Note Info
        "the service names the runtime: autoSelect and priority were not compared"
    NoteShadows "shadows" Note Info "a namespaced runtime hides a cluster one of the same name"
    NoteSizeAloneWouldChoose "size-alone-would-choose" Note Info
        "the closest size range belongs to another runtime"
    NoteOrderNotGuaranteed "order-not-guaranteed" Note Info
        "the documents do not guarantee the order between equals"
    NoteCreationTimestampUnknown "creation-timestamp-unknown" Note Info
        "creation times are unknown offline, so the name decided"
    NoteNewerThanBuiltin "newer-than-builtin" Note Info
        "a user's object counts as newer than a built-in one"
    NoteSizeUnknown "size-unknown" Note Info "the model has no size, so the size range was not checked"
    NoteProtocolUnconstrained "protocol-unconstrained" Note Info "the runtime lists no protocols"
    NoteOutranked "outranked" Note Info "eligible, and another one ranks higher"
}

//! The one list of all codes: findings, errors of a service, reasons of rejected candidates, notes on a decision.
//!
//! `ome code CODE` and the reference page are made of it. A code is stable: it is never renamed and never means
//! something else.

use super::Severity;

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
    /// One sentence: when it is said.
    pub summary: &'static str,
    /// What it leads to and where the rule comes from.
    pub detail: &'static str,
    /// Input that causes it.
    pub example: &'static str,
    /// What to do.
    pub fix: &'static str,
}

macro_rules! codes {
    ($($variant:ident $id:literal $topic:ident $severity:ident $summary:literal $detail:literal $example:literal $fix:literal)*) => {
        /// A stable identifier of a finding, reason or note.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each is documented by its row in CODES")]
        pub enum Code { $($variant,)* }

        /// Every code with its documentation, in declaration order.
        pub static CODES: &[CodeDoc] = &[$(CodeDoc {
            id: $id, topic: Topic::$topic, severity: Severity::$severity, summary: $summary, detail: $detail, example: $example, fix: $fix,
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
        &CODES[self as usize]
    }

    /// Its kebab-case identifier.
    pub fn as_str(self) -> &'static str {
        self.doc().id
    }
}

// variant, id, topic, severity, when, what follows and source, example, fix
codes! {
    YamlSyntax "yaml-syntax" Finding Error "the text is not YAML"
        "The document is left out of the run; the other documents of the file are used."
        "metadata:\n  name: a\n   labels: {}" "correct the indentation or the punctuation at the place shown"
    NotUtf8 "not-utf8" Finding Error "the file holds bytes that are not UTF-8"
        "The file is left out. UTF-16 with a byte order mark is read."
        "name: caf\\xe9" "save the file as UTF-8"
    DuplicateKey "duplicate-key" Finding Error "a mapping holds one key twice"
        "Readers disagree about which value counts; the API server refuses it."
        "name: a\nname: b" "delete one of the two"
    UndefinedAlias "undefined-alias" Finding Error "an alias names an anchor that the document does not have before it"
        "The document is left out." "a: *missing" "define the anchor with `&missing` before the alias"
    AliasCycle "alias-cycle" Finding Error "an alias stands inside the value of its own anchor"
        "The document is left out." "a: &a [*a]" "write the value out"
    ExpansionLimit "expansion-limit" Finding Error "aliases and merge keys expand to more nodes than the limit"
        "The document is left out; `--max-nodes` raises the limit." "a: &a [x, x]\nb: &b [*a, *a]" "write the values out, or raise `--max-nodes`"
    FileSizeLimit "file-size-limit" Finding Error "the file is larger than the limit"
        "The file is left out; the limit is 8 MiB unless `--max-file-size` says otherwise." "a file of 20 MiB" "raise `--max-file-size`, or split the file"
    DepthLimit "depth-limit" Finding Error "values are nested deeper than the limit"
        "The document is left out; the limit is 64 unless `--max-depth` says otherwise." "[[[[…]]]]" "raise `--max-depth`"
    NodeLimit "node-limit" Finding Error "the document has more nodes than the limit"
        "The document is left out; the limit is 1,000,000 unless `--max-nodes` says otherwise." "a list of two million items" "raise `--max-nodes`, or split the document"
    AmbiguousScalar "ambiguous-scalar" Finding Warning "kubectl, kustomize and readers of YAML 1.2 do not all read the scalar alike"
        "The value is used as kubectl reads it." "enabled: on" "quote the word, or write `true`"
    NotKubernetes "not-kubernetes" Finding Info "the document is no Kubernetes object"
        "It is left alone; an error when a file that was named holds nothing else." "replicaCount: 1" "name only files that hold Kubernetes objects"
    OtherKind "other-kind" Finding Info "the object is of a group that nobody here reads"
        "It is left alone; an error when a file that was named holds nothing else." "apiVersion: example.com/v1\nkind: Widget" "name only files that hold objects read here"
    UnknownKind "unknown-kind" Finding Error "the kind does not exist in its API group"
        "The object is left out." "apiVersion: ome.io/v1beta1\nkind: ServingRuntimes" "write the kind offered in the help"
    FileNotRead "file-not-read" Finding Error "the file was not read: a FIFO, a device, no permission, a link that leads nowhere"
        "Info when it was found in a directory, error when it was named." "ome plan -f /dev/zero" "name a regular file"
    HelmTemplate "helm-template" Finding Info "the directory holds Helm templates, which are not YAML before they are rendered"
        "They are left alone." "name: {{ .Release.Name }}" "render the chart first: `helm template … | ome plan -f -`"
    NoFiles "no-files" Finding Error "nothing to read was found"
        "Nothing can be planned." "ome plan -f empty-directory" "name files or directories with `-f`"

    UnknownField "unknown-field" Finding Error "the key is not a field of the object"
        "The API server drops it silently or refuses it (strict validation)." "engineConfig:\n  minReplica: 1" "write the field offered in the help, or delete the key"
    InvalidType "invalid-type" Finding Error "the value is of the wrong type"
        "The API server refuses it." "scaleTarget: 62.5" "write a value of the type named in the message"
    RequiredField "required-field" Finding Error "a required field is absent"
        "The API server refuses the object." "spec: {}" "add the field named in the message"
    InvalidValue "invalid-value" Finding Error "the value is outside its set or range"
        "The API server refuses it." "scaleMetric: gpu" "write one of the accepted values"
    InvalidName "invalid-name" Finding Error "the name, namespace, label or annotation is not one Kubernetes accepts"
        "The API server refuses the object." "name: My_Model" "use lower-case letters, digits, `-` and, where allowed, `.`"
    InvalidQuantity "invalid-quantity" Finding Error "the value is not a Kubernetes quantity, or outside the range of one"
        "The API server refuses it, or stores another value than written." "memory: 8 GB" "write a quantity such as `8Gi` or `500m`"
    MissingName "missing-name" Finding Error "the object has no metadata.name"
        "It cannot be identified and is left out." "metadata: {}" "add `metadata.name`"
    DuplicateObject "duplicate-object" Finding Error "the same kind, namespace and name twice"
        "A cluster keeps the one applied last; here the first is used." "two ClusterServingRuntimes named srt-a" "rename or delete one"
    NamespaceOnClusterObject "namespace-on-cluster-object" Finding Warning "a cluster-scoped kind carries metadata.namespace"
        "The namespace is ignored (S0-001)." "kind: ClusterServingRuntime\nmetadata: {namespace: a}" "delete `metadata.namespace`"
    OverridesBuiltin "overrides-builtin" Finding Info "a user's object replaces a built-in one of the same kind and name"
        "The built-in object is not considered (S0-004)." "a file with ClusterServingRuntime srt-mistral-7b-instruct" "rename the object to keep both"
    DeprecatedField "deprecated-field" Finding Warning "the field still works but is deprecated"
        "It is read as its successor (S0-021, S0-062)." "supportedModelFormats:\n- name: safetensors" "write the successor named in the help"
    ConflictingFields "conflicting-fields" Finding Error "two fields that say the same thing differ"
        "Neither is believed (S0-021)." "name: onnx\nmodelFormat: {name: safetensors}" "delete the deprecated one"
    InvalidVersion "invalid-version" Finding Error "the version is not numbers and dots, with an optional suffix"
        "The first three parts must be numbers (S0-023)." "version: 1.x" "write `1`, `1.0` or `1.0.0`"
    SimilarName "similar-name" Finding Info "a framework name nobody else uses, close to one of the catalog"
        "Names are compared exactly (S0-025)." "name: transformer" "write the name offered in the help if it was meant"
    UnknownQuantization "unknown-quantization" Finding Info "the quantization is none of fp8, fbgemm_fp8, int4"
        "It is compared as text (S0-027)." "quantization: awq" "nothing, if the models say the same"
    InvalidPriority "invalid-priority" Finding Error "the priority is not above 0"
        "The CRD refuses it (S0-029)." "priority: 0" "write a priority of 1 or more"
    PriorityWithoutAutoSelect "priority-without-auto-select" Finding Warning "a priority on an entry whose autoSelect is absent or false"
        "The priority has no effect (S0-029, S0-077)." "priority: 5" "add `autoSelect: true`, or delete the priority"
    UnknownProtocol "unknown-protocol" Finding Warning "the protocol is none of openAI, cohere, openInference-v1, openInference-v2"
        "No service asks for it by default (S0-031)." "protocolVersions: [openai]" "write one of the four names"
    InvalidSize "invalid-size" Finding Error "the size is not a number with an optional suffix K, M, B or T"
        "The documents fix the spelling (S0-032); the controller reads an unparsable size as 0." "modelParameterSize: 8 billion" "write `8B`"
    OneSidedRange "one-sided-range" Finding Warning "only one of modelSizeRange.min and max is set"
        "The documents read the other bound as open (S0-033); the controller v0.1.5 crashes on it." "modelSizeRange: {min: 5B}" "write both bounds"
    MissingImage "missing-image" Finding Error "a container has no image"
        "Nothing can be deployed from it (S0-035)." "runner: {name: ome-container}" "set `image` in the runtime or in the service"
    RequestsExceedLimits "requests-exceed-limits" Finding Error "a resource's request is greater than its limit"
        "The API server refuses the pod (S0-036)." "requests: {cpu: 4}\nlimits: {cpu: 2}" "raise the limit or lower the request"
    MinReplicasRaised "min-replicas-raised" Finding Warning "minReplicas 0 was raised to 1"
        "Only an engine without a decoder, or a router, scales to zero (S0-039, S0-054)." "decoder: {minReplicas: 0}" "write `minReplicas: 1`"
    ReplicaRange "replica-range" Finding Error "maxReplicas is below minReplicas"
        "No autoscaler accepts it (S0-040)." "minReplicas: 3\nmaxReplicas: 1" "raise maxReplicas or lower minReplicas"
    MetricNeedsServerless "metric-needs-serverless" Finding Error "the metric concurrency or rps is only there in Serverless mode"
        "A HorizontalPodAutoscaler has no such resource metric (S0-042)." "scaleMetric: rps" "use cpu or memory, or make the engine Serverless with `minReplicas: 0`"
    MountWithoutVolume "mount-without-volume" Finding Error "a volumeMount names a volume that the pod does not have"
        "The API server refuses the pod (S0-043)." "volumeMounts:\n- {name: dshm, mountPath: /dev/shm}" "add the volume, or delete the mount"
    VolumeTwoSources "volume-two-sources" Finding Error "one volume has two sources"
        "The API server refuses the pod (S0-043)." "- {name: a, emptyDir: {}, hostPath: {path: /a}}" "keep one source"
    WorkerWithoutContainer "worker-without-container" Finding Error "the worker has neither a runner nor containers"
        "No pod can be built from it (S0-048)." "worker: {size: 2}" "add `worker.runner`"
    ShorthandResources "shorthand-resources" Finding Info "`router.resources` was read as the router container's"
        "The shipped schema has them at `router.runner.resources` and prunes the short form (S2-031)." "router: {resources: {limits: {cpu: 4}}}" "write `runner.resources`"
    WorkerSizeAbsent "worker-size-absent" Finding Warning "the worker has no size"
        "It is read as 0 workers (S0-049)." "worker: {runner: {…}}" "add `worker.size`"
    DecoderWithoutEngine "decoder-without-engine" Finding Error "the service has a decoder and no engine"
        "A decoder only stands beside an engine (S0-053)." "spec: {decoder: {}}" "add `engine: {}`"
    UnknownVariable "unknown-variable" Finding Error "a template variable in a container maps to no field of the service's metadata"
        "S0-058." "args: ['--name={{.Foo}}']" "use `{{.Name}}`, `{{.Namespace}}`, `{{.Labels.KEY}}` or `{{.Annotations.KEY}}`"
    VariableOutsideContainer "variable-outside-container" Finding Warning "a template variable outside the engine container stays as it is"
        "Only the runner container is expanded (S0-058)." "nodeSelector: {a: '{{.Name}}'}" "write the value out"
    SamePriority "same-priority" Finding Error "two runtimes of one scope can match one model with equal priority"
        "Which one serves is decided by size range, age or name (S0-079). A warning between built-in objects." "two runtimes, both priority 1" "give one of them a higher priority"
    AmbiguousAutoSelection "ambiguous-auto-selection" Finding Warning "two runtimes of one scope can match one model and neither sets a priority"
        "The documents give no guarantee which one is chosen (S0-080)." "two runtimes without priority" "give one of them a priority"
    DifferentPriorities "different-priorities" Finding Error "versions of one format in one runtime have different priorities"
        "S0-081. A warning in built-in objects." "1.0.0 priority 1 and 2.0.0 priority 2" "give all versions the same priority"
    AutoselectOverlap "autoselect-overlap" Finding Info "a group of auto-selectable runtimes can match one model"
        "Only with `--rule autoselect-overlap` (S0-084)." "three runtimes for Llama of 5B to 9B" "nothing, if the priorities say what is meant"
    UnusedAllow "unused-allow" Finding Warning "a comment `# ome: allow CODE` allows nothing"
        "What it was written for is gone, or it names another code; left standing, it would hide the next finding." "# ome: allow one-sided-range fixed long ago" "delete the comment, or correct the code"
    UnknownSetting "unknown-setting" Finding Error "the key of ome.toml is not a setting"
        "A setting that is misspelt would silently not apply." "semantic = \"controller\"" "write the key offered in the help"
    InvalidSetting "invalid-setting" Finding Error "the value of a setting is not one it accepts"
        "Nothing is planned with a setting that is not understood." "semantics = \"both\"" "write one of the accepted values"

    PayloadJsonSyntax "payload-json-syntax" Finding Error "the payload is not JSON"
        "Nothing else of the file is checked (S3-040)." "{\"id\": \"42\" \"outputs\": []}" "correct the text at the place shown"
    PayloadMissingField "payload-missing-field" Finding Error "a required member of the payload is absent"
        "The server refuses the message (S3-035, S3-036)." "{\"inputs\": [{\"shape\": [1]}]}" "add the member named in the message"
    PayloadType "payload-type" Finding Error "a member of the payload is of another JSON type"
        "The server refuses the message (S3-030)." "\"shape\": [1, \"2\"]" "write a value of the type named in the message"
    PayloadShape "payload-shape" Finding Error "a dimension is not a whole number that an unsigned 64-bit integer holds"
        "Only metadata may say -1 for a dimension of variable size (S3-034, S3-035)." "\"shape\": [-1, 4]" "write the size of the whole batch"
    PayloadDatatype "payload-datatype" Finding Error "the datatype is none of the thirteen of the protocol"
        "Names are case-sensitive; BF16 is none of them (S3-029, S3-039)." "\"datatype\": \"fp32\"" "write the datatype offered in the help"
    PayloadElementCount "payload-element-count" Finding Error "the number or nesting of the elements does not fit the shape"
        "Data is flat or nested like the shape, and whole (S3-038)." "\"shape\": [2, 2], \"data\": [1, 2, 4]" "correct the shape or complete the data"
    PayloadValueRange "payload-value-range" Finding Error "an element is outside the range of its datatype"
        "The server refuses it, or stores another value (S3-039)." "\"datatype\": \"UINT8\", \"data\": [256]" "use a wider datatype, or correct the value"
    PayloadFp16Json "payload-fp16-json" Finding Warning "16-bit floats are written as JSON numbers"
        "Servers have no common reading of them (S3-039)." "\"datatype\": \"FP16\", \"data\": [1.0]" "send FP32, or raw contents over gRPC"
    PayloadParameterType "payload-parameter-type" Finding Error "a parameter is of a kind that the protocol does not know"
        "JSON: string, number or boolean; gRPC: bool_param, int64_param or string_param (S3-037, S3-046)." "\"parameters\": {\"a\": {}}" "write one of the accepted kinds"
    PayloadIdMismatch "payload-id-mismatch" Finding Error "the response does not return the id of its request"
        "A client cannot tell which request it answers (S3-036)." "request \"id\": \"42\", response \"id\": \"43\"" "return the id of the request"
    PayloadInstancesMissing "payload-instances-missing" Finding Info "a V1 request has no instances"
        "Payloads of V1 are optional and loosely typed (S3-023)." "{\"inputs\": [[1]]}" "nothing, if the server reads another form"
    PayloadPlatformTypo "payload-platform-typo" Finding Warning "the platform is spelt as a known misprint"
        "The document prints onnx_onxv1 and means onnx_onnxv1 (S3-044)." "\"platform\": \"onnx_onxv1\"" "write `onnx_onnxv1`"
    PayloadPlatformUnknown "payload-platform-unknown" Finding Info "the platform is none of the seven of the document"
        "Platforms inform, nobody depends on them (S3-044)." "\"platform\": \"sklearn_joblib\"" "nothing"
    PayloadRawAndContents "payload-raw-and-contents" Finding Error "tensors are given raw and typed at once"
        "Raw contents exclude typed ones (S3-045)." "raw_input_contents beside contents" "delete one of the two"
    PayloadRawCount "payload-raw-count" Finding Error "raw entries and tensors differ in number"
        "There is one entry per tensor, in order (S3-045)." "two inputs, one raw entry" "give one entry per tensor"
    PayloadRawSize "payload-raw-size" Finding Error "the raw bytes do not fit shape and datatype"
        "The size is the product of the shape times the size of the datatype (S3-045)." "INT64, shape [2], 8 bytes" "correct the shape or complete the bytes"
    PayloadFp16Contents "payload-fp16-contents" Finding Error "an FP16 tensor has typed contents"
        "There is no contents field for 16-bit floats (S3-045)." "\"datatype\": \"FP16\", \"contents\": {\"fp32_contents\": [1.0]}" "put the bytes into the raw contents"
    PayloadContentsField "payload-contents-field" Finding Error "values are in the contents field of another datatype"
        "Each datatype has its own field (S3-047)." "\"datatype\": \"FP32\", \"contents\": {\"int_contents\": [1]}" "use the field named in the help"
    DuplicateName "duplicate-name" Finding Error "two roles of one name"
        "Pods, gang minimum and rollout go by the name of the role (S4-004)." "roles:\n- {name: prefill}\n- {name: prefill}" "rename one of the roles"
    GangNeedsVolcano "gang-needs-volcano" Finding Warning "the scheduler is not volcano, so that there is no gang"
        "No PodGroup is created and the pods start one by one (S4-011)." "schedulerName: default-scheduler" "write `schedulerName: volcano`, or delete gangPolicy and networkTopology"
    GpuLimitsOnly "gpu-limits-only" Finding Warning "a GPU stands in the limits and not in the requests"
        "The shipped controllers add up requests only, so that the gang is scheduled without its GPUs (S4-017)." "limits: {nvidia.com/gpu: 8}" "write the same number into `requests`"
    RoleWithoutGangMinimum "role-without-gang-minimum" Finding Info "minRoleReplicas leaves the role out"
        "The document lists the roles of the map only; the shipped controllers count the role with all its replicas (S4-022)." "minRoleReplicas: {prefill: 1}" "name every role in the map"
    GangUnknownRole "gang-unknown-role" Finding Error "minRoleReplicas names a role that does not exist"
        "The gang could never be complete (S4-024)." "minRoleReplicas: {prefil: 1}" "write the name of a role"
    FullOutage "full-outage" Finding Warning "the only group is rebuilt, so that nothing serves meanwhile"
        "A ModelServing has no surge (S4-025)." "replicas: 1" "raise replicas to 2 before the update"
    RolloutAllProtected "rollout-all-protected" Finding Info "the partition protects every group"
        "Templates changed and no group follows (S4-026)." "replicas: 4\npartition: 4" "lower the partition"
    GroupLevelRollout "group-level-rollout" Finding Info "only some roles changed and the others restart too"
        "An update replaces whole groups (S4-039)." "a new image of decode" "nothing; Kthena v0.4.0 and later have `RoleRollingUpdate`"
    RoleScalingOnePass "role-scaling-one-pass" Finding Info "all groups change their role replicas in one pass"
        "The document shows one group after another (S4-035); no release does that." "replicas of a role in four groups" "nothing"
    TooManyPods "too-many-pods" Finding Warning "the ModelServing has more pods than are expanded or simulated"
        "Every pod of `render --expand` and `rollout` is held in memory." "replicas: 2000000000" "check the replicas"
    WorkloadUnsupported "workload-unsupported" Finding Warning "a property of the service has no place in a ModelServing"
        "It is left out of what is rendered." "deploymentStrategy with maxSurge" "see the message"
    KthenaDefect "kthena-defect" Finding Warning "the shipped controller does not do here what it is meant to do"
        "Known defects of volcano-sh/kthena @3cc0572; kthena.md 4.6, 5.5." "replicas: 0 at creation" "see the message"

    NotModelConfig "not-model-config" Finding Error "the file is no config.json of a model"
        "Nothing can be imported from it." "{\"tokenizer_class\": \"LlamaTokenizer\"}" "name the config.json of the model"
    ParameterCountUnknown "parameter-count-unknown" Finding Error "the parameters of the model cannot be counted"
        "The family is not known, or the config lacks a number; nothing is guessed." "{\"model_type\": \"new\"}" "give the safetensors index too, or say `--size`"
    ParameterCountPartial "parameter-count-partial" Finding Warning "a part of the model is not counted"
        "Models that see have a vision part; its numbers are known for some families only." "a vision_config of an unknown kind" "give the safetensors index too, or say `--size`"
    ParameterCountDiffers "parameter-count-differs" Finding Warning "config.json and safetensors index make different counts"
        "The count of the config is used." "an index of another model" "say `--size`, or give the index of this model"
    ImportConflict "import-conflict" Finding Warning "the model says something else than its config.json"
        "What is written is kept." "quantization: int4 beside a config of fp8" "run `ome import` with `--overwrite`, or correct the model"
    ImportRefused "import-refused" Finding Error "values cannot be put into the file without changing more than was asked"
        "The file is left as it is." "a model whose spec is an alias" "copy the fields that `ome import` prints"

    ModelNotFound "model-not-found" Finding Error "the model of the service is not loaded"
        "Neither a BaseModel of the namespace nor a ClusterBaseModel has the name." "model: {name: lama-8b}" "correct the name, or load the model with `-f`"
    ModelDisabled "model-disabled" Finding Error "the model of the service is disabled"
        "The controller refuses it: `specified base model X is disabled`." "disabled: true" "enable the model, or name another one"
    ModelIncomplete "model-incomplete" Finding Warning "the model lacks what selection needs: modelFormat.name"
        "Upstream's model agent fills it in from config.json after the download; offline nobody does. An error of a service." "spec: {storage: {…}}" "run `ome import config.json`"
    RuntimeNotFound "runtime-not-found" Finding Error "the runtime named by the service is not loaded"
        "Neither a ServingRuntime of the namespace nor a ClusterServingRuntime has the name." "runtime: {name: srt-lama}" "correct the name, or load the runtime with `-f`"
    RuntimeDisabled "runtime-disabled" Finding Error "the runtime named by the service is disabled"
        "There is no fall-back to another one (S0-019)." "disabled: true" "enable the runtime, or name another one"
    RuntimeIncompatible "runtime-incompatible" Finding Error "the runtime named by the service cannot serve the model"
        "A named runtime is checked and never replaced (S0-061)." "runtime: {name: vllm-mixtral}" "name a runtime that fits, or leave the choice to the selection"
    NoCompatibleRuntime "no-compatible-runtime" Finding Error "no runtime can serve the model of the service"
        "Every candidate was rejected; `ome explain` shows why." "a model of an architecture nobody serves" "see the nearest miss in `ome explain`"
    AcceleratorNotFound "accelerator-not-found" Finding Error "the accelerator class named is not loaded"
        "AcceleratorClasses are cluster-scoped." "acceleratorClass: h100" "correct the name, or load the class with `-f`"
    NoCompatibleAccelerator "no-compatible-accelerator" Finding Error "no accelerator class meets the requirements"
        "Every class was rejected; `ome explain` shows why." "minMemory: 200" "relax the requirement"
    WouldPanic "would-panic" Finding Error "the controller would crash here"
        "Upstream dereferences nil; the controller recovers and tries forever." "modelSizeRange: {min: 1B}" "write the field named in the message"
    InvalidInput "invalid-input" Finding Error "the service cannot be planned as written"
        "Something that every service needs is missing or contradicts itself." "spec: {}" "see the message"
    AcceleratorNotConsidered "accelerator-not-considered" Finding Info "accelerator classes were not considered"
        "The gate AcceleratorAwareScheduling is off: any GPU may be taken (S2-015)." "--feature-gates AcceleratorAwareScheduling=false" "turn the gate on"
    AvailabilityNotChecked "availability-not-checked" Finding Info "whether nodes of the class are there was not checked"
        "No Node was read (S2-007)." "ome plan -f services/" "read the nodes with `-f nodes.yaml`"
    DivisibleResourceSkipped "divisible-resource-skipped" Finding Info "a resource of the class that stands for shares of a device is not asked for"
        "Sharing is a non-goal of OEP-0003 (S2-009)." "name: nvidia.com/mig-3g.20gb, divisible: true" "write it in `resources` where it is meant"
    NoPrice "no-price" Finding Info "a class states no price and a price was asked for"
        "No price is ever invented (S2-010)." "strategy: cost" "state `cost.perHour`"
    NoAcceleratorConfiguration "no-accelerator-configuration" Finding Info "the runtime configures accelerators, but not the chosen class"
        "The runtime's base configuration is used (S2-019)." "acceleratorConfigurations for other classes only" "add an entry for the class"
    PreferredNotEligible "preferred-not-eligible" Finding Warning "no preferred class passed and the ranking went on"
        "preferredClasses are soft (S2-029)." "preferredClasses: [nvidia-t4]" "prefer a class that passes, or use `--strict-preferred`"
    CostThresholdExceeded "cost-threshold-exceeded" Finding Warning "no class costs less than the threshold; the cheapest was taken"
        "The threshold is soft (S2-038)." "ome.io/cost-threshold: \"0.5\"" "raise the threshold, or use `--strict-cost`"
    GpuCountMismatch "gpu-count-mismatch" Finding Warning "the pod asks for another number of GPUs than its parallelism says"
        "S2-032." "TENSOR_PARALLEL_SIZE=2 and nvidia.com/gpu: 1" "make both the same"
    GpuMisfit "gpu-misfit" Finding Warning "the configured GPUs are too few for the model"
        "The need is computed from size, quantization and memory (S2-123)." "--tp-size=2 for 70B on 80 GiB" "configure as many as are needed"
    MultiNodeNeeded "multi-node-needed" Finding Warning "a replica needs more GPUs than one node has"
        "S2-124." "16 T4 for 70B" "use a multi-node component, or a class with more memory"
    AcceleratorArgsSkipped "accelerator-args-skipped" Finding Info "arguments of the accelerator are not applied because the service sets a command"
        "S2-043, S2-059." "runner: {command: [sh]}" "add the arguments to the command"
    NoModel "no-model" Finding Warning "the service names a runtime and no model: format, size and MODEL_PATH are unchecked"
        "S2-046." "spec: {runtime: {name: r}}" "add `spec.model`"
    DuplicateFlag "duplicate-flag" Finding Warning "a flag stands more than once in the arguments"
        "Arguments are concatenated (S2-056, S2-058); the last one counts for most engines." "--tp-size=8 and --tp-size=4" "write it once, or use `--dedupe-args`"
    ResourceRaised "resource-raised" Finding Warning "a value of the service was raised to the accelerator's"
        "Resources take the maximum (S2-063, S2-064)." "nvidia.com/gpu: 1 under an accelerator's 2" "write the larger value"
    NodeSelectorConflict "node-selector-conflict" Finding Warning "runtime and accelerator class disagree on a node selector key"
        "The class wins (S2-065)." "nvidia.com/gpu.product on both" "delete the runtime's"
    NodeSelectorEscape "node-selector-escape" Finding Warning "the service overrides a node selector key of the accelerator class"
        "The pod can leave the selected accelerator (S2-051)." "engine.nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}" "choose the class instead of the label"
    TooManyAffinityTerms "too-many-affinity-terms" Finding Warning "more than 32 node selector terms after the merge"
        "The cross product of class and service terms (S2-060)." "6 class terms and 6 user terms" "use fewer terms"
    RouterRequestsGpu "router-requests-gpu" Finding Warning "a router's container asks for a GPU"
        "Routers run on CPUs (S2-054)." "router: {runner: {resources: {limits: {nvidia.com/gpu: 1}}}}" "delete the GPU from the router"
    RouterCpuNodes "router-cpu-nodes" Finding Info "how many nodes without accelerators a router without node selector may run on"
        "S2-054." "router: {}" "pin the router with a node selector"
    UnknownStrategy "unknown-strategy" Finding Error "the selection strategy is none of the three"
        "performance, cost, balanced (S2-094)." "strategy: cheap" "use one of performance, cost, balanced"
    NoRuntimeForModel "no-runtime-for-model" Finding Warning "no loaded runtime can serve the loaded model"
        "The nearest miss is named." "a model nobody serves" "load or write a runtime for it"
    RuntimeForNoModel "runtime-for-no-model" Finding Info "the runtime serves no loaded model"
        "Only with `--unused`." "a runtime nobody needs" "delete it, if it is not meant for later"
    ControllerDiffers "controller-differs" Finding Info "the shipped controller would decide otherwise than the documents say"
        "Both outcomes are named." "a range beside a runtime without one" "run with `--semantics controller` to see its decision"
    ServerRefuses "server-refuses" Finding Error "the API server would refuse the object"
        "It is printed as the operator writes it. A warning in `validate`." "requests nvidia.com/gpu 1, limits 2" "see the help"
    OperatorDefect "operator-defect" Finding Warning "what the operator writes does not work as it is meant"
        "It is printed as the operator writes it, or as it is meant where the operator never gets that far." "ome.io/ingress-disable-creation: \"false\" and a Service on port 9000" "see the help"
    TemplateInvalid "template-invalid" Finding Error "the template cannot be expanded"
        "Only field chains of the service's metadata are supported; the controller fails on the rest or needs a cluster." "{{ template \"x\" }}" "use field chains such as `{{.Name}}`"
    ProtocolAnnotation "protocol-annotation" Finding Info "the annotation ome.io/protocol was read as the requested protocol"
        "It is this tool's own; nothing upstream reads it (S0-072)." "ome.io/protocol: openInference-v2" "nothing"
    ProtocolUnknownRequest "protocol-unknown-request" Finding Warning "the protocol asked for is none of the four known ones"
        "S0-031, S0-072." "--protocol openai" "ask for one of openAI, cohere, openInference-v1, openInference-v2"

    ReasonDisabled "disabled" Reason Info "the runtime is disabled" "S0-019." "disabled: true" "enable it"
    ReasonNoFormats "no-formats" Reason Info "the runtime lists no supported model formats" "" "supportedModelFormats: []" "list the formats it serves"
    ReasonFormatName "format-name" Reason Info "the model format's name differs" "S0-022." "onnx, ONNX" "spell both alike"
    ReasonFormatVersion "format-version" Reason Info "the model format's version does not match" "S0-023." "1.0.0, 2.0.0" "list the version the model has"
    ReasonFrameworkName "framework-name" Reason Info "the framework's name differs" "S0-024." "transformers, pytorch" "spell both alike"
    ReasonFrameworkVersion "framework-version" Reason Info "the framework's version does not match" "S0-024." "4.36.2, 4.40.0" "list the version the model has"
    ReasonArchitecture "architecture" Reason Info "the architecture differs" "S0-026." "LlamaForCausalLM, MistralForCausalLM" "use a runtime for the model's architecture"
    ReasonQuantization "quantization" Reason Info "the quantization differs" "S0-027." "fp8, int4" "use a runtime for the model's quantization"
    ReasonSizeRange "size-range" Reason Info "the model's size is outside the runtime's range" "S0-068." "8B, 40B..200B" "widen the range"
    ReasonAutoSelectOff "auto-select-off" Reason Info "automatic selection is off" "S0-028, S0-073." "autoSelect: false" "set autoSelect on the entry that matches"
    ReasonProtocol "protocol" Reason Info "the runtime does not list the requested protocol" "S0-071." "openInference-v2, [openAI]" "list the protocol"
    ReasonAccelerator "accelerator" Reason Info "the runtime does not list the required accelerator class" "ome-selection 2.3." "nvidia-h100" "list the class in acceleratorRequirements"
    ReasonScoreZero "score-zero" Reason Info "the score is not above 0" "ome-selection 2.6." "weight: -1" "use positive weights and priorities"
    ReasonWrongNamespace "wrong-namespace" Reason Info "the runtime belongs to another namespace" "S0-001." "team-b" "move it, or make it a ClusterServingRuntime"
    ReasonDiffusion "diffusion" Reason Info "the diffusion pipeline does not match" "ome-selection 2.4." "FluxPipeline" "use a runtime for the model's pipeline"
    ReasonNotListed "not-listed" Reason Info "the runtime does not list the class" "S2-097." "supportedClasses: [nvidia-h100-80gb]" "list the class"
    ReasonExcluded "excluded" Reason Info "the service excludes the class" "accelerators.md 2.3." "excludedClasses: [nvidia-t4]" "stop excluding it"
    ReasonMinMemory "min-memory" Reason Info "the class has too little memory, or nobody knows how much" "S2-090." "memoryGB 16Gi < 40Gi" "ask for less memory"
    ReasonMaxMemory "max-memory" Reason Info "the class has more memory than allowed" "accelerators.md 2.3." "maxMemory: 40" "raise the bound"
    ReasonMinCompute "min-compute" Reason Info "the class computes too slowly" "S2-090." "fp16TFLOPS 125 < 300" "ask for less"
    ReasonMinArchitecture "min-architecture" Reason Info "the compute capability is too low, unknown or not comparable" "S2-021." "computeCapability 7.5 < 8.0" "use a newer accelerator"
    ReasonArchitectureFamily "architecture-family" Reason Info "the family is not among those allowed" "accelerators.md 2.3." "architectureFamilies: [hopper]" "allow the family"
    ReasonFeature "feature" Reason Info "the class lacks a required feature" "S2-021." "requiredFeatures: [fp8]" "use a class with the feature, or state it on the class"
    ReasonMinBandwidth "min-bandwidth" Reason Info "the memory bandwidth is too low or unknown" "S2-090." "memoryBandwidthGBps 320 < 1000" "ask for less"
    ReasonMinClock "min-clock" Reason Info "the clock speed is too low or unknown" "S2-090." "clockSpeedMHz 1410 < 1500" "ask for less"
    ReasonQuantity "quantity" Reason Info "the runtime asks for another kind of accelerator than the class offers" "S2-004." "nvidia.com/gpu, amd.com/gpu" "use a class of that vendor"
    ReasonOutOfNodes "out-of-nodes" Reason Info "no usable node of the class" "S2-007." "all nodes cordoned" "add nodes, or uncordon one"
    ReasonCost "cost" Reason Info "a replica costs more than the threshold" "S2-038, with `--strict-cost`." "2.21 > 0.5 $/h" "raise the threshold"

    NoteNotConsulted "not-consulted" Note Info "the runtime is named: autoSelect and priority were not consulted" "S0-030." "" ""
    NoteShadows "shadows" Note Info "a namespaced runtime hides a cluster one of the same name" "S0-060." "" ""
    NoteSizeAloneWouldChoose "size-alone-would-choose" Note Info "the closest size range belongs to another runtime" "S0-070." "" ""
    NoteOrderNotGuaranteed "order-not-guaranteed" Note Info "the documents do not guarantee the order between equals" "S0-080, S0-082." "" ""
    NoteCreationTimestampUnknown "creation-timestamp-unknown" Note Info "no creationTimestamp is known offline, the name decided" "S0-082." "" ""
    NoteNewerThanBuiltin "newer-than-builtin" Note Info "a user's object counts as newer than a built-in one" "S0-083." "" ""
    NoteSizeUnknown "size-unknown" Note Info "the model states no size, the range was not checked" "S0-068." "" ""
    NoteProtocolUnconstrained "protocol-unconstrained" Note Info "the runtime lists no protocols" "S0-071." "" ""
    NoteOutranked "outranked" Note Info "eligible, and another one ranks higher" "S0-075." "" ""
}

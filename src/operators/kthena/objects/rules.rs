//! Every rule by which the Kthena controller writes values itself. Citations are sections of
//! the blog and upstream functions.

use crate::yaml::Rule;

macro_rules! rules {
    ($($name:ident $id:literal $text:literal $cite:literal)*) => {
        $(
            #[doc = $text]
            pub static $name: Rule = Rule { id: $id, text: $text, cite: $cite };
        )*

        /// Every rule of this module, in the order of declaration.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    POD "kthena-pod" "Name and labels of a pod identify its role replica and ServingGroup." "pkg/model-serving-controller/utils/utils.go, names; pkg/model-serving-controller/utils/utils.go, GenerateEntryPod"
    SCHEDULER "kthena-scheduler" "Every pod has the scheduler of its ModelServing, not that of its template." "pkg/model-serving-controller/utils/utils.go, GenerateEntryPod; Kthena blog, A Deep Dive of ModelServing, Instance-Level Gang Scheduling"
    ENVIRONMENT "kthena-environment" "Every container gets GROUP_SIZE, ENTRY_ADDRESS and WORKER_INDEX behind its own variables." "pkg/model-serving-controller/utils/utils.go, GenerateEntryPod"
    GANG_POD "kthena-gang-pod" "A pod joins the PodGroup of its ServingGroup by annotation." "pkg/model-serving-controller/utils/utils.go, GenerateEntryPod; Kthena blog, A Deep Dive of ModelServing, Instance-Level Gang Scheduling; docs/decisions.md#pod-groups"
    SERVICE "kthena-headless-service" "A role replica with a worker template has a headless Service for its entry pod." "pkg/model-serving-controller/utils/utils.go, CreateHeadlessService"
    POD_GROUP "kthena-pod-group" "Every ServingGroup has a PodGroup, so that its pods start together or not at all." "pkg/model-serving-controller/podgroupmanager; Kthena blog, A Deep Dive of ModelServing, Gang Scheduling and Instance-Level Gang Scheduling"
    MIN_RESOURCES "kthena-min-resources" "The resources of a gang are those of the pods it counts." "pkg/model-serving-controller/podgroupmanager; Kthena blog, A Deep Dive of ModelServing, Instance-Level Gang Scheduling; docs/decisions.md#pod-groups"
    CONTROLLER_REVISION "kthena-controller-revision" "The role templates of a revision are kept, so that a protected group can come back as it was." "pkg/model-serving-controller/utils/controller_revision.go"
    BOOSTER "kthena-booster" "A ModelBooster becomes a ModelServing, a ModelServer and a ModelRoute." "pkg/model-booster-controller/convert"
    DEMO_PLUGIN "kthena-plugin-demo" "The plugin demo-pod-tweaks sets runtime class, annotations and variables." "pkg/model-serving-controller/plugins"
    LWS_PLUGIN "kthena-plugin-lws" "The plugin lws-standard-labels labels pods as those of the LeaderWorkerSet that owns the ModelServing." "pkg/model-serving-controller/plugins"
}

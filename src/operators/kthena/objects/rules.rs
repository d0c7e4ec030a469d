//! Every rule by which the Kthena controller writes values itself. Citations are sections of
//! kthena.md and ledger ids.

use crate::yaml::Rule;

macro_rules! rules {
    ($($name:ident $id:literal $text:literal $cite:literal)*) => {
        $(
            #[doc = $text]
            pub static $name: Rule = Rule { id: $id, text: $text, cite: $cite };
        )*

        /// Every rule of this room, in the order of declaration.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    POD "kthena-pod" "A pod belongs to a role replica of a ServingGroup, which its name and its labels say." "kthena.md 2.1, 2.2"
    SCHEDULER "kthena-scheduler" "Every pod has the scheduler of its ModelServing, whatever its template says." "kthena.md 2.2; S4-011"
    ENVIRONMENT "kthena-environment" "Every container gets GROUP_SIZE, ENTRY_ADDRESS and WORKER_INDEX behind its own variables." "kthena.md 2.2"
    GANG_POD "kthena-gang-pod" "A pod joins the PodGroup of its ServingGroup by annotation." "kthena.md 2.2; S4-015"
    SERVICE "kthena-headless-service" "A role replica with a worker template has a headless Service that leads to its entry pod." "kthena.md 2.3"
    POD_GROUP "kthena-pod-group" "Every ServingGroup has a PodGroup, so that its pods start together or not at all." "kthena.md 3; S4-007, S4-008"
    MIN_RESOURCES "kthena-min-resources" "The resources of a gang are those of the pods it counts." "kthena.md 3.3; S4-017"
    CONTROLLER_REVISION "kthena-controller-revision" "The role templates of a revision are kept, so that a protected group can come back as it was." "kthena.md 2.7"
    DEMO_PLUGIN "kthena-plugin-demo" "The plugin demo-pod-tweaks sets runtime class, annotations and variables." "kthena.md 2.5"
    LWS_PLUGIN "kthena-plugin-lws" "The plugin lws-standard-labels labels pods as those of the LeaderWorkerSet that owns the ModelServing." "kthena.md 2.5"
}

//! A fleet together on its nodes, as kube-scheduler v1.35.4 with its default profile places it.

pub(crate) mod belongings;
pub(crate) mod budget;
pub(crate) mod capacity;
pub(crate) mod choice;
pub(super) mod chunks;
pub(crate) mod classes;
pub(crate) mod cycle;
pub(crate) mod devices;
pub(crate) mod evaluate;
pub(crate) mod fields;
pub(crate) mod filters;
pub(crate) mod ids;
pub(crate) mod judged;
pub(crate) mod kubelet;
pub(crate) mod labels;
pub(crate) mod layout;
pub(crate) mod manual;
pub(crate) mod nodes;
pub(crate) mod pod;
pub(crate) mod pod_affinity;
pub(crate) mod preempt;
pub(crate) mod queue;
pub(crate) mod read;
pub(crate) mod reason;
pub(crate) mod requests;
pub(crate) mod resized;
pub(crate) mod room;
pub(crate) mod running;
pub(crate) mod scheduler;
#[cfg(test)]
pub(crate) mod scheduler_recordings;
pub(crate) mod selectors;
pub(crate) mod services;
pub(crate) mod spread;
pub(crate) mod state;
pub(crate) mod storage;
pub(crate) mod template;
pub(crate) mod terms;
#[cfg(test)]
mod tests;
pub(crate) mod unread;

pub use crate::cluster::admission::Admission;
pub use budget::{Budget, Limit};
pub use choice::Preference;
pub use cycle::{First, TieBreak};
pub use evaluate::Answer;
pub use fields::InvalidPod;
pub use ids::{NodeId, PodId, TemplateId};
pub use pod::{
    Labels, Namespaces, NodeTerm, PodSpec, PodTemplate, PodTerm, PodVolume, selector_of,
};
pub use reason::{Reason, Rejection};
pub use resized::held;
pub use running::PodState;
pub use scheduler::{Eviction, Options, Scheduler};
pub use selectors::{label_selector, labels};
pub use state::Alike;
pub use storage::objects::NewClaim;
pub use unread::UnreadNamespaces;

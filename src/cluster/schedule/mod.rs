//! A fleet together on its nodes, as kube-scheduler v1.35.4 with its default profile places it.

mod beside;
mod budget;
mod by_hand;
mod choice;
mod classes;
mod cycle;
mod filters;
mod ids;
mod images;
mod judged;
mod labels;
mod look;
mod nodes;
mod pod;
mod preempt;
mod queue;
mod read;
mod reason;
mod requests;
mod room;
mod scheduler;
mod spread;
mod state;
mod template;

pub use budget::{Budget, Limit};
pub use by_hand::Preference;
pub use cycle::{First, TieBreak};
pub use ids::{NodeId, PodId, TemplateId};
pub use look::{Answer, Lack};
pub use pod::{
    HostPort, Labels, Namespaces, NodeTerm, PodTemplate, PodTerm, Scored, SpreadConstraint,
    selector_of,
};
pub use read::{InvalidPod, PriorityClasses, label_selector, labels};
pub use reason::{Reason, Rejection};
pub use scheduler::{Eviction, Options, PodState, Scheduler, Started};

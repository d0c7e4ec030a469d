//! The reaction to the loss of a pod
//! (pkg/model-serving-controller/controller/model_serving_controller.go, handleErrorPod).

use super::cluster::{Address, Cluster};
use super::trace::{Cause, Reason};
use crate::api::RecoveryPolicy;
use crate::operators::kthena::rules::RoleRecreateRule;

impl Cluster {
    /// A pod was deleted that the controller did not delete.
    pub(super) fn pod_lost(&mut self, at: Address) {
        match self.target.recovery {
            RecoveryPolicy::ServingGroupRecreate => {
                self.delete_group(at.group, Cause::Recovery, Reason::PodLost);
            }
            RecoveryPolicy::RoleRecreate => match self.policy.role_recreate {
                RoleRecreateRule::RoleReplica => {
                    self.stop_group(at.group);
                    self.delete_replica(
                        at.group,
                        at.role,
                        at.ordinal,
                        Cause::Recovery,
                        Reason::PodLost,
                    );
                }
                RoleRecreateRule::PodThenGroup => {
                    let role = self.target.role(at.role).cloned();
                    if let Some(role) = role {
                        self.create_missing_pods(
                            at.group,
                            &role,
                            at.ordinal,
                            Cause::Recovery,
                            Reason::PodLost,
                        );
                    }
                }
            },
            // The next reconcile recreates the pod, whatever queues it.
            RecoveryPolicy::None => {}
        }
    }
}

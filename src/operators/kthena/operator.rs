//! Kthena as an operator: its names and its releases. Its ModelServings are pods already, so that
//! nothing is decided about them.

use super::{checks, objects, releases};
use crate::api::Api;
use crate::check::Check;
use crate::operator::Operator;
use crate::policy::Policy;

pub(crate) struct Kthena;

impl Operator for Kthena {
    fn api(&self) -> Api {
        Api::Kthena
    }

    fn group(&self) -> &'static str {
        "workload.serving.volcano.sh"
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["ModelServing"]
    }

    fn image(&self) -> &'static str {
        "kthena-controller-manager"
    }

    fn owner_label(&self) -> &'static str {
        objects::names::NAME
    }

    fn documented(&self) -> &'static Policy {
        &releases::DOCUMENTED
    }

    fn releases(&self) -> &'static [&'static Policy] {
        &releases::RELEASES
    }

    fn checks(&self) -> &'static [Check] {
        checks::CHECKS
    }
}

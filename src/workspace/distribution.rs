//! The distribution of an operator that an input is written for.
//!
//! In: documents. Out: the first one that shows it, by a kind, a label, an image. A distribution
//! has no other name in the files of its users.

use crate::api::Api;
use crate::load::Document;
use crate::operator::Operator;
use crate::operators;
use crate::policy::Policy;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};

/// A distribution that was recognized.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Its rules.
    pub policy: &'static Policy,
    /// What shows it, and in which object.
    pub seen: EcoString,
}

impl Distribution {
    /// Returns the name that `--release` takes.
    pub fn name(&self) -> EcoString {
        eco_format!("{}={}", self.policy.api.as_str(), self.policy.id.tag)
    }
}

/// Finds the distributions that an input with objects of their operators is written for; `asked`
/// are operators whose release is named, `beside` are the distributions of a state that the input is
/// compared with.
pub fn distributions(
    documents: &[Document],
    apis: &[Api],
    distributions: &[Distribution],
) -> Vec<Distribution> {
    let of = |api: Api| {
        let operator = operators::operator(api)?;
        let services = operator.services()?;
        // The built-in catalog is that of the project itself, so it shows no distribution.
        let read = || documents.iter().filter(|document| !document.builtin);
        // Without an object of the operator, a distribution changes nothing.
        if apis.contains(&api) || !read().any(|document| document.group() == operator.group()) {
            return None;
        }
        let distribution = read().find_map(|document| {
            let Document { api_version, kind, node, .. } = document;
            let (policy, evidence) = services.recognize(api_version, kind, node)?;
            let text = |key: &str| node.at(&["metadata", key]).and_then(Node::as_str);
            let name = text("name").unwrap_or_default();
            Some(Distribution { policy, seen: eco_format!("{evidence} of {kind}/{name}") })
        });
        // An input that shows none is compared with one: both are of one platform.
        distribution.or_else(|| {
            distributions.iter().find(|distribution| distribution.policy.api == api).cloned()
        })
    };
    operators::deciding().filter_map(of).collect()
}

/// Leaves out the built-in runtimes of a distribution that comes with none.
pub fn without_runtimes(documents: &mut Vec<Document>, distribution: &Distribution) {
    let policy = distribution.policy;
    let group = operators::operator(policy.api).map(Operator::group);
    if !operators::ships_runtimes(policy) {
        documents.retain(|document| !document.builtin || Some(document.group()) != group);
    }
}

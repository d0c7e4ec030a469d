//! The part of a component that an accelerator changes: its runner, or that of leader and worker.

use crate::merge::edit::{map_mut, mapping};
use crate::merge::history::{Cursor, Recorder, Step};
use crate::yaml::Node;

/// A container of a component: the runner of a part, or the first container it lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Runner(Option<&'static str>),
    FirstListed,
}

impl Target {
    /// The containers of a component that run the model.
    pub(super) fn of(lower: Option<&Node>, upper: &Node) -> Vec<Self> {
        let has = |keys: &[&str]| {
            lower.and_then(|lower| lower.at(keys)).is_some() || upper.at(keys).is_some()
        };
        let parts = ["leader", "worker"]
            .into_iter()
            .filter(|part| has(&[*part, "runner"]))
            .map(|part| Self::Runner(Some(part)));
        let mut targets: Vec<Self> = parts.collect();
        // A component without any container still gets the layer, in a runner that is created.
        if has(&["runner"]) || (targets.is_empty() && !has(&["containers"])) {
            targets.insert(0, Self::Runner(None));
        } else if targets.is_empty() {
            targets.push(Self::FirstListed);
        }
        targets
    }

    pub(super) fn get(self, part: &Node) -> Option<&Node> {
        match self {
            Self::Runner(None) => part.get("runner"),
            Self::Runner(Some(holder)) => part.at(&[holder, "runner"]),
            Self::FirstListed => part.get("containers")?.items().first(),
        }
    }

    pub(super) fn get_mut(self, part: &mut Node) -> Option<&mut Node> {
        match self {
            Self::Runner(None) => part.as_map_mut()?.get_mut("runner"),
            Self::Runner(Some(holder)) => {
                part.as_map_mut()?.get_mut(holder)?.as_map_mut()?.get_mut("runner")
            }
            Self::FirstListed => {
                part.as_map_mut()?.get_mut("containers")?.as_list_mut()?.make_mut().first_mut()
            }
        }
    }

    /// The container as a layer of a component, in the place of the target.
    pub(super) fn layer(self, container: Node, name: Option<&Node>) -> Node {
        let origin = container.origin;
        match self {
            Self::Runner(None) => mapping([("runner", container)], origin),
            Self::Runner(Some(holder)) => {
                mapping([(holder, mapping([("runner", container)], origin))], origin)
            }
            Self::FirstListed => {
                let mut container = container;
                if let (Some(map), Some(name)) = (container.as_map_mut(), name) {
                    map.insert("name", name.clone());
                }
                mapping([("containers", Node::list([container], origin))], origin)
            }
        }
    }

    /// The recorder at the container.
    pub(super) fn cursor<'r>(self, container: &Node, rec: &'r mut Recorder) -> Cursor<'r> {
        let steps = match self {
            Self::Runner(holder) => [holder.map(Step::Field), Some(Step::Field("runner"))],
            Self::FirstListed => {
                let name = container.get("name").map(|name| Step::Keyed("name", name));
                [Some(Step::Field("containers")), name]
            }
        };
        rec.at_end_of(steps.into_iter().flatten())
    }
}

/// The container of a target, created when the component has none.
pub(super) fn ensure(target: Target, merged: &mut Node) -> Option<&mut Node> {
    if target.get(merged).is_none() && target == Target::Runner(None) {
        map_mut(merged, "runner", merged.origin)?;
    }
    target.get_mut(merged)
}

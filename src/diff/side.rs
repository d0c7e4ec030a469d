//! A service or ModelServing on one side of a diff: its decisions and its objects.

use super::Refused;
use super::cost::{self, Cost};
use crate::api::{AcceleratorClass, ComponentKind, ModelServing, Object, ObjectRef, Views};
use crate::decision::Resolution;
use crate::diag::Diagnostic;
use crate::pipeline::Recorder;
use crate::pipeline::built::identity;
use crate::pipeline::costs;
use crate::pipeline::planned::PlannedComponent;
use crate::pipeline::render::{Rendered, Renderer};
use crate::pipeline::serving::{refusal, serving_gpus};
use crate::quantity::{Count, Quantity};
use crate::workspace::World;
use crate::yaml::Node;
use ecow::EcoString;

/// The decisions for a service that are shown or compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Decided<'a> {
    pub(super) runtime: Option<&'a Object>,
    pub(super) model: Option<&'a Object>,
    pub(super) accelerators: Vec<(ComponentKind, Option<EcoString>)>,
    /// The hourly price of one device of each class that has one.
    pub(super) prices: Vec<(ComponentKind, &'a Quantity)>,
    pub(super) error: Option<Refused>,
}

impl<'a> Decided<'a> {
    pub(super) fn of(resolution: &Resolution<'a>) -> Self {
        Self {
            runtime: resolution.chosen().map(|runtime| &runtime.object),
            model: resolution.model.map(|model| &model.object),
            accelerators: resolution
                .accelerators
                .iter()
                .map(|decision| {
                    (decision.component, decision.chosen.map(AcceleratorClass::name).cloned())
                })
                .collect(),
            prices: resolution
                .accelerators
                .iter()
                .filter_map(|decision| Some((decision.component, costs::price(decision.chosen?)?)))
                .collect(),
            error: resolution.error.as_deref().map(Refused::from),
        }
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = &EcoString> {
        self.accelerators.iter().filter_map(|(_, class)| class.as_ref())
    }
}

/// A service or a ModelServing on one side.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    Service(&'a Views),
    ModelServing(&'a ModelServing),
}

impl<'a> Subject<'a> {
    pub(super) fn object(self) -> &'a Object {
        match self {
            Self::Service(views) => &views.followed().object,
            Self::ModelServing(serving) => &serving.object,
        }
    }

    /// The runtime that a service names.
    pub(super) fn runtime(self) -> Option<&'a EcoString> {
        match self {
            Self::Service(views) => {
                views.followed().runtime.as_ref().map(|runtime| &runtime.name.value)
            }
            Self::ModelServing(_) => None,
        }
    }
}

/// A service on both sides.
pub(super) type Both<'a> = [Option<Subject<'a>>; 2];

/// The result for one service on one side.
#[derive(Default)]
pub(super) struct Made<'a> {
    pub(super) decided: Decided<'a>,
    pub(super) cost: Cost,
    /// Its objects; for a service that fails, those that the operator writes before the failure.
    pub(super) objects: Vec<(ObjectRef, Node, Option<ComponentKind>)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The components whose objects are written.
    pub(super) components: Vec<(Option<ComponentKind>, Extent)>,
}

/// Pods and GPUs at minReplicas.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub(super) pods: Count,
    pub(super) gpus: Count,
}

impl Extent {
    fn of(component: &PlannedComponent) -> Self {
        Self { pods: component.least_pods(), gpus: component.least_gpus() }
    }
}

impl Made<'_> {
    /// Whether the operator refuses the service before it writes any object.
    pub(super) fn has_no_objects(&self) -> bool {
        self.decided.error.is_some() && self.objects.is_empty()
    }

    /// Its GPUs; a service that cannot be deployed has none.
    pub(super) fn gpus(&self) -> Count {
        // Objects that were written before a failure do run, but the service has no GPUs to count
        // on.
        let is_deployed = self.decided.error.as_ref().is_none_or(Refused::is_unread);
        let deployed = self.components.iter().filter(|_| is_deployed);
        deployed.map(|(_, extent)| extent.gpus).sum()
    }
}

/// Decides and renders one service in a world.
pub(super) fn make<'w>(renderer: &Renderer<'w>, subject: Subject<'w>) -> Made<'w> {
    match subject {
        Subject::ModelServing(serving) => {
            let error = broken(renderer.world(), serving);
            if error.is_some() {
                return Made {
                    decided: Decided { error, ..Decided::default() },
                    ..Made::default()
                };
            }
            let extent = Extent {
                pods: i64::try_from(serving.pods()).ok().into(),
                gpus: serving_gpus(serving),
            };
            Made {
                objects: vec![(serving.object.id.clone(), serving.object.node.clone(), None)],
                components: vec![(None, extent)],
                ..Made::default()
            }
        }
        Subject::Service(views) => {
            let rendered = renderer.render(views, &mut Recorder::off());
            let mut decided = Decided::of(&rendered.resolution);
            decided.error = renderer.refusal(&rendered).0.as_ref().map(Refused::from);
            let Rendered { mut components, objects, unfinished, diagnostics, .. } = rendered;
            let cost;
            let objects = match (&decided.error, unfinished) {
                (None, _) => {
                    cost = cost::cost(&decided, &components);
                    objects
                }
                // They are counted without what was not read, as a plan does.
                (Some(error), _) if error.is_unread() => {
                    cost = Cost::default();
                    Vec::new()
                }
                (Some(_), Some(unfinished)) => {
                    let written = &unfinished.built.components;
                    components.retain(|component| {
                        // The operator stops at the failing component and writes none of the later
                        // ones.
                        written.iter().any(|other| other.kind == component.kind)
                    });
                    cost = Cost::default();
                    renderer.before_failure(&unfinished)
                }
                (Some(_), None) => return Made { decided, diagnostics, ..Made::default() },
            };
            let named = objects
                .into_iter()
                .map(|object| (identity(&object.node), object.node, object.component));
            Made {
                cost,
                decided,
                objects: named.collect(),
                diagnostics,
                components: components
                    .iter()
                    .map(|component| (Some(component.kind), Extent::of(component)))
                    .collect(),
            }
        }
    }
}

/// The error of a ModelServing.
pub(super) fn broken(world: &World, serving: &ModelServing) -> Option<Refused> {
    refusal(world, serving)
        .map(|found| Refused { code: found.code, message: found.message.clone() })
}

//! What changes between two states of an input.

use crate::api::{Follow, ModelServing, Service, Views};
use crate::workspace::World;
use std::collections::HashMap;

/// The state before a change.
#[derive(Clone, Copy, Debug)]
pub enum Before<T> {
    /// The running pods.
    Running,
    /// The applied object; `None` if the object is new.
    Applied(Option<T>),
}

/// A service that may change.
#[derive(Clone, Copy, Debug)]
pub struct ServiceChange<'a> {
    /// The service before the change, with the world that it was applied in.
    pub before: Before<(&'a World, &'a Views)>,
    /// The service after the change; `None` if it is deleted.
    pub after: Option<&'a Views>,
}

impl<'a> ServiceChange<'a> {
    /// The service after the change, or before the change if it is deleted.
    pub fn service(&self, semantics: Follow) -> Option<&'a Service> {
        let before = match self.before {
            Before::Applied(Some((_, views))) => Some(views),
            Before::Applied(None) | Before::Running => None,
        };
        self.after.or(before).map(|views| views.of(semantics))
    }
}

/// A ModelServing that may change.
#[derive(Clone, Copy, Debug)]
pub struct ServingChange<'a> {
    /// The ModelServing before the change.
    pub before: Before<&'a ModelServing>,
    /// The ModelServing after the change; `None` if it is deleted.
    pub after: Option<&'a ModelServing>,
}

impl<'a> ServingChange<'a> {
    /// The ModelServing after the change, or before the change if it is deleted.
    pub fn serving(&self) -> Option<&'a ModelServing> {
        let before = match self.before {
            Before::Applied(before) => before,
            Before::Running => None,
        };
        self.after.or(before)
    }
}

/// A state of an input, or a selection of it.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// The whole input.
    pub world: &'a World,
    /// InferenceServices.
    pub services: Vec<&'a Views>,
    /// ModelServings.
    pub servings: Vec<&'a ModelServing>,
}

impl<'a> State<'a> {
    /// Selects everything in a world.
    pub fn all(world: &'a World) -> Self {
        let catalog = &world.catalog;
        Self {
            world,
            services: catalog.services().collect(),
            servings: catalog.model_servings().iter().collect(),
        }
    }
}

/// Everything that is simulated at once.
#[derive(Clone, Debug, Default)]
pub struct Changes<'a> {
    /// The input before the change; `None` if the running pods are the state before.
    pub before: Option<&'a World>,
    /// InferenceServices.
    pub services: Vec<ServiceChange<'a>>,
    /// ModelServings.
    pub servings: Vec<ServingChange<'a>>,
}

impl<'a> Changes<'a> {
    /// The changes from one state to another, or from the running pods. Deleted objects come last.
    pub fn between(before: Option<&State<'a>>, after: &State<'a>, semantics: Follow) -> Self {
        let name = |views: &'a Views| {
            let service = views.of(semantics);
            (service.object.api, &service.namespace, service.name())
        };
        let of_serving = |serving: &'a ModelServing| (&serving.namespace, serving.name());
        let Some(before) = before else {
            let services = after.services.iter();
            let servings = after.servings.iter();
            return Self {
                before: None,
                services: services
                    .map(|views| ServiceChange { before: Before::Running, after: Some(views) })
                    .collect(),
                servings: servings
                    .map(|serving| ServingChange { before: Before::Running, after: Some(serving) })
                    .collect(),
            };
        };
        let mut old: HashMap<_, &'a Views> =
            before.services.iter().map(|views| (name(views), *views)).collect();
        let mut changes = Self { before: Some(before.world), ..Self::default() };
        for views in &after.services {
            let earlier = old.remove(&name(views)).map(|earlier| (before.world, earlier));
            changes
                .services
                .push(ServiceChange { before: Before::Applied(earlier), after: Some(views) });
        }
        // In the order of the input: iterating over the map would not be deterministic.
        for views in before.services.iter().filter(|views| old.contains_key(&name(views))) {
            let earlier = Before::Applied(Some((before.world, *views)));
            changes.services.push(ServiceChange { before: earlier, after: None });
        }
        let mut old: HashMap<_, &'a ModelServing> =
            before.servings.iter().map(|serving| (of_serving(serving), *serving)).collect();
        for serving in &after.servings {
            let earlier = Before::Applied(old.remove(&of_serving(serving)));
            changes.servings.push(ServingChange { before: earlier, after: Some(serving) });
        }
        for serving in
            before.servings.iter().filter(|serving| old.contains_key(&of_serving(serving)))
        {
            changes
                .servings
                .push(ServingChange { before: Before::Applied(Some(serving)), after: None });
        }
        changes
    }

    /// Number of simulated objects.
    pub fn len(&self) -> usize {
        self.services.len() + self.servings.len()
    }

    /// Whether no object is simulated.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

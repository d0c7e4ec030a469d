//! Changes between two states of an input.

use crate::api::{Follow, ModelServing, Service, Views};
use crate::workspace::World;
use std::collections::HashMap;

/// The state before a change.
#[derive(Clone, Copy, Debug)]
pub enum Before<T> {
    /// The pods that run.
    Running,
    /// The object that was applied; none if it is new.
    Applied(Option<T>),
}

/// A service that may change.
#[derive(Clone, Copy, Debug)]
pub struct ServiceChange<'a> {
    /// What is there before, with everything that was applied beside it.
    pub before: Before<(&'a World, &'a Views)>,
    /// The service that is applied now; none when it is removed.
    pub after: Option<&'a Views>,
}

impl<'a> ServiceChange<'a> {
    /// The service, as it is applied now or, where it goes, as it was.
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
    /// What is there before.
    pub before: Before<&'a ModelServing>,
    /// The object that is applied now; none when it is removed.
    pub after: Option<&'a ModelServing>,
}

impl<'a> ServingChange<'a> {
    /// The ModelServing, as it is applied now or, where it goes, as it was.
    pub fn serving(&self) -> Option<&'a ModelServing> {
        let before = match self.before {
            Before::Applied(before) => before,
            Before::Running => None,
        };
        self.after.or(before)
    }
}

/// A state of an input, or what is selected of it.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// Everything.
    pub world: &'a World,
    /// InferenceServices.
    pub services: Vec<&'a Views>,
    /// ModelServings.
    pub servings: Vec<&'a ModelServing>,
}

impl<'a> State<'a> {
    /// All that was read.
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
    /// InferenceServices.
    pub services: Vec<ServiceChange<'a>>,
    /// ModelServings.
    pub servings: Vec<ServingChange<'a>>,
}

impl<'a> Changes<'a> {
    /// From one state to another, or from the pods that run. What is there no more comes last.
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
                services: services
                    .map(|own| ServiceChange { before: Before::Running, after: Some(own) })
                    .collect(),
                servings: servings
                    .map(|own| ServingChange { before: Before::Running, after: Some(own) })
                    .collect(),
            };
        };
        let mut old: HashMap<_, &'a Views> =
            before.services.iter().map(|own| (name(own), *own)).collect();
        let mut changes = Self::default();
        for own in &after.services {
            let earlier = old.remove(&name(own)).map(|earlier| (before.world, earlier));
            changes
                .services
                .push(ServiceChange { before: Before::Applied(earlier), after: Some(own) });
        }
        for own in before.services.iter().filter(|own| old.contains_key(&name(own))) {
            let earlier = Before::Applied(Some((before.world, *own)));
            changes.services.push(ServiceChange { before: earlier, after: None });
        }
        let mut old: HashMap<_, &'a ModelServing> =
            before.servings.iter().map(|own| (of_serving(own), *own)).collect();
        for own in &after.servings {
            let earlier = Before::Applied(old.remove(&of_serving(own)));
            changes.servings.push(ServingChange { before: earlier, after: Some(own) });
        }
        for own in before.servings.iter().filter(|own| old.contains_key(&of_serving(own))) {
            changes
                .servings
                .push(ServingChange { before: Before::Applied(Some(own)), after: None });
        }
        changes
    }

    /// How many things are simulated.
    pub fn len(&self) -> usize {
        self.services.len() + self.servings.len()
    }

    /// Nothing is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

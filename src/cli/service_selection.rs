//! Selects the services of a command.
//!
//! In: the objects of the input, and the names, the namespace and the label selector of the command
//! line. Out: the selected services and ModelServings, or an error about an absent name.

use super::input::Session;
use super::{Failure, names};
use crate::api::{ModelServing, Object, Views};
use crate::diag::{Severity, nearest};
use crate::pipeline::State;
use crate::report::findings;
use crate::report::table::Style;
use crate::schema::names_kind;
use std::ffi::OsStr;
use std::path::Path;

impl Session {
    /// The services a command is about, in order: those named, else all that namespace and selector
    /// leave.
    pub(crate) fn select(&self, names: &[String]) -> Result<Vec<&Views>, Failure> {
        Ok(self.services(self.places(names)?))
    }

    /// Where they are among all of them.
    fn places(&self, names: &[String]) -> Result<Vec<usize>, Failure> {
        let services = || self.world.catalog.services().map(Views::followed);
        if names.is_empty() {
            return Ok(places_of(services(), |service| {
                self.is_asked(&service.object, &service.namespace)
            }));
        }
        let mut chosen = Vec::new();
        for wanted in names::joined(names) {
            let found = places_of(services(), |service| {
                self.is_named(&wanted, &service.object, &service.namespace)
            });
            if found.is_empty() {
                let message = format!("no InferenceService `{wanted}`");
                let help = if self.places_of_servings(&wanted).is_empty() {
                    self.instead_of(&wanted, false)
                } else {
                    "it is a ModelServing; this command is about InferenceServices".into()
                };
                return Err(self.not_found(message, Some(help)));
            }
            chosen.extend(found);
        }
        Ok(chosen)
    }

    /// The help for a service, or with `servings` a ModelServing, that is not in the input.
    pub(super) fn instead_of(&self, wanted: &str, servings: bool) -> String {
        let paths = self.proposals().named_paths();
        if paths.contains(&wanted) {
            let command = self.proposals().reading(&paths);
            return format!("`{wanted}` is a path, which `-f` reads: `{command}`");
        }
        if let Some(help) = self.other_meaning(wanted) {
            return help;
        }
        names::instead_of(wanted, self.known_services(servings))
    }

    /// What a word means that is no service: a runtime or model, a namespace, or a file.
    fn other_meaning(&self, wanted: &str) -> Option<String> {
        let catalog = &self.world.catalog;
        let (kind, name) = wanted.split_once('/').unwrap_or(("", wanted));
        let runtimes = || catalog.all_runtimes().map(|runtime| ("runtime", &runtime.object));
        let all = runtimes().chain(catalog.models().map(|model| ("model", &model.object)));
        let of_kind = |(word, object): &(&str, &Object)| {
            let is_kind = || names_kind(kind, &object.api_version, &object.id.kind);
            kind.is_empty() || kind.eq_ignore_ascii_case(word) || is_kind()
        };
        let all: Vec<(&str, &Object)> = all.filter(of_kind).collect();
        if let Some((word, object)) = all.iter().find(|(_, object)| object.id.name == name) {
            return Some(format!(
                "`{name}` is a {}: `ome explain {word}/{name}` explains it",
                object.id.kind
            ));
        }
        let near = || nearest(name, all.iter().map(|(_, object)| &*object.id.name));
        if !kind.is_empty()
            && let Some(near) = near()
            && let Some((word, _)) = all.iter().find(|(_, object)| object.id.name == near)
        {
            return Some(format!("did you mean `ome explain {word}/{near}`?"));
        }
        if self.known_services(true).any(|(namespace, _)| namespace == wanted) {
            return Some(format!("`{wanted}` is a namespace: `-n {wanted}` selects its services"));
        }
        let end = Path::new(wanted).extension().and_then(OsStr::to_str);
        end.is_some_and(|end| ["yaml", "yml", "json"].contains(&end)).then(|| {
            format!("there is no file `{wanted}`, either; `-f` names files and directories")
        })
    }

    /// Namespaces and names of the services, and with `servings` of the ModelServings.
    pub(super) fn known_services(&self, servings: bool) -> impl Iterator<Item = (&str, &str)> {
        let catalog = &self.world.catalog;
        let services = catalog.services().map(Views::followed);
        let services =
            services.map(|service| (service.namespace.as_str(), service.name().as_str()));
        let model_servings = catalog.model_servings().iter().filter(move |_| servings);
        services.chain(
            model_servings.map(|serving| (serving.namespace.as_str(), serving.name().as_str())),
        )
    }

    /// The services and the ModelServings a command is about: those named, of either kind, else all
    /// that namespace and selector leave.
    pub(super) fn select_all(
        &self,
        names: &[String],
    ) -> Result<(Vec<&Views>, Vec<&ModelServing>), Failure> {
        let (services, servings) = self.all_places(names)?;
        Ok((self.services(services), self.servings(servings)))
    }

    /// The same for a command that needs each service once: moves the services out of the catalog,
    /// so that each can be freed. Returns indices of ModelServings.
    #[expect(clippy::vec_box, reason = "each is freed when it was planned")]
    pub(super) fn take_all(
        &mut self,
        names: &[String],
    ) -> Result<(Vec<Box<Views>>, Vec<usize>), Failure> {
        let (services, servings) = self.all_places(names)?;
        Ok((self.world.catalog.take_services(&services), servings))
    }

    fn services(&self, places: Vec<usize>) -> Vec<&Views> {
        let all: Vec<&Views> = self.world.catalog.services().collect();
        places.into_iter().map(|at| all[at]).collect()
    }

    /// The ModelServings at these places.
    pub(super) fn servings(&self, places: Vec<usize>) -> Vec<&ModelServing> {
        let all = self.world.catalog.model_servings();
        places.into_iter().map(|at| &all[at]).collect()
    }

    pub(super) fn all_places(&self, names: &[String]) -> Result<(Vec<usize>, Vec<usize>), Failure> {
        let all = self.world.catalog.model_servings();
        if names.is_empty() {
            let servings =
                places_of(all, |serving| self.is_asked(&serving.object, &serving.namespace));
            return Ok((self.places(names)?, servings));
        }
        let (mut services, mut servings) = (Vec::new(), Vec::new());
        for name in names::joined(names) {
            let found = self.places_of_servings(&name);
            // A service and a serving may have one name; both are meant.
            match self.places(std::slice::from_ref(&name)) {
                Ok(places) => services.extend(places),
                Err(_) if found.is_empty() => {
                    let message = format!("no InferenceService or ModelServing `{name}`");
                    return Err(self.not_found(message, Some(self.instead_of(&name, true))));
                }
                Err(_) => {}
            }
            servings.extend(found);
        }
        Ok((services, servings))
    }

    /// Whether namespace and selector of the command line leave an object.
    pub(super) fn is_asked(&self, object: &Object, namespace: &str) -> bool {
        self.namespace.as_ref().is_none_or(|name| name == namespace) && self.is_selected(object)
    }

    /// Whether a service is the one that is named on the command line.
    pub(super) fn is_named(&self, wanted: &str, object: &Object, namespace: &str) -> bool {
        names::is_named(wanted, self.namespace.as_deref(), object, namespace)
    }

    /// Rejects a namespace of `-n` without any object for the command.
    pub(super) fn require_any(&self, count: usize) -> Result<(), Failure> {
        let catalog = &self.world.catalog;
        let has_any = catalog.services().len() + catalog.model_servings().len() > 0;
        let is_narrowed = self.namespace.is_some() || self.selector.is_some();
        // An input without services is no mistake of the flags.
        if count > 0 || !has_any || !is_narrowed {
            return Ok(());
        }
        let Some(namespace) = self.namespace.as_ref().filter(|_| self.selector.is_none()) else {
            return Err(self.not_found(
                "no InferenceService or ModelServing has labels that match the selector".into(),
                Some("leave `-l` out to see all services".into()),
            ));
        };
        let services = catalog
            .services()
            .map(|views| views.followed().namespace.as_str())
            .chain(catalog.model_servings().iter().map(|serving| serving.namespace.as_str()));
        let near = nearest(namespace, services);
        Err(self.not_found(
            format!("no InferenceService or ModelServing in namespace `{namespace}`"),
            near.map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("leave `-n` out to see the services of all namespaces".into())),
        ))
    }

    /// The error for a name that is not in the input; unread files are reported first, because they
    /// can contain it.
    pub(crate) fn not_found(&self, message: String, help: Option<String>) -> Failure {
        // What was not read may hold the name.
        let mut unread = self.grade(self.world.unread.iter().cloned());
        unread.retain(|finding| finding.severity > Severity::Info);
        let failure = Failure::NotFound { message, help };
        if unread.is_empty() {
            return failure;
        }
        let drawn = |color| {
            let style = Style { color, width: None };
            findings::shortened(&unread, &self.world.sources, style)
        };
        Failure::Unread { plain: drawn(false), colored: drawn(true), failure: Box::new(failure) }
    }

    /// The workloads that no operator writes, as namespace and selector leave them.
    pub(super) fn plain_workloads(&self) -> Vec<&Object> {
        let mut all = State::plain(&self.world);
        all.retain(|object| self.is_in_namespace(namespace_of(object)) && self.is_selected(object));
        all
    }

    /// The workloads that no operator writes of one name: NAME, KIND/NAME or KIND/NAMESPACE/NAME.
    pub(super) fn plain_workloads_named(&self, wanted: &str) -> Vec<&Object> {
        let mut all = State::plain(&self.world);
        all.retain(|object| self.is_named(wanted, object, namespace_of(object)));
        all
    }

    /// The ModelServings of one name.
    pub(super) fn model_servings(&self, wanted: &str) -> Vec<&ModelServing> {
        self.servings(self.places_of_servings(wanted))
    }

    fn places_of_servings(&self, wanted: &str) -> Vec<usize> {
        places_of(self.world.catalog.model_servings(), |serving| {
            // A serving may be named by the booster that it comes from.
            let booster = serving.booster.iter().map(|booster| &booster.object);
            std::iter::once(&serving.object)
                .chain(booster)
                .any(|object| self.is_named(wanted, object, &serving.namespace))
        })
    }

    /// Whether a ModelServing has a finding of error level, so that it is not rendered.
    pub(super) fn is_broken(&self, serving: &ModelServing) -> bool {
        self.world.catalog.refused(&serving.object).is_some()
    }

    /// The services of a namespace, or of all of them.
    pub(crate) fn select_in(&self, namespace: Option<&str>) -> Vec<&Views> {
        let services = self.world.catalog.services();
        services
            .filter(|views| {
                namespace.is_none_or(|namespace| views.followed().namespace == namespace)
            })
            .collect()
    }

    /// Whether `-n` keeps a namespace.
    pub(super) fn is_in_namespace(&self, namespace: &str) -> bool {
        self.namespace.as_ref().is_none_or(|name| name == namespace)
    }

    /// Whether the label selector keeps an object.
    pub(crate) fn is_selected(&self, object: &Object) -> bool {
        self.selector.as_ref().is_none_or(|selector| {
            let labels = object.labels();
            selector.matches(|key| labels.get(key).and_then(|value| value.as_str()))
        })
    }
}

/// The namespace of an object; empty where it has none.
pub(super) fn namespace_of(object: &Object) -> &str {
    object.id.scope.namespace().map_or("", ecow::EcoString::as_str)
}

/// Where those are that something holds of.
fn places_of<T>(all: impl IntoIterator<Item = T>, is_one: impl Fn(&T) -> bool) -> Vec<usize> {
    all.into_iter().enumerate().filter(|(_, one)| is_one(one)).map(|(at, _)| at).collect()
}

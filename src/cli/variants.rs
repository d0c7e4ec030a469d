//! Services with definitions in several directories: each is planned with the objects that it sees,
//! and totals count one of each name.

use super::input::Session;
use super::names;
use crate::api::{Api, Object, ObjectRef};
use crate::diag::quoted;
use crate::pipeline::serving::{PlannedServing, plan_servings};
use crate::pipeline::{Depth, Planned, Planner, Variant};
use crate::source::Span;
use ecow::EcoString;
use std::collections::{HashMap, HashSet};

/// The plans that the catalog of the input does not give.
#[derive(Default)]
pub(super) struct Variants<'a> {
    /// Further definitions of services.
    services: Vec<Planned<'a>>,
    /// Further definitions of ModelServings.
    servings: Vec<PlannedServing<'a>>,
}

/// Namespace and name.
type Name = (EcoString, EcoString);

/// Where a definition is: the operator, the name and the directory.
type Place<'o> = (Api, &'o ObjectRef, Option<EcoString>);

/// One of several definitions of a name.
struct Definition {
    name: Name,
    directory: EcoString,
    place: Span,
}

/// A service by operator, namespace and name.
type Key<'k> = (Api, &'k EcoString, &'k EcoString);

fn key<'k>(planned: &'k Planned<'_>) -> Key<'k> {
    let service = &planned.service;
    (service.api, &service.namespace, &service.name)
}

impl Session {
    /// Plans the further definitions of the selected services. Of those that are `planned`, those with
    /// several definitions are named by their directory.
    pub(super) fn plan_variants<'a>(
        &'a self,
        planner: &Planner<'a>,
        names: &[String],
        depth: Depth,
        planned: &mut [Planned<'a>],
    ) -> Variants<'a> {
        let mut variants = Variants::default();
        let wanted = names::joined(names);
        let is_wanted = |object: &Object, namespace: &str| {
            if wanted.is_empty() {
                self.is_asked(object, namespace)
            } else {
                wanted.iter().any(|wanted| self.is_named(wanted, object, namespace))
            }
        };
        for view in &self.world.views {
            let services: Vec<_> = view
                .catalog
                .services()
                .filter(|views| {
                    let service = views.followed();
                    view.adds(service.object.name_span())
                        && is_wanted(&service.object, &service.namespace)
                })
                .collect();
            variants.services.extend(planner.plan_all(&services, depth));
            let servings = view.catalog.model_servings().iter();
            let servings: Vec<_> = servings
                .filter(|serving| {
                    view.adds(serving.object.name_span())
                        && is_wanted(&serving.object, &serving.namespace)
                })
                .collect();
            variants.servings.extend(plan_servings(&view.catalog, &servings));
        }
        // Only services with several definitions are named by their directory.
        let several: HashSet<Key<'_>> = variants.services.iter().map(key).collect();
        for planned in planned.iter_mut().filter(|planned| several.contains(&key(planned))) {
            planned.service.directory = self.directory(planned.service.place);
        }
        for planned in &mut variants.services {
            planned.service.directory = self.directory(planned.service.place);
        }
        variants
    }

    /// Names the definitions of services that have several: by directory, or by file where a
    /// directory has two.
    fn name_variants(&self, planned: &mut [Planned<'_>]) {
        let definition = |planned: &Planned<'_>| {
            let service = &planned.service;
            let name = (service.namespace.clone(), service.name.clone());
            Some(Definition { name, directory: service.directory.clone()?, place: service.place })
        };
        let definitions: Vec<_> = planned.iter().map(definition).collect();
        for (planned, name) in planned.iter_mut().zip(self.told_apart(&definitions)) {
            planned.service.variant = name.or(planned.service.variant.take());
        }
    }

    /// Names the definitions of ModelServings that have several.
    fn name_servings(&self, servings: &mut [PlannedServing<'_>]) {
        let name = |serving: &PlannedServing<'_>| {
            (serving.serving.namespace.clone(), serving.serving.name().clone())
        };
        let mut count: HashMap<Name, usize> = HashMap::new();
        for serving in servings.iter() {
            *count.entry(name(serving)).or_default() += 1;
        }
        for serving in servings.iter_mut().filter(|serving| count[&name(serving)] > 1) {
            serving.directory = self.directory(serving.serving.object.name_span());
        }
        let definition = |serving: &PlannedServing<'_>| {
            let (name, place) = (name(serving), serving.serving.object.name_span());
            Some(Definition { name, directory: serving.directory.clone()?, place })
        };
        let definitions: Vec<_> = servings.iter().map(definition).collect();
        for (serving, name) in servings.iter_mut().zip(self.told_apart(&definitions)) {
            serving.variant = name;
        }
    }

    /// What tells definitions of one name apart.
    fn told_apart(&self, definitions: &[Option<Definition>]) -> Vec<Option<EcoString>> {
        let mut taken: HashMap<(&Name, &EcoString), usize> = HashMap::new();
        for definition in definitions.iter().flatten() {
            *taken.entry((&definition.name, &definition.directory)).or_default() += 1;
        }
        let shown = |definition: &Definition| -> EcoString {
            let directory = &definition.directory;
            // One directory may hold two definitions, which file and line tell apart.
            if taken.get(&(&definition.name, directory)) == Some(&1) {
                return directory.clone();
            }
            let place = self.world.sources.locate(definition.place);
            let file = place.file.rsplit('/').next().unwrap_or_default().to_owned();
            let below = directory.strip_prefix("./").unwrap_or(directory);
            format!("{below}{file}:{}", place.line).into()
        };
        definitions.iter().map(|definition| definition.as_ref().map(shown)).collect()
    }

    /// The definitions of services that the catalog of the input leaves out.
    fn added(&self) -> impl Iterator<Item = &Object> {
        self.world.views.iter().flat_map(|view| {
            let services = view.catalog.services().map(|views| &views.followed().object);
            let servings = view.catalog.model_servings().iter().map(|serving| &serving.object);
            services.chain(servings).filter(|object| view.adds(object.name_span()))
        })
    }

    /// The definitions of services that the catalog of the input has.
    fn counted(&self) -> impl Iterator<Item = &Object> {
        let catalog = &self.world.catalog;
        let services = catalog.services().map(|views| &views.followed().object);
        services.chain(catalog.model_servings().iter().map(|serving| &serving.object))
    }

    /// Gives each service that has several definitions the list of them, in the order of their places.
    pub(super) fn list_variants(
        &self,
        planned: &mut [Planned<'_>],
        servings: &mut [PlannedServing<'_>],
    ) {
        let mut others: HashMap<(Api, &ObjectRef), Vec<Span>> = HashMap::new();
        for object in self.added() {
            others.entry((object.api, &object.id)).or_default().push(object.name_span());
        }
        let mut lists: HashMap<Span, Vec<Variant>> = HashMap::new();
        for object in self.counted() {
            if let Some(others) = others.get(&(object.api, &object.id)) {
                lists.insert(object.name_span(), self.variants_of(object, others));
            }
        }
        for planned in planned {
            planned.service.variants = lists.remove(&planned.service.place).unwrap_or_default();
        }
        for serving in servings {
            let place = serving.serving.object.name_span();
            serving.variants = lists.remove(&place).unwrap_or_default();
        }
    }

    /// The definitions of an object that is explained, and of others with its name.
    fn variants_of(&self, object: &Object, others: &[Span]) -> Vec<Variant> {
        let span = object.name_span();
        let mut places: Vec<Span> = others.iter().copied().chain([span]).collect();
        places.sort_by_key(|place| (self.directory(*place), *place));
        let directories: Vec<EcoString> =
            places.iter().map(|place| self.directory(*place).unwrap_or_default()).collect();
        let name = object.qualified_name();
        let variant = |(place, directory): (&Span, &EcoString)| {
            let is_alone = directories.iter().filter(|other| *other == directory).count() == 1;
            let source = self.world.sources.get(place.source);
            // No flag tells two files of one directory apart without dropping the rest of the input.
            let command = (is_alone || source.overlay.is_some()).then(|| {
                let directory = quoted(directory.trim_end_matches('/'));
                let rest = self.proposals().arguments("explain");
                format!("ome explain {name} --in {directory}{rest}")
            });
            Variant {
                directory: directory.clone(),
                place: *place,
                command,
                explained: *place == span,
            }
        };
        places.iter().zip(&directories).map(variant).collect()
    }

    /// All definitions of these names, by where they are.
    fn definitions<'o>(
        &'o self,
        names: &HashSet<(Api, &ObjectRef)>,
    ) -> HashMap<Place<'o>, Vec<&'o Object>> {
        let mut definitions: HashMap<Place<'o>, Vec<&'o Object>> = HashMap::new();
        let counted = self.counted().chain(self.added());
        for object in counted.filter(|object| names.contains(&(object.api, &object.id))) {
            definitions.entry(self.place_of(object)).or_default().push(object);
        }
        definitions
    }

    fn place_of<'o>(&self, object: &'o Object) -> Place<'o> {
        (object.api, &object.id, self.directory(object.name_span()))
    }

    /// Definitions that a comparison with an earlier state leaves out although they are others than
    /// there, as KIND/NAMESPACE/NAME with the directory.
    pub(super) fn changed_variants(&self, before: &Self) -> Vec<String> {
        let several: HashSet<(Api, &ObjectRef)> =
            before.added().chain(self.added()).map(|object| (object.api, &object.id)).collect();
        if several.is_empty() {
            return Vec::new();
        }
        // Which definition counts may differ between the states, so all of them are looked at.
        let (old, new) = (before.definitions(&several), self.definitions(&several));
        let is_new = |object: &&Object| {
            let there = old.get(&self.place_of(object));
            !there.is_some_and(|there| there.iter().any(|other| other.node == object.node))
        };
        let is_gone = |object: &&Object| {
            let key = before.place_of(object);
            new.get(&key).map_or(0, Vec::len) < old[&key].len()
        };
        let changed = self.added().filter(is_new).map(|object| self.place_of(object));
        let gone = before.added().filter(is_gone).map(|object| before.place_of(object));
        let mut names: Vec<String> = changed
            .chain(gone)
            .map(|(_, id, directory)| {
                let directory = directory.as_deref().unwrap_or_default();
                format!("{id} in {directory}")
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The same as a line.
    pub(super) fn changed_line(names: &[String]) -> Option<String> {
        let first = names.first()?;
        let directory = first.rsplit(" in ").next()?.trim_end_matches('/');
        let more = match names.len() {
            1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        Some(format!(
            "changed and not compared: {first}{more}: `--in {}` compares it",
            quoted(directory)
        ))
    }

    /// The definitions of these objects that an answer leaves out: which ones it is about, and how
    /// to ask about the others. `done` is what was done with the objects.
    pub(super) fn other_definitions<'o>(
        &self,
        shown: impl Iterator<Item = &'o Object>,
        done: &str,
    ) -> Option<String> {
        if self.world.views.is_empty() {
            return None;
        }
        let mut others: HashMap<(Api, &ObjectRef), Vec<Span>> = HashMap::new();
        for object in self.added() {
            others.entry((object.api, &object.id)).or_default().push(object.name_span());
        }
        let of_shown =
            shown.filter_map(|object| Some((object, others.get(&(object.api, &object.id))?)));
        let several: Vec<_> = of_shown.collect();
        let (first, others) = several.first()?;
        let (place, span) = (self.variant(first.name_span(), others), first.name_span());
        let name = first.qualified_name();
        // A directory is named only if it tells them apart.
        let elsewhere = others.iter().find(|other| self.directory(**other) != self.directory(span));
        let asks = elsewhere.map_or_else(
            || format!("-f {}", quoted(&self.world.sources.get(others[0].source).name)),
            |other| {
                let directory = self.directory(*other).unwrap_or_default();
                format!("--in {}", quoted(directory.trim_end_matches('/')))
            },
        );
        Some(match several.len() {
            1 => format!(
                "{done}: {place} of {} variants ({name}): `{asks}` asks about another",
                others.len() + 1,
            ),
            many => format!(
                "{done}: one definition of each of {many} services with variants, such as {place} of {} \
                 ({name}): `--in DIR` asks about those of a directory",
                others.len() + 1
            ),
        })
    }

    /// A definition among others of its name: its directory, or its file where they share that.
    fn variant(&self, place: Span, others: &[Span]) -> String {
        let directory = self.directory(place);
        if others.iter().any(|other| self.directory(*other) == directory) {
            return self.world.sources.get(place.source).name.to_string();
        }
        directory.unwrap_or_default().to_string()
    }

    /// The directory of an object below the path that was named.
    pub(super) fn directory(&self, place: Span) -> Option<EcoString> {
        self.world.sources.get(place.source).directory().map(EcoString::from)
    }
}

impl<'a> Variants<'a> {
    /// Adds them to what is shown, after everything was counted. Returns which definitions count, as
    /// a sentence.
    pub(super) fn show(
        self,
        session: &Session,
        planned: &mut Vec<Planned<'a>>,
        servings: &mut Vec<PlannedServing<'a>>,
    ) -> Option<String> {
        let mut counts: HashMap<Name, Vec<Span>> = HashMap::new();
        let added = self.services.iter().map(|planned| {
            let service = &planned.service;
            ((service.namespace.clone(), service.name.clone()), service.place)
        });
        let added = added.chain(self.servings.iter().map(|serving| {
            let serving = serving.serving;
            ((serving.namespace.clone(), serving.name().clone()), serving.object.name_span())
        }));
        for (name, place) in added {
            counts.entry(name).or_default().push(place);
        }
        let mut counted: Vec<String> = Vec::new();
        let entries = planned.iter().map(|planned| {
            let service = &planned.service;
            (service.namespace.clone(), service.name.clone(), service.place)
        });
        let entries = entries.chain(servings.iter().map(|serving| {
            let serving = serving.serving;
            (serving.namespace.clone(), serving.name().clone(), serving.object.name_span())
        }));
        let mut services = 0;
        for (namespace, name, place) in entries {
            let Some(others) = counts.get(&(namespace.clone(), name.clone())) else { continue };
            let (one, all) = (session.variant(place, others), others.len() + 1);
            services += 1;
            counted.push(format!("{one} of {all} variants ({namespace}/{name})"));
        }
        planned.extend(self.services);
        session.name_variants(planned);
        planned.sort_by(|a, b| {
            let order = |planned: &Planned<'_>| {
                (planned.service.namespace.clone(), planned.service.name.clone())
            };
            order(a).cmp(&order(b))
        });
        servings.extend(self.servings);
        servings.sort_by(|a, b| {
            (&a.serving.namespace, a.serving.name()).cmp(&(&b.serving.namespace, b.serving.name()))
        });
        session.name_servings(servings);
        match counted.as_slice() {
            [] => None,
            [one] => Some(format!("counted: {one}")),
            [first, ..] => Some(format!(
                "counted: one definition of each of {services} services with variants, such as {first}; `--in DIR` counts those of a directory"
            )),
        }
    }
}

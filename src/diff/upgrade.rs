//! Finds the rules of two releases that make the difference between them.
//!
//! A service is decided and rendered again on either side, with a single rule taken from the other
//! release. If the result is closer to the other side, the rule is part of the difference. Rules
//! about reading are recognized by the fields that were read.

use super::changed::distance;
use super::comparison::Comparison;
use super::edit::Player;
use super::side::{Made, make};
use super::{Cause, Diff, Group, Note, Pair, State, Subject, policies};
use crate::api::{DeploymentMode, Object, ObjectRef, Scope, Views};
use crate::diag::Code;
use crate::operators;
use crate::pipeline::render::Renderer;
use crate::policy::Policy;
use crate::policy::upgrade::{self, Reach, ReleaseRule, ShippedRules, Switch, Upgrade};
use crate::source::Location;
use crate::yaml::{FieldPath, Node, Segment};
use rayon::prelude::*;
use std::collections::HashMap;

/// The policies of two releases of one operator that decides services; `None` if both sides have
/// the same policy.
pub(super) fn releases(sides: [&State<'_>; 2]) -> Option<[&'static Policy; 2]> {
    operators::deciding().find_map(|api| policies(sides, api))
}

/// Sets the rules of every group.
pub(super) fn explain(
    comparison: &Comparison<'_, '_>,
    releases: [&'static Policy; 2],
    diff: &mut Diff,
) {
    let [before, after] = releases;
    let rules = || {
        upgrade_of(before).into_iter().flat_map(|upgrade| upgrade.rules.iter().copied().flatten())
    };
    // On both sides: a rule can act alone in one release and only together with others in the
    // other.
    let hybrids = [(before, after), (after, before)]
        .map(|(one, other)| upgrade::between(rules(), one, other));
    // Renderers are made once for all services: each reads the catalog.
    let player = Player::new(comparison, &hybrids);
    let renderers: Vec<Vec<(&'static Switch, Renderer<'_>)>> = hybrids
        .iter()
        .enumerate()
        .map(|(side, rules)| {
            let world = comparison.sides[side].world;
            let settings = comparison.settings;
            let renderer = |policy| Renderer::by_policy(world, settings.cluster_domain, policy);
            rules.iter().map(|(rule, policy)| (*rule, renderer(policy))).collect()
        })
        .collect();
    let services = comparison.sides.map(|side| {
        let named = side.services.iter().map(|views| {
            let service = views.followed();
            ((service.object.api, service.namespace.as_str(), service.name().as_str()), *views)
        });
        named.collect::<HashMap<_, &Views>>()
    });
    let groups = diff.groups.par_iter_mut().enumerate();
    groups.filter(|(_, group)| group.api == before.api).for_each(|(place, group)| {
        let Some(first) = group.services.first().cloned() else { return };
        let Some((namespace, name)) = first.split_once('/') else { return };
        let mut hit: Vec<&'static ReleaseRule> = Vec::new();
        let found: [Option<&Views>; 2] =
            [0, 1].map(|side| services[side].get(&(group.api, namespace, name)).copied());
        let mut created = None;
        if let [Some(before), Some(after)] = found {
            let subjects = [before, after].map(Subject::Service);
            let components_built = [0, 1].map(|side| comparison.make(side, subjects[side]));
            // What one rule has to shorten.
            let apart = distance(&components_built[0], &components_built[1]);
            for side in 0..2 {
                for (switch, renderer) in &renderers[side] {
                    let is_known = hit.iter().any(|other| other.id == switch.rule.id);
                    let closer = || {
                        let built = make(renderer, subjects[side]);
                        distance(&built, &components_built[1 - side]) < apart
                    };
                    if !is_known && closer() {
                        hit.push(&switch.rule);
                    }
                }
            }
            created = Some(([before, after], components_built));
        }
        hit.extend(of_input(comparison, releases, group, found, created.as_ref(), &player, &hit));
        if let Some((service, components_built)) = created {
            (group.edits, group.all_edits) =
                player.play(place, &first, service, &components_built, &hit);
        }
        group.rules = hit;
    });
    // Without the configurations of the cluster nothing is known to fail.
    let fails = |group: &Group| match &group.error {
        Some(Pair { from: None, to: Some(error) }) => !error.is_unread(),
        _ => false,
    };
    diff.summary.fails = count(&diff.groups, fails);
    let left = |group: &Group| {
        group.objects.iter().filter(|object| object.left_behind).count() * group.services.len()
    };
    diff.summary.left_behind = diff.groups.iter().map(left).sum();
}

/// The rules that change no object of a service, with the objects that they affect.
pub(super) fn notes(
    comparison: &Comparison<'_, '_>,
    [before, after]: [&'static Policy; 2],
) -> Vec<Note> {
    let effects = upgrade_of(before).map_or(&[][..], |upgrade| upgrade.effects);
    let [side, later] = comparison.sides;
    // Only the later release has the fields and kinds that its rules are about.
    let catalog = &later.world.catalog;
    let services: HashMap<&ObjectRef, &Views> =
        side.services.iter().map(|views| (&views.followed().object.id, *views)).collect();
    let existing = Reach {
        has_class: &|name| catalog.accelerator_class(name).is_some_and(|class| !class.builtin),
        has_model: &|namespace, name| {
            [Scope::Namespace(namespace.into()), Scope::Cluster]
                .iter()
                .any(|scope| catalog.model(scope, name).is_some())
        },
        is_refused: &|object| {
            services.get(&object.id).is_some_and(|views| {
                let service = views.followed();
                comparison.renderers[0].decide(service).error.is_some()
            })
        },
        runs_deployments: &|object| {
            services.get(&object.id).is_some_and(|views| {
                let service = views.followed();
                let mode = operators::mode_of(before, service, catalog.config());
                !matches!(mode, Some(DeploymentMode::Serverless | DeploymentMode::ModelMesh))
            })
        },
    };
    let objects = catalog.objects().filter(|object| object.api == before.api && !object.builtin);
    let services =
        |object: &Object| object.id.kind != "InferenceService" || services.contains_key(&object.id);
    let objects: Vec<&Object> = objects.filter(|object| services(object)).collect();
    let rules = effects.iter().filter(|effect| (effect.differs)(before, after));
    let notes = rules.map(|effect| {
        let reached = objects.par_iter().filter(|object| (effect.reaches)(object, &existing));
        let mut objects: Vec<ObjectRef> = reached.map(|object| object.id.clone()).collect();
        objects.sort();
        Note { rule: &effect.rule, objects }
    });
    notes.filter(|note| !note.objects.is_empty()).collect()
}

/// The basis of the rules in which two releases differ.
pub(super) fn basis([before, _]: [&'static Policy; 2]) -> Option<&'static str> {
    upgrade_of(before)?.basis
}

/// The differences between the releases of a policy's operator.
fn upgrade_of(policy: &Policy) -> Option<&'static Upgrade> {
    Some(operators::services(policy.api)?.upgrade())
}

/// Orders groups by effect: restarts, failures, other choices, objects left behind, changes that
/// clients notice, the rest.
pub(super) fn order(diff: &mut Diff) {
    diff.groups.sort_by_key(|group| {
        let fails = group.fails.is_some();
        let chooses = group.runtime.is_some() || !group.accelerators.is_empty();
        let leaves = group.objects.iter().any(|object| object.left_behind);
        // `false` sorts first. The sort is stable, so that equal groups stay by size.
        (!group.restart, !fails, !chooses, !leaves, !is_noticed(group))
    });
}

/// Whether clients notice a change, because ports or hosts differ.
fn is_noticed(group: &Group) -> bool {
    group.objects.iter().any(|object| {
        let leads = matches!(
            object.id.kind.as_str(),
            "Service" | "Ingress" | "VirtualService" | "HTTPRoute"
        );
        let spec = |path: &FieldPath| {
            path.0.first().is_some_and(|segment| *segment == Segment::Field("spec".into()))
        };
        leads
            && (object.changes.is_empty() || object.changes.iter().any(|change| spec(&change.path)))
    })
}

fn count(groups: &[Group], wanted: impl Fn(&Group) -> bool) -> usize {
    groups.iter().filter(|group| wanted(group)).map(|group| group.services.len()).sum()
}

/// The rules that are found in the input and in what changed, for a group that `hit` affects.
fn of_input<'a>(
    comparison: &Comparison<'_, '_>,
    releases: [&'static Policy; 2],
    group: &Group,
    services: [Option<&Views>; 2],
    created: Option<&([&'a Views; 2], [Made<'a>; 2])>,
    player: &Player<'_, 'a>,
    hit: &[&'static ReleaseRule],
) -> Vec<&'static ReleaseRule> {
    let [before, after] = releases;
    let Some(rules) = upgrade_of(before) else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(shipped) = &rules.shipped
        && created.is_none_or(|(_, components_built)| !components_built[0].has_no_objects())
    {
        found.extend(set_otherwise(comparison, shipped, releases, group, services));
    }
    let read = read_otherwise(rules, releases, group);
    let is_tried = || {
        created.is_none_or(|(service, components_built)| player.reads(*service, components_built))
    };
    if !rules.fields_are_tried || read.is_empty() || is_tried() {
        found.extend(read);
    }
    if let Some(rule) = rules.protocol {
        let protocol = services.map(|views| {
            let service = views?.followed();
            Some(service.protocol.as_ref()?.value.clone())
        });
        let applies = rule.is_between(before, after) && protocol[0] != protocol[1];
        found.extend(applies.then_some(&rule.rule));
    }
    if let Some((rule, policy)) = rules.crash {
        let crashes = group.fails.as_ref().is_some_and(|refused| refused.code == Code::WouldPanic);
        found.extend(Some(rule).filter(|_| crashes && hit.iter().any(|rule| rule.id == policy)));
    }
    found
}

/// The rules about changed shipped settings, if they change existing objects.
fn set_otherwise(
    comparison: &Comparison<'_, '_>,
    rules: &ShippedRules,
    [before, after]: [&'static Policy; 2],
    group: &Group,
    services: [Option<&Views>; 2],
) -> Vec<&'static ReleaseRule> {
    let configs = comparison.sides.map(|side| side.world.catalog.config());
    let of_service = |kind: &str, name: &str| {
        matches!(kind, "Ingress" | "VirtualService" | "HTTPRoute")
            // The external Service has the name of the InferenceService.
            || (kind == "Service"
                && group.services.first().is_some_and(|first| first.ends_with(&format!("/{name}"))))
    };
    let image = |node: Option<&Node>| {
        node.and_then(|prober| prober.get("image")).and_then(Node::as_str).map(str::to_owned)
    };
    let [old, new] = configs.map(|config| image(config.multinode_prober.as_ref()));
    // Annotations of the service take precedence over the settings.
    let requested = [0, 1].map(|side| {
        let service = services[side]?.followed();
        Some((rules.without_ingress)([before, after][side], service, configs[side]))
    });
    let mut hit = Vec::new();
    if rules.ingress.is_between(before, after)
        && requested[0] != requested[1]
        && group.objects.iter().any(|object| {
            matches!(object.id.scope, Scope::Namespace(_))
                && of_service(&object.id.kind, &object.id.name)
        })
    {
        hit.push(&rules.ingress.rule);
    }
    let changed = |value: &Option<String>| {
        group.objects.iter().flat_map(|object| &object.changes).any(|change| {
            // The new image in an object shows that the setting reached it.
            let text = change.to.as_ref().and_then(Node::as_str);
            text.is_some() && text == value.as_deref()
        })
    };
    if rules.prober.is_between(before, after) && old != new && changed(&new) {
        hit.push(&rules.prober.rule);
    }
    let waits =
        |change: &super::Change| change.path.to_string().ends_with("terminationGracePeriodSeconds");
    if rules.grace_period.is_between(before, after)
        && configs[0].grace_period != configs[1].grace_period
        && group.objects.iter().flat_map(|object| &object.changes).any(waits)
    {
        hit.push(&rules.grace_period.rule);
    }
    hit
}

/// The rules about fields that the releases read differently, if they affect a group.
fn read_otherwise(
    rules: &'static Upgrade,
    [before, after]: [&'static Policy; 2],
    group: &Group,
) -> Vec<&'static ReleaseRule> {
    // A field belongs to the first rule about it.
    let found = rules.fields.iter().enumerate().filter_map(|(place, (rule, is_about))| {
        let is_changed = |field: &str| {
            let of_others = rules.fields[..place]
                .iter()
                .any(|(other, is_about)| other.is_between(before, after) && is_about(field));
            is_about(field) && !of_others
        };
        fields(rule, [before, after], group, is_changed)
    });
    found.collect()
}

/// The rule about fields that only one of the releases reads, if such a field changes a group;
/// `is_changed` selects the fields of the rule.
fn fields(
    rule: &'static Switch,
    [before, after]: [&'static Policy; 2],
    group: &Group,
    is_changed: impl Fn(&str) -> bool,
) -> Option<&'static ReleaseRule> {
    // Built-in objects of a release are not input that is read differently.
    let of_input = |place: &Location| !place.to_string().starts_with("builtin:");
    // For a whole object, its name.
    let field = |cause: &Cause| {
        if cause.path.0.is_empty() { cause.object.clone() } else { cause.path.to_string() }
    };
    let causes = group.causes.iter().filter(|cause| is_changed(&field(cause)));
    let mut places = causes.filter_map(|cause| cause.place.as_ref().or(cause.before.as_ref()));
    (rule.is_between(before, after) && places.any(of_input)).then_some(&rule.rule)
}

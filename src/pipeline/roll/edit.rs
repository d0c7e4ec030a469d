//! Edits of a service that may complete its update, and the service with these edits applied.

use super::serving::ServingKind;
use super::track::{Kind, Part, Track};
use super::{DOMAIN, Ground, plain, side};
use crate::api::{FieldEdit, ModelServing, Object, Service};
use crate::operators;
use crate::operators::servings;
use crate::pipeline::built::PodContext;
use crate::pipeline::render::Renderer;
use crate::quantity::IntOrPercent;
use crate::rollout::Strategy;
use crate::yaml::{FieldPath, Node, Origin, Rule};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::cell::LazyCell;
use std::sync::LazyLock;

static EDIT: Rule = Rule {
    id: "rollout-edit",
    text: "a value tried to see whether the update completes",
    cite: "docs/decisions.md#rollout-edits",
};

/// How many replicas fewer run during the update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fewer {
    /// One.
    One,
    /// Half of them.
    Half,
    /// All but one.
    AllButOne,
}

/// The kind of edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditKind {
    /// No pod beyond the replicas, one below them.
    NoSurge,
    /// Strategy Recreate: all old pods end first.
    Recreate,
    /// Fewer replicas.
    Fewer(Fewer),
}

/// The object whose fields are edited.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    Service(&'a Service),
    Serving(&'a ModelServing),
    /// A workload that no operator writes.
    Workload(&'a Object),
}

impl<'a> Subject<'a> {
    fn object(self) -> &'a Object {
        match self {
            Self::Service(service) => &service.object,
            Self::Serving(serving) => &serving.object,
            Self::Workload(object) => object,
        }
    }
}

impl Fewer {
    /// How many of `replicas` are left.
    fn of(self, replicas: i64) -> i64 {
        match self {
            Self::One => replicas - 1,
            Self::Half => replicas / 2,
            Self::AllButOne => 1,
        }
    }
}

/// The fields that an edit sets, with their values; null removes a field. `None` if the edit
/// changes nothing.
pub(super) fn fields(
    what: EditKind,
    subject: Subject<'_>,
    track: &Track,
) -> Option<Vec<(FieldPath, Value)>> {
    let kind = track.after.as_ref()?;
    let spec = FieldPath::root().field("spec");
    let component = match (track.part, subject, what) {
        (Part::Component(component), ..) => component,
        (Part::Groups, Subject::Serving(serving), EditKind::Fewer(fewer)) => {
            let now = serving.replicas.value;
            return (now > 1).then(|| vec![(spec.field("replicas"), json!(fewer.of(now)))]);
        }
        (Part::Pods, Subject::Workload(object), _) => {
            return of_workload(what, object, kind, track.scaled);
        }
        (Part::Groups | Part::Pods, ..) => return None,
    };
    let object = subject.object().spec(component.as_str());
    let component = spec.field(component.as_str());
    let strategy = component.field("deploymentStrategy");
    match (what, kind) {
        (EditKind::NoSurge, Kind::Deployment(spec)) if spec.strategy != Strategy::Recreate => {
            let rolling = strategy.field("rollingUpdate");
            Some(vec![
                (rolling.field("maxSurge"), json!(0)),
                (rolling.field("maxUnavailable"), json!(1)),
            ])
        }
        (EditKind::Recreate, Kind::Deployment(spec)) if spec.strategy != Strategy::Recreate => {
            let mut edits = vec![(strategy.field("type"), json!("Recreate"))];
            // The API server rejects type Recreate together with rollingUpdate.
            if object
                .is_some_and(|node| node.at(&["deploymentStrategy", "rollingUpdate"]).is_some())
            {
                edits.push((strategy.field("rollingUpdate"), Value::Null));
            }
            Some(edits)
        }
        (EditKind::Fewer(fewer), kind) => {
            let now = kind.version().map(|(_, replicas)| replicas).filter(|now| *now > 1)?;
            let left = fewer.of(now);
            let written = |key: &str| object.and_then(|node| node.get(key)).and_then(Node::as_int);
            let mut edits = Vec::new();
            // A field that is not written is not edited: the reader would search for it in vain.
            if written("minReplicas").is_some_and(|least| least > left) {
                edits.push((component.field("minReplicas"), json!(left)));
            }
            // No autoscaler scales the groups of a LeaderWorkerSet.
            if !matches!(kind, Kind::Groups(_))
                && written("maxReplicas").is_some_and(|most| most > left)
            {
                edits.push((component.field("maxReplicas"), json!(left)));
            }
            (!edits.is_empty()).then_some(edits)
        }
        _ => None,
    }
}

/// The same of a workload that no operator writes; an autoscaler may set its number of replicas.
fn of_workload(
    what: EditKind,
    object: &Object,
    kind: &Kind,
    scaled: bool,
) -> Option<Vec<(FieldPath, Value)>> {
    let spec = FieldPath::root().field("spec");
    let (strategy, rolling) = match kind {
        Kind::Deployment(_) => (spec.field("strategy"), "rollingUpdate"),
        Kind::Groups(_) => (spec.field("rolloutStrategy"), "rollingUpdateConfiguration"),
        _ => (spec.field("updateStrategy"), "rollingUpdate"),
    };
    match (what, kind) {
        (EditKind::NoSurge, kind) => {
            let surges = match kind {
                Kind::Deployment(deployment) => deployment.strategy != Strategy::Recreate,
                Kind::Groups(groups) => groups.surge != IntOrPercent::Int(0),
                // Of one node, whether an update surges at all.
                Kind::Daemons(daemons) => daemons.limits(1).is_some_and(|(surge, _)| surge > 0),
                _ => false,
            };
            let rolling = strategy.field(rolling);
            surges.then(|| {
                vec![
                    (rolling.field("maxSurge"), json!(0)),
                    (rolling.field("maxUnavailable"), json!(1)),
                ]
            })
        }
        (EditKind::Recreate, Kind::Deployment(deployment))
            if deployment.strategy != Strategy::Recreate =>
        {
            let mut edits = vec![(strategy.field("type"), json!("Recreate"))];
            // The API server rejects type Recreate together with rollingUpdate.
            if object.node.at(&["spec", "strategy", "rollingUpdate"]).is_some() {
                edits.push((strategy.field("rollingUpdate"), Value::Null));
            }
            Some(edits)
        }
        (EditKind::Fewer(fewer), kind) => {
            let now = kind.version().map(|(_, replicas)| replicas).filter(|now| *now > 1)?;
            let written = object.node.at(&["spec", "replicas"]).and_then(Node::as_int);
            (written == Some(now) && !scaled)
                .then(|| vec![(spec.field("replicas"), json!(fewer.of(now)))])
        }
        _ => None,
    }
}

/// The edits with the current values of the fields.
pub(super) fn shown(subject: Subject<'_>, fields: &[(FieldPath, Value)]) -> Vec<FieldEdit> {
    fields
        .iter()
        .map(|(path, to)| FieldEdit::set(subject.object(), path.clone(), to.clone()))
        .collect()
}

/// A track, its object, and the fields to set.
pub(super) type Tried<'t, 'a> = (&'t Track, Subject<'a>, Vec<(FieldPath, Value)>);

/// The tracks with their objects edited: read, decided and rendered again. `None` where that yields
/// no workload.
pub(super) fn edited(
    ground: &Ground<'_>,
    context: &PodContext,
    tried: &[Tried<'_, '_>],
) -> Vec<Option<Track>> {
    let objects: Vec<Object> =
        tried.iter().map(|(_, subject, fields)| set(*subject, fields)).collect();
    let services: Vec<Option<Service>> = objects
        .iter()
        .zip(tried)
        .map(|(object, (_, subject, _))| match subject {
            Subject::Service(service) => read_again(ground, object, service),
            Subject::Serving(_) | Subject::Workload(_) => None,
        })
        .collect();
    // Both look through the whole catalog once, for all of the objects.
    let renderer = LazyLock::new(|| Renderer::new(ground.world, DOMAIN));
    let reader = LazyCell::new(|| plain::Reader::new(&ground.world.catalog, context));
    let rendered: Vec<Option<side::Side>> = services
        .par_iter()
        .map(|service| Some(side::render(&renderer, service.as_ref()?, context)))
        .collect();
    let all = tried.iter().zip(&objects).zip(rendered);
    all.map(|(((track, subject, _), object), rendered)| match subject {
        Subject::Service(_) => side::with(track, rendered?.workloads),
        Subject::Workload(_) => reader.edited(object, track),
        Subject::Serving(_) => {
            let [_, rules] = ground.serving_rules;
            let read = servings::read::model_serving(object.clone(), rules);
            let mut kind = ServingKind::new(&read, rules, context).ok()?;
            // The problem that a flag gives new pods stays, or each edit would seem to help.
            if let Some(Kind::Serving(serving_kind)) = &track.after {
                kind.start_like(serving_kind);
            }
            let after = Some(Kind::Serving(Box::new(kind)));
            Some(Track { after, arrives: None, ..(*track).clone() })
        }
    })
    .collect()
}

/// An object with other values of fields.
fn set(subject: Subject<'_>, fields: &[(FieldPath, Value)]) -> Object {
    let mut object = subject.object().clone();
    for (path, to) in fields {
        let to = (!to.is_null()).then(|| Node::from_json(to, Origin::Flag(&EDIT)));
        object.node.set(&path.0, to);
    }
    object
}

/// A service as its edited object is read; `None` of one with the previous schema, which has its
/// components at other paths.
fn read_again(ground: &Ground<'_>, object: &Object, service: &Service) -> Option<Service> {
    if service.predictor.migrated {
        return None;
    }
    let policy = ground.world.catalog.policy(object.api)?;
    let services = operators::services(object.api)?;
    let mut read = services.read(object.clone(), policy, &mut Vec::new());
    // A flag may set the protocol of every service; the object does not contain it.
    read.protocol.clone_from(&service.protocol);
    Some(read)
}

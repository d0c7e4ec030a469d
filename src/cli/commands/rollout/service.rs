//! `ome rollout` of an InferenceService.

use super::troubles::{self, Played};
use super::{Args, One};
use crate::api::{ComponentKind, Service, Views};
use crate::cli::input::Session;
use crate::cli::relevant_findings::About;
use crate::cli::{Failure, Io, Outcome};
use crate::merge::history::Recorder;
use crate::objects::RenderedObject;
use crate::pipeline::{self, Changes, Depth, Planner, Renderer, ServiceChange, updates};
use crate::report::waves;

/// Plays the change of an InferenceService and prints it.
pub(super) fn run(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    views: &Views,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let service = views.followed();
    let renderer = Renderer::new(&session.world, "cluster.local");
    let after = renderer.render(views, &mut Recorder::off());
    let before = match earlier.last() {
        Some(before) => written_before(before, service)?,
        None => Vec::new(),
    };
    let planned = Planner::of(&session.world).plan_all(&[views], Depth::Plan);
    let pods = |kind: ComponentKind| {
        let components = planned.iter().flat_map(|planned| &planned.components);
        components
            .filter(|component| component.kind == kind)
            .map(pipeline::PlannedComponent::least_pods)
            .sum()
    };
    let mut workloads = crate::diff::waves::workloads(&before, after.written(), pods);
    let waves = crate::diff::waves::waves(after.written());
    let (refusal, of_runtime) = renderer.refusal(&after);
    let found = after.diagnostics.into_iter().chain(of_runtime).collect::<Vec<_>>();
    let found = session.settle(found);
    let mut found = About::planned(&session.world.catalog, &planned, &[]).of(session, found);
    let catalog = &session.world.catalog;
    let update = earlier.last();
    let update =
        update.and_then(|before| updates::refused_update(&before.world.catalog, catalog, service));
    let is_refused = refusal.is_some() || update.is_some();
    found.extend(session.grade(update));
    let one = if is_refused { None } else { simulated(args, session, earlier, service)? };
    let (components, displaced, doubts) = match one {
        Some(One { rollout, displaced, doubts }) => (rollout.components, displaced, doubts),
        None => (Vec::new(), Vec::new(), super::doubts(session, earlier, &mut [], None, false)),
    };
    if earlier.is_empty() {
        // Running pods are the start, and the simulation decides which ones are replaced.
        for rollout in &mut workloads {
            let played = components.iter().find(|played| played.name == rollout.name);
            let replaced = played.map_or(0, |played| played.replaced);
            rollout.pods_restarted = i64::try_from(replaced).ok().into();
        }
    }
    let view = waves::Waves {
        readings: session.named_readings(),
        service,
        objects: &waves,
        workloads: &workloads,
        components: &components,
        displaced: &displaced,
        doubts: &doubts,
        found: &found,
        sources: &session.world.sources,
    };
    session.show(&view, args.output, &found, io)?;
    // One service was asked for: without its objects there is no answer.
    let outcome = session.outcome(&found, is_refused);
    let is_no = super::ends_badly(&components, &displaced);
    Ok(if is_no { outcome.and(Outcome::No) } else { outcome })
}

/// The objects of the service in the state before.
fn written_before(before: &Session, service: &Service) -> Result<Vec<RenderedObject>, Failure> {
    let same = |views: &&Views| {
        let other = views.followed();
        other.name() == service.name()
            && other.namespace == service.namespace
            && other.object.api == service.object.api
    };
    let name = service.name();
    let views = before.world.catalog.services().find(same).ok_or_else(|| {
        before.not_found(
            format!("no InferenceService `{}/{name}` in the state before", service.namespace),
            Some("`--from` names the file of the state before".into()),
        )
    })?;
    let renderer = Renderer::new(&before.world, "cluster.local");
    let rendered = renderer.render(views, &mut Recorder::off());
    if let Some(refused) = rendered.refusal() {
        let help = "`--from` names a state in which it is deployed";
        return Err(Failure::NotFound {
            message: format!("`{name}` is in error in the state before: {}", refused.message),
            help: Some(refused.help.clone().unwrap_or_else(|| help.into())),
        });
    }
    Ok(rendered.written().to_vec())
}

/// The simulated update of a service; `None` without nodes.
fn simulated(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    service: &Service,
) -> Result<Option<One>, Failure> {
    // The very service: another operator may have one with its name.
    let is_this = |change: &ServiceChange<'_>| {
        change.service().is_some_and(|changed| std::ptr::eq(changed, service))
    };
    let position = |changes: &Changes<'_>| {
        let missing =
            || session.not_found(format!("no InferenceService `{}`", service.name()), None);
        changes.services.iter().position(is_this).ok_or_else(missing)
    };
    let options = |only| {
        // Troubles are found for a list of this service alone.
        let played = Played { services: &[service], servings: &[], workload: None };
        let mut options = troubles::of(args, session, played)?;
        options.troubles.iter_mut().for_each(|(at, ..)| *at = only);
        Ok(options)
    };
    super::one_of_all(session, earlier, position, options)
}

//! `--slow`, `--stuck` and `--fail` of services that are simulated together.

use super::Args;
use crate::api::{ComponentKind, ModelServing, Service};
use crate::cli::Failure;
use crate::cli::input::Session;
use crate::diag::nearest;
use crate::pipeline::{RollOptions, Target, Trouble, Troubles};

/// Ticks that slow pods need, when no number is given.
const SLOW: u32 = 4;

/// The component name for all pods of a ModelServing.
const GROUPS: &str = "groups";

/// The component name for all pods of a workload that no operator writes.
const PODS: &str = "pods";

/// The possible names, in the order of the changes.
#[derive(Clone, Copy)]
pub(super) struct Played<'a> {
    pub(super) services: &'a [&'a Service],
    pub(super) servings: &'a [&'a ModelServing],
    /// The place of a workload that no operator writes, where it is the only subject.
    pub(super) workload: Option<usize>,
}

/// Reads the flags about simulated problems.
pub(super) fn of(
    args: &Args,
    session: &Session,
    played: Played<'_>,
) -> Result<RollOptions, Failure> {
    let mut found = Troubles::new();
    for given in &args.slow {
        let (name, ticks) = match given.split_once('=') {
            None => (given.as_str(), SLOW),
            Some((name, ticks)) => {
                let ticks = ticks.parse().ok().filter(|ticks| (1..=1000).contains(ticks));
                let ticks = ticks.ok_or_else(|| {
                    Failure::Usage(format!("`--slow {given}`: ticks are 1 to 1000"))
                })?;
                (name, ticks)
            }
        };
        let targets = played.targets("--slow", name, session)?;
        found.extend(targets.into_iter().map(|(at, target)| (at, target, Trouble::Slow(ticks))));
    }
    for (flag, names, trouble) in
        [("--stuck", &args.stuck, Trouble::NeverReady), ("--fail", &args.fail, Trouble::NeverRuns)]
    {
        for name in names {
            let targets = played.targets(flag, name, session)?;
            found.extend(targets.into_iter().map(|(at, target)| (at, target, trouble)));
        }
    }
    Ok(RollOptions { troubles: found, ..RollOptions::default() })
}

impl Played<'_> {
    /// Resolves `[[NAMESPACE/]SERVICE/]COMPONENT` to indices of services, each with the component
    /// or role.
    fn targets(
        self,
        flag: &str,
        name: &str,
        session: &Session,
    ) -> Result<Vec<(usize, Target)>, Failure> {
        if name.starts_with("pod/") {
            return Err(Failure::NotFound {
                message: format!("`{flag} {name}`: pods are not known by name here"),
                help: Some(
                    "write SERVICE/COMPONENT, as in `chat/engine`: its new pods; `ome rollout NAME` of a ModelServing takes `pod/NAME`"
                        .into(),
                ),
            });
        }
        let (service, component) = name.rsplit_once('/').unwrap_or(("", name));
        if let Some(at) = self.workload {
            if name == PODS {
                return Ok(vec![(at, Target::Pods)]);
            }
            return Err(Failure::Usage(format!(
                "`{flag} {name}`: write `{flag} {PODS}` for the new pods of the workload"
            )));
        }
        // Without the name of a service, the only one is meant.
        let only = service.is_empty() && self.services.len() + self.servings.len() == 1;
        let is_named = |object, namespace| only || session.is_named(service, object, namespace);
        let services = self.services.iter().enumerate();
        let services: Vec<usize> = services
            .filter(|(_, service)| is_named(&service.object, &service.namespace))
            .map(|(at, _)| at)
            .collect();
        // Servings come behind the services.
        let servings = self.servings.iter().enumerate();
        let servings: Vec<(usize, &ModelServing)> = servings
            .filter(|(_, serving)| is_named(&serving.object, &serving.namespace))
            .map(|(at, serving)| (self.services.len() + at, *serving))
            .collect();
        if services.is_empty() && servings.is_empty() {
            let message = if service.is_empty() {
                format!("`{flag} {name}`: several services are simulated, and none is named")
            } else {
                format!(
                    "`{flag} {name}`: no InferenceService or ModelServing `{service}` is simulated"
                )
            };
            let help = "write [NAMESPACE/]SERVICE/COMPONENT, as in `chat/engine`; of a ModelServing the component is a role, or `groups`";
            return Err(Failure::NotFound { message, help: Some(help.into()) });
        }
        let mut found = Vec::new();
        if let Some(kind) = ComponentKind::every().find(|kind| kind.as_str() == component) {
            found.extend(services.into_iter().map(|at| (at, Target::Component(kind))));
        }
        let mut roles: Vec<&str> = Vec::new();
        for (at, serving) in &servings {
            roles.extend(serving.roles.iter().map(|role| role.name.value.as_str()));
            let role = serving.roles.iter().find(|role| role.name.value == component);
            let target = role.map(|role| Target::Role(role.name.value.clone()));
            let target = target.or((component == GROUPS).then_some(Target::Groups));
            found.extend(target.map(|target| (*at, target)));
        }
        if !found.is_empty() {
            return Ok(found);
        }
        if servings.is_empty() {
            return Err(Failure::Usage(format!(
                "`{flag} {name}`: `{component}` is no component; known are engine, decoder, router, predictor, transformer and explainer"
            )));
        }
        let near = nearest(component, roles.iter().copied());
        Err(Failure::NotFound {
            message: format!(
                "`{flag} {name}`: `{component}` is no role of the ModelServing; it has {}",
                roles.join(", ")
            ),
            help: Some(near.map_or_else(
                || format!("write a role, or `{service}/{GROUPS}` for all its new pods"),
                |near| format!("did you mean `{service}/{near}`?"),
            )),
        })
    }
}

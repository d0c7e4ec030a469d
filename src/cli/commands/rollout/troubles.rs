//! `--slow`, `--stuck` and `--fail` of InferenceServices.

use super::Args;
use crate::api::{ComponentKind, Service};
use crate::cli::Failure;
use crate::cli::input::Session;
use crate::pipeline::{Asked, Trouble, Troubles};

/// Ticks that slow pods need, when no number is given.
const SLOW: u32 = 4;

/// What the flags say of these services, which are known by their places.
pub(super) fn of(args: &Args, session: &Session, services: &[&Service]) -> Result<Asked, Failure> {
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
        let (at, kind) = component("--slow", name, session, services)?;
        found.push((at, kind, Trouble::Slow(ticks)));
    }
    for (flag, names, trouble) in
        [("--stuck", &args.stuck, Trouble::NeverReady), ("--fail", &args.fail, Trouble::NeverRuns)]
    {
        for name in names {
            let (at, kind) = component(flag, name, session, services)?;
            found.push((at, kind, trouble));
        }
    }
    Ok(Asked { troubles: found, without_edits: false })
}

/// `[[NAMESPACE/]SERVICE/]COMPONENT`: the place of the service, and the component.
fn component(
    flag: &str,
    name: &str,
    session: &Session,
    services: &[&Service],
) -> Result<(usize, ComponentKind), Failure> {
    if name.starts_with("pod/") {
        return Err(Failure::NotFound {
            message: format!("`{flag} {name}`: pods of an InferenceService are not known by name"),
            help: Some("write SERVICE/COMPONENT, as in `chat/engine`: its new pods".into()),
        });
    }
    let (service, component) = name.rsplit_once('/').unwrap_or(("", name));
    let kinds = ComponentKind::OME.into_iter().chain(ComponentKind::KSERVE);
    let kind = kinds.into_iter().find(|kind| kind.as_str() == component);
    let Some(kind) = kind else {
        return Err(Failure::Usage(format!(
            "`{flag} {name}`: `{component}` is no component; known are engine, decoder, router, predictor, transformer and explainer"
        )));
    };
    let is_named = |own: &&Service| session.is_named(service, &own.object, &own.namespace);
    let at = match services {
        [_] if service.is_empty() => Some(0),
        _ => services.iter().position(is_named),
    };
    at.map(|at| (at, kind)).ok_or_else(|| Failure::NotFound {
        message: format!("`{flag} {name}`: no InferenceService `{service}` is played"),
        help: Some("write [NAMESPACE/]SERVICE/COMPONENT, as in `chat/engine`".into()),
    })
}

//! `ome rollout --all`: every InferenceService, all changes at once.

use super::{Args, troubles};
use crate::api::{Api, Service};
use crate::catalog::Views;
use crate::cli::args::PageFormat;
use crate::cli::input::Session;
use crate::cli::{Failure, Io, Outcome};
use crate::pipeline::{Before, ServiceChange, roll};
use crate::report::roll_all::All;
use crate::report::table;
use ecow::EcoString;
use std::collections::HashMap;

type Key<'a> = (Api, &'a EcoString, &'a EcoString);

fn key(service: &Service) -> Key<'_> {
    (service.object.api, &service.namespace, service.name())
}

/// Plays the changes of the whole fleet and prints them.
pub(super) fn run(
    args: &Args,
    session: &Session,
    earlier: &[Session],
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let semantics = session.semantics;
    let now = session.select(&[])?;
    let base = match earlier {
        [] => None,
        [base] => Some(base),
        _ => {
            return Err(Failure::Usage(
                "`--all` is compared with one state: give one `--base`".into(),
            ));
        }
    };
    let then: Vec<&Views> = base.map(|base| base.select(&[])).transpose()?.unwrap_or_default();
    let mut before: HashMap<Key<'_>, &Views> =
        then.iter().map(|views| (key(views.of(semantics)), *views)).collect();
    let mut changes: Vec<ServiceChange<'_>> = Vec::new();
    let mut services: Vec<&Service> = Vec::new();
    for views in &now {
        let service = views.of(semantics);
        let earlier = match base {
            None => Before::Running,
            Some(base) => {
                let old = before.remove(&key(service));
                Before::Applied(old.map(|old| (&base.world.catalog, old)))
            }
        };
        services.push(service);
        changes.push(ServiceChange { before: earlier, after: Some(views) });
    }
    // What is there no more goes.
    if let Some(base) = base {
        for views in then.iter().filter(|views| before.contains_key(&key(views.of(semantics)))) {
            services.push(views.of(semantics));
            let earlier = Before::Applied(Some((&base.world.catalog, *views)));
            changes.push(ServiceChange { before: earlier, after: None });
        }
    }
    if services.is_empty() {
        return Err(Failure::NotFound {
            message: "no InferenceService was read".into(),
            help: Some("load some with `-f`; `ome rollout NAME` plays a ModelServing".into()),
        });
    }
    let troubles = troubles::of(args, session, &services)?;
    let Some(mut rolled) = roll(&session.world.catalog, semantics, &changes, &troubles) else {
        return Err(Failure::NotFound {
            message: "no Node that was read says what it has, so nothing can be played".into(),
            help: Some("load Nodes with `-f`: `kubectl get nodes -o yaml`".into()),
        });
    };
    let said = rolled.iter_mut().flat_map(|own| std::mem::take(&mut own.diagnostics));
    let found = session.settle(said.collect::<Vec<_>>());
    let view = All {
        semantics: session.mode(),
        services: &rolled,
        servings: session.world.catalog.model_servings().len(),
        found: &found,
        sources: &session.world.sources,
    };
    match args.output {
        PageFormat::Json => io.print_json(&view.json())?,
        PageFormat::Table => {
            session.say(&found, io);
            io.print(&view.text(table::Style { color: io.out_color(), width: io.width() }))?;
        }
        PageFormat::Markdown => {
            session.say(&found, io);
            io.print(&view.markdown())?;
        }
        PageFormat::Html => {
            session.say(&found, io);
            io.print(&view.html().map_err(Failure::Usage)?)?;
        }
    }
    let outcome = session.outcome(&found, rolled.iter().any(|own| own.error.is_some()));
    Ok(if view.stuck() > 0 { outcome.and(Outcome::No) } else { outcome })
}

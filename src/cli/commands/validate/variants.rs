//! Services with several definitions below one path: each is decided by the objects that it sees.
//!
//! In: the views of the input. Out: the services of the views, with the findings of their plans.

use crate::api::Object;
use crate::cli::input::Session;
use crate::diag::Diagnostic;
use crate::pipeline::{Depth, Planner};

/// The services that see other objects than the catalog of the input has, further definitions
/// among them.
pub(super) fn planned(session: &Session) -> Vec<(&Object, Vec<Diagnostic>)> {
    let mut all = Vec::new();
    for view in &session.world.views {
        let services: Vec<_> = view.catalog.services().collect();
        let planner = Planner::new(&view.catalog, session.semantics);
        let planned = planner.plan_all(&services, Depth::Plan);
        let objects = services.iter().map(|views| &views.of(session.semantics).object);
        all.extend(objects.zip(planned.into_iter().map(|planned| planned.diagnostics)));
    }
    all
}

//! `ome explain` of a runtime or a model: the services that use it, that could, and why the others
//! cannot.

use crate::api::{Model, Object, Runtime, name_of_shown};
use crate::cli::args::PageFormat;
use crate::cli::input::Session;
use crate::cli::relevant_findings::About;
use crate::cli::{Failure, Io, Outcome};
use crate::pipeline::{runtimes_for_model, users_of_model, users_of_runtime};
use crate::report::judged;
use crate::report::users::{self, Users};
use crate::schema::names_kind;

/// The object of the catalog that is explained.
pub(super) enum Subject<'a> {
    /// A runtime.
    Runtime(&'a Runtime),
    /// A model.
    Model(&'a Model),
}

impl<'a> Subject<'a> {
    /// The runtime or model that is named as NAME, KIND/NAME, KIND NAME or KIND/NAMESPACE/NAME; a
    /// runtime before a model of the same name.
    pub(super) fn named(session: &'a Session, names: &[String]) -> Option<Self> {
        let (kind, rest) = match names {
            [one] => {
                one.split_once('/').map_or((None, one.as_str()), |(kind, rest)| (Some(kind), rest))
            }
            [kind, name] if !kind.contains('/') => (Some(kind.as_str()), name.as_str()),
            _ => return None,
        };
        let (namespace, name) =
            rest.split_once('/').map_or((None, rest), |(namespace, name)| (Some(namespace), name));
        let name = name_of_shown(name);
        let is = |object: &Object, alias: &str| {
            let scope = object.id.scope.namespace().map(ecow::EcoString::as_str);
            object.id.name == name
                && kind.is_none_or(|kind| {
                    kind == alias || names_kind(kind, &object.api_version, &object.id.kind)
                })
                && (namespace.is_none() || namespace == scope)
                && scope.is_none_or(|name| session.is_in_namespace(name))
        };
        let catalog = &session.world.catalog;
        // A runtime that services can get comes first.
        let runtime = catalog.candidate_runtimes().find(|runtime| is(&runtime.object, "runtime"));
        let runtime = runtime
            .or_else(|| catalog.all_runtimes().find(|runtime| is(&runtime.object, "runtime")));
        runtime
            .map(Self::Runtime)
            .or_else(|| catalog.models().find(|model| is(&model.object, "model")).map(Self::Model))
    }

    /// Prints the services that use it, and for a model also the runtimes that can serve it.
    pub(super) fn explain(
        &self,
        session: &Session,
        format: PageFormat,
        detail: judged::Detail,
        io: &mut Io<'_>,
    ) -> Result<Outcome, Failure> {
        let catalog = &session.world.catalog;
        let (object, of) = match *self {
            Self::Runtime(runtime) => {
                let users = users_of_runtime(catalog, runtime);
                (&runtime.object, Users::OfRuntime(runtime, users))
            }
            Self::Model(model) => {
                let users = users_of_model(catalog, model);
                let runtimes = runtimes_for_model(catalog, model);
                (&model.object, Users::OfModel(model, users, runtimes))
            }
        };
        let found = About::these(catalog, [object]).of(session, session.settle([]));
        let answer = users::View {
            of,
            readings: session.named_readings(),
            header: &session.header(),
            detail,
            sources: &session.world.sources,
        };
        session.show(&answer, format, &found, io)?;
        Ok(session.outcome(&found, false))
    }
}

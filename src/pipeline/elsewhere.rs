//! An object that a service does not see, although the input has it: it is nearer to other definitions
//! (docs/repositories.md).

use crate::api::{Failure, Object, Service};
use crate::diag::{Code, Diagnostic, is_step_to_load, quoted};
use crate::workspace::World;
use std::path::Path;

/// Adds to the next step of an error, and of the finding about it, the file that has the object.
pub(super) fn name(
    world: &World,
    service: &Service,
    error: &mut Failure,
    found: &mut [Diagnostic],
) {
    let Some(help) = error.help.as_deref().filter(|help| is_step_to_load(help)) else { return };
    let Some(object) = wanted(world, service, error.code) else { return };
    let file = |object: &Object| world.sources.get(object.span.source).name.to_string();
    let (there, here) = (file(object), file(&service.object));
    let here = Path::new(&here).parent().map_or("", |path| path.to_str().unwrap_or_default());
    let here = if here.is_empty() { "." } else { here };
    let name = format!("{}/{}", service.namespace, service.name());
    let command = format!("ome plan {} -f {} -f {}", quoted(&name), quoted(here), quoted(&there));
    let help = format!(
        "{help}: `{there}` has it, which is nearer to another definition; `{command}` plans the service with it"
    );
    let is_same = |finding: &&mut Diagnostic| {
        finding.code == error.code && finding.help.as_deref().is_some_and(is_step_to_load)
    };
    for finding in found.iter_mut().filter(is_same) {
        finding.help = Some(help.clone());
    }
    error.help = Some(help);
}

/// The object of the input that a service names and does not see.
fn wanted<'w>(world: &'w World, service: &Service, code: Code) -> Option<&'w Object> {
    let catalog = &world.catalog;
    let is_meant = |object: &&Object, name: &str| {
        let scope = object.id.scope.namespace();
        !object.builtin
            && object.api == service.object.api
            && object.id.name == name
            && scope.is_none_or(|namespace| *namespace == service.namespace)
    };
    match code {
        Code::RuntimeNotFound => {
            let name = &service.runtime.as_ref()?.name.value;
            let mut all = catalog.all_runtimes().map(|runtime| &runtime.object);
            all.find(|object| is_meant(object, name))
        }
        Code::ModelNotFound => {
            let name = &service.model.as_ref()?.name.value;
            let mut all = catalog.models().map(|model| &model.object);
            all.find(|object| is_meant(object, name))
        }
        _ => None,
    }
}

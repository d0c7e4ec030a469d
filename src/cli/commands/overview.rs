//! `ome` without a command: an overview of the commands and of the current directory.

use crate::cli::args::InputArgs;
use crate::cli::input::Session;
use crate::cli::session_options::SessionOptions;
use crate::cli::{Failure, Io, Outcome, command};
use crate::report::phrases::plural;

/// Prints the help; in a directory of manifests also their number and a first command.
pub(crate) fn run(io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let help = command().render_help();
    io.print(&help.to_string())?;
    // The help is the answer; what cannot be read only leaves a line out.
    let Ok(session) = Session::open(&InputArgs::default(), &SessionOptions::default()) else {
        return Ok(Outcome::Done);
    };
    let catalog = &session.world.catalog;
    let services = catalog.services().len() + catalog.model_servings().len();
    let runtimes = catalog.all_runtimes().filter(|runtime| !runtime.object.builtin).count();
    let models = catalog.models().filter(|model| !model.object.builtin).count();
    if services + runtimes + models > 0 {
        io.print(&format!(
            "\nHere: {}, {}, {}.\n",
            plural(services, "service"),
            plural(runtimes, "runtime"),
            plural(models, "model")
        ))?;
        io.print(if services > 0 {
            "Begin with `ome plan`, then `ome explain SERVICE`.\n"
        } else {
            "Begin with `ome validate`.\n"
        })?;
    }
    Ok(Outcome::Done)
}

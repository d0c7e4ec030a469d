//! `--stage merged`: components as their layers make them, before objects are made of them.

use super::sink::Output;
use crate::api::Views;
use crate::cli::input::Session;
use crate::cli::{Failure, Io, Outcome};
use crate::emit::stream;
use crate::pipeline::Renderer;
use crate::report::merged as view;
use crate::yaml::{Node, Origin, Rule};

static STAGE: Rule = Rule {
    id: "stage",
    text: "A document of `--stage merged`.",
    cite: "OEP-0003, Notes/Constraints/Caveats; docs/decisions.md#argument-order",
};

/// Prints merged components. ModelServings have no layers: there is nothing to show of them.
pub(super) fn merged<'a>(
    output: &Output,
    renderer: &Renderer<'a>,
    selected: &[&'a Views],
    session: &Session,
    io: &mut Io<'_>,
) -> Result<Outcome, Failure> {
    let Output::Stream(format) = output else {
        return Err(Failure::Usage(
            "`--stage merged` prints no objects: use `-o yaml` or `-o json`".into(),
        ));
    };
    let (mut services, mut found, mut failed) = (Vec::new(), Vec::new(), false);
    renderer.in_windows(
        selected,
        |views| renderer.merged(views),
        |service| -> Result<(), Failure> {
            failed |= service.parts.is_none();
            found.extend(service.diagnostics.iter().cloned());
            services.extend(service.parts.is_some().then_some(service));
            Ok(())
        },
    )?;
    let document = view::json(&services);
    match *format {
        stream::Format::Json => io.print_json(&document)?,
        stream::Format::Yaml => {
            let mut text = String::new();
            crate::yaml::write(&mut text, &Node::from_json(&document, Origin::Derived(&STAGE)));
            io.print(&text)?;
        }
    }
    let found = session.settle(found);
    session.say(&found, io);
    Ok(session.outcome(&found, failed))
}

//! `ome code`: the explanation of a code.

use crate::cli::{Failure, Io, Outcome, complete};
use crate::diag::{CODES, nearest};
use crate::report::code;

/// Explain a finding, reason or error code, or list them all.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The code, e.g. `size-range`; without it all codes are listed.
    #[arg(value_name = "CODE", add = complete::codes())]
    code: Option<String>,
}

/// Prints the entry, or the list.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let Some(wanted) = &args.code else {
        io.print(&code::list(io.style()))?;
        return Ok(Outcome::Done);
    };
    // Two topics may share a code.
    let mut found = CODES.iter().filter(|doc| doc.id == wanted).peekable();
    if found.peek().is_none() {
        return Err(Failure::NotFound {
            message: format!("no code `{wanted}`"),
            help: nearest(wanted, CODES.iter().map(|doc| doc.id))
                .map(|near| format!("did you mean `{near}`? `ome code` lists them all"))
                .or_else(|| Some("`ome code` lists them all".into())),
        });
    }
    for (index, doc) in found.enumerate() {
        if index > 0 {
            io.print("\n")?;
        }
        io.print(&code::one(doc))?;
    }
    Ok(Outcome::Done)
}

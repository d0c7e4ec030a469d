//! `ome man`: the manual, a page for each verb.

use crate::cli::{Failure, Io, Outcome, command};
use crate::emit;
use std::path::PathBuf;

/// Print the manual page, or write one for each command into a directory.
///
/// `ome man DIR` writes `ome.1`, `ome-plan.1` and so on; `man -l DIR/ome-plan.1` shows one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the pages are written.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// In every page: a file without it was not written by `ome`, and is not replaced.
const MARK: &str = "ome";

/// Prints roff, or writes it.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let mut pages = Vec::new();
    pages_of(command(), "ome", &mut pages)?;
    match &args.directory {
        Some(directory) => {
            for (name, text) in &pages {
                // Only pages of an earlier run are overwritten.
                let mark = format!(".TH {MARK}");
                emit::generate(&directory.join(format!("{name}.1")), text, &mark)?;
            }
            io.say_line(&format!("{}: {} pages written", directory.display(), pages.len()));
        }
        None => pages.iter().try_for_each(|(_, text)| io.print(text))?,
    }
    Ok(Outcome::Done)
}

/// Returns the page of a command and of its subcommands.
fn pages_of(
    command: clap::Command,
    name: &str,
    pages: &mut Vec<(String, String)>,
) -> Result<(), Failure> {
    let command = command.name(name.to_owned()).disable_help_subcommand(true);
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    pages.push((name.to_owned(), String::from_utf8_lossy(&text).into_owned()));
    for below in command.get_subcommands() {
        pages_of(below.clone(), &format!("{name}-{}", below.get_name()), pages)?;
    }
    Ok(())
}

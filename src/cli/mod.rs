//! The command line: arguments, commands and output.
//!
//! In: arguments, environment variables, settings, standard input. Out: text on stdout and stderr,
//! and an exit code. A command opens a session (`input`), calls `pipeline`, `diff` or `check`, and
//! prints the results through `report` or writes them through `emit`.
//!
//! This is the only module that prints or exits, and it may use all others. It makes no decision
//! about an object: rules belong to the modules below.

mod args;
mod commands;
mod complete;
mod copies;
pub mod examples;
pub mod exit;
mod failure;
mod incomplete;
mod input;
mod io;
mod json_lines;
mod jsonpath;
mod names;
mod no_services;
mod pager;
mod proposals;
mod refused;
mod releases;
mod relevant_findings;
mod rereading;
mod service_selection;
mod session_options;
mod settings;
pub mod supported;
#[cfg(test)]
mod tests;
mod threads;
mod unfilled;
mod until_exit;
mod variants;
mod verbose;
mod waiting;
mod watch;
mod what_if;

pub use exit::Outcome;
pub use failure::Failure;
use io::Form;
pub use io::{ColorChoice, Io};
use proposals::{Proposals, Typed};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Plan, explain and render AI model serving on Kubernetes, without a cluster.
///
/// Reads ServingRuntimes, models, accelerator classes, nodes and InferenceServices from disk,
/// decides what the operators would decide, says why, and prints the manifests that follow.
#[derive(Debug, Parser)]
#[command(name = "ome", version, about, max_term_width = 110, propagate_version = false)]
// A flag may be repeated, as kubectl's may: the last one counts.
#[command(args_override_self = true)]
struct Cli {
    /// What to do.
    #[command(subcommand)]
    command: Option<commands::Command>,
    /// When to use color.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
    /// Show findings with their lines, which files were read, and how long it took.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Show no finding below the level error.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Write output that is longer than the terminal without `PAGER` (`less`).
    #[arg(long, global = true)]
    no_pager: bool,
}

/// The flags about the input.
fn flags_of_input() -> clap::Command {
    use clap::Args as _;
    args::DecisionArgs::augment_args(args::InputArgs::augment_args(clap::Command::new("")))
}

impl Cli {
    /// Lets what is read know the command line, which further commands are proposed with.
    fn know(&mut self, command: &clap::Command, matches: &ArgMatches) -> Proposals {
        let input = self.command.as_mut().and_then(commands::Command::input_mut);
        input.map_or_else(Proposals::default, |input| {
            input.typed = Typed::new(command, matches, &flags_of_input());
            input.proposals()
        })
    }
}

/// Runs the process's own command line.
pub fn main() -> ExitCode {
    // A panic is a defect of this program, which a user can report.
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or(String::new(), |place| format!(" at {}:{}", place.file(), place.line()));
        let what = info
            .payload()
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| info.payload().downcast_ref::<String>().cloned());
        let _ = writeln!(
            std::io::stderr(),
            "internal error{place}: {}\nThis is a bug in ome {}; please report it with the input that caused it.",
            what.unwrap_or_default(),
            env!("CARGO_PKG_VERSION")
        );
    }));
    let code = threads::on_stack(|| {
        // A request of a shell for completions is answered here, and ends the program.
        clap_complete::CompleteEnv::with_factory(|| complete::for_completion(command())).complete();
        let stdout = std::io::stdout();
        let is_paged = stdout.is_terminal() && pager::wanted(std::env::args_os()).is_some();
        let buffered = std::io::BufWriter::with_capacity(1 << 16, stdout.lock());
        let mut out = waiting::After(pager::Paged::new(buffered, is_paged), &waiting::PROCESS);
        let mut err = waiting::After(std::io::stderr(), &waiting::PROCESS);
        let mut io = Io::standard(&mut out, &mut err);
        if io.shows_progress() {
            waiting::PROCESS.on(Box::new(std::io::stderr()));
        }
        run(std::env::args_os(), &mut io)
    });
    ExitCode::from(match code {
        Ok(code) => code.unwrap_or(exit::INTERNAL),
        Err(error) => {
            let help = "allow more memory, as with `ulimit -v`";
            let _ =
                writeln!(std::io::stderr(), "error: no room for a stack: {error}\n  help: {help}");
            exit::COULD_NOT
        }
    })
}

/// Runs one command line against the given streams; returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, io: &mut Io<'_>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut command = command();
    let parsed = command.try_get_matches_from_mut(&arguments);
    let (matches, mut cli) = match parsed.and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((matches, cli))
    }) {
        Ok(parsed) => parsed,
        Err(mut error) => {
            if let Some(tip) = path_tip(&error, &command, &arguments) {
                let tips = ContextValue::StyledStrs(vec![tip.into()]);
                error.insert(ContextKind::Suggested, tips);
            }
            // `--help` and `--version` are answers, not errors.
            let help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let colored = if help { io.out_color() } else { io.err_color() };
            let text = if colored {
                error.render().ansi().to_string()
            } else {
                error.render().to_string()
            };
            if help {
                let printed = io.print(&text).map_err(Failure::from);
                return ended(printed.map(|()| Outcome::Done), io);
            }
            io.say(&text);
            return exit::COULD_NOT;
        }
    };
    io.set_color(cli.color);
    io.set_quiet(cli.quiet);
    io.set_form(form(&matches));
    let proposals = cli.know(&command, &matches);
    if cli.quiet {
        waiting::PROCESS.off();
    }
    if cli.verbose {
        verbose::begin();
    }
    if let Some(note) = threads::note(jobs(&matches)) {
        io.say(&note);
    }
    if let Some(paths) = cli.command.as_ref().and_then(commands::Command::watched) {
        return watched(paths, &arguments, io);
    }
    let outcome = commands::run(cli.command, &arguments, io);
    let outcome = outcome.map_err(|failure| failure.proposing(&proposals));
    ended(outcome, io)
}

/// What to write where a command that takes no names got the path of its input.
fn path_tip(
    error: &clap::Error,
    command: &clap::Command,
    arguments: &[OsString],
) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_path = error.kind() == ErrorKind::UnknownArgument
        && !word.starts_with('-')
        && Path::new(word).exists();
    let called = arguments.iter().skip(1).fold(command, |at, word| {
        word.to_str().and_then(|word| at.find_subcommand(word)).unwrap_or(at)
    });
    let reads = called.get_arguments().any(|arg| arg.get_short() == Some('f'));
    (is_path && reads)
        .then(|| format!("`-f {}` reads a file or directory", crate::diag::quoted(word)))
}

/// Runs a command line again whenever its input changes, until it is interrupted.
fn watched(paths: Vec<PathBuf>, arguments: &[OsString], io: &mut Io<'_>) -> u8 {
    let mut watch = match watch::Watch::new(paths) {
        Ok(watch) => watch,
        Err(failure) => return ended(Err(failure), io),
    };
    loop {
        // Before anything is read, so that no change is missed.
        if let Err(failure) = watch.extend() {
            return ended(Err(failure), io);
        }
        io.clear();
        // They were read before.
        let mut command = command();
        let Ok(matches) = command.try_get_matches_from_mut(arguments) else {
            return exit::INTERNAL;
        };
        let Ok(mut cli) = Cli::from_arg_matches(&matches) else { return exit::INTERNAL };
        let proposals = cli.know(&command, &matches);
        let outcome = commands::run(cli.command, arguments, io);
        let outcome = outcome.map_err(|failure| failure.proposing(&proposals));
        let code = ended(outcome, io);
        let directories = if watch.len() == 1 { "directory" } else { "directories" };
        io.say_line(&format!("watching {} {directories}, exit code {code}", watch.len()));
        if !watch.wait() {
            return code;
        }
    }
}

/// Flushes the output, prints the error, and returns the exit code.
fn ended(outcome: Result<Outcome, Failure>, io: &mut Io<'_>) -> u8 {
    waiting::PROCESS.stop();
    // Output that is buffered may fail only here.
    let outcome = outcome.and_then(|outcome| Ok(io.out().flush().map(|()| outcome)?));
    for note in verbose::end() {
        io.say_line(&note);
    }
    match outcome {
        Ok(outcome) => outcome.code(),
        Err(failure) => {
            if let Failure::Unread { plain, colored, .. } = &failure {
                let drawn = if io.err_color() { colored } else { plain };
                io.say(drawn);
            }
            if !failure.is_quiet() {
                io.say_line(&format!("error: {failure}"));
                if let Some(help) = failure.help() {
                    io.say_line(&format!("  help: {help}"));
                }
            }
            failure.code()
        }
    }
}

/// The arguments of the command itself, below its group.
fn of_verb(mut matches: &ArgMatches) -> &ArgMatches {
    while let Some((_, verb)) = matches.subcommand() {
        matches = verb;
    }
    matches
}

/// Number of threads that `--jobs` sets.
fn jobs(matches: &ArgMatches) -> Option<usize> {
    of_verb(matches).try_get_one("jobs").ok().flatten().copied()
}

/// The form in which a document for programs is printed.
fn form(matches: &ArgMatches) -> Form {
    let raw = of_verb(matches).try_get_raw("output").ok().flatten();
    let Some(value) = raw.and_then(Iterator::last) else { return Form::Json };
    match jsonpath::of(value) {
        // What is no template was refused before.
        Some(template) => template.map_or(Form::Json, Form::Template),
        None if value == "yaml" => Form::Yaml,
        None => Form::Json,
    }
}

/// The definition of the command line, for completions, manual and reference.
pub fn command() -> clap::Command {
    examples::with_examples(Cli::command())
}

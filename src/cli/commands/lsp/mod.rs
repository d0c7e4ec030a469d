//! `ome lsp`: a language server over standard input and output.
//!
//! The server shows findings of `validate`, pages of `explain` and `schema`, and decisions of
//! `plan`, all computed over one workspace. Messages are answered one after another. Changed texts
//! are read again when no message is waiting, or when a request needs them.

mod actions;
mod completion;
mod context;
mod diagnostics;
mod hints;
mod hover;
mod places;
mod server;
mod wire;

use crate::cli::args::InputArgs;
use crate::cli::{Failure, Io, Outcome, waiting};
use crate::load;
use server::{Server, Step};
use std::io::{self, BufReader};
use std::sync::mpsc::{TryRecvError, channel};
use wire::Incoming;

/// Serve an editor over standard input and output, by the Language Server Protocol: findings as you
/// type, decisions on services, users of a runtime, definitions, completion, repairs.
///
/// It reads the folders that the editor opens, or the paths of `-f`. Exit codes: 0 after `shutdown`
/// and `exit`, or without any request; 1 otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Use standard input and output, which is what it always does; editors pass the flag.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Answers messages until the editor disconnects or sends `exit`.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Outcome, Failure> {
    if args.input.files.iter().any(|path| load::is_stdin(path)) {
        return Err(Failure::Usage(
            "standard input is the editor's: name files or directories with `-f`".into(),
        ));
    }
    // It waits for the editor most of the time.
    waiting::PROCESS.off();
    let (sender, inbox) = channel::<Incoming>();
    // Reading waits for the editor, so it has a thread of its own, which ends with the stream.
    std::thread::spawn(move || {
        let mut stream = BufReader::new(io::stdin());
        while let Ok(Some(incoming)) = wire::read(&mut stream) {
            if sender.send(incoming).is_err() {
                return;
            }
        }
    });
    let mut server = Server::new(args.input.clone());
    loop {
        let incoming = match inbox.try_recv() {
            Ok(incoming) => incoming,
            Err(TryRecvError::Disconnected) => return Ok(server.left()),
            // No message waits: the input is read and its findings are published.
            Err(TryRecvError::Empty) => {
                server.settle(io.out())?;
                let Ok(incoming) = inbox.recv() else { return Ok(server.left()) };
                incoming
            }
        };
        match incoming {
            Incoming::Message(message) => match server.take(message, io.out())? {
                Step::On => {}
                Step::End(outcome) => return Ok(outcome),
            },
            Incoming::Unreadable { id, code, reason } => {
                wire::refuse(io.out(), id.as_ref(), code, &reason)?;
            }
        }
    }
}

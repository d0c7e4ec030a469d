//! The command line with which a container starts an engine.
//!
//! In: image, command, args and env of a container. Out: the engine and the words after its
//! program, expanded as far as values are known; nothing where another program is started, or where
//! a script starts several servers.

use super::identity::{self, Identity};
use super::shell;
use super::variables::{UNKNOWN, Variables};
use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// A word of a command line.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Its text; an unknown part is [`UNKNOWN`].
    pub(super) text: EcoString,
    /// Where it was written.
    pub(super) origin: Origin,
}

/// The start of an engine.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub(super) identity: Identity,
    /// The words after the program.
    pub(super) words: Vec<Word>,
    /// The environment of the program.
    pub(super) variables: Variables,
    /// The words were written in a script, which a shell split.
    pub(super) in_script: bool,
    /// The command starts or joins a Ray cluster before the engine.
    pub(super) with_ray: bool,
}

/// What a container starts.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// An engine.
    Engine(Box<Started>),
    /// A member of a Ray cluster, whose head runs the engine.
    RayMember,
    /// An element that should be several: the whole command line.
    OneElement(EcoString, Origin),
    /// Something else.
    Other,
}

/// Reads the command line of a container.
pub(super) fn of(container: &Node) -> Command {
    let image = container.get("image").and_then(Node::as_str).unwrap_or_default();
    let variables = Variables::of(container);
    let list = |key: &str| -> Vec<Word> {
        let items = container.get(key).map(Node::items).unwrap_or_default();
        let words = items.iter().filter_map(|node| {
            let text = variables.expanded(&node.scalar_text()?);
            // Words are never split here: the kubelet gives each element to the program as it is.
            Some(Word { text, origin: node.origin })
        });
        words.collect()
    };
    let (command, args) = (list("command"), list("args"));
    // Without a command the image's entry point gets the args; with one it is not run.
    let by_entry_point = command.is_empty();
    let words: Vec<Word> = command.into_iter().chain(args).collect();
    let texts: Vec<EcoString> = words.iter().map(|word| word.text.clone()).collect();
    // First of all: the name of an engine behind `sh -c` is text of the script, no program.
    if let Some((script, at)) = script(&texts) {
        return of_script(script, words[at].origin, &texts[at + 1..], &variables);
    }
    if let Some((identity, next)) = identity::of_command(&texts) {
        let words = words[next..].to_vec();
        return engine(identity, words, variables, false, false);
    }
    // After the engine, because a command that starts one shows the engine's own settings.
    if identity::is_ray(&texts) {
        return Command::RayMember;
    }
    // The program and its first words, one of which is several.
    if let Some(whole) = words.iter().take(3).find(|word| word.text.contains(char::is_whitespace))
        // An element with blanks is an error only if the words would start an engine once split.
        && let parts = texts.iter().flat_map(|text| text.split_whitespace()).map(EcoString::from)
        && identity::of_command(&parts.collect::<Vec<_>>()).is_some()
        && (!by_entry_point || identity::of_image(image).is_some())
    {
        return Command::OneElement(whole.text.clone(), whole.origin);
    }
    // With a command of another program the image shows nothing; so do arguments that name one.
    let names_program = words.first().is_some_and(|word| {
        word.text.starts_with('/') && !word.text.contains(UNKNOWN) || word.text.ends_with(".sh")
    });
    match identity::of_image(image).filter(|_| by_entry_point && !names_program) {
        Some(identity) => engine(identity, words, variables, false, false),
        None => Command::Other,
    }
}

fn engine(
    identity: Identity,
    words: Vec<Word>,
    variables: Variables,
    in_script: bool,
    with_ray: bool,
) -> Command {
    Command::Engine(Box::new(Started { identity, words, variables, in_script, with_ray }))
}

/// The script of `sh -c SCRIPT`, and its index.
fn script(words: &[EcoString]) -> Option<(&str, usize)> {
    const SHELLS: [&str; 5] = ["sh", "bash", "ash", "dash", "zsh"];
    let mut at = words.iter().position(|word| SHELLS.contains(&identity::base(word)))?;
    // Only behind programs that start their arguments.
    if at > 1 || (at == 1 && !matches!(identity::base(&words[0]), "exec" | "tini" | "dumb-init")) {
        return None;
    }
    let mut takes_script = false;
    loop {
        at += 1;
        // A shell without `-c` reads a file or stdin, which is not known here.
        let word = words.get(at)?.as_str();
        if word == "--" {
            at += 1;
            break;
        }
        match word.strip_prefix(['-', '+']) {
            // `-o` and bash's `-O` have the name of an option after them, also behind other letters:
            // `-euo pipefail`.
            Some(options) if !options.starts_with('-') => {
                takes_script |= options.contains('c');
                at += options.matches(['o', 'O']).count();
            }
            Some(_) => {}
            None => break,
        }
    }
    let text = words.get(at)?.as_str();
    takes_script.then_some((text, at))
}

fn of_script(
    script: &str,
    origin: Origin,
    positional: &[EcoString],
    variables: &Variables,
) -> Command {
    // A script that cannot be followed may start anything: nothing is said about it.
    let Some(commands) = shell::commands(script, variables, positional, origin) else {
        return Command::Other;
    };
    let (mut found, mut ray) = (None, false);
    for simple in commands {
        if identity::is_ray(&simple.words) {
            // Ray is only the ground of an engine that the same script may start later.
            ray = true;
            continue;
        }
        let Some((identity, next)) = identity::of_command(&simple.words) else { continue };
        // Of several servers, or of one in a branch, it is not known offline which one runs.
        if found.is_some() || simple.conditional {
            return Command::Other;
        }
        let words = simple.words[next..].iter().map(|text| Word { text: text.clone(), origin });
        found = Some((identity, words.collect::<Vec<_>>(), simple.variables));
    }
    match found {
        Some((identity, words, variables)) => engine(identity, words, variables, true, ray),
        None if ray => Command::RayMember,
        None => Command::Other,
    }
}

//! Command lines that an answer proposes: with the arguments of the input that they need to work as
//! printed, and left out where they are the command that was run.

use crate::diag::{is_step_to_load, quoted};
use crate::load::repository_root;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use ecow::EcoString;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Arguments that change no answer, only how long it takes, where it goes, or how it looks.
const ASIDE: [&str; 11] = [
    "jobs",
    "strict",
    "recursive",
    "all_namespaces",
    "output",
    "watch",
    "color",
    "verbose",
    "quiet",
    "no_pager",
    "limit",
];

/// Commands that take the arguments of an input but answer about something else: settings, and the
/// files of an editor.
const ELSEWHERE: [&str; 2] = ["config", "lsp"];

/// The command line of a run, as far as what it proposes depends on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typed {
    verb: String,
    /// Its names of objects.
    targets: Vec<String>,
    /// Its flags that other commands on the input do not need, sorted.
    verb_flags: BTreeSet<String>,
    /// Its flags about the input besides the paths, in their order.
    flags: Vec<Flag>,
    /// Commands that read an input.
    reading: Vec<String>,
}

/// A flag as it was typed.
#[derive(Clone, Debug)]
struct Flag {
    /// With its values.
    words: String,
    /// The commands that take it.
    verbs: Vec<String>,
}

impl Typed {
    /// What was typed, by the definition of the command line that read it. `of_input` are the flags
    /// about the input.
    pub(crate) fn new(command: &Command, matches: &ArgMatches, of_input: &Command) -> Self {
        let Some((name, mut matches)) = matches.subcommand() else { return Self::default() };
        let Some(mut verb) = command.find_subcommand(name) else { return Self::default() };
        let mut typed = Self { verb: name.to_owned(), ..Self::default() };
        // `catalog list` is a verb of its own.
        while let Some((name, below)) = matches.subcommand() {
            let Some(command) = verb.find_subcommand(name) else { break };
            (verb, matches) = (command, below);
            typed.verb = format!("{} {name}", typed.verb);
        }
        let of_input: BTreeSet<&str> =
            of_input.get_arguments().map(|argument| argument.get_id().as_str()).collect();
        let takes = |verb: &Command, id: &str| verb.get_arguments().any(|arg| arg.get_id() == id);
        let verbs = || command.get_subcommands();
        let mut flags = Vec::new();
        for argument in verb.get_arguments() {
            let id = argument.get_id().as_str();
            // A variable is still set for the next command, so only typed flags are repeated.
            let is_typed = matches!(
                matches.try_contains_id(id),
                Ok(true) if matches.value_source(id) == Some(ValueSource::CommandLine)
            );
            if !is_typed || ASIDE.contains(&id) || ["files", "kustomize"].contains(&id) {
                continue;
            }
            let values = values(matches, id);
            if argument.is_positional() {
                // Paths are a part of the input.
                if id != "paths" {
                    typed.targets.extend(values);
                }
                continue;
            }
            let words = words(argument, &values);
            if of_input.contains(id) {
                let verbs = verbs().filter(|verb| takes(verb, id));
                let verbs = verbs.map(|verb| verb.get_name().to_owned()).collect();
                flags.push((matches.index_of(id), Flag { words, verbs }));
            } else {
                typed.verb_flags.insert(words);
            }
        }
        // Flags are proposed in the order in which they were typed.
        flags.sort_by_key(|(index, _)| *index);
        typed.flags = flags.into_iter().map(|(_, flag)| flag).collect();
        // Only commands with `-k` read an input.
        let reading = verbs().filter(|verb| takes(verb, "kustomize"));
        let reading = reading.map(|verb| verb.get_name().to_owned());
        typed.reading = reading.filter(|verb| !ELSEWHERE.contains(&verb.as_str())).collect();
        typed
    }

    /// Whether a flag about the input was typed.
    pub(crate) fn is_typed(&self, flag: &str) -> bool {
        let words =
            |proposed: &Flag| proposed.words.trim_start().split([' ', '=']).next() == Some(flag);
        self.flags.iter().any(words)
    }

    /// The same for the input under another release.
    pub(crate) fn following(mut self, release: &str) -> Self {
        // These select a release in another way.
        let is_replaced = |flag: &Flag| {
            let others = [" --release ", " --kthena-profile ", " --semantics documented"];
            others.iter().any(|other| flag.words.starts_with(other))
        };
        self.flags.retain(|flag| !is_replaced(flag));
        let words = format!(" --release {}", quoted(release));
        self.flags.push(Flag { words, verbs: self.reading.clone() });
        self
    }

    /// Whether a proposal is the command that was run: its page shows all of it.
    fn is_page(&self, proposal: &str) -> bool {
        let Some(rest) =
            proposal.strip_prefix("ome ").and_then(|all| all.strip_prefix(&*self.verb))
        else {
            return false;
        };
        // A longer word is another verb.
        if self.verb.is_empty() || !(rest.is_empty() || rest.starts_with(' ')) {
            return false;
        }
        let (targets, flags) = match rest.find(" -") {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        // An input of its own is another question.
        if [" -f ", " -k ", " --help"].iter().any(|name| flags.contains(name)) {
            return false;
        }
        // One of the two may be qualified by a namespace; `why` has a kind there, which was missing.
        let is_same = |text: &str, requested: &str| {
            let name = |text: &str| text.rsplit('/').next().unwrap_or(text).to_owned();
            text == requested
                || (self.verb != "why"
                    && text.contains('/') != requested.contains('/')
                    && name(text) == name(requested))
        };
        let targets: Vec<&str> = targets.split_whitespace().collect();
        let is_shown =
            |requested: &&str| self.targets.iter().any(|target| is_same(target, requested));
        let flags: BTreeSet<&str> = flags
            .split(" -")
            .map(|flag| flag.trim_start_matches('-'))
            .filter(|f| !f.is_empty())
            .collect();
        let text: BTreeSet<&str> =
            self.verb_flags.iter().map(|flag| flag.trim_start().trim_start_matches('-')).collect();
        if self.verb == "explain" {
            // Without names it explains every service; flags add to the page.
            let all = self.targets.is_empty() || targets.iter().all(is_shown);
            return all && flags.is_subset(&text);
        }
        targets.len() == self.targets.len() && targets.iter().all(is_shown) && flags == text
    }

    /// The releases that were typed, for a command that takes them.
    fn releases(&self, verb: &str) -> String {
        let is_taken = |flag: &&Flag| {
            flag.words.starts_with(" --release ") && flag.verbs.iter().any(|verbs| verbs == verb)
        };
        self.flags.iter().filter(is_taken).map(|flag| flag.words.as_str()).collect()
    }

    /// The flags about the input that a command takes, each with a blank before it.
    fn flags(&self, verb: &str) -> String {
        let taken = self.flags.iter().filter(|flag| flag.verbs.iter().any(|verbs| verbs == verb));
        taken.map(|flag| flag.words.as_str()).collect()
    }
}

/// The values of an argument as they were typed.
fn values(matches: &ArgMatches, id: &str) -> Vec<String> {
    let raw = matches.try_get_raw(id).ok().flatten();
    raw.into_iter().flatten().map(|value| value.to_string_lossy().into_owned()).collect()
}

/// A flag with its values, each with a blank before it.
fn words(argument: &clap::Arg, values: &[String]) -> String {
    let flag = match (argument.get_short(), argument.get_long()) {
        (Some(short), _) => format!(" -{short}"),
        (None, Some(long)) => format!(" --{long}"),
        (None, None) => return String::new(),
    };
    if !argument.get_action().takes_values() {
        return flag;
    }
    if argument.is_require_equals_set() {
        // Its value may be left out, and is `true` then.
        let value = values.iter().find(|value| *value != "true");
        return value.map_or_else(|| flag.clone(), |value| format!("{flag}={}", quoted(value)));
    }
    values.iter().flat_map(|value| [flag.clone(), " ".to_owned(), quoted(value)]).collect()
}

/// Makes the command lines complete that texts propose.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proposals {
    /// The paths that were read.
    paths: String,
    /// The same as they were given.
    read: Vec<PathBuf>,
    typed: Typed,
    /// Flags for what the whole input showed and a part of it may not, each with a blank before it.
    detected: String,
}

impl Proposals {
    /// Those of a run that read these paths, each with the flag that names it.
    pub(crate) fn new(paths: [(&str, &[PathBuf]); 2], typed: Typed) -> Self {
        let words = paths.iter().flat_map(|(flag, paths)| {
            paths.iter().map(move |path| format!(" {flag} {}", quoted(&path.to_string_lossy())))
        });
        let read = paths.iter().flat_map(|(_, paths)| paths.iter().cloned()).collect();
        Self { paths: words.collect(), read, typed, detected: String::new() }
    }

    /// Notes the releases that the input was seen to be written for: a part of it is, too.
    pub(super) fn detect(&mut self, releases: impl Iterator<Item = EcoString>) {
        self.detected.clear();
        releases.for_each(|name| self.detected.extend([" --release ", &name]));
    }

    /// The arguments of the input that a command needs, each with a blank before it.
    pub(crate) fn arguments(&self, verb: &str) -> String {
        format!("{}{}", self.paths, self.typed.flags(verb))
    }

    /// The command that was run, with paths instead of its names: `ome explain -f svc.yaml`.
    pub(super) fn reading(&self, paths: &[&str]) -> String {
        let paths = paths.iter().map(|path| format!(" -f {}", quoted(path)));
        let flags = self.typed.verb_flags.iter().map(String::as_str);
        let flags = paths.chain(flags.map(str::to_owned)).collect::<String>();
        let (verb, read) = (&self.typed.verb, &self.paths);
        format!("ome {verb}{read}{flags}{}", self.typed.flags(verb))
    }

    /// The names of objects of the run that are paths of files or directories.
    pub(super) fn named_paths(&self) -> Vec<&str> {
        let targets = self.typed.targets.iter().map(String::as_str);
        targets.filter(|name| std::path::Path::new(name).exists()).collect()
    }

    /// A text with the arguments of the input in the commands that it quotes with backticks and that
    /// read one; commands that name their input stay. A clause, which a semicolon ends, that proposes
    /// the command that was run is left out; `None` if nothing is left.
    pub(crate) fn complete(&self, text: &str) -> Option<String> {
        if is_step_to_load(text) {
            return Some(format!("{text}{}", self.beyond().unwrap_or_default()));
        }
        if !text.contains("`ome ") {
            return Some(text.to_owned());
        }
        let kept: Vec<Cow<'_, str>> = clauses(text)
            .filter(|clause| !commands(clause).any(|command| self.typed.is_page(command)))
            .map(|clause| self.filled(clause))
            .collect();
        (!kept.is_empty()).then(|| kept.join("; "))
    }

    /// Where an object may be that the paths of the run do not have: in the rest of their repository, of
    /// which nothing was read.
    fn beyond(&self) -> Option<String> {
        let here = [PathBuf::from(".")];
        let read = if self.read.is_empty() { &here[..] } else { &self.read };
        let root = around(read)?;
        let names: Vec<String> = read.iter().map(|path| format!("`{}`", path.display())).collect();
        let Typed { verb, targets, verb_flags, .. } = &self.typed;
        let words = targets.iter().map(|target| format!(" {}", quoted(target)));
        let words = words.chain(verb_flags.iter().cloned()).collect::<String>();
        Some(format!(
            ": {} {} it; `ome {verb}{words} -f {}{}` reads the whole repository",
            names.join(" and "),
            if names.len() == 1 { "lacks" } else { "lack" },
            quoted(&root.to_string_lossy()),
            self.typed.flags(verb)
        ))
    }

    /// A text with complete commands.
    pub(crate) fn filled<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let has_none =
            self.paths.is_empty() && self.typed.flags.is_empty() && self.detected.is_empty();
        if !text.contains("`ome ") || has_none {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + self.paths.len());
        for (at, part) in text.split('`').enumerate() {
            if at > 0 {
                out.push('`');
            }
            out.push_str(part);
            // Every second part is within backquotes.
            if at % 2 == 1 {
                out.push_str(&self.lacks(part));
            }
        }
        Cow::Owned(out)
    }

    /// The arguments that a command lacks.
    fn lacks(&self, command: &str) -> String {
        let Some(rest) = command.strip_prefix("ome ") else { return String::new() };
        let verb = rest.split(' ').next().unwrap_or_default();
        // The command has its input; only the releases that it follows are added.
        if command.contains(" -k ") && !command.contains(" --release ") {
            return format!("{}{}", self.typed.releases(verb), self.detected);
        }
        let names_its_input = [" -f ", " -k ", " --help"].iter().any(|name| command.contains(name));
        if names_its_input || !self.typed.reading.iter().any(|reading| reading == verb) {
            return String::new();
        }
        self.arguments(verb)
    }
}

/// The root of the repository that has all these paths, as a path from the current directory; none if one
/// of them is the root, or does not exist.
fn around(paths: &[PathBuf]) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let mut roots = paths.iter().map(|path| {
        let path = path.canonicalize().ok()?;
        repository_root(&path).filter(|root| *root != path)
    });
    let root = roots.next()??;
    if !roots.all(|other| other.as_ref() == Some(&root)) {
        return None;
    }
    if let Ok(below) = here.strip_prefix(&root) {
        let up: PathBuf = below.components().map(|_| "..").collect();
        return Some(if up.as_os_str().is_empty() { ".".into() } else { up });
    }
    Some(root.strip_prefix(&here).map(PathBuf::from).unwrap_or(root))
}

/// The clauses of a text: what semicolons outside of backticks separate.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let mut ends = Vec::new();
    for (at, c) in text.char_indices() {
        is_quoted ^= c == '`';
        if c == ';' && !is_quoted && text[at..].starts_with("; ") {
            ends.push(at);
        }
    }
    ends.push(text.len());
    let mut begin = 0;
    ends.into_iter().map(move |end| {
        let clause = &text[begin..end];
        begin = (end + "; ".len()).min(text.len());
        clause
    })
}

/// The commands that a text quotes with backticks.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|part| part.starts_with("ome "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The proposals of a run with these words.
    fn of(line: &[&str]) -> Proposals {
        let mut command = crate::cli::command();
        let words = std::iter::once("ome").chain(line.iter().copied());
        let matches = command.try_get_matches_from_mut(words).unwrap();
        let typed = Typed::new(&command, &matches, &crate::cli::flags_of_input());
        let below = matches.subcommand().unwrap().1;
        let paths = |id: &str| -> Vec<PathBuf> {
            below.get_many(id).into_iter().flatten().cloned().collect()
        };
        let (files, kustomize) = (paths("files"), paths("kustomize"));
        Proposals::new([("-f", &files), ("-k", &kustomize)], typed)
    }

    #[test]
    fn commands_get_the_arguments_of_the_input() {
        let line = [
            "plan",
            "-n",
            "ml",
            "-f",
            "a b.yaml",
            "--no-builtin",
            "--max-depth",
            "9",
            "--protocol",
            "openAI",
            "--at",
            "max",
            "--jobs",
            "1",
            "--release",
            "ome=v0.1.4,kserve=v0.20.0",
        ];
        let text = "-f 'a b.yaml' -n ml --no-builtin --max-depth 9";
        let releases = "--release ome=v0.1.4 --release kserve=v0.20.0";
        for (text, expected) in [
            (
                "`ome explain x` shows it",
                format!("`ome explain x {text} --protocol openAI {releases}` shows it"),
            ),
            ("`ome validate`", format!("`ome validate {text} {releases}`")),
            ("set `a` or `ome code x`", "set `a` or `ome code x`".to_owned()),
            ("`ome render --help`", "`ome render --help`".to_owned()),
            ("`ome plan -f c.yaml`", "`ome plan -f c.yaml`".to_owned()),
        ] {
            let complete = of(&line).complete(text).unwrap();
            assert_eq!(complete, expected);
            assert_eq!(of(&line).complete(&complete).unwrap(), expected);
        }
    }

    #[test]
    fn a_typed_release_is_kept_with_another_input() {
        let line = ["plan", "-f", "a", "-n", "ml", "--release", "kserve=odh"];
        assert_eq!(
            of(&line).complete("`ome plan -k dev` builds it").unwrap(),
            "`ome plan -k dev --release kserve=odh` builds it"
        );
    }

    #[test]
    fn a_run_that_reads_standard_input_proposes_to_pipe_it_again() {
        assert_eq!(
            of(&["plan", "-f", "-"]).complete("`ome explain x`").unwrap(),
            "`ome explain x -f -`"
        );
    }

    /// An object may be in a part of the repository that was not read; outside of one nothing is known.
    #[test]
    fn an_object_that_was_not_read_may_be_in_the_rest_of_the_repository() {
        let root = std::env::temp_dir().join(format!("ome-repository-{}", std::process::id()));
        let (apps, other) = (root.join("apps/a"), root.join("other"));
        for directory in [&apps, &other, &root.join(".git")] {
            std::fs::create_dir_all(directory).unwrap();
        }
        let root = root.canonicalize().unwrap();
        let words = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        let (all, apps, other) = (words(&root), words(&apps), words(&other));
        let load = "load the runtime with `-f`";
        let reads =
            |words: &str| format!("; `ome {words} -f {all} -n ml` reads the whole repository");
        for (line, expected) in [
            (vec!["plan", "a", "-f", &apps], format!(": `{apps}` lacks it{}", reads("plan a"))),
            (
                vec!["render", "-f", &apps, "-f", &other],
                format!(": `{apps}` and `{other}` lack it{}", reads("render")),
            ),
            (vec!["plan", "-f", &all], String::new()),
            (vec!["plan", "-f", "-"], String::new()),
            (vec!["plan", "-f", "/"], String::new()),
        ] {
            let line = [line, vec!["-n", "ml"]].concat();
            let complete = of(&line).complete(load).unwrap();
            assert_eq!(complete, format!("{load}{expected}"), "{line:?}");
            assert_eq!(of(&line).complete(&complete).unwrap(), complete, "{line:?}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_command_that_was_run_is_not_proposed() {
        let dropped = |line: &[&str], text: &str| of(line).complete(text);
        let text = "set a; `ome explain ml/x` shows it";
        for line in [&["explain", "x"][..], &["explain"], &["explain", "ml/x", "--all"]] {
            assert_eq!(dropped(line, text).as_deref(), Some("set a"), "{line:?}");
            assert_eq!(dropped(line, "`ome explain ml/x` shows it"), None, "{line:?}");
        }
        for line in [&["explain", "y"][..], &["plan"], &["plan", "x"], &["explain", "other/x"]] {
            assert_eq!(dropped(line, text).as_deref(), Some(text), "{line:?}");
        }
        let edits = "`ome explain x --runtime r` shows the edits";
        assert_eq!(dropped(&["explain", "x"], edits).as_deref(), Some(edits));
        assert_eq!(dropped(&["explain", "x", "--runtime", "r"], edits), None);
        assert_eq!(dropped(&["explain", "x", "--runtime", "s"], edits).as_deref(), Some(edits));
        let all = "`ome rollout --all` shows it";
        assert_eq!(dropped(&["rollout", "--all"], all), None);
        assert_eq!(dropped(&["rollout", "x"], all).as_deref(), Some(all));
        let built = "`ome plan -k dev` builds it";
        assert_eq!(dropped(&["plan", "-f", "dev"], built).as_deref(), Some(built));
    }
}

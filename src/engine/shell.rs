//! The simple commands of a shell script, with their words expanded as far as values are known.
//!
//! In: the text after `sh -c`, the variables of the container. Out: the commands in order; nothing
//! for a script with parts that are not read (functions, `case`, here-documents).

use super::variables::{UNKNOWN, Variables};
use crate::yaml::Origin;
use ecow::EcoString;
use std::collections::VecDeque;

/// A command of a script.
#[derive(Clone, Debug)]
pub(super) struct Simple {
    /// The program and its arguments.
    pub(super) words: Vec<EcoString>,
    /// The variables as they are when the command starts.
    pub(super) variables: Variables,
    /// The command runs only under a condition, or more than once.
    pub(super) conditional: bool,
}

/// The greatest number of characters of a script that is read.
const MOST: usize = 64 << 10;

/// Words that begin or end a part of a script and are followed by a command.
const OPENING: [&str; 6] = ["if", "while", "until", "elif", "then", "else"];

#[derive(Debug)]
enum Token {
    Word(EcoString),
    /// The end of a command.
    End,
    /// The end of the script.
    Last,
}

/// The commands of a script; `positional` are the words after it.
pub(super) fn commands(
    script: &str,
    variables: &Variables,
    positional: &[EcoString],
    origin: Origin,
) -> Option<Vec<Simple>> {
    within(script, variables, positional, origin, 0)
}

/// Levels of `eval` that are read.
const MOST_LEVELS: usize = 4;

/// The commands of a script, or of the text that `eval` runs in so many others.
fn within(
    script: &str,
    variables: &Variables,
    positional: &[EcoString],
    origin: Origin,
    level: usize,
) -> Option<Vec<Simple>> {
    // An `eval` of its own text would not end; the longest scripts of manifests are far below.
    if script.len() > MOST || level > MOST_LEVELS {
        return None;
    }
    let mut reader = Reader {
        // A queue, because words of variables are put back in front of the rest to be read again.
        rest: script.chars().collect(),
        variables: variables.clone(),
        positional: positional.to_vec(),
        origin,
        level,
    };
    let (mut found, mut words, mut depth) = (Vec::new(), Vec::<EcoString>::new(), 0_usize);
    loop {
        let token = reader.token()?;
        if let Token::Word(word) = token {
            words.push(word);
            continue;
        }
        reader.finish(std::mem::take(&mut words), &mut depth, &mut found)?;
        if matches!(token, Token::Last) {
            return Some(found);
        }
    }
}

struct Reader {
    rest: VecDeque<char>,
    variables: Variables,
    positional: Vec<EcoString>,
    origin: Origin,
    /// How many `eval` it is in.
    level: usize,
}

impl Reader {
    /// A command from its words: keywords and assignments are taken from its front.
    fn finish(
        &mut self,
        mut words: Vec<EcoString>,
        depth: &mut usize,
        found: &mut Vec<Simple>,
    ) -> Option<()> {
        // Several keywords may stand in front of one command: `then if ! A=b program`.
        while let Some(first) = words.first().cloned() {
            match first.as_str() {
                "if" | "while" | "until" => *depth += 1,
                "for" | "select" => {
                    // The body follows `do`; the variable has several values.
                    *depth += 1;
                    if let Some(name) = words.get(1) {
                        self.variables.forget(name);
                    }
                    return Some(());
                }
                "fi" | "done" => *depth = depth.saturating_sub(1),
                // Whether a branch or a function runs is not decided here, so the whole script is
                // given up.
                "case" | "function" | "esac" => return None,
                "do" | "{" | "}" | "!" | "time" => {}
                word if OPENING.contains(&word) => {}
                _ => break,
            }
            words.remove(0);
        }
        if words.first().is_some_and(|word| word.ends_with("()")) {
            return None;
        }
        // `A=b program` sets the variable for that program only; alone it sets it for what follows.
        let mut variables = None;
        while let Some((name, value)) = words.first().and_then(|word| assignment(word)) {
            variables.get_or_insert_with(|| self.variables.clone()).set(&name, &value, self.origin);
            words.remove(0);
        }
        let Some(program) = words.first() else {
            if let Some(variables) = variables {
                self.keep(variables, *depth > 0);
            }
            return Some(());
        };
        match program.as_str() {
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                let mut changed = self.variables.clone();
                for word in &words[1..] {
                    if let Some((name, value)) = assignment(word) {
                        changed.set(&name, &value, self.origin);
                    }
                }
                self.keep(changed, *depth > 0);
                return Some(());
            }
            "unset" | "read" => {
                for word in &words[1..] {
                    self.variables.forget(word);
                }
                return Some(());
            }
            "source" | "." => {
                // The file can set any variable.
                self.variables.opaque = true;
                return Some(());
            }
            "eval" => {
                let variables = variables.unwrap_or_else(|| self.variables.clone());
                // The shell joins the words with blanks and reads them again.
                let (text, level) = (words[1..].join(" "), self.level + 1);
                let inner = within(&text, &variables, &self.positional, self.origin, level);
                let inner = inner.into_iter().flatten();
                let conditional = *depth > 0;
                found.extend(inner.map(|command| Simple {
                    conditional: command.conditional || conditional,
                    ..command
                }));
                // It can set any variable.
                self.variables.opaque = true;
                return Some(());
            }
            "set" | "shift" => {
                // Afterwards the positional words are others, and how many is unknown: one unknown
                // word stands for all.
                if program == "shift" || words.iter().any(|word| word == "--") {
                    self.positional = vec![EcoString::new(), UNKNOWN.to_string().into()];
                }
                return Some(());
            }
            _ => {}
        }
        let variables = variables.unwrap_or_else(|| self.variables.clone());
        found.push(Simple { words, variables, conditional: *depth > 0 });
        Some(())
    }

    /// Takes over changed variables; under a condition, those that differ become unknown.
    fn keep(&mut self, changed: Variables, conditional: bool) {
        if conditional {
            // The branch may not run: only values that are equal on both paths stay known.
            let before = std::mem::replace(&mut self.variables, changed);
            self.variables.unlike(&before);
        } else {
            self.variables = changed;
        }
    }

    /// The next word, or an end; nothing where the script cannot be read.
    fn token(&mut self) -> Option<Token> {
        let mut word: Option<String> = None;
        loop {
            let Some(c) = self.rest.front().copied() else {
                return Some(word.map_or(Token::Last, |word| Token::Word(word.into())));
            };
            match c {
                ' ' | '\t' | '\r' => {
                    self.rest.pop_front();
                    if let Some(word) = word {
                        return Some(Token::Word(word.into()));
                    }
                }
                // `A=(…)` is an array, which must not be taken for a subshell or for a function.
                '(' if word.as_ref().is_some_and(|word| word.ends_with('=')) => {
                    self.array()?;
                    word.get_or_insert_default().push(UNKNOWN);
                }
                '\n' | ';' | '&' | '|' | '(' | ')' => {
                    // `NAME()` begins a function, which the caller refuses.
                    if c == '(' && word.is_some() {
                        return None;
                    }
                    if let Some(word) = word {
                        return Some(Token::Word(word.into()));
                    }
                    self.rest.pop_front();
                    return Some(Token::End);
                }
                // Inside a word a `#` is a character like others.
                '#' if word.is_none() => {
                    while self.rest.front().is_some_and(|c| *c != '\n') {
                        self.rest.pop_front();
                    }
                }
                '>' | '<' => {
                    self.rest.pop_front();
                    self.redirection(c)?;
                    // A number before it is a file descriptor.
                    match word {
                        Some(text) if text.chars().all(|c| c.is_ascii_digit()) => word = None,
                        Some(word) => return Some(Token::Word(word.into())),
                        None => {}
                    }
                }
                '\\' => {
                    self.rest.pop_front();
                    match self.rest.pop_front() {
                        Some('\r') if self.rest.front() == Some(&'\n') => {
                            self.rest.pop_front();
                        }
                        // A backslash before the end of a line joins the lines and leaves nothing.
                        None | Some('\n') => {}
                        Some(c) => word.get_or_insert_default().push(c),
                    }
                }
                '\'' => {
                    self.rest.pop_front();
                    let word = word.get_or_insert_default();
                    loop {
                        match self.rest.pop_front()? {
                            '\'' => break,
                            c => word.push(c),
                        }
                    }
                }
                '"' if self.is_all_words() => {
                    self.rest.drain(..4);
                    // Taken out and put back: `put` borrows the reader while it reads the words.
                    let words = std::mem::take(&mut self.positional);
                    self.put(words.get(1..).unwrap_or_default());
                    self.positional = words;
                }
                '"' => {
                    self.rest.pop_front();
                    let mut text = word.take().unwrap_or_default();
                    self.quoted(&mut text)?;
                    word = Some(text);
                }
                '`' => {
                    self.rest.pop_front();
                    while self.rest.pop_front()? != '`' {}
                    word.get_or_insert_default().push(UNKNOWN);
                }
                '$' => {
                    self.rest.pop_front();
                    let value = self.dollar()?;
                    let text = word.take();
                    // Only values outside of quotes are split into words; in quotes they are one.
                    word = self.split(text, &value);
                }
                c => {
                    self.rest.pop_front();
                    word.get_or_insert_default().push(c);
                }
            }
        }
    }

    /// Reads the elements of an array up to its end.
    fn array(&mut self) -> Option<()> {
        self.rest.pop_front();
        loop {
            match self.rest.pop_front()? {
                ')' => return Some(()),
                '"' => self.quoted(&mut String::new())?,
                '\'' => while self.rest.pop_front()? != '\'' {},
                '$' => _ = self.dollar()?,
                '\\' => _ = self.rest.pop_front()?,
                _ => {}
            }
        }
    }

    /// Puts the words of an unquoted variable before the rest of the script, each in quotes.
    fn split(&mut self, before: Option<String>, value: &str) -> Option<String> {
        if !value.contains(char::is_whitespace) {
            // An unquoted empty variable is no word at all; in quotes it is an empty one.
            if value.is_empty() && before.is_none() {
                return None;
            }
            return Some(before.unwrap_or_default() + value);
        }
        // From the back to the front, as each piece is put before the rest that was there.
        if value.ends_with(char::is_whitespace) {
            self.rest.push_front(' ');
        }
        let words: Vec<EcoString> = value.split_whitespace().map(EcoString::from).collect();
        self.put(&words);
        if value.starts_with(char::is_whitespace) {
            self.rest.push_front(' ');
        }
        before
    }

    /// Whether `"$@"` follows: each of the words after the script as a word of its own.
    fn is_all_words(&self) -> bool {
        self.rest.iter().copied().take(4).eq("\"$@\"".chars())
    }

    /// Puts words before the rest of the script, each in quotes.
    fn put(&mut self, words: &[EcoString]) {
        for (at, word) in words.iter().enumerate().rev() {
            let blank = if at > 0 { " " } else { "" };
            // In single quotes, so that nothing in a value is expanded or split a second time.
            let text = format!("{blank}'{}'", word.as_str().replace('\'', "'\\''"));
            for c in text.chars().rev() {
                self.rest.push_front(c);
            }
        }
    }

    fn quoted(&mut self, text: &mut String) -> Option<()> {
        loop {
            match self.rest.pop_front()? {
                '"' => return Some(()),
                '\\' => match self.rest.pop_front()? {
                    c @ ('"' | '\\' | '$' | '`') => text.push(c),
                    '\n' => {}
                    c => {
                        text.push('\\');
                        text.push(c);
                    }
                },
                '`' => {
                    while self.rest.pop_front()? != '`' {}
                    text.push(UNKNOWN);
                }
                '$' => text.push_str(&self.dollar()?),
                c => text.push(c),
            }
        }
    }

    /// What follows a `$`: the value of a variable, or the unknown.
    fn dollar(&mut self) -> Option<String> {
        let unknown = || UNKNOWN.to_string();
        match self.rest.front().copied() {
            Some('(') => {
                self.rest.pop_front();
                // The output of a command is unknown; only its end has to be found, past inner
                // parentheses.
                let mut depth = 1_usize;
                while depth > 0 {
                    match self.rest.pop_front()? {
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        '\'' => while self.rest.pop_front()? != '\'' {},
                        // A parenthesis in quotes closes nothing: `$(echo ")")`.
                        '"' => self.quoted(&mut String::new())?,
                        '\\' => {
                            self.rest.pop_front();
                        }
                        _ => {}
                    }
                }
                Some(unknown())
            }
            Some('{') => {
                self.rest.pop_front();
                let mut inner = String::new();
                // A default may hold another `${…}`, whose brace is not the end.
                let mut depth = 1_usize;
                loop {
                    match self.rest.pop_front()? {
                        '}' if depth == 1 => break,
                        c => {
                            match c {
                                '{' => depth += 1,
                                '}' => depth -= 1,
                                _ => {}
                            }
                            inner.push(c);
                        }
                    }
                }
                Some(self.braces(&inner))
            }
            Some('@' | '*') => {
                self.rest.pop_front();
                let words = self.positional.get(1..).unwrap_or_default();
                Some(words.join(" "))
            }
            Some(c) if c.is_ascii_digit() => {
                self.rest.pop_front();
                let at = c.to_digit(10)? as usize;
                // `$0` is the first word after the script.
                Some(self.positional.get(at).map_or_else(unknown, std::string::ToString::to_string))
            }
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let mut name = String::new();
                while let Some(c) = self.rest.front().copied().filter(|c| is_of_name(*c)) {
                    name.push(c);
                    self.rest.pop_front();
                }
                Some(self.value(&name).unwrap_or_else(unknown))
            }
            Some('?' | '!' | '#' | '$' | '-') => {
                self.rest.pop_front();
                Some(unknown())
            }
            _ => Some("$".to_owned()),
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        let is_known = !self.variables.opaque;
        self.variables.get(name).filter(|_| is_known).map(ToString::to_string)
    }

    /// `NAME`, `NAME:-DEFAULT`, `NAME-DEFAULT`, `NAME:=DEFAULT`; others are unknown.
    fn braces(&self, inner: &str) -> String {
        let end = inner.find(|c| !is_of_name(c)).unwrap_or(inner.len());
        let (name, rest) = inner.split_at(end);
        let default = ["-", "=", ":-", ":="]
            .into_iter()
            .find_map(|sign| rest.strip_prefix(sign))
            .filter(|text| !text.contains(['$', '`', '"', '\'', '\\']));
        let unknown = UNKNOWN.to_string();
        match (rest.is_empty(), default) {
            (true, _) => self.value(name).unwrap_or(unknown),
            // Without a value in the manifest the image can still set one.
            (false, Some(_)) => {
                // Only `:-` and `:=` take the default for an empty value: unknown covers both.
                self.value(name).filter(|value| !value.is_empty()).unwrap_or(unknown)
            }
            _ => unknown,
        }
    }

    /// Reads the target of a redirection; `None` for a here-document, whose lines are no commands.
    fn redirection(&mut self, sign: char) -> Option<()> {
        if sign == '<' && self.rest.front() == Some(&'<') {
            return None;
        }
        if sign == '>' && self.rest.front() == Some(&'>') {
            self.rest.pop_front();
        }
        if self.rest.front() == Some(&'&') {
            self.rest.pop_front();
        }
        // Blanks may stand between the sign and its target.
        while self.rest.front().is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.rest.pop_front();
        }
        while self
            .rest
            .front()
            .is_some_and(|c| !c.is_whitespace() && !matches!(c, ';' | '&' | '|' | ')' | '<' | '>'))
        {
            self.rest.pop_front();
        }
        Some(())
    }
}

fn is_of_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// `NAME=VALUE` at the front of a command.
fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let is_name =
        name.chars().all(is_of_name) && name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Node, Rule};

    static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

    fn words(script: &str) -> Option<Vec<Vec<String>>> {
        let container = Node::from_json(
            &serde_json::json!({"env": [
                {"name": "RANKS", "value": "4"},
                {"name": "EXTRA", "value": "--tp 8 --port=1"},
                {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}},
            ]}),
            Origin::Default(&TEST),
        );
        let variables = Variables::of(&container);
        let found = commands(
            script,
            &variables,
            &["sh".into(), "--x".into(), "a 'b'".into()],
            Origin::Default(&TEST),
        )?;
        Some(
            found
                .into_iter()
                .map(|command| {
                    command.words.iter().map(|word| word.as_str().replace(UNKNOWN, "?")).collect()
                })
                .collect(),
        )
    }

    #[test]
    fn the_words_after_a_script_stay_words() {
        let found = words("exec run --y=\"$@\"").unwrap_or_default();
        assert_eq!(found, [["exec", "run", "--y=--x", "a 'b'"]]);
    }

    #[test]
    fn scripts_are_read_as_a_shell_reads_them() {
        for (script, expected) in [
            ("exec vllm serve m \\\n  --tp $RANKS # four\n", vec!["exec vllm serve m --tp 4"]),
            ("A=2; export B=$A; run --a=${A} \"--b ${B}\" '$A'", vec!["run --a=2 --b 2 $A"]),
            ("run $EXTRA --z", vec!["run --tp 8 --port=1 --z"]),
            ("run \"$EXTRA\"", vec!["run --tp 8 --port=1"]),
            ("run --k $SECRET ${NO:-1} $(nproc) `id`", vec!["run --k ? ? ? ?"]),
            ("ray start > /dev/null 2>&1 && run \"$@\"", vec!["ray start", "run --x a 'b'"]),
            ("if [ -z \"$A\" ]; then A=3; fi; run $A", vec!["[ -z ? ]", "run ?"]),
            ("TP=2 run $TP", vec!["run ?"]),
            ("source /env; run $RANKS", vec!["run ?"]),
            (
                "A='--tp 2'; eval \"exec run $A \\\n --b 'c d' $@\"",
                vec!["exec run --tp 2 --b c d --x a b"],
            ),
            ("eval run $RANKS; run $RANKS", vec!["run 4", "run ?"]),
            ("if x; then eval \"run $NO\"; fi", vec!["x", "run ?"]),
            ("x='eval \"$x\"'; eval \"$x\"; run", vec!["run"]),
            ("a=(); a+=(\"$b)\" c); run ${a[@]} ${#a[@]}", vec!["a+=?", "run ? ?"]),
            ("A=''; if x; then A='--y 4'; fi; run $A", vec!["x", "run --y 4"]),
            ("A=''; if x; then A='--tp 4'; fi; run $A", vec!["x", "run ?"]),
            ("A=1; if x; then A=2; fi; run $A", vec!["x", "run ?"]),
            ("run $VLLM_ADDITIONAL_ARGS", vec!["run"]),
            ("set -- x; run \"$@\"", vec!["run ?"]),
            ("a & b | c", vec!["a", "b", "c"]),
            ("run '", vec![]),
            ("cat <<EOF\nrun\nEOF", vec![]),
            ("f() { run; }; f", vec![]),
        ] {
            let found = words(script).unwrap_or_default();
            let found: Vec<String> = found.iter().map(|words| words.join(" ")).collect();
            assert_eq!(found, expected, "{script}");
        }
    }
}

//! Command line arguments as the controller's accelerator overrides change them
//! (pkg/controller/v1beta1/inferenceservice/utils/merging.go, MergeArgs;
//! pkg/controller/v1beta1/inferenceservice/components/base.go).

use crate::yaml::{Node, Origin};
use ecow::{EcoString, EcoVec, eco_format};
use indexmap::IndexMap;
use std::collections::HashMap;

/// Whether a list is a shell script: only its first element decides.
fn is_script(list: &[Node]) -> bool {
    list.first().and_then(Node::as_str).is_some_and(is_multi_line)
}

fn is_multi_line(text: &str) -> bool {
    text.contains('\n') || text.contains('\\')
}

/// One word or line, with the origin of its element.
type Piece = (EcoString, Origin);

fn pieces(list: &[Node]) -> Vec<Piece> {
    let mut out = Vec::new();
    for node in list {
        // Arguments that are no texts were reported by the schema; Go could not decode them.
        let Some(text) = node.as_str() else { continue };
        if is_multi_line(text) {
            for line in text.split('\n') {
                out.push((EcoString::from(line.trim().trim_end_matches('\\').trim()), node.origin));
            }
        } else {
            out.push((EcoString::from(text.trim()), node.origin));
        }
    }
    out.retain(|(text, _)| !text.is_empty());
    out
}

/// The key by which two arguments are equal: a flag without its value, any other word as a whole.
fn key(text: &str) -> &str {
    if !text.starts_with('-') {
        return text;
    }
    match text.split_once('=') {
        Some((flag, _)) => flag,
        None => text.split_whitespace().next().unwrap_or(text),
    }
}

/// A flag together with its value. A value that looks like a flag is treated as a flag.
fn groups(list: &[Node]) -> Vec<Vec<Piece>> {
    let mut rest = pieces(list).into_iter().peekable();
    let mut out = Vec::new();
    while let Some(piece) = rest.next() {
        let mut group = vec![piece];
        if !group[0].0.contains('=')
            && let Some(value) = rest.next_if(|(next, _)| !next.starts_with('-'))
        {
            group.push(value);
        }
        out.push(group);
    }
    out
}

/// The arguments with overrides merged in by flag: a known flag is replaced in place, a new one
/// follows.
pub(crate) fn merged(base: &EcoVec<Node>, over: &EcoVec<Node>) -> EcoVec<Node> {
    if over.is_empty() {
        return base.clone();
    }
    if base.is_empty() {
        // Upstream returns the other list as it is, neither trimmed nor split into lines.
        return over.clone();
    }
    let mut all: IndexMap<EcoString, Vec<Piece>> = IndexMap::new();
    for group in groups(base).into_iter().chain(groups(over)) {
        // A later flag takes the place of the earlier one: the map keeps the place of the first
        // insertion.
        all.insert(key(&group[0].0).into(), group);
    }
    let flat: Vec<Piece> = all.into_values().flatten().collect();
    // A script stays one element; its lines are joined again with continuation marks.
    if is_script(base) && !flat.is_empty() {
        let lines: Vec<&str> = flat.iter().map(|(text, _)| text.as_str()).collect();
        return EcoVec::from([Node::str(lines.join(" \\\n"), base[0].origin)]);
    }
    flat.into_iter().map(|(text, origin)| Node::str(text, origin)).collect()
}

/// The arguments with overrides merged in as before v0.1.5: line by line into a script, or appended
/// to a list (utils/merging.go, MergeMultilineArgs).
pub(crate) fn merged_lines(base: &EcoVec<Node>, over: &EcoVec<Node>) -> EcoVec<Node> {
    if over.is_empty() {
        return base.clone();
    }
    if base.is_empty() {
        return over.clone();
    }
    let script = base.first().and_then(Node::as_str).filter(|text| is_multi_line(text));
    // A list of words gets the overrides at its end, and the engine's parser takes the last.
    let Some(script) = script else { return base.iter().chain(over).cloned().collect() };
    let lines: Vec<&str> = script.split('\n').collect();
    let by_key: HashMap<&str, &str> = lines
        .iter()
        .map(|line| bare(line))
        .filter(|line| !line.is_empty())
        // Of lines with one key the last is compared, as a later entry of Go's map replaces an
        // earlier.
        .map(|line| (key(line), line))
        .collect();
    let (mut replaced, mut added) = (HashMap::new(), Vec::new());
    let wanted = over.iter().filter_map(Node::as_str).flat_map(|text| text.split('\n'));
    for line in wanted.map(bare).filter(|line| !line.is_empty()) {
        match by_key.get(key(line)) {
            // An equal line replaces nothing, so that the script keeps its text and its empty
            // lines.
            Some(text) if *text != line => _ = replaced.insert(key(line), line),
            Some(_) => {}
            None => added.push(line),
        }
    }
    let mut text =
        if replaced.is_empty() { script.to_owned() } else { rebuilt(&lines, replaced, &added) };
    if !added.is_empty() {
        let trimmed = text.trim_end_matches([' ', '\t', '\n']);
        // Without a continuation mark the added lines would be commands of their own.
        if !trimmed.ends_with('\\') {
            text = format!("{trimmed} \\");
        }
        for line in added {
            text.push('\n');
            text.push_str(line);
        }
    }
    let first = Node::str(text, base[0].origin);
    std::iter::once(first).chain(base.iter().skip(1).cloned()).collect()
}

/// A line without its continuation mark.
fn bare(line: &str) -> &str {
    line.trim().trim_end_matches('\\').trim()
}

/// Rebuilds the lines, with new values for the overridden ones. Indentation stays; empty lines
/// after the first are dropped.
fn rebuilt(lines: &[&str], mut replaced: HashMap<&str, &str>, added: &[&str]) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let content = line.trim_end_matches([' ', '\t', '\\']).trim();
        if content.is_empty() {
            if index == 0 {
                text.push_str(line);
            }
            continue;
        }
        if index > 0 {
            text.push('\n');
        }
        // Removed at the first use: a second line with the key stays as it is.
        match replaced.remove(key(content)) {
            Some(new) => {
                text.push_str(&line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
                text.push_str(new);
                if index + 1 < lines.len() || !added.is_empty() {
                    text.push_str(" \\");
                }
            }
            None => text.push_str(line),
        }
    }
    text
}

/// Like [`set_size`], as before v0.1.5: only in the first argument, which is treated as a script.
pub(crate) fn set_size_in_first(args: Option<&mut EcoVec<Node>>, aliases: &[&str], size: &Node) {
    if let (Some(args), Some(number)) = (args, size.scalar_text()) {
        set_in(args, aliases, &number, size.origin, true);
    }
}

/// Sets the number of one parallelism flag: of the first alias that the list contains. Nothing
/// happens when it contains none.
pub(crate) fn set_size(
    args: Option<&mut EcoVec<Node>>,
    command: Option<&mut EcoVec<Node>>,
    aliases: &[&str],
    size: &Node,
) {
    let Some(number) = size.scalar_text() else { return };
    if let Some(args) = args
        && set_in(args, aliases, &number, size.origin, is_script(args))
    {
        // The command is looked at only where the arguments have none of the aliases.
        return;
    }
    if let Some(command) = command {
        set_in(command, aliases, &number, size.origin, false);
    }
}

fn set_in(
    list: &mut EcoVec<Node>,
    aliases: &[&str],
    number: &str,
    origin: Origin,
    script: bool,
) -> bool {
    aliases.iter().any(|alias| {
        if script {
            set_in_script(list, alias, number, origin)
        } else {
            set_in_words(list, alias, number, origin)
        }
    })
}

fn set_in_words(list: &mut EcoVec<Node>, alias: &str, number: &str, origin: Origin) -> bool {
    let last = list.len().saturating_sub(1);
    for index in 0..list.len() {
        let Some(text) = list[index].as_str() else { continue };
        // The alias as last word has no value that could be replaced.
        if text == alias && index < last {
            list.make_mut()[index + 1] = Node::str(number, origin);
            return true;
        }
        if text.strip_prefix(alias).is_some_and(|rest| rest.starts_with('=')) {
            list.make_mut()[index] = Node::str(eco_format!("{alias}={number}"), origin);
            return true;
        }
    }
    false
}

/// Replaces every `ALIAS=DIGITS` and `ALIAS DIGITS` of the first element, at any position.
fn set_in_script(list: &mut EcoVec<Node>, alias: &str, number: &str, origin: Origin) -> bool {
    let Some(text) = list.first().and_then(Node::as_str).map(EcoString::from) else { return false };
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut found = false;
    while let Some(at) = rest.find(alias) {
        let after = &rest[at + alias.len()..];
        let value = if let Some(value) = after.strip_prefix('=') {
            Some(value)
        } else {
            let value = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
            (value.len() < after.len()).then_some(value)
        };
        // A value without digits, such as a variable, is left as it is.
        let tail = value.map(|value| value.trim_start_matches(|c: char| c.is_ascii_digit()));
        if let Some((_, tail)) = value.zip(tail).filter(|(value, tail)| tail.len() < value.len()) {
            found = true;
            out.push_str(&rest[..at]);
            out.push_str(alias);
            out.push('=');
            out.push_str(number);
            rest = tail;
        } else {
            // The next match may begin one character later.
            let step = at + alias.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..step]);
            rest = &rest[step..];
        }
    }
    out.push_str(rest);
    if found {
        list.make_mut()[0] = Node::str(out, origin);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::node;

    fn list(json: &str) -> EcoVec<Node> {
        node(json).items().iter().cloned().collect()
    }

    fn texts(list: &EcoVec<Node>) -> Vec<&str> {
        list.iter().filter_map(Node::as_str).collect()
    }

    #[test]
    fn arguments_merge_by_flag() {
        for (base, over, expected) in [
            (
                r#"["--tp-size=4","--port=8080"]"#,
                r#"["--tp-size=8","--x"]"#,
                vec!["--tp-size=8", "--port=8080", "--x"],
            ),
            (r#"["--port","80"]"#, r#"["--port=90"]"#, vec!["--port=90"]),
            (r#"["--a 1","--b"]"#, r#"["--a","2"]"#, vec!["--a", "2", "--b"]),
            (
                r#"["python3 -m s \\\n  --tp 4 \\\n  --x"]"#,
                r#"["--tp=8","--y","2"]"#,
                vec!["python3 -m s \\\n--tp=8 \\\n--x \\\n--y \\\n2"],
            ),
            (
                r#"["-c","python3 -m s \\\n--tp 4"]"#,
                r#"["--tp 8"]"#,
                vec!["-c", "python3 -m s", "--tp 8"],
            ),
            (r#"["a \\\n--b","--c","d"]"#, r#"["--e"]"#, vec!["a \\\n--b \\\n--c \\\nd \\\n--e"]),
            (r#"["--tp=4"]"#, r#"["--tp=8 \\\n--z=1"]"#, vec!["--tp=8", "--z=1"]),
            (r#"["--lora","a","--lora","b"]"#, r#"["--x"]"#, vec!["--lora", "b", "--x"]),
            (r#"["serve","model","serve"]"#, r#"["--x"]"#, vec!["serve", "--x"]),
            (r#"["--t","-1","--b"]"#, r#"["--t","5"]"#, vec!["--t", "5", "-1", "--b"]),
            (r#"["--a b=c"]"#, r#"["--a","z"]"#, vec!["--a b=c", "--a", "z"]),
            (r#"["--a=1"]"#, r#"["--b=1","--b=2","--a=3"]"#, vec!["--a=3", "--b=2"]),
            (r#"[" a "]"#, "[]", vec![" a "]),
            (r#"["\\\n"]"#, r#"[" "]"#, vec![]),
            ("[]", r#"[" a "]"#, vec![" a "]),
        ] {
            assert_eq!(texts(&merged(&list(base), &list(over))), expected, "{base} with {over}");
        }
    }

    #[test]
    fn parallelism_arguments_are_replaced_in_place() {
        const TENSOR: [&str; 3] = ["--tp-size", "--tp", "--tensor-parallel-size"];
        for (args, expected) in [
            (r#"["--tp","4","--tp-size","2"]"#, vec!["--tp", "4", "--tp-size", "8"]),
            (r#"["--tp 4"]"#, vec!["--tp 4"]),
            (r#"["--tp=$(N)"]"#, vec!["--tp=8"]),
            (r#"["-c","x \\\n--tp 4"]"#, vec!["-c", "x \\\n--tp 4"]),
            (r#"["x \\\n--no--tp 4 --tp= 4 --tp=4a"]"#, vec!["x \\\n--no--tp=8 --tp= 4 --tp=8a"]),
        ] {
            let mut list = list(args);
            set_size(Some(&mut list), None, &TENSOR, &node("8"));
            assert_eq!(texts(&list), expected, "{args}");
        }
    }
}

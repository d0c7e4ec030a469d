//! The parallelism of a container as OEP-0003 reads it.

use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// The tensor parallelism of a container as OEP-0003 reads it, whatever the engine: the flag, else
/// `TENSOR_PARALLEL_SIZE` (OEP-0003, Override hierarchy), and whether it is the variable.
pub(crate) fn tensor_parallel_by_document(container: &Node) -> Option<(EcoString, Origin, bool)> {
    const VARIABLE: &str = "TENSOR_PARALLEL_SIZE";
    const FLAGS: [&str; 5] = ["--tp-size", "--tp", "--tensor-parallel-size", "-tp", "--tp_size"];
    let words =
        ["args", "command"].into_iter().filter_map(|key| container.get(key)).flat_map(Node::items);
    let words: Vec<(&str, Origin)> = words
        .filter_map(|node| Some((node.as_str()?, node.origin)))
        // The document does not mention shells: flags count in the text of a script, too.
        .flat_map(|(text, origin)| text.split_whitespace().map(move |word| (word, origin)))
        .collect();
    let is_whole = |text: &str| {
        // A value such as `$(TP)` is no number; an earlier flag or the variable counts then.
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    // From the end: the last of several flags counts.
    let flagged = words.iter().enumerate().rev().find_map(|(at, (word, origin))| {
        let value = match word.split_once('=') {
            Some((flag, value)) if FLAGS.contains(&flag) => Some(value),
            None if FLAGS.contains(word) => words.get(at + 1).map(|(value, _)| *value),
            _ => None,
        };
        value.filter(|value| is_whole(value)).map(|value| (EcoString::from(value), *origin, false))
    });
    flagged.or_else(|| {
        let env = container.get("env").map(Node::items).unwrap_or_default();
        let named = |entry: &&Node| entry.get("name").and_then(Node::as_str) == Some(VARIABLE);
        let value = env.iter().rev().find(named)?.get("value")?;
        Some((value.scalar_text().filter(|text| is_whole(text))?, value.origin, true))
    })
}

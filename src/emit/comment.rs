//! Comments with the source of a value and the values that it overrides.

use crate::source::Location;
use std::fmt::Write;

/// The source of a value.
#[derive(Clone, Debug)]
pub struct ValueSource<'a> {
    /// Name of the layer, such as `runtime`.
    pub layer: &'a str,
    /// Where it is written; none when no file wrote it.
    pub place: Option<Location>,
    /// The rule that wrote it, when no file did.
    pub rule: Option<&'a str>,
}

/// `layer file:line[, over layer file:line]…`, the nearest loser first; a rule is where a place
/// would.
pub fn comment(source: &ValueSource<'_>, over: &[ValueSource<'_>]) -> String {
    let mut text = String::new();
    voice(&mut text, source);
    for loser in over {
        text.push_str(", over ");
        voice(&mut text, loser);
    }
    text
}

fn voice(text: &mut String, voice: &ValueSource<'_>) {
    text.push_str(voice.layer);
    match (&voice.place, voice.rule) {
        (Some(place), _) => write!(text, " {place}").expect("writing to a string never fails"),
        (None, Some(rule)) => write!(text, " {rule}").expect("writing to a string never fails"),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_lists_the_source_and_the_overridden_layers() {
        let at = |layer, file: &str, line| ValueSource {
            layer,
            place: Some(Location {
                file: file.into(),
                line,
                column: 1,
                end_line: line,
                end_column: 2,
            }),
            rule: None,
        };
        let found = comment(
            &at("service", "isvc.yaml", 14),
            &[
                at("runtime", "rt.yaml", 31),
                ValueSource { layer: "default", place: None, rule: Some("pod-defaults") },
            ],
        );
        assert_eq!(
            found,
            "service isvc.yaml:14, over runtime rt.yaml:31, over default pod-defaults"
        );
    }
}

//! How rows of a rollout name groups and events: in text, and in JSON.

/// The wording of a row.
pub(super) struct Wording {
    pub(super) ordinals: fn(&[i64]) -> String,
    pub(super) doing: &'static str,
    pub(super) done: &'static str,
    pub(super) unchanged: &'static str,
}

/// `R-3`, `R-3, R-2`, `R-9 to R-4`.
pub(super) fn lettered(letter: char, all: &[i64]) -> String {
    let name = |ordinal: &i64| format!("{letter}-{ordinal}");
    match all {
        // A run goes down, since the controller replaces the highest ordinal first.
        [first, .., last] if is_long_run(all) => format!("{} to {}", name(last), name(first)),
        _ => all.iter().rev().map(name).collect::<Vec<_>>().join(", "),
    }
}

/// Whether these are more than three consecutive ordinals.
fn is_long_run(all: &[i64]) -> bool {
    match all {
        [first, .., last] => {
            all.len() > 3 && last - first == i64::try_from(all.len()).unwrap_or(0) - 1
        }
        _ => false,
    }
}

/// `group 3`, `groups 3, 2`, `groups 4 to 9`.
pub(super) fn ordinals(all: &[i64]) -> String {
    match all {
        [] => String::new(),
        [one] => format!("group {one}"),
        [first, .., last] if is_long_run(all) => format!("groups {first} to {last}"),
        // In the order in which they are replaced.
        _ => {
            let names: Vec<String> = all.iter().rev().map(ToString::to_string).collect();
            format!("groups {}", names.join(", "))
        }
    }
}

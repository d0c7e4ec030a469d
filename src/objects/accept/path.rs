//! Paths of volumes and of the files in them.

use super::judge::Judge;
use crate::yaml::{At, Node};

/// Whether a path has `..`.
pub(super) fn steps_up(path: &str) -> bool {
    path.split('/').any(|step| step == "..")
}

/// Judges the path of a file within its volume.
pub(super) fn local_path(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, key: &str) {
    let Some(path) = judge.present(at, holder, key) else { return };
    let text = path.as_str().unwrap_or_default();
    // A file such as `..data` would collide with the links by which the kubelet swaps files. Real
    // steps up are left to `descending`, so that each fault is reported once.
    if text.starts_with("..") && !text.starts_with("../") && !steps_up(text) {
        let message = "must not start with '..'";
        judge.invalid(&at.field(key), path, message, "write a path below the volume");
    }
    descending(judge, at, holder, key);
}

/// Judges a path, which must not have `..`.
pub(super) fn descending(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, key: &str) {
    let Some(path) = holder.get(key) else { return };
    let text = path.as_str().unwrap_or_default();
    let message = if text.starts_with('/') {
        "must be a relative path"
    } else if steps_up(text) {
        "must not contain '..'"
    } else {
        return;
    };
    judge.invalid(&at.field(key), path, message, "write a path below the volume");
}

/// Judges the bits of a file mode.
pub(super) fn mode(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, key: &str) {
    let Some(node) = holder.get(key) else { return };
    let Some(mode) = node.as_int().filter(|mode| !(0..=0o777).contains(mode)) else { return };
    let message = "must be a number between 0 and 0777 (octal), both inclusive";
    // The digits are those of a mode, and the zero before them is missing.
    let help = match i64::from_str_radix(&mode.to_string(), 8) {
        Ok(octal @ 0..=0o777) => format!("write it in octal: `0{mode}`, which is {octal}"),
        _ => "write an octal number from `0000` to `0777`".to_owned(),
    };
    judge.invalid(&at.field(key), node, message, &help);
}

/// Judges which keys become which files of a ConfigMap or Secret.
pub(super) fn keys_to_paths(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let list = at.field("items");
    for (index, item) in source.items_of("items").iter().enumerate() {
        let at = list.index(index);
        judge.present(&at, item, "key");
        mode(judge, &at, item, "mode");
        local_path(judge, &at, item, "path");
    }
}

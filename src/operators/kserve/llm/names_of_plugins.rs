//! The scheduler's configuration as far as it decides about other objects: which plugins it has
//! (pkg/controller/v1alpha2/llmisvc/tokenizer.go, inlineSchedulerConfigBytes).

use super::scene::MAIN;
use crate::merge::edit::text;
use crate::source::SourceId;
use crate::yaml::{Limits, Node, parse, split};
use ecow::EcoString;

/// Flags of the configuration as text.
pub(super) const TEXT_FLAGS: [&str; 4] =
    ["--config-text", "-config-text", "--configText", "-configText"];
/// Flags of the configuration as a file.
const FILE_FLAGS: [&str; 4] = ["--config-file", "-config-file", "--configFile", "-configFile"];

/// A text of YAML or JSON as a tree; none when it is no mapping.
pub(super) fn parsed(text: &str) -> Option<Node> {
    let source = SourceId(0);
    // Go's YAML decoder reads the first document only.
    let range = split(source, text).value.into_iter().next()?;
    let read = parse(source, text, range, &Limits::default());
    read.value.filter(|node| node.as_map().is_some())
}

/// The flag of the scheduler's configuration in the arguments of its main container, with what
/// follows it.
pub(super) fn flag(pod: &Node) -> Option<(EcoString, EcoString)> {
    let main =
        pod.items_of("containers").iter().find(|container| text(container, "name") == MAIN)?;
    let args = main.items_of("args");
    // A flag in the last place has no value and is none.
    args.windows(2).find_map(|pair| {
        let name = pair[0].as_str()?;
        let is_known = TEXT_FLAGS.contains(&name) || FILE_FLAGS.contains(&name);
        is_known.then(|| (name.into(), pair[1].as_str().unwrap_or_default().into()))
    })
}

/// The configuration of a specification, when it is a text that can be read.
fn inline(spec: &Node) -> Option<Node> {
    let scheduler = spec.at(&["router", "scheduler"])?;
    if let Some(inline) = scheduler.at(&["config", "inline"]) {
        return match inline.as_str() {
            Some(text) => parsed(text),
            None => Some(inline.clone()),
        };
    }
    let (name, text) = flag(scheduler.get("template")?)?;
    // A file of the image cannot be read: its plugins count as absent.
    if TEXT_FLAGS.contains(&name.as_str()) { parsed(&text) } else { None }
}

/// Whether the scheduler's configuration has a plugin of a type.
pub(super) fn has_plugin(spec: &Node, plugin: &str) -> bool {
    let found = inline(spec);
    found.is_some_and(|found| {
        found.items_of("plugins").iter().any(|plugins| text(plugins, "type") == plugin)
    })
}

/// Whether the service has a tokenizer of its own.
pub(super) fn tokenizer_enabled(spec: &Node) -> bool {
    spec.at(&["router", "scheduler"]).is_some_and(|scheduler| {
        scheduler.get("tokenizer").is_some()
            || has_plugin(spec, "token-producer")
            || has_plugin(spec, "precise-prefix-cache-scorer")
    })
}

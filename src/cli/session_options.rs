//! Options of a command that affect how its input is read.

use crate::policy::AcceleratorOptions;
use crate::workspace::Distribution;
use std::path::PathBuf;

/// Options of a session that a command sets, besides the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionOptions<'a> {
    /// The protocol requested, over every service.
    pub(crate) protocol: Option<&'a str>,
    /// How accelerators are chosen.
    pub(crate) accelerators: AcceleratorOptions,
    /// Paths that are also read, without findings about them.
    pub(crate) context: &'a [PathBuf],
    /// Whether the additions of pod webhooks are rendered.
    pub(crate) expand: bool,
    /// Probes of the V2 protocol are printed.
    pub(crate) v2_probes: bool,
    /// Fields and kinds that no known release has are errors; otherwise they may be newer.
    pub(crate) checks_fields: bool,
    /// Overlays are built where the user's settings say so.
    pub(crate) builds: bool,
    /// Operators that the input shows in a cluster are followed by the release that runs there.
    pub(crate) follows_cluster: bool,
    /// The input is in a cluster: its ModelServings were admitted by another release.
    pub(crate) admitted: bool,
    /// The runtimes that the selected release of OME ships replace the built-in catalog, and
    /// runtimes of the input with their names.
    pub(crate) shipped: bool,
    /// Built-in objects that nothing of the input can name are not read: a command whose answer is about
    /// the catalog has all of them.
    pub(crate) skips_builtin: bool,
    /// States are compared or played: what a cluster makes of a service whose presets were not read is
    /// open there. What is to be written of it is in error.
    pub(crate) compares: bool,
    /// The distributions of the state that this one is compared with, which are its own too.
    pub(crate) other_distributions: &'a [Distribution],
}

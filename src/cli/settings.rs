//! The settings files of a run.

use super::Failure;
use super::args::InputArgs;
use crate::diag::Diagnostic;
use crate::load::settings::{self, Settings};
use crate::operators;
use crate::source::{Source, SourceId};

/// What the files say.
pub(super) struct Read {
    /// All of them: what one leaves out comes from the next.
    pub(super) settings: Settings,
    /// Each of them, with its text and the findings about it. The spans of the findings have no
    /// source yet: settings come after the input in a source map.
    pub(super) files: Vec<(Settings, Source, Vec<Diagnostic>)>,
}

/// Reads the files that the arguments and the working directory give.
///
/// # Errors
/// One of them cannot be read.
pub(super) fn read(args: &InputArgs) -> Result<Read, Failure> {
    let (mut all, mut files) = (Settings::default(), Vec::new());
    for (file, trust) in args.settings_files() {
        let tags = operators::release_tags();
        let id = SourceId(u32::MAX);
        let read = settings::read(&file, id, &tags, trust, args.follow_outside);
        let (settings, source, found) = read.map_err(Failure::Usage)?;
        // Files that come first win.
        all = all.over(settings.clone());
        files.push((settings, source, found));
    }
    Ok(Read { settings: all, files })
}

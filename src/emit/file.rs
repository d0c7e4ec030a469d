//! Single files that are replaced as a whole.

#![expect(
    clippy::disallowed_methods,
    reason = "files are written and removed in this room and nowhere else"
)]

use super::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Replaces the content of a file, or makes it, through a temporary one beside it: nobody ever sees
/// half of it, and whoever dies on the way leaves the old content. A link is followed, and
/// permissions stay.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), Error> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = target.with_added_extension("ome-tmp");
    let _ = fs::remove_file(&temporary);
    // A file that is newly made follows no link.
    let mut file =
        fs::File::create_new(&temporary).map_err(|error| Error::io("create", &temporary, error))?;
    let written = file.write_all(content).and_then(|()| match fs::metadata(&target) {
        Ok(metadata) => file.set_permissions(metadata.permissions()),
        Err(_) => Ok(()),
    });
    drop(file);
    let renamed = written.map_err(|error| Error::io("write", &temporary, error)).and_then(|()| {
        fs::rename(&temporary, &target).map_err(|error| Error::io("write", &target, error))
    });
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

/// The bytes of a regular file.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| Error::io("read", path, error))
}

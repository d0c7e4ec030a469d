//! Reads files as text.
//!
//! In: a path, or bytes. Out: UTF-8 without a byte order mark, or a finding.
//! The only place that opens files for reading.

use crate::diag::{Code, Diagnostic, nearest, quoted};
use crate::yaml::Limits;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Why bytes are not a text.
pub(super) enum Unread {
    /// The finding, without a place.
    Finding(Box<Diagnostic>),
    /// For bytes that are not UTF-8: the text with replacement characters, and the position of the
    /// first of them.
    NotUtf8(String, usize),
}

/// Reads a file that does not hold manifests: settings, a payload, a model's configuration.
///
/// # Errors
/// A finding without a place that names the file: it cannot be read, is larger than the limit, or
/// is not UTF-8.
pub fn read_text(path: &Path, limits: &Limits) -> Result<String, Box<Diagnostic>> {
    let name = path.display().to_string();
    if let Some(reason) = unreadable(path) {
        return Err(Box::new(not_read(&name, &reason)));
    }
    // Such a file is one document, and `file_size` bounds lists of many.
    let limits = Limits { file_size: limits.document_size.min(limits.file_size), ..*limits };
    match read(path, &limits) {
        Ok(text) => Ok(text),
        Err(Unread::Finding(finding)) => Err(Box::new(finding.in_file(name))),
        Err(Unread::NotUtf8(text, at)) => {
            let line = text[..at].matches('\n').count() + 1;
            let help = format!("save {name} as UTF-8; the first wrong byte is on line {line}");
            Err(Box::new(not_utf8().in_file(name).help(help)))
        }
    }
}

/// Why a path must not be opened: it does not exist, or is not a regular file. A device never ends.
fn unreadable(path: &Path) -> Option<String> {
    match std::fs::metadata(path) {
        Ok(data) if data.is_file() => None,
        Ok(data) => Some(format!("it is {}", what(data.file_type()))),
        Err(error) => Some(reason(&error)),
    }
}

/// Whether a file is a FIFO: `<(command)` of a shell is one.
pub(super) fn is_fifo(kind: FileType) -> bool {
    #[cfg(unix)]
    {
        std::os::unix::fs::FileTypeExt::is_fifo(&kind)
    }
    #[cfg(not(unix))]
    {
        let _ = kind;
        false
    }
}

/// Whether a path is the null device, which git and the shell write for a file without content.
pub(super) fn is_null(path: &Path) -> bool {
    let null = Path::new("/dev/null");
    path == null || std::fs::canonicalize(path).is_ok_and(|path| path == null)
}

/// The type of a file that is not a regular one, in words.
pub(super) fn what(kind: FileType) -> &'static str {
    if is_fifo(kind) {
        return "a FIFO";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a directory" } else { "no regular file" }
}

const MISSING: &str = "there is no such file";
pub(super) const DENIED: &str = "permission denied";

/// An error of the system in words that are the same on every platform.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => MISSING.to_owned(),
        io::ErrorKind::PermissionDenied => DENIED.to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is not a directory".to_owned(),
        // Its number differs between Linux and macOS, and its `ErrorKind` is not stable yet.
        _ if matches!(error.raw_os_error(), Some(40 | 62)) => {
            "its links lead in a circle".to_owned()
        }
        _ => error.to_string(),
    }
}

pub(super) fn not_read(name: &str, reason: &str) -> Diagnostic {
    let finding = Diagnostic::new(Code::FileNotRead, format!("`{name}` was not read: {reason}"));
    let finding = finding.in_file(name);
    if name.starts_with("http://") || name.starts_with("https://") {
        return finding.help(format!(
            "nothing is fetched from a network: `curl -fsSL {} | ome plan -f -`",
            quoted(name)
        ));
    }
    let near = (reason == MISSING).then(|| near_file(Path::new(name))).flatten();
    finding.help(match (reason, near) {
        (_, Some(near)) => format!("did you mean `{near}`?"),
        (MISSING, None) => "correct the path".to_owned(),
        (DENIED, None) => "allow to read it".to_owned(),
        _ => "name a regular file".to_owned(),
    })
}

/// The file or directory beside a missing one that was probably meant.
#[expect(clippy::disallowed_methods, reason = "the names of one directory, which are not walked")]
fn near_file(path: &Path) -> Option<String> {
    /// Of more files names are not compared.
    const MOST: usize = 10_000;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let files = std::fs::read_dir(above.unwrap_or(Path::new("."))).ok()?;
    let names = files.take(MOST).filter_map(|file| file.ok()?.file_name().into_string().ok());
    // The order of a directory is not the same everywhere.
    let names: BTreeSet<String> = names.collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).display().to_string())
}

pub(super) fn not_utf8() -> Diagnostic {
    Diagnostic::new(Code::NotUtf8, "the file holds bytes that are not UTF-8")
}

/// Longest time from opening a FIFO to its end.
const DEADLINE: Duration = Duration::from_secs(30);

/// Reads a regular file, or a FIFO until its writers are done, within the limit.
pub(super) fn read(path: &Path, limits: &Limits) -> Result<String, Unread> {
    let failed = |error: io::Error| {
        Unread::Finding(Box::new(not_read(&path.display().to_string(), &reason(&error))))
    };
    let data = std::fs::metadata(path);
    // The size of a FIFO is 0 and its end is when the last writer closes it.
    if data.as_ref().is_ok_and(|data| is_fifo(data.file_type())) {
        return read_fifo(path, limits, DEADLINE).map_err(failed)?;
    }
    let file = File::open(path).map_err(failed)?;
    read_sized(file, data.map_or(0, |data| data.len()), limits).map_err(failed)?
}

/// Reads a FIFO once. Opening waits for a writer, and reading for the next byte, so both are done
/// on a thread that is abandoned when the time is up.
fn read_fifo(path: &Path, limits: &Limits, time: Duration) -> io::Result<Result<String, Unread>> {
    let (sender, receiver) = mpsc::channel();
    // The thread may outlive the call, so it borrows nothing.
    let (owned, limits) = (path.to_owned(), *limits);
    std::thread::Builder::new().spawn(move || {
        // After the timeout nothing receives the text.
        let _ = sender.send(File::open(owned).and_then(|file| read_from(file, &limits)));
    })?;
    receiver.recv_timeout(time).unwrap_or_else(|_| {
        let seconds = time.as_secs();
        Err(io::Error::other(format!(
            "it is a FIFO that was not written and closed in {seconds} s"
        )))
    })
}

/// Room for reading the end of a file without growing.
const ROOM: usize = 64;

/// Reads standard input, or an opened file, within the limit.
pub(super) fn read_from(reader: impl Read, limits: &Limits) -> io::Result<Result<String, Unread>> {
    read_sized(reader, 0, limits)
}

/// The same with room for so many bytes from the beginning: one call reads a file of this size.
fn read_sized(reader: impl Read, size: u64, limits: &Limits) -> io::Result<Result<String, Unread>> {
    let room = usize::try_from(size.min(limits.file_size)).unwrap_or_default();
    // Without spare room, the read that finds the end of the file would double the buffer.
    let mut bytes = Vec::with_capacity(room + ROOM);
    // One byte beyond the limit tells a file of exactly this size from a larger one.
    reader.take(limits.file_size.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits.file_size {
        return Ok(Err(Unread::Finding(Box::new(too_large(limits)))));
    }
    Ok(decode_bytes(bytes))
}

/// The finding that a document, or an item of a List, is larger than the limit.
pub(super) fn too_large_document(limits: &Limits) -> Diagnostic {
    let most = size(limits.document_size);
    Diagnostic::new(
        Code::FileSizeLimit,
        format!("the document is larger than {most} (`--max-file-size`)"),
    )
    .help("raise `--max-file-size`, or split it; a List as kubectl prints it may be larger")
}

/// The finding that a file is larger than the limit.
pub(super) fn too_large(limits: &Limits) -> Diagnostic {
    Diagnostic::new(
        Code::FileSizeLimit,
        format!("the file is larger than {} (`--max-file-size`)", size(limits.file_size)),
    )
    .help("raise `--max-file-size`, or split the file")
}

/// A limit as it is written: in the largest binary unit that divides it.
fn size(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} bytes")
}

/// The text of bytes: UTF-8 or, with a byte order mark, UTF-16; the mark is removed. `None` when it
/// is neither.
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xef, 0xbb, 0xbf, rest @ ..] => str::from_utf8(rest).ok().map(Cow::Borrowed),
        _ => str::from_utf8(bytes).ok().map(Cow::Borrowed),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    char::decode_utf16(pairs.map(|pair| unit([pair[0], pair[1]]))).collect::<Result<_, _>>().ok()
}

/// The text of the bytes of a file.
pub(super) fn decode_bytes(bytes: Vec<u8>) -> Result<String, Unread> {
    // Without a mark the bytes become the text in place: a copy would double the memory of a dump.
    if bytes.starts_with(&[0xef, 0xbb, 0xbf])
        || bytes.starts_with(&[0xff, 0xfe])
        || bytes.starts_with(&[0xfe, 0xff])
    {
        if let Some(text) = decode(&bytes) {
            return Ok(text.into_owned());
        }
    } else {
        match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(error) => {
                // The text before it is valid, so its offset is the same in the text with
                // replacements.
                let at = error.utf8_error().valid_up_to();
                return Err(Unread::NotUtf8(
                    String::from_utf8_lossy(error.as_bytes()).into_owned(),
                    at,
                ));
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let at = text.find(char::REPLACEMENT_CHARACTER).unwrap_or(0);
    Err(Unread::NotUtf8(text, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_marks_are_removed_and_utf16_is_decoded() {
        let wide = |text: &str, unit: fn(u16) -> [u8; 2]| {
            text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()
        };
        for bytes in [
            "é: 1".as_bytes().to_vec(),
            "\u{feff}é: 1".as_bytes().to_vec(),
            wide("\u{feff}é: 1", u16::to_le_bytes),
            wide("\u{feff}é: 1", u16::to_be_bytes),
        ] {
            assert_eq!(decode(&bytes).as_deref(), Some("é: 1"), "{bytes:?}");
        }
        for bytes in [&b"caf\xe9"[..], &[0xff, 0xfe, 0x00], &[0xff, 0xfe, 0x00, 0xd8]] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_fifo_is_waited_for_until_its_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let [mute, fifo] = ["mute", "fifo"].map(|name| folder.path().join(name));
        let status = std::process::Command::new("mkfifo").args([&mute, &fifo]).status();
        if !status.is_ok_and(|status| status.success()) {
            return;
        }
        let limits = Limits::default();
        let error = read_fifo(&mute, &limits, Duration::from_millis(20)).err().unwrap();
        assert_eq!(error.to_string(), "it is a FIFO that was not written and closed in 0 s");
        let writer = std::thread::spawn({
            let fifo = fifo.clone();
            move || {
                std::process::Command::new("sh").arg("-c").arg("echo a: 1 >$0").arg(fifo).status()
            }
        });
        let read = read_fifo(&fifo, &limits, Duration::from_secs(10));
        assert!(writer.join().unwrap().unwrap().success());
        assert!(matches!(read, Ok(Ok(text)) if text == "a: 1\n"));
    }

    #[test]
    fn limits_are_written_in_their_unit() {
        for (bytes, expected) in [(8 << 20, "8 MiB"), (2048, "2 KiB"), (1000, "1000 bytes")] {
            assert_eq!(size(bytes), expected);
        }
    }
}

//! Messages on a stream: a header with a length, then JSON.
//!
//! In: untrusted bytes. Out: messages, or the error to answer with. lsp-server's own reader ends at
//! the first message that it cannot read, and allocates any length in a header; this one skips
//! invalid messages and continues.

use lsp_server::{ErrorCode, Message, RequestId};
use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// Bytes of the longest message that is read: a text of the largest file that can be requested,
/// with all of its characters escaped, is shorter.
const LONGEST: u64 = 256 << 20;
/// A length that no message has: what follows is not passed over, and the next header is looked for.
const ABSURD: u64 = 16 * LONGEST;
/// Bytes of the longest line of a header.
const LONGEST_LINE: u64 = 4 << 10;

/// A received message.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message.
    Message(Message),
    /// Something else.
    Unreadable {
        /// The id of the request, if it can be read.
        id: Option<RequestId>,
        /// The kind of error.
        code: ErrorCode,
        /// The error message.
        reason: String,
    },
}

fn unreadable(code: ErrorCode, reason: impl Into<String>) -> Incoming {
    Incoming::Unreadable { id: None, code, reason: reason.into() }
}

/// The next message; none at the end of the stream.
pub(super) fn read(stream: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length: Option<u64> = None;
    loop {
        let mut line = Vec::new();
        if stream.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = after_rest(line.trim_end_matches(['\r', '\n']));
        match (line.split_once(':'), length) {
            (None, Some(length)) if line.is_empty() => return body(stream, length).map(Some),
            // Empty lines between messages are ignored.
            (None, None) if line.is_empty() => {}
            (Some((name, value)), _) if name.eq_ignore_ascii_case("content-length") => {
                let number = value.trim().parse().ok().filter(|number| *number <= ABSURD);
                let Some(number) = number else {
                    let reason = format!("the header `{line}` has no length");
                    return Ok(Some(unreadable(ErrorCode::ParseError, reason)));
                };
                length = Some(number);
            }
            (Some(_), _) => {}
            (None, _) => {
                let reason = "a line of a header has no colon";
                return Ok(Some(unreadable(ErrorCode::ParseError, reason)));
            }
        }
    }
}

/// A line without the rest of a body before it: after a length that was too small, the next header
/// begins within the line.
fn after_rest(line: &str) -> &str {
    const NAME: &str = "content-length:";
    let lower = line.to_ascii_lowercase();
    lower.rfind(NAME).filter(|at| *at > 0).map_or(line, |at| &line[at..])
}

fn body(stream: &mut impl BufRead, length: u64) -> io::Result<Incoming> {
    let mut part = stream.by_ref().take(length);
    if length > LONGEST {
        // The stream stays readable if the whole body is skipped.
        io::copy(&mut part, &mut io::sink())?;
        let reason = format!("a message of {length} bytes is longer than {LONGEST}");
        return Ok(unreadable(ErrorCode::InvalidRequest, reason));
    }
    let mut bytes = Vec::new();
    part.read_to_end(&mut bytes)?;
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return Ok(unreadable(ErrorCode::ParseError, error.to_string())),
    };
    // The refusal of a broken message needs its id.
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    Ok(match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(message),
        Err(_) => Incoming::Unreadable {
            id,
            code: ErrorCode::InvalidRequest,
            reason: "the message is neither request, notification nor response".to_owned(),
        },
    })
}

/// Writes a message.
pub(super) fn write(mut out: &mut dyn Write, message: &Message) -> io::Result<()> {
    message.write(&mut out)
}

/// Answers bytes that are not a message with an error. A request with an unreadable id gets a null
/// id, which the library's responses cannot have.
pub(super) fn refuse(
    out: &mut dyn Write,
    id: Option<&RequestId>,
    code: ErrorCode,
    reason: &str,
) -> io::Result<()> {
    let error = serde_json::json!({ "code": code as i32, "message": reason });
    let answer = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    write!(out, "Content-Length: {}\r\n\r\n{answer}", answer.len())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_messages_get_an_error_code_and_are_skipped() {
        let message = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let request = r#"{"jsonrpc":"2.0","id":7,"method":"shutdown"}"#;
        let stream = [
            "no header\r\n",
            "Content-Length: many\r\n\r\n",
            // What is behind a length that is none, or too small, is passed over.
            "Content-Length: 99999999999999\r\n\r\n",
            "Content-Length: 3\r\n\r\n{\"a\": 1}",
            &message("{"),
            &message("[1]"),
            &message(r#"{"id":3,"method":5}"#),
            &message("\u{0}"),
            "Content-Type: x; charset=utf-8\r\n",
            &message(request),
            &format!("Content-Length: 99\r\n\r\n{request}"),
        ]
        .concat();
        let mut stream = stream.as_bytes();
        let mut seen = Vec::new();
        while let Some(incoming) = read(&mut stream).unwrap() {
            seen.push(match incoming {
                Incoming::Message(Message::Request(request)) => request.method,
                Incoming::Message(_) => "other".to_owned(),
                Incoming::Unreadable { id, code, .. } => format!("{} {id:?}", code as i32),
            });
        }
        assert_eq!(
            seen,
            [
                "-32700 None",
                "-32700 None",
                "-32700 None",
                "-32700 None",
                "-32700 None",
                "-32600 None",
                "-32600 Some(RequestId(I32(3)))",
                "-32700 None",
                "shutdown",
                "shutdown"
            ]
        );
    }

    #[test]
    fn a_length_without_a_body_allocates_nothing() {
        let mut stream = &b"Content-Length: 18446744073709551615\r\n\r\n{}"[..];
        let read = read(&mut stream).unwrap();
        assert!(matches!(read, Some(Incoming::Unreadable { .. })), "{read:?}");
        // What follows is looked through for the next header, to its end.
        let rest = super::read(&mut stream).unwrap();
        assert!(matches!(rest, Some(Incoming::Unreadable { .. })), "{rest:?}");
        assert!(super::read(&mut stream).unwrap().is_none());
    }
}

//! An editor: it starts the server, sends requests, and waits for answers.

use crate::process::{binary, in_directory};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long anything may take: far longer than it does.
const TIME: Duration = Duration::from_mins(2);

/// An editor.
pub(super) struct Client {
    pub(super) child: Child,
    pub(super) input: ChildStdin,
    messages: Receiver<Value>,
    /// Notifications and requests of the server, in order.
    pub(super) told: Vec<Value>,
    asked: u64,
    pub(super) root: String,
}

impl Client {
    /// Starts a server in a folder, and opens it.
    pub(super) fn open(root: &Path, flags: &[&str]) -> Self {
        let mut client = Self::start(root, flags);
        let capabilities = json!({
            "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
        });
        let folders = json!([{ "uri": client.root, "name": "x" }]);
        let params = json!({
            "processId": null, "rootUri": client.root, "workspaceFolders": folders,
            "capabilities": capabilities,
        });
        let result = client.ask("initialize", params);
        assert_eq!(result["serverInfo"]["name"], "ome");
        client.tell("initialized", json!({}));
        client
    }

    pub(super) fn start(root: &Path, flags: &[&str]) -> Self {
        let mut child = in_directory(binary(), root)
            .arg("lsp")
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary can be started");
        let input = child.stdin.take().expect("a pipe");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let root = format!("file://{}", root.display());
        Self { child, input, messages, told: Vec::new(), asked: 0, root }
    }

    pub(super) fn uri(&self, file: &str) -> String {
        format!("{}/{file}", self.root)
    }

    pub(super) fn write(&mut self, body: &str) {
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a pipe");
        self.input.flush().expect("a pipe");
    }

    pub(super) fn next(&mut self) -> Value {
        self.messages.recv_timeout(TIME).expect("an answer")
    }

    #[expect(clippy::needless_pass_by_value, reason = "parameters are made where they are sent")]
    pub(super) fn tell(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// The whole answer to a request.
    #[expect(clippy::needless_pass_by_value, reason = "parameters are made where they are sent")]
    pub(super) fn answer(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request.to_string());
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.told.push(message);
        }
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The next findings of a file.
    pub(super) fn findings(&mut self, file: &str) -> Vec<Value> {
        let uri = self.uri(file);
        let mut at = 0;
        loop {
            while at == self.told.len() {
                let message = self.next();
                self.told.push(message);
            }
            let params = &self.told[at]["params"];
            if self.told[at]["method"] == "textDocument/publishDiagnostics" && params["uri"] == uri
            {
                let found = params["diagnostics"].as_array().expect("a list").clone();
                self.told.remove(at);
                return found;
            }
            at += 1;
        }
    }

    pub(super) fn codes(&mut self, file: &str) -> Vec<String> {
        let found = self.findings(file);
        found.iter().map(|own| own["code"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub(super) fn did_open(&mut self, file: &str, text: &str) {
        let document = json!({
            "uri": self.uri(file), "languageId": "yaml", "version": 1, "text": text,
        });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(super) fn did_change(&mut self, file: &str, version: i64, text: &str) {
        let document = json!({ "uri": self.uri(file), "version": version });
        let changes = json!([{ "text": text }]);
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    /// The parameters of a question about the place of `word` in a text, `behind` characters into
    /// it.
    pub(super) fn place(&self, file: &str, text: &str, word: &str, behind: usize) -> Value {
        let at = text.find(word).unwrap_or_else(|| panic!("{word} is in the text")) + behind;
        let line = text[..at].matches('\n').count();
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let character = text[start..at].encode_utf16().count();
        json!({
            "textDocument": { "uri": self.uri(file) },
            "position": { "line": line, "character": character },
        })
    }

    /// Ends as an editor does; the exit code.
    pub(super) fn end(mut self) -> Option<i32> {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        let refused = self.answer("textDocument/hover", json!({}));
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
        self.tell("exit", Value::Null);
        self.child.wait().expect("a child").code()
    }
}

fn message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

//! The loop of the server: open documents, requests, and the order of answers.

use super::context::{Context, path_of, uri_of};
use super::{actions, completion, diagnostics, hints, hover, places, wire};
use crate::cli::Outcome;
use crate::cli::args::InputArgs;
use crate::cli::commands::validate;
use crate::cli::input::Session;
use crate::cli::rereading::Known;
use crate::cli::session_options::SessionOptions;
use crate::load::Memory;
use crate::source::{FileText, Source, SourceKind};
use crate::workspace::Kept;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, Diagnostic,
    DidChangeTextDocumentParams, DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher,
    GlobPattern, GotoDefinitionResponse, HoverProviderCapability, InitializeResult,
    LogMessageParams, MessageType, OneOf, PositionEncodingKind, PublishDiagnosticsParams,
    Registration, RegistrationParams, SaveOptions, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkspaceFolder,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The next step after a message.
pub(super) enum Step {
    /// The next one.
    On,
    /// Nothing.
    End(Outcome),
}

/// The state of the protocol: before `initialize`, serving, after `shutdown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Begun,
    Serving,
    ShutDown,
}

/// Why a request is not answered.
type Refused = (ErrorCode, String);

/// The fields of `InitializeParams` that the server uses. The others are not parsed, so that an
/// invalid value in them does not prevent the start.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Beginning {
    /// The root, as older versions of the protocol name it.
    root_uri: Option<Uri>,
    workspace_folders: Option<Vec<WorkspaceFolder>>,
    #[serde(default)]
    capabilities: Value,
}

/// A server of one editor.
pub(super) struct Server {
    input: InputArgs,
    phase: Phase,
    cache: Known,
    context: Option<Context>,
    /// Earlier contexts. They are dropped when no message is waiting, because that takes time.
    past: Vec<Context>,
    /// Texts have changed since they were read.
    is_stale: bool,
    /// The findings are not published yet.
    is_unsaid: bool,
    /// The editor supports notifications about changed files.
    watches: bool,
    versions: BTreeMap<PathBuf, i32>,
    /// The published findings of each file.
    shown: BTreeMap<PathBuf, Vec<Diagnostic>>,
    /// Why the input could not be read, as last published.
    failure: Option<String>,
}

impl Server {
    pub(super) fn new(input: InputArgs) -> Self {
        Self {
            input,
            phase: Phase::Begun,
            cache: Known::default(),
            context: None,
            past: Vec::new(),
            is_stale: false,
            is_unsaid: false,
            watches: false,
            versions: BTreeMap::new(),
            shown: BTreeMap::new(),
            failure: None,
        }
    }

    /// The exit code when the editor disconnects without `exit`.
    pub(super) fn left(&self) -> Outcome {
        if self.phase == Phase::Serving { Outcome::CouldNot } else { Outcome::Done }
    }

    /// Answers one message. No content of a message stops the server, except `exit`.
    pub(super) fn take(&mut self, message: Message, out: &mut dyn Write) -> io::Result<Step> {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                // A panic ends one answer, not the server.
                let caught = catch_unwind(AssertUnwindSafe(|| self.answer(request)));
                let result = caught.unwrap_or_else(|_| {
                    self.start_over();
                    let why = "a bug of ome; its standard error has the place";
                    Err((ErrorCode::InternalError, why.to_owned()))
                });
                wire::write(out, &Message::Response(response(id, result)))?;
            }
            Message::Notification(notification) => {
                if notification.method == notification::Exit::METHOD {
                    let is_ended = self.phase == Phase::ShutDown;
                    let outcome = if is_ended { Outcome::Done } else { Outcome::CouldNot };
                    return Ok(Step::End(outcome));
                }
                let method = notification.method.clone();
                let caught = catch_unwind(AssertUnwindSafe(|| self.note(notification)));
                match caught {
                    Ok(Ok(answers)) => {
                        for message in answers {
                            wire::write(out, &message)?;
                        }
                    }
                    Ok(Err(reason)) => log(out, &format!("{method}: {reason}"))?,
                    Err(_) => self.start_over(),
                }
            }
            // Responses to the server's requests need no action.
            Message::Response(_) => {}
        }
        Ok(Step::On)
    }

    /// Reads changed files and publishes their findings.
    pub(super) fn settle(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.phase != Phase::Serving || !(self.is_stale || self.is_unsaid) {
            return Ok(());
        }
        let caught = catch_unwind(AssertUnwindSafe(|| self.refresh()));
        if caught.is_err() {
            self.start_over();
            // The same texts would cause the same panic, so the server waits for the next change.
            self.is_stale = false;
        }
        self.is_unsaid = false;
        if let Some(message) = self.failure.take() {
            log(out, &message)?;
        }
        let Some(context) = &self.context else { return Ok(()) };
        let found = diagnostics::by_file(context);
        // A file without findings is published as empty, or an editor keeps the old ones.
        let gone = self.shown.keys().filter(|path| !found.contains_key(*path));
        let gone: Vec<PathBuf> = gone.cloned().collect();
        for (path, diagnostics) in found
            .iter()
            .map(|(path, findings)| (path, findings.clone()))
            .chain(gone.iter().map(|path| (path, Vec::new())))
        {
            let is_new = self.shown.get(path).is_none_or(|shown| *shown != diagnostics);
            let (true, Some(uri)) = (is_new, uri_of(path)) else { continue };
            let version = self.versions.get(path).copied();
            let params = PublishDiagnosticsParams { uri, diagnostics, version };
            tell::<notification::PublishDiagnostics>(out, params)?;
        }
        self.shown = found;
        self.past.clear();
        Ok(())
    }

    /// Drops everything that was derived from texts, because it may be inconsistent after a panic.
    fn start_over(&mut self) {
        self.context = None;
        self.cache.files.forget();
        self.cache.objects = Kept::default();
        self.is_stale = true;
    }

    /// Reads changed files. If the input as a whole cannot be read (settings, flags), the last
    /// result is kept.
    fn refresh(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        self.is_unsaid = true;
        let before = self.context.as_ref().map(|context| &context.session);
        let session =
            Session::open_again(&self.input, &SessionOptions::default(), &mut self.cache, before);
        let found = session.and_then(|session| {
            let found = validate::everything(&session)?;
            Ok((session, found))
        });
        match found {
            Ok((session, found)) => {
                let mut context = Context::new(session, found, self.cache.files.root());
                context.versions.clone_from(&self.versions);
                self.past.truncate(1);
                self.past.extend(self.context.replace(context));
            }
            Err(failure) => self.failure = Some(failure.to_string()),
        }
    }

    fn answer(&mut self, request: Request) -> Result<Value, Refused> {
        let Request { method, params, .. } = request;
        match (self.phase, method.as_str()) {
            (Phase::Begun, request::Initialize::METHOD) => {
                return json(self.begin(&parsed::<Beginning>(params)?));
            }
            (Phase::Begun, _) => {
                let why = "the first request is `initialize`".to_owned();
                return Err((ErrorCode::ServerNotInitialized, why));
            }
            (Phase::ShutDown, _) => {
                return Err((ErrorCode::InvalidRequest, "the server is shut down".to_owned()));
            }
            (Phase::Serving, request::Shutdown::METHOD) => {
                self.phase = Phase::ShutDown;
                return Ok(Value::Null);
            }
            (Phase::Serving, _) => {}
        }
        match method.as_str() {
            request::HoverRequest::METHOD => self
                .ask::<request::HoverRequest, _>(params, |context, params| {
                    hover::hover(context, &params.text_document_position_params)
                }),
            request::GotoDefinition::METHOD => {
                self.ask::<request::GotoDefinition, _>(params, |context, params| {
                    places::definition(context, &params.text_document_position_params)
                        .map(GotoDefinitionResponse::Array)
                })
            }
            request::References::METHOD => self
                .ask::<request::References, _>(params, |context, params| {
                    places::references(context, &params)
                }),
            request::Completion::METHOD => self
                .ask::<request::Completion, _>(params, |context, params| {
                    completion::complete(context, &params)
                }),
            request::CodeActionRequest::METHOD => self
                .ask::<request::CodeActionRequest, _>(params, |context, params| {
                    actions::actions(context, &params)
                }),
            request::InlayHintRequest::METHOD => self
                .ask::<request::InlayHintRequest, _>(params, |context, params| {
                    hints::hints(context, &params)
                }),
            other => Err((ErrorCode::MethodNotFound, format!("`{other}` is not served"))),
        }
    }

    /// Answers a question about texts, as they are now.
    fn ask<R: request::Request<Result = Option<T>>, T: Serialize>(
        &mut self,
        params: Value,
        answer: impl FnOnce(&Context, R::Params) -> Option<T>,
    ) -> Result<Value, Refused>
    where
        R::Params: DeserializeOwned,
    {
        let params = parsed::<R::Params>(params)?;
        self.refresh();
        json(self.context.as_ref().and_then(|context| answer(context, params)))
    }

    fn begin(&mut self, params: &Beginning) -> InitializeResult {
        self.phase = Phase::Serving;
        let root = params.root_uri.as_ref();
        let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        let mut folders: Vec<PathBuf> = folders.chain(root).filter_map(path_of).collect();
        folders.dedup();
        let is_watched = self.input.files.is_empty() && self.input.kustomize.is_empty();
        self.open(&folders);
        let watched = params.capabilities.pointer("/workspace/didChangeWatchedFiles");
        self.watches =
            watched.is_some_and(|watched| watched["dynamicRegistration"] == Value::Bool(true));
        // An editor watches its folders only, not other paths of `-f`.
        self.cache.files.set_told(self.watches && is_watched);
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions::default())),
            ..TextDocumentSyncOptions::default()
        };
        let repairs = CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL]),
            ..CodeActionOptions::default()
        };
        InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(PositionEncodingKind::UTF16),
                text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
                hover_provider: Some(HoverProviderCapability::Simple(true)),
                definition_provider: Some(OneOf::Left(true)),
                references_provider: Some(OneOf::Left(true)),
                completion_provider: Some(CompletionOptions {
                    trigger_characters: Some([":", " ", "-"].map(str::to_owned).to_vec()),
                    ..CompletionOptions::default()
                }),
                code_action_provider: Some(CodeActionProviderCapability::Options(repairs)),
                inlay_hint_provider: Some(OneOf::Left(true)),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: "ome".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        }
    }

    /// Reads the folders of the editor, unless flags name files. Names are relative to the first
    /// folder, in which settings are searched as well.
    fn open(&mut self, folders: &[PathBuf]) {
        if let Some(first) =
            folders.first().filter(|first| std::env::set_current_dir(first).is_ok())
        {
            self.cache.files = Memory::new(first.clone());
            let others = folders.iter().skip(1).filter(|other| !other.starts_with(first));
            if self.input.files.is_empty() && self.input.kustomize.is_empty() {
                self.input.files.push(PathBuf::from("."));
                self.input.files.extend(others.cloned());
            }
        } else {
            self.cache.files = Memory::new(std::env::current_dir().unwrap_or_default());
        }
        self.is_stale = true;
    }

    /// Handles a notification of the editor; returns requests to the editor.
    fn note(&mut self, notification: Notification) -> Result<Vec<Message>, String> {
        fn read<N: notification::Notification>(params: Value) -> Result<N::Params, String> {
            serde_json::from_value(params).map_err(|error| error.to_string())
        }
        if self.phase != Phase::Serving {
            return Ok(Vec::new());
        }
        let Notification { method, params } = notification;
        match method.as_str() {
            notification::Initialized::METHOD if self.watches => return Ok(vec![watch()]),
            notification::DidOpenTextDocument::METHOD => {
                let document = read::<notification::DidOpenTextDocument>(params)?.text_document;
                self.typed(&document.uri, Some(document.version), Some(document.text.into()));
            }
            notification::DidChangeTextDocument::METHOD => {
                let params = read::<notification::DidChangeTextDocument>(params)?;
                let text = self.changed(&params)?;
                let document = params.text_document;
                self.typed(&document.uri, Some(document.version), Some(text));
            }
            notification::DidCloseTextDocument::METHOD => {
                let uri = read::<notification::DidCloseTextDocument>(params)?.text_document.uri;
                self.typed(&uri, None, None);
            }
            notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD => {
                self.cache.files.look();
                self.is_stale = true;
            }
            _ => {}
        }
        Ok(Vec::new())
    }

    /// The text after changes. The server requests whole texts, but also accepts changes of ranges.
    fn changed(&self, params: &DidChangeTextDocumentParams) -> Result<FileText, String> {
        let uri = &params.text_document.uri;
        let path = path_of(uri).ok_or("the document is no file")?;
        let open = self.cache.files.open(&path).ok_or("the document is not open")?;
        let mut text = open.clone();
        for change in &params.content_changes {
            let Some(range) = change.range else {
                text = change.text.as_str().into();
                continue;
            };
            // Each change counts in the text after the changes before it.
            let source = Source::new("", SourceKind::File, text.clone());
            let [start, end] = [range.start, range.end]
                .map(|place| source.offset_of_utf16(place.line, place.character) as usize);
            let end = end.max(start);
            text = [&text[..start], &change.text, &text[end..]].concat().into();
        }
        Ok(text)
    }

    /// Handles a text that the editor opened, changed or closed.
    fn typed(&mut self, uri: &Uri, version: Option<i32>, text: Option<FileText>) {
        let Some(path) = path_of(uri) else { return };
        let read = self.context.as_ref().and_then(|context| {
            let id = context.source(uri)?;
            Some(context.session.world.sources.get(id).text.clone())
        });
        match version {
            Some(version) => _ = self.versions.insert(path.clone(), version),
            None => _ = self.versions.remove(&path),
        }
        // An opened text may not be saved yet, and a closed one may never be saved.
        if text.is_some() != self.cache.files.open(&path).is_some() {
            self.cache.files.look();
        }
        if let Some(context) = &mut self.context {
            context.versions.clone_from(&self.versions);
        }
        // An opened text usually equals the file that was read.
        self.is_stale |= text.is_none() || read != text;
        self.cache.files.set(path, text);
    }
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn json(value: impl Serialize) -> Result<Value, Refused> {
    serde_json::to_value(value).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn response(id: RequestId, result: Result<Value, Refused>) -> Response {
    match result {
        Ok(value) => Response::new_ok(id, value),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    }
}

/// Sends a notification to the editor.
fn tell<N: notification::Notification>(out: &mut dyn Write, params: N::Params) -> io::Result<()>
where
    N::Params: Serialize,
{
    let params = serde_json::to_value(params)?;
    wire::write(out, &Message::Notification(Notification { method: N::METHOD.to_owned(), params }))
}

fn log(out: &mut dyn Write, message: &str) -> io::Result<()> {
    let params = LogMessageParams { typ: MessageType::ERROR, message: message.to_owned() };
    tell::<notification::LogMessage>(out, params)
}

/// The request to the editor for notifications about changed manifests and settings, and files that
/// decide which manifests are read.
fn watch() -> Message {
    let globs = [
        "**/*.{yaml,yml,json}",
        "**/ome.toml",
        "**/Kustomization",
        "**/{.omeignore,.ignore,.gitignore}",
    ];
    let watchers = globs.map(|glob| FileSystemWatcher {
        glob_pattern: GlobPattern::String(glob.to_owned()),
        kind: None,
    });
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: watchers.to_vec() };
    let registration = Registration {
        id: "files".to_owned(),
        method: notification::DidChangeWatchedFiles::METHOD.to_owned(),
        register_options: serde_json::to_value(options).ok(),
    };
    let params = RegistrationParams { registrations: vec![registration] };
    Message::Request(Request::new(
        RequestId::from("files".to_owned()),
        request::RegisterCapability::METHOD.to_owned(),
        params,
    ))
}

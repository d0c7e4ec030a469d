//! `--pass-through`: prints the input again, with manifests in the place of services.
//!
//! In: the texts of the input and the manifests of their services. Out: the same texts, in which
//! documents of other kinds keep every byte. A ResourceList is answered with a ResourceList.

use super::Written;
use super::krm::problems as krm_problems;
use crate::cli::{Failure, Io};
use crate::diag::{Code, Diagnostic};
use crate::emit::stream::{self, Format, Stream};
use crate::load::{self, DocumentText, Item};
use crate::pipeline::identity;
use crate::report::krm;
use crate::source::{SourceId, SourceMap, Span};
use crate::yaml::{Limits, Node};
use std::collections::BTreeMap;

/// What is printed beside the manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PassThrough {
    /// Documents that `ome` does not use.
    Foreign,
    /// Also runtimes, models, accelerator classes and services.
    All,
}

/// One text of the input.
struct Text {
    source: SourceId,
    documents: Vec<DocumentText>,
}

/// The texts of the input, and the objects that replace its services.
pub(super) struct Pass<'a> {
    sources: &'a SourceMap,
    texts: Vec<Text>,
    keep: PassThrough,
    format: Format,
    /// Objects of services, by where the service is.
    written: BTreeMap<(SourceId, u32), Vec<(Node, String)>>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        sources: &'a SourceMap,
        limits: &Limits,
        keep: PassThrough,
        format: Format,
    ) -> Self {
        let input = sources.iter().filter(|(_, source)| source.reported && source.is_input());
        let texts = input
            .map(|(id, source)| Text {
                source: id,
                documents: load::parts(id, &source.text, limits),
            })
            .collect();
        Self { sources, texts, keep, format, written: BTreeMap::new() }
    }

    /// Keeps the objects of a service until all texts are printed.
    pub(super) fn take(&mut self, written: Written) {
        let key = (written.span.source, written.span.start);
        self.written.entry(key).or_default().extend(written.objects);
    }

    /// Whether a finding is about an object of the run, and not about one that passes through.
    pub(super) fn concerns(&self, finding: &Diagnostic) -> bool {
        match finding.code {
            Code::OtherKind | Code::NotKubernetes => return false,
            // Its bytes cannot be printed again.
            Code::NotUtf8 => return true,
            _ => {}
        }
        let Some(span) = finding.span() else { return true };
        let holds = |item: &&Item| item.span().is_some_and(|whole| whole.contains(span));
        let item = self
            .texts
            .iter()
            .filter(|text| text.source == span.source)
            .flat_map(|text| &text.documents)
            .find_map(|document| document.items.iter().find(holds));
        item.is_none_or(Item::is_consulted)
    }

    /// The objects of the service at a position.
    fn made_in(&self, source: SourceId, range: std::ops::Range<u32>) -> Vec<&(Node, String)> {
        self.written
            .range((source, range.start)..(source, range.end))
            .flat_map(|(_, all)| all)
            .collect()
    }

    fn made_of(&self, item: &Item) -> Vec<&(Node, String)> {
        item.span().map_or_else(Vec::new, |Span { source, start, end }| {
            // An empty span still holds what begins there.
            self.made_in(source, start..end.max(start + 1))
        })
    }

    /// Whether an object of the input is printed itself. A ModelServing is printed once.
    fn is_kept(&self, item: &Item) -> bool {
        // A rendered object takes the place of one with its name.
        let same = |created: &&(Node, String)| identity(&created.0) == identity(&item.node);
        !item.is_rendered()
            || (self.keep == PassThrough::All && !self.made_of(item).iter().any(same))
    }

    /// Prints the texts one after the other.
    pub(super) fn print(self, io: &mut Io<'_>) -> Result<(), Failure> {
        let mut out =
            Output { stream: Stream::new(self.format), format: self.format, text: String::new() };
        for text in &self.texts {
            let bytes = &*self.sources.get(text.source).text;
            for document in &text.documents {
                self.document(text.source, bytes, document, &mut out);
            }
            // A text without services is printed unchanged, byte for byte.
            let tail = text.documents.last().map_or(0, |document| document.whole.end);
            let whole =
                |document: &DocumentText| document.items.iter().all(|item| self.is_kept(item));
            if self.format == Format::Yaml && text.documents.iter().all(whole) {
                out.text.push_str(&bytes[tail..]);
            }
        }
        let Output { stream, mut text, .. } = out;
        stream.end(&mut text);
        io.print_data(&text)?;
        Ok(())
    }

    fn document(&self, source: SourceId, bytes: &str, document: &DocumentText, out: &mut Output) {
        let kept = document.items.iter().all(|item| self.is_kept(item));
        let end = u32::try_from(document.body.end).unwrap_or(u32::MAX);
        let start = u32::try_from(document.body.start).unwrap_or(u32::MAX);
        if self.format == Format::Yaml && kept {
            out.verbatim(&bytes[document.whole.clone()]);
            self.made_in(source, start..end).into_iter().for_each(|(_, text)| out.object(text));
            return;
        }
        for item in &document.items {
            // An object that lacks its kind can be no item of a list.
            if self.is_kept(item) && item.kind.is_some() {
                out.object(&stream::text(&item.node, self.format));
            }
            self.made_of(item).into_iter().for_each(|(_, text)| out.object(text));
        }
    }

    /// Returns findings about the functionConfig of each list.
    pub(super) fn config_problems(&self) -> Vec<Diagnostic> {
        let documents = self.texts.iter().flat_map(|text| &text.documents);
        let roots = documents.filter_map(|document| document.root.as_ref());
        roots.filter(|root| load::is_resource_list(root)).flat_map(krm_problems).collect()
    }

    /// The answer of a function.
    pub(super) fn answer(self, found: &[Diagnostic], io: &mut Io<'_>) -> Result<(), Failure> {
        let documents = || self.texts.iter().flat_map(|text| &text.documents);
        let mut items: Vec<&Node> = Vec::new();
        let mut nodes: Vec<&Node> = Vec::new();
        for document in documents() {
            let config = document.root.as_ref().and_then(|root| root.get("functionConfig"));
            nodes.extend(config);
            for item in &document.items {
                nodes.push(&item.node);
                if self.is_kept(item) {
                    items.push(&item.node);
                }
                items.extend(self.made_of(item).into_iter().map(|(node, _)| node));
            }
        }
        let answer = krm::answer(&items, &krm::results(found, &nodes));
        io.print_data(&stream::document(&answer, self.format))?;
        Ok(())
    }
}

/// The text that is printed.
struct Output {
    stream: Stream,
    format: Format,
    text: String,
}

impl Output {
    /// Appends a document as it is, with the separator before it.
    fn verbatim(&mut self, text: &str) {
        self.end_line();
        if text.starts_with("---") {
            self.text.push_str(text);
            self.stream.skip();
        } else {
            self.stream.push_text(&mut self.text, text);
        }
    }

    fn object(&mut self, text: &str) {
        if self.format == Format::Yaml {
            self.end_line();
        }
        self.stream.push_text(&mut self.text, text);
    }

    /// The last line of a text may have no end.
    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

//! Turns tokens into events: start, content and end of nodes.
//!
//! In: the tokens of one document. Out: its events, in the order of the text, with anchors and tags
//! resolved to names. The grammar is that of go-yaml 2. It is not recursive, so no document can
//! exhaust the stack.

use super::scan::{Kind, Scanner, Style, SyntaxError, Token};
use std::borrow::Cow;

/// The properties before a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Properties<'a> {
    pub(super) anchor: Option<&'a str>,
    pub(super) tag: Option<Cow<'a, str>>,
}

/// A step through a document.
#[derive(Debug)]
pub(super) enum Event<'a> {
    Open {
        mapping: bool,
        properties: Properties<'a>,
        start: usize,
    },
    /// Where its bracket or brace ends, if it has one.
    Close(Option<usize>),
    Scalar {
        text: Cow<'a, str>,
        style: Style,
        properties: Properties<'a>,
        start: usize,
        end: usize,
        /// Nothing is written where a value belongs.
        absent: bool,
    },
    Alias {
        name: &'a str,
        start: usize,
        end: usize,
    },
    /// The document has ended; text may follow that is not read.
    End(Option<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    Node,
    SequenceEntry,
    IndentlessEntry,
    MappingKey,
    MappingValue,
    FlowSequenceFirst,
    FlowSequenceEntry,
    PairKey,
    PairValue,
    PairEnd,
    FlowMappingFirst,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingEmptyValue,
}

/// The events of one document.
pub(super) struct Events<'a> {
    scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    /// Tag handles with their prefixes.
    tags: Vec<(&'a str, Cow<'a, str>)>,
    /// Where the open brackets and braces are.
    open: Vec<usize>,
}

impl<'a> Events<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            scanner: Scanner::new(text),
            state: State::DocumentStart,
            states: Vec::new(),
            tags: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Where the innermost bracket or brace is that is still open.
    pub(super) fn innermost(&self) -> Option<usize> {
        self.open.last().copied()
    }

    fn peek(&mut self) -> Result<&Token<'a>, SyntaxError> {
        self.scanner.peek()
    }

    /// Skips the next token and returns the one after it.
    fn skip(&mut self) -> Result<&Token<'a>, SyntaxError> {
        self.scanner.take();
        self.scanner.peek()
    }

    /// Returns to the state of the innermost collection.
    fn leave(&mut self) {
        self.state = self.states.pop().unwrap_or(State::DocumentEnd);
    }

    fn fault<T>(what: &'static str, at: usize) -> Result<T, SyntaxError> {
        Err(SyntaxError { what, at, from: None })
    }

    /// The next event; after [`Event::End`] there is nothing to request.
    pub(super) fn next(&mut self) -> Result<Event<'a>, SyntaxError> {
        match self.state {
            State::DocumentStart => self.document_start(),
            State::DocumentContent => {
                let token = self.peek()?;
                if matches!(
                    token.kind,
                    Kind::Version(..)
                        | Kind::TagDirective(..)
                        | Kind::DocumentStart
                        | Kind::DocumentEnd
                        | Kind::StreamEnd
                ) {
                    let at = token.start;
                    self.leave();
                    return Ok(empty(at, false));
                }
                self.node(true, false)
            }
            State::DocumentEnd => self.document_end(),
            State::Node => self.node(true, false),
            State::SequenceEntry => self.sequence_entry(),
            State::IndentlessEntry => self.indentless_entry(),
            State::MappingKey => self.mapping_key(),
            State::MappingValue => self.mapping_value(),
            State::FlowSequenceFirst => self.flow_sequence_entry(true),
            State::FlowSequenceEntry => self.flow_sequence_entry(false),
            State::PairKey => self.pair_key(),
            State::PairValue => self.pair_value(),
            State::PairEnd => {
                self.peek()?;
                self.state = State::FlowSequenceEntry;
                Ok(Event::Close(None))
            }
            State::FlowMappingFirst => self.flow_mapping_key(true),
            State::FlowMappingKey => self.flow_mapping_key(false),
            State::FlowMappingValue => self.flow_mapping_value(),
            State::FlowMappingEmptyValue => {
                let at = self.peek()?.start;
                self.state = State::FlowMappingKey;
                Ok(empty(at, true))
            }
        }
    }

    fn document_start(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        match token.kind {
            Kind::StreamEnd => return Ok(Event::End(None)),
            Kind::Version(..) | Kind::TagDirective(..) | Kind::DocumentStart => {
                self.directives()?;
                let token = self.peek()?;
                if token.kind != Kind::DocumentStart {
                    let at = token.start;
                    return Self::fault("did not find expected <document start>", at);
                }
                self.scanner.take();
                self.state = State::DocumentContent;
            }
            _ => {
                self.directives()?;
                self.state = State::Node;
            }
        }
        self.states.push(State::DocumentEnd);
        self.next()
    }

    fn directives(&mut self) -> Result<(), SyntaxError> {
        let mut versioned = false;
        loop {
            let token = self.peek()?;
            let at = token.start;
            match &token.kind {
                Kind::Version(major, minor) => {
                    if versioned {
                        return Self::fault("found duplicate %YAML directive", at);
                    }
                    // go-yaml 2 refuses documents of YAML 1.2 by their version.
                    if (*major, *minor) != (1, 1) {
                        return Self::fault("found incompatible YAML document", at);
                    }
                    versioned = true;
                }
                Kind::TagDirective(handle, prefix) => {
                    let (handle, prefix) = (*handle, prefix.clone());
                    if self.tags.iter().any(|(tag, _)| *tag == handle) {
                        return Self::fault("found duplicate %TAG directive", at);
                    }
                    self.tags.push((handle, prefix));
                }
                _ => break,
            }
            self.scanner.take();
        }
        // Last: a directive may give these handles another meaning.
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.tags.iter().any(|(tag, _)| *tag == handle) {
                self.tags.push((handle, Cow::Borrowed(prefix)));
            }
        }
        Ok(())
    }

    fn document_end(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        Ok(Event::End(match token.kind {
            Kind::StreamEnd => None,
            Kind::DocumentEnd => Some(token.end),
            _ => Some(token.start),
        }))
    }

    /// An anchor and a tag, in either order, with the place where they begin.
    fn properties(&mut self) -> Result<(Properties<'a>, Option<usize>), SyntaxError> {
        let mut found = Properties::default();
        let mut start = None;
        loop {
            let token = self.peek()?;
            let at = token.start;
            match &token.kind {
                Kind::Anchor(name) if found.anchor.is_none() => found.anchor = Some(*name),
                Kind::Tag(handle, suffix) if found.tag.is_none() => {
                    let (handle, suffix) = (*handle, suffix.clone());
                    let tag = if handle.is_empty() {
                        suffix
                    } else {
                        let prefix = self
                            .tags
                            .iter()
                            .find(|(tag, _)| *tag == handle)
                            .map_or("", |(_, prefix)| prefix);
                        // A handle with an empty prefix is one that a directive set so.
                        if prefix.is_empty()
                            && (suffix.is_empty()
                                || !self.tags.iter().any(|(tag, _)| *tag == handle))
                        {
                            return Self::fault("found undefined tag handle", at);
                        }
                        Cow::Owned(format!("{prefix}{suffix}"))
                    };
                    found.tag = Some(tag);
                }
                _ => return Ok((found, start)),
            }
            // A node begins with its first property.
            start.get_or_insert(at);
            self.scanner.take();
        }
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        if let Kind::Alias(name) = token.kind {
            let (start, end) = (token.start, token.end);
            self.scanner.take();
            self.leave();
            return Ok(Event::Alias { name, start, end });
        }
        let (properties, from) = match token.kind {
            Kind::Anchor(_) | Kind::Tag(..) => self.properties()?,
            _ => (Properties::default(), None),
        };
        let token = self.peek()?;
        let at = token.start;
        let start = from.unwrap_or(at);
        let open = |mapping, properties| Event::Open { mapping, properties, start };
        match token.kind {
            // A list below a key may stand at the column of the key, and has no token of its own
            // then.
            Kind::BlockEntry if indentless => {
                self.state = State::IndentlessEntry;
                Ok(open(false, properties))
            }
            Kind::Scalar(..) => {
                self.leave();
                match self.scanner.take() {
                    Some(Token { kind: Kind::Scalar(text, style), end, .. }) => {
                        Ok(Event::Scalar { text, style, properties, start, end, absent: false })
                    }
                    _ => Ok(empty(at, false)),
                }
            }
            Kind::FlowSequence => {
                self.state = State::FlowSequenceFirst;
                self.open.push(at);
                self.scanner.take();
                Ok(open(false, properties))
            }
            Kind::FlowMapping => {
                self.state = State::FlowMappingFirst;
                self.open.push(at);
                self.scanner.take();
                Ok(open(true, properties))
            }
            Kind::BlockSequence if block => {
                self.state = State::SequenceEntry;
                self.scanner.take();
                Ok(open(false, properties))
            }
            Kind::BlockMapping if block => {
                self.state = State::MappingKey;
                self.scanner.take();
                Ok(open(true, properties))
            }
            // Properties without a value belong to a null.
            _ if from.is_some() => {
                self.leave();
                let end = self.scanner.last_end();
                Ok(Event::Scalar {
                    text: Cow::Borrowed(""),
                    style: Style::Plain,
                    properties,
                    start,
                    end,
                    absent: true,
                })
            }
            _ => Self::fault("did not find expected node content", at),
        }
    }

    fn sequence_entry(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let (at, end) = (token.start, token.end);
        match token.kind {
            Kind::BlockEntry => {
                // The next entry follows at once: this one is null.
                if matches!(self.skip()?.kind, Kind::BlockEntry | Kind::BlockEnd) {
                    return Ok(empty(end, false));
                }
                self.states.push(State::SequenceEntry);
                self.node(true, false)
            }
            Kind::BlockEnd => {
                self.scanner.take();
                self.leave();
                Ok(Event::Close(None))
            }
            _ => Self::fault("did not find expected '-' indicator", at),
        }
    }

    fn indentless_entry(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let end = token.end;
        if token.kind != Kind::BlockEntry {
            self.leave();
            return Ok(Event::Close(None));
        }
        // Such a list has no end token: a key of the mapping around it ends the list.
        if matches!(self.skip()?.kind, Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd)
        {
            return Ok(empty(end, false));
        }
        self.states.push(State::IndentlessEntry);
        self.node(true, false)
    }

    fn mapping_key(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let (at, end) = (token.start, token.end);
        match token.kind {
            Kind::Key => {
                if matches!(self.skip()?.kind, Kind::Key | Kind::Value | Kind::BlockEnd) {
                    self.state = State::MappingValue;
                    return Ok(empty(end, false));
                }
                self.states.push(State::MappingValue);
                self.node(true, true)
            }
            Kind::BlockEnd => {
                self.scanner.take();
                self.leave();
                Ok(Event::Close(None))
            }
            _ => Self::fault("did not find expected key", at),
        }
    }

    fn mapping_value(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let (at, end) = (token.start, token.end);
        // A key without a colon, as after `?`.
        if token.kind != Kind::Value {
            self.state = State::MappingKey;
            return Ok(empty(at, false));
        }
        if matches!(self.skip()?.kind, Kind::Key | Kind::Value | Kind::BlockEnd) {
            self.state = State::MappingKey;
            return Ok(empty(end, false));
        }
        self.states.push(State::MappingKey);
        self.node(true, true)
    }

    // Sequences and mappings in brackets.

    fn flow_sequence_entry(&mut self, first: bool) -> Result<Event<'a>, SyntaxError> {
        let mut token = self.peek()?;
        if token.kind == Kind::FlowSequenceEnd {
            return Ok(self.close());
        }
        if !first {
            if token.kind != Kind::FlowEntry {
                let at = token.start;
                return Self::fault("did not find expected ',' or ']'", at);
            }
            token = self.skip()?;
        }
        let start = token.start;
        match token.kind {
            Kind::Key => {
                self.scanner.take();
                self.state = State::PairKey;
                Ok(Event::Open { mapping: true, properties: Properties::default(), start })
            }
            Kind::FlowSequenceEnd => Ok(self.close()),
            _ => {
                self.states.push(State::FlowSequenceEntry);
                self.node(false, false)
            }
        }
    }

    fn pair_key(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let end = token.end;
        if matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
            // Quirk: go-yaml skips the token.
            self.scanner.take();
            self.state = State::PairValue;
            return Ok(empty(end, false));
        }
        self.states.push(State::PairValue);
        self.node(false, false)
    }

    fn pair_value(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let mut at = token.start;
        if token.kind == Kind::Value {
            let token = self.skip()?;
            at = token.start;
            if !matches!(token.kind, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                self.states.push(State::PairEnd);
                return self.node(false, false);
            }
        }
        self.state = State::PairEnd;
        Ok(empty(at, true))
    }

    fn flow_mapping_key(&mut self, first: bool) -> Result<Event<'a>, SyntaxError> {
        let mut token = self.peek()?;
        if token.kind == Kind::FlowMappingEnd {
            return Ok(self.close());
        }
        if !first {
            if token.kind != Kind::FlowEntry {
                let at = token.start;
                return Self::fault("did not find expected ',' or '}'", at);
            }
            token = self.skip()?;
        }
        match token.kind {
            Kind::Key => {
                let token = self.skip()?;
                let at = token.start;
                if matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd) {
                    self.state = State::FlowMappingValue;
                    return Ok(empty(at, false));
                }
                self.states.push(State::FlowMappingValue);
                self.node(false, false)
            }
            Kind::FlowMappingEnd => Ok(self.close()),
            _ => {
                self.states.push(State::FlowMappingEmptyValue);
                self.node(false, false)
            }
        }
    }

    fn flow_mapping_value(&mut self) -> Result<Event<'a>, SyntaxError> {
        let token = self.peek()?;
        let mut at = token.start;
        if token.kind == Kind::Value {
            let token = self.skip()?;
            at = token.start;
            if !matches!(token.kind, Kind::FlowEntry | Kind::FlowMappingEnd) {
                self.states.push(State::FlowMappingKey);
                return self.node(false, false);
            }
        }
        self.state = State::FlowMappingKey;
        Ok(empty(at, true))
    }

    /// Reads the closing bracket or brace.
    fn close(&mut self) -> Event<'a> {
        let end = self.scanner.take().map(|token| token.end);
        self.open.pop();
        self.leave();
        Event::Close(end)
    }
}

/// A scalar that is not there; `absent` where others do not take that for null.
fn empty<'a>(at: usize, absent: bool) -> Event<'a> {
    Event::Scalar {
        text: Cow::Borrowed(""),
        style: Style::Plain,
        properties: Properties::default(),
        start: at,
        end: at,
        absent,
    }
}

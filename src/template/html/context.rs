//! Where in HTML, JavaScript or CSS a place of a template is.
//!
//! The words are those of Go's `html/template`: its messages print them.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// Defines an enumeration with the words that Go prints for its values.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$note:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(super) enum $name { $($(#[$note])* $variant,)* }

        impl $name {
            pub(super) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// What a reader of HTML is in.
    State {
        #[default]
        Text "stateText",
        Tag "stateTag",
        AttrName "stateAttrName",
        AfterName "stateAfterName",
        BeforeValue "stateBeforeValue",
        HtmlComment "stateHTMLCmt",
        /// The text of `textarea` and `title`.
        Rcdata "stateRCDATA",
        Attr "stateAttr",
        Url "stateURL",
        Srcset "stateSrcset",
        Js "stateJS",
        JsDoubleQuoted "stateJSDqStr",
        JsSingleQuoted "stateJSSqStr",
        JsTemplate "stateJSTmplLit",
        JsRegexp "stateJSRegexp",
        JsBlockComment "stateJSBlockCmt",
        JsLineComment "stateJSLineCmt",
        JsHtmlOpenComment "stateJSHTMLOpenCmt",
        JsHtmlCloseComment "stateJSHTMLCloseCmt",
        Css "stateCSS",
        CssDoubleQuoted "stateCSSDqStr",
        CssSingleQuoted "stateCSSSqStr",
        CssDoubleQuotedUrl "stateCSSDqURL",
        CssSingleQuotedUrl "stateCSSSqURL",
        CssUrl "stateCSSURL",
        CssBlockComment "stateCSSBlockCmt",
        CssLineComment "stateCSSLineCmt",
        MetaContent "stateMetaContent",
        MetaContentUrl "stateMetaContentURL",
        Error "stateError",
        /// Behind a `break` or `continue`.
        Dead "stateDead",
    }
}

impl State {
    /// Whether the state is a comment, whose text is dropped.
    pub(super) fn is_comment(self) -> bool {
        use State::{
            CssBlockComment, CssLineComment, HtmlComment, JsBlockComment, JsHtmlCloseComment,
            JsHtmlOpenComment, JsLineComment,
        };
        matches!(
            self,
            HtmlComment
                | JsBlockComment
                | JsLineComment
                | JsHtmlOpenComment
                | JsHtmlCloseComment
                | CssBlockComment
                | CssLineComment
        )
    }

    /// Whether the state is a literal of a script, in which tags of scripts must not stand as they
    /// are.
    pub(super) fn is_script_literal(self) -> bool {
        matches!(
            self,
            Self::JsDoubleQuoted | Self::JsSingleQuoted | Self::JsTemplate | Self::JsRegexp
        )
    }
}

words! {
    /// What ends the attribute's value.
    Delimiter {
        #[default]
        None "delimNone",
        DoubleQuote "delimDoubleQuote",
        SingleQuote "delimSingleQuote",
        SpaceOrTagEnd "delimSpaceOrTagEnd",
    }
}

words! {
    /// The part of a URL.
    UrlPart {
        #[default]
        None "urlPartNone",
        PreQuery "urlPartPreQuery",
        QueryOrFragment "urlPartQueryOrFrag",
        Unknown "urlPartUnknown",
    }
}

words! {
    /// What a slash begins in JavaScript.
    Slash {
        #[default]
        Regexp "jsCtxRegexp",
        Division "jsCtxDivOp",
        Unknown "jsCtxUnknown",
    }
}

words! {
    /// The kind of attribute.
    Attribute {
        #[default]
        None "attrNone",
        Script "attrScript",
        ScriptType "attrScriptType",
        Style "attrStyle",
        Url "attrURL",
        Srcset "attrSrcset",
        MetaContent "attrMetaContent",
    }
}

impl Attribute {
    /// The state in which a value of the attribute begins.
    pub(super) fn value_state(self) -> State {
        match self {
            Self::None | Self::ScriptType => State::Attr,
            Self::Script => State::Js,
            Self::Style => State::Css,
            Self::Url => State::Url,
            Self::Srcset => State::Srcset,
            Self::MetaContent => State::MetaContent,
        }
    }
}

words! {
    /// An element whose tag or content is read in a way of its own.
    Element {
        #[default]
        None "elementNone",
        Script "elementScript",
        Style "elementStyle",
        Textarea "elementTextarea",
        Title "elementTitle",
        Meta "elementMeta",
    }
}

impl Element {
    /// The element by its name in lower case.
    pub(super) fn named(name: &str) -> Self {
        [Self::Script, Self::Style, Self::Textarea, Self::Title, Self::Meta]
            .into_iter()
            .find(|element| element.name() == name)
            .unwrap_or_default()
    }

    /// The name; empty for the others.
    fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Script => "script",
            Self::Style => "style",
            Self::Textarea => "textarea",
            Self::Title => "title",
            Self::Meta => "meta",
        }
    }

    /// What ends the content, behind `</`; `meta` has none.
    pub(super) fn end_tag(self) -> &'static [u8] {
        if self == Self::Meta { b"" } else { self.name().as_bytes() }
    }

    /// The state of the content.
    pub(super) fn content_state(self) -> State {
        match self {
            Self::None | Self::Meta => State::Text,
            Self::Script => State::Js,
            Self::Style => State::Css,
            Self::Textarea | Self::Title => State::Rcdata,
        }
    }
}

/// Braces open in the expressions of JavaScript template literals, innermost last.
///
/// Go keeps them in a slice that contexts share: what one context counts, others see, and a loop or
/// a template that leaves a brace open passes where its contexts share the slice. So the sharing is
/// kept here.
#[derive(Clone, Debug, Default)]
pub(super) struct Braces {
    /// As long as the slice's capacity; none before the first expression.
    shared: Option<Rc<RefCell<Vec<i64>>>>,
    length: usize,
}

impl Braces {
    /// A copy that shares nothing.
    pub(super) fn apart(&self) -> Self {
        let Some(shared) = &self.shared else { return Self::default() };
        let mut counts = shared.borrow()[..self.length].to_vec();
        // Go's allocator rounds up to its size classes.
        let capacity = if self.length <= 4 { self.length } else { self.length.next_multiple_of(2) };
        counts.resize(capacity, 0);
        Self { shared: Some(Rc::new(RefCell::new(counts))), length: self.length }
    }

    /// An expression begins.
    pub(super) fn push(&mut self) {
        let capacity = self.shared.as_ref().map_or(0, |shared| shared.borrow().len());
        if self.length == capacity {
            let mut counts = self.counts();
            counts.resize((capacity * 2).max(1), 0);
            self.shared = Some(Rc::new(RefCell::new(counts)));
        }
        if let Some(shared) = &self.shared {
            shared.borrow_mut()[self.length] = 0;
        }
        self.length += 1;
    }

    /// Counts a brace of the innermost expression, and says whether the expression goes on.
    pub(super) fn count(&mut self, change: i64) -> bool {
        let Some((shared, last)) = self.shared.as_ref().zip(self.length.checked_sub(1)) else {
            return true;
        };
        let open = {
            let mut counts = shared.borrow_mut();
            counts[last] += change;
            counts[last]
        };
        if open < 0 {
            self.length = last;
        }
        open >= 0
    }

    fn counts(&self) -> Vec<i64> {
        self.shared
            .as_ref()
            .map(|shared| shared.borrow()[..self.length].to_vec())
            .unwrap_or_default()
    }
}

impl fmt::Display for Braces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.counts().iter().map(ToString::to_string).collect();
        write!(f, "[{}]", counts.join(" "))
    }
}

/// Why a place has no context.
#[derive(Debug)]
pub(super) struct Problem {
    /// The node that Go names.
    pub(super) node: Option<usize>,
    /// The line that Go names where it names no node.
    pub(super) line: Option<usize>,
    /// First byte at fault.
    pub(super) offset: usize,
    pub(super) message: String,
}

/// Where a place is.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) state: State,
    pub(super) delimiter: Delimiter,
    pub(super) url_part: UrlPart,
    pub(super) slash: Slash,
    pub(super) braces: Braces,
    pub(super) attribute: Attribute,
    pub(super) element: Element,
    /// Only in [`State::Error`]. Shared as in Go, where a loop that the error leaves adds to the
    /// sentence for all.
    pub(super) problem: Option<Rc<RefCell<Problem>>>,
}

impl Context {
    pub(super) fn of(state: State) -> Self {
        Self { state, ..Self::default() }
    }

    pub(super) fn error(problem: Problem) -> Self {
        Self { problem: Some(Rc::new(RefCell::new(problem))), ..Self::of(State::Error) }
    }

    /// An error in a text: Go names no place, and who reads the text knows its offset.
    pub(super) fn bad_text(message: String) -> Self {
        Self::error(Problem { node: None, line: None, offset: 0, message })
    }

    /// A copy whose braces are its own.
    pub(super) fn apart(&self) -> Self {
        Self { braces: self.braces.apart(), ..self.clone() }
    }

    /// Equality, but for problems.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.braces.counts() == other.braces.counts() && self.scalars() == other.scalars()
    }

    fn scalars(&self) -> (State, Delimiter, UrlPart, Slash, Attribute, Element) {
        (self.state, self.delimiter, self.url_part, self.slash, self.attribute, self.element)
    }

    /// The name of a template when it begins in this context.
    pub(super) fn template_name(&self, name: &str) -> String {
        if self.state == State::Text {
            return name.to_owned();
        }
        let mut out = format!("{name}$htmltemplate_{}", self.state.as_str());
        let mut add = |set: bool, word: &str| {
            if set {
                out.extend(["_", word]);
            }
        };
        add(self.delimiter != Delimiter::None, self.delimiter.as_str());
        add(self.url_part != UrlPart::None, self.url_part.as_str());
        add(self.slash != Slash::Regexp, self.slash.as_str());
        add(self.braces.shared.is_some(), &format!("jsBraceDepth({})", self.braces));
        add(self.attribute != Attribute::None, self.attribute.as_str());
        add(self.element != Element::None, self.element.as_str());
        out
    }

    /// The context after a transition that takes no text: an action that stands here begins a name
    /// or a value.
    pub(super) fn nudged(self) -> Self {
        match self.state {
            State::Tag => Self { state: State::AttrName, ..self },
            State::BeforeValue => Self {
                state: self.attribute.value_state(),
                delimiter: Delimiter::SpaceOrTagEnd,
                attribute: Attribute::None,
                ..self
            },
            State::AfterName => Self { state: State::AttrName, attribute: Attribute::None, ..self },
            _ => self,
        }
    }

    /// The context behind two branches; none when they end in different contexts.
    pub(super) fn join(&self, other: &Self) -> Option<Self> {
        if self.state == State::Error || other.state == State::Dead {
            return Some(self.clone());
        }
        if other.state == State::Error || self.state == State::Dead {
            return Some(other.clone());
        }
        if self.same(other) {
            return Some(self.clone());
        }
        let but_for_url_part = Self { url_part: other.url_part, ..self.clone() };
        if but_for_url_part.same(other) {
            return Some(Self { url_part: UrlPart::Unknown, ..but_for_url_part });
        }
        let but_for_slash = Self { slash: other.slash, ..self.clone() };
        if but_for_slash.same(other) {
            return Some(Self { slash: Slash::Unknown, ..but_for_slash });
        }
        let (left, right) = (self.clone().nudged(), other.clone().nudged());
        if left.same(self) && right.same(other) { None } else { left.join(&right) }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (delimiter, url_part, slash) =
            (self.delimiter.as_str(), self.url_part.as_str(), self.slash.as_str());
        let (attribute, element) = (self.attribute.as_str(), self.element.as_str());
        // A context that is printed has no problem.
        write!(
            f,
            "{{{} {delimiter} {url_part} {slash} {} {attribute} {element} <nil>}}",
            self.state.as_str(),
            self.braces
        )
    }
}

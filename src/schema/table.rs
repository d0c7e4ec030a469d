//! The format of the tables, and their reader.
//!
//! A table is a list of object types sorted by name. The name is at the start of a line, `open`
//! after it says that unknown fields are kept; each field follows on a line of its own that begins
//! with a blank:
//!
//! ```text
//! field  = " " NAME " " TYPE [" " FLAGS] [" " PATCH] [" " OR] [" = " JSON]
//!          JSON: the default of the CRD
//! TYPE   = "[" RULES "]" TYPE    list
//!        | "{" RULES "}" TYPE    map
//!        | WORD ["(" RULES ")"]  scalar
//!        | NAME                  object type; a prefix `ome/` names the table
//! WORD   = str bool int int32 int64 num qty ios time bytes loose any
//!          ios: integer or string; any: free
//! RULES  = map=KEY|KEY  set  min=N  max=N  enum=JSON|JSON  pattern=JSON
//!          separated by blanks
//! OR     = or:NAME               not required where that field is (overlay only)
//! FLAGS  = "!" required          "?" may be null
//!          "~" always marshalled "3" always marshalled by libraries before v0.34
//!          "*" pointer, so that a zero value is marshalled
//!          "+" unknown to libraries before v0.34
//! PATCH  = merge | merge:KEY | merge,retain:KEY | retain | replace
//!          the Go tags patchStrategy and patchMergeKey
//! ```

use super::overlay;
use super::types::{Definition, Field, Item, Object, Patch, Rules, Type};
use std::sync::OnceLock;

/// One file of types, indexed when it is first needed.
pub(super) struct Table {
    prefix: &'static str,
    text: &'static str,
    index: OnceLock<Vec<Definition>>,
}

/// The tables; the first two hold names without a prefix.
pub(super) static TABLES: [Table; 8] = [
    Table::new("", include_str!("tables/kubernetes.txt")),
    Table::new("", include_str!("tables/more_kubernetes.txt")),
    Table::new("ome", include_str!("tables/ome.txt")),
    Table::new("kserve", include_str!("tables/kserve.txt")),
    Table::new("kthena", include_str!("tables/kthena.txt")),
    Table::new("operators", include_str!("tables/operators.txt")),
    Table::new("shared", include_str!("tables/shared.txt")),
    Table::new("read", include_str!("tables/read.txt")),
];

/// The lines of a text without its comments.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The type with this name, in whatever table.
pub(super) fn definition(name: &str) -> Option<&'static Definition> {
    let prefix = name.split_once('/').map_or("", |(prefix, _)| prefix);
    // These types exist in the documents only.
    if prefix == "oep3" {
        return overlay::definition(name);
    }
    let tables = TABLES.iter().filter(|table| table.prefix == prefix);
    tables.into_iter().find_map(|table| table.definition(name))
}

impl Table {
    const fn new(prefix: &'static str, text: &'static str) -> Self {
        Self { prefix, text, index: OnceLock::new() }
    }

    pub(super) fn definition(&self, name: &str) -> Option<&Definition> {
        let index = self.index.get_or_init(|| index(self.text));
        index
            // The tables are sorted by name when they are made; a test proves it.
            .binary_search_by(|definition| definition.name.cmp(name))
            .ok()
            .map(|found| &index[found])
    }

    #[cfg(test)]
    pub(super) fn definitions(&self) -> &[Definition] {
        self.index.get_or_init(|| index(self.text))
    }
}

/// The types of a text with the lines of each.
pub(super) fn index(text: &'static str) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let (head, after) = rest.split_at(end);
        // The body ends where a line begins with something else than a blank.
        let mut body = 0;
        while after[body..].starts_with(' ') {
            body += after[body..].find('\n').map_or(after.len() - body, |end| end + 1);
        }
        let head = head.trim_end();
        if !head.is_empty() && !head.starts_with('#') {
            found.push(Definition::new(head, &after[..body]));
        }
        rest = &after[body..];
    }
    found
}

/// The fields of an object type.
pub(super) fn object(body: &'static str, open: bool) -> Object {
    Object::new(body.lines().filter_map(field).collect(), open)
}

fn field(line: &'static str) -> Option<Field> {
    let line = line.trim_start();
    if line.starts_with('#') {
        return None;
    }
    let (name, rest) = line.split_once(' ')?;
    let (ty, rest) = type_of(rest);
    // The default is JSON and may hold blanks, so it is the rest of the line.
    let (rest, default) = match rest.split_once("= ") {
        Some((flags, default)) => (flags, Some(default)),
        None => (rest, None),
    };
    let mut flags = "";
    let mut patch = Patch::default();
    let mut or = None;
    for word in rest.split_ascii_whitespace() {
        if let Some(name) = word.strip_prefix("or:") {
            or = Some(name);
        } else if word.starts_with(|c: char| c.is_ascii_lowercase()) {
            patch = patch_of(word);
        } else {
            flags = word;
        }
    }
    let on = |flag: char| flags.contains(flag);
    Some(Field {
        name,
        ty,
        default,
        patch,
        required: on('!'),
        nullable: on('?'),
        always: on('~'),
        formerly_always: on('3'),
        pointer: on('*'),
        recent: on('+'),
        lenient: false,
        documented: false,
        or,
    })
}

fn patch_of(word: &'static str) -> Patch {
    let (strategies, key) = match word.split_once(':') {
        Some((strategies, key)) => (strategies, Some(key)),
        None => (word, None),
    };
    let has = |name: &str| strategies.split(',').any(|strategy| strategy == name);
    Patch { merge: has("merge"), replace: has("replace"), retain: has("retain"), key }
}

/// Reads a type and answers what follows it.
fn type_of(text: &'static str) -> (Type, &'static str) {
    match text.as_bytes().first() {
        Some(b'[') => {
            let (rules, rest) = rules(&text[1..], b']');
            let (item, rest) = type_of(rest);
            (Type::List(Box::new(Item { ty: item, rules })), rest)
        }
        Some(b'{') => {
            let (rules, rest) = rules(&text[1..], b'}');
            let (item, rest) = type_of(rest);
            (Type::Map(Box::new(Item { ty: item, rules })), rest)
        }
        _ => {
            let end = text.find([' ', '(']).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            let (rules, rest) = match rest.strip_prefix('(') {
                Some(rest) => rules(rest, b')'),
                None => (Rules::default(), rest),
            };
            (scalar(word, rules), rest)
        }
    }
}

fn scalar(word: &'static str, rules: Rules) -> Type {
    match word {
        "str" => Type::Str(rules.boxed()),
        "bool" => Type::Bool,
        "int" | "int64" => Type::Int(rules.boxed()),
        "int32" => Type::Int32(rules.boxed()),
        "num" => Type::Number(rules.boxed()),
        "qty" => Type::Quantity,
        "ios" => Type::IntOrString(rules.boxed()),
        "time" => Type::Time,
        "bytes" => Type::Bytes,
        "loose" => Type::Loose,
        "any" => Type::Any,
        // A type that no table has accepts everything: it must not accuse anyone.
        name => definition(name).map_or(Type::Any, Type::Object),
    }
}

/// Reads the rules up to the closing bracket and answers what follows it.
fn rules(text: &'static str, close: u8) -> (Rules, &'static str) {
    let mut rules = Rules::default();
    let bytes = text.as_bytes();
    let (mut start, mut at, mut quoted) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            // The escaped character may be a quote and ends nothing.
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            byte if !quoted && (byte == b' ' || byte == close) => {
                rules.add(&text[start..at]);
                start = at + 1;
                if byte == close {
                    return (rules, &text[start..]);
                }
            }
            _ => {}
        }
        at += 1;
    }
    (rules, "")
}

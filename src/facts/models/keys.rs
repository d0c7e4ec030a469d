//! Reads the numbers of a config.json, and remembers which were read and which were missing.

use crate::diag::{Code, Diagnostic};
use crate::yaml::{Node, Value};

/// The greatest number that is accepted in a config; published models stay far below it. It keeps
/// every product of the formulas within 128 bits.
const GREATEST: i64 = 10_000_000;

/// The greatest size of a patch, of a square of patches and the like, which are squared.
const GREATEST_SMALL: i64 = 10_000;

/// The greatest accepted number of layers, which are counted one by one.
const MOST_LAYERS: i64 = 10_000;

/// A key that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used<'a> {
    pub(super) key: &'static str,
    pub(super) node: &'a Node,
}

/// One object of a config.json, and the one around it.
pub(super) struct Config<'a> {
    node: &'a Node,
    /// Where keys are looked up next: the whole config around its `text_config`.
    outer: Option<&'a Node>,
    /// The defaults of `transformers` for absent keys; it omits them in nested configs.
    defaults: &'static [(&'static str, u128)],
    /// The keys that were read, in order, each once.
    pub(super) used: Vec<Used<'a>>,
    /// Keys that the count needs and that are not there.
    pub(super) missing: Vec<&'static str>,
    /// Findings about impossible values.
    pub(super) bad: Vec<Diagnostic>,
}

impl<'a> Config<'a> {
    pub(super) fn new(node: &'a Node, outer: Option<&'a Node>) -> Self {
        Self { node, outer, defaults: &[], used: Vec::new(), missing: Vec::new(), bad: Vec::new() }
    }

    /// Sets the defaults for absent keys.
    pub(super) fn with_defaults(mut self, defaults: &'static [(&'static str, u128)]) -> Self {
        self.defaults = defaults;
        self
    }

    /// The object itself.
    pub(super) fn root(&self) -> &'a Node {
        self.node
    }

    /// A config of a part: `vision_config`, `ffn_config`. Its keys are read by this one with
    /// [`Self::absorb`].
    pub(super) fn part(&self, key: &str) -> Option<Config<'a>> {
        Some(Config::new(self.find(key)?, None)).filter(|part| part.node.as_map().is_some())
    }

    /// Adds the read and missing keys of a part.
    pub(super) fn absorb(&mut self, part: Config<'a>) {
        self.used.extend(part.used);
        self.missing.extend(part.missing);
        self.bad.extend(part.bad);
    }

    /// A value, here or around.
    pub(super) fn find(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key).or_else(|| self.outer.and_then(|outer| outer.get(key)))
    }

    /// Returns the first of these keys with a value, and records it as read.
    pub(super) fn first(&mut self, keys: &[&'static str]) -> Option<&'a Node> {
        let (key, node) = keys.iter().find_map(|key| Some((*key, self.find(key)?)))?;
        // The same value is read for every layer and shown once.
        if !self.used.iter().any(|used| std::ptr::eq(used.node, node)) {
            self.used.push(Used { key, node });
        }
        Some(node)
    }

    /// A number that may be absent.
    pub(super) fn maybe(&mut self, keys: &[&'static str]) -> Option<u128> {
        self.up_to(keys, GREATEST)
    }

    /// A small number with a default: one that the formulae square.
    pub(super) fn small(&mut self, keys: &[&'static str], default: u128) -> u128 {
        self.up_to(keys, GREATEST_SMALL).unwrap_or(default)
    }

    fn up_to(&mut self, keys: &[&'static str], greatest: i64) -> Option<u128> {
        // Defaults stand for absent keys only: a value that cannot be read is never replaced by
        // one.
        let Some(node) = self.first(keys) else {
            return self
                .defaults
                .iter()
                .find(|(key, _)| keys.contains(key))
                .map(|(_, number)| *number);
        };
        // Some write one number per layer and mean the same for each.
        let number = match &node.value {
            Value::List(items) if items.iter().all(|item| item == &items[0]) => {
                items.first().and_then(Node::as_int)
            }
            _ => node.as_int(),
        };
        if let Some(number) = number
            .filter(|number| *number <= greatest)
            .and_then(|number| u128::try_from(number).ok())
        {
            return Some(number);
        }
        // One finding for a place, however many layers read it.
        if self.bad.iter().all(|found| found.span().is_none() || found.span() != node.origin.span())
        {
            let shown = node
                .scalar_text()
                .map_or_else(|| node.kind_name().to_owned(), |text| format!("`{text}`"));
            let message =
                format!("`{}` is {shown}; a whole number from 0 to {greatest} is needed", keys[0]);
            self.bad.push(
                Diagnostic::new(Code::InvalidValue, message).at(node.origin.span()).path(keys[0]),
            );
        }
        // 0 and no default: the finding says why there is no count.
        Some(0)
    }

    /// A number with a default.
    pub(super) fn or(&mut self, keys: &[&'static str], default: u128) -> u128 {
        self.maybe(keys).unwrap_or(default)
    }

    /// A number that has to be there; 0, and remembered as missing, when it is not.
    pub(super) fn need(&mut self, keys: &[&'static str]) -> u128 {
        let number = self.maybe(keys);
        self.required(keys[0], number)
    }

    /// Layers, to be counted one by one.
    ///
    /// A config with a list of layers can omit their number.
    pub(super) fn layers(&mut self, keys: &[&'static str]) -> u128 {
        let listed = || self.length("layers_block_type").filter(|n| *n <= MOST_LAYERS as u128);
        let listed = listed();
        let number = self.up_to(keys, MOST_LAYERS).or(listed);
        self.required(keys[0], number)
    }

    /// A small number that has to be there.
    pub(super) fn need_small(&mut self, keys: &[&'static str]) -> u128 {
        let number = self.up_to(keys, GREATEST_SMALL);
        self.required(keys[0], number)
    }

    fn required(&mut self, key: &'static str, number: Option<u128>) -> u128 {
        if number.is_none() && !self.missing.contains(&key) {
            self.missing.push(key);
        }
        number.unwrap_or(0)
    }

    /// A switch with a default.
    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> bool {
        self.first(&[key]).and_then(Node::as_bool).unwrap_or(default)
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<&'a str> {
        self.first(&[key]).and_then(Node::as_str)
    }

    /// Whether a list of numbers is there and has this one.
    pub(super) fn lists(&mut self, key: &'static str, number: u128) -> Option<bool> {
        let node = self.first(&[key])?;
        matches!(node.value, Value::List(_)).then(|| {
            node.items()
                .iter()
                .filter_map(Node::as_int)
                .any(|item| u128::try_from(item) == Ok(number))
        })
    }

    /// A number that may be absent, without counting the key as read.
    pub(super) fn peek(&self, key: &str) -> Option<u128> {
        self.find(key)?.as_int().and_then(|number| u128::try_from(number).ok())
    }

    /// A switch that may be absent, without counting the key as read.
    pub(super) fn peek_flag(&self, key: &str) -> Option<bool> {
        self.find(key)?.as_bool()
    }

    /// How many items a list has.
    pub(super) fn length(&self, key: &str) -> Option<u128> {
        match &self.find(key)?.value {
            Value::List(items) => Some(items.len() as u128),
            _ => None,
        }
    }

    /// The item of a list for a layer.
    pub(super) fn element(&self, key: &str, layer: u128) -> Option<&'a Node> {
        self.find(key)?.items().get(usize::try_from(layer).ok()?)
    }

    /// The number of a list for a layer.
    pub(super) fn number_of(&self, key: &str, layer: u128) -> Option<u128> {
        self.element(key, layer)?.as_int().and_then(|number| u128::try_from(number).ok())
    }

    /// A part of the block of a layer (`block_configs`).
    pub(super) fn block(&self, part: &str, layer: u128) -> Option<Block<'a>> {
        self.element("block_configs", layer)?.get(part).map(Block)
    }
}

/// A part of one layer, where a config describes each layer by itself.
#[derive(Clone, Copy)]
pub(super) struct Block<'a>(&'a Node);

impl Block<'_> {
    /// The layer does not have this part.
    pub(super) fn is_off(self) -> bool {
        self.0.get("no_op").and_then(Node::as_bool) == Some(true)
    }

    /// A number, if it is not above [`GREATEST`].
    pub(super) fn number(self, key: &str) -> Option<u128> {
        let number = self.0.get(key)?.as_int().filter(|number| *number <= GREATEST)?;
        u128::try_from(number).ok()
    }

    /// A factor, applied to a width and rounded down.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "widths are far below 2^53, and a factor below 0 makes none"
    )]
    pub(super) fn scaled(self, key: &str, width: u128) -> u128 {
        let factor = match self.0.get(key).map(|node| &node.value) {
            Some(Value::Float(factor)) => *factor,
            Some(Value::Int(factor)) => *factor as f64,
            _ => 0.0,
        };
        // The clamp keeps the product within the range that a cast does not cut off.
        (factor.clamp(0.0, 1e6) * width as f64) as u128
    }
}

/// Bytes of a number of a type.
pub(super) fn width(dtype: &str) -> Option<u64> {
    match dtype {
        "float64" => Some(8),
        "float32" | "float" => Some(4),
        "float16" | "bfloat16" | "half" => Some(2),
        _ => None,
    }
}

/// The first of these keys that has a value, in the config or in the part about its language model.
pub(super) fn text_of<'a>(
    config: &'a Node,
    keys: &[&'static str],
) -> Option<(&'static str, &'a Node)> {
    let parts = [
        Some(config),
        config.get("text_config"),
        config.get("llm_config"),
        config.get("language_config"),
    ];
    parts
        .into_iter()
        .flatten()
        .find_map(|part| keys.iter().find_map(|key| Some((*key, part.get(key)?))))
}

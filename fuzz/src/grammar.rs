//! Mutations of trees: what libFuzzer does to bytes, done to values of manifests.
//!
//! In: a text and a number. Out: another text whose documents are still documents, with fields that
//! the schemas know. Half of what a fuzzer tries would else end in the reader.

use ome::internals::schema::{self, Type};
use ome::internals::source::{SourceId, Span};
use ome::internals::yaml::{Limits, Node, Origin, parse, split, write};
use serde_json::{Map, Value, json};

/// Values at the edges of what numbers, names and quantities may be.
const EDGES: [&str; 24] = [
    "",
    "0",
    "1",
    "-1",
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "1e30",
    "0.1",
    "1500m",
    "80Gi",
    "100%",
    "25%",
    "true",
    "null",
    "~",
    "a",
    "m",
    "r",
    "A-b_c.d",
    "../x",
    "{{.Name}}",
    "7B",
    "v1",
];

/// Numbers that follow from a first one (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u32) -> Self {
        Self((u64::from(seed) << 1 | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }
}

fn trees(text: &str) -> Vec<Value> {
    let source = SourceId(0);
    let limits = Limits::default();
    let ranges = split(source, text).value.into_iter();
    ranges
        .filter_map(|range| parse(source, text, range, &limits).value)
        .map(|node| node.to_json())
        .filter(Value::is_object)
        .collect()
}

fn text_of(trees: &[Value]) -> String {
    let origin = Origin::File(Span { source: SourceId(0), start: 0, end: 0 });
    let mut out = String::new();
    for tree in trees {
        out.push_str("---\n");
        write(&mut out, &Node::from_json(tree, origin));
    }
    out
}

/// The text with a few values changed; none when it holds no document.
pub fn mutate(text: &str, dice: &mut Dice) -> Option<String> {
    let files: Vec<&str> = text.split("\n#---\n").collect();
    let mut parsed: Vec<Vec<Value>> = files.iter().map(|file| trees(file)).collect();
    let chosen = dice.below(parsed.len());
    let donor = parsed.concat();
    let file = &mut parsed[chosen];
    if file.is_empty() {
        return None;
    }
    for _ in 0..=dice.below(3) {
        match dice.below(12) {
            0 => {
                let copy = donor[dice.below(donor.len())].clone();
                file.push(copy);
            }
            1 if file.len() > 1 => {
                file.remove(dice.below(file.len()));
            }
            _ => {
                let at = dice.below(file.len());
                let ty = type_of(&file[at]);
                change(&mut file[at], ty, &donor, dice);
            }
        }
    }
    Some(parsed.iter().map(|file| text_of(file)).collect::<Vec<_>>().join("\n#---\n"))
}

/// As [`mutate`], in a buffer of libFuzzer: the new size.
pub fn in_place(data: &mut [u8], size: usize, most: usize, seed: u32) -> Option<usize> {
    let mut dice = Dice::new(seed);
    // Bytes are mutated too: the reader has to be met.
    if dice.below(4) == 0 {
        return None;
    }
    let text = mutate(std::str::from_utf8(&data[..size]).ok()?, &mut dice)?;
    let room = data.get_mut(..text.len()).filter(|_| text.len() <= most)?;
    room.copy_from_slice(text.as_bytes());
    Some(text.len())
}

/// The text with one of its lists or mappings as long as asked: its first element again and again,
/// each with names of its own. The numbers decide which one; none when there is none.
pub fn stretched(text: &str, which: usize, count: usize) -> Option<String> {
    let mut trees = trees(text);
    let mut left = which;
    let found = trees.iter_mut().any(|tree| stretch(tree, &mut left, count));
    found.then(|| text_of(&trees))
}

fn stretch(value: &mut Value, left: &mut usize, count: usize) -> bool {
    let holds = match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => return false,
    };
    if holds && *left == 0 {
        match value {
            Value::Array(items) => {
                let first = items[0].clone();
                items.extend((1..count).map(|number| renamed(&first, number)));
            }
            Value::Object(map) => {
                let (key, first) = map.iter().next_back().expect("it is not empty");
                let (key, first) = (key.clone(), first.clone());
                for number in 1..count {
                    map.insert(format!("{key}{number}"), renamed(&first, number));
                }
            }
            _ => {}
        }
        return true;
    }
    *left -= usize::from(holds);
    match value {
        Value::Array(items) => items.iter_mut().any(|item| stretch(item, left, count)),
        Value::Object(map) => map.values_mut().any(|item| stretch(item, left, count)),
        _ => false,
    }
}

/// The value with a number in the texts that are likely to identify it.
fn renamed(value: &Value, number: usize) -> Value {
    let mut value = value.clone();
    match &mut value {
        Value::String(text) => text.push_str(&number.to_string()),
        Value::Object(map) => {
            for key in ["name", "key", "mountPath", "devicePath", "acceleratorClass"] {
                if let Some(Value::String(text)) = map.get_mut(key) {
                    text.push_str(&number.to_string());
                }
            }
            for key in ["containerPort", "port", "priority"] {
                if map.contains_key(key) {
                    map.insert(key.to_owned(), json!(number % 60_000 + 1));
                }
            }
        }
        _ => {}
    }
    value
}

fn type_of(tree: &Value) -> Option<&'static Type> {
    let text = |key: &str| tree.get(key).and_then(Value::as_str);
    schema::kind(text("apiVersion")?, text("kind")?).map(schema::Schema::root)
}

/// Changes one value somewhere at or below this one.
fn change(value: &mut Value, ty: Option<&Type>, donor: &[Value], dice: &mut Dice) {
    let here = dice.below(4) == 0;
    match value {
        Value::Object(map) if !here && !map.is_empty() => {
            let at = dice.below(map.len());
            let Some((key, below)) = map.iter_mut().nth(at) else { return };
            let below_ty = match ty {
                Some(Type::Map(item)) => Some(&item.ty),
                ty => ty.and_then(|ty| ty.field(key)).map(|field| &field.ty),
            };
            change(below, below_ty, donor, dice);
        }
        Value::Array(items) if !here && !items.is_empty() => {
            let at = dice.below(items.len());
            change(&mut items[at], ty.and_then(Type::item).map(|item| &item.ty), donor, dice);
        }
        Value::Object(map) => object(map, ty, donor, dice),
        Value::Array(items) => list(items, ty, dice),
        scalar => *scalar = made(ty, dice, 2),
    }
}

fn object(map: &mut Map<String, Value>, ty: Option<&Type>, donor: &[Value], dice: &mut Dice) {
    let fields = ty.and_then(Type::object).map(|object| &object.fields);
    match (dice.below(4), fields) {
        (0, _) if !map.is_empty() => {
            let key = map.keys().nth(dice.below(map.len())).cloned().unwrap_or_default();
            map.remove(&key);
        }
        (1, _) => {
            // What stands under this key elsewhere.
            let other = &donor[dice.below(donor.len())];
            let all = other.as_object().into_iter().chain(other["spec"].as_object());
            for (key, value) in all.flatten() {
                if map.contains_key(key) && dice.below(2) == 0 {
                    map.insert(key.clone(), value.clone());
                }
            }
        }
        (_, Some(fields)) if !fields.is_empty() => {
            let field = &fields[dice.below(fields.len())];
            map.insert(field.name.to_owned(), made(Some(&field.ty), dice, 3));
        }
        _ => {
            let key = EDGES[dice.below(EDGES.len())].to_owned();
            map.insert(key, made(ty.and_then(Type::item).map(|item| &item.ty), dice, 2));
        }
    }
}

fn list(items: &mut Vec<Value>, ty: Option<&Type>, dice: &mut Dice) {
    match dice.below(3) {
        0 if !items.is_empty() => {
            items.remove(dice.below(items.len()));
        }
        1 if !items.is_empty() => {
            let copy = items[dice.below(items.len())].clone();
            items.push(copy);
        }
        _ => items.push(made(ty.and_then(Type::item).map(|item| &item.ty), dice, 2)),
    }
}

/// A value of a type, or one that it must refuse.
fn made(ty: Option<&Type>, dice: &mut Dice, depth: usize) -> Value {
    let edge = |dice: &mut Dice| json!(EDGES[dice.below(EDGES.len())]);
    let Some(ty) = ty.filter(|_| dice.below(16) != 0) else { return edge(dice) };
    let number = |dice: &mut Dice| {
        let numbers = [0, 1, 2, 3, 8, -1, 65_535, i64::from(i32::MAX), i64::MAX];
        json!(numbers[dice.below(numbers.len())])
    };
    match ty {
        Type::Object(_) if depth > 0 => {
            let fields = ty.object().map(|object| object.fields.as_slice()).unwrap_or_default();
            let mut map = Map::new();
            for field in fields {
                if field.required || (dice.below(fields.len().max(1)) < 3) {
                    map.insert(field.name.to_owned(), made(Some(&field.ty), dice, depth - 1));
                }
            }
            Value::Object(map)
        }
        Type::Object(_) => json!({}),
        Type::Map(item) => {
            let keys = ["a", "nvidia.com/gpu", "cpu", "memory", "m"];
            let key = keys[dice.below(keys.len())];
            json!({ key: made(Some(&item.ty), dice, depth.saturating_sub(1)) })
        }
        Type::List(item) if depth > 0 => {
            (0..dice.below(3)).map(|_| made(Some(&item.ty), dice, depth - 1)).collect()
        }
        Type::List(_) => json!([]),
        Type::Str(Some(rules)) if !rules.choices.is_empty() => {
            let choice = rules.choices[dice.below(rules.choices.len())];
            serde_json::from_str(choice).unwrap_or_else(|_| json!(choice))
        }
        Type::Int(_) | Type::Int32(_) | Type::Number(_) => number(dice),
        Type::IntOrString(_) if dice.below(2) == 0 => number(dice),
        Type::Bool => json!(dice.below(2) == 0),
        Type::Time => json!("2026-01-01T00:00:00Z"),
        _ => edge(dice),
    }
}

//! Paths to fields, printed and read as users write them: `spec.engine.runner.args[0]`,
//! `containers[name=main].image`, `nodeSelector.nvidia\.com/gpu`.

use ecow::EcoString;
use std::fmt;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A key of a mapping.
    Field(EcoString),
    /// A position in a list, from 0.
    Index(usize),
    /// The list element whose key field has this value.
    Keyed(EcoString, EcoString),
    /// Every element (`[*]`).
    All,
}

/// A path from the root of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(pub Vec<Segment>);

impl FieldPath {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path one field further.
    pub fn field(&self, name: impl Into<EcoString>) -> Self {
        self.with(Segment::Field(name.into()))
    }

    /// Whether it is a path of these fields, joined by dots.
    pub fn is(&self, fields: &str) -> bool {
        let mut wanted = fields.split('.');
        // No text is built: this is called for every field that is read.
        self.0.iter().all(|step| match step {
            Segment::Field(name) => wanted.next() == Some(name),
            _ => false,
        }) && wanted.next().is_none()
    }

    /// The path of a list element.
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        Self(segments)
    }

    /// Reads a path as users write it. A backslash takes the next character literally.
    ///
    /// # Errors
    /// A sentence that names what is wrong: an unclosed bracket, an empty step.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut chars = text.chars().peekable();
        let mut name = EcoString::new();
        let mut pending = false;
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    name.push(chars.next().ok_or("ends with a backslash")?);
                    pending = true;
                }
                '.' => {
                    if pending {
                        segments.push(Segment::Field(std::mem::take(&mut name)));
                    // A dot behind a bracket follows no name: `args[0].x`.
                    } else if segments.is_empty() {
                        return Err("has an empty step".into());
                    }
                    pending = false;
                }
                '[' => {
                    if pending {
                        segments.push(Segment::Field(std::mem::take(&mut name)));
                        pending = false;
                    }
                    let mut inner = String::new();
                    loop {
                        match chars.next() {
                            Some(']') => break,
                            Some(c) => inner.push(c),
                            None => return Err("has a `[` without `]`".into()),
                        }
                    }
                    segments.push(if inner == "*" {
                        Segment::All
                    } else if let Some((key, value)) = inner.split_once('=') {
                        Segment::Keyed(key.into(), value.into())
                    } else {
                        Segment::Index(inner.parse().map_err(|_| {
                            format!(
                                "has `[{inner}]`, which is neither a position nor `[key=value]`"
                            )
                        })?)
                    });
                }
                _ => {
                    name.push(c);
                    pending = true;
                }
            }
        }
        if pending {
            segments.push(Segment::Field(name));
        }
        Ok(Self(segments))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    for c in name.chars() {
                        // Printed so that `parse` reads the same path again.
                        if matches!(c, '.' | '[' | ']' | '\\') {
                            f.write_str("\\")?;
                        }
                        write!(f, "{c}")?;
                    }
                }
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Keyed(key, value) => write!(f, "[{key}={value}]")?,
                Segment::All => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_they_print() {
        for text in [
            "spec.a[0].b",
            "containers[name=main].image",
            "nodeSelector.nvidia\\.com/gpu",
            "a[*].b",
        ] {
            assert_eq!(FieldPath::parse(text).map(|path| path.to_string()).as_deref(), Ok(text));
        }
        for text in ["a[0", "a[x]", ".a"] {
            assert!(FieldPath::parse(text).is_err(), "{text}");
        }
    }
}

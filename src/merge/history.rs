//! What a merge overrode.
//!
//! The merge reports each overridden value to a [`Record`]. `()` keeps nothing and costs nothing;
//! [`History`] keeps every overridden value with its origin, so that `why` can list them.

use crate::yaml::{FieldPath, Node, Segment};
use ecow::EcoString;

/// One step of the merge into the tree.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// The value of a key.
    Field(&'a str),
    /// The list element that a key field identifies.
    Keyed(&'a str, &'a Node),
    /// The element of a list of scalars.
    Scalar(&'a Node),
}

impl Step<'_> {
    /// The step as a segment of a path.
    pub(crate) fn segment(self) -> Segment {
        match self {
            Self::Field(name) => Segment::Field(name.into()),
            Self::Keyed(key, value) => {
                Segment::Keyed(key.into(), value.scalar_text().unwrap_or_default())
            }
            Self::Scalar(value) => {
                Segment::Keyed(EcoString::new(), value.scalar_text().unwrap_or_default())
            }
        }
    }
}

/// A recorder of overridden values.
pub trait Record {
    /// The merge goes one step down.
    fn enter(&mut self, step: Step<'_>);
    /// The merge comes back up.
    fn leave(&mut self);
    /// At the current place, `loser` gave way to `winner`; without a winner it was removed.
    fn lost(&mut self, loser: &Node, winner: Option<&Node>);
}

impl Record for () {
    #[inline]
    fn enter(&mut self, _: Step<'_>) {}
    #[inline]
    fn leave(&mut self) {}
    #[inline]
    fn lost(&mut self, _: &Node, _: Option<&Node>) {}
}

/// One value that lost.
#[derive(Clone, Debug)]
pub struct Overridden {
    /// Where it stood.
    pub path: FieldPath,
    /// The value that lost, with its origin.
    pub loser: Node,
    /// The value that took its place; none when it was removed.
    pub winner: Option<Node>,
}

impl Overridden {
    /// Whether the later layer set the same value: only the source changed.
    pub fn restated(&self) -> bool {
        self.winner.as_ref() == Some(&self.loser)
    }
}

/// Keeps everything that lost, in the order of the merges.
#[derive(Clone, Debug, Default)]
pub struct History {
    place: FieldPath,
    overridden: Vec<Overridden>,
}

impl History {
    /// Keeps what loses in merges of whole trees.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says where the tree of the next merges is; all paths begin with it.
    pub fn stand(&mut self, place: FieldPath) {
        self.place = place;
    }

    /// Everything that lost, oldest first.
    pub fn all(&self) -> &[Overridden] {
        &self.overridden
    }

    /// What lost at a path, nearest layer first: values that stood there, and the parts of larger
    /// values that were replaced as a whole. A path names list elements as the merge does: by
    /// key where the list has one.
    pub fn at<'a>(&'a self, path: &FieldPath) -> Vec<Lost<'a>> {
        let mut found = Vec::new();
        for entry in self.overridden.iter().rev() {
            let Some(rest) = path.0.strip_prefix(entry.path.0.as_slice()) else { continue };
            let rest = FieldPath(rest.to_vec());
            let winner = entry.winner.as_ref().and_then(|node| node.select(&rest).first().copied());
            found.extend(entry.loser.select(&rest).first().map(|loser| Lost { loser, winner }));
        }
        found
    }

    /// What lost below a path, oldest first.
    pub fn below<'a>(&'a self, path: &'a FieldPath) -> impl Iterator<Item = &'a Overridden> {
        self.overridden.iter().filter(|entry| entry.path.0.starts_with(&path.0))
    }
}

/// A value that lost at a path that was requested.
#[derive(Clone, Copy, Debug)]
pub struct Lost<'a> {
    /// The value that lost.
    pub loser: &'a Node,
    /// What took its place there.
    pub winner: Option<&'a Node>,
}

impl Lost<'_> {
    /// Whether the later layer set the same value.
    pub fn restated(&self) -> bool {
        self.winner == Some(self.loser)
    }
}

impl Record for History {
    fn enter(&mut self, step: Step<'_>) {
        self.place.0.push(step.segment());
    }

    fn leave(&mut self) {
        self.place.0.pop();
    }

    fn lost(&mut self, loser: &Node, winner: Option<&Node>) {
        self.overridden.push(Overridden {
            path: self.place.clone(),
            loser: loser.clone(),
            winner: winner.cloned(),
        });
    }
}

//! Files that earlier runs wrote into a directory, and files of this run.
//!
//! Which files may be written and which may go is decided here, for [`super::Directory`] and
//! [`super::Check`] alike; nothing here writes.

use super::Error;
use super::disk::{Found, Root};
use super::kustomization::{self, Layout};
use super::manifest::{self, Files};
use super::path::{KUSTOMIZATION, is_object, path_of};
use crate::yaml::Node;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Which files of earlier runs may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All that are not written again.
    Everything,
    /// Those of these services alone, as `(namespace, name)`: the others were not requested.
    Services(BTreeSet<(String, String)>),
}

/// How a directory is written or compared.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which files of earlier runs may go.
    pub prune: Prune,
    /// Files that were edited by hand are overwritten and removed, too.
    pub force: bool,
    /// Lists of resources are written, at these places.
    pub kustomization: Option<Layout>,
}

/// The files of earlier runs and of this one.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) root: Root,
    options: Options,
    /// The files in the manifest.
    pub(super) before: Files,
    /// The manifest has its old name.
    pub(super) old_name: bool,
    /// The manifest is not as it would be written: git merged it.
    pub(super) is_merged: bool,
    /// The files of this run, with their checksums.
    pub(super) now: BTreeMap<String, String>,
}

impl Ledger {
    /// Reads the manifest; there need be none.
    pub(super) fn open(root: Root, mut options: Options) -> Result<Self, Error> {
        if let Prune::Services(services) = &mut options.prune {
            // As paths have them.
            let lower = |(namespace, service): &(String, String)| {
                (namespace.to_lowercase(), service.to_lowercase())
            };
            *services = services.iter().map(lower).collect();
        }
        let mut before = Files::new();
        let mut texts = Vec::new();
        let mut read = |name| match root.look(name)? {
            Found::Nothing => Ok(false),
            Found::File(file) if !file.is_link => {
                // A list that cannot be read ends the run: without it, no file could be told from a
                // user's.
                let text = String::from_utf8(file.content).map_err(|error| error.to_string());
                text.and_then(|text| {
                    manifest::parse(&text, &mut before)?;
                    texts.push(text);
                    Ok(())
                })
                .map_err(|reason| Error::Manifest { path: root.place(name), reason })?;
                Ok(true)
            }
            Found::File(_) | Found::Other(_) => Err(Error::InTheWay(root.place(name))),
        };
        // Both names: a run before may have been killed between the two.
        read(manifest::NAME)?;
        let old_name = read(manifest::OLD)?;
        let written = manifest::write(&before);
        // Another order, or a file twice: the list is written again even if no file changes.
        let is_merged = texts.iter().any(|text| !same_text(text.as_bytes(), written.as_bytes()));
        Ok(Self { root, options, before, old_name, is_merged, now: BTreeMap::new() })
    }

    /// Adds an object of this run by its path, which no other object has.
    ///
    /// # Errors
    /// A name that leads out of the directory; a third object of one path.
    pub(super) fn take(
        &mut self,
        object: &Node,
        text: &str,
        namespace: &str,
        service: &str,
    ) -> Result<String, Error> {
        let mut path = path_of(object, namespace, service, false)?;
        // Kinds of two groups may have one name; the first keeps the short path.
        if self.now.contains_key(&path) {
            path = path_of(object, namespace, service, true)?;
        }
        if self.now.contains_key(&path) {
            return Err(Error::Twice(self.root.place(&path)));
        }
        self.now.insert(path.clone(), sha256(text.as_bytes()));
        Ok(path)
    }

    /// Whether a file holds what an earlier run wrote.
    pub(super) fn wrote(&self, path: &str, content: &[u8]) -> Option<bool> {
        let sums = self.before.get(path)?;
        let has = |content: &[u8]| sums.contains(&sha256(content));
        // Git may have given the file other ends of lines, and the sum is of ours.
        Some(has(content) || without_returns(content).is_some_and(|content| has(&content)))
    }

    /// Whether files that were edited by hand are given up.
    pub(super) fn force(&self) -> bool {
        self.options.force
    }

    /// The kustomizations that belong to the files of this run and to those that stay, with their
    /// text. One that stays because nothing is removed is brought up to date.
    pub(super) fn kustomizations(&self, whole: bool) -> Vec<(String, String)> {
        let stay = self.rest(whole).0;
        let objects: BTreeSet<&str> = self
            .now
            .keys()
            .chain(stay.iter().copied())
            .map(String::as_str)
            .filter(|path| is_object(path))
            .collect();
        let stays = |path: &str| stay.iter().any(|stays| *stays == path);
        let nested = self.before.keys().any(|path| !is_object(path) && path != KUSTOMIZATION);
        let layout = self.options.kustomization;
        let usual = if nested { Layout::Namespace } else { Layout::Single };
        kustomization::all(&objects, layout.unwrap_or(usual))
            .into_iter()
            .filter(|(path, _)| layout.is_some() || stays(path))
            .collect()
    }

    /// Files of earlier runs that this one does not make: those that stay and those that go.
    /// Nothing goes unless the `whole` input was read.
    pub(super) fn rest(&self, whole: bool) -> (Vec<&String>, Vec<&String>) {
        let (go, mut stay): (Vec<_>, Vec<_>) = self.unwanted().partition(|_| whole);
        // Files of services that were not asked for stay, whatever was read.
        stay.extend(self.left().filter(|path| !self.is_requested(path)));
        (stay, go)
    }

    /// Files of earlier runs that this one would write and does not.
    pub(super) fn unwanted(&self) -> impl Iterator<Item = &String> {
        self.left().filter(|path| self.is_requested(path))
    }

    fn left(&self) -> impl Iterator<Item = &String> {
        self.before.keys().filter(|path| !self.now.contains_key(*path))
    }

    fn is_requested(&self, path: &str) -> bool {
        match &self.options.prune {
            Prune::Everything => true,
            Prune::Services(services) => {
                // Paths begin with namespace and service.
                let mut parts = path.split('/').map(ToOwned::to_owned);
                let service = parts.next().zip(parts.next());
                service.is_some_and(|service| services.contains(&service))
            }
        }
    }
}

/// Whether two texts are the same but for the ends of their lines: git writes them as the system of
/// a clone has them (gitattributes, `core.autocrlf`).
pub(super) fn same_text(one: &[u8], other: &[u8]) -> bool {
    let plain = |text: &[u8]| without_returns(text);
    one == other || plain(one).as_deref().unwrap_or(one) == plain(other).as_deref().unwrap_or(other)
}

/// A text with the line ends that this program writes; none if it has them already.
fn without_returns(text: &[u8]) -> Option<Vec<u8>> {
    let has = text.windows(2).any(|pair| pair == b"\r\n");
    has.then(|| {
        let kept = text.iter().enumerate();
        let kept = kept.filter(|(at, byte)| !(**byte == b'\r' && text.get(at + 1) == Some(&b'\n')));
        kept.map(|(_, byte)| *byte).collect()
    })
}

/// The sum of a content, in hexadecimal.
pub(super) fn sha256(content: &[u8]) -> String {
    format!("{:x}", Sha256::digest(content))
}

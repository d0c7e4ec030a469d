//! An input that was not read as a whole: what is missing, and how every answer says so.
//!
//! In: the findings about files and documents that became no object. Out: those that may hold an
//! object that a decision reads, for the first line of a page and for `incomplete` in JSON.

use super::Io;
use crate::diag::{Code, Diagnostic, Severity};
use crate::load::kinds;
use crate::source::Span;
use crate::workspace::World;
use serde::Serialize;

/// A part of the input that was not read.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gap {
    /// The file.
    pub(super) file: String,
    /// The line of the finding, where the text was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    /// The code of the finding.
    pub(super) code: &'static str,
}

/// An answer in JSON, with what it does not cover.
#[derive(Serialize)]
struct Partial<'a, T: Serialize> {
    #[serde(flatten)]
    answer: &'a T,
    incomplete: &'a [Gap],
}

/// What answers depend on.
#[derive(Clone, Copy)]
struct Scope {
    /// Pods of workloads: there are nodes.
    counts_pods: bool,
    /// Any object: it may be one that is compared with a rendered one.
    compares: bool,
}

/// The findings about documents that became no object and may hold one that answers depend on;
/// `compares` where the objects of the input are compared with rendered ones.
pub(super) fn gaps(world: &World, compares: bool) -> Vec<Diagnostic> {
    // Without Nodes nothing is placed, and other pods change no answer.
    let scope = Scope { counts_pods: !world.catalog.machines().is_empty(), compares };
    let unread = world.unread.iter();
    let found = unread.filter(|finding| finding.severity == Severity::Error);
    found
        .filter(|finding| match finding.code {
            // It is about an object that was read all the same.
            Code::DuplicateKey
                if finding.span().is_some_and(|span| world.catalog.owner(span).is_some()) =>
            {
                false
            }
            // Of error level only where it was named and nothing else was read.
            Code::NotKubernetes => true,
            code if hides_text(code) => {
                finding.span().is_none_or(|span| may_matter(span, world, scope))
            }
            // A document of a kind that is known, without what makes it an object. Settings and
            // accounts are asked for by their names.
            Code::UnknownKind | Code::MissingName | Code::RequiredField => {
                finding.span().is_none_or(|span| {
                    let mut kinds = kinds_at(span, world).peekable();
                    let is_nobodys = finding.code == Code::MissingName
                        && kinds.peek().is_some()
                        && kinds.all(kinds::is_named_by_others);
                    !is_nobodys && may_matter(span, world, scope)
                })
            }
            _ => false,
        })
        .cloned()
        .collect()
}

/// Whether a finding with this code means that a text, or a document of it, was not read.
pub(super) fn hides_text(code: Code) -> bool {
    matches!(
        code,
        // Of a key that is set twice kubectl and servers take neither.
        Code::YamlSyntax
            | Code::DuplicateKey
            | Code::NotUtf8
            | Code::UndefinedAlias
            | Code::AliasCycle
            | Code::ExpansionLimit
            | Code::FileSizeLimit
            | Code::DepthLimit
            | Code::NodeLimit
            | Code::FileNotRead
            | Code::NotKubernetes
            | Code::OtherKind
            | Code::KustomizeFailed
    )
}

/// Whether the document at a place names a kind that answers depend on, or no kind at all. Copies are
/// nobody's cluster.
fn may_matter(span: Span, world: &World, scope: Scope) -> bool {
    if world.copies(span).is_some() {
        return false;
    }
    let document = document_at(span, world);
    // A kind of another group is that kind, however near it is to one of ours.
    let mut groups = groups(document).peekable();
    let may_be_ours = groups.peek().is_none() || groups.any(kinds::is_nearly_of_operator);
    let mut named = kinds::named(document).peekable();
    let touches = |kind| match kind {
        "ConfigMap" => names_settings(document, world),
        kind => {
            scope.compares
                || kinds::touches_answers(kind, scope.counts_pods)
                || (may_be_ours && kinds::is_nearly_ours(kind))
        }
    };
    // Text that names no kind may hold anything.
    named.peek().is_none() || named.any(touches)
}

/// The groups that a text names, which may be no YAML.
fn groups(document: &str) -> impl Iterator<Item = &str> {
    // Broken text cannot be parsed, so what follows the word is taken.
    document.split("apiVersion").skip(1).map(|rest| {
        let value = rest.trim_start_matches(['"', '\'', ':', ' ']);
        let value = value.split(['"', '\'', ' ', '\n', '\r', ',', '}']).next().unwrap_or_default();
        value.split_once('/').map_or("", |(group, _)| group)
    })
}

/// The kinds that the document at a place names.
fn kinds_at(span: Span, world: &World) -> impl Iterator<Item = &str> {
    kinds::named(document_at(span, world))
}

/// The document at a place.
fn document_at(span: Span, world: &World) -> &str {
    let text = &*world.sources.get(span.source).text;
    // The span of broken text may begin within a character.
    let at = (span.start as usize).min(text.len());
    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    // Broken text has no documents, so their separators are searched.
    let start = text[..at].rfind("\n---").map_or(0, |at| at + 1);
    let end = text[at..].find("\n---").map_or(text.len(), |end| at + end);
    &text[start..end]
}

/// Whether a text that names a ConfigMap may be one that a controller reads: by its name, or it
/// shows none.
fn names_settings(document: &str, world: &World) -> bool {
    let name = |line: &str| {
        let line = line.trim_start_matches([' ', '{', '-']).strip_prefix("name:")?;
        Some(line.trim_matches([' ', '"', '\'', '}', ',']).to_owned())
    };
    // In flow style the name is in the middle of a line.
    let flow =
        document.split_once("name:").map(|(_, rest)| rest.trim_start_matches([' ', '"', '\'']));
    let flow = flow.and_then(|rest| rest.split([' ', '"', '\'', '}', ',', '\n']).next());
    let mut names = document.lines().filter_map(name).chain(flow.map(str::to_owned)).peekable();
    let bundle = &world.catalog.config().kserve.ca_bundle;
    // One without a name may be any of them.
    names.peek().is_none()
        || names.any(|name| name == **bundle || kinds::is_read_by_operators(&name))
}

/// Prints an answer as JSON, with the gaps of the inputs.
pub(super) fn print_json(
    answer: &impl Serialize,
    gaps: &[Gap],
    io: &mut Io<'_>,
) -> std::io::Result<()> {
    if gaps.is_empty() {
        io.print_json(answer)
    } else {
        io.print_json(&Partial { answer, incomplete: gaps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::world_of;

    /// The codes of the gaps of a text, without and with a comparison of objects.
    fn codes(text: &str) -> [Vec<&'static str>; 2] {
        let world = world_of(text);
        [false, true].map(|compares| {
            gaps(&world, compares).iter().map(|finding| finding.code.as_str()).collect()
        })
    }

    const NODE: &str =
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1}}\n---\n";

    #[test]
    fn text_that_may_hold_what_decides_is_a_gap() {
        let broken =
            |kind: &str| format!("apiVersion: GROUP/v1\nkind: {kind}\nmetadata: {{name: x\n");
        let broken = |kind: &str| {
            let group = if kind.starts_with("Inference") { "serving.kserve.io" } else { "x.io" };
            broken(kind).replace("GROUP", group)
        };
        for kind in ["Node", "InferenceService", "InferenceServise", "LocalQueue", "Secret"] {
            let found = codes(&broken(kind));
            assert_eq!(found, [vec!["yaml-syntax"], vec!["yaml-syntax"]], "{kind}");
        }
        // A comparison needs what is written, too.
        for kind in ["Service", "Route", "NetworkPolicy", "ModelRoutes"] {
            assert_eq!(codes(&broken(kind)), [vec![], vec!["yaml-syntax"]], "{kind}");
        }
        // Pods of workloads matter beside nodes.
        assert_eq!(codes(&broken("Deployment"))[0], Vec::<&str>::new());
        assert_eq!(codes(&format!("{NODE}{}", broken("Deployment")))[0], ["yaml-syntax"]);
        // So does a kind of ours that is misspelled, in a group that is, too.
        for group in ["v1", "serving.kserve.i/v1", "ome.io/v1beta1"] {
            let text =
                format!("apiVersion: {group}\nkind: InferenceServise\nmetadata: {{name: x\n");
            assert_eq!(codes(&text)[0], ["yaml-syntax"], "{group}");
        }
        // A text that names no kind may be anything.
        assert_eq!(codes("apiVersion: v1\nmetadata: {name: x\n")[0], ["yaml-syntax"]);
    }

    #[test]
    fn settings_matter_by_their_names() {
        let map = |name: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata: {{a: [\n")
        };
        assert_eq!(codes(&map("inferenceservice-config"))[0], ["yaml-syntax"]);
        assert_eq!(codes(&map("config-domain"))[0], ["yaml-syntax"]);
        assert_eq!(codes(&map("my-app"))[0], Vec::<&str>::new());
    }

    #[test]
    fn a_missing_name_matters_where_nobody_asks_by_name() {
        let unnamed = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{}}\n");
        assert_eq!(codes(&unnamed("Node"))[0], ["missing-name"]);
        for kind in ["ConfigMap", "Secret", "ServiceAccount", "Service"] {
            assert_eq!(codes(&unnamed(kind))[0], Vec::<&str>::new(), "{kind}");
        }
        let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: serving.kserve.io/v1beta1\n  kind: InferenceService\n  metadata: {}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n";
        assert_eq!(codes(list)[0], ["missing-name"]);
    }

    #[test]
    fn a_key_twice_in_an_object_that_was_read_is_no_gap() {
        let node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels: {a: b}\n  labels: {a: c}\n";
        let world = world_of(node);
        assert_eq!(world.catalog.nodes().count(), 1);
        assert!(gaps(&world, false).is_empty());
        assert!(world.diagnostics.iter().any(|finding| finding.code == Code::DuplicateKey));
    }
}

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// The kind is in a group that has no such kind, so that it may stand for another.
    is_misspelled: bool,
    /// No service and no pod: an answer is about the text itself.
    text: Text,
}

/// Which texts an answer is about that is not about services or pods.
#[derive(Clone, Copy)]
enum Text {
    /// None: there are services, or pods are placed.
    None,
    /// Those that the command line names, as opposed to those that are found in its directories.
    Named,
    /// All: no text has an object.
    All,
}

/// The findings about documents that became no object and may hold one that answers depend on;
/// `compares` where the objects of the input are compared with rendered ones.
pub(super) fn gaps(world: &World, compares: bool) -> Vec<Diagnostic> {
    // Without Nodes nothing is placed, and other pods change no answer.
    let counts_pods = !world.catalog.machines().is_empty();
    let scope = Scope { counts_pods, compares, is_misspelled: false, text: Text::of(world) };
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
            // An object of another kind is counted among the kinds of the input.
            code if code != Code::OtherKind
                && finding.span().is_some_and(|span| scope.text.holds(span, world)) =>
            {
                hides_text(code) || leaves_object_out(code)
            }
            code if hides_text(code) => {
                finding.span().is_none_or(|span| may_matter(span, world, scope))
            }
            // A document of a kind that is known, without what makes it an object. Settings and
            // accounts are asked for by their names.
            code if leaves_object_out(code) => {
                let scope = Scope { is_misspelled: code == Code::UnknownKind, ..scope };
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
fn hides_text(code: Code) -> bool {
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

/// Whether a finding with this code means that a document became no object.
fn leaves_object_out(code: Code) -> bool {
    matches!(code, Code::UnknownKind | Code::MissingName | Code::RequiredField)
}

impl Text {
    fn of(world: &World) -> Self {
        let catalog = &world.catalog;
        let is_answered = catalog.services().len() + catalog.model_servings().len() > 0
            || !catalog.machines().is_empty();
        if is_answered {
            Self::None
        } else if world.input.is_empty() {
            Self::All
        } else {
            Self::Named
        }
    }

    /// Whether the text at a place is one of them.
    fn holds(self, span: Span, world: &World) -> bool {
        match self {
            Self::None => false,
            Self::Named => world.sources.get(span.source).root.is_none(),
            Self::All => true,
        }
    }
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
                || (scope.is_misspelled && kinds::is_nearly_decisive(kind, scope.counts_pods))
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
    use crate::testing::ome_on;

    /// A service: answers are about it.
    const SERVICE: &str = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s}\nspec: {predictor: {model: {modelFormat: {name: onnx}}}}\n---\n";

    /// The codes of the gaps of a text beside a service, without and with a comparison of objects.
    fn codes(text: &str) -> [Vec<&'static str>; 2] {
        codes_of(&format!("{SERVICE}{text}"))
    }

    /// The codes of the gaps of a text.
    fn codes_of(text: &str) -> [Vec<&'static str>; 2] {
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
    fn a_kind_that_may_be_a_misspelled_decisive_one_is_a_gap() {
        let of = |group: &str, kind: &str| {
            format!("apiVersion: {group}\nkind: {kind}\nmetadata: {{name: x}}\n---\n")
        };
        for (group, kind) in [("v1", "Nodes"), ("kueue.x-k8s.io/v1beta1", "ClusterQueu")] {
            assert_eq!(codes(&of(group, kind))[0], ["unknown-kind"], "{kind}");
        }
        // Pods are placed where there are nodes.
        assert_eq!(codes(&of("v1", "Pods"))[0], Vec::<&str>::new());
        assert_eq!(codes(&format!("{NODE}{}", of("v1", "Pods")))[0], ["unknown-kind"]);
    }

    const BROKEN: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x\n";
    const OTHER: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";

    #[test]
    fn without_services_a_named_text_is_the_question() {
        assert_eq!(codes_of(BROKEN)[0], ["yaml-syntax"]);
        assert_eq!(codes_of(&format!("{OTHER}---\n{BROKEN}"))[0], ["yaml-syntax"]);
        let unnamed = "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n";
        assert_eq!(codes_of(unnamed)[0], ["missing-name"]);
        // What is read as an object of another kind is none.
        assert!(
            codes_of("apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: x}\n")[0].is_empty()
        );
        // Beside a service it is no part of the answer.
        assert!(codes(&format!("{OTHER}---\n{BROKEN}"))[0].is_empty());
    }

    /// Exit code and whether the finding is printed, of each way to read broken text.
    #[test]
    fn text_that_was_not_read_is_never_passed_over_in_silence() {
        for command in ["plan", "render", "explain", "drift", "rollout --all", "drain n1"] {
            for input in ["{d.yaml}", "{.}"] {
                let ran = ome_on(&format!("{command} -f {input}"), &[("d.yaml", BROKEN)]);
                assert_eq!(ran.code, 1, "{command} {input}: {}{}", ran.out, ran.err);
                assert!(ran.err.contains("yaml-syntax"), "{command} {input}: {}", ran.err);
            }
        }
        for sides in ["--base {a.yaml} -f {d.yaml}", "--base {d.yaml} -f {a.yaml}"] {
            let files = [("a.yaml", OTHER), ("d.yaml", BROKEN)];
            let ran = ome_on(&format!("diff {sides}"), &files);
            assert_eq!((ran.code, ran.err.contains("yaml-syntax")), (1, true), "{sides}");
        }
    }

    /// In a directory with other objects it is named, and is no error.
    #[test]
    fn text_of_a_directory_without_services_is_named() {
        let files = [("a.yaml", OTHER), ("d.yaml", BROKEN)];
        for command in ["plan", "explain", "render", "endpoints"] {
            let ran = ome_on(&format!("{command} -f {{.}}"), &files);
            let all = ran.out + &ran.err;
            assert_eq!(ran.code, 0, "{command}: {all}");
            assert!(all.contains("the input has 1 Service"), "{command}: {all}");
            assert!(all.contains("not read: ") && all.contains("d.yaml:"), "{command}: {all}");
        }
        // A key that is set twice leaves an object that is read.
        let twice = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nmetadata: {name: b}\n";
        let ran = ome_on("render -f {.}", &[("a.yaml", twice)]);
        assert!(!ran.err.contains("not read"), "{}", ran.err);
        let ran = ome_on("render -f {.}", &[("values.yaml", "replicas: 3\n")]);
        assert_eq!(ran.err, "no services: the input has no object\n");
        let ran = ome_on("plan -f {d.yaml} -f {a.yaml}", &files);
        assert_eq!(ran.code, 1, "{}", ran.err);
    }

    #[test]
    fn a_named_file_without_objects_is_an_error() {
        for command in ["plan", "render", "explain", "drift"] {
            let ran = ome_on(&format!("{command} -f {{d.yaml}}"), &[("d.yaml", "# nothing\n")]);
            assert_eq!(ran.code, 1, "{command}");
            assert!(ran.err.contains("holds no object"), "{command}: {}", ran.err);
            #[cfg(unix)]
            assert_eq!(ome_on(&format!("{command} -f /dev/null"), &[]).code, 1, "{command}");
        }
    }

    #[test]
    fn what_both_sides_lack_is_one_line() {
        let node = BROKEN.replace("apps/v1", "v1").replace("Deployment", "Node");
        let files = [("a.yaml", node.as_str())];
        let ran = ome_on("diff --base {a.yaml} -f {a.yaml}", &files);
        assert_eq!(ran.out.matches("incomplete: ").count(), 1, "{}", ran.out);
        let json = ome_on("diff --base {a.yaml} -f {a.yaml} -o json", &files);
        assert_eq!(json.at("/incomplete").as_array().map(Vec::len), Some(1));
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

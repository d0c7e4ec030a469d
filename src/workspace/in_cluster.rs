//! The releases of the operators in a live cluster.
//!
//! In: the documents of a dump, and the known releases. Out: per operator the release in its
//! controller's image tag, else the release of the CRDs in the dump; and the nearest known release.
//! Files that install the controller give its release too, if they do so in one version: a tree
//! for several clusters says of none which one it runs.
//!
//! Labels of charts and annotations of CRDs are not used: `app.kubernetes.io/version` is the same
//! in several releases of OME and of Kthena, and so is `controller-gen.kubebuilder.io/version` in
//! all releases of each operator.

use crate::api::{Api, Knowledge, Release};
use crate::diag::{Code, Diagnostic};
use crate::load::Document;
use crate::operators;
use crate::policy::Unknown;
use crate::source::Span;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use semver::Version;

/// The release of an operator in a cluster, and the known release that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterRelease {
    /// The operator.
    pub api: Api,
    /// The evidence: the tag of the image, or a field of the CRDs.
    pub seen: EcoString,
    /// Where it was seen.
    pub place: EcoString,
    /// The known release that is used.
    pub followed: &'static str,
    /// How its rules are known.
    pub knowledge: Knowledge,
    /// Whether the release that was seen is newer than every known one.
    pub newer: bool,
    /// The object in which it was seen.
    span: Option<Span>,
}

impl ClusterRelease {
    /// Whether the release that was seen is followed itself.
    pub fn is_known(&self) -> bool {
        self.seen == self.followed
    }
}

/// Returns the release of an operator in the documents of a dump. `known` are its releases, oldest
/// first.
pub(super) fn release(
    documents: &[Document],
    api: Api,
    releases: &[Release],
    evidence: Evidence,
) -> Option<ClusterRelease> {
    let (document, tag) = evidence.choose(images(documents, |image| tag_of(image, api)))?;
    let of = |key: &str| document.node.at(&["metadata", key]).and_then(Node::as_str);
    let place = eco_format!(
        "image of Deployment/{}/{}",
        of("namespace").unwrap_or("default"),
        of("name").unwrap_or_default()
    );
    // `latest` in files is whatever is pulled when they are applied.
    if evidence == Evidence::Files && version(tag).is_none() {
        return None;
    }
    let followed = nearest(tag, api, releases)?;
    Some(ClusterRelease {
        api,
        seen: tag.into(),
        place,
        followed: followed.tag,
        knowledge: followed.knowledge,
        newer: is_newer(tag, releases),
        span: Some(document.span),
    })
}

/// What the documents are evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// A dump: what runs.
    Cluster,
    /// Files: what they install, where all of them install one version.
    Files,
}

impl Evidence {
    fn choose<'a>(
        self,
        mut images: impl Iterator<Item = (&'a Document, &'a str)>,
    ) -> Option<(&'a Document, &'a str)> {
        let first = images.next()?;
        // A cluster has one controller that runs; files with two versions are of several clusters.
        (self == Self::Cluster || images.all(|(_, tag)| tag == first.1)).then_some(first)
    }
}

/// The Deployments with an image of a controller, and its tag.
fn images<'a>(
    documents: &'a [Document],
    tag_of: impl Fn(&'a str) -> Option<&'a str>,
) -> impl Iterator<Item = (&'a Document, &'a str)> {
    let deployments = documents.iter().filter(|document| document.kind == "Deployment");
    deployments.filter_map(move |document| {
        let containers = document.node.at(&["spec", "template", "spec", "containers"])?.items();
        let tag =
            containers.iter().find_map(|container| tag_of(container.get("image")?.as_str()?))?;
        Some((document, tag))
    })
}

/// The tag of a controller's image, without a digest.
fn tag_of(image: &str, api: Api) -> Option<&str> {
    let (name, tag) = name_and_tag(image)?;
    operators::operator(api).is_some_and(|operator| operator.image() == name).then_some(tag)
}

/// The last part of an image's repository and its tag, without a digest.
fn name_and_tag(image: &str) -> Option<(&str, &str)> {
    let (image, _) = image.split_once('@').unwrap_or((image, ""));
    // The digest is cut first: `name@sha256:…` would be split at its colon.
    let (repository, tag) = image.rsplit_once(':')?;
    Some((repository.rsplit('/').next()?, tag))
}

/// The known release of the LeaderWorkerSet controller in a dump, by its image: the same, else the
/// newest one before it, with the finding about a newer one.
pub(super) fn leader_worker_set(
    documents: &[Document],
    evidence: Evidence,
) -> Option<(&'static str, Option<Diagnostic>)> {
    let (_, releases) = operators::platform::released()
        .into_iter()
        .find(|(name, _)| *name == operators::platform::LEADER_WORKER_SET)?;
    let (document, tag) = evidence.choose(images(documents, |image| {
        let (name, tag) = name_and_tag(image)?;
        (name == operators::platform::LEADER_WORKER_SET).then_some(tag)
    }))?;
    let seen = version(tag)?;
    let earlier = |release: &&Release| version(release.tag).is_some_and(|version| version <= seen);
    let followed = *releases.iter().rev().find(earlier).or_else(|| releases.first())?;
    let newer = is_newer(tag, &releases).then(|| {
        newer_than("LeaderWorkerSet", tag, followed.tag, followed.knowledge, Some(document.span))
    });
    Some((followed.tag, newer))
}

/// The finding about a cluster that runs a newer release than any known one.
pub(super) fn newer(release: &ClusterRelease) -> Option<Diagnostic> {
    let ClusterRelease { api, seen, followed, knowledge: existing, span, .. } = release;
    release.newer.then(|| newer_than(api.title(), seen, followed, *existing, *span))
}

fn newer_than(
    operator: &str,
    seen: &str,
    followed: &str,
    existing: Knowledge,
    span: Option<Span>,
) -> Diagnostic {
    Diagnostic::new(
        Code::ReleaseNewer,
        format!(
            "the cluster runs {operator} {seen}, newer than any release known here: the rules of {operator} {followed} ({}) are used",
            existing.as_str()
        ),
    )
    .at(span)
    .help("`ome catalog releases` lists the known releases; a newer `ome` may know this one")
}

fn version(tag: &str) -> Option<Version> {
    Version::parse(tag.strip_prefix('v').unwrap_or(tag)).ok()
}

/// Whether a version is newer than every known one.
fn is_newer(tag: &str, releases: &[Release]) -> bool {
    version(tag).is_some_and(|seen| {
        releases.iter().filter_map(|release| version(release.tag)).all(|version| version < seen)
    })
}

/// Returns the nearest known release of a tag: the same, else the newest one before it, else the
/// oldest; for a tag that is not a version, the default.
fn nearest(tag: &str, api: Api, releases: &[Release]) -> Option<Release> {
    // As versions first: `v1.2.0` and `1.2.0` are one release.
    if let Some(same) = releases.iter().find(|release| {
        version(release.tag).is_some_and(|semver| version(tag) == Some(semver))
            || release.tag == tag
    }) {
        return Some(*same);
    }
    // A build of a branch has no order, so the default is as near as any.
    let Some(seen) = version(tag) else {
        let default = operators::default_tag(api.as_str());
        let is_default = |release: &&Release| Some(release.tag) == default;
        return releases.iter().find(is_default).or_else(|| releases.last()).copied();
    };
    let earlier = |release: &&Release| version(release.tag).is_some_and(|version| version <= seen);
    releases.iter().rev().find(earlier).or_else(|| releases.first()).copied()
}

/// Returns the release of the CRDs in a dump: the oldest release that has all their fields. CRDs
/// without fields give no release.
pub(super) fn by_definitions(
    documents: &[Document],
    api: Api,
    group: &str,
    existing: &[(Release, &'static [Unknown])],
) -> Option<ClusterRelease> {
    let definitions: Vec<(&str, &Node)> = documents
        .iter()
        .filter(|document| document.kind == "CustomResourceDefinition")
        .filter(|document| {
            document.node.at(&["spec", "group"]).and_then(Node::as_str) == Some(group)
        })
        .filter_map(|document| {
            let kind = document.node.at(&["spec", "names", "kind"])?.as_str()?;
            let versions = document.node.at(&["spec", "versions"])?;
            let has_spec = |version: &Node| {
                version
                    .at(&["schema", "openAPIV3Schema", "properties", "spec", "properties"])
                    .is_some()
            };
            versions.items().iter().any(has_spec).then_some((kind, versions))
        })
        .collect();
    // Stripped CRDs fit every release, so they would all be the oldest.
    if definitions.is_empty() {
        return None;
    }
    let has = |unknown: &Unknown| {
        definitions.iter().filter(|(kind, _)| unknown.kinds.contains(kind)).any(|(_, versions)| {
            let mut schemas = versions
                .items()
                .iter()
                .filter_map(|version| version.at(&["schema", "openAPIV3Schema"]));
            schemas.any(|schema| holds(schema, unknown.path))
        })
    };
    // Oldest first: fields only tell that a release is not older than they are.
    let fits = existing.iter().find(|(_, unknown)| !unknown.iter().any(has));
    let (release, _) = fits?;
    let place = eco_format!("fields of the CRDs of {group}");
    Some(ClusterRelease {
        api,
        seen: release.tag.into(),
        place,
        followed: release.tag,
        knowledge: release.knowledge,
        // Newer fields are not looked for, so nothing can be claimed about them.
        newer: false,
        span: None,
    })
}

/// Whether a schema has a field; `*` matches every key, `[]` after a key its elements.
fn holds(schema: &Node, path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    // A schema that leaves its fields open has none of them for certain.
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(fields) = schema.get("properties") else { return false };
    if step == "*" {
        return fields.entries().any(|field| holds(&field.node, rest));
    }
    let (name, listed) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
    let Some(field) = fields.get(name) else { return false };
    let field = if listed { field.get("items") } else { Some(field) };
    field.is_some_and(|field| holds(field, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_tag_maps_to_the_newest_release_not_after_it() {
        let releases = crate::operators::releases(Api::Ome);
        for (seen, followed) in [
            ("v0.1.4", "v0.1.4"),
            ("0.1.4", "v0.1.4"),
            ("v0.1.2", "v0.1.3"),
            ("v0.1.6", "v0.1.5"),
            ("v1.2.1", "v1.2.0"),
            ("v1.9.0", "v1.2.2"),
            ("v0.1.5-rc1", "v0.1.4"),
            ("latest", "17b77eda"),
        ] {
            let found = nearest(seen, Api::Ome, &releases).map(|release| release.tag);
            assert_eq!(found, Some(followed), "{seen}");
        }
        assert!(is_newer("v1.9.0", &releases) && !is_newer("v1.2.2", &releases));
        assert!(!is_newer("v0.1.6", &releases) && !is_newer("latest", &releases));
    }

    #[test]
    fn images_of_controllers_are_known_by_their_name() {
        for (image, tag) in [
            ("ghcr.io/moirai-internal/ome-manager:v0.1.4", Some("v0.1.4")),
            ("registry:5000/x/ome-manager:v0.1.5@sha256:ab", Some("v0.1.5")),
            ("registry:5000/x/ome-manager", None),
            ("ghcr.io/x/ome-agent:v0.1.4", None),
        ] {
            assert_eq!(tag_of(image, Api::Ome), tag, "{image}");
        }
    }
}

//! The releases of a run: `--release`, the settings, and equivalent older flags.

use super::Failure;
use super::args::{InputArgs, SemanticsArg};
use crate::api::{Api, Semantics};
use crate::builtin;
use crate::load::settings::Settings;
use crate::load::{Builtin, Document};
use crate::operators::kthena::releases as kthena;
use crate::operators::{self, platform, released, servings};
use crate::policy::{Platform, Policy, Readings};

/// The modes and releases to follow.
#[derive(Clone, Debug)]
pub(super) struct Followed {
    /// By which rules each operator is read.
    pub(super) readings: Readings,
    /// The releases beneath the operators.
    pub(super) platform: Platform,
    /// Whether a flag or setting names the release of LeaderWorkerSets.
    pub(super) groups_named: bool,
    /// Whether flags or settings say that the documents are followed.
    pub(super) documented: bool,
    /// The releases that were requested, as `--release` takes them.
    pub(super) named: Vec<String>,
}

/// The operators of releases as `--release` takes them.
pub(super) fn operators(named: &[String]) -> Vec<Api> {
    let is_named = |operator: &str| {
        named.iter().any(|name| name.split_once('=').is_some_and(|(name, _)| name == operator))
    };
    released().filter(|(operator, _)| is_named(operator)).map(|(_, api)| api).collect()
}

/// Combines flags and settings. Flags override settings, and a later flag of an operator an earlier
/// one. If `admitted`, objects do not pass admission again.
///
/// # Errors
/// Two flags that contradict each other.
pub(super) fn followed(
    args: &InputArgs,
    settings: &Settings,
    admitted: bool,
) -> Result<Followed, Failure> {
    let flag = |operator: &str| {
        let of = |name: &str| name.strip_prefix(operator)?.strip_prefix('=').map(str::to_owned);
        // The last of several flags counts.
        args.release.iter().rev().find_map(|name| of(name))
    };
    let requests =
        |operator: &str| flag(operator).or_else(|| settings.releases.get(operator).cloned());
    let run = match args.semantics {
        Some(SemanticsArg::Documented) => Some(Semantics::Documented),
        Some(SemanticsArg::Controller) => Some(Semantics::Controller),
        None => settings.semantics,
    };
    // A release is its operator's code, unless a mode is given where the release is or nearer.
    let mode = |operator: &str| match (args.semantics, flag(operator), run) {
        (None, Some(_), _) => Semantics::Controller,
        (_, _, Some(run)) => run,
        (_, _, None) if requests(operator).is_some() => Semantics::Controller,
        (_, _, None) => Semantics::default(),
    };
    let mut readings = operators::newest().with_modes(run.unwrap_or_default());
    for (operator, api) in released() {
        readings.set_mode(api, mode(operator));
        let release = requests(operator).and_then(|tag| operators::release(api, &tag));
        if let Some(release) = release {
            readings.set_release(release);
        }
    }
    let mut platform = platform::default();
    let beneath = |name: &str| requests(name).and_then(|tag| platform::tag(name, &tag));
    if let Some(tag) = beneath(platform::KUBERNETES) {
        platform.kubernetes = tag;
    }
    let groups = beneath(platform::LEADER_WORKER_SET);
    platform.leader_worker_set = groups.unwrap_or(platform.leader_worker_set);
    let names = operators::known_releases().into_iter().map(|(name, _)| name);
    let named = names.filter_map(|name| Some(format!("{name}={}", requests(name)?)));
    let named = named.collect();
    let of_servings = of_kthena(args, &readings, requests("kthena"), settings)?;
    if let Some(policy) = of_servings {
        readings.follow(policy);
    }
    if admitted && let Some(policy) = readings.policy(servings::API) {
        readings.follow(kthena::without_server(policy));
    }
    let groups_named = groups.is_some();
    let documented = run == Some(Semantics::Documented);
    Ok(Followed { readings, platform, groups_named, documented, named })
}

/// The policy of ModelServings that a flag, else the settings select; `None` for that of the mode.
fn of_kthena(
    args: &InputArgs,
    readings: &Readings,
    release: Option<String>,
    settings: &Settings,
) -> Result<Option<&'static Policy>, Failure> {
    let named = release.and_then(|tag| operators::release(servings::API, &tag));
    let flag = args.kthena_profile.and_then(|profile| kthena::profile(profile.name()));
    if let (Some(flag), Some(named)) = (flag, named)
        && flag.id != named.id
    {
        return Err(Failure::Usage(format!(
            "`--kthena-profile {}` and `--release kthena={}` select two releases",
            flag.release, named.release
        )));
    }
    match readings.mode(servings::API) {
        // The code that is followed is one commit, which another profile contradicts.
        Semantics::Controller
            if named.is_none() && flag.is_some_and(|flag| flag.id != kthena::CONTROLLER.id) =>
        {
            Err(Failure::Usage(
                "`--semantics controller` follows the Kthena of `--kthena-profile head`; name \
                 another release with `--release kthena=TAG`"
                    .into(),
            ))
        }
        Semantics::Controller => Ok(flag.or(named)),
        Semantics::Documented => {
            let setting = settings.kthena_profile.as_deref().and_then(kthena::profile);
            Ok(flag.or(named).or(setting).map(kthena::without_server))
        }
    }
}

/// The files of the built-in catalog: those of the documents; of KServe, in controller mode, those
/// that its release ships, and in documented mode those that its newest release adds.
pub(super) fn builtin_files(readings: &Readings) -> Vec<Builtin> {
    let stem = |name: &'static str| name.rsplit('/').next().unwrap_or(name);
    let Some(release) = readings.policy_by(Api::KServe, Semantics::Controller) else {
        return builtin(builtin::files().to_vec());
    };
    // A release that ships no runtimes has none built in.
    if !operators::ships_runtimes(release) {
        let others = builtin::files().iter().copied().filter(|(name, _)| !of_kserve(name));
        return builtin(others.collect());
    }
    let shipped = builtin::shipped("kserve", release.id.tag);
    let documented = readings.mode(Api::KServe) == Semantics::Documented;
    // Under controller semantics the shipped files replace those of the documents.
    let mut files: Vec<_> = builtin::files()
        .iter()
        .copied()
        .filter(|(name, _)| documented || shipped.is_empty() || !of_kserve(name))
        .collect();
    let is_known = |name: &'static str| {
        builtin::files().iter().any(|(file, _)| of_kserve(file) && stem(file) == stem(name))
    };
    // Where documents are followed, their version of a runtime wins.
    files.extend(shipped.into_iter().filter(|(name, _)| !documented || !is_known(name)));
    builtin(files)
}

/// Files of the built-in catalog, each with the documents that may need it: those of its operator, and
/// nodes, which classes of accelerators describe.
pub(super) fn builtin(files: Vec<(&'static str, &'static str)>) -> Vec<Builtin> {
    let is_wanted = |name: &str| -> fn(&Document) -> bool {
        if of_kserve(name) || name.starts_with("shipped/kserve=") {
            |document| is_of(Api::KServe, document)
        } else if name.starts_with("accelerator-classes/") {
            |document| document.kind == "Node" || is_of(Api::Ome, document)
        } else {
            |document| is_of(Api::Ome, document)
        }
    };
    files
        .into_iter()
        .map(|(name, text)| Builtin { name, text, is_wanted: is_wanted(name) })
        .collect()
}

/// Whether a file is one of the documents of KServe.
fn of_kserve(name: &str) -> bool {
    name.starts_with("runtimes/kserve/")
}

fn is_of(api: Api, document: &Document) -> bool {
    operators::operator(api).is_some_and(|operator| operator.group() == document.group())
}

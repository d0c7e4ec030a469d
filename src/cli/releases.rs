//! The releases of a run: `--release`, the settings, and equivalent older flags.

use super::Failure;
use super::args::{InputArgs, KthenaProfileArg, SemanticsArg};
use crate::api::{Api, Semantics};
use crate::builtin;
use crate::load::settings::Settings;
use crate::operators::kthena::releases::{self as kthena, KTHENA_CONTROLLER, KTHENA_HEAD};
use crate::operators::kthena::rules::{KthenaPolicy, KthenaProfile};
use crate::operators::{self, platform, released};
use crate::policy::{Platform, Readings};

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
    let profile = settings.kthena_profile.as_deref();
    let controller = match readings.mode(Api::Kthena) {
        Semantics::Documented => None,
        Semantics::Controller if admitted => Some(&KTHENA_HEAD),
        Semantics::Controller => Some(&KTHENA_CONTROLLER),
    };
    let servings = of_kthena(args, controller, requests("kthena"), profile)?;
    let readings = readings.with_servings(servings);
    let groups_named = groups.is_some();
    let documented = run == Some(Semantics::Documented);
    Ok(Followed { readings, platform, groups_named, documented, named })
}

/// The policy of ModelServings: the flag, else the settings, else the document. `controller` is the
/// newest release, where a release is followed.
fn of_kthena(
    args: &InputArgs,
    controller: Option<&'static KthenaPolicy>,
    release: Option<String>,
    setting: Option<&str>,
) -> Result<&'static KthenaPolicy, Failure> {
    let named = release.and_then(|tag| {
        kthena::RELEASES.iter().find(|release| release.id.tag == tag).map(|release| release.profile)
    });
    let flag = args.kthena_profile.map(|profile| match profile {
        KthenaProfileArg::V0_1 => KthenaProfile::V0_1,
        KthenaProfileArg::V1_0 => KthenaProfile::V1_0,
        KthenaProfileArg::Head => KthenaProfile::Head,
    });
    let profile = match (flag, named) {
        (Some(flag), Some(named)) if flag != named => {
            return Err(Failure::Usage(format!(
                "`--kthena-profile {flag}` and `--release kthena={named}` select two releases"
            )));
        }
        (flag, named) => flag.or(named),
    };
    match (controller, profile) {
        (Some(newest), None | Some(KthenaProfile::Head)) => Ok(newest),
        // The code that is followed is one commit, which another profile contradicts.
        (Some(_), Some(_)) if named.is_none() => Err(Failure::Usage(
            "`--semantics controller` follows the Kthena of `--kthena-profile head`; name another \
             release with `--release kthena=TAG`"
                .into(),
        )),
        (_, Some(profile)) => Ok(kthena::of(profile)),
        (None, None) => Ok(kthena::of(match setting {
            Some("v0.1") => KthenaProfile::V0_1,
            Some("v1.0") => KthenaProfile::V1_0,
            Some("head") => KthenaProfile::Head,
            _ => KthenaProfile::Documented,
        })),
    }
}

/// The files of the built-in catalog: those of the documents; of KServe, in controller mode, those
/// that its release ships, and in documented mode those that its newest release adds.
pub(super) fn builtin_files(readings: &Readings) -> Vec<(&'static str, &'static str)> {
    let of_kserve = |name: &str| name.starts_with("runtimes/kserve/");
    let stem = |name: &'static str| name.rsplit('/').next().unwrap_or(name);
    let Some(release) = readings.policy_by(Api::KServe, Semantics::Controller) else {
        return builtin::files().to_vec();
    };
    // A release that ships no runtimes has none built in.
    if !operators::ships_runtimes(release) {
        return builtin::files().iter().copied().filter(|(name, _)| !of_kserve(name)).collect();
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
    files
}

//! Which releases a run follows: `--release`, the settings, and the older flags that say the same.

use super::Failure;
use super::args::{InputArgs, KthenaProfileArg, SemanticsArg};
use crate::api::Semantics;
use crate::load::settings::Settings;
use crate::policy::{
    KTHENA_CONTROLLER, KthenaPolicy, KthenaProfile, OME_RELEASES, Policy, Releases,
};

/// What is followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    /// The mode: documents or controllers.
    pub(super) semantics: Semantics,
    /// By which releases controllers decide.
    pub(super) releases: Releases,
    /// What ModelServings follow.
    pub(super) kthena: &'static KthenaPolicy,
    /// The release of OME was asked for, or is another one than the newest.
    pub(super) named: bool,
}

/// Every release that can be named, as the flag takes it, by operator and oldest first.
pub(super) fn names() -> Vec<String> {
    let kthena = KthenaProfile::RELEASES.iter().map(|(tag, _)| format!("kthena={tag}"));
    names_of_ome().into_iter().chain(kthena).collect()
}

/// The releases of OME, as [`names`] has them.
pub(super) fn names_of_ome() -> Vec<String> {
    OME_RELEASES.iter().map(|policy| format!("ome={}", policy.ome.tag)).collect()
}

/// The release of OME with this tag.
fn ome(tag: &str) -> Option<&'static Policy> {
    OME_RELEASES.into_iter().find(|policy| policy.ome.tag == tag)
}

/// What flags and settings come to. Flags win over settings, the last of one operator over those
/// before it.
///
/// # Errors
/// Two flags that contradict each other.
pub(super) fn followed(args: &InputArgs, settings: &Settings) -> Result<Followed, Failure> {
    let asked = |operator: &str| {
        let of = |name: &str| name.strip_prefix(operator)?.strip_prefix('=').map(str::to_owned);
        let flag = args.release.iter().rev().find_map(|name| of(name));
        flag.or_else(|| settings.releases.get(operator).cloned())
    };
    let of_ome = asked("ome").and_then(|tag| ome(&tag));
    let semantics = match args.semantics {
        Some(SemanticsArg::Documented) => Semantics::Documented,
        Some(SemanticsArg::Controller) => Semantics::Controller,
        None => match (settings.semantics, of_ome) {
            (Some(semantics), _) if !args.release.iter().any(|name| name.starts_with("ome=")) => {
                semantics
            }
            (_, Some(_)) => Semantics::Controller,
            (semantics, None) => semantics.unwrap_or_default(),
        },
    };
    let releases = of_ome.map_or_else(Releases::default, |ome| Releases { ome });
    let kthena = kthena(args, semantics, asked("kthena"), settings.kthena_profile.as_deref())?;
    Ok(Followed { semantics, releases, kthena, named: of_ome.is_some() })
}

/// What ModelServings follow: the flag, else the settings, else the document; under controller
/// semantics the pinned code.
fn kthena(
    args: &InputArgs,
    semantics: Semantics,
    release: Option<String>,
    setting: Option<&str>,
) -> Result<&'static KthenaPolicy, Failure> {
    let named = release.and_then(|tag| {
        KthenaProfile::RELEASES.iter().find(|(name, _)| *name == tag).map(|(_, profile)| *profile)
    });
    let flag = args.kthena_profile.map(|profile| match profile {
        KthenaProfileArg::V0_1 => KthenaProfile::V0_1,
        KthenaProfileArg::V1_0 => KthenaProfile::V1_0,
        KthenaProfileArg::Head => KthenaProfile::Head,
    });
    let asked = match (flag, named) {
        (Some(flag), Some(named)) if flag != named => {
            return Err(Failure::Usage(format!(
                "`--kthena-profile {flag}` and `--release kthena={named}` ask for two releases"
            )));
        }
        (flag, named) => flag.or(named),
    };
    if semantics == Semantics::Controller {
        return match asked {
            None | Some(KthenaProfile::Head) => Ok(&KTHENA_CONTROLLER),
            Some(named) if flag.is_none() => Ok(named.policy()),
            Some(_) => Err(Failure::Usage(
                "`--semantics controller` follows the Kthena of `--kthena-profile head` and no other".into(),
            )),
        };
    }
    let profile = asked.unwrap_or(match setting {
        Some("v0.1") => KthenaProfile::V0_1,
        Some("v1.0") => KthenaProfile::V1_0,
        Some("head") => KthenaProfile::Head,
        _ => KthenaProfile::Seed,
    });
    Ok(profile.policy())
}

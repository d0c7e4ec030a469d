//! By which rules a run reads each operator.
//!
//! In: the documents and a release of each operator, and the mode that flags, settings and the
//! input select. Out: the policy that decides. A run can follow the release of one operator and the
//! documents of the others.

use super::Policy;
use crate::api::{Api, Semantics};
use std::fmt;

/// The documents and one release of every operator, and which of both is followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readings {
    /// The documents and the release of each operator, indexed by [`Semantics`].
    by_api: [Option<[&'static Policy; 2]>; Api::COUNT],
    /// The mode of each operator; the entry of `Cluster` is the default mode of the run.
    modes: [Semantics; Api::COUNT],
}

impl Readings {
    /// Sets the documents and the release of an operator, replacing earlier ones.
    pub fn add(&mut self, documented: &'static Policy, release: &'static Policy) {
        self.by_api[release.api as usize] = Some([documented, release]);
    }

    /// Replaces the release of an operator that was added before. Rules of the same release stay:
    /// they can have more, or fewer, of its server.
    pub fn set_release(&mut self, release: &'static Policy) {
        if let Some([_, controller]) = &mut self.by_api[release.api as usize]
            && controller.id != release.id
        {
            *controller = release;
        }
    }

    /// Replaces what the mode of an operator selects, the documents or the release.
    pub fn follow(&mut self, policy: &'static Policy) {
        let mode = self.mode(policy.api);
        if let Some(pair) = &mut self.by_api[policy.api as usize] {
            pair[mode as usize] = policy;
        }
    }

    /// Returns a copy with one mode for every operator.
    #[must_use]
    pub fn with_modes(mut self, mode: Semantics) -> Self {
        self.modes = [mode; Api::COUNT];
        self
    }

    /// Sets the mode of one operator.
    pub fn set_mode(&mut self, api: Api, mode: Semantics) {
        self.modes[api as usize] = mode;
    }

    /// Returns the mode of an operator.
    pub fn mode(&self, api: Api) -> Semantics {
        self.modes[api as usize]
    }

    /// Returns the mode set by `--semantics` or the settings, which applies to anything that
    /// belongs to no operator.
    pub fn run(&self) -> Semantics {
        self.mode(Api::Cluster)
    }

    /// Returns the policy that is followed of an API; `None` for an API without policies.
    pub fn policy(&self, api: Api) -> Option<&'static Policy> {
        self.policy_by(api, self.mode(api))
    }

    /// Returns the policy of an API in a mode; `None` for an API without policies.
    pub fn policy_by(&self, api: Api, mode: Semantics) -> Option<&'static Policy> {
        Some(self.by_api[api as usize]?[mode as usize])
    }

    /// Returns a copy with that mode for everything when all `operators` share one mode, else
    /// `self`: operators that a run does not meet have no say in what it is called.
    #[must_use]
    pub fn among(self, operators: impl IntoIterator<Item = Api>) -> Self {
        let mut modes = operators.into_iter().map(|api| self.mode(api));
        match modes.next() {
            Some(first) if modes.all(|mode| mode == first) => self.with_modes(first),
            _ => self,
        }
    }

    /// Reports whether nothing follows a release.
    pub fn is_documented(&self) -> bool {
        self.modes.iter().all(|mode| *mode == Semantics::Documented)
    }
}

impl fmt::Display for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The default of the run is left out: it is about objects of no operator.
        let operators = [Api::Ome, Api::KServe, Api::Kthena];
        let following = |mode: Semantics| {
            let followed = operators.into_iter().filter(|api| self.mode(*api) == mode);
            followed.map(Api::title).collect::<Vec<_>>().join(" and ")
        };
        let [documents, controllers] =
            [Semantics::Documented, Semantics::Controller].map(following);
        match (documents.is_empty(), controllers.is_empty()) {
            (false, false) => write!(f, "controller for {controllers}, documented for {documents}"),
            (_, true) => Semantics::Documented.fmt(f),
            (true, _) => Semantics::Controller.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators;

    #[test]
    fn a_mode_is_named_by_operator_where_they_differ() {
        let documented = Readings::default();
        let with = |mut readings: Readings, api| {
            readings.set_mode(api, Semantics::Controller);
            readings
        };
        let one = with(documented, Api::Ome);
        let two = with(one, Api::Kthena);
        assert_eq!(documented.to_string(), "documented");
        assert_eq!(one.to_string(), "controller for OME, documented for KServe and Kthena");
        assert_eq!(two.to_string(), "controller for OME and Kthena, documented for KServe");
        assert_eq!(with(two, Api::KServe).to_string(), "controller");
        assert_eq!(one.run(), Semantics::Documented);
        assert!(documented.is_documented() && !one.is_documented());
        let among = |operators: &[Api]| {
            let readings = one.among(operators.iter().copied());
            (readings.run(), readings.to_string())
        };
        assert_eq!(among(&[Api::Ome, Api::Ome]), (Semantics::Controller, "controller".into()));
        for operators in [&[Api::Ome, Api::KServe][..], &[]] {
            assert_eq!(among(operators), (Semantics::Documented, one.to_string()));
        }
    }

    #[test]
    fn documents_and_releases_decide_in_their_modes() {
        let newest = operators::newest();
        for api in operators::deciding() {
            let of = |mode| newest.policy_by(api, mode).expect("it decides");
            let [documents, release] = [Semantics::Documented, Semantics::Controller].map(of);
            assert_eq!((documents.api, release.api), (api, api));
            assert_eq!(documents.semantics, Semantics::Documented);
            assert_eq!(release.semantics, Semantics::Controller);
            for mode in [Semantics::Documented, Semantics::Controller] {
                let followed = newest.with_modes(mode).policy(api).expect("it decides");
                assert_eq!(followed.id, of(mode).id);
            }
            // The mode of one operator is not that of the run.
            let mut alone = newest.with_modes(Semantics::Documented);
            alone.set_mode(api, Semantics::Controller);
            assert_eq!(alone.policy(api).expect("it decides").id, release.id);
        }
        assert!(Readings::default().policy(Api::Ome).is_none());
    }

    #[test]
    fn a_followed_release_changes_its_operator_alone_and_no_documents() {
        let mut readings = operators::newest();
        let [ome, kserve] = [Api::Ome, Api::KServe];
        let before = readings;
        let oldest = operators::release(ome, "v0.1.4").expect("it is known");
        readings.set_release(oldest);
        let tag = |readings: &Readings, api, mode: Semantics| {
            readings.policy_by(api, mode).map(|policy| policy.id.tag)
        };
        assert_eq!(tag(&readings, ome, Semantics::Controller), Some("v0.1.4"));
        for (api, mode) in [(ome, Semantics::Documented), (kserve, Semantics::Controller)] {
            assert_eq!(tag(&readings, api, mode), tag(&before, api, mode));
        }
        // An operator that was never added has no documents to go beside a release.
        let mut none = Readings::default();
        none.set_release(oldest);
        assert!(none.policy_by(ome, Semantics::Controller).is_none());
    }
}

//! The search for devices of all claims of a pod on one node: the first fit in the order of pools,
//! slices and devices, with backtracking (k8s.io/dynamic-resource-allocation, structured).

use super::claims::{Allocation, Devices};
use super::objects::{Alternative, DeviceSpec, Reach, Selectors, is_open};
use super::pools::{Member, Pool};
use super::{ClaimId, DeviceId};
use crate::cluster::schedule::ids::NodeId;
use crate::schema::cel::device::SelectorProblem;
use ecow::{EcoString, eco_format};
use std::collections::HashMap;
use std::sync::Arc;

/// Steps of one search. The scheduler ends a search after ten seconds.
const MOST_STEPS: usize = 200_000;
/// Most devices of a claim (`AllocationResultsMaxSize`).
const MOST_RESULTS: usize = 32;

/// Why there are no devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// None on this node.
    Unfit(EcoString),
    /// The scheduler gives up the pod with this error.
    Error(EcoString),
}

/// A claim that needs devices.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) claim: ClaimId,
    /// `namespace/name`.
    pub(super) name: EcoString,
    pub(super) spec: Arc<DeviceSpec>,
}

/// Devices for each wanted claim, and how good they are: earlier alternatives count more.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) allocations: Vec<(ClaimId, Allocation)>,
    pub(super) score: i64,
}

/// A device that is chosen.
#[derive(Clone, Debug)]
struct Chosen {
    claim: usize,
    request: EcoString,
    device: DeviceId,
    slice: usize,
    admin: bool,
}

/// A place in the search: a device of an alternative of a request of a claim.
#[derive(Clone, Copy, Debug)]
struct At {
    claim: usize,
    request: usize,
    alternative: usize,
    device: usize,
}

struct Search<'a> {
    devices: &'a Devices,
    pools: Vec<Arc<Pool>>,
    wanted: &'a [Wanted],
    chosen: Vec<Chosen>,
    /// Per claim and constraint, the values of the devices that are chosen.
    values: Vec<Vec<Vec<EcoString>>>,
    /// The devices of alternatives that want all, by claim, request and alternative.
    all: HashMap<(usize, usize, usize), Vec<Member>>,
    steps: usize,
}

type Answer = Result<bool, Failure>;

impl Devices {
    /// Devices for some claims on a node.
    pub(super) fn search(&self, node: NodeId, wanted: &[Wanted]) -> Result<Found, Failure> {
        let pools = self.pools.of(node).to_vec();
        let values = wanted
            .iter()
            .map(|wanted_claim| vec![Vec::new(); wanted_claim.spec.constraints.len()])
            .collect();
        let mut search = Search {
            pools,
            wanted,
            chosen: Vec::new(),
            values,
            all: HashMap::new(),
            steps: 0,
            devices: self,
        };
        for (at, wanted_claim) in wanted.iter().enumerate() {
            search.check(at, wanted_claim)?;
        }
        if !search.request(0, 0)? {
            let why = if search.steps > MOST_STEPS {
                "timed out trying to allocate devices"
            } else if search.pools.iter().any(|pool| pool.invalid) {
                "invalid resource pools were encountered"
            } else {
                "cannot allocate all claims"
            };
            return Err(Failure::Unfit(why.into()));
        }
        let score = search.score();
        let allocations = (0..wanted.len()).map(|at| (wanted[at].claim, search.allocation(at)));
        Ok(Found { allocations: allocations.collect(), score })
    }
}

impl<'a> Search<'a> {
    /// What is known of a claim before the search: the devices of requests for all, and that no
    /// claim gets more devices than its status can hold (`validateDeviceRequest`).
    fn check(&mut self, claim: usize, wanted_claim: &'a Wanted) -> Result<(), Failure> {
        let mut least = 0;
        for (at, request) in wanted_claim.spec.requests.iter().enumerate() {
            let mut counts = Vec::new();
            for (place, of) in request.alternatives.iter().enumerate() {
                let count = if let Some(count) = of.count {
                    count
                } else {
                    let all = self.all_devices(claim, &request.alternatives, place)?;
                    let count = all.len();
                    self.all.insert((claim, at, place), all);
                    count
                };
                counts.push(count);
            }
            least += counts.into_iter().min().unwrap_or(0);
        }
        if least > MOST_RESULTS {
            return Err(Failure::Error(eco_format!(
                "claim {}: number of requested devices {least} exceeds the claim limit of \
                 {MOST_RESULTS}",
                wanted_claim.name
            )));
        }
        Ok(())
    }

    /// Every device that an alternative selects. The scheduler keeps the verdicts of the first
    /// alternative under the number of the second one too (`requestKey` is set after
    /// `validateDeviceRequest`): where both want all devices, they get the same ones.
    fn all_devices(
        &mut self,
        claim: usize,
        alternatives: &'a [Alternative],
        place: usize,
    ) -> Result<Vec<Member>, Failure> {
        let of = &alternatives[place];
        let shared = place == 1 && alternatives[0].count.is_none();
        let judges = if shared { &alternatives[0] } else { of };
        let class = self.devices.classes.get(&judges.class);
        let may_be_fewer = is_open(&judges.selectors) || class.is_some_and(is_open);
        let mut all = Vec::new();
        for pool in self.pools.clone() {
            let state = if pool.incomplete {
                "being updated"
            } else if pool.invalid {
                "invalid"
            } else {
                for member in &pool.members {
                    // Whether the rest is among them is not judged (`Devices::unjudged`).
                    let may_be = !may_be_fewer || self.is_free(claim, of, member);
                    if self.selects(claim, judges, member)? && may_be {
                        all.push(member.clone());
                    }
                }
                continue;
            };
            return Err(Failure::Error(eco_format!(
                "claim {}, request {}: asks for all devices, but resource pool {} is currently \
                 {state}",
                self.wanted[claim].name,
                of.own_name(),
                pool.name
            )));
        }
        Ok(all)
    }

    /// A request, with the first of its alternatives that leads to an end (`allocateOne`).
    fn request(&mut self, claim: usize, request: usize) -> Answer {
        let wanted = self.wanted;
        let Some(wanted_claim) = wanted.get(claim) else { return Ok(true) };
        let Some(device_request) = wanted_claim.spec.requests.get(request) else {
            return self.request(claim + 1, 0);
        };
        for alternative in 0..device_request.alternatives.len() {
            if self.device(At { claim, request, alternative, device: 0 }, 0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next device of an alternative, from a place in the list on.
    fn device(&mut self, at: At, from: usize) -> Answer {
        let At { claim, request, alternative, device } = at;
        let wanted = self.wanted;
        let of = &wanted[claim].spec.requests[request].alternatives[alternative];
        let all = of.count.is_none();
        let members = self.all.get(&(claim, request, alternative));
        let count = of.count.unwrap_or_else(|| members.map_or(0, Vec::len));
        if all && count == 0 {
            return Ok(false);
        }
        if device >= count {
            return self.request(claim, request + 1);
        }
        let held = self.chosen.iter().filter(|chosen| chosen.claim == claim).count();
        if held + count - device > MOST_RESULTS {
            return Ok(false);
        }
        if !all {
            return self.some(at, of, from);
        }
        let Some(member) = members.and_then(|members| members.get(device)).cloned() else {
            return Ok(false);
        };
        if !self.is_free(claim, of, &member) {
            return Ok(false);
        }
        if !self.choose(claim, of, &member) {
            let (driver, pool, name) = &self.devices.numbers.names[member.id];
            return Err(Failure::Error(eco_format!(
                "claim {}, request {}: cannot add device {driver}/{pool}/{name} because a claim \
                 constraint would not be satisfied",
                wanted[claim].name,
                of.own_name()
            )));
        }
        // The scheduler forgets here which alternative it tries, and goes on with the first one.
        if self.device(At { alternative: 0, device: device + 1, ..at }, 0)? {
            return Ok(true);
        }
        self.forget(claim, of);
        Ok(false)
    }

    /// One more device of a number of them.
    fn some(&mut self, at: At, of: &Alternative, from: usize) -> Answer {
        let claim = at.claim;
        let pools = self.pools.clone();
        let mut place = 0;
        for pool in pools.iter().filter(|pool| !pool.incomplete && !pool.invalid) {
            for member in &pool.members {
                place += 1;
                if place <= from {
                    continue;
                }
                self.steps += 1;
                if self.steps > MOST_STEPS {
                    return Ok(false);
                }
                if !self.is_free(claim, of, member)
                    || !self.selects(claim, of, member)?
                    || !self.choose(claim, of, member)
                {
                    continue;
                }
                if self.device(At { device: at.device + 1, ..at }, place)? {
                    return Ok(true);
                }
                self.forget(claim, of);
            }
        }
        Ok(false)
    }

    /// Whether a device can be had: an administrator shares it, but not within one claim.
    fn is_free(&self, claim: usize, of: &Alternative, member: &Member) -> bool {
        // How much of it is left is not judged (`Devices::unjudged`).
        if member.device.shared {
            return true;
        }
        let mut chosen = self.chosen.iter().filter(|chosen| chosen.device == member.id);
        if of.admin {
            return !chosen.any(|chosen| chosen.claim == claim);
        }
        chosen.next().is_none() && self.devices.used.get(&member.id).is_none_or(|count| *count == 0)
    }

    /// Whether the selectors of class and request select a device.
    fn selects(&mut self, claim: usize, of: &Alternative, member: &Member) -> Answer {
        let class = self.devices.classes.get(&of.class).cloned().unwrap_or_default();
        if !self.all_select(&class, member, || eco_format!("class {}", of.class))? {
            return Ok(false);
        }
        let name = self.wanted[claim].name.clone();
        self.all_select(&of.selectors, member, || eco_format!("claim {name}"))
    }

    fn all_select(
        &mut self,
        selectors: &Selectors,
        member: &Member,
        whose: impl Fn() -> EcoString,
    ) -> Answer {
        for (at, selector) in selectors.iter().enumerate() {
            let fails = |error: &EcoString, what: &str| {
                Failure::Error(eco_format!(
                    "{}: selector #{at}: CEL {what} error: {error}",
                    whose()
                ))
            };
            let selector = match selector {
                Ok(selector) => selector,
                Err(SelectorProblem::Invalid(error)) => return Err(fails(error, "compile")),
                // Not judged (`Devices::unjudged`); no node is refused for it.
                Err(SelectorProblem::Unsupported) => continue,
            };
            let key = (Arc::as_ptr(selector) as usize, Arc::as_ptr(&member.device) as usize);
            let mut verdicts = self.devices.verdicts.borrow_mut();
            let verdict =
                verdicts.entry(key).or_insert_with(|| selector.selects(&member.device.tree));
            match verdict {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => return Err(fails(error, "runtime")),
            }
        }
        Ok(true)
    }

    /// Takes a device if the constraints allow it.
    fn choose(&mut self, claim: usize, of: &Alternative, member: &Member) -> bool {
        let spec = &self.wanted[claim].spec;
        let mut values = Vec::new();
        for (at, constraint) in spec.constraints.iter().enumerate() {
            if !constraint.concerns(of) {
                continue;
            }
            let Some(value) = member.device.attributes.get(&constraint.attribute) else {
                return false;
            };
            if self.values[claim][at].first().is_some_and(|matched| matched != value) {
                return false;
            }
            values.push((at, value.clone()));
        }
        for (at, value) in values {
            self.values[claim][at].push(value);
        }
        self.chosen.push(Chosen {
            claim,
            request: of.name.clone(),
            device: member.id,
            slice: member.slice,
            admin: of.admin,
        });
        true
    }

    /// Gives the last device back.
    fn forget(&mut self, claim: usize, of: &Alternative) {
        let spec = Arc::clone(&self.wanted[claim].spec);
        for (at, constraint) in spec.constraints.iter().enumerate() {
            if constraint.concerns(of) {
                self.values[claim][at].pop();
            }
        }
        self.chosen.pop();
    }

    /// The devices of a claim.
    fn allocation(&self, claim: usize) -> Allocation {
        let of_claim = || self.chosen.iter().filter(|chosen| chosen.claim == claim);
        let reach = |chosen: &Chosen| self.devices.all[chosen.slice].nodes.clone();
        let mut nodes: Vec<Reach> = Vec::new();
        for one in of_claim().map(reach).filter(|reach| *reach != Reach::All) {
            if !nodes.contains(&one) {
                nodes.push(one);
            }
        }
        let device = |chosen: &Chosen| (chosen.request.clone(), chosen.device, chosen.admin);
        Allocation { devices: of_claim().map(device).collect(), nodes }
    }

    /// Eight less the place of each alternative that a device was taken for (`computeScore`).
    fn score(&self) -> i64 {
        let took = |claim: usize, of: &Alternative| {
            self.chosen.iter().any(|chosen| chosen.claim == claim && chosen.request == of.name)
        };
        let mut score = 0;
        for (claim, wanted_claim) in self.wanted.iter().enumerate() {
            for request in wanted_claim.spec.requests.iter().filter(|request| request.ranked) {
                let taken = request.alternatives.iter().enumerate();
                let taken = taken.filter(|(_, of)| took(claim, of));
                score += taken.map(|(at, _)| 8 - i64::try_from(at).unwrap_or(8)).sum::<i64>();
            }
        }
        score
    }
}

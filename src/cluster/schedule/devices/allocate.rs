//! The search for devices of all claims of a pod on one node: the first fit in the order of pools,
//! slices and devices, with backtracking (k8s.io/dynamic-resource-allocation, structured).

use super::claims::{Allocation, Devices};
use super::objects::{Alternative, DeviceSpec, Reach, Selectors};
use super::pools::{Member, Pool};
use super::{ClaimId, DeviceId};
use crate::cluster::schedule::ids::NodeId;
use crate::schema::cel::device::SelectorProblem;
use ecow::{EcoString, eco_format};
use std::collections::HashSet;
use std::sync::Arc;

/// Steps of one search. The scheduler ends a search after ten seconds.
const MOST_STEPS: usize = 200_000;

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

struct Search<'a> {
    devices: &'a Devices,
    pools: Vec<Arc<Pool>>,
    wanted: &'a [Wanted],
    chosen: Vec<Chosen>,
    taken: HashSet<DeviceId>,
    /// Per claim and constraint, the values of the devices that are chosen.
    values: Vec<Vec<Vec<EcoString>>>,
    alternatives: Vec<usize>,
    steps: usize,
    invalid: bool,
}

type Answer = Result<bool, Failure>;

impl Devices {
    /// Devices for some claims on a node.
    pub(super) fn search(&self, node: NodeId, wanted: &[Wanted]) -> Result<Found, Failure> {
        let pools = self.pools.of(node).to_vec();
        let values =
            wanted.iter().map(|own| vec![Vec::new(); own.spec.constraints.len()]).collect();
        let mut search = Search {
            invalid: false,
            pools,
            wanted,
            chosen: Vec::new(),
            taken: HashSet::new(),
            values,
            alternatives: Vec::new(),
            steps: 0,
            devices: self,
        };
        search.check()?;
        if !search.request(0, 0)? {
            let why = if search.steps > MOST_STEPS {
                "timed out trying to allocate devices"
            } else if search.invalid {
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

impl Search<'_> {
    /// Requests for all devices need to know all of them.
    fn check(&mut self) -> Result<(), Failure> {
        let wanted = self.wanted;
        for own in wanted {
            for request in &own.spec.requests {
                if !request.alternatives.iter().any(|one| one.count.is_none()) {
                    continue;
                }
                let pool = self.pools.iter().find(|pool| pool.incomplete || pool.invalid);
                if let Some(pool) = pool {
                    let state = if pool.invalid { "invalid" } else { "being updated" };
                    return Err(Failure::Error(eco_format!(
                        "claim {}, request {}: asks for all devices, but resource pool {} is \
                         currently {state}",
                        own.name,
                        request.name,
                        pool.name
                    )));
                }
            }
        }
        Ok(())
    }

    fn request(&mut self, claim: usize, request: usize) -> Answer {
        let wanted = self.wanted;
        let Some(own) = wanted.get(claim) else { return Ok(true) };
        let Some(asked) = own.spec.requests.get(request) else { return self.request(claim + 1, 0) };
        for (at, alternative) in asked.alternatives.iter().enumerate() {
            self.alternatives.push(at);
            let done = match alternative.count {
                Some(count) => self.some(claim, request, alternative, count, 0)?,
                None => self.all(claim, request, alternative)?,
            };
            if done {
                return Ok(true);
            }
            self.alternatives.pop();
        }
        Ok(false)
    }

    /// `count` more devices for a request, from a place in the list on.
    fn some(
        &mut self,
        claim: usize,
        request: usize,
        of: &Alternative,
        count: usize,
        from: usize,
    ) -> Answer {
        if count == 0 {
            return self.request(claim, request + 1);
        }
        let pools = self.pools.clone();
        let mut place = 0;
        for pool in &pools {
            if pool.incomplete {
                continue;
            }
            if pool.invalid {
                self.invalid = true;
                continue;
            }
            for member in &pool.members {
                place += 1;
                if place <= from {
                    continue;
                }
                self.steps += 1;
                if self.steps > MOST_STEPS {
                    return Ok(false);
                }
                if !self.is_free(of, member) || !self.selects(claim, of, member)? {
                    continue;
                }
                if !self.choose(claim, of, member) {
                    continue;
                }
                if self.some(claim, request, of, count - 1, place)? {
                    return Ok(true);
                }
                self.forget(claim, of);
            }
        }
        Ok(false)
    }

    /// Every device that matches, at least one; each must be free.
    fn all(&mut self, claim: usize, request: usize, of: &Alternative) -> Answer {
        let pools = self.pools.clone();
        let mut count = 0;
        let mut complete = true;
        for member in pools.iter().flat_map(|pool| &pool.members) {
            if !self.selects(claim, of, member)? {
                continue;
            }
            if !self.is_free(of, member) || !self.choose(claim, of, member) {
                complete = false;
                break;
            }
            count += 1;
        }
        if complete && count > 0 && self.request(claim, request + 1)? {
            return Ok(true);
        }
        for _ in 0..count {
            self.forget(claim, of);
        }
        Ok(false)
    }

    fn is_free(&self, of: &Alternative, member: &Member) -> bool {
        of.admin
            || !(self.taken.contains(&member.id)
                || self.devices.used.get(&member.id).is_some_and(|count| *count > 0))
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
            if self.values[claim][at].first().is_some_and(|known| known != value) {
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
        if !of.admin {
            self.taken.insert(member.id);
        }
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
        if let Some(last) = self.chosen.pop()
            && !last.admin
        {
            self.taken.remove(&last.device);
        }
    }

    /// The devices of a claim.
    fn allocation(&self, claim: usize) -> Allocation {
        let own = || self.chosen.iter().filter(|chosen| chosen.claim == claim);
        let reach = |chosen: &Chosen| self.devices.all[chosen.slice].nodes.clone();
        let mut nodes: Vec<Reach> = Vec::new();
        for one in own().map(reach).filter(|reach| *reach != Reach::All) {
            if !nodes.contains(&one) {
                nodes.push(one);
            }
        }
        let device = |chosen: &Chosen| (chosen.request.clone(), chosen.device, chosen.admin);
        Allocation { devices: own().map(device).collect(), nodes }
    }

    /// Eight less the place of each alternative that was taken (`computeScore`).
    fn score(&self) -> i64 {
        let requests = self.wanted.iter().flat_map(|own| &own.spec.requests);
        let ranked = requests.zip(&self.alternatives).filter(|(request, _)| request.ranked);
        ranked.map(|(_, at)| 8 - i64::try_from(*at).unwrap_or(8)).sum()
    }
}

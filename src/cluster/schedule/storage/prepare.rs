//! What the volumes of one pod demand of a node, looked up once per try (the PreFilter plugins).

use super::ClaimId;
use super::claims::{Claim, Storage};
use super::objects::StorageClass;
use crate::cluster::admission::{Ledger, Receipt};
use crate::cluster::schedule::nodes::Nodes;
use crate::cluster::schedule::pod::{ClaimSpec, Disk, PodVolume};
use crate::cluster::schedule::reason::Plugins;
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Provisioners of disks that the nodes of one zone can attach.
const ZONAL: [&str; 8] = [
    "cinder.csi.openstack.org",
    "disk.csi.azure.com",
    "ebs.csi.aws.com",
    "kubernetes.io/aws-ebs",
    "kubernetes.io/azure-disk",
    "kubernetes.io/cinder",
    "kubernetes.io/gce-pd",
    "pd.csi.storage.gke.io",
];

/// Drivers of file systems and buckets that a node mounts without attaching anything, by the CSIDriver that
/// their projects ship.
pub const ATTACHES_NOTHING: [&str; 10] = [
    "blob.csi.azure.com",
    "efs.csi.aws.com",
    "file.csi.azure.com",
    "filestore.csi.storage.gke.io",
    "fsx.csi.aws.com",
    "gcsfuse.csi.storage.gke.io",
    "nfs.csi.k8s.io",
    "s3.csi.aws.com",
    "secrets-store.csi.k8s.io",
    "smb.csi.k8s.io",
];

/// A claim of a pod that waits for the pod.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// A volume is kept for it that it does not have yet.
    pub(super) kept: bool,
    pub(super) spec: Arc<ClaimSpec>,
    pub(super) selected: Option<EcoString>,
}

/// The volumes of a pod.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster::schedule) struct PodVolumes {
    /// No node may have the pod.
    pub(in crate::cluster::schedule) refused: Option<(EcoString, Plugins)>,
    pub(super) disks: Vec<Disk>,
    /// Claims that one pod may use.
    pub(super) single: Vec<ClaimId>,
    /// For each bound volume, which nodes it can be used on.
    pub(super) columns: Vec<Arc<Vec<u8>>>,
    /// A claim is bound to a volume that does not exist.
    pub(super) lacks_volume: bool,
    /// Smallest request first.
    pub(super) waiting: Vec<Waiting>,
    /// Drivers and their names of the volumes.
    pub(super) drivers: Vec<(EcoString, EcoString)>,
}

/// What is wrong with a claim, whatever the node, and who says it: the first plugin that looks up
/// claims is `VolumeRestrictions`, the others are problems of `VolumeBinding` (`podHasPVCs`).
fn unusable(claim: &Claim, knows: bool) -> Option<(EcoString, Plugins)> {
    let name = &claim.name;
    if !claim.exists
        && let Some(why) = &claim.refused
    {
        return Some((why.clone(), Plugins::CLAIMS));
    }
    if !claim.exists {
        let missing = eco_format!("persistentvolumeclaim \"{name}\" not found");
        return knows.then_some((missing, Plugins::CLAIMS));
    }
    if claim.lost {
        let volume = claim.volume.clone().unwrap_or_default();
        let lost = eco_format!(
            "persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""
        );
        return Some((lost, Plugins::VOLUMES));
    }
    let deleting = eco_format!("persistentvolumeclaim \"{name}\" is being deleted");
    claim.deleting.then_some((deleting, Plugins::VOLUMES))
}

/// The claims of a pod in the order of its volumes: those that it names come first in the list, then
/// those that are made for it.
fn in_order(volumes: &[PodVolume], claims: &[ClaimId]) -> Vec<ClaimId> {
    let is_named = |volume: &&PodVolume| matches!(volume, PodVolume::Claim(_));
    let (named, ephemeral) =
        claims.split_at(volumes.iter().filter(is_named).count().min(claims.len()));
    let (mut named, mut ephemeral) = (named.iter(), ephemeral.iter());
    let of = volumes.iter().filter_map(|volume| match volume {
        PodVolume::Claim(_) => named.next(),
        PodVolume::Ephemeral(..) => ephemeral.next(),
        PodVolume::Disk(_) | PodVolume::Inline(_) => None,
    });
    of.copied().collect()
}

impl Storage {
    /// Looks up the volumes of a pod, or of any pod of a template: its claims by number, and the
    /// claims that each pod has for itself, where they are not made yet.
    pub(in crate::cluster::schedule) fn prepare(
        &mut self,
        volumes: &[PodVolume],
        claims: &[ClaimId],
        created: bool,
        nodes: &Nodes,
    ) -> PodVolumes {
        let claims = in_order(volumes, claims);
        // The first plugin looks up all claims before the second one is asked.
        let problems =
            claims.iter().filter_map(|id| unusable(&self.claims[*id], self.knows_claims));
        let refused = problems.min_by_key(|(_, plugin)| *plugin != Plugins::CLAIMS);
        let mut prepared = PodVolumes { refused, ..PodVolumes::default() };
        if prepared.refused.is_some() {
            return prepared;
        }
        for volume in volumes {
            match volume {
                PodVolume::Disk(disk) => prepared.disks.push(disk.clone()),
                // The claim does not exist yet; it is judged as the one that would be made.
                PodVolume::Ephemeral(name, spec) if !created => {
                    let class = self.class_of(spec).filter(|class| class.provisions());
                    let driver = class.map(|class| class.provisioner.clone());
                    prepared.drivers.extend(driver.map(|driver| (driver, name.clone())));
                    prepared.waiting.push(Waiting {
                        kept: false,
                        spec: Arc::clone(spec),
                        selected: None,
                    });
                }
                _ => {}
            }
        }
        let mut immediate = false;
        for id in &claims {
            let claim = &self.claims[*id];
            if !claim.exists {
                continue;
            }
            if claim.spec.of_one_pod() {
                prepared.single.push(*id);
            }
            prepared.drivers.extend(self.driver_of(*id));
            if claim.bound {
                let volume = claim.volume.clone().unwrap_or_default();
                match self.reach(&volume, nodes) {
                    Some(column) => prepared.columns.push(column),
                    None => prepared.lacks_volume = true,
                }
                continue;
            }
            if self.waits_for_pod(claim) {
                prepared.waiting.push(Waiting {
                    kept: self.kept_volume((&claim.namespace, &claim.name), &claim.spec).is_some(),
                    spec: Arc::clone(&claim.spec),
                    selected: claim.selected.clone(),
                });
            } else if !self.will_be_bound(claim) && self.unread_volume(claim).is_none() {
                immediate = true;
            }
        }
        prepared.waiting.sort_by_key(|waiting| waiting.spec.request);
        if immediate {
            let why = "pod has unbound immediate PersistentVolumeClaims";
            prepared.refused = Some((why.into(), Plugins::VOLUMES));
        }
        prepared
    }

    /// A claim without a volume, of a class with `volumeBindingMode: WaitForFirstConsumer`.
    pub(super) fn waits_for_pod(&self, claim: &Claim) -> bool {
        claim.volume.is_none() && self.class_of(&claim.spec).is_some_and(|class| class.waits)
    }

    /// A claim that was never in a cluster is bound when it is created: its class makes volumes,
    /// or is not known.
    pub(super) fn will_be_bound(&self, claim: &Claim) -> bool {
        let unknown = !self.knows_classes;
        claim.new
            && claim.volume.is_none()
            && self.class_of(&claim.spec).map_or(unknown, StorageClass::provisions)
            && claim.spec.class.as_ref().is_none_or(|class| !class.is_empty())
    }

    /// The class that a claim waits for, where others were read or objects of a cluster, and not this
    /// one. Of manifests alone it is not asked which classes a cluster has.
    pub(super) fn unread_class(&self, spec: &ClaimSpec) -> Option<EcoString> {
        let reads_some = !self.classes.is_empty();
        if !(reads_some || self.is_live) || self.knows_classes || self.class_of(spec).is_some() {
            return None;
        }
        match spec.class.as_deref() {
            Some("") => None,
            Some(name) => Some(eco_format!("StorageClass `{name}` is not in the input")),
            None if reads_some => Some("no StorageClass of the input is the default".into()),
            None => None,
        }
    }

    /// What is not in the input of the volume that a claim was written for: of manifests alone it is not
    /// known which volumes a cluster has.
    fn unread_volume(&self, claim: &Claim) -> Option<EcoString> {
        if !claim.new || self.is_live || self.knows_volumes {
            return None;
        }
        let name = &claim.name;
        match (&claim.volume, claim.spec.class.as_deref()) {
            (Some(volume), _) if !self.volumes.contains_key(volume) => Some(eco_format!(
                "the PersistentVolume `{volume}` of the claim `{name}` is not in the input"
            )),
            (None, Some("")) => {
                let key = (&claim.namespace, &claim.name);
                let is_there = self.kept_volume(key, &claim.spec).is_some()
                    || self.free_volume(&claim.spec, None, &[]).is_some();
                (!is_there).then(|| {
                    eco_format!("no PersistentVolume in the input is one for the claim `{name}`")
                })
            }
            _ => None,
        }
    }

    /// Whether a class makes a file system for a claim, which the nodes of all zones can mount.
    pub(super) fn is_file_system(&self, spec: &ClaimSpec) -> bool {
        self.class_of(spec).is_some_and(|class| {
            ATTACHES_NOTHING.contains(&class.provisioner.as_str()) && class.zones().next().is_none()
        })
    }

    /// Why it is open which zone a volume of these is in: its class makes it before a pod has a node, and
    /// no pod follows it there. For nodes of several zones.
    pub(in crate::cluster::schedule) fn placed_by_driver(
        &self,
        namespace: &EcoString,
        volumes: &[PodVolume],
    ) -> Option<EcoString> {
        let at_once = |spec: &ClaimSpec| {
            let class = self.class_of(spec)?;
            let allowed: BTreeSet<&str> = class.zones().collect();
            let is_open =
                !class.waits && allowed.len() != 1 && ZONAL.contains(&class.provisioner.as_str());
            is_open.then(|| self.class_name(spec))
        };
        volumes.iter().find_map(|volume| {
            let (name, class) = match volume {
                PodVolume::Claim(name) => {
                    let id = self.numbers.get(&(namespace.clone(), name.clone()))?;
                    let claim = &self.claims[*id];
                    let volume = claim.volume.as_ref().map(|name| self.volumes.get(name));
                    // Of a volume that was read the zone is known.
                    let is_new = volume.is_none_or(|one| one.is_some_and(|one| one.is_made));
                    (name, at_once(&claim.spec).filter(|_| claim.exists && is_new)?)
                }
                PodVolume::Ephemeral(name, spec) => (name, at_once(spec)?),
                PodVolume::Disk(_) | PodVolume::Inline(_) => return None,
            };
            Some(eco_format!(
                "StorageClass `{class}` makes the volume of `{name}` at once (`volumeBindingMode: Immediate`), in \
                 a zone that may have no room for the pods"
            ))
        })
    }

    /// Why it cannot be judged where pods with these volumes go.
    pub(in crate::cluster::schedule) fn unjudged(
        &self,
        namespace: &EcoString,
        volumes: &[PodVolume],
    ) -> Option<EcoString> {
        // A controller of the input makes some claims itself.
        let named = volumes.iter().find_map(|volume| match volume {
            PodVolume::Claim(name) => Some(name).filter(|name| !self.is_made(namespace, name)),
            PodVolume::Ephemeral(..) | PodVolume::Disk(_) | PodVolume::Inline(_) => None,
        });
        if let Some(name) = named.filter(|_| !self.knows_claims) {
            return Some(eco_format!(
                "the PersistentVolumeClaim `{name}` of the pods is not in the input"
            ));
        }
        volumes.iter().find_map(|volume| match volume {
            PodVolume::Claim(name) => {
                let id = self.numbers.get(&(namespace.clone(), name.clone()))?;
                let claim = &self.claims[*id];
                if let Some(why) = &claim.open {
                    return Some(why.clone());
                }
                if claim.exists
                    && !claim.bound
                    && let Some(why) = self.unread_volume(claim)
                {
                    return Some(why);
                }
                let waits = claim.exists && claim.new && !claim.bound && claim.volume.is_none();
                let why = self.unread_class(&claim.spec).filter(|_| waits)?;
                Some(eco_format!("{why}; the claim `{name}` of the pods waits for it"))
            }
            PodVolume::Ephemeral(name, spec) => {
                let why = self.unread_class(spec)?;
                Some(eco_format!("{why}; the claim of the volume `{name}` waits for it"))
            }
            PodVolume::Disk(_) | PodVolume::Inline(_) => None,
        })
    }

    /// The numbers of the claims that the pods of a template share.
    pub(in crate::cluster::schedule) fn shared(
        &mut self,
        namespace: &EcoString,
        volumes: &[PodVolume],
    ) -> Vec<ClaimId> {
        let mut claims = Vec::new();
        for volume in volumes {
            if let PodVolume::Claim(name) = volume {
                claims.push(self.claim(namespace, name));
            }
        }
        claims
    }

    /// Makes the claims that a pod has for itself; `pod` is its name, and `shown` that of all pods of its
    /// template. Where `quotas` are given, the claims are charged, and the receipts returned.
    pub(in crate::cluster::schedule) fn own_claims(
        &mut self,
        namespace: &EcoString,
        (pod, shown): (&str, &str),
        volumes: &[PodVolume],
        mut quotas: Option<&mut Ledger>,
    ) -> (Vec<ClaimId>, Vec<Receipt>) {
        let (mut claims, mut receipts) = (Vec::new(), Vec::new());
        for volume in volumes {
            let PodVolume::Ephemeral(volume, spec) = volume else { continue };
            let name = eco_format!("{pod}-{volume}");
            let id = self.claim(namespace, &name);
            claims.push(id);
            let limit = spec.refused.as_ref();
            let charged = match (&mut quotas, &spec.usage) {
                (Some(quotas), Some(usage)) => {
                    quotas.charge_claim(namespace, usage, limit).map(Some)
                }
                _ => limit.map_or(Ok(None), |why| Err(why.clone())),
            };
            match charged {
                // The pod exists, and waits for the claim (`podHasPVCs`).
                Err(why) => {
                    self.claims[id].refused = Some(eco_format!(
                        "waiting for ephemeral volume controller to create the \
                         persistentvolumeclaim \"{shown}-{volume}\" ({why})"
                    ));
                }
                Ok(receipt) => {
                    receipts.extend(receipt);
                    self.create(namespace, &name, spec);
                    self.claims[id].new = self.settles;
                }
            }
        }
        (claims, receipts)
    }
}

//! ResourceQuotas: what is used of them, and what they refuse
//! (k8s.io/apiserver, pkg/admission/plugin/resourcequota/controller.go).

use super::resources::{Amounts, amounts};
use super::usage::{DEMANDED, ScopedPod, Usage, is_counted};
use super::{Refused, name_of, namespace_of, text};
use crate::quantity::{Quantity, Requirement, SelectorOperator};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A condition on the pods that a quota counts.
#[derive(Clone, Debug)]
struct Scope {
    name: EcoString,
    /// On the name of the PriorityClass; none where the scope itself is the condition.
    class: Option<Requirement>,
}

impl Scope {
    fn named(name: EcoString) -> Self {
        Self { name, class: None }
    }

    fn read(expression: &Node) -> Self {
        let name = text(expression.get("scopeName"));
        let operator = match text(expression.get("operator")).as_str() {
            "In" => Some(SelectorOperator::In),
            "NotIn" => Some(SelectorOperator::NotIn),
            "DoesNotExist" => Some(SelectorOperator::DoesNotExist),
            _ => None,
        };
        let class = operator.and_then(|operator| {
            Requirement::new("class", operator, expression.texts("values")).ok()
        });
        Self { name, class }
    }

    fn selects(&self, pod: &ScopedPod) -> bool {
        match self.name.as_str() {
            "Terminating" => pod.terminating,
            "NotTerminating" => !pod.terminating,
            "BestEffort" => pod.best_effort,
            "NotBestEffort" => !pod.best_effort,
            "PriorityClass" => {
                let text = Some(pod.priority_class.as_str()).filter(|name| !name.is_empty());
                self.class.as_ref().map_or(text.is_some(), |class| class.matches(text))
            }
            "CrossNamespacePodAffinity" => pod.across_namespaces,
            _ => false,
        }
    }
}

/// A quota with what is used of it.
#[derive(Clone, Debug)]
struct Quota {
    name: EcoString,
    hard: Amounts,
    scopes: Vec<Scope>,
    used: Amounts,
}

impl Quota {
    fn read(object: &Node) -> Self {
        let spec = object.get("spec");
        let hard = amounts(spec.and_then(|spec| spec.get("hard")));
        let scopes = spec.map(|spec| spec.texts("scopes").map(Scope::named).collect::<Vec<_>>());
        let mut scopes = scopes.unwrap_or_default();
        let expressions = spec.and_then(|spec| spec.at(&["scopeSelector", "matchExpressions"]));
        scopes.extend(expressions.map(Node::items).unwrap_or_default().iter().map(Scope::read));
        Self { name: name_of(object), hard, scopes, used: Amounts::new() }
    }

    /// What an object counts in it; empty where it is none of its business.
    fn share<'u>(&self, usage: &'u Usage) -> Vec<(&'u EcoString, &'u Quantity)> {
        // Scopes are about pods: a quota with one counts no other object.
        let selected = match &usage.pod {
            Some(pod) => self.scopes.iter().all(|scope| scope.selects(pod)),
            None => self.scopes.is_empty(),
        };
        let counted = usage.amounts.iter().filter(|(name, _)| self.hard.contains_key(*name));
        if selected { counted.collect() } else { Vec::new() }
    }

    /// What the containers of a pod do not state although it must be stated.
    fn missing(&self, usage: &Usage) -> Option<EcoString> {
        let pod = usage.pod.as_ref()?;
        if !self.scopes.iter().all(|scope| scope.selects(pod)) {
            return None;
        }
        // The server sorts the names, so that its sentence is always the same.
        let mut demanded = DEMANDED;
        demanded.sort_unstable();
        let missing = demanded.into_iter().filter(|name| self.hard.contains_key(*name));
        let sentences = missing.filter_map(|name| {
            let mut without: Vec<&str> = pod
                .stated
                .iter()
                .filter(|(_, stated)| !stated.contains(&name))
                .map(|(container, _)| container.as_str())
                .collect();
            without.sort_unstable();
            (!without.is_empty()).then(|| format!("{name} for: {}", without.join(",")))
        });
        let sentences: Vec<String> = sentences.collect();
        (!sentences.is_empty()).then(|| {
            eco_format!("failed quota: {}: must specify {}", self.name, sentences.join("; "))
        })
    }

    /// Why there is no room for an object.
    fn exceeded(&self, usage: &Usage) -> Option<EcoString> {
        let share = self.share(usage);
        let zero = Quantity::from_integer(0);
        let over: Vec<_> = share
            .into_iter()
            // An object that requests nothing of a resource is created even if the quota is
            // exceeded.
            .filter(|(_, amount)| !amount.is_zero())
            .filter_map(|(name, amount)| {
                let used = self.used.get(name).unwrap_or(&zero);
                let hard = self.hard.get(name)?;
                (&(used + amount) > hard).then_some((name, amount, used, hard))
            })
            .collect();
        if over.is_empty() {
            return None;
        }
        let list = |of: &dyn Fn(usize) -> EcoString| {
            let texts =
                over.iter().enumerate().map(|(at, (name, ..))| format!("{name}={}", of(at)));
            texts.collect::<Vec<_>>().join(",")
        };
        Some(eco_format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            self.name,
            list(&|at| over[at].1.canonical()),
            list(&|at| over[at].2.canonical()),
            list(&|at| over[at].3.canonical())
        ))
    }

    fn change(&mut self, usage: &Usage, amounts: &Amounts, adds: bool) {
        // Copied: the loop below borrows what is used to change it.
        let names: Vec<EcoString> =
            self.share(usage).into_iter().map(|(name, _)| name.clone()).collect();
        for (name, amount) in amounts.iter().filter(|(name, _)| names.contains(name)) {
            let used = self.used.entry(name.clone()).or_insert_with(|| Quantity::from_integer(0));
            if adds {
                // The sum has the notation of what is added first.
                *used = if used.is_zero() { amount.clone() } else { &*used + amount };
            } else {
                *used -= amount;
            }
        }
    }
}

/// What an object was charged.
#[derive(Clone, Debug)]
pub struct Receipt {
    namespace: EcoString,
    usage: Arc<Usage>,
    /// It counts only what a finished pod counts.
    finished: bool,
}

/// The quotas of all namespaces, with what is used of them.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    quotas: BTreeMap<EcoString, Vec<Quota>>,
}

impl Ledger {
    /// Whether there is no quota at all.
    pub fn is_empty(&self) -> bool {
        self.quotas.is_empty()
    }

    /// Whether a namespace has a quota.
    pub fn has(&self, namespace: &str) -> bool {
        self.quotas.contains_key(namespace)
    }

    /// Adds a ResourceQuota, or replaces it: what is used stays.
    pub fn set(&mut self, object: &Node) {
        let mut quota = Quota::read(object);
        let all = self.quotas.entry(namespace_of(object)).or_default();
        match all.iter_mut().find(|other| other.name == quota.name) {
            Some(existing) => {
                quota.used = std::mem::take(&mut existing.used);
                *existing = quota;
            }
            // By name: which of several refuses first must not hang on the order of the files.
            None => all.insert(all.partition_point(|other| other.name < quota.name), quota),
        }
    }

    /// Charges an object.
    ///
    /// # Errors
    /// The first quota by name that refuses it; which of several a server names is chance.
    pub fn charge(&mut self, namespace: &str, usage: &Arc<Usage>) -> Result<Receipt, Refused> {
        let quotas = self.quotas.get(namespace).map(Vec::as_slice).unwrap_or_default();
        // All quotas are asked for what must be stated before any is asked for room, as upstream
        // does.
        let why = quotas.iter().find_map(|quota| quota.missing(usage));
        let why = why.or_else(|| quotas.iter().find_map(|quota| quota.exceeded(usage)));
        match why {
            Some(why) => Err(Refused::Forbidden(why)),
            None => Ok(self.take(namespace, usage)),
        }
    }

    /// Charges a claim for a volume, unless a LimitRange refuses it.
    ///
    /// # Errors
    /// Why it is not created: `limit`, or the quota that refuses it.
    pub fn charge_claim(
        &mut self,
        namespace: &str,
        usage: &Arc<Usage>,
        limit: Option<&EcoString>,
    ) -> Result<Receipt, EcoString> {
        match limit {
            Some(why) => Err(why.clone()),
            None => self.charge(namespace, usage).map_err(|refused| refused.why().clone()),
        }
    }

    /// Charges an object that is no pod and no claim.
    ///
    /// # Errors
    /// The quota that refuses it.
    pub fn charge_object(&mut self, namespace: &str, kind: &str) -> Result<(), EcoString> {
        self.charge_made(namespace, &Arc::new(Usage::of_object(kind)))
    }

    /// Charges an object that is no pod.
    ///
    /// # Errors
    /// The quota that refuses it.
    pub fn charge_made(&mut self, namespace: &str, usage: &Arc<Usage>) -> Result<(), EcoString> {
        if self.quotas.is_empty() {
            return Ok(());
        }
        let charged = self.charge(namespace, usage);
        charged.map(|_| ()).map_err(|refused| refused.why().clone())
    }

    /// Whether a quota of a namespace limits the number of objects that are no pods.
    pub fn counts_objects(&self, namespace: &str) -> bool {
        let quotas = self.quotas.get(namespace).map(Vec::as_slice).unwrap_or_default();
        let mut names = quotas.iter().flat_map(|quota| quota.hard.keys());
        names.any(|name| {
            let counts = name.strip_prefix("count/").is_some_and(|name| name != "pods");
            counts
                || name.starts_with("services")
                || name.contains("persistentvolumeclaims")
                || matches!(
                    name.as_str(),
                    "configmaps" | "secrets" | "replicationcontrollers" | "resourcequotas"
                )
        })
    }

    /// Counts an object that exists, whether or not there is room for it.
    pub fn take(&mut self, namespace: &str, usage: &Arc<Usage>) -> Receipt {
        for quota in self.quotas.get_mut(namespace).into_iter().flatten() {
            quota.change(usage, &usage.amounts, true);
        }
        Receipt { namespace: namespace.into(), usage: Arc::clone(usage), finished: false }
    }

    /// The object is gone.
    pub fn release(&mut self, receipt: &Receipt) {
        let amounts =
            if receipt.finished { &receipt.usage.finished } else { &receipt.usage.amounts };
        for quota in self.quotas.get_mut(&receipt.namespace).into_iter().flatten() {
            quota.change(&receipt.usage, amounts, false);
        }
    }

    /// The pod has ended and still exists.
    pub fn finish(&mut self, receipt: &mut Receipt) {
        self.release(receipt);
        // Before the second charge: a later release takes off what a finished pod counts.
        receipt.finished = true;
        for quota in self.quotas.get_mut(&receipt.namespace).into_iter().flatten() {
            quota.change(&receipt.usage, &receipt.usage.finished, true);
        }
    }

    /// Every quota: namespace, name, and for each resource what is allowed and, where it is
    /// counted, what is used.
    pub fn status(&self) -> Vec<QuotaStatus> {
        let of = |namespace: &EcoString, quota: &Quota| {
            let zero = || Quantity::from_integer(0);
            let resources = quota.hard.iter().map(|(name, hard)| {
                let scoped = !quota.scopes.is_empty() && !is_of_pod(name);
                let used = || quota.used.get(name).cloned().unwrap_or_else(zero);
                (name.clone(), hard.clone(), (is_counted(name) && !scoped).then(used))
            });
            QuotaStatus {
                namespace: namespace.clone(),
                name: quota.name.clone(),
                resources: resources.collect(),
            }
        };
        let all = self.quotas.iter();
        all.flat_map(|(namespace, quotas)| quotas.iter().map(|quota| of(namespace, quota)))
            .collect()
    }
}

/// Scopes select pods only: other resources of such a quota are not counted.
fn is_of_pod(name: &str) -> bool {
    !name.contains("storageclass") && !name.contains("persistentvolumeclaims")
}

/// A quota as its status shows it.
#[derive(Clone, Debug)]
pub struct QuotaStatus {
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// Resource, `hard`, `used`.
    pub resources: Vec<(EcoString, Quantity, Option<Quantity>)>,
}

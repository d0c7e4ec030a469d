//! Templates with the same filters and scores share one evaluation: for each node whether it has
//! room, and the part of its score that depends on the node only. When pods come or go only the
//! nodes that changed are judged again.

use super::judged::Judged;
use super::nodes::{Nodes, Resource};
use super::pod::PodTemplate;
use crate::cluster::schedule::layout::{ClassKey, Layout, Selection, SelectionKey};
use foldhash::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// All classes of a scheduler.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    selection_ids: HashMap<Arc<SelectionKey>, usize>,
    selections: Vec<(Arc<SelectionKey>, Cached<Selection>)>,
    layout_ids: HashMap<Vec<usize>, usize>,
    layouts: Vec<(Vec<usize>, Cached<Layout>)>,
    /// Classes by the address of a spec, and whether pods of it have an owner.
    of_spec: HashMap<(usize, bool), usize>,
    class_ids: HashMap<Arc<ClassKey>, usize>,
    /// Copies of a scheduler share what none of them has judged again.
    all: Vec<(Arc<ClassKey>, Option<Arc<Judged>>)>,
    /// Classes in the order of their evaluation; a dropped class may still be listed.
    order: VecDeque<usize>,
}

/// Something about all nodes as they were in an epoch.
type Cached<T> = Option<(u64, Arc<T>)>;

/// Bytes that judgments may take together; older ones are computed again.
const MOST_BYTES: usize = 16 << 20;

impl Classes {
    /// The class of a template, and the requests by number.
    pub(super) fn class(
        &mut self,
        nodes: &mut Nodes,
        template: &PodTemplate,
    ) -> (usize, Arc<[(Resource, i64)]>) {
        // Templates of many services have one spec, which lives as long as they do.
        let owned = template.owner.as_ref().is_some_and(|owner| !owner.is_empty());
        let spec = (Arc::as_ptr(&template.spec) as usize, owned);
        if let Some(class) = self.of_spec.get(&spec) {
            return (*class, Arc::clone(&self.all[*class].0.requests));
        }
        let key = SelectionKey {
            selector: template.node_selector.clone(),
            terms: template.node_terms.clone(),
            preferred: template.preferred_nodes.clone(),
            tolerations: template.tolerations.clone(),
        };
        let next = self.selections.len();
        let selection = *self.selection_ids.entry(Arc::new(key)).or_insert_with_key(|key| {
            self.selections.push((Arc::clone(key), None));
            next
        });
        let requests: Arc<[(Resource, i64)]> = template
            .requests
            .iter()
            .map(|(name, amount)| (nodes.resource(name), *amount))
            .collect();
        let (spread, _) = template.soft_spread();
        let keys: Vec<usize> =
            spread.iter().map(|constraint| nodes.topology(&constraint.topology_key)).collect();
        let next = self.layouts.len();
        let layout = *self.layout_ids.entry(keys).or_insert_with_key(|keys| {
            self.layouts.push((keys.clone(), None));
            next
        });
        let key = ClassKey {
            selection,
            requests: Arc::clone(&requests),
            scored: template.scored,
            ports: template.ports.clone(),
            images: template.images.clone(),
            layout,
        };
        let next = self.all.len();
        let class = *self.class_ids.entry(Arc::new(key)).or_insert_with_key(|key| {
            self.all.push((Arc::clone(key), None));
            next
        });
        self.of_spec.insert(spec, class);
        (class, requests)
    }

    /// The node selection and the requests of a class.
    pub(super) fn room(&self, class: usize) -> (usize, &[(Resource, i64)]) {
        let key = &self.all[class].0;
        (key.selection, &key.requests)
    }

    /// The key of a class and its current verdicts.
    pub(super) fn judged(&mut self, nodes: &mut Nodes, class: usize) -> (&ClassKey, &Judged) {
        let judged = self.all[class].1.take().filter(|judged| judged.is_of(nodes.epoch()));
        let mut judged = judged.unwrap_or_else(|| self.judge(nodes, class));
        let (key, slot) = &mut self.all[class];
        if judged.is_behind(nodes) {
            Arc::make_mut(&mut judged).refresh(nodes, key);
        }
        (key, slot.insert(judged))
    }

    fn judge(&mut self, nodes: &mut Nodes, class: usize) -> Arc<Judged> {
        let (selection, layout) = (self.all[class].0.selection, self.all[class].0.layout);
        let selection = self.selection(nodes, selection);
        let layout = self.layout(nodes, layout);
        let most = (MOST_BYTES / (4 * nodes.len().max(1))).max(16);
        let older = if self.order.len() < most { None } else { self.order.pop_front() };
        let older = older.and_then(|older| Arc::into_inner(self.all[older].1.take()?));
        self.order.push_back(class);
        let key = &self.all[class].0;
        let images = nodes.image_scores(&key.images);
        Arc::new(Judged::new(nodes, key, selection, layout, images, older))
    }

    fn selection(&mut self, nodes: &mut Nodes, number: usize) -> Arc<Selection> {
        let epoch = nodes.epoch();
        let (key, cached) = &mut self.selections[number];
        match cached {
            Some((cached, selection)) if *cached == epoch => Arc::clone(selection),
            _ => {
                let selection = Arc::new(Selection::of(key, nodes));
                *cached = Some((epoch, Arc::clone(&selection)));
                selection
            }
        }
    }

    fn layout(&mut self, nodes: &Nodes, number: usize) -> Arc<Layout> {
        let epoch = nodes.epoch();
        let (keys, cached) = &mut self.layouts[number];
        match cached {
            Some((cached, layout)) if *cached == epoch => Arc::clone(layout),
            _ => {
                let layout = Arc::new(Layout::of(keys, nodes));
                *cached = Some((epoch, Arc::clone(&layout)));
                layout
            }
        }
    }
}

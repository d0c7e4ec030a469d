//! Nodes that are lost: the lines of `ome plan --without`, the page of `ome plan --each`, and both as
//! JSON.

use super::cell::{Cell, Meaning, row};
use super::phrases::{first_of, plural};
use super::screen::{Page, line};
use super::sheet::Sheet;
use crate::pipeline::{At, Each, Loss, LossRow, Losses, Lost, Together};
use ecow::EcoString;
use serde_json::{Value, json};

/// Number of owners to name in a row.
const NAMED: usize = 3;
/// Number of losses to name in the last line.
const LISTED: usize = 10;

const TITLES: [&str; 6] = ["WITHOUT", "NODES", "PODS", "WITHOUT ROOM", "GPUS SHORT", "SERVICES"];

/// `1 node`, `3 classes`.
pub fn counted(count: usize, each: Each) -> String {
    match each {
        Each::Class if count != 1 => format!("{count} classes"),
        each => plural(count, each.as_str()),
    }
}

/// The lines about the nodes of `--without`.
pub fn text(loss: &Loss, lost: &[Lost]) -> String {
    let mut out = Page::default();
    let names: Vec<String> = lost.iter().map(ToString::to_string).collect();
    let ran = match loss.pods {
        // A pod without a controller is gone, so that no answer about room concerns it.
        0 if loss.gone == 0 => "nothing changes: no pod ran there".to_owned(),
        0 => "no pod that a controller creates again ran there".to_owned(),
        pods if loss.pending == 0 => {
            format!("{} ran there; all find room on the other nodes", plural(pods, "pod"))
        }
        pods => format!(
            "{} ran there; {} no room ({} short): {}",
            plural(pods, "pod"),
            match loss.pending {
                1 => "1 finds".to_owned(),
                many => format!("{many} find"),
            },
            plural(loss.gpus_short, "GPU"),
            first_of(loss.services.iter(), NAMED)
        ),
    };
    line!(out, "without {} ({}): {ran}", names.join(", "), plural(loss.nodes.len(), "node"));
    if loss.gone > 0 {
        let them = if loss.gone == 1 { "it" } else { "them" };
        line!(
            out,
            "lost with the nodes: {}; no controller creates {them} again",
            plural(loss.gone, "pod")
        );
    }
    // A loss can push out pods elsewhere: those of lower priority make room.
    if loss.new > 0 {
        let pods = plural(loss.new, "pod");
        let before = match loss.waited {
            0 => "would have one without the loss".to_owned(),
            waited if waited == loss.new => "had none before".to_owned(),
            waited => format!("{waited} had none before"),
        };
        line!(out, "beside them, {pods} without a node did not run on these nodes: {before}");
    }
    out.finish()
}

/// `placement.without` of a plan.
pub(super) fn loss_json(loss: &Loss) -> Value {
    json!({
        "nodes": owners(&loss.nodes),
        "pods": loss.pods,
        "gone": loss.gone,
        "pending": loss.pending,
        "gpusShort": loss.gpus_short,
        "services": owners(&loss.services),
        "new": loss.new,
        "waited": loss.waited,
    })
}

/// Names as JSON.
pub(super) fn owners(all: &[EcoString]) -> Vec<&str> {
    all.iter().map(EcoString::as_str).collect()
}

/// `losses` of a plan.
pub(super) fn json(losses: &Losses) -> Value {
    let row = |row: &LossRow| {
        json!({
            "without": row.without.to_string(),
            "nodes": row.nodes,
            "pods": row.pods,
            "pending": row.pending,
            "gpusShort": row.gpus_short,
            "services": owners(&row.services),
        })
    };
    losses.rows.iter().map(row).collect()
}

fn cells(row: &LossRow) -> Vec<Cell> {
    row![
        row.without.to_string(),
        row.nodes.to_string(),
        row.pods.to_string(),
        row.pending.to_string(),
        row.gpus_short.to_string(),
        first_of(row.services.iter(), NAMED),
    ]
}

/// The page of `--each`.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The losses.
    pub losses: &'a Losses,
    /// The placement without a loss.
    pub together: Option<&'a Together>,
    /// The number of replicas.
    pub at: At,
    /// A part of the input was not read, or a service is in error.
    pub fails: bool,
}

impl View<'_> {
    /// What the losses begin with.
    fn state(&self) -> String {
        let from = match (self.losses.runs, self.at) {
            (true, _) => "the pods that run",
            (false, At::Min) => "the input as it is placed at minReplicas",
            (false, At::Max) => "the input as it is placed at maxReplicas",
            (false, At::Current) => "the input as it is placed today",
        };
        let each = self.losses.each.as_str();
        let wait = match self.waiting() {
            0 => String::new(),
            1 => "; 1 pod waits before anything is lost".to_owned(),
            many => format!("; {many} pods wait before anything is lost"),
        };
        format!("{each} after {each} is lost, each time from {from}{wait}")
    }

    /// Pods that have no node before anything is lost.
    fn waiting(&self) -> usize {
        self.together.map_or(0, |placement| placement.pods.pending)
    }

    /// The answer in a sentence.
    fn last(&self) -> Cell {
        let Losses { each, tried, rows, .. } = self.losses;
        let each = each.as_str();
        let unknown = self.together.is_some_and(|placement| !placement.not_judged.is_empty());
        let waits = match self.waiting() {
            0 => String::new(),
            1 => "; 1 pod has no node even so".to_owned(),
            pods => format!("; {pods} pods have no node even so"),
        };
        let more_fields = if unknown { "; not everything was judged" } else { "" };
        let named = |row: &LossRow| {
            let name = row.without.to_string();
            name.split_once('=').map_or(name.clone(), |(_, name)| name.to_owned())
        };
        let sentence = match rows.len() {
            // Nothing was tried, and neither answer would be true.
            _ if *tried == 0 => return Cell::warn(format!("no {each} to lose{more_fields}")),
            0 => format!("the fleet survives the loss of any {each} ({tried} tried)"),
            count if count == *tried => {
                format!("the fleet survives the loss of no {each} ({tried} tried)")
            }
            count => format!(
                "the fleet survives the loss of any {each} but {count}: {}",
                first_of(rows.iter().map(named), LISTED)
            ),
        };
        let meaning = match rows.is_empty() {
            // An input that was not read as a whole proves no survival.
            false => Meaning::Bad,
            true if self.fails => Meaning::Bad,
            true if unknown => Meaning::Attention,
            true => Meaning::Good,
        };
        Cell::marked(meaning, format!("{sentence}{waits}{more_fields}"))
    }

    fn spared(&self) -> Option<String> {
        let spared = self.losses.tried - self.losses.rows.len();
        (spared > 0 && !self.losses.rows.is_empty()).then(|| match (spared, self.waiting()) {
            (1, 0) => "1 other loss leaves every pod a node".to_owned(),
            (_, 0) => format!("{spared} other losses leave every pod a node"),
            (1, _) => "after 1 other loss no more pods wait".to_owned(),
            _ => format!("after {spared} other losses no more pods wait"),
        })
    }

    /// The page for a terminal or a comment.
    pub fn page(&self) -> Sheet {
        let lead = format!("**ome plan --each {}**: ", self.losses.each.as_str());
        let mut page = Sheet::titled(lead, self.state());
        if !self.losses.rows.is_empty() {
            page.table(&TITLES, self.losses.rows.iter().map(cells));
            if let Some(spared) = self.spared() {
                page.below(spared);
            }
        }
        page.paragraph(self.last().text);
        page
    }

    /// The data of the table in the page of a plan.
    pub(super) fn data(&self) -> Value {
        json!({
            "titles": TITLES.map(str::to_lowercase),
            "rows": self.losses.rows.iter().map(cells).collect::<Vec<_>>(),
            "state": self.state(),
            "last": self.last(),
        })
    }
}

/// A line per loss after which pods have no node.
pub fn lines(losses: &Losses) -> impl Iterator<Item = String> {
    losses.rows.iter().map(|row| row.without.to_string())
}

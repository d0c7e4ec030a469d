//! The play of a whole fleet: how many services change, how each ends, and what gets those through
//! that are stuck.

use super::fill::fill;
use super::screen::printable;
use super::table::{self, Style};
use super::{SCHEMA_VERSION, findings, roll};
use crate::api::Follow;
use crate::diag::Diagnostic;
use crate::pipeline::{ComponentRollout, RollEnd, ServiceRollout, peak_gpus};
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::fmt::Write as _;

const TITLES: [&str; 8] =
    ["SERVICE", "COMPONENT", "KIND", "STRATEGY", "STAGES", "READY AT LEAST", "GPUS AT MOST", "END"];

/// The play of a fleet.
#[derive(Clone, Copy, Debug)]
pub struct All<'a> {
    /// The mode: documents or controllers.
    pub semantics: Follow,
    /// The services.
    pub services: &'a [ServiceRollout<'a>],
    /// ModelServings that were read and are not played.
    pub servings: usize,
    /// All findings.
    pub found: &'a [Diagnostic],
    /// What was read.
    pub sources: &'a SourceMap,
}

fn name(own: &ServiceRollout<'_>) -> String {
    format!("{}/{}", own.service.namespace, own.service.name())
}

fn services(count: usize) -> String {
    format!("{count} service{}", if count == 1 { "" } else { "s" })
}

impl All<'_> {
    /// Components that change, with their services.
    fn changed(&self) -> impl Iterator<Item = (&ServiceRollout<'_>, &ComponentRollout)> {
        self.services.iter().flat_map(|own| {
            let changed = own.components.iter().filter(|own| own.end != RollEnd::NothingToDo);
            changed.map(move |component| (own, component))
        })
    }

    fn is_changed(own: &ServiceRollout<'_>) -> bool {
        own.components.iter().any(|own| own.end != RollEnd::NothingToDo)
    }

    /// Services of which some update goes no further.
    pub fn stuck(&self) -> usize {
        self.services.iter().filter(|own| roll::is_stuck(&own.components)).count()
    }

    fn summary(&self) -> String {
        let changed = self.services.iter().filter(|own| Self::is_changed(own)).count();
        let failed = self.services.iter().filter(|own| own.error.is_some()).count();
        let verb = if changed == 1 { "changes" } else { "change" };
        let stuck = self.stuck();
        let is = if stuck == 1 { "is" } else { "are" };
        let mut out = format!(
            "{} of {} {verb}; {stuck} {is} stuck; at most {} GPUs are held on the way",
            changed,
            services(self.services.len()),
            peak_gpus(self.services)
        );
        if failed > 0 {
            let _ = write!(out, "; {} in error, left as they are", services(failed));
        }
        out
    }

    /// What is not played.
    fn left_out(&self) -> Option<String> {
        (self.servings > 0).then(|| {
            let plural = if self.servings == 1 { "" } else { "s" };
            format!("{} ModelServing{plural}: `ome rollout NAME` plays one", self.servings)
        })
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |(service, own): (&ServiceRollout<'_>, &ComponentRollout)| {
            vec![
                name(service),
                own.component.as_str().to_owned(),
                own.kind.to_owned(),
                own.strategy.to_owned(),
                own.stages.len().to_string(),
                own.lowest_ready.to_string(),
                own.peak_gpus.to_string(),
                own.end.as_str().to_owned(),
            ]
        };
        self.changed().map(row).collect()
    }

    /// Components that are stuck: whose, and what is said of each.
    fn said(&self) -> Vec<(String, Vec<String>)> {
        let stuck = self.changed().filter(|(_, own)| own.end == RollEnd::Stuck);
        let said = |(service, own): (&ServiceRollout<'_>, &ComponentRollout)| {
            (
                format!("{} {}", name(service), own.component.as_str()),
                roll::sentences(own, self.sources),
            )
        };
        stuck.map(said).collect()
    }

    /// One JSON document; services that do not change are counted, not listed.
    pub fn json(&self) -> Value {
        let listed =
            self.services.iter().filter(|own| Self::is_changed(own) || own.error.is_some());
        let service = |own: &ServiceRollout<'_>| {
            let components = own.components.iter().map(|own| roll::json(own, self.sources));
            let mut out = json!({
                "namespace": own.service.namespace.as_str(),
                "name": own.service.name().as_str(),
                "components": components.collect::<Vec<_>>(),
            });
            if let Some(error) = &own.error {
                out["error"] = json!({ "code": error.code.as_str(), "message": error.message });
            }
            out
        };
        let changed = self.services.iter().filter(|own| Self::is_changed(own)).count();
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "semantics": self.semantics.run().as_str(),
            "totals": {
                "services": self.services.len(),
                "changed": changed,
                "stuck": self.stuck(),
                "peakGpus": peak_gpus(self.services),
            },
            "services": listed.map(service).collect::<Vec<_>>(),
            "findings": self.found.iter().map(|found| findings::json(found, self.sources)).collect::<Vec<_>>(),
        })
    }

    /// A table of what changes, then what is stuck.
    pub fn text(&self, style: Style) -> String {
        let mut out = String::new();
        let rows = self.rows();
        if !rows.is_empty() {
            out.push_str(&table::table(&TITLES, rows, style));
            out.push('\n');
        }
        for (component, sentences) in self.said() {
            let _ = writeln!(out, "{}", printable(&component));
            for sentence in sentences {
                let _ = writeln!(out, "  {}", printable(&sentence));
            }
            out.push('\n');
        }
        let _ = writeln!(out, "{}", self.summary());
        if let Some(left_out) = self.left_out() {
            let _ = writeln!(out, "not played: {left_out}");
        }
        out
    }

    /// The same in Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("**ome rollout** {}\n", self.summary());
        let rows = self.rows();
        if !rows.is_empty() {
            let titles = TITLES.join(" | ").to_lowercase();
            let _ = writeln!(out, "\n| {titles} |\n|{}", "---|".repeat(TITLES.len()));
        }
        for row in rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
        for (component, sentences) in self.said() {
            let _ = writeln!(out, "\n**{}**\n", printable(&component));
            for sentence in sentences {
                let _ = writeln!(out, "- {}", printable(&sentence));
            }
        }
        if let Some(left_out) = self.left_out() {
            let _ = writeln!(out, "\nnot played: {left_out}");
        }
        out
    }

    /// A single HTML page.
    ///
    /// # Errors
    /// What is wrong with the template.
    pub fn html(&self) -> Result<String, String> {
        let component = |(service, own): (&ServiceRollout<'_>, &ComponentRollout)| json!({ "title": format!("{} {}", name(service), roll::title(own)), "titles": roll::TITLES, "rows": roll::rows(own), "said": roll::sentences(own, self.sources), "stuck": own.end == RollEnd::Stuck });
        fill(
            "roll_all.html",
            include_str!("roll_all.html"),
            &json!({ "summary": self.summary(), "left_out": self.left_out(), "components": self.changed().map(component).collect::<Vec<_>>() }),
        )
    }
}

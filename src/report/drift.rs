//! `ome drift`: compares the cluster with the objects that the operator would write.

use super::answer::Answer;
use super::cell::Meaning;
use super::diff::values;
use super::fill::fill;
use super::markdown;
use super::phrases::plural;
use super::screen::{Draw, Page, line, printable, put};
use super::table::{Style, wrapped};
use super::{SCHEMA_VERSION, findings};
use crate::diag::Diagnostic;
use crate::diff::Action;
use crate::diff::drift::{Drift, DriftField, DriftGroup, DriftObject};
use crate::pipeline::why::Layer;
use crate::policy::Readings;
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;

/// An answer with everything that is needed to show it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The answer.
    pub drift: &'a Drift,
    /// The mode.
    pub readings: Readings,
    /// The input, for the first line.
    pub header: &'a str,
    /// All findings.
    pub found: &'a [Diagnostic],
    /// The sources that they refer to.
    pub sources: &'a SourceMap,
}

fn object(object: &DriftObject) -> Value {
    let fields = object.fields.iter().map(|field| {
        let (from, to) = values(field.shown, field.from.as_ref(), field.to.as_ref());
        json!({
            "path": field.path.to_string(),
            "from": from,
            "to": to,
            "layer": field.layer.map(Layer::as_str),
            "manager": field.manager.as_deref(),
        })
    });
    json!({
        "object": object.id.to_string(),
        "action": object.action.as_str(),
        "changes": fields.collect::<Vec<_>>(),
    })
}

fn group(group: &DriftGroup) -> Value {
    json!({
        "services": group.services.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
        "objects": group.objects.iter().map(object).collect::<Vec<_>>(),
    })
}

/// Sign and word for the difference of an object.
fn words(action: Action) -> (&'static str, &'static str) {
    match action {
        Action::Create => ("+", "missing"),
        Action::Delete => ("-", "left over"),
        Action::Update | Action::Replace => ("~", "changed"),
    }
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "absent".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    printable(&text)
}

fn line(field: &DriftField, sources: &SourceMap) -> String {
    let place = field.to.as_ref().and_then(|node| node.origin.span());
    let place = place.map_or(String::new(), |span| format!(", {}", sources.locate(span)));
    let (from, to) = values(field.shown, field.from.as_ref(), field.to.as_ref());
    // What the operator does not write has no layer: someone added it.
    let Some(layer) = field.layer else {
        let by = field.manager.as_deref().map_or(String::new(), |manager| format!("  ({manager})"));
        return format!("{}: added: {} → absent{}", field.path, short(&from), printable(&by));
    };
    format!("{}: {} → {}  ({}{place})", field.path, short(&from), short(&to), layer.as_str())
}

impl View<'_> {
    // A group is of services with one difference, so that each object counts for all of them.
    fn count(&self, action: Action) -> usize {
        let objects = self.drift.groups.iter().map(|group| {
            let same = group.objects.iter().filter(|object| object.action == action).count();
            same * group.services.len()
        });
        objects.sum()
    }

    fn drifted(&self) -> usize {
        self.drift.groups.iter().map(|group| group.services.len()).sum()
    }

    /// "1 of 3 services drifts; objects: 1 missing, 2 changed".
    fn headline(&self) -> String {
        let drifted = self.drifted();
        let (all, failed) = (self.drift.services, self.drift.failed.len());
        let compared = all.saturating_sub(failed);
        let mut out = if all == 0 {
            "no InferenceService was read: nothing is compared".to_owned()
        } else if compared == 0 {
            return format!("nothing is compared: {} in error", plural(all, "service"));
        } else if drifted == 0 {
            format!("no drift: {} as the operator would write them", plural(compared, "service"))
        } else {
            let parts = [Action::Create, Action::Update, Action::Delete].map(|action| {
                let count = self.count(action);
                (count > 0).then(|| format!("{count} {}", words(action).1))
            });
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            let verb = if drifted == 1 { "drifts" } else { "drift" };
            let all = plural(all, "service");
            format!("{drifted} of {all} {verb}; objects: {}", parts.join(", "))
        };
        if failed > 0 {
            let _ = write!(out, "; {failed} in error, not compared");
        }
        out
    }
}

impl Answer for View<'_> {
    fn json(&self) -> impl serde::Serialize {
        json!({
            "schemaVersion": SCHEMA_VERSION,
            "semantics": self.readings.run().as_str(),
            "summary": {
                "services": self.drift.services,
                "drifted": self.drifted(),
                "missing": self.count(Action::Create),
                "leftOver": self.count(Action::Delete),
                "changed": self.count(Action::Update),
                "failed": self.drift.failed.len(),
            },
            "groups": self.drift.groups.iter().map(group).collect::<Vec<_>>(),
            "findings": self.found.iter().map(|found| findings::json(found, self.sources)).collect::<Vec<_>>(),
        })
    }

    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        let paint = |sign: &'static str, text: &str| {
            if style.color { Meaning::of_sign(sign).painted(text) } else { text.to_owned() }
        };
        let mut out = Page::default();
        put!(out, "mode: {}{}\n\n", self.readings, self.header);
        for group in &self.drift.groups {
            let services = printable(&group.services.join(", "));
            out.draw(&wrapped(&services, style.width, "  "));
            for object in &group.objects {
                let (sign, what) = words(object.action);
                out.push_str("  ");
                out.draw(&paint(sign, sign));
                line!(out, " {}: {what}", object.id);
                for field in &object.fields {
                    line!(out, "      {}", line(field, self.sources));
                }
            }
            out.end_line();
        }
        line!(out, "{}", self.headline());
        draw(&out.finish())
    }

    fn markdown(&self) -> Result<String, String> {
        let mut out = Page::default();
        put!(out, "**ome drift**: {}\n", self.headline());
        for group in &self.drift.groups {
            let mut lines = Vec::new();
            for object in &group.objects {
                let (sign, what) = words(object.action);
                // In a block of the language diff only `!` marks a change.
                let sign = if sign == "~" { "!" } else { sign };
                // Names come from a cluster, which may hold control characters.
                lines.push(printable(&format!("{sign} {}: {what}", object.id)));
                let fields = object.fields.iter().map(|field| line(field, self.sources));
                lines.extend(fields.map(|field| printable(&format!("!   {field}"))));
            }
            let fence = markdown::fence(lines.iter().map(String::as_str));
            put!(out, "\n### {}\n\n", markdown::text(&group.services.join(", ")));
            line!(out, "{fence}diff");
            for name in lines {
                line!(out, "{name}");
            }
            line!(out, "{fence}");
        }
        Ok(out.finish())
    }

    fn html(&self) -> Result<String, String> {
        let object = |object: &DriftObject| {
            let (sign, what) = words(object.action);
            json!({
                "sign": sign,
                "class": Meaning::of_sign(sign).class(),
                "count": plural(object.fields.len(), "field"),
                "name": object.id.to_string(),
                "what": what,
                "fields": object.fields.iter().map(|field| line(field, self.sources)).collect::<Vec<_>>(),
            })
        };
        let groups = self.drift.groups.iter().map(|group| {
            json!({
                "services": group.services.join(", "),
                "objects": group.objects.iter().map(object).collect::<Vec<_>>(),
            })
        });
        let data = json!({ "headline": self.headline(), "groups": groups.collect::<Vec<_>>() });
        fill("drift.html", include_str!("page/drift.html"), &data)
    }
}

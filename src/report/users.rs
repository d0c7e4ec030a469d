//! `ome explain` for a runtime or a model: the services that use it, those that could, and why the
//! others cannot.

use super::answer::Answer;
use super::cell::{Cell, row};
use super::explain;
use super::judged::{self, Detail};
use super::screen::Draw;
use super::sheet::Sheet;
use super::table::Style;
use super::{SCHEMA_VERSION, json};
use crate::api::{Failure, Model, Object, Runtime};
use crate::decision::{RuntimeDecision, Verdict};
use crate::pipeline::{Planned, User};
use crate::policy::Readings;
use crate::source::SourceMap;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;

/// A runtime or a model with the services that use it.
pub enum Users<'a> {
    /// A runtime, and its relation to each service.
    OfRuntime(&'a Runtime, Vec<User<'a>>),
    /// A model, its services, and the runtimes that could serve it.
    OfModel(&'a Model, Vec<Planned<'a>>, Option<Result<RuntimeDecision<'a>, Failure>>),
}

/// The answer about a runtime or a model.
pub struct View<'a> {
    /// The object with its users.
    pub of: Users<'a>,
    /// The mode.
    pub readings: Readings,
    /// The sources of settings.
    pub header: &'a str,
    /// How many candidates are shown, and how much of each.
    pub detail: Detail,
    /// The sources.
    pub sources: &'a SourceMap,
}

impl View<'_> {
    fn page(&self) -> Sheet {
        let mut page = Sheet::default();
        page.lines([format!("mode: {}{}", self.readings, self.header)]);
        page.append(match &self.of {
            Users::OfRuntime(runtime, users) => self::runtime(runtime, users, self.sources),
            Users::OfModel(model, users, runtimes) => {
                self::model(model, users, runtimes.as_ref(), self.detail, self.sources)
            }
        });
        page
    }
}

impl Answer for View<'_> {
    fn json(&self) -> impl Serialize {
        match &self.of {
            Users::OfRuntime(runtime, users) => runtime_json(runtime, users, self.sources),
            Users::OfModel(model, users, runtimes) => {
                model_json(model, users, runtimes.as_ref(), self.sources)
            }
        }
    }

    fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        draw(&self.page().text(style))
    }

    fn markdown(&self) -> Result<String, String> {
        Ok(self.page().markdown())
    }

    fn html(&self) -> Result<String, String> {
        let object = match &self.of {
            Users::OfRuntime(runtime, _) => &runtime.object,
            Users::OfModel(model, ..) => &model.object,
        };
        let lead = format!("{} {}", object.id.kind, object.shown_name());
        self.page().html("ome explain", &lead.into())
    }
}

/// The relation of a service to a runtime, in words.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Chosen => "uses it",
        Verdict::Eligible => "could use it",
        Verdict::Rejected => "cannot use it",
    }
}

/// The rule that decided, the values, and their location.
fn rule(user: &User<'_>, sources: &SourceMap) -> [String; 3] {
    let text = sources.locate(user.planned.service.place).to_string();
    let decision = &user.planned.resolution.runtime;
    let by = || decision.decided_by.map_or("", super::phrases::decided_by).to_owned();
    if user.verdict == Verdict::Chosen {
        return [by(), String::new(), text];
    }
    // Without a model there was no comparison.
    let Some(candidate) = &user.candidate else {
        let code = user.planned.error.as_ref().map_or("no model", |error| error.code.as_str());
        return [code.to_owned(), "its model is unknown".to_owned(), text];
    };
    if let Some(rejection) = candidate.reasons.first() {
        let more = candidate.reasons.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (+{more})") };
        let place = rejection.origin.and_then(crate::yaml::Origin::span);
        return [
            rejection.reason.code().as_str().to_owned(),
            format!("{}{more}", rejection.reason),
            place.map_or(text, |span| sources.locate(span).to_string()),
        ];
    }
    let notes: Vec<String> = candidate.notes.iter().map(ToString::to_string).collect();
    // The choice explains what the notes do not.
    let other = user.planned.resolution.chosen().map(|chosen| chosen.object.shown_name());
    let detail = match other {
        Some(other) if notes.is_empty() => format!("{other} was chosen: {}", by()),
        _ => notes.join("; "),
    };
    let rule = candidate.notes.last().map_or("eligible", |note| note.code().as_str());
    [rule.to_owned(), detail, text]
}

fn name(planned: &Planned<'_>) -> String {
    planned.service.to_string()
}

fn model_of(planned: &Planned<'_>) -> Cell {
    let model = planned.resolution.model;
    Cell::or_none(model.map(|model| &model.object.id.name))
}

/// `2 services`, `1 service`, `no service`.
fn many(number: usize, one: &str) -> String {
    match number {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        more => format!("{more} {one}s"),
    }
}

/// The users of a runtime.
pub(crate) fn runtime(runtime: &Runtime, users: &[User<'_>], sources: &SourceMap) -> Sheet {
    let mut out = Sheet::default();
    let object = &runtime.object;
    let place = sources.locate(object.name_span());
    out.heading(format!("{} {}  {place}", object.id.kind, object.shown_name()));
    let count = |verdict: Verdict| users.iter().filter(|user| user.verdict == verdict).count();
    out.answer([format!(
        "used by {} of {}; {} more could use it, {} cannot",
        count(Verdict::Chosen),
        many(users.len(), "service"),
        count(Verdict::Eligible),
        count(Verdict::Rejected)
    )]);
    if !users.is_empty() {
        let rows = users.iter().map(|user| {
            let [rule, detail, place] = rule(user, sources);
            let verdict = judged::verdict(user.verdict, word(user.verdict));
            row![name(&user.planned), model_of(&user.planned), verdict, rule, detail, place]
        });
        out.table(&["SERVICE", "MODEL", "VERDICT", "RULE", "DETAIL", "WHERE"], rows);
    }
    out
}

/// The users of a runtime as JSON.
fn runtime_json(runtime: &Runtime, users: &[User<'_>], sources: &SourceMap) -> Value {
    let users = users.iter().map(|user| {
        let [rule, detail, place] = rule(user, sources);
        json!({
            "namespace": user.planned.service.namespace.as_str(),
            "name": user.planned.service.name.as_str(),
            "model": user.planned.resolution.model.map(|model| model.object.id.name.as_str()),
            "verdict": user.verdict.as_str(),
            "rule": rule,
            "detail": detail,
            "at": place,
        })
    });
    json!({
        "schemaVersion": SCHEMA_VERSION,
        "runtime": json::reference(&runtime.object.id),
        "services": users.collect::<Vec<_>>(),
    })
}

/// The users of a model, and the runtimes that could serve it.
pub(crate) fn model(
    model: &Model,
    users: &[Planned<'_>],
    runtimes: Option<&Result<RuntimeDecision<'_>, Failure>>,
    detail: Detail,
    sources: &SourceMap,
) -> Sheet {
    let mut out = Sheet::default();
    let object = &model.object;
    let place = sources.locate(object.name_span());
    out.heading(format!("{} {}  {place}", object.id.kind, object.id.name));
    let used = format!("used by {}", many(users.len(), "service"));
    let answer = match runtimes {
        Some(Ok(decision)) => {
            let (eligible, all) = (decision.eligible, decision.eligible + decision.rejected);
            let first = decision.chosen.map_or(String::new(), |first| {
                let by = decision.decided_by.map_or("", super::phrases::decided_by);
                format!(", first {} ({by})", first.object.shown_name())
            });
            format!(
                "{used}; automatic selection accepts {eligible} of {}{first}",
                many(all, "runtime")
            )
        }
        Some(Err(error)) => format!("{used}; ✗ {}: {}", error.code.as_str(), error.message),
        None => used,
    };
    out.answer([answer]);
    if !users.is_empty() {
        let rows = users.iter().map(|planned| {
            let chosen = planned.resolution.chosen();
            row![
                name(planned),
                Cell::or_none(chosen.map(|runtime| runtime.object.shown_name())),
                super::plan::decided_by(planned),
                sources.locate(planned.service.place).to_string(),
            ]
        });
        out.table(&["SERVICE", "RUNTIME", "DECIDED BY", "WHERE"], rows);
    }
    if let Some(Ok(decision)) = runtimes {
        explain::candidates(decision, detail, sources, &mut out);
    }
    out
}

/// The services that a configuration is merged into.
pub(crate) fn config(config: &Object, users: &[Planned<'_>], sources: &SourceMap) -> Sheet {
    let mut out = Sheet::default();
    let place = sources.locate(config.name_span());
    out.heading(format!("{} {}  {place}", config.id.kind, config.id.name));
    out.answer([format!("merged into {}", many(users.len(), "service"))]);
    if !users.is_empty() {
        let rows = users.iter().map(|planned| {
            let configs = planned.resolution.configs.iter();
            // The first one that applies it is the one that counts.
            let configs = configs.filter(|applied_config| applied_config.name == config.id.name);
            let by = configs.map(explain::applied_by).next().unwrap_or_default();
            row![name(planned), by, sources.locate(planned.service.place).to_string()]
        });
        out.table(&["SERVICE", "APPLIED BY", "WHERE"], rows);
    }
    out
}

/// The users of a model as JSON.
fn model_json(
    model: &Model,
    users: &[Planned<'_>],
    runtimes: Option<&Result<RuntimeDecision<'_>, Failure>>,
    sources: &SourceMap,
) -> Value {
    let users = users.iter().map(|planned| {
        json!({
            "namespace": planned.service.namespace.as_str(),
            "name": planned.service.name.as_str(),
            "runtime": planned.resolution.chosen().map(|runtime| json::reference(&runtime.object.id)),
            "error": planned.error.as_ref().map(|error| error.code.as_str()),
        })
    });
    let mut out = json!({
        "schemaVersion": SCHEMA_VERSION,
        "model": json::reference(&model.object.id),
        "services": users.collect::<Vec<_>>(),
    });
    match runtimes {
        Some(Ok(decision)) => {
            let candidates = decision.candidates.iter();
            out["candidates"] =
                candidates.map(|candidate| json::candidate(candidate, sources)).collect();
        }
        Some(Err(error)) => {
            out["error"] = json!({ "code": error.code.as_str(), "message": error.message });
        }
        None => {}
    }
    out
}

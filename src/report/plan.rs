//! `ome plan` as text: a table, or a block per service if the terminal is too narrow; errors by
//! cause; pods that do not fit; the verdict as the last sentence.

use super::accelerator;
use super::markdown;
use super::phrases::{first_of, inline, plural};
use super::screen::{Page, line, printable, put};
use super::table::{self, Style, wrapped};
use crate::api::{Api, Failure, Follow};
use crate::pipeline::{Planned, PlannedComponent};
use crate::quantity::Count;
use crate::source::SourceMap;
use indexmap::IndexMap;

/// Narrower terminals show a block per service, and so do those that the table does not fit.
const TABLE: u16 = 100;

/// Number of services to name for a cause.
const NAMED: usize = 10;

static TITLES: [&str; 12] = [
    "NAMESPACE",
    "SERVICE",
    "MODEL",
    "RUNTIME",
    "DECIDED BY",
    "COMPONENT",
    "MODE",
    "REPLICAS",
    "PODS/REPLICA",
    "GPUS/REPLICA",
    "CLASS",
    "FITS",
];

/// The column that is always shown, even if it is the same in every row.
const SERVICE: usize = 1;

/// The data of the page.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The mode.
    pub semantics: Follow,
    /// The input, for the first line.
    pub header: &'a str,
    /// The services.
    pub planned: &'a [Planned<'a>],
    /// The sources.
    pub sources: &'a SourceMap,
}

impl Plan<'_> {
    /// The page.
    pub fn text(&self, style: Style) -> String {
        let mut all = String::new();
        let taken: Result<(), std::convert::Infallible> = self.pieces(style, |piece| {
            all.push_str(piece);
            Ok(())
        });
        taken.map_or_else(|never| match never {}, |()| all)
    }

    /// The page in pieces, so that the page of a large fleet is never in memory as a whole.
    ///
    /// # Errors
    /// The error of `draw`.
    pub fn pieces<E>(
        &self,
        style: Style,
        mut draw: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut out = Page::default();
        if self.planned.is_empty() {
            put!(out, "mode: {}{}\n\n", self.semantics, self.header);
            out.push_str("no services\n");
            return draw(&out.finish());
        }
        let header = format!("mode: {}{}", self.semantics, self.header);
        paragraph(&mut out, &header, style);
        let titles = self.titles();
        let (constant, kept) = folded(titles, self.rows());
        let titles: Vec<&str> = kept.iter().map(|at| titles[*at]).collect();
        let rows = || self.rows().map(|row| taken(row, &kept));
        let is_narrow = style.width.is_some_and(|width| width < TABLE);
        if is_narrow || !table::fits(&titles, rows(), style) {
            let is_mixed = self.is_mixed();
            for planned in self.planned {
                out.end_line();
                out.draw(&Self::block(planned, is_mixed, style));
            }
        } else {
            if !constant.is_empty() {
                paragraph(&mut out, &format!("in every row: {}", constant.join(" · ")), style);
            }
            out.end_line();
            draw(&std::mem::take(&mut out).finish())?;
            table::pieces(&titles, rows, style, &mut draw)?;
        }
        let errors = self.errors();
        if !errors.is_empty() {
            out.end_line();
        }
        for error in &errors {
            paragraph(&mut out, &format!("✗ {}", error.sentence), style);
            for service in &error.services {
                line!(out, "    {service}");
            }
            if let Some(help) = error.help {
                paragraph(&mut out, &format!("  help: {help}"), style);
            }
        }
        let mut notices = self.notices().peekable();
        if notices.peek().is_some() {
            out.end_line();
        }
        for notice in notices {
            paragraph(&mut out, &notice, style);
            draw(&std::mem::take(&mut out).finish())?;
        }
        draw(&out.finish())
    }

    /// The page as Markdown, for a pull request comment.
    pub fn markdown(&self) -> String {
        let mut out = Page::default();
        put!(out, "**ome plan** (mode: {})\n\n", self.semantics);
        if self.planned.is_empty() {
            out.push_str("No services.\n");
            return out.finish();
        }
        let titles = self.titles();
        let (constant, kept) = folded(titles, self.rows());
        if !constant.is_empty() {
            let constant: Vec<String> = constant.iter().map(|own| markdown::text(own)).collect();
            put!(out, "In every row: {}\n\n", constant.join(" · "));
        }
        let titles: Vec<String> = kept.iter().map(|at| small(titles[*at])).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        markdown::table(&mut out, &titles, self.rows().map(|row| taken(row, &kept)));
        let errors = self.errors();
        if !errors.is_empty() {
            out.end_line();
        }
        for error in &errors {
            let help = error.help.map_or(String::new(), |help| format!("; help: {help}"));
            let services = error.services.join(", ");
            markdown::list(&mut out, [format!("✗ {}: {services}{help}", error.sentence)]);
        }
        let mut notices = self.notices().peekable();
        if notices.peek().is_some() {
            out.end_line();
            markdown::list(&mut out, notices.map(|notice| notice.trim().to_owned()));
        }
        out.finish()
    }

    /// Whether any component has a fit, which requires a node that reports its resources.
    fn shows_fits(&self) -> bool {
        let mut components = self.planned.iter().flat_map(|planned| &planned.components);
        components.any(|component| component.fit.is_some())
    }

    fn titles(&self) -> &'static [&'static str] {
        &TITLES[..if self.shows_fits() { TITLES.len() } else { TITLES.len() - 1 }]
    }

    /// Whether services of several operators are shown: two of them may have the same name.
    fn is_mixed(&self) -> bool {
        let mut apis = self.planned.iter().map(|planned| planned.service.api);
        let first = apis.next();
        apis.any(|api| Some(api) != first)
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let (is_mixed, shows_fits) = (self.is_mixed(), self.shows_fits());
        self.planned.iter().flat_map(move |own| rows_of(own, is_mixed, shows_fits))
    }

    /// A service as lines.
    fn block(planned: &Planned<'_>, is_mixed: bool, style: Style) -> String {
        let mut out = Page::default();
        line!(out, "{}/{}", planned.service.namespace, name(planned, is_mixed));
        let mut attribute = |name: &str, text: &str| {
            let text = format!("  {name:<10} {text}");
            out.draw(&wrapped(&printable(&text), style.width, "             "));
        };
        attribute("model", &model(planned));
        if planned.error.is_some() {
            attribute("error", &decided_by(planned));
            return out.finish();
        }
        attribute("runtime", &format!("{} ({})", runtime(planned), decided_by(planned)));
        for component in &planned.components {
            let class = planned
                .class(component.kind)
                .map_or(String::new(), |class| format!(" on {}", class.object.shown_name()));
            let fits = match accelerator::fits(component).as_str() {
                "-" => String::new(),
                fits => format!(", fits: {fits}"),
            };
            let text = format!(
                "{}, replicas: {}, per replica: {}, {}{class}{fits}",
                component.mode.as_str(),
                replicas(component),
                plural(component.pods_per_replica, "pod"),
                plural(component.gpus(), "GPU"),
            );
            attribute(component.kind.as_str(), &text);
        }
        out.finish()
    }

    /// Errors by cause, in the order of their first service.
    fn errors(&self) -> Vec<Cause<'_>> {
        let mut causes: IndexMap<String, (&Failure, Vec<String>)> = IndexMap::new();
        for planned in self.planned {
            let Some(error) = &planned.error else { continue };
            let message = accelerator::message(error, planned, self.sources);
            let place =
                error.span.map_or(String::new(), |span| format!("  {}", self.sources.locate(span)));
            let cause = causes
                .entry(format!("{}: {message}", error.code.as_str()))
                .or_insert_with(|| (error, Vec::new()));
            cause.1.push(format!("{}{place}", named(planned)));
        }
        let mut found = Vec::new();
        for (sentence, (error, mut services)) in causes {
            let more = services.len().saturating_sub(NAMED);
            if more > 0 {
                services.truncate(NAMED);
                services.push(format!("and {more} more"));
            }
            found.push(Cause { sentence, services, help: error.help.as_deref() });
        }
        found
    }

    fn notices(&self) -> impl Iterator<Item = String> {
        let differences = std::iter::once_with(|| differences(self.planned)).flatten();
        self.planned.iter().flat_map(notices).chain(differences)
    }
}

/// Draws a line, wrapped to the width of the terminal.
fn paragraph(out: &mut Page, text: &str, style: Style) {
    out.draw(&wrapped(&printable(text), style.width, "  "));
}

/// Services that fail for the same reason.
struct Cause<'a> {
    sentence: String,
    services: Vec<String>,
    help: Option<&'a str>,
}

/// Folds the columns: returns those with the same value in every row, as `title value`, and the
/// indices of the others. An empty column is omitted. For a single service no column is folded,
/// except a class that it does not have.
fn folded(
    titles: &[&'static str],
    rows: impl Iterator<Item = Vec<String>>,
) -> (Vec<String>, Vec<usize>) {
    let mut services = 0;
    // For each column its first non-empty cell, and whether all other cells are equal to it.
    let mut columns: Vec<Option<(String, bool)>> = vec![None; titles.len()];
    for row in rows {
        services += usize::from(!row[SERVICE].is_empty());
        for (column, cell) in columns.iter_mut().zip(row).filter(|(_, cell)| !cell.is_empty()) {
            match column {
                Some((first, alike)) => *alike &= *first == cell,
                None => *column = Some((cell, true)),
            }
        }
    }
    let (mut words, mut kept) = (Vec::new(), Vec::new());
    for (at, column) in columns.into_iter().enumerate() {
        // The code of an error stays next to its service.
        let folds = |first: &str| services > 1 || (titles[at] == "CLASS" && first == "-");
        match column.filter(|_| at != SERVICE) {
            Some((first, true)) if folds(&first) && !first.starts_with('✗') => {
                words.extend((first != "-").then(|| format!("{} {first}", small(titles[at]))));
            }
            _ => kept.push(at),
        }
    }
    (words, kept)
}

/// The cells of some columns.
fn taken(row: Vec<String>, kept: &[usize]) -> Vec<String> {
    let cells = row.into_iter().enumerate();
    cells.filter(|(at, _)| kept.contains(at)).map(|(_, cell)| cell).collect()
}

/// A title in a line of text.
fn small(title: &str) -> String {
    title.to_lowercase().replace("gpus", "GPUs")
}

/// The name of a service, with its operator if the table has services of several operators.
fn name(planned: &Planned<'_>, is_mixed: bool) -> String {
    let of_kserve = is_mixed && planned.service.api == Api::KServe;
    format!("{}{}", planned.service.name, if of_kserve { " (KServe)" } else { "" })
}

/// A row per component; only the first row names the service.
fn rows_of(planned: &Planned<'_>, is_mixed: bool, shows_fits: bool) -> Vec<Vec<String>> {
    let lead = [
        planned.service.namespace.to_string(),
        name(planned, is_mixed),
        model(planned),
        runtime(planned),
        decided_by(planned),
    ];
    if planned.components.is_empty() || planned.error.is_some() {
        let rest = TITLES.len() - lead.len() - usize::from(!shows_fits);
        return vec![[lead.to_vec(), vec!["-".to_owned(); rest]].concat()];
    }
    let row = |(index, component): (usize, &PlannedComponent)| {
        let mut row = if index == 0 { lead.to_vec() } else { vec![String::new(); lead.len()] };
        row.extend([
            component.kind.as_str().to_owned(),
            component.mode.as_str().to_owned(),
            replicas(component),
            component.pods_per_replica.to_string(),
            component.gpus().to_string(),
            class(planned, component),
        ]);
        row.extend(shows_fits.then(|| accelerator::fits(component)));
        row
    };
    planned.components.iter().enumerate().map(row).collect()
}

fn named(planned: &Planned<'_>) -> String {
    planned.service.to_string()
}

fn model(planned: &Planned<'_>) -> String {
    let model = planned.resolution.model;
    model.map_or_else(|| inline(&planned.service), |model| model.object.id.name.to_string())
}

fn runtime(planned: &Planned<'_>) -> String {
    let chosen = planned.resolution.chosen();
    chosen.map_or("-".to_owned(), |runtime| runtime.object.shown_name().to_string())
}

/// The deciding criterion, or the code of the error.
pub(super) fn decided_by(planned: &Planned<'_>) -> String {
    if let Some(error) = &planned.error {
        return format!("✗ {}", error.code.as_str());
    }
    let by = planned.resolution.runtime.decided_by;
    by.map_or("", super::phrases::decided_by).to_owned()
}

/// The chosen runtime in a few words, for the margin of an editor: the deciding criterion, and the
/// number of eligible runtimes; `None` if no runtime is chosen.
pub fn hint(planned: &Planned<'_>) -> Option<String> {
    let decision = &planned.resolution.runtime;
    let name = decision.chosen?.object.shown_name();
    let by = decided_by(planned);
    let by = if by.is_empty() { by } else { format!(" · {by}") };
    Some(match decision.eligible {
        0 => format!("{name}{by}"),
        eligible => format!("{name}{by} · 1 of {eligible} eligible"),
    })
}

/// The accelerator class of a component.
fn class(planned: &Planned<'_>, component: &PlannedComponent) -> String {
    let chosen = planned.class(component.kind);
    chosen.map_or("-".to_owned(), |class| class.object.shown_name().to_string())
}

pub(super) fn replicas(component: &PlannedComponent) -> String {
    match component.max_replicas {
        Some(max) if component.min_replicas != Count::from(max) => {
            format!("{}..{max}", component.min_replicas)
        }
        _ => component.min_replicas.to_string(),
    }
}

/// Differences to the decision of the controller; services with the same difference share a line.
fn differences(planned: &[Planned<'_>]) -> Vec<String> {
    const NAMED: usize = 3;
    let mut groups: IndexMap<String, Vec<String>> = IndexMap::new();
    for planned in planned {
        let Some(difference) = &planned.controller else { continue };
        groups.entry(difference.to_string()).or_default().push(named(planned));
    }
    groups
        .into_iter()
        .map(|(difference, names)| format!("{}: {difference}", first_of(&names, NAMED)))
        .collect()
}

/// The error of a service and its notices, one line each.
pub(super) fn remarks(planned: &Planned<'_>, sources: &SourceMap) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(error) = &planned.error {
        let message = accelerator::message(error, planned, sources);
        out.push(format!("{}: error: {message}", named(planned)));
        out.extend(error.help.as_ref().map(|help| format!("  help: {help}")));
    }
    out.extend(notices(planned));
    out
}

/// Lines next to the table: what does not fit, and choices that the documents do not guarantee.
fn notices(planned: &Planned<'_>) -> Vec<String> {
    let name = named(planned);
    let mut out = Vec::new();
    for component in &planned.components {
        let lines = accelerator::missing(component);
        if let Some(fits) = accelerator::fitting(component).filter(|_| !lines.is_empty()) {
            out.push(format!(
                "{name}: {} fits: {fits}: {}",
                component.kind.as_str(),
                lines.join("; ")
            ));
        }
    }
    if !planned.resolution.runtime.guaranteed {
        for note in &planned.resolution.runtime.notes {
            out.push(format!("{name}: {note}"));
        }
    }
    for component in &planned.components {
        if let Some(decision) = &component.queue {
            out.push(format!(
                "{name}: {}: {}",
                component.kind.as_str(),
                super::queue::line(decision)
            ));
        }
    }
    out
}

//! `ome plan` as text: a table, or a block per service if the terminal is too narrow; errors by
//! cause; pods that do not fit; the verdict as the last sentence.

use super::accelerator;
use super::cell::{Cell, row};
use super::columns::{folded, small, taken};
use super::kv_cache;
use super::markdown;
use super::phrases::{first_of, inline, plural};
use super::screen::{Draw, Page, line, printable, put};
use super::table::{self, Style, wrapped};
use crate::api::{Failure, Model};
use crate::pipeline::serving::PlannedServing;
use crate::pipeline::{Costs, Planned, PlannedComponent, Unplanned};
use crate::policy::Readings;
use crate::quantity::{Count, ParamCount};
use crate::source::SourceMap;
use indexmap::{IndexMap, IndexSet};
use std::collections::HashSet;
use std::io;
use unicode_width::UnicodeWidthStr;

/// Narrower terminals show a block per service, and so do those that no table fits.
const NARROWEST: u16 = 72;

/// The width that decides which columns are lifted out of a page without a terminal.
const UNLIMITED: u16 = 120;

/// A table of fewer rows keeps all of its columns if they fit.
const FEW: usize = 8;

/// Up to this number of services are shown one by one.
pub(super) const MANY: usize = 200;

/// Of more services, how many are shown.
const WORST: usize = 20;

/// Fewest characters of a shortened cell.
const SHORTEST: usize = 12;

/// Number of services to name for a cause.
const NAMED: usize = 10;

/// Causes of errors that a page shows; `--all` has all of them.
const CAUSES: usize = 10;
/// Columns that only `-o wide` has.
static WIDE: [&str; 6] = ["SIZE", "MEMORY/GPU", "KV CACHE", "CONTEXT", "REQUESTS", "$/HOUR"];

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

/// The column of the deployment mode.
const MODE: usize = 6;

/// Columns with names, which are shortened where the table does not fit.
static NAMES: [&str; 5] = ["NAMESPACE", "SERVICE", "MODEL", "RUNTIME", "CLASS"];

/// The data of the page.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The mode.
    pub readings: Readings,
    /// The input, for the first line.
    pub header: &'a str,
    /// The services.
    pub planned: &'a [Planned<'a>],
    /// The sources.
    pub sources: &'a SourceMap,
    /// How much of the fleet the page shows.
    pub extent: Extent<'a>,
    /// The arguments of the input that commands need which the page proposes, each with a blank
    /// before it.
    pub arguments: &'a str,
}

/// How much of a fleet a page shows.
#[derive(Clone, Copy, Default)]
pub enum Extent<'a> {
    /// Of more than 200 services those that need attention; cells are shortened to fit.
    #[default]
    Short,
    /// Every service.
    All,
    /// Every service, with further columns; its costs are those of the plan.
    Wide(Option<&'a Costs>),
}

impl<'a> Plan<'a> {
    /// The page in pieces, so that the page of a large fleet is never in memory as a whole.
    ///
    /// # Errors
    /// The error of `draw`.
    pub fn text(&self, style: Style, draw: &mut Draw<'_>) -> io::Result<()> {
        let mut out = Page::default();
        if self.planned.is_empty() {
            put!(out, "{}\n\n", self.first_line());
            out.push_str("no services\n");
            return draw(&out.finish());
        }
        paragraph(&mut out, &self.first_line(), style);
        let shown = self.shown();
        self.draw_services(&shown, &mut out, style, draw)?;
        if shown.len() < self.planned.len() {
            out.end_line();
            paragraph(&mut out, &self.left_out(&shown), style);
        }
        let errors = self.errors();
        if !errors.is_empty() {
            out.end_line();
        }
        // Of many causes the first ones fit a screen, and each service has its own page.
        let most = if matches!(self.extent, Extent::Short) { CAUSES } else { errors.len() };
        for error in errors.iter().take(most) {
            paragraph(&mut out, &format!("✗ {}", error.sentence), style);
            for service in &error.services {
                line!(out, "    {service}");
            }
            if let Some(help) = error.help {
                paragraph(&mut out, &format!("  help: {help}"), style);
            }
        }
        let more: usize = errors.iter().skip(most).map(|error| error.count).sum();
        if more > 0 {
            let are = if more == 1 { "service is" } else { "services are" };
            let arguments = self.arguments;
            let text = format!(
                "✗ {more} more {are} in error: `ome plan --all{arguments}` shows all of them"
            );
            paragraph(&mut out, &text, style);
        }
        let mut notices = self.notices(&shown).peekable();
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
        put!(out, "**ome plan** (mode: {})\n\n", self.readings);
        // A comment has no terminal, so it has every service.
        let shown: Vec<&Planned<'_>> = self.planned.iter().collect();
        if self.planned.is_empty() {
            out.push_str("No services.\n");
            return out.finish();
        }
        let titles = self.titles();
        let (constant, kept) = folded(&titles, self.rows(&shown));
        if !constant.is_empty() {
            let constant: Vec<String> =
                constant.iter().map(|constant| markdown::text(constant)).collect();
            put!(out, "In every row: {}\n\n", constant.join(" · "));
        }
        let titles: Vec<String> = kept.iter().map(|at| small(titles[*at])).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        markdown::table(&mut out, &titles, self.rows(&shown).map(|row| taken(row, &kept)));
        let errors = self.errors();
        if !errors.is_empty() {
            out.end_line();
        }
        for error in &errors {
            let help = error.help.map_or(String::new(), |help| format!("; help: {help}"));
            let services = error.services.join(", ");
            markdown::list(&mut out, [format!("✗ {}: {services}{help}", error.sentence)]);
        }
        let mut notices = self.notices(&shown).peekable();
        if notices.peek().is_some() {
            out.end_line();
            markdown::list(&mut out, notices.map(|notice| notice.trim().to_owned()));
        }
        out.finish()
    }

    /// Whether any component has a fit, which requires a node that reports its resources.
    fn shows_fits(&self) -> bool {
        // Without a node that reports its resources, the column would be empty in every row.
        let mut components = self.planned.iter().flat_map(|planned| &planned.components);
        components.any(|component| component.placement.is_some())
    }

    fn titles(&self) -> Vec<&'static str> {
        let base = &TITLES[..if self.shows_fits() { TITLES.len() } else { TITLES.len() - 1 }];
        let wide: &[&str] = if matches!(self.extent, Extent::Wide(_)) { &WIDE } else { &[] };
        [base, wide].concat()
    }

    /// The mode, unless it is the default, and what was read.
    fn first_line(&self) -> String {
        if self.readings.is_documented() {
            self.header.trim_start_matches(" · ").to_owned()
        } else {
            format!("mode: {}{}", self.readings, self.header)
        }
    }

    /// The services to show. Of many, those in error, those with pending pods, and those with the
    /// most GPUs.
    fn shown(&self) -> Vec<&'a Planned<'a>> {
        if !matches!(self.extent, Extent::Short) || self.planned.len() <= MANY {
            return self.planned.iter().collect();
        }
        let gpus = |planned: &Planned<'_>| {
            // An unknown number counts as 0: nothing shows that it is large.
            let components =
                planned.components.iter().filter_map(|component| component.least_gpus().number());
            components.fold(0_i64, i64::saturating_add)
        };
        let key = |at: &usize| {
            let planned = &self.planned[*at];
            (planned.error.is_none(), !waits(planned), std::cmp::Reverse(gpus(planned)), *at)
        };
        // Errors first, then what waits: both need someone, and large services cost the most.
        let mut places: Vec<usize> = (0..self.planned.len()).collect();
        places.sort_by_cached_key(key);
        places.truncate(WORST);
        // Back in the order of the input, which is the order of all other pages.
        places.sort_unstable();
        places.into_iter().map(|at| &self.planned[at]).collect()
    }

    /// What the page does not show, and how to see it.
    fn left_out(&self, shown: &[&Planned<'_>]) -> String {
        let count = |is: fn(&Planned<'_>) -> bool| {
            self.planned.iter().filter(|planned| is(planned)).count()
        };
        let failed = count(|planned| planned.error.is_some());
        let waiting = count(waits);
        format!(
            "{} of {}: those in error ({failed}), those with pending pods ({waiting}), then those \
             with the most GPUs. All: `ome plan --all{}`; fewer: `-n NAMESPACE`, `-l SELECTOR`; for \
             programs: `-o json`",
            shown.len(),
            plural(self.planned.len(), "service"),
            self.arguments
        )
    }

    /// Draws services as a table, or as blocks where no table fits.
    fn draw_services(
        &self,
        shown: &[&Planned<'_>],
        out: &mut Page,
        style: Style,
        draw: &mut Draw<'_>,
    ) -> io::Result<()> {
        let titles = self.titles();
        // Without a terminal a width is assumed, so that a log has the table that a screen has.
        let limited = Style { width: style.width.or(Some(UNLIMITED)), ..style };
        // Counted no further than needed: the rows of a fleet are made by their names.
        let few = self.rows(shown).take(FEW).count() < FEW;
        let (constant, kept) = if few && table::fits(&titles, self.rows(shown), limited) {
            (Vec::new(), (0..titles.len()).collect())
        } else {
            folded(&titles, self.rows(shown))
        };
        let titles: Vec<&str> = kept.iter().map(|at| titles[*at]).collect();
        let rows = || self.rows(shown).map(|row| taken(row, &kept));
        let is_narrow = style.width.is_some_and(|width| width < NARROWEST);
        let shortened = if is_narrow || table::fits(&titles, rows(), style) {
            None
        } else {
            Some(shortened(&titles, rows().collect(), style))
        };
        // Blocks read the rows once more, so nothing was drawn yet.
        if is_narrow || matches!(shortened, Some(None)) {
            let is_mixed = self.is_mixed();
            for planned in shown {
                out.end_line();
                out.draw(&Self::block(planned, is_mixed, style));
            }
            return Ok(());
        }
        let shortened = shortened.flatten();
        if !constant.is_empty() {
            // A row in error has no values, and the sentence must not claim them for it.
            let failed = shown.iter().filter(|planned| planned.error.is_some()).count();
            let which = if failed > 0 && failed < shown.len() {
                "in every row without an error"
            } else {
                "in every row"
            };
            paragraph(out, &format!("{which}: {}", constant.join(" · ")), style);
        }
        if let Some((.., line)) = shortened.as_ref().filter(|(.., line)| !line.is_empty()) {
            paragraph(out, line, style);
        }
        out.end_line();
        // The head is drawn before the rows: of a large fleet the first lines come at once.
        draw(&std::mem::take(out).finish())?;
        match shortened {
            Some((titles, rows, _)) => {
                let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
                table::pieces(&titles, || rows.iter().cloned(), style, draw)
            }
            None => table::pieces(&titles, rows, style, draw),
        }
    }

    /// Whether services of several operators are shown: two of them may have the same name.
    fn is_mixed(&self) -> bool {
        let mut apis = self.planned.iter().map(|planned| planned.service.api);
        let first = apis.next();
        apis.any(|api| Some(api) != first)
    }

    fn rows<'s>(&'s self, shown: &'s [&Planned<'_>]) -> impl Iterator<Item = Vec<Cell>> + 's {
        let (is_mixed, shows_fits) = (self.is_mixed(), self.shows_fits());
        let wide = move |planned: &Planned<'_>, rows: &mut [Vec<Cell>]| {
            let Extent::Wide(costs) = self.extent else { return };
            for (index, row) in rows.iter_mut().enumerate() {
                let [size, cost] =
                    if index == 0 { further(planned, costs) } else { Default::default() };
                // What has no devices keeps no cache in them.
                let component =
                    planned.components.get(index).filter(|component| component.gpus() != 0.into());
                row.push(size);
                row.extend(component.map_or_else(
                    || std::array::from_fn(|_| Cell::none()),
                    |component| kv_cache::cells(component.cache.as_deref()).map(Cell::from),
                ));
                row.push(cost);
            }
        };
        shown.iter().flat_map(move |planned| {
            let mut rows = rows_of(planned, is_mixed, shows_fits);
            // Rows of a service are alike in what concerns the service as a whole.
            wide(planned, &mut rows);
            rows
        })
    }

    /// A service as lines.
    fn block(planned: &Planned<'_>, is_mixed: bool, style: Style) -> String {
        let mut out = Page::default();
        line!(out, "{}/{}", planned.service.namespace, name(planned, is_mixed));
        let mut attribute = |name: &str, text: &str| {
            let text = format!("  {name:<10} {text}");
            out.draw(&wrapped(&printable(&text), style.width, "             "));
        };
        attribute("model", &model(planned).text);
        if planned.unplanned.is_some() {
            attribute("plan", &decided_by(planned).text);
            return out.finish();
        }
        if planned.error.is_some() {
            attribute("error", &decided_by(planned).text);
            return out.finish();
        }
        let (runtime, by) = (runtime(planned), decided_by(planned));
        attribute("runtime", &format!("{} ({})", runtime.text, by.text));
        for component in &planned.components {
            let class = planned
                .class(component.kind)
                .map_or(String::new(), |class| format!(" on {}", class.object.shown_name()));
            let fits = match super::together::behind(component) {
                Some(fits) => fits,
                None if component.is_counted() => String::new(),
                None => format!(", fits: {}", Count::UNKNOWN),
            };
            let text = format!(
                "{}, replicas: {}, per replica: {}, {}{class}{fits}",
                mode(component),
                replicas(component),
                with_shared(
                    component,
                    plural(component.pods_per_replica, "pod"),
                    component.shared_pods()
                ),
                with_shared(component, plural(component.gpus(), "GPU"), component.shared_gpus()),
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
            // By sentence: one wrong runtime can fail hundreds of services.
            let cause = causes
                .entry(format!("{}: {message}", error.code.as_str()))
                .or_insert_with(|| (error, Vec::new()));
            cause.1.push(format!("{}{place}", named(planned)));
        }
        let mut found = Vec::new();
        for (sentence, (error, mut services)) in causes {
            let count = services.len();
            // The names are cut, and the count is of all.
            let more = count.saturating_sub(NAMED);
            if more > 0 {
                services.truncate(NAMED);
                services.push(format!("and {more} more"));
            }
            found.push(Cause { sentence, services, count, help: error.help.as_deref() });
        }
        found
    }

    fn notices(&self, shown: &[&Planned<'_>]) -> impl Iterator<Item = String> {
        let differences = std::iter::once_with(|| differences(self.planned)).flatten();
        // Variants of one service have the same lines.
        let mut seen = HashSet::new();
        let each = shown.iter().flat_map(|planned| notices(planned));
        let each = each.filter(move |line| seen.insert(line.clone()));
        each.chain(of_model_mesh(shown)).chain(differences)
    }
}

/// Whether a pod of the service stays without a node.
fn waits(planned: &Planned<'_>) -> bool {
    planned.components.iter().any(|component| component.fits() == Some(false))
}

/// The cells of `-o wide` about a service: the size of the model, and the cost.
fn further(planned: &Planned<'_>, costs: Option<&Costs>) -> [Cell; 2] {
    let size = planned.resolution.model.and_then(Model::parameters);
    let service = &planned.service;
    let cost = costs.and_then(|costs| costs.of(&service.namespace, &service.name));
    [Cell::or_none(size.map(ParamCount::short)), Cell::or_none(cost.map(|cost| cost.to_string()))]
}

/// Columns to leave out of a table that does not fit with shortened names; `explain` has them.
static LEAVE_OUT: [&str; 3] = ["BY", "PODS", "MODEL"];

/// A table in fewer characters: the criterion in one word, the commonest mode left out, the middle
/// of the longest names left out, and columns of [`LEAVE_OUT`] as far as it takes; `None` if even
/// that does not fit. Further, the line that says what was left out.
fn shortened(
    titles: &[&str],
    rows: Vec<Vec<Cell>>,
    style: Style,
) -> Option<(Vec<String>, Vec<Vec<Cell>>, String)> {
    let (mut titles, mut rows, mode) = in_few_words(titles, rows);
    let mut lines = Vec::new();
    lines.extend(mode.map(|mode| format!("mode {mode} unless the component names another")));
    let mut dropped = Vec::new();
    // One more try than columns to leave out: the first is made with all of them.
    for title in LEAVE_OUT.iter().map(Some).chain([None]) {
        if let Some(rows) = with_short_names(&titles, &rows, style) {
            if !dropped.is_empty() {
                lines.push(format!("columns left out: {} (`-o wide`)", dropped.join(", ")));
            }
            return Some((titles, rows, lines.join(" · ")));
        }
        if let Some(at) = title.and_then(|title| titles.iter().position(|name| name == title)) {
            dropped.push(small(&titles.remove(at)));
            for row in &mut rows {
                row.remove(at);
            }
        }
    }
    None
}

/// A table with shorter titles and cells, and the mode that its rows leave out.
fn in_few_words(
    titles: &[&str],
    mut rows: Vec<Vec<Cell>>,
) -> (Vec<String>, Vec<Vec<Cell>>, Option<String>) {
    let column = |title: &str| titles.iter().position(|name| *name == title);
    let mut titles: Vec<String> = titles
        .iter()
        .map(|title| match *title {
            "PODS/REPLICA" => "PODS".to_owned(),
            "GPUS/REPLICA" => "GPUS".to_owned(),
            "DECIDED BY" => "BY".to_owned(),
            title => title.to_owned(),
        })
        .collect();
    if let Some(by) = column("DECIDED BY") {
        for row in &mut rows {
            // A service in error has no runtime.
            if let Some(runtime) = column("RUNTIME").filter(|_| row[by].is_bad()) {
                // Its code stays on one line.
                row[runtime] = row[by].with(row[by].text.replace(' ', "\u{a0}"));
                row[by] = Cell::none();
            } else {
                let word = super::phrases::in_one_word(&row[by].text).to_owned();
                row[by].text = word;
            }
        }
    }
    let (Some(mode), Some(component)) = (column("MODE"), column("COMPONENT")) else {
        return (titles, rows, None);
    };
    let mut counts: IndexMap<String, usize> = IndexMap::new();
    for row in rows.iter().filter(|row| !row[mode].is_none()) {
        *counts.entry(row[mode].text.clone()).or_default() += 1;
    }
    // Of modes that are as common, the first.
    let most = counts.values().max().copied();
    let commonest = counts.into_iter().find(|(_, count)| Some(*count) == most);
    let commonest = commonest.map(|(mode, _)| mode);
    for row in &mut rows {
        let removed = row.remove(mode);
        // The mode of others goes to the component, whose mode it is.
        if !removed.is_none() && commonest.as_ref() != Some(&removed.text) {
            let cell = &mut row[component - usize::from(mode < component)];
            cell.text.push(' ');
            cell.text.push_str(&removed.text);
        }
    }
    // After the rows, whose cells were found by the place of the column.
    titles.remove(mode);
    (titles, rows, commonest)
}

/// The rows with names that are as long as fits the terminal; `None` if the shortest do not fit.
fn with_short_names(titles: &[String], rows: &[Vec<Cell>], style: Style) -> Option<Vec<Vec<Cell>>> {
    let headed: Vec<&str> = titles.iter().map(String::as_str).collect();
    let names: Vec<usize> =
        NAMES.iter().filter_map(|title| titles.iter().position(|name| name == title)).collect();
    let lengths = rows.iter().flat_map(|row| names.iter().map(|at| row[*at].text.width()));
    let longest = lengths.max().unwrap_or(SHORTEST).max(SHORTEST);
    // From the longest: most tables need a few characters less.
    (SHORTEST..=longest).rev().find_map(|most| {
        let cut = rows.iter().map(|row| {
            let mut row = row.clone();
            for at in &names {
                // The code of an error is what a reader looks for, and is not cut.
                if !row[*at].is_bad() {
                    row[*at].text = without_middle(&row[*at].text, most);
                }
            }
            row
        });
        let cut: Vec<Vec<Cell>> = cut.collect();
        table::fits_unwrapped(&headed, cut.iter().cloned(), style).then_some(cut)
    })
}

/// A name with at most this many characters: without its operator in parentheses, then without its
/// middle; its end tells names of one family apart.
fn without_middle(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    // The end has what differs: names of a family begin alike.
    let (head, tail) = ((most - 1) / 2, most - 1 - (most - 1) / 2);
    let first = name.chars().take(head);
    first.chain(std::iter::once('…')).chain(name.chars().skip(count - tail)).collect()
}

/// Draws a line, wrapped to the width of the terminal.
fn paragraph(out: &mut Page, text: &str, style: Style) {
    out.draw(&wrapped(&printable(text), style.width, "  "));
}

/// Services that fail for the same reason.
struct Cause<'a> {
    sentence: String,
    services: Vec<String>,
    /// How many there are.
    count: usize,
    help: Option<&'a str>,
}

/// The name of a service, with its operator if the table has services of several operators.
fn name(planned: &Planned<'_>, is_mixed: bool) -> String {
    let of = if is_mixed { planned.service.api.behind_name() } else { "" };
    let directory = planned.service.variant.as_ref();
    let directory = directory.map_or(String::new(), |directory| format!(" ({directory})"));
    format!("{}{of}{directory}", planned.service.name)
}

/// The deployment mode, and what decided it where several sources can.
fn mode(component: &PlannedComponent) -> String {
    let basis = component.mode_basis.map_or(String::new(), |basis| format!(" ({basis})"));
    format!("{}{basis}", component.mode.as_str())
}

/// An amount of one replica, with the part that all replicas have together where there are several.
fn with_shared(component: &PlannedComponent, amount: String, shared: i64) -> String {
    if shared == 0 || component.settled_replicas == 1.into() {
        return amount;
    }
    format!("{amount} ({shared} shared)")
}

/// A row per component; only the first row names the service.
fn rows_of(planned: &Planned<'_>, is_mixed: bool, shows_fits: bool) -> Vec<Vec<Cell>> {
    let lead = [
        Cell::from(&planned.service.namespace),
        name(planned, is_mixed).into(),
        model(planned),
        runtime(planned),
        decided_by(planned),
    ];
    // A refused service has its components all the same: the server refuses only its pods.
    let is_shown = planned.error.is_none() || planned.refused;
    if planned.components.is_empty() || !is_shown {
        let rest = TITLES.len() - lead.len() - usize::from(!shows_fits);
        let mut row = [lead.to_vec(), vec![Cell::none(); rest]].concat();
        if let Some(Unplanned::ModelMesh(_)) = planned.unplanned {
            row[MODE] = "ModelMesh".into();
        }
        return vec![row];
    }
    let row = |(index, component): (usize, &PlannedComponent)| {
        let mut row = if index == 0 { lead.to_vec() } else { vec![Cell::default(); lead.len()] };
        row.extend(row![
            component.kind.as_str(),
            mode(component),
            replicas(component),
            with_shared(component, component.pods_per_replica.to_string(), component.shared_pods()),
            with_shared(component, component.gpus().to_string(), component.shared_gpus()),
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

pub(super) fn model(planned: &Planned<'_>) -> Cell {
    match planned.resolution.model {
        Some(model) => (&model.object.id.name).into(),
        None => Cell::or_none(inline(&planned.service)),
    }
}

pub(super) fn runtime(planned: &Planned<'_>) -> Cell {
    // ModelMesh is named by the service, and selects nothing.
    if let Some(Unplanned::ModelMesh(Some(named))) = &planned.unplanned {
        return named.clone().into();
    }
    let chosen = planned.resolution.chosen();
    Cell::or_none(chosen.map(|runtime| runtime.object.shown_name()))
}

/// The deciding criterion, or the code of the error.
pub(super) fn decided_by(planned: &Planned<'_>) -> Cell {
    if let Some(error) = &planned.error {
        return Cell::bad(error.code.as_str());
    }
    match &planned.unplanned {
        Some(Unplanned::Placeholders) => return "not planned: placeholders".into(),
        Some(Unplanned::ModelMesh(_)) => return "not planned".into(),
        None => {}
    }
    let by = planned.resolution.runtime.decided_by;
    by.map_or("", super::phrases::decided_by).into()
}

/// The chosen runtime in a few words, for the margin of an editor: the deciding criterion, and the
/// number of eligible runtimes; `None` if no runtime is chosen.
pub fn hint(planned: &Planned<'_>) -> Option<String> {
    let decision = &planned.resolution.runtime;
    let name = decision.chosen?.object.shown_name();
    let by = decided_by(planned).text;
    let by = if by.is_empty() { by } else { format!(" · {by}") };
    Some(match decision.eligible {
        // A runtime that is named by the service was not chosen among others.
        0 => format!("{name}{by}"),
        eligible => format!("{name}{by} · 1 of {eligible} eligible"),
    })
}

/// The accelerator class of a component.
fn class(planned: &Planned<'_>, component: &PlannedComponent) -> Cell {
    let chosen = planned.class(component.kind);
    Cell::or_none(chosen.map(|class| class.object.shown_name()))
}

pub(super) fn replicas(component: &PlannedComponent) -> String {
    // An autoscaler of the input has the last word, and the totals count what it leaves.
    if let Some((least, most)) = component.scaled() {
        return if least == most { least.to_string() } else { format!("{least}..{most}") };
    }
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
    out.extend(of_model_mesh(&[planned]));
    out
}

/// The services whose models ModelMesh places, in one line.
fn of_model_mesh(shown: &[&Planned<'_>]) -> Option<String> {
    let is_mesh =
        |planned: &&&Planned<'_>| matches!(planned.unplanned, Some(Unplanned::ModelMesh(_)));
    let names: IndexSet<String> =
        shown.iter().filter(is_mesh).map(|planned| named(planned)).collect();
    let names = (!names.is_empty()).then(|| first_of(&names, 3))?;
    Some(format!("{names}: ModelMesh places its models itself: not planned"))
}

/// Lines next to the table: what does not fit, and choices that the documents do not guarantee.
fn notices(planned: &Planned<'_>) -> Vec<String> {
    let name = named(planned);
    let mut out = Vec::new();
    out.extend(planned.unread.iter().map(|message| format!("{name}: {message}")));
    for component in &planned.components {
        let lines = accelerator::missing(component);
        if let Some(fits) = accelerator::fitting(component).filter(|_| !lines.is_empty()) {
            out.push(format!(
                "{name}: {} fits: {}: {}",
                component.kind.as_str(),
                fits.text,
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

/// The services of a plan, a line each: kind, namespace and name.
pub fn names(planned: &[Planned<'_>], servings: &[PlannedServing<'_>]) -> Vec<String> {
    let services =
        planned.iter().map(|planned| format!("{}/{}", planned.service.kind, planned.service));
    let servings = servings.iter().map(|serving| {
        format!("ModelServing/{}/{}", serving.serving.namespace, serving.serving.name())
    });
    services.chain(servings).collect()
}

//! Tables.

use super::accelerator;
use super::markdown;
use super::screen::{Page, line, printable, put};
use crate::api::{Api, Follow, Service};
use crate::cluster::Machine;
use crate::pipeline::{Planned, PlannedComponent, Together};
use crate::quantity::Count;
use crate::source::SourceMap;
use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use indexmap::IndexMap;

/// How text may look.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Color and bold.
    pub color: bool,
    /// Width of the terminal; `None`: as wide as need be.
    pub width: Option<u16>,
}

/// A table without frame, as kubectl prints it.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, style: Style) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    match style.width {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    if style.color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(header.iter().map(|title| {
        let cell = Cell::new(printable(title));
        if style.color { cell.add_attribute(Attribute::Bold) } else { cell }
    }));
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// `ome plan` for people: a header, one row per component, what goes wrong, a summary.
pub fn plan(
    semantics: Follow,
    header: &str,
    planned: &[Planned<'_>],
    machines: &[Machine],
    together: Option<&Together>,
    sources: &SourceMap,
    style: Style,
) -> String {
    let shown = Columns::of(planned);
    let mut out = Page::default();
    put!(out, "mode: {semantics}{header}\n\n");
    if planned.is_empty() {
        out.push_str("no services\n");
        return out.finish();
    }
    let mixed = planned.iter().any(|one| one.service.object.api != planned[0].service.object.api);
    let rows = planned.iter().flat_map(|planned| {
        let model = planned
            .resolution
            .model
            .map_or_else(|| inline(planned.service), |model| model.object.id.name.to_string());
        // A service of KServe may have the name of one of OME.
        let of_kserve = mixed && planned.service.object.api == Api::KServe;
        let name =
            format!("{}{}", planned.service.name(), if of_kserve { " (KServe)" } else { "" });
        let runtime = planned
            .resolution
            .chosen()
            .map_or("-".to_owned(), |runtime| runtime.object.shown_name().to_string());
        let by = planned.resolution.runtime.decided_by.map_or("", super::phrases::decided_by);
        let lead = |component: Option<&PlannedComponent>| {
            let mut row = vec![
                planned.service.namespace.to_string(),
                name.clone(),
                model.clone(),
                runtime.clone(),
                planned
                    .error
                    .as_ref()
                    .map_or_else(|| by.to_owned(), |error| error.code.as_str().to_owned()),
                component.map_or("-".to_owned(), |component| component.kind.as_str().to_owned()),
                component.map_or("-".to_owned(), |component| component.mode.as_str().to_owned()),
                component.map_or("-".to_owned(), replicas),
                component
                    .map_or("-".to_owned(), |component| component.pods_per_replica.to_string()),
                component.map_or("-".to_owned(), |component| gpus(planned, component)),
            ];
            row.extend(shown.fits.then(|| component.map_or("-".to_owned(), accelerator::fits)));
            row
        };
        if planned.components.is_empty() || planned.error.is_some() {
            vec![lead(None)]
        } else {
            planned
                .components
                .iter()
                .enumerate()
                .map(|(index, component)| {
                    let mut row = lead(Some(component));
                    if index > 0 {
                        // The service is named once.
                        row[..5].iter_mut().for_each(String::clear);
                    }
                    row
                })
                .collect()
        }
    });
    let titles = [
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
        "FITS",
    ];
    out.draw(&table(
        &titles[..if shown.fits { titles.len() } else { titles.len() - 1 }],
        rows,
        style,
    ));
    let remarks: Vec<String> = planned
        .iter()
        .flat_map(|planned| remarks(planned, sources))
        .chain(differences(planned))
        .collect();
    if !remarks.is_empty() {
        out.end_line();
        for remark in remarks {
            line!(out, "{remark}");
        }
    }
    put!(out, "\n{}\n", summary(planned));
    let totals = accelerator::totals(planned, machines, together);
    if !totals.is_empty() {
        out.end_line();
        let rows = totals.iter().map(total);
        out.draw(&table(&["CLASS", "REQUESTED", "ALLOCATABLE", "IN USE", "FREE"], rows, style));
    }
    out.finish()
}

/// The format of a model that a service describes itself.
pub(super) fn inline(service: &Service) -> String {
    let format = service.inline.as_ref().and_then(|inline| inline.model.format.as_ref());
    format.map_or_else(
        || "-".to_owned(),
        |format| match &format.version {
            Some(version) => format!("{} {}", format.name.value, version.value.text()),
            None => format.name.value.to_string(),
        },
    )
}

/// Columns that only some plans need.
struct Columns {
    /// Some node says what it has.
    fits: bool,
}

impl Columns {
    fn of(planned: &[Planned<'_>]) -> Self {
        Self {
            fits: planned
                .iter()
                .flat_map(|planned| &planned.components)
                .any(|component| component.fit.is_some()),
        }
    }
}

/// `4`, or `4 nvidia-h100-80gb` where a class was chosen.
fn gpus(planned: &Planned<'_>, component: &PlannedComponent) -> String {
    match planned.class(component.kind) {
        Some(class) => format!("{} {}", component.gpus(), class.object.shown_name()),
        None => component.gpus().to_string(),
    }
}

/// `ome plan` as Markdown, for a pull request comment.
pub fn plan_markdown(
    semantics: Follow,
    planned: &[Planned<'_>],
    machines: &[Machine],
    together: Option<&Together>,
    sources: &SourceMap,
) -> String {
    let shown = Columns::of(planned);
    let mut out = Page::default();
    put!(out, "**ome plan** (mode: {semantics})\n\n");
    let mut titles = vec![
        "service",
        "model",
        "runtime",
        "decided by",
        "component",
        "mode",
        "replicas",
        "GPUs/replica",
    ];
    titles.extend(shown.fits.then_some("fits"));
    let rows = planned.iter().flat_map(|planned| {
        let model = planned.resolution.model.map_or("-", |model| model.object.id.name.as_str());
        let runtime =
            planned.resolution.chosen().map_or("-".into(), |runtime| runtime.object.shown_name());
        let by = planned.error.as_ref().map_or_else(
            || planned.resolution.runtime.decided_by.map_or("", super::phrases::decided_by),
            |error| error.code.as_str(),
        );
        let lead = [
            format!("{}/{}", planned.service.namespace, planned.service.name()),
            model.to_owned(),
            runtime.to_string(),
            by.to_owned(),
        ];
        let row = |cells: Vec<String>| [lead.to_vec(), cells].concat();
        if planned.components.is_empty() {
            return vec![row(vec!["-".to_owned(); titles.len() - lead.len()])];
        }
        let component = |component: &PlannedComponent| {
            let mut cells = vec![
                component.kind.as_str().to_owned(),
                component.mode.as_str().to_owned(),
                replicas(component),
                gpus(planned, component),
            ];
            cells.extend(shown.fits.then(|| accelerator::fits(component)));
            row(cells)
        };
        planned.components.iter().map(component).collect()
    });
    markdown::table(&mut out, &titles, rows);
    let remarks: Vec<String> = planned
        .iter()
        .flat_map(|planned| remarks(planned, sources))
        .chain(differences(planned))
        .collect();
    if !remarks.is_empty() {
        out.end_line();
        markdown::list(&mut out, remarks.iter().map(|remark| remark.trim()));
    }
    put!(out, "\n{}\n", summary(planned));
    let totals = accelerator::totals(planned, machines, together);
    if !totals.is_empty() {
        out.end_line();
        let titles = ["class", "requested", "allocatable", "in use", "free"];
        markdown::table(&mut out, &titles, totals.iter().map(total));
    }
    out.finish()
}

/// What is asked of a class, and what its nodes have.
fn total(total: &accelerator::ClassTotal<'_>) -> Vec<String> {
    let number = |value: Option<i64>| value.map_or("-".to_owned(), |value| value.to_string());
    vec![
        total.name.to_owned(),
        total.asked.to_string(),
        number(total.allocatable),
        number(total.in_use),
        number(total.left()),
    ]
}

pub(super) fn replicas(component: &PlannedComponent) -> String {
    match component.max_replicas {
        Some(max) if component.min_replicas != Count::from(max) => {
            format!("{}..{max}", component.min_replicas)
        }
        _ => component.min_replicas.to_string(),
    }
}

/// What the controller would do otherwise; services of which the same is said share a line.
fn differences(planned: &[Planned<'_>]) -> Vec<String> {
    const NAMED: usize = 3;
    let mut groups: IndexMap<String, Vec<String>> = IndexMap::new();
    for planned in planned {
        let Some(difference) = &planned.controller else { continue };
        let name = format!("{}/{}", planned.service.namespace, planned.service.name());
        groups.entry(difference.to_string()).or_default().push(name);
    }
    groups
        .into_iter()
        .map(|(difference, names)| match names.len().checked_sub(NAMED) {
            None | Some(0) => format!("{}: {difference}", names.join(", ")),
            Some(more) => {
                format!("{} and {more} more: {difference}", names[..NAMED].join(", "))
            }
        })
        .collect()
}

/// What a person has to know beside the table, a line each: errors, and choices the documents do not
/// guarantee.
pub(super) fn remarks(planned: &Planned<'_>, sources: &SourceMap) -> Vec<String> {
    let name = format!("{}/{}", planned.service.namespace, planned.service.name());
    let mut out = Vec::new();
    if let Some(error) = &planned.error {
        out.push(format!("{name}: error: {}", accelerator::message(error, planned, sources)));
        if let Some(help) = &error.help {
            out.push(format!("  help: {help}"));
        }
    }
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

/// "3 services, 1 in error; 4 pods and 8 GPUs at minReplicas".
pub(super) fn summary(planned: &[Planned<'_>]) -> String {
    let failed = planned.iter().filter(|planned| planned.error.is_some()).count();
    let components = || {
        planned
            .iter()
            .filter(|planned| planned.error.is_none())
            .flat_map(|planned| &planned.components)
    };
    let sum = |of: fn(&PlannedComponent) -> Count| -> i64 {
        components().filter_map(|component| of(component).known()).sum()
    };
    let unknown = components().filter(|component| !component.is_counted()).count();
    let count =
        |number: i64, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let services = count(i64::try_from(planned.len()).unwrap_or(i64::MAX), "service");
    let failed = if failed == 0 { String::new() } else { format!(", {failed} in error") };
    let beside = match unknown {
        0 => String::new(),
        1 => ", 1 component not counted".to_owned(),
        more => format!(", {more} components not counted"),
    };
    format!(
        "{services}{failed}; {} and {} at minReplicas{beside}",
        count(sum(PlannedComponent::least_pods), "pod"),
        count(sum(PlannedComponent::least_gpus), "GPU")
    )
}

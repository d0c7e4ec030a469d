//! The table of published models: facts of their repositories on the Hugging Face Hub.
//!
//! In: the id of a repository. Out: its row. `published.tsv` is made by `examples/models.rs` from
//! public sources, sorted by id; a look-up is a binary search over the text and reads one line, so
//! nothing is parsed before it is requested and nothing else is parsed then.
//!
//! Columns: id; confidence (`c` a config.json was read, `2` two sources agree, `1` one source);
//! architecture; `model_type`; library when it is not transformers; its version, after `?` when
//! only the runtime made for the model states it; parameters; elements in the safetensors files
//! when they are not as many; quantization by its finest name; quantization as the model agent
//! writes it, `?` when unknown; context in tokens; capabilities.

use super::{Basis, Facts, shapes};
use crate::quantity::ParamCount;

const TABLE: &str = include_str!("published.tsv");

/// The confidence in the row of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The config.json of the repository was read.
    Config,
    /// Two public sources agree.
    TwoSources,
    /// One public source states it.
    OneSource,
}

impl Confidence {
    fn basis(self) -> Basis {
        match self {
            Self::Config | Self::TwoSources => Basis::PublishedModel,
            Self::OneSource => Basis::Assumed,
        }
    }

    /// The sources, in parentheses after the id of the repository.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config.json",
            Self::TwoSources => "two public sources",
            Self::OneSource => "one public source",
        }
    }
}

/// One published model.
#[derive(Clone, Copy, Debug)]
pub struct PublishedModel {
    /// `ORG/NAME`.
    pub id: &'static str,
    /// The basis of the value.
    pub confidence: Confidence,
    columns: [&'static str; COLUMNS],
}

/// Columns behind id and confidence.
const COLUMNS: usize = 10;

/// The row of a repository.
pub fn published(id: &str) -> Option<PublishedModel> {
    row(line_of(id)?)
}

/// Every row, by id.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = PublishedModel> {
    TABLE.lines().filter_map(row)
}

fn row(line: &'static str) -> Option<PublishedModel> {
    let mut cells = line.split('\t');
    let id = cells.next()?;
    let confidence = match cells.next()? {
        "c" => Confidence::Config,
        "2" => Confidence::TwoSources,
        _ => Confidence::OneSource,
    };
    let mut columns = [""; COLUMNS];
    // Empty cells at the end of a line are not written: they stay empty.
    for (column, cell) in columns.iter_mut().zip(cells) {
        *column = cell;
    }
    Some(PublishedModel { id, confidence, columns })
}

/// The line of an id, by halving the text.
fn line_of(id: &str) -> Option<&'static str> {
    let (mut start, mut end) = (0, TABLE.len());
    while start < end {
        // The halves are bytes, not lines: the line around the middle is looked for from there.
        let middle = start.midpoint(end);
        let from = TABLE[start..middle].rfind('\n').map_or(start, |feed| start + feed + 1);
        let to = TABLE[from..end].find('\n').map_or(end, |feed| from + feed);
        let line = &TABLE[from..to];
        match line.split('\t').next().unwrap_or_default().cmp(id) {
            std::cmp::Ordering::Equal => return Some(line),
            // Past the line feed, so that the range begins with a line again.
            std::cmp::Ordering::Less => start = to + 1,
            std::cmp::Ordering::Greater => end = from,
        }
    }
    None
}

impl PublishedModel {
    fn column(&self, index: usize) -> Option<&'static str> {
        Some(self.columns[index]).filter(|cell| !cell.is_empty())
    }

    fn number(&self, index: usize) -> Option<u64> {
        self.column(index)?.parse().ok()
    }

    /// Parameters of the model.
    pub fn parameters(&self) -> Option<ParamCount> {
        self.number(4).map(ParamCount)
    }

    /// Elements in its safetensors files, as the model agent counts them: fewer than parameters in
    /// packed formats, more with a head that is stored twice.
    pub fn stored(&self) -> Option<ParamCount> {
        self.number(5).map(ParamCount).or_else(|| self.parameters())
    }

    /// Its values for the spec of a model.
    pub fn facts(&self) -> Facts {
        let mut facts =
            Facts { parameters: self.parameters(), stored: self.stored(), ..Facts::default() };
        let basis = self.confidence.basis();
        let text = format!("{} ({})", self.id, self.confidence.as_str());
        let mut say = |path: &[&str], value: &str, basis: Basis, text: &str| {
            facts.say(path, value, basis, text, None);
        };
        let library = self.column(2).unwrap_or("transformers");
        let version = self.column(3).map(|version| match version.strip_prefix('?') {
            Some(version) => (
                version,
                Basis::Assumed,
                format!("{} (only the runtime made for the model states it)", self.id),
            ),
            None => (version, basis, text.clone()),
        });
        // The model agent writes safetensors 1.0.0 for every model of transformers
        // (pkg/modelagent/config_parser.go, extractModelMetadataFromHF).
        if library == "diffusers" {
            say(&["modelFormat", "name"], library, basis, &text);
            if let Some((version, basis, text)) = &version {
                say(&["modelFormat", "version"], version, *basis, text);
            }
        } else {
            say(&["modelFormat", "name"], "safetensors", basis, &text);
            say(&["modelFormat", "version"], "1.0.0", basis, &text);
        }
        say(&["modelFramework", "name"], library, basis, &text);
        if let Some((version, basis, text)) = &version {
            say(&["modelFramework", "version"], version, *basis, text);
        }
        if let Some(model_type) = self.column(1) {
            say(&["modelType"], model_type, basis, &text);
        }
        if let Some(architecture) = self.column(0) {
            say(&["modelArchitecture"], architecture, basis, &text);
            if library == "diffusers" {
                say(&["diffusionPipeline", "className"], architecture, basis, &text);
            }
        }
        facts.size(basis, &text, None);
        self.quantization(basis, &text, &mut facts);
        if let Some(tokens) = self.number(8).and_then(|tokens| i64::try_from(tokens).ok()) {
            facts.number(&["maxTokens"], tokens, basis, &text, None);
        }
        let capabilities: Vec<&str> =
            self.columns[9].split(',').filter(|one| !one.is_empty()).collect();
        facts.list(&["modelCapabilities"], &capabilities, basis, &text, None);
        self.layers(&mut facts);
        facts
    }

    /// Adds cache and dimensions of its layers, where a model of the same shape is known.
    fn layers(&self, facts: &mut Facts) {
        let shape = self.column(0).zip(self.parameters());
        let Some((cache, dimensions)) = shape.and_then(|(name, count)| shapes::of(name, count))
        else {
            return;
        };
        // Models of one shape differ in their longest context.
        let is_certain = self.confidence == Confidence::Config;
        let positions = self.number(8).filter(|_| is_certain);
        facts.cache = Some(cache);
        facts.dimensions = Some(crate::quantity::Dimensions { positions, ..dimensions });
    }

    /// The probable value of the model agent for a quantization that is only in the name of the
    /// repository. Two publishers make their files with ModelOpt and compressed-tensors, whose
    /// names it does not recognize.
    fn probably_written(&self, finest: &str) -> Option<&'static str> {
        let publisher = self.id.split('/').next().unwrap_or_default();
        let is_unrecognized = matches!(publisher, "nvidia" | "RedHatAI");
        super::agent::written_for(finest).filter(|_| !is_unrecognized)
    }

    /// Adds the model agent's value for the quantization, and the finest name. Without a config,
    /// the value follows from the finest name.
    fn quantization(&self, basis: Basis, text: &str, facts: &mut Facts) {
        let finest = self.column(6);
        let (written, basis) = match self.column(7) {
            Some("?") => (finest.and_then(|name| self.probably_written(name)), Basis::Assumed),
            written => (written, basis),
        };
        if let Some(written) = written {
            facts.say(&["quantization"], written, basis, text, None);
        }
        if let Some(finest) = finest {
            facts.finest_quantization(finest, basis, text, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_models_are_found_only_by_their_exact_id() {
        let rows: Vec<PublishedModel> = all().collect();
        assert!(rows.len() > 900, "{}", rows.len());
        assert!(rows.is_sorted_by(|a, b| a.id < b.id));
        for row in &rows {
            let found = published(row.id).unwrap_or_else(|| panic!("{} is found", row.id));
            assert_eq!((found.id, found.columns), (row.id, row.columns));
            assert!(row.id.contains('/') && row.column(0).is_some(), "{}", row.id);
            for id in [
                format!("{}-", row.id),
                row.id[..row.id.len() - 1].to_owned(),
                format!("{}\t", row.id),
            ] {
                assert!(published(&id).is_none_or(|other| other.id == id), "{id}");
            }
        }
        for id in ["", "a", "zzz", "Qwen", "\n", "é"] {
            assert!(published(id).is_none(), "{id}");
        }
    }

    #[test]
    fn an_omitted_stored_count_equals_the_parameter_count() {
        let counts = |id| published(id).map(|row| (row.parameters(), row.stored()));
        let count = |number| Some(ParamCount(number));
        assert_eq!(
            counts("openai/gpt-oss-20b"),
            Some((count(20_914_757_184), count(11_956_805_184)))
        );
        assert_eq!(
            counts("meta-llama/Llama-3.1-8B-Instruct"),
            Some((count(8_030_261_248), count(8_030_261_248)))
        );
    }
}

//! Shared settings: `ome.toml`.
//!
//! In: a named file, or the one found upward from the working directory and the user's own. Out:
//! [`Settings`] with findings about invalid keys and values. `cli` decides which flags and `OME_*`
//! variables override it.
//!
//! A file that was found may come from anyone: it names no program, its paths stay below its
//! directory, and one of another user is refused.

use super::files::read_text;
use super::scope::is_below;
use crate::api::Semantics;
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::policy::BuiltinMode;
use crate::source::{Source, SourceId, SourceKind, Span};
use crate::yaml::Limits;
use semver::{Version, VersionReq};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeArray, DeString, DeTable, DeValue};

/// Name of the file that is searched for.
const FILE_NAME: &str = "ome.toml";

/// Keys at the top.
const KEYS: [&str; 17] = [
    "required-version",
    "semantics",
    "kthena-profile",
    "releases",
    "paths",
    "presets",
    "exclude",
    "builtin",
    "no-builtin",
    "kustomize",
    "kustomize-command",
    "model-configs",
    "model-facts",
    "device-tolerations",
    "severity",
    "limits",
    "drift",
];
/// Keys of `[drift]`.
const DRIFT: [&str; 1] = ["ignore"];
/// Keys of `[limits]`.
const LIMITS: [&str; 4] = ["max-file-size", "max-depth", "max-nodes", "max-files"];
/// Values of `model-facts`.
const MODEL_FACTS: [&str; 3] = ["auto", "always", "never"];
/// Values of `kthena-profile`.
const PROFILES: [&str; 4] = ["seed", "v0.1", "v1.0", "head"];

/// Operators with selectable releases, and their tags.
pub type Tags = [(&'static str, Vec<&'static str>)];

/// The contents of the file; absent keys are `None`.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The file, for the header and for relative paths.
    pub file: Option<PathBuf>,
    /// `semantics`.
    pub semantics: Option<Semantics>,
    /// `kthena-profile`.
    pub kthena_profile: Option<String>,
    /// `[releases]`: a tag by operator.
    pub releases: BTreeMap<&'static str, String>,
    /// `paths`: read in addition to `-f`, relative to the file.
    pub paths: Vec<PathBuf>,
    /// `presets`: configurations of the cluster, read besides the input, relative to the file.
    pub presets: Vec<PathBuf>,
    /// `exclude`: globs of what is not read, with the directory that they are relative to.
    pub exclude: Vec<(PathBuf, Vec<String>)>,
    /// `builtin`, or `no-builtin`, which is `never` or `auto`.
    pub builtin: Option<BuiltinMode>,
    /// `kustomize`: overlays are built without being named.
    pub builds_overlays: Option<bool>,
    /// `kustomize-command`: program and arguments, before the directory.
    pub kustomize_command: Option<String>,
    /// `model-configs`, relative to the file.
    pub model_configs: Option<PathBuf>,
    /// `model-facts`.
    pub model_facts: Option<String>,
    /// `device-tolerations`: they are assumed.
    pub device_tolerations: Option<bool>,
    /// `[drift] ignore`: containers, managers, labels, annotations and fields that `drift` leaves
    /// out.
    pub drift_ignore: Vec<String>,
    /// `[severity]`: `None` switches a finding off.
    pub severity: BTreeMap<&'static str, Option<Severity>>,
    /// `[limits] max-file-size`, in bytes.
    pub max_file_size: Option<u64>,
    /// `[limits] max-depth`.
    pub max_depth: Option<usize>,
    /// `[limits] max-nodes`.
    pub max_nodes: Option<usize>,
    /// `[limits] max-files`.
    pub max_files: Option<usize>,
    /// Where each key that is followed stands; those of tables are `releases.ome`.
    pub places: BTreeMap<String, Place>,
}

/// A key of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// Its value as it is written.
    pub text: String,
    /// Who chose the file.
    pub trust: Trust,
}

/// The nearest `ome.toml` from a directory upward.
pub fn find(from: &Path) -> Option<PathBuf> {
    from.ancestors().map(|directory| directory.join(FILE_NAME)).find(|file| file.is_file())
}

/// The user's own settings: `ome/config.toml` in `XDG_CONFIG_HOME`, by default `~/.config`.
pub fn of_user() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || Some(PathBuf::from(variable("HOME")?).join(".config"));
    let directory = variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home)?;
    // The specification ignores relative paths: they would lead into the repository.
    let file = directory.is_absolute().then(|| directory.join("ome").join("config.toml"))?;
    file.is_file().then_some(file)
}

/// The place of [`of_user`] as it is told to users.
const OF_USER: &str = "$XDG_CONFIG_HOME/ome/config.toml";

/// Who chose a settings file, which decides what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nobody: it lies above the working directory.
    Found,
    /// The user: a flag, a variable, or the user's own directory named it.
    Chosen,
}

/// Refuses a file that was found and belongs to neither the user nor the administrator, as git
/// refuses a repository (git-config, `safe.directory`).
fn require_owner(file: &Path) -> Result<(), String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let user = rustix::process::geteuid().as_raw();
        // Behind sudo the files of the one who called it are the user's own.
        let caller = std::env::var("SUDO_UID").ok().filter(|_| user == 0);
        let caller = caller.and_then(|uid| uid.parse::<u32>().ok());
        let owner = std::fs::metadata(file).map_or(user, |data| data.uid());
        if owner != user && owner != 0 && caller != Some(owner) {
            let file = file.display();
            return Err(format!(
                "{file} belongs to another user and was not read: name it with `--config {file}`, or leave it out with `--no-config`"
            ));
        }
    }
    let _ = file;
    Ok(())
}

impl Settings {
    /// These settings, and those of another file where these have none.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        // Tables are joined by key: the later `extend` wins, which is this file.
        let mut severity = other.severity;
        severity.extend(self.severity);
        let mut releases = other.releases;
        releases.extend(self.releases);
        let mut places = other.places;
        places.extend(self.places);
        Self {
            file: self.file.or(other.file),
            semantics: self.semantics.or(other.semantics),
            kthena_profile: self.kthena_profile.or(other.kthena_profile),
            releases,
            paths: [self.paths, other.paths].concat(),
            presets: [self.presets, other.presets].concat(),
            exclude: [self.exclude, other.exclude].concat(),
            builtin: self.builtin.or(other.builtin),
            builds_overlays: self.builds_overlays.or(other.builds_overlays),
            kustomize_command: self.kustomize_command.or(other.kustomize_command),
            model_configs: self.model_configs.or(other.model_configs),
            model_facts: self.model_facts.or(other.model_facts),
            device_tolerations: self.device_tolerations.or(other.device_tolerations),
            drift_ignore: [self.drift_ignore, other.drift_ignore].concat(),
            severity,
            max_file_size: self.max_file_size.or(other.max_file_size),
            max_depth: self.max_depth.or(other.max_depth),
            max_nodes: self.max_nodes.or(other.max_nodes),
            max_files: self.max_files.or(other.max_files),
            places,
        }
    }
}

/// A path below the working directory without it: it is shown, and in a comment or a report the
/// directory of one machine means nothing.
fn seen_from_here(path: PathBuf) -> PathBuf {
    let here = std::env::current_dir().ok();
    match here.as_deref().and_then(|here| path.strip_prefix(here).ok()) {
        None => path,
        Some(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
        Some(rest) => rest.to_owned(),
    }
}

/// Reads a settings file. The text is returned as a source, for findings.
///
/// # Errors
/// A sentence, if the file cannot be read, is not TOML, or was found and is another user's.
pub fn read(
    file: &Path,
    id: SourceId,
    released: &Tags,
    trust: Trust,
    follow: bool,
) -> Result<(Settings, Source, Vec<Diagnostic>), String> {
    if trust == Trust::Found {
        require_owner(file)?;
    }
    // The file may set other limits, for other files.
    // The message names the file already where it was not read.
    let text = read_text(file, &Limits::default()).map_err(|finding| match finding.code {
        Code::FileNotRead => finding.message,
        _ => format!("{}: {}", file.display(), finding.message),
    })?;
    let mut reader = Reader {
        id,
        settings: Settings { file: Some(file.to_owned()), ..Settings::default() },
        found: Vec::new(),
        text: &text,
        released,
        trust,
        follow,
    };
    {
        let table = DeTable::parse(&text).map_err(|error| {
            // The parser counts bytes, and editors count characters.
            let before = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or(&text);
            let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
            format!(
                "{}:{}:{column}: not TOML: {}",
                file.display(),
                before.matches('\n').count() + 1,
                error.message()
            )
        })?;
        reader.top(table.get_ref());
    }
    let Reader { settings, found, .. } = reader;
    Ok((settings, Source::new(file.display().to_string(), SourceKind::Settings, text), found))
}

struct Reader<'r> {
    id: SourceId,
    text: &'r str,
    released: &'r Tags,
    trust: Trust,
    /// Paths may lead anywhere: `--follow-outside`.
    follow: bool,
    settings: Settings,
    found: Vec<Diagnostic>,
}

type Key<'a> = toml::Spanned<DeString<'a>>;
type Value<'a> = toml::Spanned<DeValue<'a>>;

impl Reader<'_> {
    fn span(&self, range: Range<usize>) -> Span {
        let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { source: self.id, start: offset(range.start), end: offset(range.end) }
    }

    fn unknown(&mut self, key: &Key<'_>, existing: &[&'static str], what: &str) {
        let name = key.get_ref().as_ref();
        let near = nearest(name, existing.iter().copied());
        self.found.push(
            Diagnostic::new(Code::UnknownSetting, format!("unknown {what} `{name}`"))
                .at(self.span(key.span()))
                .help(near.map_or_else(
                    || format!("known are {}", existing.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                )),
        );
    }

    fn invalid(&mut self, key: &str, value: &Value<'_>, accepted: &str) {
        self.found.push(
            Diagnostic::new(Code::InvalidSetting, format!("`{key}` must be {accepted}"))
                .at(self.span(value.span()))
                .help(format!("write {accepted}")),
        );
    }

    /// Notes the place of a key whose value was taken: nothing was found since.
    fn note(&mut self, name: String, key: &Key<'_>, value: &Value<'_>, found: usize) {
        // A value that was refused is not in force, so no place is told for it.
        let Some(file) = self.settings.file.clone().filter(|_| self.found.len() == found) else {
            return;
        };
        let before = self.text.get(..key.span().start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let text = self.text.get(value.span()).unwrap_or_default().to_owned();
        self.settings.places.insert(name, Place { file, line, text, trust: self.trust });
    }

    fn top(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let found = self.found.len();
            self.setting(key, value);
            // Both keys set one value, and `builtin` wins.
            let name = match key.get_ref().as_ref() {
                "no-builtin" if self.settings.places.contains_key("builtin") => continue,
                "no-builtin" => "builtin",
                name => name,
            };
            if !matches!(value.get_ref(), DeValue::Table(_)) {
                self.note(name.to_owned(), key, value, found);
            }
        }
    }

    fn setting(&mut self, key: &Key<'_>, value: &Value<'_>) {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("required-version", DeValue::String(text)) => match VersionReq::parse(text) {
                Ok(required) => self.required_version(&required, value),
                Err(_) => {
                    self.invalid(
                        "required-version",
                        value,
                        "a requirement such as \">=0.1, <0.3\"",
                    );
                }
            },
            ("required-version", _) => {
                self.invalid("required-version", value, "a requirement such as \">=0.1, <0.3\"");
            }
            ("semantics", DeValue::String(text)) if text == "documented" => {
                self.settings.semantics = Some(Semantics::Documented);
            }
            ("semantics", DeValue::String(text)) if text == "controller" => {
                self.settings.semantics = Some(Semantics::Controller);
            }
            ("semantics", _) => {
                self.invalid("semantics", value, "\"documented\" or \"controller\"");
            }
            ("kthena-profile", DeValue::String(text)) if PROFILES.contains(&text.as_ref()) => {
                self.settings.kthena_profile = Some(text.to_string());
            }
            ("kthena-profile", _) => self.invalid(
                "kthena-profile",
                value,
                "one of \"seed\", \"v0.1\", \"v1.0\", \"head\"",
            ),
            ("builtin", DeValue::String(text)) if BuiltinMode::parse(text).is_some() => {
                self.settings.builtin = BuiltinMode::parse(text);
            }
            ("builtin", _) => {
                self.invalid("builtin", value, "one of \"auto\", \"always\", \"never\"");
            }
            ("no-builtin", DeValue::Boolean(never)) => {
                let mode = if *never { BuiltinMode::Never } else { BuiltinMode::Auto };
                self.settings.builtin.get_or_insert(mode);
            }
            ("releases", DeValue::Table(table)) => self.releases(table),
            ("releases", _) => self.invalid("releases", value, "a table of tags by operator"),
            ("no-builtin", _) => self.invalid("no-builtin", value, "true or false"),
            // These arms stand before the valid values: the trust decides first.
            ("kustomize" | "kustomize-command", _) if self.trust == Trust::Found => {
                self.program(key);
            }
            ("kustomize", DeValue::String(text)) if text == "auto" || text == "never" => {
                self.settings.builds_overlays = Some(text == "auto");
            }
            ("kustomize", _) => self.invalid("kustomize", value, "\"auto\" or \"never\""),
            ("kustomize-command", DeValue::String(text)) if !text.trim().is_empty() => {
                self.settings.kustomize_command = Some(text.to_string());
            }
            ("kustomize-command", _) => {
                self.invalid("kustomize-command", value, "a command such as \"kustomize build\"");
            }
            ("model-configs", DeValue::String(text)) => {
                let path = self.base().join(text.as_ref());
                if self.stays(&path, value) {
                    self.settings.model_configs = Some(path);
                }
            }
            ("model-configs", _) => self.invalid("model-configs", value, "a directory"),
            ("model-facts", DeValue::String(text)) if MODEL_FACTS.contains(&text.as_ref()) => {
                self.settings.model_facts = Some(text.to_string());
            }
            ("model-facts", _) => {
                self.invalid("model-facts", value, "one of \"auto\", \"always\", \"never\"");
            }
            ("device-tolerations", DeValue::String(text)) if text == "assume" => {
                self.settings.device_tolerations = Some(true);
            }
            ("device-tolerations", DeValue::String(text)) if text == "never" => {
                self.settings.device_tolerations = Some(false);
            }
            ("device-tolerations", _) => {
                self.invalid("device-tolerations", value, "\"assume\" or \"never\"");
            }
            ("paths" | "presets", DeValue::Array(items)) => {
                let read = self.paths(key.get_ref(), items);
                match key.get_ref().as_ref() {
                    "paths" => self.settings.paths.extend(read),
                    _ => self.settings.presets.extend(read),
                }
            }
            ("paths" | "presets", _) => {
                self.invalid(key.get_ref(), value, "a list of paths");
            }
            ("exclude", DeValue::Array(items)) => {
                let globs = self.texts("exclude", items, "a list of globs");
                let base = self.base();
                self.settings.exclude.push((base, globs));
            }
            ("exclude", _) => self.invalid("exclude", value, "a list of globs"),
            ("drift", DeValue::Table(table)) => self.drift(table),
            ("drift", _) => self.invalid("drift", value, "a table with `ignore`"),
            ("severity", DeValue::Table(table)) => self.severity(table),
            ("severity", _) => self.invalid("severity", value, "a table of codes"),
            ("limits", DeValue::Table(table)) => self.limits(table),
            ("limits", _) => self.invalid("limits", value, "a table of limits"),
            _ => self.unknown(key, &KEYS, "setting"),
        }
    }

    /// Paths of a list, which are relative to the file.
    fn paths(&mut self, key: &str, items: &DeArray<'_>) -> Vec<PathBuf> {
        let base = self.base();
        let mut read = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) => {
                    let path = base.join(text.as_ref());
                    if self.stays(&path, item) {
                        read.push(seen_from_here(path));
                    }
                }
                _ => self.invalid(key, item, "a list of paths"),
            }
        }
        read
    }

    /// The texts of a list.
    fn texts(&mut self, key: &str, items: &DeArray<'_>, accepted: &str) -> Vec<String> {
        let mut read = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) => read.push(text.to_string()),
                _ => self.invalid(key, item, accepted),
            }
        }
        read
    }

    /// The directory of the file.
    fn base(&self) -> PathBuf {
        let file = self.settings.file.as_deref();
        file.and_then(Path::parent).unwrap_or(Path::new("")).to_owned()
    }

    /// Reports a program that a file names, or wants to be run, which was found beside the input:
    /// whoever can change the input could run it.
    fn program(&mut self, key: &Key<'_>) {
        let key_name = key.get_ref().as_ref();
        let (cannot, help) = match key_name {
            "kustomize" => ("have programs run", "set OME_KUSTOMIZE, or set it"),
            _ => (
                "name a program",
                "name it with `--kustomize-command`, in OME_KUSTOMIZE_COMMAND, or",
            ),
        };
        let message = format!(
            "`{key_name}` is ignored: a file that was found beside the input cannot {cannot}"
        );
        self.found.push(
            Diagnostic::new(Code::InvalidSetting, message)
                .severity(Severity::Warning)
                .at(self.span(key.span()))
                .help(format!("{help} in {OF_USER}")),
        );
    }

    /// Whether a path stays below the directory of a file that was found.
    fn stays(&mut self, path: &Path, value: &Value<'_>) -> bool {
        let base = self.base();
        // An empty path has no canonical form.
        let root = if base.as_os_str().is_empty() { Path::new(".") } else { &base };
        let roots: Vec<PathBuf> = root.canonicalize().into_iter().collect();
        // Tests on the path without links: `a/../..` and links both lead out.
        if self.trust == Trust::Chosen || self.follow || is_below(path, &roots) {
            return true;
        }
        let shown = path.strip_prefix(&base).unwrap_or(path).display();
        self.found.push(
            Diagnostic::new(
                Code::FileNotRead,
                format!("`{shown}` was not read: it is not below the directory of {FILE_NAME}"),
            )
            .at(self.span(value.span()))
            .help(format!("name it with `-f {shown}`, or permit it with `--follow-outside`")),
        );
        false
    }

    /// Reports a version of `ome` that `required-version` does not admit: other versions may make
    /// other decisions.
    fn required_version(&mut self, required: &VersionReq, value: &Value<'_>) {
        let env = env!("CARGO_PKG_VERSION");
        if !Version::parse(env).is_ok_and(|version| required.matches(&version)) {
            self.found.push(
                Diagnostic::new(
                    Code::InvalidSetting,
                    format!("this is ome {env}, the settings require {required}"),
                )
                .at(self.span(value.span()))
                .help("install a version that `required-version` admits"),
            );
        }
    }

    fn releases(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let Some((operator, tags)) =
                self.released.iter().find(|(operator, _)| *operator == name)
            else {
                let released: Vec<&'static str> = self.released.iter().map(|row| row.0).collect();
                self.unknown(key, &released, "operator");
                continue;
            };
            match value.get_ref() {
                DeValue::String(text) if tags.contains(&text.as_ref()) => {
                    self.settings.releases.insert(operator, text.to_string());
                    self.note(format!("releases.{operator}"), key, value, self.found.len());
                }
                _ => {
                    let tags: Vec<String> = tags.iter().map(|tag| format!("\"{tag}\"")).collect();
                    self.invalid(name, value, &format!("one of {}", tags.join(", ")));
                }
            }
        }
    }

    fn severity(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let Some(doc) = crate::diag::CODES.iter().find(|doc| {
                doc.topic == crate::diag::Topic::Finding && doc.id == key.get_ref().as_ref()
            }) else {
                let codes: Vec<&'static str> = crate::diag::CODES
                    .iter()
                    .filter(|doc| doc.topic == crate::diag::Topic::Finding)
                    .map(|doc| doc.id)
                    .collect();
                let name = key.get_ref().as_ref();
                self.found.push(
                    Diagnostic::new(
                        Code::UnknownSetting,
                        format!("no finding has the code `{name}`"),
                    )
                    .at(self.span(key.span()))
                    .help(nearest(name, codes).map_or_else(
                        || "`ome code` lists them".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    )),
                );
                continue;
            };
            let severity = match value.get_ref() {
                DeValue::String(text) => match text.as_ref() {
                    "error" => Some(Some(Severity::Error)),
                    "warning" => Some(Some(Severity::Warning)),
                    "info" => Some(Some(Severity::Info)),
                    "off" => Some(None),
                    _ => None,
                },
                _ => None,
            };
            match severity {
                Some(severity) => {
                    self.settings.severity.insert(doc.id, severity);
                    self.note(format!("severity.{}", doc.id), key, value, self.found.len());
                }
                None => self.invalid(doc.id, value, "\"error\", \"warning\", \"info\" or \"off\""),
            }
        }
    }

    fn drift(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let found = self.found.len();
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("ignore", DeValue::Array(items)) => {
                    for item in items {
                        match item.get_ref() {
                            DeValue::String(text) if !text.is_empty() => {
                                self.settings.drift_ignore.push(text.to_string());
                            }
                            _ => self.invalid("drift.ignore", item, "a list of names"),
                        }
                    }
                }
                ("ignore", _) => self.invalid("drift.ignore", value, "a list of names"),
                _ => self.unknown(key, &DRIFT, "setting of drift"),
            }
            self.note(format!("drift.{}", key.get_ref()), key, value, found);
        }
    }

    fn limits(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let found = self.found.len();
            let count = match value.get_ref() {
                // A limit of 0 would refuse every file.
                DeValue::Integer(number) => {
                    number.as_str().parse::<usize>().ok().filter(|number| *number > 0)
                }
                _ => None,
            };
            match (key.get_ref().as_ref(), value.get_ref(), count) {
                ("max-file-size", DeValue::String(text), _) => {
                    match text.parse::<bytesize::ByteSize>() {
                        Ok(size) => self.settings.max_file_size = Some(size.as_u64()),
                        Err(_) => self.invalid("max-file-size", value, "a size such as \"8MiB\""),
                    }
                }
                ("max-file-size", _, Some(count)) => {
                    self.settings.max_file_size = Some(count as u64);
                }
                ("max-file-size", ..) => {
                    self.invalid("max-file-size", value, "a size such as \"8MiB\"");
                }
                ("max-depth", _, Some(count)) => self.settings.max_depth = Some(count),
                ("max-depth", ..) => self.invalid("max-depth", value, "a number above 0"),
                ("max-nodes", _, Some(count)) => self.settings.max_nodes = Some(count),
                ("max-nodes", ..) => self.invalid("max-nodes", value, "a number above 0"),
                ("max-files", _, Some(count)) => self.settings.max_files = Some(count),
                ("max-files", ..) => self.invalid("max-files", value, "a number above 0"),
                _ => self.unknown(key, &LIMITS, "limit"),
            }
            self.note(format!("limits.{}", key.get_ref()), key, value, found);
        }
    }
}

//! `ome config`: the settings that hold here, and where each comes from.

use crate::api::{Api, Semantics};
use crate::cli::args::{InputArgs, ReportFormat};
use crate::cli::jsonpath::FormatParser;
use crate::cli::releases::{Followed, followed};
use crate::cli::settings::{Read, read};
use crate::cli::{Failure, Io, Outcome, command, of_verb};
use crate::diag::{Diagnostic, Severity};
use crate::load::settings::{Place, Settings, Trust};
use crate::operators::servings;
use crate::operators::{self, released};
use crate::report::SCHEMA_VERSION;
use crate::report::findings;
use crate::report::settings::{self as report, SettingOrigin, SettingRow};
use crate::secret::Secrets;
use crate::source::SourceMap;
use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;

/// Print the settings that commands follow here, and where each comes from: a flag, a variable, a
/// line of a settings file, or the default.
///
/// Takes the flags of the input, so the effect of a flag is seen beside it. The input itself is not
/// read: a release that a command follows because the input runs it is in the header of that
/// command.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Output format.
    #[arg(short, long, value_enum, value_parser = FormatParser::<ReportFormat>::new(), default_value_t, value_name = "FORMAT")]
    output: ReportFormat,
}

/// Prints the settings; `typed` is the command line as typed.
pub(crate) fn run(args: &Args, typed: &[OsString], io: &mut Io<'_>) -> Result<Outcome, Failure> {
    let Read { settings, files } = read(&args.input)?;
    let usage = |error: clap::Error| Failure::Usage(error.to_string());
    // What was parsed does not say what set it, so it is parsed once more.
    let (command, matches) = (command(), command().try_get_matches_from(typed).map_err(usage)?);
    let requested =
        Asked { command: &command, matches: of_verb(&matches), input: &args.input, settings };
    let each: Vec<&Settings> = files.iter().map(|(settings, ..)| settings).collect();
    let rows = requested.rows(&each)?;
    let names: Vec<String> = each
        .iter()
        .filter_map(|settings| Some(settings.file.as_ref()?.display().to_string()))
        .collect();
    let (mut sources, mut found) = (SourceMap::new(), Vec::<Diagnostic>::new());
    for (_, source, findings) in files {
        let id = sources.add(source);
        for mut finding in findings {
            finding.labels.iter_mut().for_each(|label| label.span.source = id);
            found.push(finding);
        }
    }
    findings::settle(&mut found, &sources, &Secrets::new(&sources));
    if args.output == ReportFormat::Table {
        if !found.is_empty() {
            io.say(&findings::shortened(&found, &sources, io.err_style()));
        }
        let from = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        io.print_line(&format!("settings files: {from}"))?;
        io.print_line("")?;
        let style = io.style();
        io.print(&report::text(&rows, style))?;
    } else {
        let rows: Vec<Value> = rows.iter().map(SettingRow::json).collect();
        let found: Vec<Value> =
            found.iter().map(|finding| findings::json(finding, &sources)).collect();
        io.print_json(&json!({
            "schemaVersion": SCHEMA_VERSION, "files": names, "settings": rows, "findings": found,
        }))?;
    }
    let least = if args.input.strict { Severity::Warning } else { Severity::Error };
    let is_grave = found.iter().any(|finding| finding.severity >= least);
    Ok(if is_grave { Outcome::CouldNot } else { Outcome::Done })
}

/// What was asked for: the arguments with their sources, and the settings of all files.
struct Asked<'a> {
    command: &'a clap::Command,
    matches: &'a ArgMatches,
    input: &'a InputArgs,
    settings: Settings,
}

impl Asked<'_> {
    /// The flag or variable that sets an argument.
    fn argument(&self, id: &str) -> Option<SettingOrigin> {
        let verb = self.command.find_subcommand("config")?;
        let argument = verb.get_arguments().find(|arg| arg.get_id() == id)?;
        match self.matches.value_source(id)? {
            ValueSource::CommandLine => {
                Some(SettingOrigin::Flag(format!("--{}", argument.get_long()?)))
            }
            ValueSource::EnvVariable => {
                Some(SettingOrigin::Variable(argument.get_env()?.to_string_lossy().into_owned()))
            }
            _ => None,
        }
    }

    /// The line of a settings file that sets a key.
    fn place(&self, key: &str) -> Option<SettingOrigin> {
        self.settings.places.get(key).map(origin)
    }

    /// A row of a key: its argument, else its line.
    fn row(&self, name: &str, value: Option<String>) -> SettingRow {
        // The last part of a key is the name of its flag.
        let id = name.rsplit('.').next().unwrap_or(name).replace('-', "_");
        let origin = self.argument(&id).or_else(|| self.place(name));
        let origin = origin.unwrap_or(SettingOrigin::Default);
        SettingRow { name: name.to_owned(), value, origin }
    }

    /// Every setting. `each` has the settings of one file after the other.
    fn rows(&self, each: &[&Settings]) -> Result<Vec<SettingRow>, Failure> {
        let (input, settings) = (self.input, &self.settings);
        let followed = followed(input, settings, false)?;
        let mut semantics = self.row("semantics", Some(followed.readings.to_string()));
        let releases = self.releases(&followed);
        // A release that is named is the mode of its operator.
        let named = releases.iter().find(|row| row.origin != SettingOrigin::Default);
        if let Some(named) = named.filter(|_| semantics.origin == SettingOrigin::Default) {
            semantics.origin = named.origin.clone();
        }
        let mut rows = vec![semantics];
        rows.extend(releases);
        rows.push(
            self.row(
                "kthena-profile",
                Some(servings::followed(&followed.readings).name.to_owned()),
            ),
        );
        rows.push(self.builtin());
        rows.extend(self.lists(each));
        let overlays = self.argument("overlays").or_else(|| self.place("kustomize"));
        let builds = if input.builds_overlays(settings) { "auto" } else { "never" };
        rows.push(SettingRow {
            name: "kustomize".to_owned(),
            value: Some(builds.to_owned()),
            origin: overlays.unwrap_or(SettingOrigin::Default),
        });
        let program = input.kustomize_command.as_ref().or(settings.kustomize_command.as_ref());
        let program = program.map_or("kustomize build, else kubectl kustomize", String::as_str);
        rows.push(self.row("kustomize-command", Some(program.to_owned())));
        let limits = input.limits.limits(settings);
        let facts = input.models.facts(settings, limits);
        let shown = |path: &PathBuf| path.display().to_string();
        rows.push(self.row("model-configs", facts.files.directory.as_ref().map(shown)));
        rows.push(self.row("hf-cache", facts.files.cache.as_ref().map(shown)));
        let when = input.models.when(settings);
        rows.push(self.row("model-facts", Some(when.name().to_owned())));
        let tolerations = if input.tolerates_devices(settings) { "assume" } else { "never" };
        rows.push(self.row("device-tolerations", Some(tolerations.to_owned())));
        let size = bytesize::ByteSize(limits.file_size).to_string();
        rows.push(self.row("limits.max-file-size", Some(size)));
        rows.push(self.row("limits.max-depth", Some(limits.depth.to_string())));
        rows.push(self.row("limits.max-nodes", Some(limits.nodes.to_string())));
        rows.push(self.row("limits.max-files", Some(limits.files.to_string())));
        let jobs = input.jobs.map_or_else(|| "one per core".to_owned(), |jobs| jobs.to_string());
        rows.push(self.row("jobs", Some(jobs)));
        let stated = settings.places.iter().filter(|(name, _)| {
            name.starts_with("severity.") || name.as_str() == "required-version"
        });
        rows.extend(stated.map(|(name, place)| SettingRow {
            name: name.clone(),
            // Rows show the value without the quotes of TOML.
            value: Some(place.text.trim_matches(['"', '\'']).to_owned()),
            origin: origin(place),
        }));
        Ok(rows)
    }

    /// The release of each operator: one that is named, else the one that its mode follows.
    fn releases(&self, followed: &Followed) -> Vec<SettingRow> {
        let row = |name: &'static str| {
            let prefix = format!("{name}=");
            let named = followed.named.iter().find_map(|named| named.strip_prefix(&prefix));
            let api = released().find(|(released, _)| *released == name).map(|(_, api)| api);
            let documented = |api: Api| followed.readings.mode(api) == Semantics::Documented;
            let value = match named {
                Some(tag) => tag,
                None if api.is_some_and(documented) => "the documents",
                None => operators::default_tag(name).unwrap_or("the documents"),
            };
            // The flag may name other operators alone.
            let is_flag = self.input.release.iter().any(|release| release.starts_with(&prefix));
            let argument = is_flag.then(|| self.argument("release")).flatten();
            let key = format!("releases.{name}");
            let origin = argument.or_else(|| self.place(&key)).unwrap_or(SettingOrigin::Default);
            SettingRow { name: key, value: Some(value.to_owned()), origin }
        };
        operators::known_releases().into_iter().map(|(name, _)| row(name)).collect()
    }

    /// The built-in catalog: `--builtin`, then `--no-builtin`, then settings, as
    /// [`InputArgs::builtin`] reads them.
    fn builtin(&self) -> SettingRow {
        let name = self.input.builtin(&self.settings).name();
        let [builtin, no_builtin] = ["builtin", "no_builtin"].map(|id| self.argument(id));
        let (mut argument, other) = (builtin, no_builtin);
        // A flag wins over the variable of the other one.
        if matches!(
            (&argument, &other),
            (Some(SettingOrigin::Variable(_)), Some(SettingOrigin::Flag(_))) | (None, _)
        ) {
            argument = other;
        }
        let origin = argument.or_else(|| self.place("builtin")).unwrap_or(SettingOrigin::Default);
        SettingRow { name: "builtin".to_owned(), value: Some(name.to_owned()), origin }
    }

    /// Lists, which add up: a row for each of their origins.
    fn lists(&self, each: &[&Settings]) -> Vec<SettingRow> {
        let paths = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.display().to_string()).collect()
        };
        let globs = |settings: &Settings| -> Vec<String> {
            settings.exclude.iter().flat_map(|(_, globs)| globs.iter().cloned()).collect()
        };
        let mut rows = Vec::new();
        let mut list = |name: &str,
                        flags: Vec<String>,
                        names_in: &dyn Fn(&Settings) -> Vec<String>| {
            let flags = Some(flags).filter(|flags| !flags.is_empty());
            let flags = flags.and_then(|flags| Some((flags, self.argument(name)?)));
            let files = each
                .iter()
                .filter_map(|file| Some((names_in(file), origin(file.places.get(name)?))));
            let stated: Vec<_> = flags.into_iter().chain(files).collect();
            let row =
                |value: Option<String>, origin| SettingRow { name: name.to_owned(), value, origin };
            if stated.is_empty() {
                rows.push(row(None, SettingOrigin::Default));
            }
            rows.extend(
                stated.into_iter().map(|(stated, origin)| row(Some(stated.join(", ")), origin)),
            );
        };
        list("paths", Vec::new(), &|settings| paths(&settings.paths));
        list("presets", paths(&self.input.presets), &|settings| paths(&settings.presets));
        list("exclude", self.input.exclude.clone(), &globs);
        list("drift.ignore", Vec::new(), &|settings| settings.drift_ignore.clone());
        rows
    }
}

/// A place as an origin.
fn origin(place: &Place) -> SettingOrigin {
    let file = place.file.display().to_string();
    match place.trust {
        Trust::Found => SettingOrigin::File(file, place.line),
        Trust::Chosen => SettingOrigin::User(file, place.line),
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::{Io, run};
    use serde_json::Value;
    use std::ffi::OsString;
    use std::io::Write as _;

    /// A file of settings.
    fn settings(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("it is written");
        file
    }

    /// The rows of a command line, by their names.
    fn rows(arguments: &str) -> (u8, Vec<Value>) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let words = format!("ome config -o json {arguments}");
        let words = words.split(' ').map(OsString::from);
        let code = run(words, &mut Io::plain(&mut out, &mut err));
        let page: Value = serde_json::from_slice(&out).expect("JSON");
        (code, page["settings"].as_array().expect("rows").clone())
    }

    fn row<'a>(rows: &'a [Value], name: &str) -> Vec<&'a Value> {
        rows.iter().filter(|row| row["name"] == name).collect()
    }

    #[test]
    fn a_flag_goes_over_a_file_and_a_list_has_a_row_for_each_origin() {
        let text = "no-builtin = true\nmodel-facts = \"never\"\nexclude = [\"a\"]\n[releases]\nome = \"v0.1.4\"\n[limits]\nmax-depth = 70\n[severity]\nsame-priority = \"off\"\n";
        let file = settings(text);
        let (code, rows) =
            rows(&format!("--config {} --exclude b --model-facts auto", file.path().display()));
        assert_eq!(code, 0);
        let of = |name: &str| {
            let row = row(&rows, name)[0];
            (row["value"].as_str(), row["origin"].as_str(), row["line"].as_u64())
        };
        assert_eq!(of("builtin"), (Some("never"), Some("user"), Some(1)));
        assert_eq!(of("model-facts"), (Some("auto"), Some("flag"), None));
        assert_eq!(of("releases.ome"), (Some("v0.1.4"), Some("user"), Some(5)));
        assert_eq!(of("limits.max-depth"), (Some("70"), Some("user"), Some(7)));
        assert_eq!(of("limits.max-nodes"), (Some("1000000"), Some("default"), None));
        assert_eq!(of("severity.same-priority"), (Some("off"), Some("user"), Some(9)));
        let excluded: Vec<(&str, &str)> = row(&rows, "exclude")
            .into_iter()
            .filter_map(|row| Some((row["value"].as_str()?, row["origin"].as_str()?)))
            .collect();
        assert_eq!(excluded, [("b", "flag"), ("a", "user")]);
    }

    #[test]
    fn an_invalid_setting_is_not_followed_and_ends_with_exit_1() {
        let file = settings("semantics = \"upstream\"\n");
        let (code, rows) = rows(&format!("--config {}", file.path().display()));
        let semantics = row(&rows, "semantics")[0];
        assert_eq!((code, semantics["origin"].as_str()), (1, Some("default")));
    }
}

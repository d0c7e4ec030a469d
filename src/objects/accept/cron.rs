//! `CronJobs`: schedules as robfig/cron v3 parses them (`ParseStandard`), time zones by their form, and the
//! template of the Jobs.

use super::job;
use super::judge::Judge;
use super::workload::non_negative;
use crate::schema::cel::duration;
use crate::yaml::{At, Node};

/// Longest name: the controller appends `-` and ten digits, and the name of a Job has 63 characters.
const LONGEST_NAME: usize = 52;

/// The fields of a schedule with their least and greatest value and the names of values, which begin
/// with the least.
const FIELDS: [(u64, u64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

const DESCRIPTORS: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Judges the spec of a CronJob (`ValidateCronJobCreate`).
pub(super) fn cron_job(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    if let Some(schedule) = judge.present(at, spec, "schedule") {
        self::schedule(judge, &at.field("schedule"), schedule);
    }
    non_negative(judge, &at.field("startingDeadlineSeconds"), spec.get("startingDeadlineSeconds"));
    if let Some(zone) = spec.get("timeZone") {
        time_zone(judge, &at.field("timeZone"), zone);
    }
    judge.one_of(
        &at.field("concurrencyPolicy"),
        spec.get("concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
    );
    let job_at = at.field("jobTemplate");
    let empty = Node::map(spec.origin);
    let job = spec.at(&["jobTemplate", "spec"]).unwrap_or(&empty);
    job::templated(judge, &job_at.field("spec"), job);
    for key in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        non_negative(judge, &at.field(key), spec.get(key));
    }
    let name = judge.object.at(&["metadata", "name"]);
    if let Some(name) =
        name.filter(|name| name.as_str().is_some_and(|text| text.len() > LONGEST_NAME))
    {
        let at = At::ROOT.field("metadata");
        let message = format!("must be no more than {LONGEST_NAME} characters");
        judge.invalid(&at.field("name"), name, &message, "shorten it");
    }
}

fn schedule(judge: &mut Judge<'_>, at: &At<'_>, node: &Node) {
    let Some(text) = node.as_str() else { return };
    if text.contains("TZ") {
        let message = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        return judge.invalid(at, node, message, "write `timeZone`");
    }
    let objections = parsed(text).err();
    judge.shaped(at, node, objections.into_iter().collect());
}

/// Reads a schedule.
///
/// # Errors
/// The message of the parser.
fn parsed(text: &str) -> Result<(), String> {
    if text.starts_with('@') {
        if let Some(interval) = text.strip_prefix("@every ") {
            let amount = interval.strip_prefix(['+', '-']).unwrap_or(interval);
            let message =
                || format!("failed to parse duration {text}: time: invalid duration {interval:?}");
            return duration(amount).map(drop).ok_or_else(message);
        }
        let is_known = DESCRIPTORS.contains(&text);
        return is_known.then_some(()).ok_or_else(|| format!("unrecognized descriptor: {text}"));
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!(
            "expected exactly {} fields, found {}: [{}]",
            FIELDS.len(),
            fields.len(),
            fields.join(" ")
        ));
    }
    for (field, bounds) in fields.into_iter().zip(FIELDS) {
        // An empty part of a list is passed over.
        for range in field.split(',').filter(|range| !range.is_empty()) {
            self::range(range, bounds)?;
        }
    }
    Ok(())
}

/// Reads a range such as `*/5`, `1-5` or `mon-fri/2` (`getRange`).
fn range(text: &str, (least, most, names): (u64, u64, &[&str])) -> Result<(), String> {
    let (range, step) = match text.split('/').collect::<Vec<_>>()[..] {
        [range] => (range, None),
        [range, step] => (range, Some(step)),
        _ => return Err(format!("too many slashes: {text}")),
    };
    let value = |part: &str| {
        let name = part.to_lowercase();
        let place = names.iter().position(|other| **other == name);
        place.map_or_else(|| number(part), |place| Ok(least + u64::try_from(place).unwrap_or(0)))
    };
    let ends: Vec<&str> = range.split('-').collect();
    let (start, mut end) = match ends[..] {
        ["*" | "?", ..] => (least, most),
        [one] => (value(one)?, value(one)?),
        [first, last] => (value(first)?, value(last)?),
        _ => return Err(format!("too many hyphens: {text}")),
    };
    let step = step.map(number).transpose()?;
    // `5/10` is `5-59/10`.
    if step.is_some() && ends.len() == 1 {
        end = most;
    }
    if start < least {
        return Err(format!("beginning of range ({start}) below minimum ({least}): {text}"));
    }
    if end > most {
        return Err(format!("end of range ({end}) above maximum ({most}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == Some(0) {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

/// A number as Go's `strconv.Atoi` reads it, which takes a sign.
fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
        ));
    }
    let value: i64 = text.parse().map_err(|_| {
        format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: value out of range"
        )
    })?;
    u64::try_from(value).map_err(|_| format!("negative number ({value}) not allowed: {text}"))
}

/// Judges the form of a time zone. Whether a well-formed one exists depends on the server's database.
fn time_zone(judge: &mut Judge<'_>, at: &At<'_>, node: &Node) {
    let Some(text) = node.as_str() else { return };
    if text.is_empty() {
        let message = "timeZone must be nil or non-empty string";
        return judge.invalid(at, node, message, "delete it, or write `Etc/UTC`");
    }
    let is_part = |part: &str| {
        let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
        (1..=14).contains(&part.len())
            && part.bytes().all(of_name)
            && !part.starts_with('-')
            && !matches!(part, "." | "..")
    };
    if !text.split('/').all(is_part) {
        judge.shaped(at, node, vec![format!("unknown time zone {text}")]);
    } else if text.eq_ignore_ascii_case("local") {
        let message =
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        judge.invalid(at, node, message, "write a name such as `Europe/Paris`");
    }
}

#[cfg(test)]
mod tests {
    use super::parsed;

    // github.com/robfig/cron v3.0.1, parser.go, `ParseStandard` and spec.go.
    #[test]
    fn schedules_are_parsed_as_the_controller_parses_them() {
        for text in [
            "* * * * *",
            "*/61 0-23/2 1,15 jan-DEC mon-fri",
            "5/10 ? ? * 0",
            " 0   3 * * *  ",
            "@hourly",
            "@every 1h30m",
            "@every -5s",
            "+5 , * * *",
        ] {
            assert_eq!(parsed(text), Ok(()), "{text}");
        }
        for (text, message) in [
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("* * * * 7", "end of range (7) above maximum (6): 7"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("*/2/3 * * * *", "too many slashes: */2/3"),
            ("-1 * * * *", "failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax"),
            (
                "a * * * *",
                "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax",
            ),
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("0 * * * * *", "expected exactly 5 fields, found 6: [0 * * * * *]"),
            ("@often", "unrecognized descriptor: @often"),
            (
                "@every week",
                "failed to parse duration @every week: time: invalid duration \"week\"",
            ),
        ] {
            assert_eq!(parsed(text), Err(message.to_owned()), "{text}");
        }
    }
}

//! `get_current_time`.

use std::time::Duration;

use jiff::{Timestamp, Zoned, tz, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool::{Info, Profile, Section, Tool, ToolContext, ToolError, ToolOutput, ToolResult, nearest};

/// Tell the current date and time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetCurrentTime {
    /// Time zone by its IANA name, such as `America/New_York` or `UTC`. Left out, it is the one of
    /// the machine this runs on.
    timezone: Option<String>,
    /// `iso8601` for `2026-11-15T22:02:19+01:00`; `human_readable` for weekday, date, time and zone
    /// in words.
    #[serde(default)]
    style: Style,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Style {
    #[default]
    Iso8601,
    HumanReadable,
}

impl Tool for GetCurrentTime {
    const NAME: &'static str = "get_current_time";
    const INFO: Info = Info {
        section: Section::Time,
        profiles: &[Profile::Coding, Profile::Gateway],
        parameter_aliases: &[("format", "style")],
        timeout: Duration::from_secs(5),
        repeatable: true,
        light: true,
        ..Info::DEFAULT
    };

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let zone = self.timezone.as_deref().map_or_else(|| Ok(TimeZone::system()), zone)?;
        let now = Timestamp::try_from(ctx.now()).map_err(ToolError::internal)?;
        Ok(ToolOutput::text(write(&now.to_zoned(zone), self.style)))
    }
}

fn zone(name: &str) -> Result<TimeZone, ToolError> {
    TimeZone::get(name).map_err(|_| {
        let known: Vec<String> = tz::db().available().map(|name| name.to_string()).collect();
        // People name a city as often as a zone: `Berlin` means `Europe/Berlin`.
        let city = known.iter().map(String::as_str).find(|known| {
            known.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(name))
        });
        let hint = city.or_else(|| nearest(name, known.iter().map(String::as_str))).map_or_else(
            || "use an IANA name such as `Europe/Berlin`".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        ToolError::invalid(
            GetCurrentTime::NAME,
            "timezone",
            format!("unknown time zone `{name}`; {hint}"),
        )
    })
}

fn write(now: &Zoned, style: Style) -> String {
    let text = match style {
        Style::Iso8601 => now.strftime("%Y-%m-%dT%H:%M:%S%:z"),
        Style::HumanReadable => now.strftime("%A, %-d %B %Y, %H:%M:%S %Z (UTC%:z)"),
    };
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_time_of_a_zone() {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        for (name, style, expected) in [
            ("UTC", Style::Iso8601, "2023-11-14T22:13:20+00:00"),
            ("Asia/Kolkata", Style::Iso8601, "2023-11-15T03:43:20+05:30"),
            (
                "europe/berlin",
                Style::HumanReadable,
                "Tuesday, 14 November 2023, 23:13:20 CET (UTC+01:00)",
            ),
        ] {
            assert_eq!(write(&now.to_zoned(zone(name).unwrap()), style), expected, "{name}");
        }
    }

    #[test]
    fn names_the_zone_that_was_probably_meant() {
        for (name, expected) in [
            ("Berlin", "did you mean `Europe/Berlin`?"),
            ("America/NewYork", "did you mean `America/New_York`?"),
            ("Europe/Berln", "did you mean `Europe/Berlin`?"),
            ("???", "use an IANA name such as `Europe/Berlin`"),
        ] {
            let error = zone(name).unwrap_err();
            assert_eq!(error.kind(), "validation_error");
            assert!(error.to_string().ends_with(expected), "{name}: {error}");
        }
    }
}

//! Where people say it is some time.

const CITIES: &[(&str, &str)] = &[
    ("amsterdam", "Europe/Amsterdam"),
    ("berlin", "Europe/Berlin"),
    ("chicago", "America/Chicago"),
    ("delhi", "Asia/Kolkata"),
    ("dubai", "Asia/Dubai"),
    ("hong kong", "Asia/Hong_Kong"),
    ("india", "Asia/Kolkata"),
    ("japan", "Asia/Tokyo"),
    ("london", "Europe/London"),
    ("los angeles", "America/Los_Angeles"),
    ("madrid", "Europe/Madrid"),
    ("moscow", "Europe/Moscow"),
    ("new york", "America/New_York"),
    ("paris", "Europe/Paris"),
    ("rome", "Europe/Rome"),
    ("san francisco", "America/Los_Angeles"),
    ("sao paulo", "America/Sao_Paulo"),
    ("shanghai", "Asia/Shanghai"),
    ("singapore", "Asia/Singapore"),
    ("sydney", "Australia/Sydney"),
    ("tokyo", "Asia/Tokyo"),
    ("toronto", "America/Toronto"),
    ("zurich", "Europe/Zurich"),
];

/// The zone of a city, or what was said: the tool knows the nearest name.
pub(super) fn named(place: &str) -> String {
    let known = CITIES.iter().find(|(city, _)| city.eq_ignore_ascii_case(place));
    known.map_or_else(|| place.to_owned(), |(_, zone)| (*zone).to_owned())
}

//! Tells options and operands apart, as GNU programs do.

use super::{
    entry::{Arguments, Entry, Known, Operands, Takes, UnknownWords},
    git_names, path, unknown,
};

type Checked<T> = Result<T, String>;

/// The arguments of `entry`'s program if all of them are harmless, and as they are to be given to it.
pub(super) fn read(entry: &Entry, words: &[String]) -> Checked<Vec<String>> {
    let mut reader = Reader { entry, arguments: Arguments::default(), options: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some("") => {
                reader.arguments.split = Some(reader.arguments.operands.len());
                reader.arguments.operands.extend(words.cloned());
                break;
            }
            Some(long) => reader.long(long, &mut words)?,
            None => match word.strip_prefix('-') {
                Some(letters) if !letters.is_empty() => reader.letters(letters, &mut words)?,
                _ => reader.arguments.operands.push(word.clone()),
            },
        }
    }
    reader.operands()?;
    reader.keep_operands_apart()?;
    let Reader { mut arguments, options, .. } = reader;
    if let Some(check) = entry.check {
        check(&arguments)?;
    }
    if let Some(guard) = entry.guard {
        guard(&mut arguments)?;
    }
    let mut given: Vec<_> = options;
    given.extend(arguments.added.iter().chain(entry.behind).map(|&word| word.to_owned()));
    for (index, operand) in arguments.operands.iter().enumerate() {
        // What stands behind this is no option, whatever it looks like; to git it is a path.
        if arguments.split == Some(index) {
            given.push("--".to_owned());
        }
        given.push(operand.clone());
    }
    Ok(given)
}

struct Reader<'a> {
    entry: &'a Entry,
    arguments: Arguments,
    /// The options as they are given to the program.
    options: Vec<String>,
}

impl Reader<'_> {
    /// A value of an option that is not known must be one word.
    fn check_value(&self, option: &str, value: &str) -> Checked<()> {
        if !unknown::is_known(value)
            && (unknown::may_split(value) || self.entry.unknown_words == UnknownWords::Refused)
        {
            return Err(format!("the value of `{option}` is not known"));
        }
        Ok(())
    }

    /// Sees to it that no operand that is not known is taken for an option.
    fn keep_operands_apart(&mut self) -> Checked<()> {
        let operands = &self.arguments.operands;
        if operands.iter().all(|operand| unknown::is_known(operand)) {
            return Ok(());
        }
        let refuse = || Err(format!("`{}` with words that are not known", self.entry.name));
        if self.entry.max != usize::MAX && operands.iter().any(|one| unknown::may_split(one)) {
            return refuse();
        }
        let is_git = self.entry.operands == Operands::Revisions;
        match self.entry.unknown_words {
            UnknownWords::Refused => refuse(),
            UnknownWords::Anywhere => Ok(()),
            UnknownWords::WithKnownStart => {
                if operands.iter().any(|one| unknown::starts_unknown(one)) {
                    refuse()
                } else {
                    Ok(())
                }
            }
            UnknownWords::BehindDashes if is_git => {
                let (before, _) = self.arguments.around_dashes();
                if before.iter().all(|one| unknown::is_known(one)) { Ok(()) } else { refuse() }
            }
            UnknownWords::BehindDashes => {
                if operands.iter().any(|one| unknown::starts_unknown(one)) {
                    self.arguments.split = Some(0);
                }
                Ok(())
            }
        }
    }

    fn refuse<T>(&self, option: &str) -> Checked<T> {
        Err(format!("`{option}` of `{}` is not known to be harmless", self.entry.name))
    }

    /// An option that may be cut short, as long as it is clear which one it is.
    fn long<'w>(&mut self, long: &str, rest: &mut impl Iterator<Item = &'w String>) -> Checked<()> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let shown = format!("--{name}");
        let all = || self.entry.options().filter(|known| known.name.starts_with("--"));
        let exact = all().find(|known| known.name == shown);
        let mut near = all().filter(|known| known.name.starts_with(&shown));
        let known = match (exact, near.next(), near.next()) {
            (Some(known), ..) => known,
            (None, Some(known), None) if self.entry.abbreviates => known,
            _ => return self.refuse(&shown),
        };
        let (full, takes, is_path) = (known.name.to_owned(), known.takes, known.path);
        let value = match (takes, value) {
            (Takes::Nothing | Takes::Two, Some(_)) => return self.refuse(&shown),
            (Takes::Two, None) => {
                let two: Vec<_> = rest.take(2).cloned().collect();
                let [name, value] = two.as_slice() else {
                    return Err(format!("`{full}` has no value"));
                };
                self.check_value(&full, name)?;
                self.check_value(&full, value)?;
                self.arguments.options.push((full.clone(), Some(name.clone())));
                self.options.extend(std::iter::once(full).chain(two));
                return Ok(());
            }
            (Takes::Value, None) => match rest.next() {
                Some(value) => Some(value.clone()),
                None => return Err(format!("`{full}` has no value")),
            },
            (_, value) => value,
        };
        if let Some(value) = &value {
            self.check_value(&full, value)?;
            if is_path {
                path::check(value)?;
            }
        }
        self.options
            .push(value.as_ref().map_or_else(|| full.clone(), |value| format!("{full}={value}")));
        self.arguments.options.push((full, value));
        Ok(())
    }

    /// Letters, of which the last may have a value.
    fn letters<'w>(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'w String>,
    ) -> Checked<()> {
        // `find -name`, `java -version`: a whole word after one dash.
        let whole = format!("-{letters}");
        if letters.len() > 1
            && self
                .entry
                .options()
                .any(|known| known.name == whole && known.takes == Takes::Nothing)
        {
            self.options.push(whole.clone());
            self.arguments.options.push((whole, None));
            return Ok(());
        }
        if letters.chars().all(|c| c.is_ascii_digit())
            && self.entry.options().any(|known| known.name == "-0..9")
        {
            self.options.push(whole);
            self.arguments.options.push(("-0..9".to_owned(), Some(letters.to_owned())));
            return Ok(());
        }
        let mut chars = letters.chars();
        while let Some(letter) = chars.next() {
            let name = format!("-{letter}");
            let known = self.entry.options().find(|known| known.name == name);
            let Some(Known { takes, path: is_path, .. }) = known else { return self.refuse(&name) };
            let behind = chars.as_str();
            let value = match takes {
                Takes::Nothing => None,
                // Only long options do.
                Takes::Two => return self.refuse(&whole),
                Takes::Perhaps if behind.is_empty() => None,
                Takes::Value if behind.is_empty() => {
                    Some(rest.next().ok_or_else(|| format!("`{name}` has no value"))?.clone())
                }
                Takes::Value | Takes::Perhaps if self.entry.separates => {
                    return self.refuse(&whole);
                }
                Takes::Value | Takes::Perhaps => {
                    chars = "".chars();
                    Some(behind.to_owned())
                }
            };
            if let Some(value) = &value {
                self.check_value(&name, value)?;
                if is_path {
                    path::check(value)?;
                }
            }
            match (&value, takes) {
                // An empty value cannot stand behind its letter. Any other does, so that nothing can
                // take it for something else.
                (Some(value), Takes::Value) if value.is_empty() || self.entry.separates => {
                    self.options.extend([name.clone(), value.clone()]);
                }
                (Some(value), _) => self.options.push(format!("{name}{value}")),
                (None, _) => self.options.push(name.clone()),
            }
            self.arguments.options.push((name, value));
        }
        Ok(())
    }

    fn operands(&self) -> Checked<()> {
        let Self { entry, arguments, .. } = self;
        let operands = arguments.operands.as_slice();
        if operands.len() > entry.max {
            return Err(format!(
                "`{}` has more arguments than are known to be harmless",
                entry.name
            ));
        }
        let paths = match entry.operands {
            Operands::None if operands.is_empty() => return Ok(()),
            Operands::None => {
                return Err(format!("`{}` with arguments is not known to be harmless", entry.name));
            }
            Operands::Text => return Ok(()),
            Operands::Paths => operands,
            Operands::TextThenPaths(given) => {
                let given: Vec<_> = given.split_whitespace().collect();
                let skip = usize::from(!arguments.has(&given));
                operands.get(skip..).unwrap_or_default()
            }
            Operands::Revisions => {
                let (revisions, paths) = arguments.around_dashes();
                revisions.iter().try_for_each(|one| git_names::check_revision_or_path(one))?;
                return paths.iter().try_for_each(|one| git_names::check_pathspec(one));
            }
        };
        paths.iter().filter(|path| *path != "-").try_for_each(|path| path::check(path))
    }
}

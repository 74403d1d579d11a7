//! How a line of the server's log looks.

use std::fmt::{self, Debug};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
    registry::LookupSpan,
};

/// The time, how much it matters, what happened, and its fields. There is a line for each request, so nothing is looked
/// up that is not shown: colours, and places in the code.
#[derive(Debug)]
pub(crate) struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        SystemTime.format_time(&mut writer)?;
        write!(writer, " {:>5}", event.metadata().level().as_str())?;
        let mut fields = Fields { writer, written: Ok(()) };
        event.record(&mut fields);
        fields.written?;
        fields.writer.write_char('\n')
    }
}

struct Fields<'a> {
    writer: Writer<'a>,
    written: fmt::Result,
}

impl Fields<'_> {
    fn write(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        let mut write = || {
            self.writer.write_char(' ')?;
            if field.name() != "message" {
                self.writer.write_str(field.name())?;
                self.writer.write_char('=')?;
            }
            Ok(())
        };
        let named = write();
        self.written = self.written.and(named).and_then(|()| value(&mut self.writer));
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.write(field, |writer| write!(writer, "{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'\\".contains(&byte);
        self.write(field, |writer| {
            if field.name() == "message" {
                return writer.write_str(value);
            }
            if value.bytes().all(is_plain) {
                return ["\"", value, "\""].iter().try_for_each(|part| writer.write_str(part));
            }
            write!(writer, "{value:?}")
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{Dispatch, level_filters::LevelFilter};
    use tracing_subscriber::fmt::{
        SubscriberBuilder,
        format::{DefaultFields, Format},
    };

    use super::*;

    #[derive(Debug, Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn usual(to: Kept) -> SubscriberBuilder<DefaultFields, Format, LevelFilter, impl Fn() -> Kept> {
        let logging = tracing_subscriber::fmt().with_ansi(false).with_target(false);
        logging.with_writer(move || to.clone())
    }

    /// What is written, without the time.
    fn said(dispatch: fn(Kept) -> Dispatch, say: fn()) -> String {
        let kept = Kept::default();
        tracing::dispatcher::with_default(&dispatch(kept.clone()), say);
        let bytes = kept.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        text.split_once('Z').unwrap().1.to_owned()
    }

    #[test]
    fn a_line_says_what_it_says_elsewhere() {
        let request: fn() = || {
            tracing::info!(request = "d27d", method = %"POST", status = 200, user = "ada", "request");
        };
        let strange: fn() = || {
            tracing::warn!(path = "a \"b\"\n", user = Option::<String>::None, "{} lines", 3);
        };
        let other: fn() = || {
            tracing::error!(error = ?Some("no"), name = "grüße", what = "it's", ok = true, f = 0.5);
        };
        for say in [request, strange, other] {
            let line = said(|to| usual(to).event_format(Line).finish().into(), say);
            assert_eq!(line, said(|to| usual(to).finish().into(), say));
        }
        let line = said(|to| usual(to).event_format(Line).finish().into(), request);
        assert_eq!(line, "  INFO request request=\"d27d\" method=POST status=200 user=\"ada\"\n");
    }
}

//! Harmless lines as text, so that many of them run in one sandbox. The words are those that were
//! judged, quoted one by one.

use policy::shell::Harmless;
use tool::{Action, After, Argv, Inlet, Outlet};

pub(crate) fn script(how: &Harmless) -> String {
    let mut text = String::from("true\n");
    for step in &how.steps {
        let action = match &step.action {
            Action::Enter(folder) => format!("cd {}", quoted(folder)),
            Action::Run(pipeline) => pipeline.iter().map(command).collect::<Vec<_>>().join(" | "),
        };
        let step = match step.after {
            After::Anything => format!("{action}\n"),
            After::Success => format!("if [ $? = 0 ]; then {action}; fi\n"),
            After::Failure => format!("if [ $? != 0 ]; then {action}; fi\n"),
        };
        text += &step;
    }
    text
}

fn command(argv: &Argv) -> String {
    let env = argv.env.iter().filter(|(name, _)| name != "TOOLGATE_GIT");
    let exports: Vec<_> =
        env.map(|(name, value)| format!("export {name}={}; ", quoted(value))).collect();
    let exports = exports.concat();
    let run = match argv.words.as_slice() {
        // A script of the shell runs in the room's own one.
        [bash, privileged, option, script, ..]
            if bash == "bash" && privileged == "-p" && option == "-c" =>
        {
            script.clone()
        }
        words => {
            let words: Vec<_> = words.iter().skip(1).map(|word| quoted(word)).collect();
            format!("{} {}", argv.path.as_ref().unwrap(), words.join(" "))
        }
    };
    let folder = argv.folder.as_ref().map(|folder| format!("cd {}; ", quoted(folder)));
    let input = match &argv.streams.input {
        Inlet::Own => String::new(),
        Inlet::Null => " </dev/null".to_owned(),
        Inlet::File(file) => format!(" <{}", quoted(file)),
    };
    let output = if argv.streams.output == Outlet::Null { " >/dev/null" } else { "" };
    let errors = if argv.streams.errors == Outlet::Null { " 2>/dev/null" } else { "" };
    format!("( {exports}{}\n{run}\n ){input}{output}{errors}", folder.unwrap_or_default())
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

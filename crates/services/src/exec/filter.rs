//! Programs of the operator's that get text and answer with text.

use std::{path::Path, time::Duration};

use sandbox::{Access, Bind, Job, Process, Source};
use tokio::{io::AsyncWriteExt, time::timeout};
use tool::Stream;

use super::{Runner, capture::Capture, pump::Pump};

/// The longest answer that is read.
const MAX_ANSWER: usize = 1 << 20;

impl Runner {
    /// Runs a program in the sandbox, without a workspace and without the network; gives what it
    /// wrote to standard output. An exit code other than 0 is an error, and so is no end in time.
    pub async fn filter(
        &self,
        argv: &[String],
        input: &[u8],
        most: Duration,
    ) -> Result<Vec<u8>, String> {
        let minimum = self.settings.load().minimum;
        let binds = argv.first().map(|program| folder_of(program)).unwrap_or_default();
        let env = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        let job = Job { binds, env, minimum, ..Job::new(argv) };
        let started = self.sandbox.start(job).await;
        let mut process = started.map_err(|error| error.to_string())?;
        match timeout(most, talk(&mut process, input)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("it did not answer within {most:?}")),
        }
    }
}

async fn talk(process: &mut Process, input: &[u8]) -> Result<Vec<u8>, String> {
    let stdin = process.take_stdin();
    let mut pump = Pump::new(process.take_stdout(), process.take_stderr());
    let (mut answer, mut errors) = (Vec::new(), Capture::new(2_000));
    let say = async move {
        if let Some(mut stdin) = stdin {
            // A program that does not read what it is told may still have an answer.
            let _ = stdin.write_all(input).await;
        }
    };
    let listen = async {
        while let Some((stream, bytes)) = pump.next().await {
            match stream {
                Stream::Stdout => answer.extend_from_slice(bytes),
                Stream::Stderr => errors.push(stream, bytes),
            }
            if answer.len() > MAX_ANSWER {
                return Err(format!("it answered with more than {MAX_ANSWER} bytes"));
            }
        }
        Ok(())
    };
    let ((), listened) = tokio::join!(say, listen);
    listened?;
    let exit = process.wait().await.map_err(|error| error.to_string())?;
    if exit.code == Some(0) {
        return Ok(answer);
    }
    let said: Vec<u8> = errors.done().head.into_iter().flat_map(|(_, piece)| piece).collect();
    let said = String::from_utf8_lossy(&said);
    let how = match (exit.code, exit.signal) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended without an exit code".to_owned(),
    };
    let said = said.trim();
    Err(if said.is_empty() { how } else { format!("{how}: {said}") })
}

/// The folder of a program that is not among the system's own.
pub(super) fn folder_of(program: &str) -> Vec<Bind> {
    let real = Path::new(program).canonicalize().ok().filter(|_| program.starts_with('/'));
    let folder =
        real.as_deref().and_then(Path::parent).filter(|folder| !folder.starts_with("/usr"));
    let named = Path::new(program).parent();
    let bind = |(source, target): (&Path, &Path)| Bind {
        source: Source::Path(source.to_owned()),
        target: target.to_owned(),
        access: Access::ReadOnly,
    };
    folder.zip(named).map(bind).into_iter().collect()
}

//! Running a program to its end, with an error that says what was run and what it answered.

use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// The command as a person would type it, for messages.
pub(crate) fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs `command` without input and gives what it printed; any exit code but 0 is an error that quotes its stderr.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let Output { status, stdout, stderr } = start(command)?;
    if !status.success() {
        let said = String::from_utf8_lossy(&stderr);
        bail!("`{}` failed ({status}): {}", shown(command), said.trim());
    }
    Ok(stdout)
}

/// As [`output`], for programs that print text.
pub(crate) fn text(command: &mut Command) -> Result<String> {
    let bytes = output(command)?;
    String::from_utf8(bytes)
        .with_context(|| format!("`{}` printed something that is not UTF-8", shown(command)))
}

/// Runs `command` without input, whatever its exit code.
pub(crate) fn start(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().with_context(|| format!("could not start `{}`", shown(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_quotes_the_program_and_its_words() {
        let error = output(Command::new("sh").args(["-c", "echo no such thing >&2; exit 4"])).unwrap_err();
        let message = format!("{error:#}");
        assert!(message.contains("exit status: 4") && message.contains("no such thing"), "{message}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = output(&mut Command::new("/nonexistent/program")).unwrap_err();
        assert!(format!("{error:#}").contains("could not start `/nonexistent/program`"));
    }
}

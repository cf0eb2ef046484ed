//! Running another program, and saying what it answered when it fails.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// Runs `command` to its end, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status}); its own messages are above", shown(command));
    }
    Ok(())
}

/// Runs `command` to its end and gives what it printed, without the last line feed.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("could not start `{}`", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({}): {}", shown(command), output.status, said.trim());
    }
    let text = String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed something that is not UTF-8", shown(command)))?;
    Ok(text.trim_end().to_owned())
}

/// The program and its arguments as one would type them, for messages.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_its_status_and_its_words() {
        let error = capture(Command::new("sh").args(["-c", "echo no such thing >&2; exit 7"])).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("sh -c") && text.contains("7") && text.contains("no such thing"), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(&mut Command::new("tophalf-no-such-program")).unwrap_err();
        assert!(format!("{error:#}").starts_with("could not start `tophalf-no-such-program`: "), "{error:#}");
    }
}

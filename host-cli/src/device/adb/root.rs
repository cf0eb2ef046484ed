//! By which means an agent becomes root. `adb root` is never called: it restarts the device's adbd under
//! everybody who uses it.

use crate::device::process::Finished;

/// How commands are run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The shell is root already (`adb root` was called, an eng build, recovery).
    Shell,
    /// `su -c 'COMMAND'`: Magisk, KernelSU and most others.
    SuCommand,
    /// `su 0 COMMAND`: the one of userdebug builds (system/extras/su).
    SuUser,
    /// `echo COMMAND | su`: those that only read commands from standard input.
    SuInput,
}

/// How one question is put to the device's shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) script: &'static str,
    pub(super) input: &'static [u8],
}

/// Asked in this order, until one is answered with user 0.
pub(super) const QUESTIONS: &[(Root, Question)] = &[
    (Root::Shell, Question { script: "id -u", input: b"" }),
    (Root::SuCommand, Question { script: "su -c 'id -u'", input: b"" }),
    (Root::SuUser, Question { script: "su 0 id -u", input: b"" }),
    (Root::SuInput, Question { script: "su", input: b"id -u\n" }),
];

/// Whether an answer to `id -u` says root. The first form is toybox's, the second old toolbox's, which
/// ignores `-u`. `su` may print a banner before it.
pub(super) fn says_root(answer: &Finished) -> bool {
    let text = answer.text();
    text.lines().map(str::trim).any(|line| line == "0" || line.starts_with("uid=0(root)"))
}

impl Root {
    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Shell => "uid 0",
            Self::SuCommand => "su -c",
            Self::SuUser => "su 0",
            Self::SuInput => "piped su",
        }
    }

    /// Whether standard input of the wrapped command is the link's.
    pub(super) fn passes_stdin(self) -> bool {
        self != Self::SuInput
    }

    /// `command`, whose words need no quoting, as root.
    pub(super) fn wrap(self, command: &str) -> String {
        match self {
            Self::Shell => format!("exec {command}"),
            Self::SuCommand => format!("exec su -c '{command}'"),
            Self::SuUser => format!("exec su 0 {command}"),
            Self::SuInput => format!("echo 'exec {command} </dev/null' | su"),
        }
    }
}

/// How a whole script, in any words, is given to the device's shell: the command and its standard input.
pub(super) fn script(root: Option<Root>, script: &str) -> (String, String) {
    // No shell ends a quotation at anything but a quote.
    let quoted = || format!("'{}'", script.replace('\'', r"'\''"));
    match root {
        None | Some(Root::Shell) => (script.to_owned(), String::new()),
        Some(Root::SuCommand) => (format!("su -c {}", quoted()), String::new()),
        Some(Root::SuUser) => (format!("su 0 sh -c {}", quoted()), String::new()),
        Some(Root::SuInput) => ("su".to_owned(), format!("{script}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn answer(stdout: &str) -> Finished {
        Finished { status: ExitStatus::from_raw(0), stdout: stdout.into(), stderr: String::new() }
    }

    #[test]
    fn scripts_are_passed_whole_to_every_su() {
        let words = "echo \"it's\" '$x'; exit 3";
        for root in [None, Some(Root::Shell), Some(Root::SuInput)] {
            let (command, input) = script(root, words);
            assert!(command == words || input == format!("{words}\n"), "{root:?}");
        }
        // As the device's shell reads it.
        for (root, su) in
            [(Root::SuCommand, "su() { sh -c \"$2\"; }"), (Root::SuUser, "su() { shift; \"$@\"; }")]
        {
            let (command, _) = script(Some(root), words);
            let done =
                std::process::Command::new("sh").args(["-c", &format!("{su}; {command}")]).output().unwrap();
            assert_eq!(
                (String::from_utf8_lossy(&done.stdout).as_ref(), done.status.code()),
                ("it's $x\n", Some(3))
            );
        }
    }

    #[test]
    fn answers_of_every_id() {
        for root in ["0\n", "0\r\n", "uid=0(root) gid=0(root) context=u:r:su:s0\n", "WARNING: linker\n0\n"] {
            assert!(says_root(&answer(root)), "{root:?}");
        }
        for other in ["2000\n", "", "uid=2000(shell) gid=2000(shell)\n", "su: invalid uid/gid '-c'\n", "10\n"]
        {
            assert!(!says_root(&answer(other)), "{other:?}");
        }
    }
}

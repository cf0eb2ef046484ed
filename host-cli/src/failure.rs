//! Why a command failed, by who can mend it. The kind decides the exit code.

/// A failure whose exit code is part of the contract with scripts.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command asks for something that cannot be: it has to be asked differently.
    #[error("{0}")]
    Usage(String),
    /// The device, the link or the measurement did not do what it should.
    #[error("{0}")]
    Device(String),
}

/// What the command was asked to fail on was found.
pub const EXIT_FOUND: u8 = 1;
/// The command was wrong.
pub const EXIT_USAGE: u8 = 2;
/// The device failed, or the measurement is invalid.
pub const EXIT_INVALID: u8 = 3;

impl Failure {
    /// A failure that a different command would not have had.
    pub fn usage(message: impl Into<String>) -> anyhow::Error {
        Self::Usage(message.into()).into()
    }

    /// A failure of the device, the link or the measurement.
    pub fn device(message: impl Into<String>) -> anyhow::Error {
        Self::Device(message.into()).into()
    }
}

/// The exit code that goes with `error`. Whatever is not known to be the command's fault is the machinery's.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(Failure::Usage(_)) => EXIT_USAGE,
        Some(Failure::Device(_)) | None => EXIT_INVALID,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn context_keeps_the_exit_code() {
        let wrapped: anyhow::Result<()> = Err(Failure::usage("no such disk")).context("device X");
        let error = wrapped.unwrap_err();
        assert_eq!(exit_code(&error), EXIT_USAGE);
        assert_eq!(format!("{error:#}"), "device X: no such disk");
        assert_eq!(exit_code(&anyhow::anyhow!("something else")), EXIT_INVALID);
    }
}

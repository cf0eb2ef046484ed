//! Why a job could not be done, for the person who asked for it.

use std::fmt;
use tophalf_wire::{Fault, Outcome};

/// One sentence: what was tried, on what, what the system answered, what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError {
    fault: Fault,
    message: String,
}

impl JobError {
    /// The plan asks for something that cannot be.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { fault: Fault::Usage, message: message.into() }
    }

    /// The device did not do what it should.
    pub fn device(message: impl Into<String>) -> Self {
        Self { fault: Fault::Device, message: message.into() }
    }

    /// As the end of a stream.
    pub fn into_outcome(self) -> Outcome {
        Outcome::Failed { fault: self.fault, message: self.message }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JobError {}

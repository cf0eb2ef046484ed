//! What is pasted: every line fits a mail, and what it says is what the comparison says.

#[path = "../analysis/scene/mod.rs"]
#[expect(dead_code, reason = "the scenes of other tests")]
mod scene;

mod fio;
mod paste;

//! QEMU's machine protocol, as much of it as faults need.
//!
//! <https://www.qemu.org/docs/master/interop/qmp-spec.html>: one JSON object a line; answers have `return` or
//! `error`, events come in between.

use std::io::{BufRead, BufReader, Read, Write};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A connection after the handshake.
pub(crate) struct Qmp<R, W> {
    from: BufReader<R>,
    to: W,
}

impl<R: Read, W: Write> Qmp<R, W> {
    /// Reads the greeting and leaves the negotiation mode.
    pub(crate) fn new(from: R, to: W) -> Result<Self> {
        let mut qmp = Qmp { from: BufReader::new(from), to };
        let greeting = qmp.line()?;
        if greeting.get("QMP").is_none() {
            bail!("QEMU greeted with {greeting}");
        }
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Runs one command and gives what it returns.
    pub(crate) fn execute(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let line = json!({"execute": command, "arguments": arguments}).to_string() + "\n";
        self.to.write_all(line.as_bytes()).with_context(|| format!("QEMU took no `{command}`"))?;
        self.to.flush()?;
        loop {
            let mut answer = self.line().with_context(|| format!("waiting for the answer to `{command}`"))?;
            if let Some(error) = answer.get("error") {
                bail!("QEMU refused `{command}`: {}", error["desc"].as_str().unwrap_or("without a reason"));
            }
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
        }
    }

    fn line(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.from.read_line(&mut line).context("reading from QEMU")? == 0 {
            bail!("QEMU ended");
        }
        serde_json::from_str(&line).with_context(|| format!("QEMU sent no JSON but: {}", line.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREETING: &str = "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\r\n{\"return\": {}}\r\n";

    #[test]
    fn events_before_an_answer_are_passed_over() {
        let input = format!("{GREETING}{{\"event\": \"RESUME\"}}\r\n{{\"return\": \"yes\"}}\r\n");
        let mut sent = Vec::new();
        let mut qmp = Qmp::new(input.as_bytes(), &mut sent).unwrap();
        assert_eq!(qmp.execute("set_link", json!({"name": "net0", "up": false})).unwrap(), "yes");
        let sent = String::from_utf8(sent).unwrap();
        assert_eq!(
            sent.lines().last(),
            Some("{\"arguments\":{\"name\":\"net0\",\"up\":false},\"execute\":\"set_link\"}")
        );
    }

    #[test]
    fn a_refusal_carries_its_reason() {
        let input =
            format!("{GREETING}{{\"error\": {{\"class\": \"DeviceNotFound\", \"desc\": \"no net9\"}}}}\n");
        let mut qmp = Qmp::new(input.as_bytes(), Vec::new()).unwrap();
        let message = format!("{:#}", qmp.execute("device_del", json!({"id": "net9"})).unwrap_err());
        assert_eq!(message, "QEMU refused `device_del`: no net9");
    }

    #[test]
    fn the_end_of_qemu_is_no_hang() {
        assert!(Qmp::new(&b""[..], Vec::new()).is_err());
        let mut qmp = Qmp::new(GREETING.as_bytes(), Vec::new()).unwrap();
        let message = format!("{:#}", qmp.execute("quit", json!({})).unwrap_err());
        assert_eq!(message, "waiting for the answer to `quit`: QEMU ended");
    }
}

//! What the machine itself must have, and how to get it.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{apt, command};

const QEMU: &str = "qemu-system-aarch64";
/// The first QEMU with a UFS controller.
const OLDEST_QEMU: (u32, u32) = (8, 2);
const PACKAGES: [&str; 3] = ["qemu-system-arm", "adb", "xz-utils"];
/// Debian 12's own QEMU is 7.2 and its adb 29; its backports have newer ones.
const BACKPORTS: &str = "bookworm-backports";
const BACKPORTS_FILE: &str = "/etc/apt/sources.list.d/virtual-phone-backports.sources";

/// Checks the programs a virtual phone is made and run with; the error names what is missing and the commands that
/// install it.
pub fn check() -> Result<()> {
    let mut missing = Vec::new();
    if let Err(reason) = check_qemu() {
        missing.push(format!("{reason:#}"));
    }
    for (program, version) in
        [("adb", "--version"), ("xz", "--version"), ("apt-get", "--version"), ("dpkg", "--version")]
    {
        if let Err(reason) = command::output(Command::new(program).arg(version)) {
            missing.push(format!("{reason:#}"));
        }
    }
    if let Err(reason) = apt::keyring() {
        missing.push(format!("{reason:#}"));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let commands: String = plan(&debian_codename(), apt::mirror()?.as_str(), apt::host_has_suite(BACKPORTS)?)
        .iter()
        .map(|step| format!("\n    {}", step.shown()))
        .collect();
    bail!(
        "this machine lacks something the virtual phone needs:\n  {}\n`virtual-phone setup --install-host-packages` runs, as root:{commands}",
        missing.join("\n  ")
    );
}

/// Installs QEMU, adb and xz by the machine's own apt, unless they are there; by `sudo` if need be.
pub fn install(progress: impl Fn(&str)) -> Result<()> {
    if check().is_ok() {
        return Ok(());
    }
    let mirror = apt::mirror()?;
    for step in plan(&debian_codename(), &mirror, apt::host_has_suite(BACKPORTS)?) {
        progress(&step.shown());
        step.run()?;
    }
    check()
}

fn check_qemu() -> Result<()> {
    let banner = command::text(Command::new(QEMU).arg("--version"))?;
    let version = parse_qemu_version(&banner)
        .with_context(|| format!("`{QEMU} --version` printed no version but: {}", banner.trim()))?;
    if version < OLDEST_QEMU {
        bail!(
            "{QEMU} is {}.{}, which has no UFS controller: {}.{} or newer is needed",
            version.0,
            version.1,
            OLDEST_QEMU.0,
            OLDEST_QEMU.1
        );
    }
    let devices = command::text(Command::new(QEMU).args(["-device", "help"]))?;
    if !devices.contains("name \"ufs\"") {
        bail!("{QEMU} {}.{} was built without the device `ufs`", version.0, version.1);
    }
    Ok(())
}

/// From `QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)`.
fn parse_qemu_version(banner: &str) -> Option<(u32, u32)> {
    let mut numbers = banner.split_once("version ")?.1.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Empty on a system that is not Debian's or does not say.
fn debian_codename() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).unwrap_or_default().to_owned()
}

/// One thing done as root.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Write { file: &'static str, text: String },
    Run(Vec<String>),
}

impl Step {
    fn shown(&self) -> String {
        match self {
            Step::Write { file, text } => format!("printf '{}' > {file}", text.replace('\n', "\\n")),
            Step::Run(words) => words.join(" "),
        }
    }

    fn run(&self) -> Result<()> {
        let words = match self {
            Step::Write { file, text } => {
                ["sh", "-c", "printf %s \"$1\" > \"$2\"", "sh", text, file].map(str::to_owned).to_vec()
            }
            Step::Run(words) => words.clone(),
        };
        let (program, arguments) = words.split_first().context("a step without a program")?;
        let mut command = if is_root() {
            Command::new(program)
        } else {
            let mut sudo = Command::new("sudo");
            sudo.arg(program);
            sudo
        };
        command::output(command.args(arguments))?;
        Ok(())
    }
}

fn is_root() -> bool {
    // SAFETY: geteuid takes nothing, cannot fail and touches no memory of ours.
    unsafe { libc::geteuid() == 0 }
}

fn plan(codename: &str, mirror: &str, has_backports: bool) -> Vec<Step> {
    let mut install =
        "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends".to_owned();
    // Another apt at work (unattended upgrades) is waited for.
    install += " -o DPkg::Lock::Timeout=600";
    let mut steps = Vec::new();
    if codename == "bookworm" {
        install += &format!(" -t {BACKPORTS}");
        if !has_backports {
            let keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
            let text = format!(
                "Types: deb\nURIs: {mirror}\nSuites: {BACKPORTS}\nComponents: main\nSigned-By: {keyring}\n"
            );
            steps.push(Step::Write { file: BACKPORTS_FILE, text });
        }
    }
    let run = |line: &str| Step::Run(line.split(' ').map(str::to_owned).collect());
    steps.push(run("apt-get update -q"));
    steps.push(run(&format!("{install} {}", PACKAGES.join(" "))));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qemu_versions() {
        let debian =
            "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)\nCopyright (c) 2003-2025";
        assert_eq!(parse_qemu_version(debian), Some((10, 0)));
        assert!(parse_qemu_version("QEMU emulator version 7.2.19").unwrap() < OLDEST_QEMU);
        assert!(parse_qemu_version("QEMU emulator version 8.10.0").unwrap() > OLDEST_QEMU);
        assert_eq!(parse_qemu_version("not qemu"), None);
    }

    #[test]
    fn debian_12_needs_its_backports() {
        let lines: Vec<String> = plan("bookworm", "http://m/debian", false).iter().map(Step::shown).collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("printf 'Types: deb\\nURIs: http://m/debian\\nSuites: bookworm-backports")
        );
        assert!(lines[2].ends_with("-t bookworm-backports qemu-system-arm adb xz-utils"), "{}", lines[2]);
        assert_eq!(plan("bookworm", "http://m/debian", true).len(), 2);
    }

    #[test]
    fn newer_debian_has_all_in_its_main_suite() {
        let lines: Vec<String> = plan("trixie", "http://m/debian", false).iter().map(Step::shown).collect();
        assert_eq!(lines[0], "apt-get update -q");
        assert!(!lines[1].contains("-t "), "{}", lines[1]);
    }
}

//! Debian arm64 packages by the host's own `apt`, without touching the host's packages.
//!
//! apt is given its own sources, lists, status and cache through `APT_CONFIG`; the host's settings (a proxy, say)
//! still count, because apt reads /etc/apt/apt.conf.d as well.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::command;

/// Where a machine that names no Debian mirror of its own fetches from.
pub const DEFAULT_MIRROR: &str = "http://deb.debian.org/debian";

/// Stable for 6.12 and the user space, backports for what is newer; the older backports as a second source of 6.12.
const SUITES: &str = "trixie trixie-backports bookworm-backports";

/// One package at one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// `adbd`.
    pub name: String,
    /// `34.0.5-12`, with its epoch if it has one.
    pub version: String,
}

impl std::fmt::Display for Package {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// An apt tree of its own for arm64.
#[derive(Debug)]
pub struct Apt {
    config: PathBuf,
    archives: PathBuf,
}

impl Apt {
    /// Writes the tree's settings under `dir`; nothing is fetched yet.
    pub fn new(dir: &Path, mirror: &str) -> Result<Self> {
        let keyring = keyring()?;
        let [sources, lists, archives] = ["sources", "lists", "cache/archives"].map(|part| dir.join(part));
        for folder in [&sources, &lists.join("partial"), &archives.join("partial")] {
            fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
        }
        let write = |path: &Path, text: String| {
            fs::write(path, text).with_context(|| format!("could not write {}", path.display()))
        };
        let status = dir.join("status");
        write(&status, String::new())?;
        write(
            &sources.join("debian.sources"),
            format!(
                "Types: deb\nURIs: {mirror}\nSuites: {SUITES}\nComponents: main\nArchitectures: arm64\n\
                 Signed-By: {}\n",
                keyring.display()
            ),
        )?;
        let config = dir.join("apt.conf");
        write(
            &config,
            format!(
                "Dir::Etc::sourcelist \"/dev/null\";\n\
                 Dir::Etc::sourceparts \"{}\";\n\
                 Dir::State::lists \"{}\";\n\
                 Dir::State::status \"{}\";\n\
                 Dir::Cache \"{}\";\n\
                 APT::Architecture \"arm64\";\n\
                 APT::Architectures {{\"arm64\";}};\n\
                 Acquire::Languages \"none\";\n\
                 Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n",
                sources.display(),
                lists.display(),
                status.display(),
                dir.join("cache").display()
            ),
        )?;
        Ok(Apt { config, archives })
    }

    /// Fetches the lists of packages.
    pub fn update(&self) -> Result<()> {
        // Otherwise a mirror that cannot be reached is only a warning.
        command::output(self.program("apt-get").args(["update", "-q", "--error-on=any"])).context(
            "the lists of arm64 packages could not be fetched: is the Debian mirror within reach?",
        )?;
        Ok(())
    }

    /// The release strings of all ordinary arm64 kernels the archive has.
    pub fn kernels(&self) -> Result<Vec<String>> {
        let names = command::text(self.program("apt-cache").args(["pkgnames", "linux-image-"]))?;
        Ok(names.lines().filter_map(crate::kernel::release_of_image).map(str::to_owned).collect())
    }

    /// The packages that hold the kernel `release`: one image, which in newer kernels only points to others.
    pub fn kernel_packages(&self, release: &str) -> Result<Vec<Package>> {
        let (image, depends) = self.show(&format!("linux-image-{release}"))?;
        let mut packages = vec![image];
        for part in ["linux-binary", "linux-modules"] {
            let name = format!("{part}-{release}");
            if depends.split([',', ' ']).any(|word| word == name) {
                packages.push(self.show(&name)?.0);
            }
        }
        Ok(packages)
    }

    /// `names` and everything they depend on, by apt's own resolver on a machine that has nothing installed.
    pub fn with_dependencies(&self, names: &[&str]) -> Result<Vec<Package>> {
        let plan = command::text(
            self.program("apt-get").args(["install", "--simulate", "--no-install-recommends"]).args(names),
        )?;
        Ok(parse_simulation(&plan))
    }

    /// Fetches `packages`, unless their files are there, and gives the files in the same order.
    pub fn fetch(&self, packages: &[Package]) -> Result<Vec<PathBuf>> {
        let absent = packages.iter().filter(|package| self.file_of(package).is_none());
        let wanted: Vec<_> = absent.map(|package| format!("{}={}", package.name, package.version)).collect();
        if !wanted.is_empty() {
            // `apt-get download` writes to the current folder.
            let mut apt = self.program("apt-get");
            command::output(apt.args(["download", "-q"]).args(wanted).current_dir(&self.archives))?;
        }
        let file = |package| {
            self.file_of(package)
                .with_context(|| format!("apt fetched {package}, but not into {}", self.archives.display()))
        };
        packages.iter().map(file).collect()
    }

    /// Removes the files of all packages but `packages`.
    pub fn keep_only<'a>(&self, packages: impl IntoIterator<Item = &'a Package>) -> Result<()> {
        let kept: Vec<_> = packages.into_iter().filter_map(|package| self.file_of(package)).collect();
        let entries =
            fs::read_dir(&self.archives).with_context(|| format!("reading {}", self.archives.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "deb") && !kept.contains(&path) {
                fs::remove_file(&path).with_context(|| format!("could not remove {}", path.display()))?;
            }
        }
        Ok(())
    }

    fn show(&self, name: &str) -> Result<(Package, String)> {
        let record = command::text(self.program("apt-cache").args(["show", "--no-all-versions", name]))?;
        let field = |key: &str| {
            let line = record.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            line.map(str::to_owned)
        };
        let version =
            field("Version").with_context(|| format!("`apt-cache show {name}` gives no version"))?;
        Ok((Package { name: name.to_owned(), version }, field("Depends").unwrap_or_default()))
    }

    fn file_of(&self, package: &Package) -> Option<PathBuf> {
        let stem = format!("{}_{}", package.name, package.version.replace(':', "%3a"));
        let files = ["arm64", "all"].map(|kind| self.archives.join(format!("{stem}_{kind}.deb")));
        files.into_iter().find(|path| path.is_file())
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env("APT_CONFIG", &self.config).env("LC_ALL", "C.UTF-8");
        command
    }
}

/// Unpacks a package file into `dir`.
pub fn unpack(file: &Path, dir: &Path) -> Result<()> {
    command::output(Command::new("dpkg").arg("-x").args([file, dir]))?;
    Ok(())
}

/// The Debian mirror this machine itself uses, so that one behind a proxy or a mirror of its own works.
pub fn mirror() -> Result<String> {
    Ok(parse_mirror(&index_targets()?).unwrap_or(DEFAULT_MIRROR).to_owned())
}

/// Whether the machine's own apt already knows `suite`.
pub fn host_has_suite(suite: &str) -> Result<bool> {
    Ok(index_targets()?.lines().any(|line| line.split('|').nth(1) == Some(suite)))
}

/// The file with Debian's archive keys; its name differs between Debian releases.
pub fn keyring() -> Result<PathBuf> {
    let candidates = ["gpg", "pgp"].map(|kind| format!("/usr/share/keyrings/debian-archive-keyring.{kind}"));
    candidates.into_iter().map(PathBuf::from).find(|path| path.exists()).context(
        "no /usr/share/keyrings/debian-archive-keyring.gpg to check Debian's packages with: \
         run `apt-get install debian-archive-keyring`",
    )
}

/// apt's own reading of its sources, whatever their format: one `URI|SUITE|LABEL` a line.
fn index_targets() -> Result<String> {
    command::text(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(REPO_URI)|$(RELEASE)|$(LABEL)",
        "Created-By: Packages",
    ]))
}

/// The label comes from the Release file and is empty before the first `apt-get update`; then the path decides.
fn parse_mirror(targets: &str) -> Option<&str> {
    targets.lines().find_map(|line| {
        let mut fields = line.split('|');
        let (uri, _suite, label) = (fields.next()?.trim_end_matches('/'), fields.next()?, fields.next()?);
        (label == "Debian" || (label.is_empty() && uri.ends_with("/debian"))).then_some(uri)
    })
}

/// Lines such as `Inst adbd (34.0.5-12 Debian:13.8/stable [arm64])`.
fn parse_simulation(plan: &str) -> Vec<Package> {
    let package = |line: &str| {
        let mut words = line.strip_prefix("Inst ")?.split(' ');
        let name = words.next()?.to_owned();
        let version = words.next()?.strip_prefix('(')?.to_owned();
        Some(Package { name, version })
    };
    plan.lines().filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_debians_main_archive() {
        let targets = "http://mirror.example/debian-security/|bookworm-security|Debian-Security\n\
                       http://mirror.example/debian/|bookworm|Debian\n";
        assert_eq!(parse_mirror(targets), Some("http://mirror.example/debian"));
    }

    #[test]
    fn the_mirror_is_known_before_the_first_update() {
        let targets = "http://example.org/debian-security/|bookworm-security|\n\
                       mirror+file:/etc/apt/mirrors/debian|bookworm|\n";
        assert_eq!(parse_mirror(targets), Some("mirror+file:/etc/apt/mirrors/debian"));
        assert_eq!(parse_mirror("https://example.org/ubuntu/|noble|Ubuntu\n"), None);
        assert_eq!(parse_mirror(""), None);
    }

    #[test]
    fn what_apt_would_install() {
        let plan = "Reading package lists...\n\
                    Inst libgcc-s1 (14.2.0-19 Debian:13.8/stable [arm64]) []\n\
                    Inst zlib1g (1:1.3.dfsg+really1.3.1-1+b1 Debian:13.8/stable [arm64])\n\
                    Conf zlib1g (1:1.3.dfsg+really1.3.1-1+b1 Debian:13.8/stable [arm64])\n";
        let expected = [("libgcc-s1", "14.2.0-19"), ("zlib1g", "1:1.3.dfsg+really1.3.1-1+b1")]
            .map(|(name, version)| Package { name: name.into(), version: version.into() });
        assert_eq!(parse_simulation(plan), expected);
    }
}

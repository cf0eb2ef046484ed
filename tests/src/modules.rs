//! Which kernel modules a guest needs, and in which order they can be loaded.
//!
//! Debian's packages hold no modules.dep (that is made on the machine where they are installed), so the order comes
//! from where depmod takes it: the strings of a module's `.modinfo` section, `depends=` and `softdep=pre:`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;

/// The module files of one kernel, by name.
pub(crate) struct Index {
    files: HashMap<String, PathBuf>,
}

/// One module, ready to be loaded.
pub(crate) struct Module {
    /// With underscores, as /proc/modules shows it.
    pub(crate) name: String,
    /// The uncompressed ELF file.
    pub(crate) image: Vec<u8>,
}

impl Index {
    /// Finds every module under `dir` (a lib/modules/RELEASE folder).
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        let mut files = HashMap::new();
        let mut folders = vec![dir.join("kernel")];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else if let Some((stem, _)) = entry.file_name().to_string_lossy().split_once(".ko") {
                    files.insert(canonical(stem), entry.path());
                }
            }
        }
        Ok(Index { files })
    }

    /// `wanted` and what they need, each after what it needs. What is no module in this kernel is taken to be built
    /// in: whether it is shows at boot.
    pub(crate) fn load_order(&self, wanted: &[&str]) -> Result<Vec<Module>> {
        let mut modules: HashMap<String, Vec<u8>> = HashMap::new();
        let order = in_order(wanted, |name| {
            let Some(file) = self.files.get(name) else { return Ok(None) };
            let image = read(file)?;
            let needs = needs(&image);
            modules.insert(name.to_owned(), image);
            Ok(Some(needs))
        })?;
        let module = |name: String| modules.remove(&name).map(|image| Module { name, image });
        Ok(order.into_iter().filter_map(module).collect())
    }
}

/// File names have dashes where the kernel has underscores.
fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

fn read(file: &Path) -> Result<Vec<u8>> {
    if file.extension().is_some_and(|extension| extension == "xz") {
        // busybox could unpack it in the guest, but slowly, at every boot.
        return command::output(Command::new("xz").arg("-dc").arg(file));
    }
    fs::read(file).with_context(|| format!("reading {}", file.display()))
}

/// What a module's `.modinfo` says must be loaded before it. The section is NUL-terminated `key=value` strings.
fn needs(image: &[u8]) -> Vec<String> {
    let mut needs = Vec::new();
    for string in image.split(|byte| *byte == 0) {
        let Ok(string) = std::str::from_utf8(string) else { continue };
        if let Some(names) = string.strip_prefix("depends=") {
            needs.extend(names.split(',').filter(|name| !name.is_empty()).map(canonical));
        } else if let Some(soft) = string.strip_prefix("softdep=") {
            let before = soft.split_whitespace().skip_while(|word| *word != "pre:").skip(1);
            needs.extend(before.take_while(|word| *word != "post:").map(canonical));
        }
    }
    needs
}

/// Depth first, each name once. `needs_of` gives `None` for what is no module.
fn in_order(
    wanted: &[&str],
    mut needs_of: impl FnMut(&str) -> Result<Option<Vec<String>>>,
) -> Result<Vec<String>> {
    enum Step {
        Visit(String),
        Emit(String),
    }
    let mut order = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut steps: Vec<Step> = wanted.iter().rev().map(|name| Step::Visit(canonical(name))).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Emit(name) => order.push(name),
            Step::Visit(name) => {
                if !seen.insert(name.clone()) {
                    continue;
                }
                let Some(needs) = needs_of(&name)? else { continue };
                steps.push(Step::Emit(name));
                steps.extend(needs.into_iter().rev().map(Step::Visit));
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_module_after_what_it_needs() {
        let needs_of = |name: &str| -> Result<Option<Vec<String>>> {
            let needs: &[&str] = match name {
                "ufshcd_pci" => &["ufshcd_core"],
                "ufshcd_core" => &["governor_simpleondemand", "scsi_mod"],
                "sd_mod" => &["scsi_mod", "scsi_common"],
                "scsi_mod" => &["scsi_common"],
                "scsi_common" => &[],
                _ => return Ok(None),
            };
            Ok(Some(needs.iter().map(|need| (*need).to_owned()).collect()))
        };
        let order = in_order(&["ufshcd-pci", "sd_mod"], needs_of).unwrap();
        assert_eq!(order, ["scsi_common", "scsi_mod", "ufshcd_core", "ufshcd_pci", "sd_mod"]);
    }

    #[test]
    fn modinfo_strings() {
        let image = b"\x7fELF\0\xff\0license=GPL\0softdep=pre: governor_simpleondemand post: x\0depends=scsi_mod,crc-t10dif\0";
        assert_eq!(needs(image), ["governor_simpleondemand", "scsi_mod", "crc_t10dif"]);
        assert!(needs(b"\0depends=\0vermagic=6.12 SMP\0").is_empty());
    }
}

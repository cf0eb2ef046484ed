//! Commits of the kernel that are known to change how UFS completions are delivered, and what shows them: a run
//! itself, as far as it does, or a git tree. A version number shows nothing: vendors and stable trees pick and revert.

use super::{CompletionPath, RunSummary};
use anyhow::{Context, bail};
use std::path::Path;
use std::process::{Command, Stdio};

/// Passes over the commits of a tree whose messages are searched: some two years of mainline.
const SKIP_SEARCHED: &str = "--skip=200000";

/// A commit of mainline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit {
    /// Its hash: all of it, or as much as is known.
    pub hash: &'static str,
    /// The first line of its message, without `scsi: ufs: core:`.
    pub title: &'static str,
}

impl Commit {
    /// Its first 12 digits.
    pub fn short(&self) -> &'static str {
        self.hash.get(..12).unwrap_or(self.hash)
    }
}

/// The commit that moved UFS completions into a thread: v6.16 to v7.2-rc5, and some stable trees.
pub const THREADED: Commit = Commit {
    hash: "3c7ac40d732232fec0ba31d0a5e3cc9c112fc2e7",
    title: "Delegate the interrupt service routine to a threaded IRQ handler",
};

/// Those that are looked for in a tree, in the order in which they were made.
pub const KNOWN: [Commit; 6] = [
    PM_QOS,
    THREADED,
    Commit { hash: "034d319c8899e8c5c0a35c6692c7fc7e8c12c374", title: "Fix interrupt handling for MCQ Mode" },
    Commit {
        hash: "eabcac808ca3ee9878223d4b49b750979029016b",
        title: "Fix IRQ lock inversion for the SCSI host lock",
    },
    Commit { hash: "6475cfb81fc4", title: "Avoid IRQ thread wakeup during active UIC command" },
    Commit {
        hash: "8a309036f557d3ff4efb2beea5132ba91172d934",
        title: "Revert \"Delegate the interrupt service routine to a threaded IRQ handler\"",
    },
];

/// CPU latency requests of the UFS driver (v6.9): they too change what an I/O waits for.
pub const PM_QOS: Commit =
    Commit { hash: "2777e73fc154", title: "Add CPU latency QoS support for UFS driver" };

/// What a run itself shows, as words. A thread that a driver asked for is the commit or one that does the same; where
/// completions are seen in the interrupt, the commit may be there and have no effect (MCQ with ESI) or be reverted.
pub fn shown_by(run: &RunSummary) -> Option<String> {
    let threaded = match run.completion.path {
        CompletionPath::Threaded => Some("or one like it in effect"),
        CompletionPath::Hard | CompletionPath::McqEsi => Some("not in effect"),
        CompletionPath::Mixed => Some("in effect for some interrupts"),
        _ => None,
    };
    let threaded = threaded.map(|words| format!("{} {words}", THREADED.short()));
    let has_qos = run.conditions.controller.contains_key("pm_qos_enable");
    let qos = has_qos.then(|| format!("{} (CPU latency QoS) in", PM_QOS.short()));
    let shown: Vec<String> = threaded.into_iter().chain(qos).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Where a commit is with respect to a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is in it.
    In,
    /// A commit that says to be it is in it: a cherry-pick, or a stable tree's.
    PickedAs(String),
    /// It is in it, and a later one reverts it.
    RevertedBy(String),
    /// It is not found.
    NotIn,
}

impl State {
    /// Its words in reports.
    pub fn words(&self) -> String {
        match self {
            Self::In => "in".to_owned(),
            Self::PickedAs(hash) => format!("in, as {hash}"),
            Self::RevertedBy(hash) => format!("reverted by {hash}"),
            Self::NotIn => "not in".to_owned(),
        }
    }
}

/// Looks for `commits` in the history of `revision` in the repository `tree`, which is only read.
///
/// # Errors
/// git cannot be run, `tree` is no repository, or it has no such revision.
pub fn in_tree(tree: &Path, revision: &str, commits: &[Commit]) -> anyhow::Result<Vec<(Commit, State)>> {
    let head = git(tree, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit_of(revision)])?;
    let Some(head) = head else {
        bail!("{} has no revision {revision}: fetch it, or name another", tree.display());
    };
    commits.iter().map(|commit| Ok((*commit, state(tree, head.trim(), commit)?))).collect()
}

fn commit_of(revision: &str) -> String {
    format!("{revision}^{{commit}}")
}

fn state(tree: &Path, head: &str, commit: &Commit) -> anyhow::Result<State> {
    let found = if is_ancestor(tree, head, commit)? {
        State::In
    } else {
        let short = commit.short();
        // As `git cherry-pick -x`, and the two ways of the stable trees, name the commit they are.
        let marks = [
            format!("cherry picked from commit {short}"),
            format!("\\[ Upstream commit {short}"),
            format!("^commit {short}[0-9a-f]* upstream"),
        ];
        match last_with(tree, head, &marks)? {
            Some(hash) => State::PickedAs(hash),
            None => return Ok(State::NotIn),
        }
    };
    // A revert names the commit of its own tree.
    let own = match &found {
        State::PickedAs(hash) => hash.as_str(),
        _ => commit.hash,
    };
    let mut reverts = vec![own, commit.hash];
    reverts.dedup();
    let reverts: Vec<String> = reverts
        .iter()
        .map(|hash| format!("This reverts commit {}", hash.get(..12).unwrap_or(hash)))
        .collect();
    Ok(last_with(tree, head, &reverts)?.map_or(found, State::RevertedBy))
}

fn is_ancestor(tree: &Path, head: &str, commit: &Commit) -> anyhow::Result<bool> {
    // A tree that does not have the commit at all answers as one in which it is no ancestor.
    let known =
        git(tree, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit_of(commit.hash)])?;
    match known {
        Some(hash) => Ok(git(tree, &["merge-base", "--is-ancestor", hash.trim(), head])?.is_some()),
        None => Ok(false),
    }
}

/// The newest commit whose message has one of `marks`, by its first 12 digits.
fn last_with(tree: &Path, head: &str, marks: &[String]) -> anyhow::Result<Option<String>> {
    let marks: Vec<String> = marks.iter().map(|mark| format!("--grep={mark}")).collect();
    let mut arguments = vec!["log", "-1", "--format=%H"];
    arguments.extend(marks.iter().map(String::as_str));
    // The limit is on what is searched, not on what is found.
    let from = git(tree, &["rev-list", "--max-count=1", SKIP_SEARCHED, head])?;
    let until = from.as_deref().map(str::trim).filter(|hash| !hash.is_empty()).map(|hash| format!("^{hash}"));
    arguments.push(head);
    arguments.extend(until.as_deref());
    let hash = git(tree, &arguments)?.context("git log failed")?;
    Ok(hash.get(..12).map(str::to_owned))
}

/// What git prints; `None` if it says no (1), which is an answer.
fn git(tree: &Path, arguments: &[&str]) -> anyhow::Result<Option<String>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(tree)
        .args(["--no-pager", "--no-optional-locks"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("cannot run git: install it, or leave out --tree")?;
    match output.status.code() {
        Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned())),
        Some(1) => Ok(None),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("git {} in {}: {}", arguments.join(" "), tree.display(), said.trim())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A repository with commits made one after the other.
    struct Tree(TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            tree.git(&["init", "--quiet"]);
            tree.commit("begin");
            tree
        }

        fn git(&self, arguments: &[&str]) -> String {
            let settings =
                ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false"];
            let output = Command::new("git")
                .arg("-C")
                .arg(self.0.path())
                .args(settings)
                .args(arguments)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }

        fn commit(&self, message: &str) -> String {
            self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
            self.git(&["rev-parse", "HEAD"])
        }

        fn state(&self, hash: &'static str) -> State {
            in_tree(self.0.path(), "HEAD", &[Commit { hash, title: "t" }]).unwrap().remove(0).1
        }
    }

    #[test]
    fn a_commit_of_the_tree_is_in_until_it_is_reverted() {
        let tree = Tree::new();
        let hash: &'static str = tree.commit("threaded").leak();
        assert_eq!(tree.state(hash), State::In);
        assert_eq!(tree.state(&hash[..12]), State::In);
        let revert = tree.commit(&format!("Revert \"threaded\"\n\nThis reverts commit {hash}."));
        assert_eq!(tree.state(hash), State::RevertedBy(revert[..12].to_owned()));
        let before = in_tree(tree.0.path(), "HEAD~1", &[Commit { hash, title: "t" }]).unwrap();
        assert_eq!(before[0].1, State::In);
        let first = in_tree(tree.0.path(), "HEAD~2", &[Commit { hash, title: "t" }]).unwrap();
        assert_eq!(first[0].1, State::NotIn);
    }

    #[test]
    fn a_picked_commit_is_known_by_what_its_message_says() {
        let hash = THREADED.hash;
        for message in [
            format!("x\n\n(cherry picked from commit {hash})"),
            format!("x\n\n[ Upstream commit {hash} ]"),
            format!("x\n\ncommit {hash} upstream."),
        ] {
            let tree = Tree::new();
            assert_eq!(tree.state(hash), State::NotIn);
            let own = tree.commit(&message);
            assert_eq!(tree.state(hash), State::PickedAs(own[..12].to_owned()), "{message}");
            let revert = tree.commit(&format!("Revert \"x\"\n\nThis reverts commit {own}."));
            assert_eq!(tree.state(hash), State::RevertedBy(revert[..12].to_owned()), "{message}");
        }
    }

    #[test]
    fn a_message_that_only_mentions_a_commit_is_not_it() {
        let tree = Tree::new();
        tree.commit(&format!("x\n\nFixes: {} (\"y\")\nsee commit {}", THREADED.hash, THREADED.hash));
        assert_eq!(tree.state(THREADED.hash), State::NotIn);
    }

    #[test]
    fn a_folder_or_a_revision_that_is_none_is_an_error_that_names_it() {
        let tree = Tree::new();
        let error = in_tree(tree.0.path(), "v9.99", &KNOWN).unwrap_err().to_string();
        assert!(error.contains("v9.99"), "{error}");
        let option = in_tree(tree.0.path(), "--output=x", &KNOWN).unwrap_err().to_string();
        assert!(option.contains("--output=x"), "{option}");
        assert!(in_tree(Path::new("/nowhere/at/all"), "HEAD", &KNOWN).is_err());
    }
}

//! What a run did, as a command of fio: for who wants to see it without tophalf.

use crate::analysis::RunSummary;
use std::time::Duration;

/// The fio command that makes the same load for the same time, one argument an entry; `None` where a run does not tell
/// what it did. Offsets are not the same ones: fio has its own generator.
pub fn fio_command(run: &RunSummary) -> Option<Vec<String>> {
    let load = run.load.as_ref()?;
    let target = run.target.real_path.as_ref().or(run.target.path.as_ref())?;
    let order = match load.pattern {
        "random" => "rand",
        "sequential" => "",
        _ => return None,
    };
    let (kind, mix) = match (load.read_percent, order) {
        (100, _) => ("read", None),
        (0, _) => ("write", None),
        (percent, "rand") => ("rw", Some(percent)),
        (percent, _) => ("readwrite", Some(percent)),
    };
    let mut arguments = vec![
        "fio".to_owned(),
        format!("--name={}", run.workload),
        format!("--filename={}", escaped(target)),
        format!("--rw={order}{kind}"),
    ];
    arguments.extend(mix.map(|percent| format!("--rwmixread={percent}")));
    arguments.push(format!("--bs={}", load.block_bytes));
    arguments.push(format!("--direct={}", u8::from(run.target.direct?)));
    arguments.push(format!("--ioengine={}", load.engine));
    arguments.extend(["--iodepth=1", "--numjobs=1", "--time_based"].map(str::to_owned));
    arguments.push(format!("--runtime={}", time(run.elapsed_ns?)));
    if load.warmup_ns > 0 {
        arguments.push(format!("--ramp_time={}", time(load.warmup_ns)));
    }
    arguments.push(format!("--size={}", run.target.span_bytes?));
    arguments.extend(load.cpu.map(|cpu| format!("--cpus_allowed={cpu}")));
    arguments.push(format!("--randseed={}", load.seed));
    Some(arguments.iter().map(|argument| quoted(argument)).collect())
}

/// fio takes a colon as the end of a file name.
fn escaped(path: &str) -> String {
    path.replace('\\', "\\\\").replace(':', "\\:")
}

/// Whole seconds where they are nearly that, else milliseconds; never 0, which fio takes as no limit.
fn time(ns: u64) -> String {
    let ms = Duration::from_nanos(ns).as_millis().max(1);
    let rounded_s = (ms + 500) / 1000;
    if rounded_s > 0 && ms.abs_diff(rounded_s * 1000) * 100 <= ms {
        format!("{rounded_s}s")
    } else {
        format!("{ms}ms")
    }
}

/// For a POSIX shell.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.:,+@%".contains(c);
    if argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_where_they_nearly_are() {
        assert_eq!(time(10_000_000_000), "10s");
        assert_eq!(time(10_060_000_000), "10s");
        assert_eq!(time(2_500_000_000), "2500ms");
        assert_eq!(time(10), "1ms");
    }

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("--rw=randread"), "--rw=randread");
        assert_eq!(quoted("--filename=a b"), "'--filename=a b'");
        assert_eq!(quoted("a'$(x)"), r"'a'\''$(x)'");
        assert_eq!(quoted(&escaped("/dev/x:y")), r"'/dev/x\:y'");
    }
}

use super::*;
use crate::analysis::Better;

/// The cells of the report: the kernel, the disks, MiB/s of each job and of both.
#[test]
fn the_nvme_report() {
    let imported = whole(NVME_REPORT).unwrap();
    let cells: Vec<_> = imported
        .runs
        .iter()
        .map(|run| {
            let names = ["job1.read_bw_mib_s", "job2.read_bw_mib_s", "read_bw_mib_s"];
            (run.variant.as_str(), run.workload.as_str(), names.map(|name| figure(run, name).unwrap()))
        })
        .collect();
    assert_eq!(
        cells,
        [
            ("6.14.0-1015-gcp", "nvme1n1+nvme3n1", [3073.0, 3073.0, 6146.0]),
            ("6.14.0-1015-gcp", "nvme1n1+nvme10n1", [2618.0, 2636.0, 5254.0]),
            ("6.14.0-32-generic", "nvme1n1+nvme3n1", [3070.0, 3071.0, 6141.0]),
            ("6.14.0-32-generic", "nvme1n1+nvme10n1", [3072.0, 3075.0, 6147.0]),
        ]
    );
    assert_eq!(figure(&imported.runs[0], "job1.read_iops"), Some(787_000.0));
    // The line of the first job is left out in the mail, so that there is no sum either.
    assert_eq!(figure(&imported.runs[1], "job1.read_iops"), None);
    assert_eq!(figure(&imported.runs[1], "read_iops"), None);
    assert_eq!(figure(&imported.runs[1], "job2.read_iops"), Some(675_000.0));
    assert_eq!(imported.runs[0].kernel.as_deref(), Some("6.14.0-1015-gcp"));
}

#[test]
fn a_quoted_mail_reads_the_same() {
    let quoted: String = NVME_REPORT.lines().map(|line| format!("> > {line}\n")).collect();
    let figures = |text| whole(text).unwrap().runs.into_iter().map(|run| run.metrics).collect::<Vec<_>>();
    assert_eq!(figures(&quoted), figures(NVME_REPORT));
}

#[test]
fn the_text_of_a_mixed_job() {
    let run = import(TEXT).unwrap().runs.remove(0);
    let figures: Vec<_> = run.metrics.iter().map(|m| (m.name.as_str(), m.unit.as_str(), m.value)).collect();
    assert_eq!(
        figures,
        [
            ("read_iops", "IOPS", 500.0),
            ("read_bw_mib_s", "MiB/s", 2002.0 / 1024.0),
            ("read_lat_mean_ns", "ns", 83_600.0),
            ("read_clat_mean_ns", "ns", 83_300.0),
            ("read_clat_p50_ns", "ns", 63_000.0),
            ("read_clat_p99_ns", "ns", 190_000.0),
            ("write_iops", "IOPS", 499.0),
            ("write_bw_mib_s", "MiB/s", 1998.0 / 1024.0),
            ("write_lat_mean_ns", "ns", 69_550.0),
            ("write_clat_mean_ns", "ns", 69_230.0),
            ("write_clat_p50_ns", "ns", 53_000.0),
            ("write_clat_p99_ns", "ns", 125_000.0),
        ]
    );
    assert_eq!(run.workload, "mix");
}

/// A job with one line of rates.
fn job(rates: &str) -> String {
    format!("a: (groupid=0, jobs=1): err= 0: pid=1: Thu Dec  3 13:46:53 2026\n  {rates}\n")
}

/// phoronix-test-suite/test-profiles#114, #762: suffixes, and MiB/s that were taken for KiB/s.
#[test]
fn rates_with_suffixes() {
    for (text, iops) in
        [("955", 955.0), ("111k", 111_000.0), ("1575k", 1_575_000.0), ("10.3k", 10_300.0), ("2.5M", 2.5e6)]
    {
        let run = import(&job(&format!("read: IOPS={text}, BW=299MiB/s (313MB/s)(1GiB/1msec)"))).unwrap();
        assert_eq!(figure(&run.runs[0], "read_iops"), Some(iops));
        assert_eq!(figure(&run.runs[0], "read_bw_mib_s").map(|mib| mib * 1_048_576.0), Some(313_524_224.0));
    }
    for (text, mib) in
        [("BW=2GiB/s", 2048.0), ("BW=512KiB/s", 0.5), ("BW=1048576B/s", 1.0), ("BW=1.5MiB/s", 1.5)]
    {
        let run = import(&job(&format!("write: IOPS=1, {text} (1kB/s)"))).unwrap();
        assert_eq!(figure(&run.runs[0], "write_bw_mib_s"), Some(mib));
    }
    // Before version 3: what its KB is, is not told.
    let old = import(&job("read : io=10240KB, bw=1234.5KB/s, iops=308, runtime=  8295msec")).unwrap();
    assert_eq!((figure(&old.runs[0], "read_iops"), old.runs[0].metrics.len()), (Some(308.0), 1));
    // Absent is not 0.
    fails(import(&job("read : io=10240KB")), "has no figures");
}

#[test]
fn faults_in_text() {
    let failed =
        TEXT.replace("err= 0", "err= 5 (file:io_u.c:1896, func=io_u error, error=Input/output error)");
    fails(import(&failed), "line 5: job mix failed with error 5");
    fails(import(&TEXT.replace("IOPS=500", "IOPS=nan")), "line 6: \"nan");
    fails(import(&TEXT.replace("IOPS=500", "IOPS=5x0")), "line 6: 5x0");
    fails(import(&TEXT.replace("BW=2002KiB", "BW=...")), "line 6: ");
    fails(import("a: (groupid=0, jobs=1): err= 0: pid=1: Thu"), "has no figures");
    // Cut off before its figures: nothing stands in for them.
    let cut = NVME_REPORT.split("  read: IOPS=786k").next().unwrap();
    assert_eq!(whole(cut).unwrap().runs.len(), 2);
}

#[test]
fn jobs_in_turn_have_no_sum() {
    let text = NVME_REPORT.replace("--new_group --name=job1", "--stonewall --name=job1");
    for run in whole(&text).unwrap().runs {
        assert_eq!(figure(&run, "read_bw_mib_s"), None);
        assert!(figure(&run, "job2.read_bw_mib_s").is_some());
    }
    let json = TWO_JOBS.replace("\"rw\" : \"randread\"", "\"rw\" : \"randread\", \"stonewall\" : \"\"");
    assert_ne!(json, TWO_JOBS);
    let run = import(&json).unwrap().runs.remove(0);
    assert_eq!((figure(&run, "read_iops"), figure(&run, "a.read_iops")), (None, Some(500.4995)));
}

#[test]
fn one_job_as_json() {
    let run = import(JSON).unwrap().runs.remove(0);
    assert_eq!(run.workload, "mix");
    assert_eq!(figure(&run, "read_iops"), Some(499.5005));
    assert_eq!(figure(&run, "read_bw_mib_s"), Some(2_045_954.0 / 1_048_576.0));
    assert_eq!(figure(&run, "read_clat_mean_ns"), Some(102_991.418));
    assert_eq!(figure(&run, "read_clat_p99_ns"), Some(536_576.0));
    // It did not trim: those figures are not 0.
    assert!(!run.metrics.iter().any(|metric| metric.name.starts_with("trim") || metric.value == 0.0));
    let better = run.metrics.iter().map(|metric| (metric.unit.as_str(), metric.better));
    assert!(better.into_iter().all(|(unit, better)| (unit == "ns") == (better == Better::Lower)));
}

/// The bins of `json+` give the percentiles that fio itself gives.
#[test]
fn bins_give_the_same_percentiles() {
    let told = import(JSON_PLUS).unwrap().runs.remove(0);
    let untold =
        JSON_PLUS.replace("\"50.000000\"", "\"51.000000\"").replace("\"99.000000\"", "\"98.000000\"");
    let of_bins = import(&untold).unwrap().runs.remove(0);
    for name in ["read_clat_p50_ns", "read_clat_p99_ns", "write_clat_p50_ns", "write_clat_p99_ns"] {
        assert!(figure(&told, name).is_some());
        assert_eq!(figure(&told, name), figure(&of_bins, name), "{name}");
    }
    // Without either there is no percentile.
    assert_eq!(
        figure(&import(&untold.replace("\"bins\"", "\"b\"")).unwrap().runs[0], "read_clat_p50_ns"),
        None
    );
}

/// axboe/fio#1685: what fio says besides stands around the document.
#[test]
fn text_around_json_is_passed_over() {
    let warned = format!(
        "fio: io_u error on file /dev/sdb: Input/output error: read offset=1, buflen=4096\nnote: {{}}\n{JSON}\nbye {{\n"
    );
    let run = import(&warned).unwrap().runs.remove(0);
    assert_eq!((figure(&run, "read_iops"), run.source.line), (Some(499.5005), Some(3)));
}

#[test]
fn documents_one_after_another_are_runs() {
    let later = JSON.replace("\"timestamp_ms\" : 1796305610761", "\"timestamp_ms\" : 1796305640000");
    let imported = import(&format!("{JSON}{later}")).unwrap();
    assert_eq!((imported.runs.len(), imported.notes.len()), (2, 0));
    assert!(imported.runs[1].source.line > imported.runs[0].source.line);
}

/// Each document of `--status-interval` counts from the beginning of the run.
#[test]
fn status_reports_are_no_runs() {
    let imported = import(STATUS).unwrap();
    assert_eq!((imported.runs.len(), imported.notes.len()), (1, 3));
    assert_eq!(figure(&imported.runs[0], "read_iops"), Some(499.833389));
}

/// The sum of the clients is no client.
#[test]
fn clients_are_runs_of_their_devices() {
    let runs = import(CLIENTS).unwrap().runs;
    let of: Vec<_> = runs.iter().map(|run| (run.device.as_deref(), figure(run, "read_iops"))).collect();
    assert_eq!(of, [(Some("127.0.0.1"), Some(500.4995)), (Some("localhost"), Some(499.5005))]);
}

#[test]
fn clients_in_text_are_runs_too() {
    let runs = import(CLIENT_TEXT).unwrap().runs;
    let of: Vec<_> = runs.iter().map(|run| (run.device.as_deref(), figure(run, "read_iops"))).collect();
    assert_eq!(of, [(Some("vm"), Some(499.0)), (Some("vm"), Some(352.0))]);
    // An address in a mail is no client.
    let mail = TEXT.replace("  read:", "On Thursday <someone@example.org> wrote:\n  read:");
    assert_eq!(import(&mail).unwrap().runs[0].device, None);
}

#[test]
fn jobs_of_one_name_are_added() {
    let run = import(&TWO_JOBS.replace("\"jobname\" : \"b\"", "\"jobname\" : \"a\"")).unwrap().runs.remove(0);
    assert_eq!((run.workload.as_str(), figure(&run, "write_iops")), ("a", Some(500.4995)));
    let twice = import(CLIENTS).unwrap();
    let (a, b) = (&twice.runs[0], &twice.runs[1]);
    let one_host = import(&CLIENTS.replace("127.0.0.1", "localhost")).unwrap().runs.remove(0);
    assert_eq!(figure(&one_host, "read_iops"), Some(1000.0));
    let mean = |run| figure(run, "read_clat_mean_ns").unwrap();
    assert!(mean(&one_host) > mean(b).min(mean(a)) && mean(&one_host) < mean(a).max(mean(b)));
    // Percentiles do not add up, and there are no bins.
    assert_eq!(figure(&one_host, "read_clat_p99_ns"), None);
}

/// Before version 3: microseconds, and KiB/s alone.
#[test]
fn old_versions_count_in_microseconds() {
    let old = r#"{"fio version": "fio-2.16", "jobs": [{"jobname": "a", "error": 0, "read": {"io_bytes": 400, "bw": 2048,
        "iops": 512.5, "total_ios": 100, "clat": {"min": 1, "mean": 81.5, "percentile": {"50.000000": 80, "99.000000": 90,
        "0.00": 0, "0.00": 0}}, "lat": {"mean": 82.5}}}]}"#;
    let run = import(old).unwrap().runs.remove(0);
    let figures = ["read_bw_mib_s", "read_lat_mean_ns", "read_clat_mean_ns", "read_clat_p99_ns"];
    assert_eq!(figures.map(|name| figure(&run, name).unwrap()), [2.0, 82_500.0, 81_500.0, 90_000.0]);
}

#[test]
fn faults_in_json() {
    fails(import(&JSON[..JSON.len() / 2]), "the file is cut off");
    fails(
        import(&JSON.replace("\"error\" : 0", "\"error\" : 5")),
        "line 1: job mix of the document that begins here failed with error 5",
    );
    fails(import(&JSON.replacen("499.500500", "nan", 1)), "line ");
    fails(import(&JSON.replacen("499.500500", "1e999", 1)), "number out of range");
    fails(import(&JSON.replacen("499.500500", "1e40", 1)), "which no tool measures");
    fails(import(&JSON.replacen("499.500500", "\"fast\"", 1)), "invalid type");
    fails(import("{}"), "line 1: the document that begins here has no jobs");
    fails(import("{\"jobs\": []}"), "has no jobs");
    // A reader that keeps the last one would keep one by chance.
    fails(import(&JSON.replacen("\"iops\" :", "\"iops\" : 1, \"iops\" :", 1)), "duplicate field `iops`");
    let twice = JSON.replacen("\"jobs\" :", "\"jobs\" : [], \"jobs\" :", 1);
    fails(import(&twice), "duplicate field `jobs`");
    // What is not read may be there twice: axboe/fio#1571, and disks: axboe/fio#129.
    let harmless = JSON.replacen("\"name\" : \"mix\"", "\"name\" : \"mix\", \"name\" : \"mix\"", 1).replacen(
        "\"disk_util\" :",
        "\"disk_util\" : [], \"disk_util\" :",
        1,
    );
    assert_eq!(figure(&import(&harmless).unwrap().runs[0], "read_iops"), Some(499.5005));
    fails(import(&"{\"a\":".repeat(5000)), "cut off");
    fails(import(&format!("{{\"jobs\": {}", "[".repeat(5000))), "line 1");
}

#[test]
fn a_job_without_io_is_left_out() {
    let idle = TWO_JOBS.replacen("\"total_ios\" : 501", "\"total_ios\" : 0", 1);
    assert_ne!(idle, TWO_JOBS);
    let imported = import(&idle).unwrap();
    assert_eq!(imported.notes, ["line 1: job a did no I/O and is left out"]);
    assert_eq!(figure(&imported.runs[0], "read_iops"), None);
    assert!(figure(&imported.runs[0], "write_iops").is_some());
}

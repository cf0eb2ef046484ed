use super::*;
use crate::analysis::Better;

#[test]
fn the_ufs_report() {
    let imported = whole(UFS_REPORT).unwrap();
    assert_eq!((imported.format, imported.runs.len()), (Format::Csv, 24));
    let run = &imported.runs[12];
    assert_eq!((run.variant.as_str(), run.workload.as_str(), run.order), ("5.15", "mixed-st", Some(1)));
    assert_eq!((run.device.as_deref(), run.source.line), (Some("T615"), Some(14)));
    let metric = &run.metrics[0];
    assert_eq!((metric.name.as_str(), metric.unit.as_str()), ("score", "score"));
    assert_eq!((metric.better, metric.value), (Better::Higher, 18604.0));
}

#[test]
fn the_pixel_report() {
    let imported = whole(PIXEL_REPORT).unwrap();
    assert_eq!(imported.runs.len(), 24);
    let run = &imported.runs[12];
    assert_eq!((run.variant.as_str(), run.workload.as_str()), ("original", "block/randread x1"));
    assert_eq!((run.metrics[0].unit.as_str(), run.metrics[0].value), ("IOPS", 10356.69));
}

#[test]
fn metrics_of_one_run_stay_together() {
    let text =
        "variant,workload,run,metric,unit,value\na,w,1,iops,IOPS,10\na,w,1,p99,us,3\na,w,2,iops,IOPS,11\n";
    let runs = whole(text).unwrap().runs;
    assert_eq!(runs.len(), 2);
    assert_eq!((figure(&runs[0], "p99"), figure(&runs[0], "iops")), (Some(3.0), Some(10.0)));
    assert_eq!(runs[0].metrics[1].better, Better::Lower);
}

#[test]
fn what_the_file_does_not_tell_can_be_said() {
    let given = Given {
        variant: Some("v".to_owned()),
        workload: Some("w".to_owned()),
        unit: Some("frames".to_owned()),
        better: Some(Better::Lower),
        run: Some(7),
    };
    let run = read(b"value,device\n5,T615\n", "file", Some(Format::Csv), &given).unwrap().runs.remove(0);
    assert_eq!((run.variant.as_str(), run.workload.as_str(), run.order), ("v", "w", Some(7)));
    assert_eq!((run.metrics[0].unit.as_str(), run.metrics[0].better), ("frames", Better::Lower));
}

/// Every fault is told with its line, and nothing is imported.
#[test]
fn faults_are_told_with_their_line() {
    for (text, words) in [
        ("run,score\n1,2\n", "line 1: there is no column variant"),
        ("variant,workload\na,w\n", "line 1: there is no column score or value"),
        ("variant,score\na,2\n", "line 1: there is no column workload"),
        ("variant,workload,scroe,score\na,w,1,2\n", "line 1: column \"scroe\" is not known"),
        ("variant,workload,score,value\na,w,1,2\n", "line 1: column value is one too many"),
        ("variant,workload,score,score\na,w,1,2\n", "line 1: column score is one too many"),
        ("variant,workload,score\n", "no line below"),
        ("variant,workload,score\na,w,1\na,w,NaN\n", "line 3: \"NaN\" is no finite number"),
        ("variant,workload,score\na,w,inf\n", "line 2: \"inf\""),
        ("variant,workload,score\na,w,1e999\n", "line 2: \"1e999\""),
        ("variant,workload,score\na,w,1e30\n", "line 2: score is 1"),
        ("variant,workload,score\na,w,\n", "line 2: \"\" is no finite number"),
        ("variant,workload,score\na,w,fast\n", "line 2: \"fast\""),
        (
            "variant,workload,score\na,w,1,5\n",
            "line 2: has 4 fields where the header has 3: write a decimal point",
        ),
        (
            "variant,workload,score\na,w,\"1,5\"\n",
            "line 2: \"1,5\" is no finite number: write a decimal point",
        ),
        ("variant,workload,score\n,w,1\n", "line 2: the variant is empty"),
        ("variant,workload,score\na,,1\n", "line 2: \"\" is no name"),
        ("variant,workload,run,score\na,w,one,1\n", "line 2: run \"one\" is no whole number"),
        ("variant,workload,run,score\na,w,-1,1\n", "line 2: run \"-1\""),
        (
            "variant,workload,run,score\na,w,1,1\nb,w,1,1\na,w,1,2\n",
            "line 4: score of the run on line 2 is there twice",
        ),
        ("variant,workload,score\na,w,1\na,w,2\n", "line 3: score of the run on line 2 is there twice"),
        (
            "variant,workload,metric,unit,value\na,w,lat,us,1\nb,w,lat,ms,1\n",
            "line 3: lat is in ms, and was in us on line 2",
        ),
        ("variant,workload,metric,value\na,w,lat,1\n", "line 2: the unit of lat is not told"),
        (
            "variant,workload,metric,unit,value\na,w,lat,ticks,1\n",
            "line 2: it is not told whether more ticks",
        ),
        ("variant,workload,unit,better,value\na,w,ticks,up,1\n", "line 2: better is \"up\""),
    ] {
        fails(whole(text), words);
    }
    fails(import(UFS_REPORT), "leave the option out");
    fails(whole(&format!("variant,workload,score\n{},w,1\n", "n".repeat(301))), "line 2: \"nnn");
}

#!/bin/sh
# Two boots of each kernel agree within 5 %, and the kernels come in the order that was measured by hand:
# 6.12 > 6.12 threadirqs > 7 > 6.18 > 7 threadirqs, by I/Os a second on the interrupt's CPU.
# One phone at a time; nothing else may run on this machine meanwhile.
# usage: repeatable.sh VIRTUAL-PHONE TOPHALF
set -eu
virtual_phone=$1 tophalf=$2
. "$(dirname "$0")/phone.sh"

store=$scratch/runs

# iops VARIANT: of each of its runs, in order of time
iops() {
    "$tophalf" show "$1" --store "$store" --json |
        python3 -c 'import json, sys; print(*(round(run["iops"]) for run in json.load(sys.stdin)["runs"]))'
}

for boot in 1 2; do
    for what in "6.12" "6.12 --threadirqs" "7" "6.18" "7 --threadirqs"; do
        variant=$(echo "$what" | tr -d ' ')
        # shellcheck disable=SC2086
        measure_on_phone "$store" "$variant" "--seconds 2 --cpu 0 --passes timed --json" --kernel $what >/dev/null
        echo "boot $boot, $what: $(iops "$variant") IOPS"
    done
done

last=
for what in "6.12" "6.12--threadirqs" "7" "6.18" "7--threadirqs"; do
    set -- $(iops "$what")
    # In awk, a bare > after printf or exit would be a redirection.
    awk -v name="$what" -v a="$1" -v b="$2" -v last="$last" 'BEGIN {
        apart = (a > b ? a - b : b - a) * 200 / (a + b)
        out_of_order = (last != "" && (a + b) / 2 >= last + 0)
        printf "%-18s %6d and %6d IOPS, %.1f %% apart%s\n", name, a, b, apart, out_of_order ? ": OUT OF ORDER" : ""
        exit (apart > 5 || out_of_order)
    }' || failed=1
    last=$(( ($1 + $2) / 2 ))
done
exit ${failed:-0}

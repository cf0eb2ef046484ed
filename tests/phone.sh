# Sourced by demo.sh and repeatable.sh: one repeatable virtual phone at a time, measured and put away.

# A folder that goes away with the script.
scratch=$(mktemp -d)
phone_pid=
trap 'test -z "$phone_pid" || kill "$phone_pid" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# measure_on_phone STORE VARIANT "RUN ARGUMENTS" BOOT-ARGUMENTS...
measure_on_phone() {
    store=$1 variant=$2 run_arguments=$3
    shift 3
    echo "== a virtual phone: virtual-phone boot --repeatable $*" >&2
    : >"$scratch/ready"
    "$virtual_phone" boot --repeatable "$@" >"$scratch/ready" &
    phone_pid=$!
    until grep -q '^ready ' "$scratch/ready"; do
        kill -0 "$phone_pid" 2>/dev/null || { echo "the phone did not boot" >&2; return 3; }
        sleep 1
    done
    serial=$(sed -n 's/^ready //p' "$scratch/ready")
    # The words of run_arguments are meant to be split.
    # shellcheck disable=SC2086
    "$tophalf" run -d "$serial" --store "$store" --variant "$variant" $run_arguments
    kill "$phone_pid"
    wait "$phone_pid" || true
    phone_pid=
}

# Sourced by demo.sh and repeatable.sh: one repeatable virtual phone at a time, measured and put away.

phone_pid=
trap 'test -z "$phone_pid" || kill "$phone_pid" 2>/dev/null; test -z "$ready" || rm -f "$ready"' EXIT
trap 'exit 130' INT TERM
ready=$(mktemp)

# measure_on_phone STORE VARIANT "RUN ARGUMENTS" BOOT-ARGUMENTS...
measure_on_phone() {
    store=$1 variant=$2 run_arguments=$3
    shift 3
    echo "== a virtual phone: virtual-phone boot --repeatable $*" >&2
    : >"$ready"
    "$virtual_phone" boot --repeatable "$@" >"$ready" &
    phone_pid=$!
    until grep -q '^ready ' "$ready"; do
        kill -0 "$phone_pid" 2>/dev/null || { echo "the phone did not boot" >&2; return 3; }
        sleep 1
    done
    serial=$(sed -n 's/^ready //p' "$ready")
    # The words of run_arguments are meant to be split.
    # shellcheck disable=SC2086
    "$tophalf" run -d "$serial" --store "$store" --variant "$variant" $run_arguments
    kill "$phone_pid"
    wait "$phone_pid" || true
    phone_pid=
}

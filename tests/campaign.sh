#!/bin/sh
# A campaign over kernels on repeatable virtual phones, and what comes of it. Nothing else may run on this machine
# meanwhile. Started again after a break, it goes on.
# usage: campaign.sh VIRTUAL-PHONE TOPHALF
set -eu
VIRTUAL_PHONE=$1 tophalf=$2
export VIRTUAL_PHONE
store=target/campaign/runs

trap '"$VIRTUAL_PHONE" stop target/campaign/phone' EXIT
trap 'exit 130' INT TERM
"$tophalf" campaign tests/campaign.toml --resume --store "$store"
for new in 6.12-again 6.12-threadirqs 6.18 7; do
    echo
    "$tophalf" compare 6.12 "$new" --store "$store" || test $? -lt 2
done

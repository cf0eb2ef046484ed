#!/bin/sh
# Boots a phone before the change and one with it, measures both over adb, and compares them.
# usage: demo.sh VIRTUAL-PHONE TOPHALF
set -eu
virtual_phone=$1 tophalf=$2
. "$(dirname "$0")/phone.sh"

store=target/demo
rm -rf "$store"
measure_on_phone "$store" before "--seconds 2 --runs 2" --kernel 6.12
measure_on_phone "$store" with "--seconds 2 --runs 2" --kernel 6.18
echo
"$tophalf" compare before with --store "$store"

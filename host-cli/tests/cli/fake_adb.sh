#!/bin/sh
# A stand-in for adb. $FAKE is a folder: `devices` and `features` are what those commands print, `phone` is
# the device's root, with its programs in phone/bin. Faults are files beside them:
#   junk     printed before what a command prints          pty      shell -T goes through a terminal
#   cut      the link breaks after that many bytes         pty-all  exec-out too
[ "$1" = -s ] && { ANDROID_SERIAL=$2; shift 2; }
echo "$*" >> "$FAKE/log"

device_shell() {
    script=$(printf '%s' "$1" | sed "s|/data/local/tmp|$FAKE/phone/data/local/tmp|g")
    PATH="$FAKE/phone/bin:$PATH" sh -c "$script"
}

# What a terminal does to line feeds.
terminal() {
    if [ -e "$FAKE/$1" ]; then LC_ALL=C sed 's/$/\r/'; else cat; fi
}

link() {
    if [ -e "$FAKE/cut" ]; then head -c "$(cat "$FAKE/cut")"; else cat; fi
}

command=$1
shift
case $command in
devices)
    cat "$FAKE/devices"
    ;;
features)
    cat "$FAKE/features"
    ;;
push)
    cp "$1" "$FAKE/phone$2" && chmod 644 "$FAKE/phone$2"
    ;;
shell)
    if [ "$1" = -T ]; then
        if [ -e "$FAKE/junk" ]; then cat "$FAKE/junk"; fi
        device_shell "$2" | terminal pty | link
    else
        device_shell "$1"
    fi
    ;;
exec-out)
    device_shell "$1" </dev/null 2>&1 | terminal pty-all
    ;;
*)
    echo "adb: unknown command $command" >&2
    exit 1
    ;;
esac

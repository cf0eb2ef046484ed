//! `adb devices -l`: what is attached, and which one is meant.

use crate::failure::Failure;
use crate::printable::printable;

/// One line of `adb devices -l`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Its serial, `HOST:PORT` over the network.
    pub serial: String,
    /// What adb can do with it.
    pub state: State,
    /// `product:`, if adb knows it.
    pub product: Option<String>,
    /// `model:`, if adb knows it.
    pub model: Option<String>,
}

/// The states adb gives (`to_string(ConnectionState)`, adb.cpp).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Ready.
    Device,
    /// Ready, in recovery: a root shell on most devices.
    Recovery,
    /// It waits for somebody to allow this host's key on its screen.
    Unauthorized,
    /// adb has lost it.
    Offline,
    /// The host's user may not open the USB device; adb says why.
    NoPermissions(String),
    /// `sideload`, `bootloader`, `authorizing` and the like: no shell.
    Other(String),
}

/// States of one word.
const STATES: &[&str] = &[
    "device",
    "recovery",
    "unauthorized",
    "offline",
    "sideload",
    "bootloader",
    "authorizing",
    "connecting",
    "rescue",
    "host",
    "detached",
    "unknown",
];

impl State {
    /// As adb writes it.
    pub fn word(&self) -> &str {
        match self {
            Self::Device => "device",
            Self::Recovery => "recovery",
            Self::Unauthorized => "unauthorized",
            Self::Offline => "offline",
            Self::NoPermissions(_) => "no permissions",
            Self::Other(word) => word,
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "device" => Self::Device,
            "recovery" => Self::Recovery,
            "unauthorized" => Self::Unauthorized,
            "offline" => Self::Offline,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Why a device in this state cannot be used, and what to do about it.
    pub fn obstacle(&self) -> Option<String> {
        match self {
            Self::Device | Self::Recovery => None,
            Self::Unauthorized => Some(
                "is unauthorized: unlock its screen and allow USB debugging for this computer".to_owned(),
            ),
            Self::Offline => {
                Some("is offline: replug it, or run `adb reconnect offline` and wait for it".to_owned())
            }
            Self::NoPermissions(why) => Some(format!(
                "cannot be opened (no permissions: {}): install udev rules for it (Debian: android-sdk-platform-tools-common) or add yourself to the group plugdev, then `adb kill-server`",
                printable(why, 200)
            )),
            Self::Other(word) => Some(format!(
                "is in state {:?}, which gives no shell: start its system or recovery",
                printable(word, 40)
            )),
        }
    }
}

/// Reads the output of `adb devices -l`. Lines that are no device (`* daemon started successfully`) are
/// passed over.
///
/// ```text
/// List of devices attached
/// 0123456789ABCDEF       device usb:1-2 product:sprd model:T615 device:sp transport_id:3
/// 127.0.0.1:15555        offline transport_id:4
/// 9A2B                   no permissions (user in plugdev group; …); see [http://…] usb:1-1 transport_id:1
/// ```
pub(super) fn parse(output: &str) -> Vec<Attached> {
    output
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("List of devices"))
        .skip(1)
        .filter(|line| !line.starts_with('*'))
        .filter_map(parse_line)
        .collect()
}

fn parse_line(line: &str) -> Option<Attached> {
    // A serial may hold spaces (`adb-1234 (2)._adb-tls-connect._tcp`), so it ends where a state begins.
    let (serial, state, rest) = match line.split_once(" no permissions") {
        Some((serial, why)) => {
            let end = why.find(" usb:").or_else(|| why.find(" transport_id:")).unwrap_or(why.len());
            let reason = why[..end].trim_start_matches([' ', ';', '(']).trim_end_matches(')');
            (serial, State::NoPermissions(reason.to_owned()), &why[end..])
        }
        None => {
            let known = words(line).skip(1).find(|&(_, word)| STATES.contains(&word));
            let (at, word) = known.or_else(|| words(line).nth(1))?;
            (&line[..at], State::from_word(word), &line[at + word.len()..])
        }
    };
    let field =
        |name: &str| rest.split_whitespace().find_map(|word| word.strip_prefix(name)).map(str::to_owned);
    Some(Attached {
        serial: serial.trim().to_owned(),
        state,
        product: field("product:"),
        model: field("model:"),
    })
}

/// Words with the places where they begin.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace().map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

/// The serial of the device that is meant: `wanted` (`-d` or `ANDROID_SERIAL`), or the only one there is.
///
/// # Errors
/// None is attached, several are and none was named, or the one cannot be used as it is.
pub(super) fn choose(attached: &[Attached], wanted: Option<&str>) -> anyhow::Result<String> {
    let one = match (wanted, attached) {
        (Some(wanted), _) => attached.iter().find(|device| device.serial == wanted).ok_or_else(|| {
            Failure::device(format!(
                "no device {} is attached ({}): `adb devices -l` shows what is",
                printable(wanted, 300),
                names(attached)
            ))
        })?,
        (None, [one]) => one,
        (None, []) => {
            return Err(Failure::device(
                "no device is attached: plug one in and allow USB debugging, or `adb connect HOST:PORT`, or \
                 measure this machine with `-d local`",
            ));
        }
        (None, several) => {
            return Err(Failure::usage(format!(
                "{} devices are attached: name one with -d ({})",
                several.len(),
                names(several)
            )));
        }
    };
    match one.state.obstacle() {
        Some(obstacle) => Err(Failure::device(format!("{} {obstacle}", printable(&one.serial, 300)))),
        None => Ok(one.serial.clone()),
    }
}

fn names(attached: &[Attached]) -> String {
    if attached.is_empty() {
        return "nothing is attached".to_owned();
    }
    let names: Vec<String> = attached
        .iter()
        .map(|device| format!("{} {}", printable(&device.serial, 300), printable(device.state.word(), 40)))
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{EXIT_INVALID, EXIT_USAGE, exit_code};

    /// Lines as adb 34.0.5 prints them; the first two are what it says when it starts its server.
    const OUTPUT: &str = "\
* daemon not running; starting now at tcp:5037
* daemon started successfully
List of devices attached
0123456789ABCDEF       device usb:1-2 product:ums9230 model:T615 device:ums9230_4h10 transport_id:3
127.0.0.1:15555        offline transport_id:4
ZX1G22                 unauthorized usb:1-4 transport_id:5
emulator-5554          recovery product:sdk model:sdk_phone device:x transport_id:6
9A2B                   no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:1
adb-7 (2)._adb-tls-connect._tcp device product:p model:Pixel_6 device:oriole transport_id:7
(no serial number)     sideload usb:1-9 transport_id:8

";

    #[test]
    fn every_state_is_read() {
        let attached = parse(OUTPUT);
        let rows: Vec<(&str, &str)> =
            attached.iter().map(|device| (device.serial.as_str(), device.state.word())).collect();
        assert_eq!(
            rows,
            [
                ("0123456789ABCDEF", "device"),
                ("127.0.0.1:15555", "offline"),
                ("ZX1G22", "unauthorized"),
                ("emulator-5554", "recovery"),
                ("9A2B", "no permissions"),
                ("adb-7 (2)._adb-tls-connect._tcp", "device"),
                ("(no serial number)", "sideload"),
            ]
        );
        assert_eq!(attached[0].model.as_deref(), Some("T615"));
        assert_eq!(attached[0].product.as_deref(), Some("ums9230"));
        assert_eq!(attached[1].model, None);
        let obstacle = attached[4].state.obstacle().unwrap();
        assert!(obstacle.contains("udev rules wrong") && !obstacle.contains("transport_id"), "{obstacle}");
    }

    #[test]
    fn nothing_is_read_from_nothing() {
        assert_eq!(parse("List of devices attached\n\n"), []);
        assert_eq!(parse("error: cannot connect to daemon\n"), []);
        assert_eq!(parse(""), []);
    }

    #[test]
    fn the_one_that_is_meant() {
        let all = parse(OUTPUT);
        let choice = |devices: &[Attached], wanted| choose(devices, wanted).map_err(|e| (exit_code(&e), e));
        assert_eq!(choice(&all[..1], None).unwrap(), "0123456789ABCDEF");
        assert_eq!(choice(&all, Some("emulator-5554")).unwrap(), "emulator-5554");
        let (code, error) = choice(&all[..2], None).unwrap_err();
        assert_eq!(code, EXIT_USAGE);
        assert!(error.to_string().starts_with("2 devices are attached: name one with -d"), "{error}");
        let (code, error) = choice(&[], None).unwrap_err();
        assert_eq!(code, EXIT_INVALID);
        assert!(error.to_string().starts_with("no device is attached"), "{error}");
        for (serial, word) in [
            ("ZX1G22", "unauthorized"),
            ("127.0.0.1:15555", "offline"),
            ("9A2B", "no permissions"),
            ("7", "no device 7"),
        ] {
            let (code, error) = choice(&all, Some(serial)).unwrap_err();
            assert_eq!(code, EXIT_INVALID);
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}

//! `/proc/self/io`.

use super::text;
use tophalf_wire::ProcessIo;

/// Parses `/proc/PID/io` (`do_io_accounting`, fs/proc/base.c):
///
/// ```text
/// rchar: 323934931
/// wchar: 323929600
/// syscr: 632687
/// syscw: 632675
/// read_bytes: 0
/// write_bytes: 323932160
/// cancelled_write_bytes: 0
/// ```
pub fn parse(bytes: &[u8]) -> Option<ProcessIo> {
    let field = |key| text::count(text::value(bytes, key)?);
    Some(ProcessIo {
        rchar: field("rchar")?,
        wchar: field("wchar")?,
        read_bytes: field("read_bytes")?,
        write_bytes: field("write_bytes")?,
    })
}

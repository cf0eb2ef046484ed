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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_that_are_used() {
        let text = b"rchar: 41872\nwchar: 12\nsyscr: 97\nsyscw: 1\nread_bytes: 6160384\nwrite_bytes: 0\ncancelled_write_bytes: 0\n";
        let io = parse(text).unwrap();
        assert_eq!(io, ProcessIo { rchar: 41872, wchar: 12, read_bytes: 6_160_384, write_bytes: 0 });
        assert_eq!(parse(b"rchar: 1\nwchar: 2\n"), None, "without CONFIG_TASK_IO_ACCOUNTING");
    }
}

//! Reads small files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The suffix of a variable whose value is the path of a file.
pub(crate) const FILE_SUFFIX: &str = "_FILE";

/// The text of a file without its last line break, which editors add.
pub(crate) fn contents(path: &Path, max_bytes: u64) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(max_bytes + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max_bytes {
        return Err(std::io::Error::other(format!("it is longer than {max_bytes} bytes")));
    }
    let end =
        text.strip_suffix('\n').map_or(text.len(), |line| line.strip_suffix('\r').unwrap_or(line).len());
    text.truncate(end);
    Ok(text)
}

//! The size of JSON, without writing it.

use std::io::{self, Write};

use serde_json::Value;

struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// In bytes.
#[expect(clippy::expect_used, reason = "every JSON value can be serialised, and counting never fails")]
pub fn json_size(value: &Value) -> usize {
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("a JSON value");
    count.0
}

//! Takes the elements of an answer's `data` apart without parsing them, because signatures cover bytes.

/// The text of each element of the array `data`, exactly as it was sent. The text must be a JSON object.
pub(crate) fn elements_of(text: &str) -> Vec<String> {
    let (mut elements, mut depth, mut name, mut start) = (Vec::new(), 0, "", None);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (token, from) = (bytes[at], at);
        at += 1;
        match token {
            b'"' => {
                at = end_of_string(bytes, at);
                if depth == 1 {
                    name = &text[from..at];
                }
            }
            b'[' | b'{' => {
                if depth == 1 && token == b'[' && name == "\"data\"" {
                    start = Some(at);
                }
                depth += 1;
            }
            b',' | b']' | b'}' => {
                if let (2, Some(begin)) = (depth, start) {
                    let element = text[begin..from].trim_ascii();
                    elements.extend((!element.is_empty()).then(|| element.to_owned()));
                    start = (token == b',').then_some(at);
                }
                depth -= i32::from(token != b',');
            }
            _ => {}
        }
    }
    elements
}

/// The position after the closing quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    bytes.len().min(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_the_bytes_that_were_sent() {
        let sent = [
            r#"{"a":"],[{\"", "b": [1, {"data":[2,3]}]}"#,
            r#"{"n":1.0,"\u00e9":"é☕"}"#,
            r#"{"é":"\\"}"#,
            "{}",
        ];
        let text = format!(
            r#"{{"other":["data",[4]], "next":"data", "data" : [ {} ,	{},{},{} ],"hasMore":true}}"#,
            sent[0], sent[1], sent[2], sent[3]
        );
        assert_eq!(elements_of(&text), sent);
        for empty in [r#"{"data":[]}"#, r#"{"data":[ ],"next":"x"}"#, r#"{"next":[1]}"#] {
            assert!(elements_of(empty).is_empty(), "{empty}");
        }
    }
}
